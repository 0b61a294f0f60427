// single.c - derivatives of a move of single bodies, in closed form, and their transpose.
//
// A contact has the point x, frame F with normal n, impulse P = F p on b, moment T of spin and rolling, slip u by S. By motions of
// its bodies (geometry.c) dx, dn and dgap are known; psi = n x dn turns the frame. At fixed p
//     dP = psi x P, dT = psi x T       dS_b = dv + h df/m + sum dP/m
//     dL = h dtau + sum ((dx - dc) x P + (x - c) x dP + dT)
//     dS_omega = domega + theta x z - I^-1 (theta x L) + I^-1 dL,   z = I^-1 L
//     dw = F^T (dS + dS_omega x r + S_omega x (dx - dc) |_a^b + u x psi) + db,  of moments F^T (dS_omega |_a^b + S_omega |_a^b x psi)
// and dp follows from dw by the modes. The motion is x+ = x + h v, and orientation and omega by a 6 x 6 matrix, in closed form for
// round bodies, by differences of the motion for others.
// Fails: CR_ERR_MEMORY; bodies with drag, forces of the user and planar contacts are left to linear.c.
#include <string.h>

#include "model/single.h"
#include "step/step.h"
#include "wrt/tape.h"

#define TURN 1e-5  // of orientation and omega: what is tried on either side

static void store(crVec3 v, double* x) {
    x[0] = v.x;
    x[1] = v.y;
    x[2] = v.z;
}
static crVec3 load(const double* x) { return cr_vec3(x[0], x[1], x[2]); }
static void add(crVec3 v, double* x) {
    x[0] += v.x;
    x[1] += v.y;
    x[2] += v.z;
}

static bool has_form(const crTape* tape, const crTapeOp* op) {
    const crModel* model = tape->model;
    if (tape->eval.calls.force != NULL || model->nu > 0) return false;
    for (int k = 0; k < op->part.count; k++) {
        const crBody* b = &model->bodies[op->part.bodies[k]];
        if (!cr__moves(model, op->part.bodies[k])) return false;
        if (!b->single || b->linear_drag != 0.0 || b->angular_drag != 0.0) return false;
    }
    for (int i = 0; i < op->contact_count; i++) {
        const crStepContact* c = &op->contacts[i].at;
        if (c->planar && cr__step_contact_rows(c) > 1) return false;
        if (c->surface->axis_of >= 0) return false;
    }
    return true;
}

// columns of exp(h omega) and h times the left Jacobian of the rotation group
void cr__tape_turn(crVec3 phi, double h, double* turn) {
    double angle = cr_norm(phi), s, c, first = 0.5, second = 1.0 / 6.0;
    cr_sincos(angle, &s, &c);
    double a2 = angle * angle, one = 1.0 - a2 / 6.0;
    if (angle > 1e-3) {
        one = s / angle;
        first = (1.0 - c) / a2;
        second = (1.0 - one) / a2;
    } else {
        first -= a2 / 24.0;
        second -= a2 / 120.0;
    }
    memset(turn, 0, 36 * sizeof *turn);
    for (int k = 0; k < 3; k++) {
        crVec3 e = cr_vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
        crVec3 across = cr_cross(phi, e), twice = cr_cross(phi, across);
        crVec3 R = cr_madd(cr_madd(e, one, across), first, twice);
        crVec3 J = cr_scale(h, cr_madd(cr_madd(e, first, across), second, twice));
        const double rotated[3] = {R.x, R.y, R.z}, rate[3] = {J.x, J.y, J.z};
        for (int i = 0; i < 3; i++) {
            turn[6 * i + k] = rotated[i];
            turn[6 * i + 3 + k] = rate[i];
        }
        turn[6 * (3 + k) + 3 + k] = 1.0;
    }
}

