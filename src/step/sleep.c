// sleep.c - islands that stay slow fall asleep, and wake together.
//
// Bodies joined by contacts within their margins, trees and loops are an island. If the fastest point of
// every body of an island has been below sleep_speed for sleep_time, the island sleeps: its v is zero, and no
// stage computes it. Each body has a seal, the hash of its q, v, applied forces, motor speeds, controls and
// k, and of the pose of the driven body it touches. An island wakes if a seal changes, or if a contact within
// the margins of a step joins it to a body that is awake or driven at a velocity. Sleep of one island does
// not change other islands. Bodies that touch two driven bodies stay awake. The certificate includes the
// overlap at which a body fell asleep.
// Fails: CR_ERR_MEMORY; the error of the user's force.
#include <string.h>

#include "base/bytes.h"
#include "model/actuate.h"
#include "step/audit.h"
#include "step/forest.h"
#include "step/step.h"

static uint64_t seal_of(const crStep* step, int b) {
    const crBody* body = &step->model->bodies[b];
    const crState* s = &step->state;
    crPose pose = step->dynamics.pose[step->rest.sleep[b].carrier];
    crBytes out = {NULL, CR_HASH_SEED};
    cr__put_doubles(&out, s->q + body->q, body->nq);
    cr__put_doubles(&out, s->v + body->v, body->nv);
    cr__put_doubles(&out, s->force + body->v, body->nv);
    cr__put_doubles(&out, s->motor_speed + body->v, body->nv);
    for (int j = body->v; j < body->v + body->nv && step->model->nu > 0; j++) {
        for (int t = step->model->velocity.actuator[j]; t >= 0; t = cr__term_next(step->model, t)) {
            cr__put_double(&out, cr__actuator_input(step->model, s, cr__term_actuator(t)));
        }
    }
    // The user's force can only be known by calling it.
    if (step->calls.force != NULL) cr__put_doubles(&out, step->free.k + body->v, body->nv);
    cr__put_doubles(&out, (double[]){pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z},
                    7);
    return out.hash;
}

static crStatus tell(const crStep* step, int kind, int body, crStepEvents* events, crError* error) {
    crEvent event = {.time = step->state.time, .shape_a = -1, .shape_b = -1, .body_b = body, .impact = kind};
    event.point = step->dynamics.com[body];
    return cr__step_event_put(&step->own.allocator, &event, events) == CR_OK ? CR_OK : cr__step_memory(error);
}

crStatus cr__step_wake(const crStep* step, int body, crStepEvents* events, crError* error) {
    crSleep* sleep = step->rest.sleep;
    int island = sleep[body].island;
    if (island == 0) return CR_OK;
    for (int b = 1; b < step->model->nb; b++) {
        if (sleep[b].island == island) sleep[b] = (crSleep){0};
    }
    return tell(step, CR_EVENT_WAKE, island, events, error);
}

static int count_asleep(const crModel* model, const crSleep* sleep) {
    int count = 0;
    for (int b = 1; b < model->nb; b++) {
        count += sleep[b].island != 0;
    }
    return count;
}

crStatus cr__step_wake_written(crStep* step, crError* error) {
    const crModel* model = step->model;
    crStatus status = CR_OK;
    step->certificate.asleep = count_asleep(step->model, step->rest.sleep);
    if (step->certificate.asleep == 0) return CR_OK;
    // driven bodies and the user's force at this time
    cr__part_kinematics(model, (crPart){step->plan->given, step->plan->given_count}, &step->state,
                        &step->dynamics);
    if (step->calls.force != NULL) {
        cr_model_kinematics(model, &step->state, &step->dynamics);
        cr_model_forces(model, &step->state, &step->dynamics, step->free.k);
        status = step->calls.force(step->calls.force_ctx, model, &step->state, &step->dynamics, step->free.k);
        if (status != CR_OK) return cr_error_set(error, status, "force", "force: %s", cr_status_text(status));
    }
    for (int b = 1; b < model->nb && status == CR_OK; b++) {
        if (step->rest.sleep[b].island != 0 && seal_of(step, b) != step->rest.sleep[b].seal) {
            status = cr__step_wake(step, b, &step->events, error);
        }
    }
    return status;
}

crStatus cr__step_wake_touched(const crStep* step, bool* woke, crStepEvents* events, crError* error) {
    const crSleep* sleep = step->rest.sleep;
    crStatus status = CR_OK;
    *woke = false;
    for (int i = 0; i < step->contacts.count && status == CR_OK && step->certificate.asleep > 0; i++) {
        const crStepContact* c = &step->contacts.list[i];
        int body = sleep[c->body_a].island != 0 ? c->body_a : c->body_b;
        if (sleep[body].island == 0) continue;
        *woke = true;
        status = cr__step_wake(step, body, events, error);
    }
    return status;
}

