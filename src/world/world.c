// world.c - a model that moves: owns the step, keeps the last good state, makes single steps.
//
// Before a step the state is checked and copied; a step that fails is undone from the copy and from what the
// step keeps of its beginning, so the world stands where it was. Energy and momentum are those of the present state.
// Fails: CR_ERR_ARGUMENT for a definition that does not come from cr_world_def; as the step does.
#include "world/world.h"

#include "step/audit.h"
#include "step/lie.h"
#include "step/rest.h"

#include <string.h>

#include "base/argument.h"
#include "base/room.h"
#include "model/pull.h"

#define COOKIE UINT32_C(0x6361726f)

crWorldDef cr_world_def(void) { return (crWorldDef){.cookie = COOKIE, .step = cr_step_settings()}; }

// bytes of the sleep of all bodies, which does not change in a world where none falls asleep
static size_t sleep_bytes(const crWorld* world) {
    return world->step.settings.sleep_time > 0.0 ? (size_t)world->step.model->nb * sizeof(crSleep) : 0;
}

static crStatus make_copy(crWorld* world) {
    const crModel* model = world->step.model;
    world->sleep = cr_arena_alloc(&world->step.own.store, sleep_bytes(world));
    world->tie_force =
        cr_arena_alloc(&world->step.own.store, (size_t)world->step.ties.count * sizeof(double));
    world->q = cr_arena_alloc(&world->step.own.store, (size_t)model->nq * sizeof(double));
    world->start_ctrl = cr_arena_alloc(&world->step.own.store, (size_t)(model->nu + 1) * sizeof(double));
    world->ctrl =
        cr_arena_alloc(&world->step.own.store, (size_t)(model->nu + model->na + 1) * sizeof(double));
    world->start_act = cr_arena_alloc(&world->step.own.store, (size_t)(model->na + 1) * sizeof(double));
    for (int i = 0; i < model->nu && world->start_ctrl != NULL && world->start_act != NULL; i++) {
        const crActuator* a = &model->actuators[i];
        world->start_ctrl[i] = a->ctrl;
        if (a->act_place >= 0) world->start_act[a->act_place] = a->act;
    }
    bool ok = world->start_ctrl != NULL && world->start_act != NULL && world->ctrl != NULL &&
              world->sleep != NULL && world->tie_force != NULL && world->q != NULL;
    if (model->load_count > 0 || cr__model_pulls(model)) {
        world->force = cr_arena_alloc(&world->step.own.store, (size_t)model->nv * sizeof(double));
        ok = ok && world->force != NULL;
    }
    return ok ? CR_OK : CR_ERR_MEMORY;
}

crStatus cr_world_create(const crWorldDef* def, crWorld** world, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    *world = NULL;
    if (def == NULL) return cr__missing(error, "def");
    if (def->cookie != COOKIE) {
        return cr_error_set(error, CR_ERR_ARGUMENT, "def", "def: must come from cr_world_def()");
    }
    if (def->model == NULL) return cr__missing(error, "model");
    if (cr__check_allocator(def->allocator, error) != CR_OK) return CR_ERR_ARGUMENT;
    crAllocator a = def->allocator != NULL ? *def->allocator : cr_allocator_libc();
    crWorld* made = a.alloc(a.ctx, sizeof *made);
    if (made == NULL) return cr_error_set(error, CR_ERR_MEMORY, "", "world: out of memory");
    *made = (crWorld){.allocator = a, .log = def->log, .scratch = def->scratch};
    crStatus status = cr_step_create(def->model, &def->step, &a, &made->step, error);
    if (status == CR_OK && make_copy(made) != CR_OK) {
        status = cr_error_set(error, CR_ERR_MEMORY, "", "world: out of memory");
    }
    if (status != CR_OK) {
        cr_world_destroy(made);
        return status;
    }
    made->model_hash = cr__model_hash(def->model);
    made->settings_hash = cr__settings_hash(&made->step.settings);
    made->step.calls.force = def->force;
    made->step.calls.force_ctx = def->force_ctx;
    *world = made;
    return CR_OK;
}

void cr_world_destroy(crWorld* world) {
    if (world == NULL) return;
    crAllocator a = world->allocator;
    cr__drop(&a, world->events, world->event_capacity, sizeof *world->events);
    cr_step_destroy(&world->step);
    a.free(a.ctx, world, sizeof *world);
}

crState* cr_world_state(crWorld* world) {
    if (world == NULL) return NULL;
    return &world->step.state;
}
const crModel* cr_world_model(const crWorld* world) {
    if (world == NULL) return NULL;
    return world->step.model;
}
crStep* cr_world_stages(crWorld* world) {
    if (world == NULL) return NULL;
    return &world->step;
}
const crCertificate* cr_world_certificate(const crWorld* world) {
    if (world == NULL) return NULL;
    return &world->step.certificate;
}

bool cr_world_asleep(const crWorld* world, int body) {
    if (world == NULL || body < 0 || body >= world->step.model->nb) return false;
    return world->step.rest.sleep[body].island != 0;
}