// the same by differences of the motion
static void turn_any(crTape* tape, const crTapeOp* op, int body, crTapeBody* b, double h) {
    const crModel* model = tape->model;
    const crBody* own = &model->bodies[body];
    crState* state = &tape->eval.state;
    for (int k = 0; k < 6; k++) {
        crQuat q[2];
        crVec3 omega[2];
        for (int i = 0; i < 2; i++) {
            double by = i == 0 ? -TURN : TURN;
            crVec3 e = cr_vec3(k % 3 == 0 ? by : 0.0, k % 3 == 1 ? by : 0.0, k % 3 == 2 ? by : 0.0);
            double *at = state->q + own->q, *v = state->v + own->v;
            memcpy(at, op->q + own->q, 7 * sizeof *at);
            memcpy(v, op->S + own->v, 6 * sizeof *v);
            if (k < 3) {
                crQuat turned = cr_quat_normalize(cr_quat_mul(cr__rotation_exp(e), cr__load_quat(at + 3)));
                cr__store_quat(turned, at + 3);
            } else {
                add(e, v + 3);
            }
            cr__part_integrate(model, (crPart){&body, 1}, h, state);
            q[i] = cr__load_quat(at + 3);
            omega[i] = load(v + 3);
        }
        crVec3 turn = cr__rotation_log(cr_quat_mul(q[1], cr_quat_conj(q[0])));
        crVec3 rate = cr_sub(omega[1], omega[0]);
        const double over = 0.5 / TURN, column[6] = {turn.x, turn.y, turn.z, rate.x, rate.y, rate.z};
        for (int i = 0; i < 6; i++) {
            b->turn[6 * i + k] = over * column[i];
        }
    }
}

void cr__tape_single_turn(crTape* tape, const crTapeOp* op, int body, crTapeBody* b, double h) {
    if (cr__single_round(&tape->model->bodies[body])) {
        cr__tape_turn(cr_scale(h, load(op->S + b->v + 3)), h, b->turn);
    } else {
        turn_any(tape, op, body, b, h);
    }
}

// rows of the velocities of the point, of spin and of rolling, as step/problem.c adds them
static void rows_of(crTapeContact* c) {
    const crSurface* s = &c->at.surface->surface;
    int all = cr__step_contact_rows(&c->at), next;
    c->rows = all == 1 ? 1 : c->at.planar ? 2 : 3;
    next = c->row + c->rows;
    c->spin = s->mu_spin > 0.0 ? next++ : -1;
    c->roll = s->mu_roll > 0.0 ? next : -1;
}

void cr__tape_impulses(crTape* tape, crTapeOp* op) {
    for (int i = 0; i < op->contact_count; i++) {
        crTapeContact* c = &op->contacts[i];
        c->row = tape->eval.contacts.list[i].row;
        c->F = cr__step_frame(&tape->eval, &c->at);
        rows_of(c);
        c->P = cr__tape_by_w(c, op->p);
        c->T = cr__tape_by_moments(c, op->p);
    }
}

crStatus cr__tape_single_prepare(crTape* tape, crTapeOp* op) {
    const crModel* model = tape->model;
    const crDynamics* d = &tape->eval.dynamics;
    double h = tape->times[op->end].t - tape->times[op->begin].t;
    if (!has_form(tape, op)) return CR_OK;
    op->bodies = cr_arena_alloc(&tape->memory, (size_t)model->nb * sizeof *op->bodies);
    if (op->bodies == NULL) return CR_ERR_MEMORY;
    for (int b = 0; b < model->nb; b++) {
        op->bodies[b].v = -1;
    }
    for (int k = 0; k < op->part.count; k++) {
        int body = op->part.bodies[k];
        crTapeBody* b = &op->bodies[body];
        const crBody* own = &model->bodies[body];
        *b = (crTapeBody){.v = own->v, .mass = own->mass, .inverse = d->inverse[body], .com = d->com[body]};
        b->gain = cr_sub(load(op->S + own->v + 3), load(op->v + own->v + 3));
        b->L = cr_scale(h, load(tape->start.force + own->v + 3));
    }
    cr__tape_impulses(tape, op);
    for (int i = 0; i < op->contact_count; i++) {
        crTapeContact* c = &op->contacts[i];
        crTapeBody *a = &op->bodies[c->at.body_a], *b = &op->bodies[c->at.body_b];
        for (int side = 0; side < 2; side++) {
            crTapeBody* own = side == 0 ? a : b;
            crVec3 L = cr_add(cr_cross(cr_sub(c->at.point.point, own->com), c->P), c->T);
            if (own->v >= 0) own->L = cr_madd(own->L, side == 0 ? -1.0 : 1.0, L);
        }
    }
    for (int k = 0; k < op->part.count; k++) {
        int body = op->part.bodies[k];
        cr__tape_single_turn(tape, op, body, &op->bodies[body], h);
    }
    return CR_OK;
}

