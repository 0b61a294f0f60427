// inverse.c - gradient of z . f, f the forces that inverse dynamics gives, by q and v: one pass up, one down.
//
// Forward (Featherstone 2008, 5.3), fields about the tree's reference point, which is held: V_i = V_parent + S v,
// A_i = A_parent + S a + rate_i, f_i = I A + V x* I V - weight, and the figure is sum Z_i . f_i. Backwards each term passes on
// what it is changed by: with (a x b) . f = -b . (a x* f),
//     by Z_i: f_i        by A_i: I Z        by V_i: I (Z x V) - Z x* I V
//     by a motion of body i, which takes I along: -Z x* I A - A x* I Z - B x* I V - V x* I B, B = Z x V
//     by an axis S_j, moved along by X: X . (S_j x* by_S_j)
// summed over all that a joint carries. Axes move with the parent or, where they turn with the body, with that (joint.h);
// those of a free joint's turn pass through its centre of mass and keep their directions.
// Fails: nothing.
#include "wrt/inverse.h"

#include "model/joint.h"

typedef struct Sums {
    crTwist *V, *Z, *A;                         // of each body
    crTwist *by_Z, *by_A, *by_V, *by_X, *on_y;  // of all that it carries
} Sums;

static crTwist twist_zero(void) { return cr__twist(cr_vec3(0, 0, 0), cr_vec3(0, 0, 0)); }
static crTwist twist_sub(crTwist a, crTwist b) { return cr__twist_madd(a, -1.0, b); }

static crTwist axes_times(const crDynamics* d, const crBody* body, const double* x, int count) {
    crTwist sum = twist_zero();
    for (int j = 0; j < count; j++) {
        sum = cr__twist_madd(sum, x[body->v + j], cr__dof_axis(d, body->v + j));
    }
    return sum;
}

static crTwist rate_of_axes(const crInverse* in, int i, crTwist above, crTwist own) {
    const crBody* body = &in->model->bodies[i];
    const double* v = in->v + body->v;
    if (body->joint == CR_JOINT_FREE)
        return cr__twist(cr_vec3(0, 0, 0), cr_cross(cr__load_vec(v), cr__load_vec(v + 3)));
    int carried = body->nv - cr__joint(body)->own;
    crTwist rate = cr__twist_cross(above, axes_times(in->d, body, in->v, carried));
    for (int j = carried; j < body->nv; j++) {
        rate = cr__twist_madd(rate, v[j], cr__twist_cross(own, cr__dof_axis(in->d, body->v + j)));
    }
    return rate;
}

static void body_up(const crInverse* in, int i, const Sums* s) {
    const crModel* model = in->model;
    const crDynamics* d = in->d;
    const crBody* body = &model->bodies[i];
    bool up = cr__moves(model, body->parent), turns = in->v != NULL && !body->single;
    crTwist none = twist_zero(), above = up ? s->V[body->parent] : none;
    crTwist V = turns ? cr__twist_add(above, axes_times(d, body, in->v, body->nv)) : none;
    crTwist Z = cr__twist_add(up ? s->Z[body->parent] : none, axes_times(d, body, in->z, body->nv));
    crTwist A = cr__twist_add(up ? s->A[body->parent] : none, axes_times(d, body, in->a, body->nv));
    if (turns) A = cr__twist_add(A, rate_of_axes(in, i, above, V));
    crInertia I = cr__inertia_about(body->mass, d->com[i], d->inertia[i], d->origin[i]);
    crTwist IZ = cr__inertia_mul(&I, Z), IA = cr__inertia_mul(&I, A), f = IA, by_V = none;
    crTwist X = cr__twist_add(cr__wrench_cross(Z, IA), cr__wrench_cross(A, IZ));
    if (turns) {
        crTwist IV = cr__inertia_mul(&I, V), B = cr__twist_cross(Z, V), IB = cr__inertia_mul(&I, B);
        f = cr__twist_add(f, cr__wrench_cross(V, IV));
        by_V = twist_sub(IB, cr__wrench_cross(Z, IV));
        X = cr__twist_add(X, cr__twist_add(cr__wrench_cross(B, IV), cr__wrench_cross(V, IB)));
    }
    if (in->weight) {
        crVec3 arm = cr_sub(d->com[i], d->origin[i]);
        crVec3 G = cr_scale(body->mass * body->gravity_scale, model->gravity), q = cr_cross(G, Z.omega);
        f = twist_sub(f, cr__twist(cr_cross(arm, G), G));
        X = cr__twist_add(X, cr__twist(cr_cross(arm, q), q));
    }
    s->V[i] = V;
    s->Z[i] = Z;
    s->A[i] = A;
    s->by_Z[i] = in->outer != NULL ? cr__twist_add(f, in->outer[i]) : f;
    s->by_A[i] = IZ;
    s->by_V[i] = by_V;
    s->by_X[i] = twist_sub(none, X);
    s->on_y[i] = in->on_y != NULL ? in->on_y[i] : none;
}

