// motion.c - a scene made ready for measured tosses: its body, its parameters, checks of the measurements.
//
// Fails: see motion.h.
#include "fit/motion.h"

#include <stdlib.h>
#include <string.h>

#include "carom/stages.h"
#include "fit/motion_parts.h"
#include "io/json_set.h"
#include "io/scene.h"

#define MOST_GAIN 1.0  // of the energy above the start, shares of what the start and the drop can give

double cr_rotation_between(crQuat a, crQuat b) {
    crQuat d = cr_quat_mul(a, cr_quat_conj(b));
    return 2.0 * cr_atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

crStatus cr__motion_scene(const crMotionModel* m, const double* values, crScene* scene, crError* error) {
    double middle[CR_MOTION_PARAMS];
    for (int i = 0; i < m->param_count; i++) {
        middle[i] = values != NULL ? values[i] : cr_motion_param_value(&m->params[i], 0.5);
    }
    crJsonDoc doc = {0};
    crStatus status = cr__motion_tree(m, middle, &doc, error);
    if (status == CR_OK) status = cr_scene_read(doc.root, scene, error);
    cr_json_free(&doc);
    return status;
}

// making ready

static bool flies(const crBody* body, bool planar) {
    return body->joint == CR_JOINT_FREE || (planar && body->joint == CR_JOINT_PLANAR);
}

static bool can_be(const crBody* body, bool planar) {
    return flies(body, planar) || body->joint == CR_JOINT_HINGE || body->joint == CR_JOINT_SLIDER ||
           (body->joint == CR_JOINT_BALL && !planar);
}

// the only body that can be the measured one: free ones first, then those on joints
static int count_bodies(const crModel* model, bool planar, bool (*can)(const crBody*, bool), int* body) {
    int count = 0;
    for (int i = 1; i < model->nb; i++) {
        if (!can(&model->bodies[i], planar)) continue;
        *body = i;
        count++;
    }
    return count;
}

static crStatus find_body(const crModel* model, const char* name, bool planar, int* body, crError* error) {
    const char* wanted = planar ? "free, planar, hinge or slider" : "free, hinge, slider or ball";
    if (name != NULL) {
        *body = cr_model_find_body(model, name);
        if (*body < 0)
            return cr_error_set(error, CR_ERR_NAME, "body", "body: the scene has none called '%.60s'", name);
        if (can_be(&model->bodies[*body], planar)) return CR_OK;
        return cr_error_set(error, CR_ERR_TYPE, "body", "body: the joint of '%.60s' must be %s", name,
                            wanted);
    }
    int count = count_bodies(model, planar, flies, body);
    if (count == 0) count = count_bodies(model, planar, can_be, body);
    if (count == 1) return CR_OK;
    return cr_error_set(error, CR_ERR_NAME, "body",
                        "body: the scene has %d bodies with a %s joint; name the measured one with --body",
                        count, wanted);
}

static crStatus no_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "scene", "scene: out of memory");
}

static crStatus make_text(const crJson* root, const char* body, const crMotionLaw* law, crMotionModel* m,
                          crError* error) {
    crJsonDoc doc = {0};
    m->scene = cr__motion_text(root);
    m->body_name = body != NULL ? strdup(body) : NULL;
    if (m->scene == NULL || (body != NULL && m->body_name == NULL)) return no_memory(error);
    crStatus status = cr_json_parse(m->scene, strlen(m->scene), 1, &doc, error);
    for (int i = 0; status == CR_OK && law != NULL && i < law->set_count; i++) {
        status = cr_json_set(&doc, law->path[i], law->value[i], error);
    }
    m->text = status == CR_OK ? cr__motion_text(doc.root) : NULL;
    if (status == CR_OK && m->text == NULL) status = no_memory(error);
    cr_json_free(&doc);
    return status;
}

// energy of the measured body at a sample, by the scene's gravity
static double energy_of(const crModel* model, const crBody* body, const crTossSample* s) {
    crVec3 w = cr_quat_rotate(cr_quat_conj(s->pose.q), s->w);
    crVec3 com = cr_pose_point(s->pose, body->com);
    return 0.5 * body->mass * cr_dot(s->v, s->v) + 0.5 * cr_sym3_quad(body->inertia, w) -
           body->mass * body->gravity_scale * cr_dot(model->gravity, com);
}

