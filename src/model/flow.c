// flow.c - the free motion of one tree: q and v over h with no force but what its joints need.
//
// M dv/dt = -c(q, v) keeps T = v.M v/2, and of a tree with a free root its momentum. With a = M^-1 c, q moves
// by h v - h^2 a/2 and v by the mean of a at both ends, v at the end foreseen as v - h a: second order. Then v
// is set right: momentum by moving the tree as if it were locked, T by scaling what is left of v, so that both
// are kept to rounding whatever h is; its centre of mass goes straight. Where c would turn v by more than TURN
// the time is cut, and halved where the tree came to be drawn in so far that its momentum alone needs more
// than T; when time is in PARTS, it turns less instead. Joints' dampers are in the factor of M: with them it
// is of first order.
// Fails: CR_ERR_DEFINITE from the factor of M.
#include <string.h>

#include "model/spatial.h"

#define TURN  0.05   // change of v by c in one part of h, of v's length in the metric of M
#define PARTS 256    // of h
#define SAME  1e-14  // of T that is left as it is, or is rounding
#define MOST  2.0    // by which v is scaled

// what a tree with a free root keeps: momentum, angular momentum about the centre of mass
typedef struct Kept {
    crVec3 P, L;
} Kept;

// motion as one rigid body
typedef struct Locked {
    crVec3 omega, v;  // v at the tree's reference point
    double turning, T;
} Locked;

static const crBody* root_of(const crModel* model, crPart tree) {
    return &model->bodies[cr__part_body(tree, 0)];
}

// centre of mass from the reference point
static crVec3 centre(const crInertia* I) { return cr_scale(1.0 / I->m, I->h); }

static bool floats(const crModel* model, const crBody* root) {
    bool none = root->joint == CR_JOINT_FREE;
    for (int i = root->v; i < root->v + root->nv && none; i++) {
        none = cr_model_dof(model, i)->armature == 0.0;
    }
    return none;
}

// y = M v, whose first six entries are the momentum about the reference point
static Kept kept_by(const crInertia* I, const double* y) {
    crVec3 P = cr__load_vec(y);
    return (Kept){P, cr_sub(cr__load_vec(y + 3), cr_cross(centre(I), P))};
}

static Locked locked_by(const crInertia* I, Kept kept) {
    crVec3 r = centre(I);
    crSym3 about = cr_sym3_add(I->I, cr__point_inertia(-I->m, r));
    Locked l = {.omega = cr_vec3(0, 0, 0)};
    cr_sym3_solve(about, kept.L, &l.omega);
    l.v = cr_sub(cr_scale(1.0 / I->m, kept.P), cr_cross(l.omega, r));
    l.turning = 0.5 * cr_dot(kept.L, l.omega);
    l.T = l.turning + 0.5 * cr_dot(kept.P, kept.P) / I->m;
    return l;
}

double cr__tree_energy(const crModel* model, crPart tree, const crDynamics* d, const double* v, double* y) {
    cr__part_mass_mul(model, tree, d, v, y);
    return 0.5 * cr__part_dot(model, tree, v, y);
}

// what T has to be scaled by to be `want`
static double factor_to(double want, double T) {
    if (fabs(want - T) <= SAME * want || !(T > 0.0)) return 1.0;
    return want > 0.0 ? fmin(MOST, sqrt(want / T)) : 0.0;
}

void cr__tree_scale(const crModel* model, crPart tree, double want, double T, double* v) {
    double s = factor_to(want, T);
    if (s != 1.0) cr__part_scale(model, tree, s, v);
}

// the root's velocity: the locked motion with its turning scaled, and s times what v has beyond it
static void set_root(double* v, const Locked* own, const Locked* l, double turning, double s, crVec3 r) {
    crVec3 omega = cr_sub(cr__load_vec(v + 3), own->omega), u = cr_sub(cr__load_vec(v), own->v);
    crVec3 less = cr_scale(turning - 1.0, l->omega);
    cr__store_vec(cr_madd(cr_sub(l->v, cr_cross(less, r)), s, u), v);
    cr__store_vec(cr_madd(cr_add(l->omega, less), s, omega), v + 3);
}

