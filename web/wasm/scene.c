// scene.c - a scene that runs in the page: opened from text, stepped as `carom run` steps it, looked at.
//
// Steps of dt up to the duration, the last one shorter where it must be (tools/carom/run.c makes the same
// ones, so that the hash of the last state is the same). Fails: what the reader of scenes and the steps
// refuse, kept as an error of the scene.
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/stages.h"
#include "hand.h"
#include "io/json_set.h"

#define ROUNDING 1e-9  // share of a step that is no step of its own
#define DRIFT    1e-3  // share of a step that rounding may move the time of a whole step by

static crStatus set_values(crJsonDoc* doc, const char* sets, size_t size, crError* error) {
    if (size == 0) return CR_OK;
    crJsonDoc values = {0};
    crStatus status = cr_json_parse(sets, size, 1, &values, error);
    if (status != CR_OK) return status;
    bool objects = values.root->type == CR_JSON_OBJECT && doc->root->type == CR_JSON_OBJECT;
    for (const crJson* v = objects ? values.root->child : NULL; v != NULL && status == CR_OK; v = v->next) {
        if (v->type == CR_JSON_STRING) status = cr_json_set(doc, v->key, v->text, error);
    }
    cr_json_free(&values);
    return status;
}

static void count_steps(PageScene* s) {
    double dt = s->scene.step.dt, time = s->scene.time, left = s->scene.duration;
    s->begun = floor(time / dt + 0.5);
    if (fabs(time - s->begun * dt) > DRIFT * dt) {
        s->begun = 0.0;
        left = fmax(left - time, 0.0);
    }
    s->whole = floor(left / dt + ROUNDING);
    s->steps = s->whole + (left - s->whole * dt > ROUNDING * dt ? 1.0 : 0.0);
}

static crStatus make_world(PageScene* s) {
    if (!hands_prepare(s)) return cr_error_set(&s->error, CR_ERR_MEMORY, "", "out of memory");
    crWorldDef def = cr_world_def();
    def.model = s->scene.model;
    def.step = s->scene.step;
    def.step.threads = 1;
    crStatus status = cr_world_create(&def, &s->world, &s->error);
    if (status != CR_OK) return status;
    crState* state = cr_world_state(s->world);
    state->time = s->scene.time;
    size_t nq = (size_t)s->scene.model->nq;
    size_t nv = (size_t)s->scene.model->nv;
    memcpy(state->q, s->scene.q, nq * sizeof(double));
    memcpy(state->v, s->scene.v, nv * sizeof(double));
    s->poses = malloc(7 * (size_t)s->scene.model->nb * sizeof(double));
    s->state = malloc((nq + nv + 1) * sizeof(double));
    count_steps(s);
    s->made = s->begun;
    return s->poses != NULL && s->state != NULL ? CR_OK
                                                : cr_error_set(&s->error, CR_ERR_MEMORY, "", "out of memory");
}

PageScene* carom_scene_open(const char* text, size_t size, const char* sets, size_t sets_size) {
    PageScene* s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    crJsonDoc doc = {0};
    crStatus status = cr_json_parse(text, size, 1, &doc, &s->error);
    if (status == CR_OK) status = set_values(&doc, sets, sets_size, &s->error);
    if (status == CR_OK) status = cr_scene_read(doc.root, &s->scene, &s->error);
    cr_json_free(&doc);
    s->opened = status == CR_OK;
    if (s->opened) status = make_world(s);
    s->error.status = status;
    return s;
}

void carom_scene_close(PageScene* s) {
    if (s == NULL) return;
    cr_world_destroy(s->world);
    if (s->opened) hands_free(s);
    free(s->snapshot);
    if (s->opened) cr_scene_free(&s->scene);
    free(s->poses);
    free(s->state);
    free(s->forces);
    free(s->events);
    free(s);
}

int carom_scene_step(PageScene* s) {
    if (s->made >= s->steps) return 0;
    double begin = cr_world_state(s->world)->time;
    bool rest = s->made >= s->whole;
    s->h = rest ? s->scene.duration - begin : s->scene.step.dt;
    crStatus status =
        rest ? cr_world_run(s->world, s->scene.duration, &s->error) : cr_world_step(s->world, &s->error);
    if (status != CR_OK) {
        hands_cut(s, begin);
        return (int)status;
    }
    hands_follow(s, begin, begin + 0.5 * s->h);
    s->made += 1.0;
    return 1;
}

int carom_scene_extend(PageScene* s, double duration) {
    if (s->made > s->whole || !(duration >= s->scene.duration) || !isfinite(duration)) return 0;
    s->scene.duration = duration;
    count_steps(s);
    return 1;
}

void* carom_scene_save(PageScene* s) {
    size_t size = cr_world_save_size(s->world);
    void* bytes = realloc(s->snapshot, size);
    if (bytes == NULL) return NULL;
    s->snapshot = bytes;
    s->snapshot_size = size;
    return cr_world_save(s->world, bytes, size) == CR_OK ? bytes : NULL;
}

size_t carom_scene_save_size(const PageScene* s) { return s->snapshot_size; }

int carom_scene_load(PageScene* s, const void* bytes, size_t size, double made) {
    crStatus status = cr_world_load(s->world, bytes, size, &s->error);
    if (status != CR_OK) return (int)status;
    hands_cut(s, cr_world_state(s->world)->time);
    s->made = made;
    return 0;
}

