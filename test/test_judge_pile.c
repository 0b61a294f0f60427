// test_judge_pile.c - the contact solve of a step against impulses and velocities, ball by ball.
//
// Piles of balls by the cone method. From the states before and after a step and the impulses of its contacts this
// file computes what is left of closing speeds, what of the change of momentum impulses do not explain, and how
// deep balls overlap. No claim of the certificate may be better than that.
#include "judge_count.h"
#include "judge_sample.h"
#include "world_scene.h"

#include <stdlib.h>

// what was recorded of a ball
typedef struct Record {
    crVec3 x, v, omega;
} Record;

#define BALLS 12

typedef struct Pile {
    crModel* model;
    crWorld* world;
    crStepSettings settings;
    int body[BALLS];
    double radius[BALLS], mass[BALLS];
} Pile;

static void make_pile(Pile* s, crRandom* r, crQuality quality, double tol) {
    memset(s, 0, sizeof *s);
    s->settings = cr_step_settings();
    s->settings.quality = quality;
    s->settings.tol = tol;
    s->settings.measure = 0;
    s->model = cr_model_create(NULL);
    int material = scene_material(s->model, sample_uniform(r, 0.1, 0.8), 0.0);
    scene_ground(s->model, cr_vec3(0, 0, 1), material);
    for (int i = 0; i < BALLS; i++) {
        s->radius[i] = 0.1;
        s->mass[i] = sample_log(r, 0.3, 3.0);
        double shift = 0.02 * sample_uniform(r, -1.0, 1.0);
        crVec3 at = cr_vec3(0.21 * (i % 2) + shift, 0.21 * (i / 2 % 2) - shift, 0.1 + 0.205 * (i / 4));
        s->body[i] = scene_free(s->model, cr_shape_sphere(0.1), at, s->mass[i], material);
    }
    s->world = scene_world(s->model, &s->settings);
}

static void record_pile(const Pile* s, Record* at) {
    const crState* state = cr_world_state(s->world);
    for (int i = 0; i < BALLS; i++) {
        const crBody* body = &s->model->bodies[s->body[i]];
        const double *q = state->q + body->q, *v = state->v + body->v;
        at[i] = (Record){.x = cr_vec3(q[0], q[1], q[2]), .v = cr_vec3(v[0], v[1], v[2])};
        at[i].omega = cr_vec3(v[3], v[4], v[5]);
    }
}

static crVec3 velocity_at(const Record* ball, crVec3 v, crVec3 point) {
    return cr_add(v, cr_cross(ball->omega, cr_sub(point, ball->x)));
}

static double overlap_of(const Pile* s, const Record* at) {
    double deepest = 0.0;
    for (int i = 0; i < BALLS; i++) {
        deepest = fmax(deepest, s->radius[i] - at[i].x.z);
        for (int j = 0; j < i; j++) {
            deepest = fmax(deepest, s->radius[i] + s->radius[j] - cr_norm(cr_sub(at[i].x, at[j].x)));
        }
    }
    return deepest;
}

typedef struct Sums {
    int steps, solved, contacts;
    double closing, share, momentum, overlap;
} Sums;

// figures of one step; false where it had no single solve over all of it
static bool look_at_pile(const Pile* s, const Record* a, const Record* b, double* closing, double* needed,
                         double* momentum) {
    const crStep* step = cr_world_stages(s->world);
    const crCertificate* c = cr_world_certificate(s->world);
    crVec3 fall = cr_scale(s->settings.dt, s->model->gravity), pushed[BALLS];
    if (c->impacts > 0 || c->solves != 1 || step->contacts.count == 0) return false;
    *closing = *needed = *momentum = 0.0;
    for (int i = 0; i < BALLS; i++) {
        pushed[i] = cr_scale(s->mass[i], fall);
    }
    for (int k = 0; k < step->contacts.count; k++) {
        const crStepContact* touch = &step->contacts.list[k];
        crVec3 before = cr_vec3(0, 0, 0), after = before, n = touch->point.normal, point = touch->point.point;
        for (int i = 0; i < BALLS; i++) {
            double sign = s->body[i] == touch->body_b ? 1.0 : s->body[i] == touch->body_a ? -1.0 : 0.0;
            if (sign == 0.0) continue;
            if (fabs(cr_norm(cr_sub(point, a[i].x)) - s->radius[i] - 0.5 * touch->point.gap) > 1e-9)
                return false;
            before = cr_madd(before, sign, velocity_at(&a[i], cr_add(a[i].v, fall), point));
            Record turned = a[i];
            turned.omega = b[i].omega;
            after = cr_madd(after, sign, velocity_at(&turned, b[i].v, point));
            pushed[i] = cr_madd(pushed[i], sign, touch->impulse);
        }
        double gap = touch->point.gap,
               bias = gap > touch->delta ? (gap - touch->delta) / s->settings.dt : 0.0;
        *closing = fmax(*closing, -(cr_dot(after, n) + bias));
        *needed = fmax(*needed, cr_norm(before) + touch->delta / s->settings.dt);
    }
    for (int i = 0; i < BALLS; i++) {
        crVec3 gained = cr_sub(b[i].v, a[i].v);
        *momentum = fmax(*momentum, cr_norm(cr_madd(gained, -1.0 / s->mass[i], pushed[i])));
    }
    return true;
}