// Finds the driven body that each body touches; a body that touches two does not become slow.
static void find_carriers(const crStep* step, crSleep* sleep) {
    const crModel* model = step->model;
    for (int k = 0; k < step->awake.count; k++) {
        sleep[step->awake.bodies[k]].carrier = 0;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        for (int k = 0; k < 2; k++) {
            int own = k == 0 ? c->body_a : c->body_b, other = k == 0 ? c->body_b : c->body_a;
            if (cr__moves(model, other) || model->bodies[other].base == CR_WORLD) continue;
            crSleep* body = &sleep[own];
            if (body->carrier != 0 && body->carrier != other) body->slow = 0.0;
            body->carrier = other;
        }
    }
}

// Finds how long each island has been slow, at its root: the shortest time of its bodies.
static void find_rest(const crStep* step, double h, const int* islands, crSleep* sleep, double* rest) {
    for (int b = 0; b < step->model->nb; b++) {
        rest[b] = INFINITY;
    }
    for (int k = 0; k < step->awake.count; k++) {
        int b = step->awake.bodies[k];
        if (!cr__moves(step->model, b)) continue;
        bool slow = cr__step_speed(step, step->state.v, b) <= step->settings.sleep_speed;
        sleep[b].slow = slow ? sleep[b].slow + h : 0.0;
    }
    find_carriers(step, sleep);
    for (int k = 0; k < step->awake.count; k++) {
        int b = step->awake.bodies[k];
        if (cr__moves(step->model, b)) rest[islands[b]] = fmin(rest[islands[b]], sleep[b].slow);
    }
}

// Measures the overlap of the marked bodies at their poses in sleep, and clears the marks.
static void measure_overlaps(const crStep* step, crSleep* sleep) {
    for (int i = 0; i < step->pairs->count; i++) {
        const crNear* pair = &step->pairs->near[i];
        if (step->work.mark[pair->body_a] == 0 && step->work.mark[pair->body_b] == 0) continue;
        double overlap = cr__audit_depth(step->plan, step->dynamics.pose, pair->shape_a, pair->shape_b);
        int ends[2] = {pair->body_a, pair->body_b};
        for (int k = 0; k < 2; k++) {
            crSleep* body = &sleep[ends[k]];
            if (step->work.mark[ends[k]] != 0 && overlap > body->overlap) body->overlap = overlap;
        }
    }
    memset(step->work.mark, 0, (size_t)step->model->nb * sizeof *step->work.mark);
}

// Adds the sleeping bodies to the certificate.
static void certify_sleepers(const crModel* model, const crSleep* sleep, crCertificate* c) {
    c->asleep = count_asleep(model, sleep);
    for (int b = 1; b < model->nb && c->asleep > 0; b++) {
        if (sleep[b].island != 0) c->penetration = fmax(c->penetration, sleep[b].overlap);
    }
}

static crStatus put_to_sleep(crStep* step, const int* islands, const double* rest, crError* error) {
    const crModel* model = step->model;
    crStatus status = CR_OK;
    bool any = false;
    for (int k = 0; k < step->awake.count && status == CR_OK; k++) {
        int b = step->awake.bodies[k];
        const crBody* body = &model->bodies[b];
        if (!cr__moves(model, b) || rest[islands[b]] < step->settings.sleep_time) continue;
        memset(step->state.v + body->v, 0, (size_t)body->nv * sizeof(double));
        step->rest.sleep[b].island = islands[b];
        step->rest.sleep[b].seal = seal_of(step, b);
        step->work.mark[b] = 1;
        any = true;
        if (islands[b] == b) status = tell(step, CR_EVENT_SLEEP, b, &step->events, error);
    }
    if (any) measure_overlaps(step, step->rest.sleep);
    return status;
}

crStatus cr__step_fall_asleep(crStep* step, double h, int* islands, crError* error) {
    double* rest = cr_arena_alloc(&step->scratch, (size_t)step->model->nb * sizeof *rest);
    if (rest == NULL) return cr__step_memory(error);
    for (int k = 0; k < step->awake.count; k++) {
        islands[step->awake.bodies[k]] = cr__forest_find(islands, step->awake.bodies[k]);
    }
    find_rest(step, h, islands, step->rest.sleep, rest);
    crStatus status = put_to_sleep(step, islands, rest, error);
    certify_sleepers(step->model, step->rest.sleep, &step->certificate);
    return status;
}
