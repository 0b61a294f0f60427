// audit_step.c - compares the state after a step with that before: energy, work, overlap, crossings.
//
// The energy of a body is T + U, T = m v.v/2 + omega.I omega/2, U = -m g.c plus that of joints' springs.
// Changes are computed from differences, so that small changes of large energies are seen. External work is
// that of applied forces and motors, f.(v + v+) h/2, of actuators along their way, and of driven bodies
// through contacts, P.w. Bodies that pushed each other in the step form an island. The gain of an island is
// its change of energy less the work on it, if above rounding. Causes are an impact, an unsolved contact, the
// position pass or the length of the step; the figure does not tell them apart.
// Fails: CR_ERR_FINITE if an energy is not finite, with the body's name; CR_ERR_MEMORY.
#include <string.h>

#include "base/tasks.h"
#include "model/actuate.h"
#include "step/audit.h"
#include "step/audit_single.h"
#include "step/forest.h"
#include "step/step.h"

#define EPS   CR_AUDIT_SINGLE_EPS
#define CHUNK 256  // bodies per task

// energy balance of the step, by body
typedef struct Balance {
    crStep* step;
    double* gain;    // change of energy less work (nb)
    double* floor;   // rounding floor of the gain (nb)
    int* tree;       // root of the tree that the body is of, -1: v does not move it (nb)
    crPose* before;  // poses at the beginning of the step (nb); NULL: no trees
    double h;
    double* work_of;  // work on each body, J (nb)
    double* damped;   // energy that dampers of actuators dissipated, J (nb)
    bool* fast_in;    // of each chunk: true if a body moved so far that its way must be followed
    double change, work, size;
    // gains: true if a body gained energy; fast: true if a body moved so far that its way must be followed
    bool gains, fast;
} Balance;

static void single_change(const Balance* b, int i) {
    const crStep* step = b->step;
    const crBody* body = &step->model->bodies[i];
    cr__audit_single_energy(body, step->model->gravity, step->start.q + body->q, step->start.v + body->v,
                            step->state.q + body->q, step->state.v + body->v, &b->gain[i], &b->floor[i]);
}

// Finds T + U of the bodies of trees at a state with unit quaternions, as the next step begins, and stores it with that
// state: the check at the beginning of a step changes the last bits of q.
static void look_at_trees(const crPlan* plan, const crState* state, crDynamics* d, crStepAudited* a) {
    const crModel* model = plan->model;
    crState unit = *state;
    memcpy(a->q, state->q, (size_t)model->nq * sizeof *a->q);
    memcpy(a->v, state->v, (size_t)model->nv * sizeof *a->v);
    cr__state_unit(model, a->q);
    unit.q = a->q;
    cr_model_kinematics(model, &unit, d);
    cr_model_velocity(model, state->v, d);
    for (int i = 1; i < plan->first_single; i++) {
        if (model->bodies[i].single || !cr__moves(model, i)) continue;
        double size;
        crEnergy parts = cr__body_energy(model, i, &unit, d, &size);
        a->energy[i] = parts.kinetic + parts.potential;
        a->size[i] = fabs(a->energy[i]) + size;
    }
    memcpy(a->pose, d->pose, (size_t)model->nb * sizeof *a->pose);
    a->time = state->time;
    a->known = true;
}

// true if the stored energies are those of the beginning of the step
static bool seen_before(const crStep* step) {
    const crStepAudited* a = &step->audited;
    return a->known && memcmp(&a->time, &step->start.time, sizeof a->time) == 0 &&
           memcmp(a->q, step->start.q, (size_t)step->model->nq * sizeof *a->q) == 0 &&
           memcmp(a->v, step->start.v, (size_t)step->model->nv * sizeof *a->v) == 0;
}

static void add_trees(const Balance* b, double sign) {
    const crStep* step = b->step;
    for (int i = 1; i < step->plan->first_single; i++) {
        if (step->model->bodies[i].single || !cr__moves(step->model, i)) continue;
        b->gain[i] += sign * step->audited.energy[i];
        b->floor[i] += 16.0 * EPS * step->audited.size[i];
    }
}

// Adds the change of energy of trees over the step. The energies of the last step's end are used again.
static void tree_change(const Balance* b) {
    crStep* step = b->step;
    if (!seen_before(step)) {
        crState began = step->state;
        began.q = step->start.q;
        began.v = step->start.v;
        began.time = step->start.time;
        look_at_trees(step->plan, &began, &step->dynamics, &step->audited);
    }
    add_trees(b, -1.0);
    memcpy(b->before, step->audited.pose, (size_t)step->model->nb * sizeof *b->before);
    look_at_trees(step->plan, &step->state, &step->dynamics, &step->audited);
    add_trees(b, 1.0);
}

static bool any_tree(const crPlan* plan) {
    for (int i = 1; i < plan->first_single; i++) {
        if (cr__moves(plan->model, i)) return true;
    }
    return false;
}