// momentum as kept, energy T; false, and nothing is done, where the momentum alone needs more and it must not
static bool settle_free(const crModel* model, crPart tree, double T, Kept kept, bool must,
                        const crDynamics* d, double* v, double* y) {
    const crBody* root = root_of(model, tree);
    const crInertia* I = &d->composite[cr__part_body(tree, 0)];
    double was = cr__tree_energy(model, tree, d, v, y);
    Locked own = locked_by(I, kept_by(I, y + root->v)), l = locked_by(I, kept);
    if (l.T - T > SAME * T && must) return false;
    double inner = fmax(0.0, was - own.T), s = 1.0, turning = 1.0;
    if (fabs(T - l.T - inner) > SAME * T) s = factor_to(T - l.T, inner);
    if (T < l.T && l.turning > 0.0) turning = sqrt(fmax(0.0, 1.0 - (l.T - T) / l.turning));
    double* first = v + root->v;
    crVec3 linear = cr__load_vec(first), angular = cr__load_vec(first + 3);
    if (s != 1.0) cr__part_scale(model, tree, s, v);
    cr__store_vec(linear, first);
    cr__store_vec(angular, first + 3);
    set_root(first, &own, &l, turning, s, centre(I));
    return true;
}

// how long c may act at once; a is M^-1 c, T that of v beyond what moves the tree as a whole
static double part_of(const crModel* model, crPart tree, double left, double T, const double* a,
                      const double* c) {
    double turn = left * left * cr__part_dot(model, tree, a, c);
    return turn > 2.0 * TURN * TURN * T ? left * TURN * sqrt(2.0 * T / turn) : left;
}

// a = M^-1 c at q and v; c and k = tau - c
static void turn_by(const crModel* model, crPart tree, const crState* state, crDynamics* d, crFlowWork work) {
    cr__part_forces(model, tree, state, d, work.k, work.c);
    cr__part_copy(model, tree, work.c, work.y);
    cr__part_mass_solve(model, tree, d, work.y);
}

static crStatus look(const crModel* model, crPart tree, const crState* state, crDynamics* d) {
    cr__part_kinematics(model, tree, state, d);
    return cr__part_mass_factor(model, tree, d->h, d);
}

crStatus cr__tree_flow(const crModel* model, crPart tree, double h, crState* state, crDynamics* d,
                       crFlowWork work) {
    const crBody* root = root_of(model, tree);
    const crInertia* I = &d->composite[cr__part_body(tree, 0)];
    const crVec3* origin = &d->origin[cr__part_body(tree, 0)];
    bool free = floats(model, root);
    double T = cr__tree_energy(model, tree, d, state->v, work.y);
    Kept kept = {.P = cr_vec3(0, 0, 0)};
    if (free) kept = kept_by(I, work.y + root->v);
    // rounding of T is no motion
    double within = free ? fmax(SAME * T, T - 0.5 * cr_dot(kept.P, kept.P) / I->m) : T;
    crVec3 goal = cr_madd(cr_add(*origin, centre(I)), h / I->m, kept.P);
    crStatus status = CR_OK;
    double left = h, limit = h;
    for (int n = 1; left > 0.0 && status == CR_OK; n++) {
        bool last = n >= PARTS;
        turn_by(model, tree, state, d, work);
        double part = last ? left : fmin(limit, part_of(model, tree, left, within, work.y, work.c));
        cr__part_copy_state(model, tree, state->q, state->v, work.q, work.v);
        cr__part_madd(model, tree, state->v, -0.5 * part, work.y, state->v);
        cr__part_advance(model, tree, part, state->v, state->q);
        cr__part_madd(model, tree, state->v, -0.5 * part, work.y, state->v);
        status = look(model, tree, state, d);
        if (status != CR_OK) return status;
        turn_by(model, tree, state, d, work);
        cr__part_add(model, tree, state->v, work.v, state->v);
        cr__part_madd(model, tree, state->v, -part, work.y, state->v);
        cr__part_scale(model, tree, 0.5, state->v);
        if (!free)
            cr__tree_scale(model, tree, T, cr__tree_energy(model, tree, d, state->v, work.y), state->v);
        bool done = !free || settle_free(model, tree, T, kept, !last, d, state->v, work.y);
        limit = done ? 2.0 * part : 0.5 * part;
        if (done) left = part < left ? left - part : 0.0;
        if (done) continue;
        cr__part_copy_state(model, tree, work.q, work.v, state->q, state->v);
        status = look(model, tree, state, d);
    }
    double* q = state->q + root->q;
    crVec3 off = cr_sub(goal, cr_add(*origin, centre(I)));
    if (free) cr__store_vec(cr_add(cr__load_vec(q), off), q);
    return status;
}