static void remember(crWorld* world) {
    crStep* step = &world->step;
    // a step that fails before it begins must find them too
    cr__step_keep_start(step->model, step->own.tasks, &step->state, &step->start);
    step->warm.changed = false;
    memcpy(world->sleep, step->rest.sleep, sleep_bytes(world));
    memcpy(world->tie_force, step->ties.force, (size_t)step->ties.count * sizeof(double));
    world->time = step->state.time;
}

static void restore_q(crWorld* world) {
    if (world->step.model->nq > 0)
        memcpy(world->step.state.q, world->q, (size_t)world->step.model->nq * sizeof(double));
}

static void undo(crWorld* world) {
    crStep* step = &world->step;
    restore_q(world);
    memcpy(step->state.v, step->start.v, (size_t)step->model->nv * sizeof(double));
    memcpy(step->rest.sleep, world->sleep, sleep_bytes(world));
    memcpy(step->ties.force, world->tie_force, (size_t)step->ties.count * sizeof(double));
    step->state.time = world->time;
    // what sleeps is not posed again by a step
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    if (step->warm.changed) cr__step_swap_forces(&step->warm);
    step->warm.changed = false;
    step->events.count = 0;
}

// scratch that is lent is the step's own while it runs
static void change_scratch(crWorld* world) {
    if (world->scratch == NULL) return;
    crArena own = world->step.scratch;
    world->step.scratch = *world->scratch;
    *world->scratch = own;
}

static void look(crWorld* world) {
    crStep* step = &world->step;
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    cr_model_velocity(step->model, step->state.v, &step->dynamics);
}

// Adds the loads of the model, at the middle of the step, and its tendons to the applied forces; release_loads takes them
// away.
static crStatus hold_loads(crWorld* world, double h, crError* error) {
    crStep* step = &world->step;
    if (world->force == NULL) return CR_OK;
    memcpy(world->force, step->state.force, (size_t)step->model->nv * sizeof(double));
    look(world);
    crStatus status = cr_model_add_loads(step->model, &step->state, step->state.time + 0.5 * h,
                                         &step->dynamics, step->state.force, error);
    if (status != CR_OK || !cr__model_pulls(step->model)) return status;
    status = cr__lines_hold(step->model, &step->state, h, &step->dynamics, &step->scratch, step->state.force);
    if (status == CR_ERR_MEMORY) return cr__step_memory(error);
    return status == CR_OK ? CR_OK : cr_error_set(error, status, "mass", "mass: %s", cr_status_text(status));
}

static void release_loads(crWorld* world) {
    if (world->force != NULL)
        memcpy(world->step.state.force, world->force, (size_t)world->step.model->nv * sizeof(double));
}

// Controls of actuators that have a schedule, at the middle of the step; restore_controls undoes it.
static void set_controls(crWorld* world, double h) {
    const crModel* model = world->step.model;
    crState* state = &world->step.state;
    if (model->na > 0) memcpy(world->ctrl + model->nu, state->act, (size_t)model->na * sizeof(double));
    for (int i = 0; i < model->nu; i++) {
        const crActuator* a = &model->actuators[i];
        world->ctrl[i] = state->ctrl[i];
        if (a->schedule != NULL) state->ctrl[i] = a->schedule(a->schedule_ctx, state->time + 0.5 * h);
    }
}

static void restore_controls(crWorld* world) {
    const crModel* model = world->step.model;
    if (model->nu > 0) memcpy(world->step.state.ctrl, world->ctrl, (size_t)model->nu * sizeof(double));
    if (model->na > 0)
        memcpy(world->step.state.act, world->ctrl + model->nu, (size_t)model->na * sizeof(double));
}

bool cr__world_still(const crWorld* world, double h) {
    const crStep* step = &world->step;
    const crState* s = &step->state;
    size_t q = (size_t)step->model->nq * sizeof(double), v = (size_t)step->model->nv * sizeof(double);
    // whoever looks at problems sees those of every step
    if (!step->rest.still || step->calls.posed != NULL || world->last_h != h ||
        memcmp(s->q, world->q, q) != 0)
        return false;
    for (int i = 0; i < step->model->nv; i++) {
        if (s->force[i] != 0.0) return false;
    }
    size_t ctrl = (size_t)step->model->nu * sizeof(double);
    return memcmp(s->v, step->start.v, v) == 0 && (ctrl == 0 || memcmp(s->ctrl, world->ctrl, ctrl) == 0);
}

// Of a step that left all as it was: forces of limits and loops as before it too. Where they are others it is not still.
static void settle_ties(crWorld* world) {
    crStepTies* ties = &world->step.ties;
    double most = 0.0, off = 0.0;
    for (int i = 0; i < ties->count; i++) {
        most = fmax(most, fabs(world->tie_force[i]));
        off = fmax(off, fabs(ties->force[i] - world->tie_force[i]));
    }
    world->step.rest.still = off <= CR_REST_FORCES * most;
    if (world->step.rest.still) memcpy(ties->force, world->tie_force, (size_t)ties->count * sizeof(double));
}

