// balance.h - what a step did to momentum, against what it recorded: contacts with their impulses, events, forces of
// joints and loops. Nothing is taken from rows, problems or solvers.
//
//     scheme    M (v+ - v_free) - J^T p = 0       for methods that make one solve; J from velocities of points,
//                                                 v_free = v + h M^-1 k where the method takes k
//     bodies    m (v+ - v) - h m g - sum P = 0    for single free bodies under any method, impacts included
//
// A single free body turns with its angular momentum: v+ of the solve is had from what the step ended with by I(q) omega.
#ifndef CAROM_TEST_BALANCE_H
#define CAROM_TEST_BALANCE_H

#include "model/spatial.h"
#include "test.h"

// where a method takes M and J, where it takes k, and where slip and friction act
typedef struct Scheme {
    double contacts_at, forces_at;  // q + this share of h v
    bool keeps_momentum;            // that place is reached with the angular momentum kept, not omega
    bool witness;                   // friction acts on each body's own surface point, not on the point midway
} Scheme;

static inline Scheme balance_scheme(const crStepSettings* s) {
    if (s->method == CR_METHOD_LCP) return (Scheme){1.0, 1.0, true, true};
    if (s->method == CR_METHOD_MOREAU) return (Scheme){s->activation, 0.0, false, true};
    return (Scheme){0.0, 0.0, false, false};
}

typedef struct Balance {
    const crModel* model;
    crArena arena;
    crState before, at;
    crDynamics d;
    double *k, *p, *dv, *defect, *unit;
} Balance;

static inline void balance_open(Balance* b, const crModel* model) {
    *b = (Balance){.model = model};
    CHECK_STATUS(cr_arena_create(&b->arena, NULL, 1 << 16), CR_OK);
    CHECK_STATUS(cr_state_create(model, &b->arena, &b->before), CR_OK);
    CHECK_STATUS(cr_state_create(model, &b->arena, &b->at), CR_OK);
    CHECK_STATUS(cr_dynamics_create(model, &b->arena, &b->d), CR_OK);
    double** arrays[5] = {&b->k, &b->p, &b->dv, &b->defect, &b->unit};
    for (int i = 0; i < 5; i++) {
        *arrays[i] = cr_arena_alloc(&b->arena, (size_t)(model->nv + 1) * sizeof(double));
        memset(*arrays[i], 0, (size_t)(model->nv + 1) * sizeof(double));
    }
}

static inline void balance_close(Balance* b) { cr_arena_destroy(&b->arena); }

static inline void balance_copy(const crModel* model, const crState* from, crState* to) {
    to->time = from->time;
    memcpy(to->q, from->q, (size_t)model->nq * sizeof(double));
    memcpy(to->v, from->v, (size_t)model->nv * sizeof(double));
    memcpy(to->force, from->force, (size_t)model->nv * sizeof(double));
    memcpy(to->motor_speed, from->motor_speed, (size_t)model->nv * sizeof(double));
}

// before the step
static inline void balance_begin(Balance* b, const crState* state) {
    balance_copy(b->model, state, &b->before);
}

static inline void balance_go(Balance* b, double share, double h, bool keeps_momentum) {
    balance_copy(b->model, &b->before, &b->at);
    if (keeps_momentum)
        cr_model_integrate(b->model, share * h, &b->at);
    else
        cr__advance(b->model, share * h, b->before.v, b->at.q);
    memcpy(b->at.v, b->before.v, (size_t)b->model->nv * sizeof(double));
    b->at.time = b->before.time + share * h;
    cr_model_kinematics(b->model, &b->at, &b->d);
    CHECK_STATUS(cr_model_mass_factor(b->model, 0.0, &b->d), CR_OK);
}

static inline crVec3 balance_spin(const crModel* model, const crState* s, int body) {
    const double* q = s->q + model->bodies[body].q + 3;
    const double* w = s->v + model->bodies[body].v + 3;
    crQuat turn = {q[0], q[1], q[2], q[3]};
    crVec3 local = cr_quat_rotate(cr_quat_conj(turn), cr_vec3(w[0], w[1], w[2]));
    return cr_quat_rotate(turn, cr_sym3_mul(model->bodies[body].inertia, local));
}

// dv = v+ - v of the solve
static inline void balance_change(Balance* b, const crState* after) {
    const crModel* model = b->model;
    for (int j = 0; j < model->nv; j++) {
        b->dv[j] = after->v[j] - b->before.v[j];
    }
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (!body->single) continue;
        const double* q = b->before.q + body->q + 3;
        crQuat turn = {q[0], q[1], q[2], q[3]};
        crVec3 L = cr_quat_rotate(cr_quat_conj(turn), balance_spin(model, after, i)), w;
        CHECK(cr_sym3_solve(body->inertia, L, &w));
        w = cr_quat_rotate(turn, w);
        const double* was = b->before.v + body->v + 3;
        b->dv[body->v + 3] = w.x - was[0];
        b->dv[body->v + 4] = w.y - was[1];
        b->dv[body->v + 5] = w.z - was[2];
    }
}

// p += J^T P of one contact, one velocity after another
static inline void balance_contact(Balance* b, const crStepContact* c, bool witness) {
    const crStepPoint* x = &c->point;
    double half = witness ? 0.5 * x->gap : 0.0;
    crVec3 on_a = cr_madd(x->point, -half, x->normal), on_b = cr_madd(x->point, half, x->normal);
    for (int j = 0; j < b->model->nv; j++) {
        b->unit[j] = 1.0;
        cr_model_velocity(b->model, b->unit, &b->d);
        b->unit[j] = 0.0;
        crVec3 u = cr_sub(cr_model_point_velocity(&b->d, c->body_b, on_b),
                          cr_model_point_velocity(&b->d, c->body_a, on_a));
        b->p[j] += cr_dot(u, c->impulse);
    }
}