// what the rate of its axes gets, passed on to velocities and axes
static void rate_down(const crInverse* in, int i, const Sums* s, double* by_v, crTwist* by_axis) {
    const crBody* body = &in->model->bodies[i];
    const double* v = in->v + body->v;
    crTwist R = s->by_A[i];
    if (body->joint == CR_JOINT_FREE) {
        crVec3 u = cr_cross(cr__load_vec(v + 3), R.v), w = cr_cross(R.v, cr__load_vec(v));
        cr__store_vec(cr_add(cr__load_vec(by_v + body->v), u), by_v + body->v);
        cr__store_vec(cr_add(cr__load_vec(by_v + body->v + 3), w), by_v + body->v + 3);
        return;
    }
    bool up = cr__moves(in->model, body->parent);
    int carried = body->nv - cr__joint(body)->own;
    if (up) {
        crTwist C = axes_times(in->d, body, in->v, carried);
        crTwist by_C = twist_sub(twist_zero(), cr__wrench_cross(s->V[body->parent], R));
        s->by_V[body->parent] = cr__twist_add(s->by_V[body->parent], cr__wrench_cross(C, R));
        for (int j = 0; j < carried; j++) {
            by_v[body->v + j] += cr__twist_dot(cr__dof_axis(in->d, body->v + j), by_C);
            by_axis[j] = cr__twist_madd(by_axis[j], v[j], by_C);
        }
    }
    for (int j = carried; j < body->nv; j++) {
        crTwist axis = cr__dof_axis(in->d, body->v + j);
        s->by_V[i] = cr__twist_madd(s->by_V[i], v[j], cr__wrench_cross(axis, R));
        by_axis[j] = cr__twist_madd(by_axis[j], -v[j], cr__wrench_cross(s->V[i], R));
        by_v[body->v + j] += cr__twist_dot(cr__twist_cross(s->V[i], axis), R);
    }
}

static void body_down(const crInverse* in, int i, const Sums* s, double* by_q, double* by_v) {
    const crBody* body = &in->model->bodies[i];
    int parent = body->parent, carried = body->nv - cr__joint(body)->own;
    bool up = cr__moves(in->model, parent), turns = in->v != NULL && !body->single;
    crTwist by_axis[6] = {0}, above = twist_zero();
    if (turns && body->nv > 0) rate_down(in, i, s, by_v, by_axis);
    for (int j = 0; j < body->nv; j++) {
        int at = body->v + j;
        crTwist axis = cr__dof_axis(in->d, at), by = by_axis[j];
        by = cr__twist_madd(by, in->z[at], s->by_Z[i]);
        by = cr__twist_madd(by, in->a[at], s->by_A[i]);
        if (in->y != NULL) by = cr__twist_madd(by, in->y[at], s->on_y[i]);
        if (turns) {
            by = cr__twist_madd(by, in->v[at], s->by_V[i]);
            by_v[at] += cr__twist_dot(axis, s->by_V[i]);
        }
        crTwist moved = cr__wrench_cross(axis, by);
        if (body->joint == CR_JOINT_FREE) {
            for (int k = 0; k < 3 && j >= 3; k++) {
                by_q[body->v + k] += cr__twist_dot(cr__dof_axis(in->d, body->v + k), moved);
            }
        } else if (j < carried) {
            above = cr__twist_add(above, moved);
        } else {
            s->by_X[i] = cr__twist_add(s->by_X[i], moved);
        }
    }
    for (int j = body->v; j < body->v + body->nv; j++) {
        by_q[j] += cr__twist_dot(cr__dof_axis(in->d, j), s->by_X[i]);
    }
    if (!up) return;
    crTwist* const sums[] = {s->by_Z, s->by_A, s->by_V, s->by_X, s->on_y};
    for (int k = 0; k < 5; k++) {
        sums[k][parent] = cr__twist_add(sums[k][parent], sums[k][i]);
    }
    s->by_X[parent] = cr__twist_add(s->by_X[parent], above);
}

void cr__inverse_gradient(const crInverse* in, crTwist* work, double* by_q, double* by_v) {
    int nb = in->model->nb;
    Sums s = {work,          work + nb,     work + 2 * nb, work + 3 * nb,
              work + 4 * nb, work + 5 * nb, work + 6 * nb, work + 7 * nb};
    for (int k = 0; k < in->part.count; k++) {
        int i = cr__part_body(in->part, k);
        if (cr__moves(in->model, i)) body_up(in, i, &s);
    }
    for (int k = in->part.count - 1; k >= 0; k--) {
        int i = cr__part_body(in->part, k);
        if (cr__moves(in->model, i)) body_down(in, i, &s, by_q, by_v);
    }
}
