// toss_sample.h - synthetic tosses: a world with known parameters, its poses written down with noise.
#ifndef CAROM_TOSS_SAMPLE_H
#define CAROM_TOSS_SAMPLE_H

#include "fit/motion_fit.h"
#include "fit_sample.h"
#include "io/scene.h"

// A slab on the ground, in the plane and in space; the numbers are what samples are made with.
#define TOSS_PLANAR                                                                                   \
    "{\"carom\": 1, \"gravity\": [0, -9.81, 0], \"step\": {\"dt\": 0.004},\n"                         \
    " \"materials\": {\"wood\": {\"mu\": 0.3, \"e\": 0.4}},\n"                                        \
    " \"bodies\": [{\"name\": \"slab\", \"joint\": \"planar\", \"mass\": 0.5,\n"                      \
    "   \"shapes\": [{\"type\": \"box\", \"half\": [0.05, 0.03, 0.02], \"material\": \"wood\"}]}],\n" \
    " \"static\": [{\"type\": \"halfspace\", \"n\": [0, 1, 0], \"offset\": 0, \"material\": \"wood\"}]}\n"
#define TOSS_SPATIAL                                                                    \
    "{\"carom\": 1, \"step\": {\"dt\": 0.005},\n"                                       \
    " \"materials\": {\"wood\": {\"mu\": 0.08, \"e\": 0.4}},\n"                         \
    " \"bodies\": [{\"name\": \"ball\", \"mass\": 0.5,\n"                               \
    "   \"shapes\": [{\"type\": \"sphere\", \"r\": 0.05, \"material\": \"wood\"}]}],\n" \
    " \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0, \"material\": \"wood\"}]}\n"

typedef struct TossKind {
    int tosses, samples;
    double interval;  // s
    double noise;     // of positions in m, uniform; of angles ten times as many rad, of velocities 20 times
    double fall;      // approach speeds up to this, m/s
    bool slide;       // starts flat on the ground instead of in the air
} TossKind;

static inline double toss_noise(crRandom* random, double size) {
    return size * sample_uniform(random, -1.0, 1.0);
}

// a start in the air, or flat on the ground (planar)
static inline void toss_start(const crModel* model, const TossKind* k, crRandom* random, crState* state) {
    const crBody* b = &model->bodies[1];
    double *q = &state->q[b->q], *v = &state->v[b->v];
    if (b->joint == CR_JOINT_PLANAR) {
        q[0] = 0.0;
        q[1] = k->slide ? 0.03 : sample_uniform(random, 0.1, 0.14);
        q[2] = k->slide ? 0.0 : sample_uniform(random, -1.5, 1.5);
        v[0] = sample_uniform(random, 0.6, 1.2);
        v[1] = k->slide ? 0.0 : -sample_uniform(random, 0.3, 1.0) * k->fall;
        v[2] = k->slide ? 0.0 : sample_uniform(random, -6.0, 6.0);
        return;
    }
    crQuat turn =
        cr_quat_normalize((crQuat){sample_uniform(random, -1.0, 1.0), sample_uniform(random, -1.0, 1.0),
                                   sample_uniform(random, -1.0, 1.0), sample_uniform(random, 0.1, 1.0)});
    const double at[7] = {0.0, 0.0, sample_uniform(random, 0.1, 0.3), turn.w, turn.x, turn.y, turn.z};
    memcpy(q, at, sizeof at);
    for (int i = 0; i < 6; i++) {
        v[i] = i < 3 ? sample_uniform(random, -1.0, 1.0) : sample_uniform(random, -8.0, 8.0);
    }
    v[2] = -sample_uniform(random, 0.3, 1.0) * k->fall;
}

