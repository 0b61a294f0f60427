// moving_trees.c - trees of moving islands in short steps: their rows, their energy, their motion.
//
// The velocities of a tree are D^1/2 L v in z (relax/units.h); contacts, limits, motors and loops of trees
// are rows over them. After the short steps v+ = v_free + M^-1 J^T P as in a calm solve, and q+ follows the
// displacement D, so joints have no error.
// Energy: short steps use forces and M at q, and the energy at q+ shows their error. With the gain g that z
// and D state, v is scaled by s so that T(q+, s v+) + U(q+) = T + U + work + g exactly, where work is that of
// applied forces, motors, actuators and the dampers of joints. A set of bodies then gains what its short
// steps gained, which moving_run.c reduces to nothing.
// Fails: CR_ERR_MEMORY.
#include "step/moving_trees.h"

#include <string.h>

#include "model/actuate.h"
#include "step/exact.h"

#define MOST 1.05  // largest factor on v of a tree

bool cr__moving_any_tree(const crPlan* plan, const bool* moving) {
    for (int b = 1; b < plan->first_single; b++) {
        if (cr__moves(plan->model, b) && moving[b]) return true;
    }
    return false;
}

bool cr__moving_takes(const crStep* step, int body) {
    const crModel* model = step->model;
    const crBody* b = &model->bodies[body];
    if (step->calls.force != NULL || !cr__step_bends(step->plan, body) || model->bodies[b->root].deep)
        return false;
    // along velocities that are no rates of coordinates, the work of an actuator is not linear in v+
    bool lengths = b->joint == CR_JOINT_HINGE || b->joint == CR_JOINT_SLIDER;
    for (int j = b->v; j < b->v + b->nv && model->nu > 0 && !lengths; j++) {
        if (model->velocity.actuator[j] >= 0) return false;
    }
    return step->plan->tie.first[body] == step->plan->tie.first[body + 1];
}

bool cr__moving_takes_contact(const crStep* step, const crStepContact* c) {
    const crSurface* s = &c->surface->surface;
    if (c->packable) return true;
    if (c->planar || s->vertex_count > 0 || s->mu_spin > 0.0 || s->mu_roll > 0.0) return false;
    if (!isfinite(s->mu) || !(isnan(s->mu2) || s->mu2 == s->mu)) return false;
    const crBody* bodies = step->model->bodies;
    return (cr__moves(step->model, c->body_a) && !bodies[c->body_a].single) ||
           (cr__moves(step->model, c->body_b) && !bodies[c->body_b].single);
}

// Numbers the moving islands in the order of their roots. CR_ERR_MEMORY.
static crStatus number_islands(const crModel* model, crArena* arena, const int* root, const bool* moving,
                               crIslands* islands) {
    if (!CR_ROOMS(arena, CR_ROOM(islands->of_body, model->nb))) return CR_ERR_MEMORY;
    islands->count = 0;
    for (int b = 0; b < model->nb; b++) {
        bool in = cr__moves(model, b) && moving[b];
        // roots are the first of their islands
        islands->of_body[b] = !in ? -1 : root[b] == b ? islands->count++ : islands->of_body[root[b]];
    }
    return CR_OK;
}

// Sets gap, target, bounce and the warm start of one short step for each row. CR_ERR_MEMORY.
static crStatus start_rows(const crStep* step, crArena* arena, crMovingTrees* t) {
    size_t rows = (size_t)step->posed.rows.count + 1;
    if (!CR_ROOMS(arena, CR_ROOM(t->gap, rows), CR_ROOM(t->target, rows), CR_ROOM(t->bounce, rows)))
        return CR_ERR_MEMORY;
    for (int r = 0; r < step->posed.rows.count; r++) {
        t->gap[r] = step->posed.rows.gap[r];
        t->target[r] = t->bounce[r] = step->posed.b[r] = 0.0;
        step->posed.p[r] /= CR_SUBSTEPS;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (c->row < 0) continue;
        t->gap[c->row] = c->point.gap;
        t->target[c->row] = -0.5 * c->delta;
        bool fast = c->e > 0.0 && c->speed < -step->settings.threshold;
        if (fast) t->bounce[c->row] = c->e * c->speed;
        t->bounces = t->bounces || fast;
        double *p = step->posed.p + c->row, mu = c->surface->surface.mu;
        if (cr__step_contact_rows(c) < 3) {
            p[0] = fmax(0.0, p[0]);
            continue;
        }
        crPackedContact own = {.normal = cr_vec3(1, 0, 0), .mu = mu};
        cr__store_vec(cr__in_cone(&own, cr__load_vec(p)), p);
    }
    return CR_OK;
}