static bool is_zero(const double* x, int count) {
    for (int i = 0; i < count; i++) {
        if (x[i] != 0.0) return false;
    }
    return true;
}

// Islands that lie are computed again where the user wrote their state, and all of them where h changed.
static void rouse(crWorld* world, double h) {
    crStep* step = &world->step;
    const crState* s = &step->state;
    bool any = false;
    step->rest.lying.known = world->last_h == h && step->calls.posed == NULL;
    for (int b = 1; b < step->model->nb && step->rest.lying.known && step->rest.lying.count > 0; b++) {
        const crBody* body = &step->model->bodies[b];
        if (step->rest.lying.island[b] == 0) continue;
        bool same = memcmp(s->q + body->q, world->q + body->q, (size_t)body->nq * sizeof(double)) == 0;
        if (same && is_zero(s->v + body->v, body->nv) && is_zero(s->force + body->v, body->nv)) continue;
        step->work.mark[step->rest.lying.island[b]] = 1;
        any = true;
    }
    if (any) cr__lie_end_marked(step, &step->rest.lying);
}

// Free bodies that stood and stand where they were keep q as it was before the check, which may change the last bits of a quaternion.
static void restore_unmoved(crWorld* world) {
    crStep* step = &world->step;
    for (int b = step->plan->first_single; b < step->model->nb; b++) {
        const crBody* body = &step->model->bodies[b];
        size_t bytes = (size_t)body->nq * sizeof(double);
        if (!body->single || !is_zero(step->state.v + body->v, body->nv)) continue;
        if (!is_zero(step->start.v + body->v, body->nv)) continue;
        if (memcmp(step->state.q + body->q, step->start.q + body->q, bytes) != 0) continue;
        memcpy(step->state.q + body->q, world->q + body->q, bytes);
    }
}

static crStatus stay(crWorld* world, double h, crError* error) {
    change_scratch(world);
    crStatus status = cr__step_stay(&world->step, h, error);
    change_scratch(world);
    if (cr__audit_due(&world->step)) restore_q(world);
    return status;
}

crStatus cr__world_step_by(crWorld* world, double h, crError* error) {
    crStep* step = &world->step;
    if (cr__world_still(world, h)) return stay(world, h, error);
    rouse(world, h);
    set_controls(world, h);
    // the check makes quaternions unit, in their last bits
    cr__tasks_copy(step->own.tasks, world->q, step->state.q, (size_t)step->model->nq);
    crStatus status = cr__state_check(step->own.tasks, step->model, &step->state, error);
    if (status != CR_OK) {
        restore_q(world);
        restore_controls(world);
        return status;
    }
    remember(world);
    cr__activations_move(step->model, &step->state, h, true);
    change_scratch(world);
    status = hold_loads(world, h, error);
    if (status == CR_OK) status = cr_step_run(step, h, error);
    release_loads(world);
    change_scratch(world);
    world->last_h = status == CR_OK ? h : 0.0;
    if (status == CR_OK) cr__activations_move(step->model, &step->state, h, false);
    if (status == CR_OK && cr__step_may_rest(step)) restore_unmoved(world);
    // the next step may be without its forces
    step->rest.still = step->rest.still && is_zero(step->state.force, step->model->nv);
    if (status == CR_OK && step->rest.still) settle_ties(world);
    if (status == CR_OK && step->rest.still) restore_q(world);
    if (status != CR_OK) {
        undo(world);
        restore_controls(world);
        cr_log(&world->log, CR_LOG_ERROR, "step from %g s: %s", world->time, cr_status_text(status));
    } else if (step->certificate.outcome != CR_OUTCOME_SOLVED &&
               step->certificate.outcome != CR_OUTCOME_BOUNDED) {
        cr_log(&world->log, CR_LOG_WARNING, "step from %g s: %s, residual %g", world->time,
               cr_outcome_name(step->certificate.outcome), step->certificate.residual);
    }
    return status;
}

crStatus cr_world_overlap(crWorld* world, double* deepest, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    if (deepest == NULL) return cr__missing(error, "deepest");
    change_scratch(world);
    crStep* step = &world->step;
    crStatus status = cr__audit_overlap(step->plan, step->own.tasks, &step->scratch, &step->state,
                                        &step->dynamics, deepest);
    change_scratch(world);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

crEnergy cr_world_energy(crWorld* world) {
    if (world == NULL) return (crEnergy){0};
    look(world);
    return cr_model_energy(world->step.model, &world->step.state, &world->step.dynamics);
}

void cr_world_momentum(crWorld* world, crVec3 about, crVec3* linear, crVec3* angular) {
    if (world == NULL || linear == NULL || angular == NULL) return;
    look(world);
    cr_model_momentum(world->step.model, &world->step.dynamics, about, linear, angular);
}

crPose cr_world_pose(crWorld* world, int body) {
    if (world == NULL || body < 0 || body >= world->step.model->nb) return (crPose){0};
    look(world);
    return world->step.dynamics.pose[body];
}