static inline void toss_row(FILE* file, const crModel* model, const TossKind* k, crRandom* random, int toss,
                            double time, const crState* state) {
    const crBody* b = &model->bodies[1];
    const double *q = &state->q[b->q], *v = &state->v[b->v];
    fprintf(file, "%d,%.6g", toss, time);
    if (b->joint == CR_JOINT_PLANAR) {
        for (int i = 0; i < 6; i++) {
            double size = i < 2    ? k->noise
                          : i == 2 ? 10.0 * k->noise
                          : i < 5  ? 20.0 * k->noise
                                   : 200.0 * k->noise;
            fprintf(file, ",%.6f", (i < 3 ? q[i] : v[i - 3]) + toss_noise(random, size));
        }
    } else {
        crVec3 w = cr_vec3(v[3], v[4], v[5]);
        crVec3 axis =
            cr_vec3(toss_noise(random, 1.0), toss_noise(random, 1.0), toss_noise(random, 1.0) + 1e-3);
        crQuat turn = {q[3], q[4], q[5], q[6]};
        turn = cr_quat_mul(
            cr_quat_axis_angle(cr_scale(1.0 / cr_norm(axis), axis), toss_noise(random, 10.0 * k->noise)),
            turn);
        fprintf(file, ",%.7f,%.7f,%.7f,%.9f,%.9f,%.9f,%.9f", q[0] + toss_noise(random, k->noise),
                q[1] + toss_noise(random, k->noise), q[2] + toss_noise(random, k->noise), turn.w, turn.x,
                turn.y, turn.z);
        fprintf(file, ",%.6f,%.6f,%.6f,%.6f,%.6f,%.6f", v[0], v[1], v[2], w.x, w.y, w.z);
    }
    fputc('\n', file);
}

// The scene's first body thrown `tosses` times; a file of measurements.
static inline FitFile toss_sample(const char* text, const TossKind* k, uint64_t seed) {
    FitFile f = fit_sample_open();
    crRandom random = sample_seed(seed);
    crJsonDoc doc = {0};
    crScene scene = {0};
    CHECK_STATUS(cr_json_parse(text, strlen(text), 1, &doc, NULL), CR_OK);
    CHECK_STATUS(cr_scene_read(doc.root, &scene, NULL), CR_OK);
    bool planar = scene.model->bodies[1].joint == CR_JOINT_PLANAR;
    fputs(planar ? "toss,t,px,py,angle,vx,vy,w\n" : "toss,t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n",
          f.file);
    for (int i = 0; i < k->tosses; i++) {
        crWorldDef def = cr_world_def();
        def.model = scene.model;
        def.step = scene.step;
        crWorld* world = NULL;
        CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
        toss_start(scene.model, k, &random, cr_world_state(world));
        for (int n = 0; n < k->samples; n++) {
            if (n > 0) CHECK_STATUS(cr_world_run(world, n * k->interval, NULL), CR_OK);
            toss_row(f.file, scene.model, k, &random, i, n * k->interval, cr_world_state(world));
        }
        cr_world_destroy(world);
    }
    cr_scene_free(&scene);
    cr_json_free(&doc);
    fclose(f.file);
    return f;
}

// A scene with tosses of it, and the model that is fitted.
typedef struct TossCase {
    crJsonDoc doc;
    crTosses tosses;
    crMotionModel model;
    int in[64];  // all tosses, for what takes a choice of them
} TossCase;

// the scene and tosses of it; params are texts, the last NULL
static inline void toss_open(TossCase* c, const char* scene, const TossKind* kind, uint64_t seed,
                             const char* const* params) {
    *c = (TossCase){0};
    FitFile file = toss_sample(scene, kind, seed);
    crTable table;
    const crImpactOptions none = {0};
    crMotionParam list[CR_MOTION_PARAMS];
    int count = 0;
    for (; params[count] != NULL; count++) {
        CHECK_STATUS(cr_motion_param(params[count], &list[count], NULL), CR_OK);
    }
    CHECK_STATUS(cr_json_parse(scene, strlen(scene), 1, &c->doc, NULL), CR_OK);
    CHECK_STATUS(cr_table_read(file.path, &table, NULL), CR_OK);
    remove(file.path);
    CHECK_STATUS(cr_tosses_create(&table, &none, &c->tosses, NULL), CR_OK);
    const crMotionDef def = {
        .scene = c->doc.root, .tosses = &c->tosses, .params = list, .param_count = count};
    CHECK_STATUS(cr_motion_model_create(&def, NULL, &c->model, NULL), CR_OK);
    cr_table_free(&table);
    for (int i = 0; i < c->tosses.count && i < 64; i++) {
        c->in[i] = i;
    }
}

static inline void toss_close(TossCase* c) {
    cr_motion_model_destroy(&c->model);
    cr_tosses_destroy(&c->tosses);
    cr_json_free(&c->doc);
}

#endif
