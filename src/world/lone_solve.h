// lone_solve.h - the contact solve of a lone body: contacts.c, contact_solve.c and contact_islands.c for it.
#ifndef CAROM_WORLD_LONE_SOLVE_H
#define CAROM_WORLD_LONE_SOLVE_H

#include "world/lone_step.h"
// after it, which sets the width of lanes
#include "step/rest.h"

// as in warm.c, contact_islands.c
#define CR_LONE_HOLD   3.0
#define CR_LONE_NEAR   1e-4
#define CR_LONE_FALL   0.06
#define CR_LONE_SLOW   2.5e-3
#define CR_LONE_TOL    2e-7
#define CR_LONE_EARLY  100
#define CR_LONE_AGAIN  20
#define CR_LONE_LATE   2e-9
#define CR_LONE_SWEEPS 1000
#define CR_LONE_ROUNDS 6  // more are left to the stages

CR_FEW crVec3 cr__lone_velocity(const crLoneStep* x, const double* v, crVec3 point) {
    return cr__twist_at(cr__single_twist(v), cr_sub(point, x->start.body.origin));
}

// contacts within the margin; who carries the body
CR_FEW bool cr__lone_find(crLoneStep* x, bool ball) {
    const crLone* lone = x->lone;
    crContactPoint own, *points = ball ? &own : x->work.points;
    x->count = cr__lone_collide(x, ball, &x->start.pose, x->margin, points);
    x->airborne = true;
    if (x->count < 0 || x->count > (ball ? 1 : CR_LONE_CONTACTS)) return false;
    CR_LONE_EACH(i, x->count, ball) {
        crLoneSpot* c = &x->spot[ball ? 0 : i];
        const crContactPoint* p = &points[ball ? 0 : i];
        *c = (crLoneSpot){
            .at = {p->gap, p->normal, p->point, p->child_a, p->child_b, p->feature_a, p->feature_b}};
        c->speed = cr_dot(p->normal, cr__lone_velocity(x, x->v0, p->point));
        c->u_free = cr__lone_velocity(x, x->v_free, p->point);
        bool supports = !(c->at.gap > lone->delta || c->speed >= fmax(lone->threshold, 1e-12));
        if (supports) x->airborne = false;
        if (!(fabs(c->speed) < (double)INFINITY)) return false;
    }
    return true;
}

CR_FEW const crWarm* cr__lone_warm(const crLoneStep* x, const crLoneSpot* c) {
    for (int i = 0; i < x->s->warm_count; i++) {
        const crWarm* w = &x->s->warm[i];
        if (w->child_a == c->at.child_a && w->child_b == c->at.child_b && w->feature_a == c->at.feature_a &&
            w->feature_b == c->at.feature_b)
            return w;
    }
    return NULL;
}

// gap up to which a contact touches
CR_FEW double cr__lone_band(const crLoneStep* x, const crLoneSpot* c) {
    double gap = c->at.gap, delta = x->lone->delta, band = CR_LONE_HOLD * delta;
    if (gap <= delta) return delta;
    if (gap > band) {
        double fall = x->h * cr_norm(x->model->gravity);
        if (!(c->speed <= CR_LONE_SLOW * fall)) return delta;
        band = fmax(band, fmin(CR_LONE_NEAR * delta / x->lone->deadband, CR_LONE_FALL * x->h * fall));
        if (gap > band) return delta;
    }
    if (cr__lone_warm(x, c) != NULL) return band;
    return gap <= CR_LONE_HOLD * delta && x->s->warm_count > 0 ? CR_LONE_HOLD * delta : delta;
}

CR_FEW bool cr__lone_may_close(const crLoneStep* x, const crLoneSpot* c, crVec3 u) {
    if (x->airborne) return false;
    double speed = cr_norm(u) + fabs(c->speed) + x->h * cr_norm(x->model->gravity);
    return c->at.gap - x->lone->delta <= x->h * speed;
}

CR_FEW crVec3 cr__lone_fall(const crLoneStep* x) {
    const double* a = x->lone->fall;
    return x->airborne ? cr_vec3(0.0 + a[0], 0.0 + a[1], 0.0 + a[2]) : cr_vec3(0, 0, 0);
}