// Displacement of a body along velocity j over the step. The mean of both velocities does not give it for
// trees that are carried, whose v is scaled at the end (trees.c).
static double tree_way(const crStep* step, const crBody* body, int j, double h) {
    const double *q0 = step->start.q + body->q, *q1 = step->state.q + body->q;
    if (body->nq == body->nv) return q1[j - body->v] - q0[j - body->v];
    if (body->joint != CR_JOINT_FREE) return 0.5 * h * (step->start.v[j] + step->state.v[j]);
    crQuat a = cr__load_quat(q0 + 3), b = cr__load_quat(q1 + 3), d = cr_quat_mul(b, cr_quat_conj(a));
    crVec3 com = cr_sub(cr_quat_rotate(b, body->com), cr_quat_rotate(a, body->com));
    crVec3 way = cr_add(cr_sub(cr__load_vec(q1), cr__load_vec(q0)), com);
    if (j - body->v >= 3) {
        double sine = sqrt(d.x * d.x + d.y * d.y + d.z * d.z), sign = d.w < 0.0 ? -1.0 : 1.0;
        double scale = sine > 0.0 ? 2.0 * sign * cr_atan2(sine, fabs(d.w)) / sine : 2.0 * sign;
        way = cr_vec3(scale * d.x, scale * d.y, scale * d.z);
    }
    return ((const double[]){way.x, way.y, way.z})[(j - body->v) % 3];
}

// work on a body by applied forces, motors and driven bodies
static double work_on(const crStep* step, int i, double h, double* damped) {
    const crBody* body = &step->model->bodies[i];
    double sum = step->audited.drive[i];
    const double* f = step->state.force + body->v;
    bool idle = body->single && step->model->nu == 0 && f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0;
    if (idle && f[3] == 0.0 && f[4] == 0.0 && f[5] == 0.0) return sum;
    for (int j = body->v; j < body->v + body->nv; j++) {
        double force = step->state.force[j];
        if (!body->single && cr_model_dof(step->model, j)->motor_force > 0.0) {
            force += cr__step_motor_force(step->model, &step->ties, j);
        }
        if (step->model->nu > 0) {
            sum += cr__dof_actuator_work(step->model, &step->dynamics, j, h,
                                         (crMove){step->start.q, step->start.v, step->state.q, step->state.v},
                                         damped);
        }
        if (force == 0.0) continue;
        bool mean = body->single && !step->plan->pulls;
        sum += force * (mean ? 0.5 * h * (step->start.v[j] + step->state.v[j]) : tree_way(step, body, j, h));
    }
    return sum;
}

// trees of the two bodies of a contact that carried load; false if one of them does not move
static bool pressed_ends(const void* ctx, int i, int* x, int* y) {
    const Balance* b = ctx;
    const crWarm* warm = &b->step->warm.force[i];
    *x = b->tree[b->step->plan->shape.body[warm->shape_a]];
    *y = b->tree[b->step->plan->shape.body[warm->shape_b]];
    return *x >= 0 && *y >= 0;
}

// Joins trees by impacts, loops and loaded contacts. CR_ERR_MEMORY.
static crStatus join_islands(const Balance* b, int* root) {
    crStep* step = b->step;
    const crModel* model = step->model;
    cr__forest_begin(root, model->nb);
    cr__audit_join_met(step, root);
    return cr__forest_join_all(step->own.tasks, &step->scratch, step->warm.count, pressed_ends, b, model->nb,
                               root);
}

// Sum of the gains of islands that exceed rounding, J.
static double sum_gains(const Balance* b, int* root) {
    double sum = 0.0;
    for (int i = b->step->model->nb - 1; i > 0; i--) {
        int to = b->tree[i] >= 0 ? cr__forest_find(root, b->tree[i]) : i;
        if (to == i) continue;
        b->gain[to] += b->gain[i];
        b->floor[to] += b->floor[i];
        b->gain[i] = b->floor[i] = 0.0;
    }
    for (int i = 1; i < b->step->model->nb; i++) {
        if (b->gain[i] > b->floor[i]) sum += b->gain[i];
    }
    return sum;
}

// true if a driven body is the parent of a moving one: the work of that joint is unknown
static bool carried(const crPlan* plan) {
    const crModel* model = plan->model;
    for (int i = 1; i < model->nb && plan->given_count > 0; i++) {
        int parent = model->bodies[i].parent;
        if (parent > 0 && !cr__moves(model, parent) && cr__moves(model, i)) return true;
    }
    return false;
}

// Finds gains, floors and work of bodies begin to end - 1.
static void balance_bodies(void* ctx, int begin, int end) {
    const Balance* b = ctx;
    const crStep* step = b->step;
    const crModel* model = step->model;
    bool fast = false;
    for (int i = begin > 0 ? begin : 1; i < end; i++) {
        bool moves = cr__moves(model, i);
        b->tree[i] = moves ? model->bodies[i].root : -1;
        fast = fast || cr__audit_fast(step, i);
        b->damped[i] = 0.0;
        if (!moves) continue;
        if (model->bodies[i].single) single_change(b, i);
        b->work_of[i] = work_on(step, i, b->h, &b->damped[i]);
    }
    b->fast_in[begin / CHUNK] = fast;
}