size_t cr__tape_single_work(const crTape* tape, const crTapeOp* op) {
    return 2 * (size_t)tape->model->nv + 3 * (size_t)op->rows + 8;
}

// u of a contact by S
static crVec3 slip_of(const crTapeOp* op, const crTapeContact* c) {
    crVec3 u = cr_vec3(0, 0, 0);
    for (int side = 0; side < 2; side++) {
        const crTapeBody* b = &op->bodies[side == 0 ? c->at.body_a : c->at.body_b];
        if (b->v < 0) continue;
        crVec3 own =
            cr_add(load(op->S + b->v), cr_cross(load(op->S + b->v + 3), cr_sub(c->at.point.point, b->com)));
        u = side == 0 ? cr_sub(u, own) : cr_add(u, own);
    }
    return u;
}

// turn of b against a by x (nv)
static crVec3 turn_between(const crTapeOp* op, const crTapeContact* c, const double* x) {
    const crTapeBody *a = &op->bodies[c->at.body_a], *b = &op->bodies[c->at.body_b];
    crVec3 turn = b->v >= 0 ? load(x + b->v + 3) : cr_vec3(0, 0, 0);
    return a->v >= 0 ? cr_sub(turn, load(x + a->v + 3)) : turn;
}

// fall of b less that of a, of bodies in the air: half of it over h is in the bias of an open gap
static crVec3 fall_of(const crTape* tape, const crTapeOp* op, const crTapeContact* c) {
    crVec3 fall = cr_vec3(0, 0, 0);
    for (int k = 0; k < op->part.count; k++) {
        int body = op->part.bodies[k];
        if (!op->airborne[k] || (body != c->at.body_a && body != c->at.body_b)) continue;
        const crBody* moved = &tape->model->bodies[body];
        crVec3 own = cr_vec3(0, 0, 0);
        for (int j = moved->v; j < moved->v + moved->nv; j++) {
            own = cr_madd(own, tape->eval.plan->fall[j], tape->eval.dynamics.axis[j].v);
        }
        fall = body == c->at.body_a ? cr_sub(fall, own) : cr_add(fall, own);
    }
    return fall;
}

static void motions_by(const crTapeOp* op, int contact, const double* x, double m[12]) {
    const crRows* rows = &op->motions;
    for (int k = 0; k < 12; k++) {
        m[k] = 0.0;
        for (int i = rows->start[12 * contact + k]; x != NULL && i < rows->start[12 * contact + k + 1]; i++) {
            m[k] += rows->value[i] * x[rows->col[i]];
        }
    }
}

typedef struct Moved {
    crVec3 dx, psi, dn;
    double gap;
} Moved;

static Moved contact_moved(const crTapeContact* c, const double m[12]) {
    Moved d = {.dx = load(m), .dn = cr_cross(load(m + 3), c->at.point.normal)};
    for (int k = 0; k < 6; k++) {
        d.dx = cr_madd(d.dx, m[6 + k], c->point[k]);
        d.dn = cr_madd(d.dn, m[6 + k], c->normal[k]);
    }
    d.psi = cr_cross(c->at.point.normal, d.dn);
    d.gap = cr_dot(c->at.point.normal, load(m + 6));
    return d;
}

static crVec3 at_or_zero(const double* x, int i) { return x != NULL ? load(x + i) : cr_vec3(0, 0, 0); }

