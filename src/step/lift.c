// lift.c - the limit of the lift: the position pass takes no more energy than contacts dissipated.
//
// Bodies that pushed each other in the step form a set. Its loss is T + U at the beginning, plus the work of
// applied forces and drives, less T + U at the end. If the position pass took more than this loss, all bodies
// of the set are moved back towards their places before the pass, as far as necessary; the overlap left is
// for later steps. The limit holds in steps with moving islands. In other steps all overlap is removed, and
// the certificate states the energy of that; so it is with pairs of calm islands that are too deep
// and with bodies that they push, after impulses that stop their approach (moved_apart.c). Sets with trees are not limited, as their bodies cannot be placed one by one. Free bodies that
// the pass turned keep their angular momentum, not omega.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "model/single.h"
#include "step/audit.h"
#include "step/forest.h"
#include "step/position.h"
#include "step/step.h"

#define BODIES   256    // bodies per task
#define SURE     1.001  // factor on the way back, for rounding
#define ROUNDING 4e-15  // of a balance, share of its terms

// energy balance of a set of bodies that pushed each other
typedef struct Lift {
    double gain;  // energy gained in the step beyond work, J
    double lift;  // part of the gain that the position pass made, J
    double size;  // kinetic energies and changes of potential energy, for rounding, J
    bool fixed;   // true if the set has trees and is not limited
    bool calm;    // true if the limit does not hold for some bodies of the set
    bool pushed;  // true if the position pass moved a body of the set: only then its balance is found
} Lift;

static crVec3 centre(const crBody* body, const double* q) {
    crVec3 p = cr__load_vec(q + body->q);
    if (cr__centred(body)) return p;
    return cr_pose_point((crPose){p, cr_quat_normalize(cr__load_quat(q + body->q + 3))}, body->com);
}

static double kinetic(const crBody* body, const double* q, const double* v) {
    crVec3 u = cr__load_vec(v + body->v), omega = cr__load_vec(v + body->v + 3);
    if (!cr__single_round(body)) {
        omega = cr_quat_rotate(cr_quat_conj(cr_quat_normalize(cr__load_quat(q + body->q + 3))), omega);
        return 0.5 * (body->mass * cr_dot(u, u) + cr_sym3_quad(body->inertia, omega));
    }
    return 0.5 * (body->mass * cr_dot(u, u) + body->principal[0] * cr_dot(omega, omega));
}

double cr__lift_weight(const crModel* model, int b, const double* before, const double* after) {
    const crBody* body = &model->bodies[b];
    crVec3 weight = cr_scale(body->mass * body->gravity_scale, model->gravity);
    return -cr_dot(weight, cr_sub(centre(body, after), centre(body, before)));
}

// energy that a single body adds to the balance of its set
typedef struct Share {
    double gain, lift, size;
    bool forced;  // true if a force is applied to it
    bool moved;   // true if the pass moved it
} Share;

// the balances of the sets of all bodies
typedef struct Balance {
    const crStep* step;
    const double *before, *v;  // q and v before the pass
    const int* root;           // of each body
    Lift* sum;                 // of each set, at its root
    Share* share;              // of each body of a set that is balanced (nb)
} Balance;

// Clears the sets, and finds which bodies the pass moved.
static void find_moved(void* ctx, int begin, int end) {
    const Balance* of = ctx;
    for (int b = begin; b < end; b++) {
        const crBody* body = &of->step->model->bodies[b];
        const double *now = of->step->state.q + body->q, *before = of->before + body->q;
        of->sum[b] = (Lift){0};
        of->share[b].moved = memcmp(before, now, (size_t)body->nq * sizeof *now) != 0;
    }
}

static void find_shares(void* ctx, int begin, int end) {
    const Balance* of = ctx;
    const crStep* step = of->step;
    const crState* s = &step->state;
    for (int b = begin; b < end; b++) {
        const crBody* body = &step->model->bodies[b];
        if (!cr__moves(step->model, b) || !body->single || !of->sum[of->root[b]].pushed) continue;
        Share* to = &of->share[b];
        double T = kinetic(body, s->q, s->v), T0 = kinetic(body, step->start.q, step->start.v);
        double U = cr__lift_weight(step->model, b, step->start.q, s->q);
        to->lift = T - kinetic(body, of->before, of->v) + cr__lift_weight(step->model, b, of->before, s->q);
        to->gain = T - T0 + U - step->audited.drive[b];
        to->size = T + T0 + fabs(U);
        to->forced = false;
        for (int j = body->v; j < body->v + body->nv; j++) {
            to->forced = to->forced || s->force[j] != 0.0;
        }
    }
}

static void lift_body(const crStep* step, double h, const Share* share, int b, Lift* sum) {
    const crBody* body = &step->model->bodies[b];
    sum->lift += share->lift;
    sum->gain += share->gain;
    sum->size += share->size;
    for (int j = body->v; share->forced && j < body->v + body->nv; j++) {
        sum->gain -= 0.5 * h * step->state.force[j] * (step->start.v[j] + step->state.v[j]);
    }
}

// Joins bodies that pushed each other, and bodies of loops: a root for every body.
void cr__lift_sets(const crStep* step, int* root) {
    const crModel* model = step->model;
    cr__forest_begin(root, model->nb);
    for (int i = 0; i < step->warm.count; i++) {
        cr__forest_join_trees(model, root, model->shapes[step->warm.force[i].shape_a].body,
                              model->shapes[step->warm.force[i].shape_b].body);
    }
    cr__audit_join_met(step, root);
}