// A body that bounces on something fixed gains nothing: more than it had and could fall through is a mistake.
static crStatus check_energy(const crModel* model, int index, const crTosses* t, int i, crError* error) {
    const crBody* body = &model->bodies[index];
    double g = cr_norm(model->gravity) * body->mass * fabs(body->gravity_scale);
    const crTossSample* s = &t->samples[t->tosses[i].first];
    double start = energy_of(model, body, s), most = start, way = 0.0;
    for (int k = 1; k < t->tosses[i].count; k++) {
        most = fmax(most, energy_of(model, body, &s[k]));
        crVec3 from = cr_pose_point(s[0].pose, body->com), to = cr_pose_point(s[k].pose, body->com);
        way = fmax(way, fmax(cr_norm(cr_sub(s[k].pose.p, s[0].pose.p)), cr_norm(cr_sub(to, from))));
    }
    double kinetic = 0.5 * body->mass * cr_dot(s->v, s->v);
    double scale = kinetic + g * way;
    if (most - start <= MOST_GAIN * scale) return CR_OK;
    cr_error_set(error, CR_ERR_RANGE, "vx",
                 "vx ...: the energy of toss %g grows by %.3g J, at most %.3g J is plausible: are mass, "
                 "inertia, gravity and axes of the scene those of the measurements?",
                 t->tosses[i].id, most - start, MOST_GAIN * scale);
    if (error != NULL) {
        error->line = t->tosses[i].line;
        error->column = 1;
    }
    return CR_ERR_RANGE;
}

static crStatus check_energies(const crModel* model, int index, const crTosses* t, crError* error) {
    crStatus status = CR_OK;
    for (int i = 0; i < t->count && status == CR_OK; i++) {
        status = check_energy(model, index, t, i, error);
    }
    return status;
}

crStatus cr_motion_skip(const crJson* root, const char* name, crTosses* t, crError* error) {
    crScene scene = {0};
    int body = 0, kept = 0;
    crStatus status = cr_scene_read(root, &scene, error);
    if (status != CR_OK) return status;
    status = find_body(scene.model, name, t->planar, &body, error);
    for (int i = 0; i < t->count && status == CR_OK; i++) {
        crError trouble = {0};
        if (check_energy(scene.model, body, t, i, &trouble) == CR_OK) {
            t->tosses[kept++] = t->tosses[i];
            continue;
        }
        if (t->skipped++ == 0) t->skip_first = trouble;
    }
    cr_scene_free(&scene);
    if (status != CR_OK) return status;
    t->count = kept;
    if (kept > 0) return CR_OK;
    if (error != NULL) *error = t->skip_first;
    return CR_ERR_RANGE;
}

static double size_of(const crScene* scene, int body) {
    crStep step;
    if (cr_step_create(scene->model, &scene->step, NULL, &step, NULL) != CR_OK) return 0.0;
    double size = cr_step_size(&step, body);
    cr_step_destroy(&step);
    return size;
}

crStatus cr_motion_model_create(const crMotionDef* def, const crMotionLaw* law, crMotionModel* motion,
                                crError* error) {
    *motion = (crMotionModel){.tosses = def->tosses,
                              .length = def->length,
                              .scale = 0.2,
                              .substeps = def->substeps,
                              .param_count = def->param_count};
    for (int i = 0; i < def->param_count; i++) {
        motion->params[i] = def->params[i];
    }
    crScene scene = {0};
    crStatus status = make_text(def->scene, def->body, law, motion, error);
    // the scene as the user wrote it first: its refusals have a place
    if (status == CR_OK) status = cr_scene_read(def->scene, &scene, error);
    if (status == CR_OK)
        status = find_body(scene.model, def->body, def->tosses->planar, &motion->body, error);
    if (status == CR_OK) status = check_energies(scene.model, motion->body, def->tosses, error);
    if (status == CR_OK && def->length == 0.0) motion->length = size_of(&scene, motion->body) / sqrt(3.0);
    cr_scene_free(&scene);
    if (status == CR_OK && !(motion->length > 0.0 && isfinite(motion->length)))
        status =
            cr_error_set(error, CR_ERR_RANGE, "length",
                         "length: is %g, must be > 0 m; a body without shapes needs one", motion->length);
    if (status == CR_OK) status = cr__motion_scene(motion, NULL, &scene, error);
    cr_scene_free(&scene);
    if (status != CR_OK) cr_motion_model_destroy(motion);
    return status;
}

void cr_motion_model_destroy(crMotionModel* motion) {
    free(motion->scene);
    free(motion->text);
    free(motion->body_name);
    *motion = (crMotionModel){0};
}

crMotionRun cr_motion_worst(const crMotionRun* runs, int count) {
    crMotionRun worst = {0};
    for (int i = 0; i < count; i++) {
        const crMotionRun* r = &runs[i];
        worst.penetration = fmax(worst.penetration, r->penetration);
        worst.energy_created = fmax(worst.energy_created, r->energy_created);
        worst.energy_gain = fmax(worst.energy_gain, r->energy_gain);
        worst.steps += r->steps;
        worst.unsolved += r->unsolved;
        worst.impermissible += r->impermissible;
        worst.broken |= r->broken;
    }
    return worst;
}