// dS at fixed impulses; dL stands in its place for omega first
static void change_S(crTape* tape, const crTapeOp* op, const double* x, const double* f, double h,
                     double* dS) {
    int nv = tape->model->nv;
    for (int k = 0; k < op->part.count; k++) {
        const crTapeBody* b = &op->bodies[op->part.bodies[k]];
        store(cr_madd(at_or_zero(x, nv + b->v), h / b->mass, at_or_zero(f, b->v)), dS + b->v);
        store(cr_scale(h, at_or_zero(f, b->v + 3)), dS + b->v + 3);
    }
    for (int i = 0; i < op->contact_count; i++) {
        const crTapeContact* c = &op->contacts[i];
        double m[12];
        motions_by(op, i, x, m);
        Moved d = contact_moved(c, m);
        crVec3 dP = cr_cross(d.psi, c->P), dT = cr_cross(d.psi, c->T);
        for (int side = 0; side < 2; side++) {
            const crTapeBody* b = &op->bodies[side == 0 ? c->at.body_a : c->at.body_b];
            double sign = side == 0 ? -1.0 : 1.0;
            if (b->v < 0) continue;
            crVec3 r = cr_sub(c->at.point.point, b->com), dr = cr_sub(d.dx, at_or_zero(x, b->v));
            add(cr_scale(sign / b->mass, dP), dS + b->v);
            add(cr_scale(sign, cr_add(cr_add(cr_cross(dr, c->P), cr_cross(r, dP)), dT)), dS + b->v + 3);
        }
    }
    for (int k = 0; k < op->part.count; k++) {
        const crTapeBody* b = &op->bodies[op->part.bodies[k]];
        crVec3 theta = at_or_zero(x, b->v + 3), dL = cr_sub(load(dS + b->v + 3), cr_cross(theta, b->L));
        crVec3 d = cr_add(at_or_zero(x, nv + b->v + 3), cr_cross(theta, b->gain));
        store(cr_add(d, cr_sym3_mul(b->inverse, dL)), dS + b->v + 3);
    }
}

// dw at fixed impulses
static void change_w(crTape* tape, const crTapeOp* op, const double* x, double h, const double* dS,
                     double* dw) {
    memset(dw, 0, (size_t)op->rows * sizeof *dw);
    for (int i = 0; i < op->contact_count; i++) {
        const crTapeContact* c = &op->contacts[i];
        double m[12];
        motions_by(op, i, x, m);
        Moved d = contact_moved(c, m);
        crVec3 du = cr_cross(slip_of(op, c), d.psi);
        for (int side = 0; side < 2; side++) {
            const crTapeBody* b = &op->bodies[side == 0 ? c->at.body_a : c->at.body_b];
            if (b->v < 0) continue;
            crVec3 r = cr_sub(c->at.point.point, b->com), dr = cr_sub(d.dx, at_or_zero(x, b->v));
            crVec3 own = cr_add(load(dS + b->v), cr_cross(load(dS + b->v + 3), r));
            own = cr_add(own, cr_cross(load(op->S + b->v + 3), dr));
            du = side == 0 ? cr_sub(du, own) : cr_add(du, own);
        }
        for (int r = 0; r < c->rows; r++) {
            dw[c->row + r] = cr_dot(cr_mat3_column(c->F, r), du);
        }
        crVec3 turn = cr_add(turn_between(op, c, dS), cr_cross(turn_between(op, c, op->S), d.psi));
        if (c->spin >= 0) dw[c->spin] = cr_dot(cr_mat3_column(c->F, 0), turn);
        for (int r = 0; c->roll >= 0 && r < 2; r++) {
            dw[c->roll + r] = cr_dot(cr_mat3_column(c->F, 1 + r), turn);
        }
        if (c->open) dw[c->row] += d.gap / h - 0.5 * h * cr_dot(d.dn, fall_of(tape, op, c));
    }
}

