// trees.c - motion of trees over h: free flight, or motion by the contact solve's velocity.
//
// k = tau - c, with c the velocity terms. In flight (no body of the tree is supported, no row acted) a step
// is half a kick by tau, the flow under c (model/flow.c), and half a kick by tau at the end: second order,
// and c gives no energy for any h. A supported tree moves by v+ of the contact solve, q+ = q + h v+, with c
// in v_free = v + h M^-1 (tau - c). There v+ is scaled to the energy of forces and impulses: they work along
// the mean of v and v+, so T(q+, v') = T(q, v+) + h c (v + v+)/2, with M including the joints' springs and
// dampers. If the last term is SMALL T or more, v+ is scaled to T(q+, v') = T(q, v+) T(q, v_free + h M^-1 c)
// / T(q, v_free), which passive contacts cannot raise either. c takes at most HALF of v. A motor holds a
// speed, which must not be scaled: a tree with a motor is scaled only if T exceeds that energy by the factor
// MUCH.
// smooth.c moves trees on driven bodies, and trees whose flight is known exactly (plan->fall). With a user's
// force, which is known only at q, the whole kick comes first.
// Fails: CR_ERR_MEMORY; CR_ERR_DEFINITE from the factor of M.
#include <string.h>

#include "step/step.h"

#define HALF  0.5    // largest change of v by velocity terms, in the norm of M, share of v without them
#define MUCH  1.1    // factor on the energy above which a tree with a motor is scaled
#define SMALL 0.5    // largest energy of the velocity terms that is used directly, share of T
#define NOISE 1e-16  // largest c that is ignored, share of the largest force

crStatus cr__step_trees_create(const crPlan* plan, crArena* store, crStepFree* free, crStepAudited* audited) {
    const crModel* model = plan->model;
    // these arrays exist only if the model has trees
    bool any = plan->first_single > 1;
    int nb = any ? model->nb : 0, nq = any ? model->nq : 0, nv = any ? model->nv : 0;
    bool ok = CR_ROOMS(store, CR_ZERO(free->v_from, plan->tree_nv), CR_ZERO(free->bend, plan->tree_nv),
                       CR_ZERO(free->tree_gain, plan->first_single),
                       CR_ZERO(free->tree_turn, plan->first_single), CR_ZERO(audited->q, nq),
                       CR_ZERO(audited->v, nv), CR_ZERO(audited->energy, plan->first_single),
                       CR_ZERO(audited->size, plan->first_single), CR_ZERO(audited->pose, nb));
    return ok ? CR_OK : CR_ERR_MEMORY;
}

bool cr__step_bends(const crPlan* plan, int body) {
    return cr__moves(plan->model, body) && cr__plan_tree(plan, plan->model->bodies[body].root).count > 0;
}

// Keeps v in v_from and writes h c to hc and bend. Returns false and sets bend to zero if c is below the
// rounding of k.
static bool find_turn(const crStep* step, crPart tree, double h, crStepFree* free, double* hc) {
    const crModel* model = step->model;
    double most = 0.0, force = 0.0;
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            double c = free->bend[i];
            most = fmax(most, fabs(c));
            force = fmax(force, fabs(free->k[i]));
            free->v_from[i] = step->state.v[i];
            hc[i] = free->bend[i] = h * c;
        }
    }
    bool turns = most > NOISE * force;
    for (int n = 0; n < tree.count && !turns; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        memset(free->bend + body->v, 0, (size_t)body->nv * sizeof(double));
    }
    return turns;
}

// Sets bend, v_free and tree_turn (h c v) of a tree from c, and returns T of v_free + bend over T of v_free,
// by the factor of M; 0 if c is ignored.
static double bend(const crStep* step, int root, crPart tree, double h, crStepFree* free) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    double *u = free->bend, *hc = d->scratch.v, *v = free->v;
    if (!find_turn(step, tree, h, free, hc)) return 0.0;
    cr__part_mass_solve(model, tree, d, u);
    double own = 0.0, cross = 0.0, bent = 0.0, before = 0.0;
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        double z[6];
        cr__half_velocities(model, d, tree.bodies[n], v, z);
        for (int i = body->v; i < body->v + body->nv; i++) {
            own += u[i] * hc[i];
            before += free->v_from[i] * hc[i];
            cross += 2.0 * v[i] * hc[i];
            bent += z[i - body->v] * z[i - body->v];
        }
    }
    double all = bent + cross + own;
    bool limited = step->settings.method == CR_METHOD_CONE || step->settings.method == CR_METHOD_EVENT;
    double s = limited && own > HALF * HALF * all ? HALF * sqrt(fmax(0.0, all) / own) : 1.0, back = 1.0 - s;
    for (int n = 0; n < tree.count && s < 1.0; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            v[i] += back * u[i];
            u[i] *= s;
        }
    }
    bent += back * (cross + back * own);
    free->tree_turn[root] = s * before;
    return bent > 0.0 ? all / bent : 0.0;
}

