// integrate.c - q over one step, on the rotation group.
//
// Joints move by their constant v: angles and displacements add, rotations are multiplied by an exponential.
// A single free body turns with its angular momentum L fixed in the world: H = L.L/(2 I2) + sum over axes 1
// and 3 of (1/I - 1/I2) pi^2 / 2, pi = L in principal axes; each part turns the body about a fixed axis, and
// the symmetric product of their flows is of second order, exact where two moments are equal (McLachlan 1993;
// Dullweber, Leimkuhler and McLachlan 1997). A turn about omega x L, of third order in h, then gives the body
// the kinetic energy it had. omega follows from L in the new orientation. Fails: nothing; every quaternion is
// left unit.
#include "model/joint.h"

// orientation and momentum in principal axes after a turn about axis k that lasts h
static void turn_axis(int k, double h, double rate, crQuat* Q, double pi[3]) {
    double angle = h * rate * pi[k];
    if (angle == 0.0) return;
    double s, c;
    cr_sincos(0.5 * angle, &s, &c);
    double u[3] = {0.0, 0.0, 0.0};
    u[k] = s;
    crQuat step = {c, u[0], u[1], u[2]};
    *Q = cr_quat_mul(*Q, step);
    cr__store_vec(cr_quat_rotate(cr_quat_conj(step), cr__load_vec(pi)), pi);
}

// Q diag(D) Q^-1 x
static crVec3 along_axes(crQuat Q, const double D[3], crVec3 x) {
    crVec3 own = cr_quat_rotate(cr_quat_conj(Q), x);
    return cr_quat_rotate(Q, cr_vec3(D[0] * own.x, D[1] * own.y, D[2] * own.z));
}

static crQuat principal_axes(const crBody* body, crQuat q) {
    return cr_quat_normalize(cr_quat_mul(q, body->axes));
}

#define ROUNDS 2      // Newton steps towards the energy: the first leaves the square of a relative error
#define ALONG  1e-10  // square of the angle between omega and L below which their cross product is rounding

static double twice_energy(const double inverse[3], const double pi[3]) {
    return inverse[0] * pi[0] * pi[0] + inverse[1] * pi[1] * pi[1] + inverse[2] * pi[2] * pi[2];
}

// Turns principal axes Q, L fixed, until twice the kinetic energy is twice_T: a turn by d changes the energy by
// d.(omega x L). pi: L in the axes.
static void at_energy(const double inverse[3], double twice_T, crQuat* Q, double pi[3]) {
    for (int round = 0; round < ROUNDS; round++) {
        crVec3 L = cr__load_vec(pi), omega = cr_vec3(inverse[0] * L.x, inverse[1] * L.y, inverse[2] * L.z);
        crVec3 across = cr_cross(omega, L);
        double square = cr_dot(across, across) + ALONG * cr_dot(omega, omega) * cr_dot(L, L);
        if (!(square > 0.0)) return;
        // half of the turn: of so small an angle it is the sine
        crVec3 half = cr_scale(0.25 * (twice_T - twice_energy(inverse, pi)) / square, across);
        crQuat step = cr_quat_normalize((crQuat){1.0, half.x, half.y, half.z});
        *Q = cr_quat_mul(*Q, step);
        cr__store_vec(cr_quat_rotate(cr_quat_conj(step), L), pi);
    }
}

// A free body's turn over h; omega changes so that L does not.
static crQuat spin(const crBody* body, double h, crQuat q, double* omega) {
    const double* I = body->principal;
    // three equal moments: omega stays
    if (I[0] == I[2]) return cr__joint_turn(h, omega, q);
    const double inverse[3] = {1.0 / I[0], 1.0 / I[1], 1.0 / I[2]};
    crQuat Q = principal_axes(body, q);
    crVec3 L = along_axes(Q, I, cr__load_vec(omega));
    double pi[3];
    cr__store_vec(cr_quat_rotate(cr_quat_conj(Q), L), pi);
    double twice_T = twice_energy(inverse, pi);
    double outer = inverse[0] - inverse[1], inner = inverse[2] - inverse[1];
    turn_axis(0, 0.5 * h, outer, &Q, pi);
    turn_axis(2, h, inner, &Q, pi);
    turn_axis(0, 0.5 * h, outer, &Q, pi);
    // with two equal moments the energy is kept already
    if (outer != 0.0 && inner != 0.0) at_energy(inverse, twice_T, &Q, pi);
    Q = cr_quat_mul(cr__rotation_exp(cr_scale(h * inverse[1], L)), Q);
    crQuat after = cr_quat_normalize(cr_quat_mul(Q, cr_quat_conj(body->axes)));
    // a quaternion rounded to length 1 + 1e-16 scales what it turns, and always the same way: refine omega
    // until the next step will find this L again
    Q = principal_axes(body, after);
    crVec3 w = along_axes(Q, inverse, L);
    crVec3 lost = cr_sub(L, along_axes(Q, I, w));
    cr__store_vec(cr_add(w, along_axes(Q, inverse, lost)), omega);
    return after;
}

static void advance_joint(const crBody* body, double h, const double* v, double* q) {
    const cr__JointKind* kind = cr__joint(body);
    if (kind->integrate != NULL) {
        kind->integrate(body, h, v, q);
        return;
    }
    for (int j = 0; j < body->nv; j++) {
        q[j] += h * v[j];
    }
}

void cr__part_advance(const crModel* model, crPart part, double h, const double* v, double* q) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        advance_joint(body, h, v + body->v, q + body->q);
    }
}

void cr__advance(const crModel* model, double h, const double* v, double* q) {
    cr__part_advance(model, cr__all(model), h, v, q);
}

void cr__single_integrate(const crBody* body, double h, double* q, double* v) {
    cr__joint_fly(body, h, v, spin(body, h, cr__load_quat(q + 3), v + 3), q);
}

void cr__part_integrate(const crModel* model, crPart part, double h, crState* state) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        double* q = state->q + body->q;
        double* v = state->v + body->v;
        if (body->single) {
            cr__single_integrate(body, h, q, v);
        } else {
            advance_joint(body, h, v, q);
        }
    }
}

void cr_model_integrate(const crModel* model, double h, crState* state) {
    if (!cr__state_fits(model, state)) return;
    cr__part_integrate(model, cr__all(model), h, state);
    state->time += h;
}
