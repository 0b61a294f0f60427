// fit_sample.h - synthetic measurements: collisions of random bodies answered by a law with known parameters.
#ifndef CAROM_FIT_SAMPLE_H
#define CAROM_FIT_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fit/fit.h"
#include "sample.h"
#include "test.h"

// A file that is removed by fit_sample_remove.
typedef struct FitFile {
    char path[64];
    FILE* file;
} FitFile;

static inline FitFile fit_sample_open(void) {
    FitFile f = {.path = "/tmp/carom-test-fit-XXXXXX"};
    int descriptor = mkstemp(f.path);
    f.file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    CHECK(f.file != NULL);
    return f;
}

static inline void fit_sample_text(FitFile* f, const char* text) {
    *f = fit_sample_open();
    fputs(text, f->file);
    fclose(f->file);
}

// A body with its contact, approaching: planar in x-y with n = +y.
typedef struct FitBody {
    double m, inertia;
    crVec3 r, v, w;
} FitBody;

static inline FitBody fit_sample_body(crRandom* random) {
    FitBody b = {.m = sample_uniform(random, 0.1, 2.0)};
    b.r = cr_vec3(sample_uniform(random, -0.08, 0.08), sample_uniform(random, -0.2, -0.05), 0.0);
    b.inertia = b.m * cr_dot(b.r, b.r) * sample_uniform(random, 0.3, 0.8);
    b.v = cr_vec3(sample_uniform(random, -1.5, 1.5), sample_uniform(random, -3.0, -1.0), 0.0);
    b.w = cr_vec3(0.0, 0.0, sample_uniform(random, -4.0, 4.0));
    return b;
}

// The contact of a body, as the laws see it.
static inline crContact fit_sample_contact(const FitBody* b, crMat3* frame) {
    crRigid ground = cr_rigid(), body = cr_rigid();
    ground.fixed = true;
    body.mass = b->m;
    body.inertia = (crSym3){.xx = b->inertia, .yy = b->inertia, .zz = b->inertia};
    body.velocity = b->v;
    body.omega = b->w;
    crCollision c = cr_collision();
    c.n = cr_vec3(0.0, 1.0, 0.0);
    crContact contact;
    CHECK_STATUS(cr_collision_bodies(&c, &ground, &body, b->r, NULL), CR_OK);
    CHECK_STATUS(cr_collision_contact(&c, &contact, frame, NULL), CR_OK);
    return contact;
}

#define FIT_SAMPLE_HEADER "m,I,rx,ry,vx,vy,w,vx_after,vy_after,w_after\n"

// A row of the file: the body, and after the impulse P (contact frame) with noise on every velocity.
static inline void fit_sample_row(FILE* file, crRandom* random, const FitBody* b, crMat3 frame, crVec3 P,
                                  double noise) {
    crVec3 J = cr_mat3_mul(frame, P);
    double arm = cr_norm(b->r);
    double vx = b->v.x + J.x / b->m + noise * sample_uniform(random, -1.0, 1.0);
    double vy = b->v.y + J.y / b->m + noise * sample_uniform(random, -1.0, 1.0);
    double w = b->w.z + cr_cross(b->r, J).z / b->inertia + noise / arm * sample_uniform(random, -1.0, 1.0);
    fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", b->m, b->inertia, b->r.x,
            b->r.y, b->v.x, b->v.y, b->w.z, vx, vy, w);
}

// Parameters that the samples are made with.
static inline crFitTheta truth(void) {
    crFitTheta theta = cr_fit_theta();
    theta.value[CR_FIT_MU] = 0.23;
    theta.value[CR_FIT_E] = 0.62;
    theta.value[CR_FIT_ET] = 0.35;
    theta.value[CR_FIT_ETA2] = 1.6;
    theta.value[CR_FIT_MU2] = 0.12;
    theta.value[CR_FIT_PSI1] = 0.9;
    theta.value[CR_FIT_RHO] = 0.5;
    return theta;
}

// `count` collisions answered by the law.
static inline FitFile fit_sample_law(const char* law, const crFitTheta* theta, int count, double noise,
                                     uint64_t seed) {
    FitFile f = fit_sample_open();
    crRandom random = sample_seed(seed);
    fputs(FIT_SAMPLE_HEADER, f.file);
    for (int i = 0; i < count;) {
        FitBody b = fit_sample_body(&random);
        crMat3 frame;
        crContact c = fit_sample_contact(&b, &frame);
        crHit hit;
        bool answered = false;
        CHECK_STATUS(cr_fit_answer(cr_fit_law_find(law), theta, &c, &hit, &answered, NULL), CR_OK);
        if (!answered || c.V.x > -0.2) continue;
        fit_sample_row(f.file, &random, &b, frame, hit.P, noise);
        i++;
    }
    fclose(f.file);
    return f;
}

// The file as impacts; the file is removed.
static inline crStatus fit_sample_read(FitFile* f, const crImpactOptions* options, crImpacts* impacts,
                                       crError* error) {
    crImpactOptions none = {0};
    crTable table;
    *impacts = (crImpacts){0};
    crStatus status = cr_table_read(f->path, &table, error);
    remove(f->path);
    if (status != CR_OK) return status;
    status = cr_impacts_create(&table, options != NULL ? options : &none, impacts, error);
    cr_table_free(&table);
    return status;
}

#endif