void cr__tape_single_apply(crTape* tape, const crTapeOp* op, const double* x, const double* f,
                           crProblemChange friction, double* work, double* out) {
    size_t n = (size_t)op->rows, nv = (size_t)tape->model->nv;
    double h = tape->times[op->end].t - tape->times[op->begin].t;
    double *dS = work, *dw = dS + nv, *dp = dw + n, *du = dp + n;
    change_S(tape, op, x, f, h, dS);
    if (n > 0) {
        change_w(tape, op, x, h, dS, dw);
        friction.u_free = dw;
        cr_modes_apply(&op->modes, &friction, dp, du);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; dp[i] != 0.0 && j < nv; j++) {
                dS[j] += op->Y[i * nv + j] * dp[i];
            }
        }
    }
    for (int k = 0; k < op->part.count; k++) {
        const crTapeBody* b = &op->bodies[op->part.bodies[k]];
        store(cr_madd(at_or_zero(x, b->v), h, load(dS + b->v)), out + b->v);
        store(load(dS + b->v), out + nv + b->v);
        double in[6], after[6];
        store(at_or_zero(x, b->v + 3), in);
        store(load(dS + b->v + 3), in + 3);
        for (int i = 0; i < 6; i++) {
            after[i] = 0.0;
            for (int j = 0; j < 6; j++) {
                after[i] += b->turn[6 * i + j] * in[j];
            }
        }
        store(load(after), out + b->v + 3);
        store(load(after + 3), out + nv + b->v + 3);
    }
}

// the transpose

// by dS (nv) and by the state before, from those after the motion
static void back_motion(const crTape* tape, const crTapeOp* op, double h, const double* by, double* by_S,
                        double* before) {
    size_t nv = (size_t)tape->model->nv;
    for (int k = 0; k < op->part.count; k++) {
        const crTapeBody* b = &op->bodies[op->part.bodies[k]];
        crVec3 shift = load(by + b->v);
        add(shift, before + b->v);
        store(cr_madd(load(by + nv + b->v), h, shift), by_S + b->v);
        double after[6], in[6] = {0};
        store(load(by + b->v + 3), after);
        store(load(by + nv + b->v + 3), after + 3);
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) {
                in[j] += b->turn[6 * i + j] * after[i];
            }
        }
        add(load(in), before + b->v + 3);
        store(load(in + 3), by_S + b->v + 3);
    }
}

crVec3 cr__tape_by_w(const crTapeContact* c, const double* by_w) {
    crVec3 M = cr_vec3(0, 0, 0);
    for (int r = 0; r < c->rows; r++) {
        M = cr_madd(M, by_w[c->row + r], cr_mat3_column(c->F, r));
    }
    return M;
}

crVec3 cr__tape_by_moments(const crTapeContact* c, const double* by_w) {
    crVec3 N = cr_vec3(0, 0, 0);
    if (c->spin >= 0) N = cr_scale(by_w[c->spin], cr_mat3_column(c->F, 0));
    for (int r = 0; c->roll >= 0 && r < 2; r++) {
        N = cr_madd(N, by_w[c->roll + r], cr_mat3_column(c->F, 1 + r));
    }
    return N;
}

// what a contact's own motion gets, passed on to its bodies
void cr__tape_contact_back(crTape* tape, const crTapeOp* op, int index, double h, crVec3 X, crVec3 psi,
                           const double* by_w, double* before) {
    const crTapeContact* c = &op->contacts[index];
    const crRows* rows = &op->motions;
    crVec3 n = c->at.point.normal, N = cr_cross(psi, n);
    double gap = c->open ? by_w[c->row] / h : 0.0;
    if (c->open) N = cr_madd(N, -0.5 * h * by_w[c->row], fall_of(tape, op, c));
    double m[12];
    store(X, m);
    store(cr_cross(n, N), m + 3);
    for (int k = 0; k < 6; k++) {
        m[6 + k] = cr_dot(X, c->point[k]) + cr_dot(N, c->normal[k]);
    }
    add(cr_scale(gap, n), m + 6);
    for (int k = 0; k < 12; k++) {
        for (int i = rows->start[12 * index + k]; i < rows->start[12 * index + k + 1]; i++) {
            before[rows->col[i]] += rows->value[i] * m[k];
        }
    }
}