crStatus cr__moving_pose(crStep* step, double h, const int* root, const bool* moving, crMovingTrees* t,
                         crError* error) {
    *t = (crMovingTrees){.step = step};
    size_t nv = (size_t)step->model->nv + 1, trees = (size_t)step->plan->first_single + 1;
    if (!cr__moving_any_tree(step->plan, moving)) return CR_OK;
    bool* takes;
    bool room = CR_ROOMS(&step->scratch, CR_ROOM(takes, step->contacts.count + 1), CR_ROOM(t->root, trees),
                         CR_ROOM(t->energy, trees), CR_ROOM(t->share, trees), CR_ROOM(t->v, nv),
                         CR_ROOM(t->way, nv), CR_ZERO(t->still, nv), CR_ROOM(t->q, step->model->nq + 1));
    if (!room || number_islands(step->model, &step->scratch, root, moving, &t->islands) != CR_OK)
        return cr__step_memory(error);
    for (int b = 1; b < step->plan->first_single; b++) {
        if (moving[b] && cr__plan_tree(step->plan, b).count > 0) t->root[t->count++] = b;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        takes[i] = !step->contacts.list[i].packable;
    }
    crStatus status = cr__step_pose(step, h, takes, false, error);
    if (status != CR_OK) return status;
    t->posed = step->posed.rows.count > 0;
    if (!t->posed) return CR_OK;
    int *order, *first;
    status = start_rows(step, &step->scratch, t);
    if (status == CR_OK)
        status = cr__step_sort_blocks(step->model, &step->scratch, &step->posed.problem, &t->islands, &order,
                                      &first);
    const crInertias of = cr__step_inertias(step, &step->scratch);
    if (status == CR_OK) {
        status = cr__units_create(&of, &step->posed.problem, step->posed.H.w_hat, step->posed.p,
                                  t->islands.of_body, t->islands.count, order, first, &t->units);
    }
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

void cr__moving_impulses(const crStep* step, const crStepContacts* contacts) {
    for (int i = 0; i < contacts->count; i++) {
        crStepContact* c = &contacts->list[i];
        if (c->row < 0) continue;
        crMat3 F = cr__step_frame(step, c);
        crVec3 P = cr_vec3(0, 0, 0);
        for (int r = 0; r < cr__step_contact_rows(c); r++) {
            P = cr_madd(P, step->posed.p[c->row + r], cr_mat3_column(F, r));
        }
        crPackedContact own = {.normal = c->point.normal, .mu = c->surface->surface.mu};
        c->impulse = cr__in_cone(&own, P);
    }
}

void cr__moving_start(crMovingTrees* t) {
    crStep* step = t->step;
    for (int k = 0; k < t->count; k++) {
        crEnergy start = cr__part_energy(step->model, cr__plan_tree(step->plan, t->root[k]), &step->state,
                                         &step->dynamics);
        t->energy[k] = start.kinetic + start.potential;
        t->share[k] = 1.0;
    }
}

// Sets v and way of a tree with the shares of its set. Returns the gain that z and D state.
static crTreeGain share_tree(crMovingTrees* t, const crSubsteps* ask, crPart tree, double correct,
                             double scale) {
    const crStep* step = t->step;
    const double *from = ask->packed->z_free, *to = ask->packed->z, *dz = ask->dz;
    crTreeGain sum = {0};
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &step->model->bodies[tree.bodies[n]];
        for (int j = body->v; j < body->v + body->nv; j++) {
            int at = t->units.base + t->units.column[j];
            double force = dz[at] / ask->h, push = to[at] - (from[at] + dz[at]), z, D;
            cr__moving_share(ask, at, correct, scale, &z, &D);
            sum.gain += 0.5 * (z - from[at]) * (z + from[at]) - force * D;
            sum.lift -= force * ask->C[at];
            sum.square += push * push;
            t->v[j] = z;
            t->way[j] = D;
        }
    }
    cr__part_half_solve(step->model, tree, &step->dynamics, t->v);
    cr__part_half_solve(step->model, tree, &step->dynamics, t->way);
    return sum;
}

// Sets q of a tree at the end of its way.
static void advance_tree(crMovingTrees* t, crPart tree) {
    crStep* step = t->step;
    cr__part_copy_q(step->model, tree, step->state.q, t->q);
    cr__part_advance(step->model, tree, 1.0, t->way, t->q);
}