// Places a body at a share of its way from `before` to its pose in all_q. dv: working memory (nv).
static void put(const crModel* model, const double* before, int b, double share, double* dv, double* all_q) {
    const crBody* body = &model->bodies[b];
    double *q = all_q + body->q, *way = dv + body->v;
    crVec3 move = cr_sub(centre(body, all_q), centre(body, before));
    crQuat turn = cr_quat_mul(cr_quat_normalize(cr__load_quat(q + 3)),
                              cr_quat_conj(cr_quat_normalize(cr__load_quat(before + body->q + 3))));
    double sign = turn.w < 0.0 ? -2.0 : 2.0;
    cr__store_vec(cr_scale(share, move), way);
    cr__store_vec(cr_scale(share * sign, cr_vec3(turn.x, turn.y, turn.z)), way + 3);
    memcpy(q, before + body->q, 7 * sizeof *q);
    cr__part_advance(model, (crPart){&b, 1}, 1.0, dv, all_q);
}

typedef struct Turning {
    const crStep* step;
    const double *before, *v;
} Turning;

// Sets omega of free bodies that were turned, so that they keep the angular momentum they had by v before.
static void keep_range(void* ctx, int begin, int end) {
    const Turning* turning = ctx;
    const crModel* model = turning->step->model;
    const crState* state = &turning->step->state;
    const double *before = turning->before, *v = turning->v;
    for (int b = begin; b < end; b++) {
        const crBody* body = &model->bodies[b];
        double* omega = state->v + body->v + 3;
        if (!cr__moves(model, b) || !body->single || cr__single_round(body)) continue;
        memcpy(omega, v + body->v + 3, 3 * sizeof *omega);
        if (memcmp(before + body->q + 3, state->q + body->q + 3, 4 * sizeof *before) == 0) continue;
        crSym3 inertia =
            cr__sym3_rotate(cr_quat_normalize(cr__load_quat(before + body->q + 3)), body->inertia);
        crQuat q = cr_quat_normalize(cr__load_quat(state->q + body->q + 3));
        cr__store_vec(cr__single_omega(body, inertia, q, cr__load_vec(v + body->v + 3)), omega);
    }
}

static void keep_momentum(const crStep* step, const double* before, const double* v) {
    cr__tasks_for(step->own.tasks, step->model->nb, BODIES, keep_range, &(Turning){step, before, v});
}

// Finds gain and lift of each set, at its root. of: bodies whose sets are limited if they have no others;
// NULL: all.
static void find_lifts(const crStep* step, double h, const double* before, const double* v, const bool* of,
                       int* root, Lift* sum, Share* share) {
    const crModel* model = step->model;
    Balance balance = {step, before, v, root, sum, share};
    cr__tasks_for(step->own.tasks, model->nb, BODIES, find_moved, &balance);
    cr__lift_sets(step, root);
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (!cr__moves(model, b)) continue;
        root[b] = cr__forest_find(root, body->root);
        if (share[b].moved) sum[root[b]].pushed = true;
    }
    cr__tasks_for(step->own.tasks, model->nb, BODIES, find_shares, &balance);
    for (int b = 1; b < model->nb; b++) {
        Lift* to = &sum[root[b]];
        if (!cr__moves(model, b) || !to->pushed) continue;
        if (model->bodies[b].single) lift_body(step, h, &share[b], b, to);
        to->fixed = to->fixed || !model->bodies[b].single;
        to->calm = to->calm || (of != NULL && !of[b]);
    }
}

// Moves bodies of sets that were lifted too far back; `back` marks them. Returns true if there are any.
static bool put_down(const crModel* model, const double* before, int* root, const Lift* sum, double* dv,
                     double* q, bool* back) {
    bool any = false;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        back[b] = false;
        if (!cr__moves(model, b) || !body->single) continue;
        const Lift* of = &sum[cr__forest_find(root, body->root)];
        if (of->fixed || of->calm || !(of->gain > ROUNDING * of->size) || !(of->lift > 0.0)) continue;
        if (memcmp(before + body->q, q + body->q, 7 * sizeof *before) == 0) continue;
        put(model, before, b, fmax(0.0, 1.0 - SURE * of->gain / of->lift), dv, q);
        back[b] = any = true;
    }
    return any;
}

crStatus cr__step_limit_lift(crStep* step, double h, const double* before, bool limited, const bool* of,
                             bool* back) {
    const crModel* model = step->model;
    memset(back, 0, (size_t)model->nb);
    if (memcmp(before, step->state.q, (size_t)model->nq * sizeof *before) == 0) return CR_OK;
    size_t mark = cr_arena_mark(&step->scratch), nb = (size_t)model->nb;
    int* root = cr_arena_alloc(&step->scratch, nb * sizeof *root);
    Lift* sum = cr_arena_alloc(&step->scratch, nb * sizeof *sum);
    Share* share = cr_arena_alloc(&step->scratch, nb * sizeof *share);
    double* v = cr_arena_alloc(&step->scratch, (size_t)(model->nv + 1) * sizeof *v);
    if (root == NULL || sum == NULL || share == NULL || v == NULL) return CR_ERR_MEMORY;
    cr__tasks_copy(step->own.tasks, v, step->state.v, (size_t)model->nv);
    keep_momentum(step, before, v);
    if (limited) {
        find_lifts(step, h, before, v, of, root, sum, share);
        if (put_down(model, before, root, sum, step->dynamics.scratch.v, step->state.q, back)) {
            keep_momentum(step, before, v);
            cr_model_kinematics(model, &step->state, &step->dynamics);
        }
    }
    cr_arena_release(&step->scratch, mark);
    return CR_OK;
}