// Finds the balance of all bodies and its sums, in the order of bodies. CR_ERR_FINITE.
static crStatus find_balance(Balance* b, crError* error) {
    crStep* step = b->step;
    const crModel* model = step->model;
    if (b->before != NULL) tree_change(b);
    b->tree[CR_WORLD] = -1;
    cr__tasks_for(step->own.tasks, model->nb, CHUNK, balance_bodies, b);
    for (int i = 0; i * CHUNK < model->nb; i++) {
        b->fast = b->fast || b->fast_in[i];
    }
    for (int i = 1; i < model->nb; i++) {
        if (b->tree[i] < 0) continue;
        if (!isfinite(b->gain[i])) return cr__step_lost(step->model, i, "energy", b->gain[i], error);
        double work = b->work_of[i];
        b->change += b->gain[i];
        b->size += b->floor[i] / (16.0 * EPS);
        b->work += work;
        // dampers of actuators are of first order in h: the energy they take covers such a gain
        b->gain[i] -= work + b->damped[i];
        b->floor[i] += 16.0 * EPS * fabs(work);
        b->gains = b->gains || b->gain[i] > b->floor[i];
    }
    return CR_OK;
}

static crStatus audit_energy(crStep* step, double h, bool* fast, crPose** before, crError* error) {
    crCertificate* c = &step->certificate;
    size_t nb = (size_t)step->model->nb;
    Balance b = {.step = step, .h = h};
    int* root;
    bool room = CR_ROOMS(&step->scratch, CR_ZERO(b.gain, nb), CR_ZERO(b.floor, nb), CR_ROOM(b.tree, nb),
                         CR_ROOM(b.work_of, nb), CR_ROOM(b.damped, nb), CR_ROOM(b.fast_in, nb / CHUNK + 1),
                         CR_ROOM(root, nb));
    if (room && any_tree(step->plan)) room = CR_ROOMS(&step->scratch, CR_ROOM(b.before, nb));
    if (!room) return cr__step_memory(error);
    *before = b.before;
    crStatus status = find_balance(&b, error);
    if (status != CR_OK) return status;
    *fast = b.fast;
    c->energy.change = b.change;
    c->energy.size = b.size;
    c->energy.work = b.work;
    // if no body gained energy, no island did
    if (b.gains) {
        if (join_islands(&b, root) != CR_OK) return cr__step_memory(error);
        c->energy.gain = sum_gains(&b, root);
    }
    if (step->calls.force != NULL || carried(step->plan)) c->energy.work = c->energy.gain = (double)NAN;
    return CR_OK;
}

// True if overlap is measured in the step from `began` to `ends`: always for certified quality and for the
// LCP and Moreau methods, else once in `measure` steps.
static bool measured(const crStepSettings* settings, double began, double ends) {
    const crStepSettings* s = settings;
    if (s->method == CR_METHOD_CONE && s->quality == CR_QUALITY_CERTIFIED) return true;
    if (s->method == CR_METHOD_LCP || s->method == CR_METHOD_MOREAU) return true;
    if (s->measure <= 0) return false;
    double period = s->measure * s->dt, from = began / period, to = ends / period;
    return floor(to + 1e-9) > floor(from + 1e-9);
}

bool cr__audit_due(const crStep* step) {
    return measured(&step->settings, step->start.time, step->state.time);
}

crStatus cr__audit_measured(crStep* step) {
    crCertificate* c = &step->certificate;
    c->overlap = (double)NAN;
    if (!cr__audit_due(step)) return CR_OK;
    crStatus status = cr__audit_overlap(step->plan, step->own.tasks, &step->scratch, &step->state,
                                        &step->dynamics, &c->overlap);
    c->penetration = fmax(c->penetration, c->overlap);
    return status;
}

crStatus cr__audit_step(crStep* step, double h, crError* error) {
    crCertificate* c = &step->certificate;
    size_t mark = cr_arena_mark(&step->scratch);
    bool fast = false;
    crPose* before = NULL;
    step->rest.overlap = c->penetration;
    crStatus status = audit_energy(step, h, &fast, &before, error);
    if (status == CR_OK && cr__audit_measured(step) != CR_OK) status = cr__step_memory(error);
    crAuditCrossings found = {0};
    if (status == CR_OK && fast &&
        cr__audit_crossings(step, before, &step->scratch, &step->dynamics, &found) != CR_OK)
        status = cr__step_memory(error);
    c->crossings = found.crossed;
    c->crossings_unsure = found.unsure;
    cr_arena_release(&step->scratch, mark);
    return status;
}