// p += impulses of loops, limits, motors and dry friction of hinges and sliders, as step->ties.force has them: six
// places a loop, then four a velocity of the bodies that have any
static inline void balance_ties(Balance* b, const crStep* step, double h) {
    const crModel* model = b->model;
    int rows, entries, at = 6 * model->loop_count;
    cr_model_loop_sizes(model, &rows, &entries);
    for (int i = 0; i < model->loop_count; i++) {
        crRows J;
        double P[6];
        CHECK_STATUS(cr_rows_create(&b->arena, rows, entries, &J), CR_OK);
        cr_rows_add_loop(model, &b->d, i, &J);
        for (int k = 0; k < J.count; k++) {
            P[k] = h * step->ties.force[6 * i + k];
        }
        cr_rows_add_impulse(&J, P, b->p);
    }
    for (int i = 0; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        bool any = false;
        for (int j = body->v; j < body->v + body->nv; j++) {
            const crDof* dof = cr_model_dof(model, j);
            any = any || dof->lower > -INFINITY || dof->upper < INFINITY || dof->motor_force > 0.0 ||
                  dof->friction > 0.0;
        }
        for (int j = body->v; any && j < body->v + body->nv; j++, at += 4) {
            const double* f = step->ties.force + at;
            b->p[j] += h * (f[0] - f[1] + f[2] + f[3]);
        }
    }
    CHECK(at == step->ties.count);
}

// largest entry of M (v+ - v_free) - J^T p over the largest of its terms
static inline double balance_scheme_defect(Balance* b, const crStep* step, double h) {
    const crModel* model = b->model;
    Scheme scheme = balance_scheme(&step->settings);
    size_t mark = cr_arena_mark(&b->arena);
    balance_change(b, &step->state);
    balance_go(b, scheme.forces_at, h, scheme.keeps_momentum);
    cr_model_forces(model, &b->at, &b->d, b->k);
    memcpy(b->unit, b->k, (size_t)model->nv * sizeof(double));
    cr_model_mass_solve(model, &b->d, b->unit);
    for (int j = 0; j < model->nv; j++) {
        b->dv[j] -= h * b->unit[j];
        b->unit[j] = 0.0;
    }
    balance_go(b, scheme.contacts_at, h, scheme.keeps_momentum);
    memset(b->p, 0, (size_t)model->nv * sizeof(double));
    for (int i = 0; i < cr_step_shown(step); i++) {
        balance_contact(b, cr_step_shown_at(step, i), scheme.witness);
    }
    balance_ties(b, step, h);
    cr_model_mass_mul(model, &b->d, b->dv, b->defect);
    double worst = 0.0, size = 0.0;
    for (int j = 0; j < model->nv; j++) {
        size = fmax(size, fmax(fabs(b->defect[j]), fmax(fabs(h * b->k[j]), fabs(b->p[j]))));
        worst = fmax(worst, fabs(b->defect[j] - b->p[j]));
    }
    cr_arena_release(&b->arena, mark);
    return worst / fmax(size, 1e-300);
}

// largest |m (v+ - v) - h m g - sum P| of single free bodies, and of balls without an impact |I (w+ - w) - sum arm x P|,
// over the sum of impulses and weights. Impulses: of the contacts, and of the events that are impacts
static inline double balance_bodies_defect(const Balance* b, const crStep* step, double h) {
    const crModel* model = b->model;
    double worst = 0.0, size = 0.0;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (!body->single) continue;
        const crShape* ball = NULL;
        for (int s = 0; s < model->shape_count; s++) {
            if (model->shapes[s].body == i) ball = &model->shapes[s].shape;
        }
        bool round = ball != NULL && ball->kind == CR_SHAPE_SPHERE;
        crVec3 v = cr__load_vec(step->state.v + body->v), was = cr__load_vec(b->before.v + body->v);
        size += h * body->mass * fabs(body->gravity_scale) * cr_norm(model->gravity);
        crVec3 left = cr_scale(body->mass, cr_sub(v, cr_madd(was, h * body->gravity_scale, model->gravity)));
        crVec3 turn = cr_sub(balance_spin(model, &step->state, i), balance_spin(model, &b->before, i));
        for (int k = 0; k < cr_step_shown(step) + step->events.count; k++) {
            const crEvent* e = k < cr_step_shown(step) ? NULL : &step->events.list[k - cr_step_shown(step)];
            const crStepContact* c = e != NULL ? NULL : cr_step_shown_at(step, k);
            if (e != NULL && e->impact < 0) continue;
            double sign = (e ? e->body_b : c->body_b) == i   ? 1.0
                          : (e ? e->body_a : c->body_a) == i ? -1.0
                                                             : 0.0;
            crVec3 P = cr_scale(sign, e ? e->impulse : c->impulse), n = e ? e->normal : c->point.normal;
            left = cr_sub(left, P);
            // events do not say how far from the surface they act
            if (e != NULL && sign != 0.0) round = false;
            double arm = ball != NULL ? ball->size.x : 0.0;
            if (c != NULL && !balance_scheme(&step->settings).witness) arm += 0.5 * c->point.gap;
            if (round) turn = cr_sub(turn, cr_cross(cr_scale(-sign * arm, n), P));
            size += cr_norm(P);
        }
        worst = fmax(worst, cr_norm(left));
        if (round) worst = fmax(worst, cr_norm(turn) / ball->size.x);
    }
    return size > 0.0 ? worst / size : 0.0;
}

#endif