double* carom_scene_read_state(PageScene* s) {
    const crState* state = cr_world_state(s->world);
    size_t nq = (size_t)s->scene.model->nq;
    memcpy(s->state, state->q, nq * sizeof(double));
    memcpy(s->state + nq, state->v, (size_t)s->scene.model->nv * sizeof(double));
    return s->state;
}

uint64_t carom_scene_hash(const PageScene* s) { return cr_world_hash(s->world); }

double* carom_scene_state(PageScene* s) { return s->state; }

void carom_scene_place(PageScene* s, double time) {
    crState* state = cr_world_state(s->world);
    size_t nq = (size_t)s->scene.model->nq;
    memcpy(state->q, s->state, nq * sizeof(double));
    memcpy(state->v, s->state + nq, (size_t)s->scene.model->nv * sizeof(double));
    state->time = time;
}

double* carom_scene_look(PageScene* s) {
    crEnergy energy = cr_world_energy(s->world);
    const crCertificate* c = cr_world_certificate(s->world);
    const crStep* step = cr_world_stages(s->world);
    double* n = s->numbers;
    n[PAGE_TIME] = step->state.time;
    n[PAGE_KINETIC] = energy.kinetic;
    n[PAGE_POTENTIAL] = energy.potential;
    n[PAGE_RESIDUAL] = c->residual;
    n[PAGE_PENETRATION] = c->penetration;
    n[PAGE_CONTACTS] = c->contacts;
    n[PAGE_IMPACTS] = c->impacts;
    crTally one = {0};
    cr_tally_add(&one, c);
    bool made = s->made > s->begun;
    n[PAGE_UNSOLVED] = made ? one.failed : 0.0;
    n[PAGE_NEAR] = made ? one.near : 0.0;
    n[PAGE_UNSURE] = made ? one.unsure : 0.0;
    n[PAGE_BOUNDED] = made ? one.bounded : 0.0;
    n[PAGE_ETA] = c->eta;
    n[PAGE_DISTANCE] = c->distance;
    n[PAGE_CROSSINGS] = c->crossings;
    n[PAGE_CROSSINGS_UNSURE] = c->crossings_unsure;
    n[PAGE_GAIN] = isnan(c->energy.gain) ? 0.0 : c->energy.gain;
    n[PAGE_WORK] = isnan(c->energy.work) ? 0.0 : c->energy.work;
    n[PAGE_IMPACTS_UNSURE] = c->impacts_unsure;
    n[PAGE_IMPERMISSIBLE] = c->impermissible;
    n[PAGE_CREATED] = c->energy.created;
    n[PAGE_STEPS] = s->made;
    n[PAGE_EVENTS] = cr_world_events(s->world).count;
    n[PAGE_FORCES] = made ? cr_step_shown(step) + step->events.count : 0;
    return n;
}

double* carom_scene_poses(PageScene* s) {
    const crPose* pose = cr_world_stages(s->world)->dynamics.pose;
    for (int i = 0; i < s->scene.model->nb; i++) {
        const double row[7] = {pose[i].p.x, pose[i].p.y, pose[i].p.z, pose[i].q.w,
                               pose[i].q.x, pose[i].q.y, pose[i].q.z};
        memcpy(s->poses + 7 * i, row, sizeof row);
    }
    return s->poses;
}

// room for count rows of `width` numbers
static bool fits(double** array, int* room, int count, int width) {
    if (count <= *room && *array != NULL) return true;
    int wanted = 2 * count + 16;
    double* larger = realloc(*array, (size_t)wanted * (size_t)width * sizeof(double));
    if (larger == NULL) return false;
    *array = larger;
    *room = wanted;
    return true;
}

double* carom_scene_forces(PageScene* s) {
    enum { WIDTH = 7 };
    const crStep* step = cr_world_stages(s->world);
    if (!fits(&s->forces, &s->force_room, cr_step_shown(step) + step->events.count, WIDTH)) return NULL;
    double* row = s->forces;
    for (int i = 0; i < cr_step_shown(step); i++, row += WIDTH) {
        crVec3 p = cr_step_shown_at(step, i)->point.point;
        crVec3 P = cr_step_shown_at(step, i)->impulse;
        memcpy(row, (const double[WIDTH]){p.x, p.y, p.z, P.x, P.y, P.z, 0.0}, WIDTH * sizeof *row);
    }
    for (int i = 0; i < step->events.count; i++, row += WIDTH) {
        crVec3 p = step->events.list[i].point;
        crVec3 P = step->events.list[i].impulse;
        memcpy(row, (const double[WIDTH]){p.x, p.y, p.z, P.x, P.y, P.z, 1.0}, WIDTH * sizeof *row);
    }
    return s->forces;
}

double* carom_scene_events(PageScene* s) {
    enum { WIDTH = 11 };
    crEvents events = cr_world_events(s->world);
    if (!fits(&s->events, &s->event_room, events.count, WIDTH)) return NULL;
    for (int i = 0; i < events.count; i++) {
        const crEvent* e = &events.events[i];
        const double row[WIDTH] = {e->time,          e->body_a,    e->body_b,   e->approach,
                                   e->energy_change, e->point.x,   e->point.y,  e->point.z,
                                   e->impulse.x,     e->impulse.y, e->impulse.z};
        memcpy(s->events + WIDTH * i, row, sizeof row);
    }
    return s->events;
}