static void run_pile(crRandom* r, crQuality quality, double tol, Sums* sums) {
    Pile s;
    Record before[BALLS], after[BALLS];
    make_pile(&s, r, quality, tol);
    for (int k = 0; k < 60; k++) {
        double closing, needed, momentum;
        record_pile(&s, before);
        if (!CHECK_STATUS(cr_world_step(s.world, NULL), CR_OK)) break;
        record_pile(&s, after);
        const crCertificate* c = cr_world_certificate(s.world);
        sums->steps++;
        sums->solved += c->outcome == CR_OUTCOME_SOLVED;
        double overlap = overlap_of(&s, after);
        sums->overlap = fmax(sums->overlap, overlap);
        test_check(overlap <= c->penetration + 1e-15, __FILE__, __LINE__, "%s: overlap %g m, claimed %g",
                   cr_quality_name(quality), overlap, c->penetration);
        if (!look_at_pile(&s, before, after, &closing, &needed, &momentum)) continue;
        sums->contacts += cr_world_stages(s.world)->contacts.count;
        sums->closing = fmax(sums->closing, closing);
        sums->share = fmax(sums->share, closing / needed);
        sums->momentum = fmax(sums->momentum, momentum);
        double rounding = 1e-13 * needed;
        test_check(closing <= c->eta + c->floor + rounding, __FILE__, __LINE__,
                   "%s: closing speed %g, claimed %g", cr_quality_name(quality), closing, c->eta);
        test_check(momentum <= c->momentum + rounding, __FILE__, __LINE__,
                   "%s: momentum off by %g m/s, claimed %g", cr_quality_name(quality), momentum, c->momentum);
        // the largest velocity that must change bounds every scale from above
        bool unsolved = closing > cr_step_tol(&s.settings) * needed + rounding;
        test_check(!(unsolved && c->outcome == CR_OUTCOME_SOLVED), __FILE__, __LINE__,
                   "%s: solved, but closing at %g m/s of %g", cr_quality_name(quality), closing, needed);
    }
    cr_world_destroy(s.world);
    cr_model_destroy(s.model);
}

TEST(piles_of_balls) {
    crRandom r = sample_seed(judge_seed(7301));
    Sums fast = {0}, hard = {0}, accurate = {0};
    for (int i = 0; i < judge_count(8, 1000); i++) {
        run_pile(&r, CR_QUALITY_FAST, 0.0, &fast);
        run_pile(&r, CR_QUALITY_FAST, 1e-14, &hard);
        run_pile(&r, CR_QUALITY_ACCURATE, 0.0, &accurate);
    }
    const Sums* all[3] = {&fast, &hard, &accurate};
    for (int k = 0; k < 3; k++) {
        printf("  %d of %d steps solved, %d contacts looked at: closing %.1g m/s, %.1g of needed, momentum "
               "%.1g m/s\n",
               all[k]->solved, all[k]->steps, all[k]->contacts, all[k]->closing, all[k]->share,
               all[k]->momentum);
    }
    // the test looks at something, and default qualities solve what they are given
    CHECK(fast.contacts > 0 && fast.closing > 1e-10 && fast.overlap > 1e-12);
    CHECK(10 * accurate.solved >= 9 * accurate.steps);
}
