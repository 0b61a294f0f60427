// flow.c - the free motion of one tree: q and v over h without forces but those of its joints.
//
//     M dv/dt = -c(q, v)
//
// keeps T = v.M v/2, and the momentum of a tree with a free root. With a = M^-1 c, q moves by h v - h^2 a/2
// and v by the mean of a at both ends, with v at the end predicted as v - h a: second order. Then v is
// corrected: momentum by a motion of the whole tree as one rigid body, T by scaling the rest of v. Both are
// kept to rounding for any h, and the centre of mass moves on a line. The time is cut into parts in which c
// changes v by at most TURN. A part is halved if the momentum alone needs more energy than T at its end.
// After PARTS parts the rest is one part, and the angular momentum is reduced instead. Joints' dampers are in
// the factor of M: with them the order is one.
// Fails: CR_ERR_DEFINITE from the factor of M.
#include <string.h>

#include "model/spatial.h"

#define TURN  0.05   // limit of the change of v by c in one part, share of |v| in the metric of M
#define PARTS 256    // limit of parts of h
#define SAME  1e-14  // change of T that counts as rounding, share of T
#define MOST  2.0    // limit of the factor on v

// momentum and angular momentum about the centre of mass, which a tree with a free root keeps
typedef struct Kept {
    crVec3 P, L;
} Kept;

// motion of the tree as one rigid body
typedef struct Locked {
    crVec3 omega, v;  // v at the tree's reference point
    double turning, T;
} Locked;

static const crBody* root_of(const crModel* model, crPart tree) {
    return &model->bodies[cr__part_body(tree, 0)];
}

// centre of mass relative to the reference point
static crVec3 centre(const crInertia* I) { return cr_scale(1.0 / I->m, I->h); }

static bool floats(const crModel* model, const crBody* root) {
    bool none = root->joint == CR_JOINT_FREE;
    for (int i = root->v; i < root->v + root->nv && none; i++) {
        none = cr_model_dof(model, i)->armature == 0.0;
    }
    return none;
}

// momentum by y = M v at the root, whose six entries are the momentum about the reference point
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

// factor on v by which the energy T becomes `want`, at most MOST
static double factor_to(double want, double T) {
    if (fabs(want - T) <= SAME * want || !(T > 0.0)) return 1.0;
    return want > 0.0 ? fmin(MOST, sqrt(want / T)) : 0.0;
}

void cr__tree_scale(const crModel* model, crPart tree, double want, double T, double* v) {
    double s = factor_to(want, T);
    if (s != 1.0) cr__part_scale(model, tree, s, v);
}

// Sets the root's velocity: the locked motion l, its rotation scaled by `turning`, plus s times the rest of
// v.
static void set_root(double* v, const Locked* own, const Locked* l, double turning, double s, crVec3 r) {
    crVec3 omega = cr_sub(cr__load_vec(v + 3), own->omega), u = cr_sub(cr__load_vec(v), own->v);
    crVec3 less = cr_scale(turning - 1.0, l->omega);
    cr__store_vec(cr_madd(cr_sub(l->v, cr_cross(less, r)), s, u), v);
    cr__store_vec(cr_madd(cr_add(l->omega, less), s, omega), v + 3);
}

// Rescales v so that the tree has momentum `kept` and kinetic energy T. Returns false and leaves v unchanged
// if that momentum alone needs more energy than T and `must` is true.
static bool settle_free(const crModel* model, crPart tree, double T, Kept kept, bool must,
                        const crDynamics* d, double* v, double* y) {
    const crBody* root = root_of(model, tree);
    const crInertia* I = &d->scratch.composite[cr__part_body(tree, 0)];
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

// Length of a part of the time left in which c changes v by at most TURN, s. a: M^-1 c; T: energy of v
// without that of the centre of mass.
static double part_of(const crModel* model, crPart tree, double left, double T, const double* a,
                      const double* c) {
    double turn = left * left * cr__part_dot(model, tree, a, c);
    return turn > 2.0 * TURN * TURN * T ? left * TURN * sqrt(2.0 * T / turn) : left;
}

// Finds c, k = tau - c and work.y = M^-1 c at q and v.
static void turn_by(const crModel* model, crPart tree, const crState* state, crDynamics* d, crFlowWork work) {
    cr__part_forces(model, tree, state, d, work.k, work.c);
    cr__part_copy(model, tree, work.c, work.y);
    cr__part_mass_solve(model, tree, d, work.y);
}

static crStatus look(const crModel* model, crPart tree, const crState* state, crDynamics* d) {
    cr__part_kinematics(model, tree, state, d);
    return cr__part_mass_factor(model, tree, d->mass.h, d);
}

crStatus cr__tree_flow(const crModel* model, crPart tree, double h, crState* state, crDynamics* d,
                       crFlowWork work) {
    const crBody* root = root_of(model, tree);
    const crInertia* I = &d->scratch.composite[cr__part_body(tree, 0)];
    const crVec3* origin = &d->origin[cr__part_body(tree, 0)];
    bool free = floats(model, root);
    double T = cr__tree_energy(model, tree, d, state->v, work.y);
    Kept kept = {.P = cr_vec3(0, 0, 0)};
    if (free) kept = kept_by(I, work.y + root->v);
    // at least the rounding of T
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