static void back_contact(crTape* tape, const crTapeOp* op, int index, double h, const double* by_S,
                         const double* by_w, double* before) {
    const crTapeContact* c = &op->contacts[index];
    crVec3 M = cr__tape_by_w(c, by_w), Q = cr_vec3(0, 0, 0), X = Q, turns = Q;
    for (int side = 0; side < 2; side++) {
        const crTapeBody* b = &op->bodies[side == 0 ? c->at.body_a : c->at.body_b];
        double sign = side == 0 ? -1.0 : 1.0;
        if (b->v < 0) continue;
        crVec3 r = cr_sub(c->at.point.point, b->com), K = cr_sym3_mul(b->inverse, load(by_S + b->v + 3));
        crVec3 arm = cr_scale(sign, cr_add(cr_cross(c->P, K), cr_cross(M, load(op->S + b->v + 3))));
        Q = cr_madd(Q, sign, cr_madd(cr_cross(K, r), 1.0 / b->mass, load(by_S + b->v)));
        X = cr_add(X, arm);
        turns = cr_madd(turns, sign, K);
        add(cr_neg(arm), before + b->v);
    }
    crVec3 psi = cr_add(cr_cross(c->P, Q), cr_cross(M, slip_of(op, c)));
    crVec3 N = cr__tape_by_moments(c, by_w);
    psi = cr_add(psi, cr_add(cr_cross(c->T, turns), cr_cross(N, turn_between(op, c, op->S))));
    cr__tape_contact_back(tape, op, index, h, X, psi, by_w, before);
}

void cr__tape_single_back(crTape* tape, const crTapeOp* op, const double* by, double* work, double* before,
                          double* by_force) {
    size_t n = (size_t)op->rows, nv = (size_t)tape->model->nv;
    double h = tape->times[op->end].t - tape->times[op->begin].t;
    double *by_S = work, *by_p = by_S + nv, *by_w = by_p + n;
    back_motion(tape, op, h, by, by_S, before);
    if (n > 0) {
        for (size_t i = 0; i < n; i++) {
            by_p[i] = 0.0;
            for (size_t j = 0; j < nv; j++) {
                // by_S of bodies outside the part is not set, and Y is zero there
                if (op->Y[i * nv + j] != 0.0) by_p[i] += op->Y[i * nv + j] * by_S[j];
            }
        }
        cr_modes_adjoint(&op->modes, by_p, NULL, by_w, NULL, NULL, NULL);
        // w is made of S
        for (int i = 0; i < op->contact_count; i++) {
            const crTapeContact* c = &op->contacts[i];
            crVec3 M = cr__tape_by_w(c, by_w), N = cr__tape_by_moments(c, by_w);
            for (int side = 0; side < 2; side++) {
                const crTapeBody* b = &op->bodies[side == 0 ? c->at.body_a : c->at.body_b];
                double sign = side == 0 ? -1.0 : 1.0;
                if (b->v < 0) continue;
                add(cr_scale(sign, M), by_S + b->v);
                crVec3 r = cr_sub(c->at.point.point, b->com);
                add(cr_scale(sign, cr_add(cr_cross(r, M), N)), by_S + b->v + 3);
            }
        }
    }
    for (int i = 0; i < op->contact_count; i++) {
        back_contact(tape, op, i, h, by_S, by_w, before);
    }
    for (int k = 0; k < op->part.count; k++) {
        const crTapeBody* b = &op->bodies[op->part.bodies[k]];
        crVec3 G = load(by_S + b->v + 3), K = cr_sym3_mul(b->inverse, G);
        add(load(by_S + b->v), before + nv + b->v);
        add(G, before + nv + b->v + 3);
        add(cr_sub(cr_cross(b->gain, G), cr_cross(b->L, K)), before + b->v + 3);
        add(cr_scale(h / b->mass, load(by_S + b->v)), by_force + b->v);
        add(cr_scale(h, K), by_force + b->v + 3);
    }
}