// work on a tree whose v at the end is s v+, J
typedef struct Work {
    double at0, by_s;  // at0 + by_s s: of applied forces, motors, actuators and dampers
    double motors;     // of motors at s = 1, which is part of the gain that z states
} Work;

// Adds the work of the actuators whose first velocity is j, which is linear in s.
static void add_actuators(const crMovingTrees* t, int j, double h, Work* work) {
    const crStep* step = t->step;
    double lost = 0.0;
    crMove move = {step->state.q, step->state.v, t->q, t->still};
    double still = cr__dof_actuator_work(step->model, &step->dynamics, j, h, move, &lost);
    move.v1 = t->v;
    work->at0 += still;
    work->by_s += cr__dof_actuator_work(step->model, &step->dynamics, j, h, move, &lost) - still;
}

static Work work_of(const crMovingTrees* t, crPart tree, double h, double scale) {
    const crStep* step = t->step;
    Work work = {0};
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &step->model->bodies[tree.bodies[n]];
        for (int j = body->v; j < body->v + body->nv; j++) {
            bool driven = cr_model_dof(step->model, j)->motor_force > 0.0;
            double motor = driven ? scale * cr__step_motor_force(step->model, &step->ties, j) : 0.0;
            double force = step->state.force[j] + motor;
            work.at0 += 0.5 * h * force * step->state.v[j];
            work.by_s += 0.5 * h * force * t->v[j];
            work.motors += 0.5 * h * motor * (step->state.v[j] + t->v[j]);
            double rate = 0.5 * (step->state.v[j] + t->v[j]);
            work.at0 -= fmax(0.0, cr_model_dof(step->model, j)->damping * rate * t->way[j]);
            if (step->model->nu > 0) add_actuators(t, j, h, &work);
        }
    }
    return work;
}

crTreeGain cr__moving_gain(crMovingTrees* t, const crSubsteps* ask, int k, double correct, double scale,
                           double least) {
    crStep* step = t->step;
    crPart tree = cr__plan_tree(step->plan, t->root[k]);
    crTreeGain gain = share_tree(t, ask, tree, correct, scale);
    advance_tree(t, tree);
    crState state = step->state;
    state.q = t->q;
    state.v = t->v;
    cr__part_kinematics(step->model, tree, &state, &step->dynamics);
    crEnergy end = cr__part_energy(step->model, tree, &state, &step->dynamics);
    Work work = work_of(t, tree, ask->h, scale);
    gain.gain -= work.motors;
    // T s^2 - by_s s + rest = g
    double T = end.kinetic, by_s = work.by_s, rest = end.potential - t->energy[k] - work.at0;
    double root = by_s * by_s - 4.0 * T * (rest - gain.gain), s = 1.0;
    if (T > 0.0) s = fmin(MOST, fmax(least, (by_s + sqrt(fmax(0.0, root))) / (2.0 * T)));
    double left = T * s * s - by_s * s + rest - gain.gain;
    t->share[k] = s;
    gain.gain += left;
    // a gain that s cannot balance counts as lift: corrections are reduced for it
    if (left > 0.0) gain.lift += left;
    return gain;
}

void cr__moving_stand(crMovingTrees* t) {
    for (int k = 0; k < t->count; k++) {
        cr__part_kinematics(t->step->model, cr__plan_tree(t->step->plan, t->root[k]), &t->step->state,
                            &t->step->dynamics);
    }
}

void cr__moving_put(const crMovingTrees* t, int k) {
    crStep* step = t->step;
    crPart tree = cr__plan_tree(step->plan, t->root[k]);
    cr__part_copy_q(step->model, tree, t->q, step->state.q);
    cr__part_copy(step->model, tree, t->v, step->state.v);
    cr__part_scale(step->model, tree, t->share[k], step->state.v);
}

void cr__moving_leave(const crMovingTrees* t, int k, bool* moving) {
    crPart tree = cr__plan_tree(t->step->plan, t->root[k]);
    for (int n = 0; n < tree.count; n++) {
        moving[tree.bodies[n]] = false;
    }
}

void cr__moving_keep_ties(const crMovingTrees* t, const crSubsteps* ask) {
    if (!t->posed) return;
    cr__short_rows_sums(ask, t->step->posed.p);
    cr__step_keep_ties(t->step, &t->step->ties);
}