void cr__step_trees_bend(const crStep* step, double h, crStepFree* free) {
    for (int n = 0; n < step->part.count; n++) {
        crPart tree = cr__plan_tree(step->plan, step->part.bodies[n]);
        if (tree.count > 0)
            free->tree_gain[step->part.bodies[n]] = bend(step, step->part.bodies[n], tree, h, free);
    }
}

// true if no contact supports the tree and no row acted on it
static bool flies(const crStep* step, crPart tree, double h) {
    bool free = h == step->free.h;
    for (int n = 0; n < tree.count && free; n++) {
        const crBody* body = &step->model->bodies[tree.bodies[n]];
        free = step->airborne[tree.bodies[n]];
        for (int i = body->v; i < body->v + body->nv && free; i++) {
            free = step->state.v[i] == step->free.v[i];
        }
    }
    return free;
}

static crStatus fly(const crStep* step, crPart tree, double h, crState* state, crDynamics* d,
                    crFlowWork work) {
    const crModel* model = step->model;
    bool halves = step->calls.force == NULL;
    cr__part_add(model, tree, step->free.v, step->free.bend, state->v);
    if (halves) cr__part_mean(model, tree, step->free.v_from, state->v, state->v);
    crStatus status = cr__tree_flow(model, tree, h, state, d, work);
    if (status != CR_OK || !halves) return status;
    cr__part_add(model, tree, work.k, work.c, work.k);
    cr__part_smooth_velocity(model, tree, state, work.k, h, d, work.y);
    cr__part_mean(model, tree, state->v, work.y, state->v);
    return CR_OK;
}

bool cr__step_has_motor(const crModel* model, crPart tree) {
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            if (cr_model_dof(model, i)->motor_force > 0.0) return true;
        }
    }
    return false;
}

static void carry(const crStep* step, int root, crPart tree, double h, crState* state, crDynamics* d,
                  double* y) {
    const crModel* model = step->model;
    double* v = state->v;
    double gain = step->free.tree_gain[root];
    double T = gain > 0.0 ? cr__tree_energy(model, tree, d, v, y) : 0.0, want = gain * T;
    // y is M v+; bend is M^-1 h c
    double turn =
        T > 0.0 ? 0.5 * (step->free.tree_turn[root] + cr__part_dot(model, tree, step->free.bend, y)) : 0.0;
    if (fabs(turn) < SMALL * T) want = T + turn;
    cr__part_advance(model, tree, h, v, state->q);
    if (!(want > 0.0)) return;
    cr__part_kinematics(model, tree, state, d);
    T = cr__part_kinetic(model, tree, v, d);
    if (T > MUCH * want || !cr__step_has_motor(model, tree)) cr__tree_scale(model, tree, want, T, v);
}

crStatus cr__step_trees_move(const crStep* step, double h, crArena* arena, crState* state, crDynamics* d) {
    size_t mark = cr_arena_mark(arena), count = (size_t)step->plan->tree_nv + 1;
    // The number of coordinates of a body exceeds that of its velocities by at most one.
    size_t room = 5 * count + (size_t)step->plan->first_single;
    double* memory = cr_arena_alloc(arena, room * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    double* last = memory + 4 * count;
    crFlowWork work = {memory, memory + count, memory + 2 * count, last, memory + 3 * count};
    crStatus status = CR_OK;
    for (int n = 0; n < step->part.count && status == CR_OK; n++) {
        crPart tree = cr__plan_tree(step->plan, step->part.bodies[n]);
        if (tree.count == 0) continue;
        if (flies(step, tree, h)) {
            status = fly(step, tree, h, state, d, work);
        } else {
            carry(step, step->part.bodies[n], tree, h, state, d, work.y);
        }
    }
    cr_arena_release(arena, mark);
    return status;
}