// contacts that may press at velocities u; how many are new
CR_FEW int cr__lone_choose(crLoneStep* x, bool ball, bool first) {
    int added = 0;
    CR_LONE_EACH(i, x->count, ball) {
        crLoneSpot* c = &x->spot[i];
        crVec3 u = first ? c->u_free : c->u;
        c->fresh = false;
        if (c->takes) continue;
        double flight = x->airborne ? 0.0 - 0.5 * x->h * cr_dot(cr__lone_fall(x), c->at.normal) : 0.0;
        double speed = cr_dot(u, c->at.normal) + fmin(0.0, flight);
        bool closes = c->at.gap - x->lone->delta + x->h * speed <= 0.0;
        bool touching = c->at.gap <= cr__lone_band(x, c);
        if (first && !closes) closes = cr__lone_may_close(x, c, u);
        c->fresh = touching || closes;
        added += c->fresh;
    }
    if (added == 0) return 0;
    x->airborne = false;
    CR_LONE_EACH(i, x->count, ball) {
        crLoneSpot* c = &x->spot[i];
        bool narrow = !c->takes && !c->fresh && cr__lone_may_close(x, c, first ? c->u_free : c->u);
        if (narrow) c->fresh = true;
        added += narrow;
        c->takes = c->takes || c->fresh;
    }
    return added;
}

// contacts that take part, with impulses of the last step, or of the last round where they were in it
CR_FEW int cr__lone_list(const crLoneStep* x, bool ball, bool again, crPackedContact* out) {
    int count = 0;
    CR_LONE_EACH(i, x->count, ball) {
        const crLoneSpot* c = &x->spot[i];
        if (!c->takes) continue;
        const crWarm* warm = cr__lone_warm(x, c);
        bool touches = c->at.gap <= cr__lone_band(x, c);
        double b = touches ? 0.0 : (c->at.gap - x->lone->delta) / x->h;
        crPackedContact* to = &out[ball ? 0 : count];
        count++;
        *to = (crPackedContact){.body_b = 1, .mu = x->lone->mu, .point = c->at.point, .normal = c->at.normal};
        to->E = cr_madd(cr_vec3(0, 0, 0), b, to->normal);
        if (warm != NULL) to->P = cr__in_cone(to, cr_scale(x->h, warm->force));
        if (again && !c->fresh) to->P = c->P;
    }
    return count;
}

// The solve of a step, round by round.
typedef struct crLoneSolve {
    crFew few;
    int round;
} crLoneSolve;

// a round of the contacts that take part; false: left to the stages
CR_FEW bool cr__lone_round(crLoneStep* x, bool ball, crLoneSolve* solve) {
    if (solve->round == (ball ? 1 : CR_LONE_ROUNDS)) return false;
    int count = x->taken = cr__lone_list(x, ball, solve->round > 0, x->contact);
    solve->few.ended = true;  // where there is nothing to sweep
    bool begun =
        count == 0 || (ball ? cr__few_begin(&solve->few, &x->start.body, true, 1, x->contact, x->v_free,
                                            CR_LONE_TOL, CR_LONE_SWEEPS, x->work.slot)
                            : cr__few_begin_apart(&solve->few, &x->start.body, count, x->contact, x->v_free,
                                                  CR_LONE_TOL, CR_LONE_SWEEPS, x->work.slot));
    solve->few.early = solve->round > 0 ? CR_LONE_AGAIN : CR_LONE_EARLY;
    solve->few.late = CR_LONE_LATE;
    solve->few.aim = x->about ? CR_REST_AIM * (x->h * cr_norm(x->model->gravity)) : 0.0;
    return begun;
}

// v after the sweeps of a round; how many contacts are new, negative: left to the stages
CR_FEW int cr__lone_look(crLoneStep* x, bool ball, crLoneSolve* solve) {
    double dv[6];
    bool solved = solve->few.ended || solve->few.change <= solve->few.tol * solve->few.tol;
    if (x->taken > 0 && !solved) return -1;
    if (x->taken > 0) cr__few_end(&solve->few);
    cr__few_velocity(&x->model->bodies[1], &x->start.body, ball, x->taken, x->contact, dv);
    for (int j = 0; j < 6; j++) {
        x->v[j] = x->v_free[j] + dv[j];
    }
    int k = 0;
    CR_LONE_EACH(i, x->count, ball) {
        crLoneSpot* c = &x->spot[i];
        c->P = c->takes ? x->contact[ball ? 0 : k++].P : cr_vec3(0, 0, 0);
        c->u = cr__lone_velocity(x, x->v, c->at.point);
    }
    solve->round++;
    return cr__lone_choose(x, ball, false);
}

#endif
