// test_step_audit.c - the audit of a contact solve, given velocities and impulses that no solver made.
//
// A ball on a plane: right answers by hand, and wrong ones of every kind the laws know, with what each must cost at
// least by closed form. Then random impulses on piles of balls, where this file computes closing speeds and momentum.
#include "judge_sample.h"
#include "step/audit.h"
#include "step_scene.h"

#define H      0.01
#define G      9.81
#define MU     0.5
#define MOST   16
#define ISLAND 0

// balls on a plane, looked at for a step of H
typedef struct Looked {
    Scene scene;
    int count;
    int body[MOST];
    double mass[MOST];
    crVec3 velocity[MOST];  // after the solve, as given
    crVec3 omega[MOST];
    bool takes[64];
    crVec3 u_free[64], u[64];
} Looked;

static void add_ball(Looked* l, crVec3 at, double mass, int material) {
    l->mass[l->count] = mass;
    l->body[l->count++] = scene_free(l->scene.model, cr_shape_sphere(0.1), at, mass, material);
}

static int begin(Looked* l) {
    memset(l, 0, sizeof *l);
    l->scene.model = cr_model_create(NULL);
    l->scene.model->gravity = cr_vec3(0, 0, -G);
    int material = scene_material(l->scene.model, MU, 0.0);
    scene_ground(l->scene.model, cr_vec3(0, 0, 1), material);
    return material;
}

// contacts at the present poses; velocities before the forces of the step
static void look(Looked* l, const crVec3* before) {
    crStepSettings settings = scene_settings(CR_METHOD_CONE);
    crStep* step = &l->scene.step;
    scene_open(&l->scene, &settings);
    for (int i = 0; i < l->count && before != NULL; i++) {
        double* v = step->state.v + l->scene.model->bodies[l->body[i]].v;
        v[0] = before[i].x;
        v[1] = before[i].y;
        v[2] = before[i].z;
    }
    CHECK_STATUS(cr_step_begin(step, NULL), CR_OK);
    CHECK_STATUS(cr_step_forces(step, H, NULL), CR_OK);
    CHECK_STATUS(cr_step_collide(step, 0.01, NULL), CR_OK);
    // what is carried does not fly
    for (int i = 0; i < l->scene.model->nb; i++) {
        step->airborne[i] = false;
    }
    CHECK(step->contacts.count <= 64);
    for (int i = 0; i < step->contacts.count; i++) {
        l->takes[i] = true;
    }
}

static int ball_of(const Looked* l, int body) {
    for (int i = 0; i < l->count; i++) {
        if (l->body[i] == body) return i;
    }
    return -1;
}

static crVec3 ball_velocity(const Looked* l, int body, const double* v, crVec3 point) {
    if (ball_of(l, body) < 0) return cr_vec3(0, 0, 0);
    const crBody* b = &l->scene.model->bodies[body];
    crVec3 linear = cr_vec3(v[b->v], v[b->v + 1], v[b->v + 2]),
           turning = cr_vec3(v[b->v + 3], v[b->v + 4], v[b->v + 5]);
    const double* q = l->scene.step.state.q + b->q;
    return cr_add(linear, cr_cross(turning, cr_sub(point, cr_vec3(q[0], q[1], q[2]))));
}

// v becomes what the impulses of the contacts give, in M v = M v_free + J^T P
static void obey(Looked* l) {
    crStep* step = &l->scene.step;
    memcpy(step->state.v, step->free.v, (size_t)l->scene.model->nv * sizeof(double));
    for (int k = 0; k < step->contacts.count; k++) {
        const crStepContact* c = &step->contacts.list[k];
        for (int side = 0; side < 2; side++) {
            int body = side == 0 ? c->body_a : c->body_b, i = ball_of(l, body);
            if (i < 0) continue;
            const crBody* b = &l->scene.model->bodies[body];
            const double* q = step->state.q + b->q;
            crVec3 P = cr_scale(side == 0 ? -1.0 : 1.0, c->impulse);
            // a full ball
            double inertia = 0.4 * l->mass[i] * 0.1 * 0.1;
            crVec3 T = cr_cross(cr_sub(c->point.point, cr_vec3(q[0], q[1], q[2])), P);
            double* v = step->state.v + b->v;
            v[0] += P.x / l->mass[i];
            v[1] += P.y / l->mass[i];
            v[2] += P.z / l->mass[i];
            v[3] += T.x / inertia;
            v[4] += T.y / inertia;
            v[5] += T.z / inertia;
        }
    }
}

static const crCertificate* audit(Looked* l) {
    crStep* step = &l->scene.step;
    int islands[MOST + 2];
    for (int i = 0; i < l->scene.model->nb; i++) {
        islands[i] = ball_of(l, i) >= 0 ? ISLAND : -1;
    }
    for (int k = 0; k < step->contacts.count; k++) {
        const crStepContact* c = &step->contacts.list[k];
        crVec3 x = c->point.point;
        l->u_free[k] = cr_sub(ball_velocity(l, c->body_b, step->free.v, x),
                              ball_velocity(l, c->body_a, step->free.v, x));
        l->u[k] = cr_sub(ball_velocity(l, c->body_b, step->state.v, x),
                         ball_velocity(l, c->body_a, step->state.v, x));
    }
    step->certificate = (crCertificate){.outcome = CR_OUTCOME_SOLVED};
    CHECK_STATUS(cr__audit_contacts(step, H, l->takes, NULL, l->u_free, l->u, islands, 1), CR_OK);
    return &step->certificate;
}

// one ball that lies on the plane, or slides there along x at `slide`; P: impulse on it; v follows from it
static const crCertificate* one_ball(Looked* l, double mass, double slide, crVec3 P) {
    int material = begin(l);
    add_ball(l, cr_vec3(0, 0, 0.1), mass, material);
    look(l, &(crVec3){slide, 0, 0});
    crStep* step = &l->scene.step;
    if (!CHECK(step->contacts.count == 1)) return &step->certificate;
    bool on_b = step->contacts.list[0].body_b == l->body[0];
    step->contacts.list[0].impulse = cr_scale(on_b ? 1.0 : -1.0, P);
    obey(l);
    return audit(l);
}

static bool good(const crCertificate* c) {
    return c->outcome == CR_OUTCOME_SOLVED && c->residual <= 1e-12 && c->eta <= 1e-14;
}

// what is wrong by at least so many m/s must not cost less
static bool bad(const crCertificate* c, double least) {
    return c->outcome != CR_OUTCOME_SOLVED && c->outcome != CR_OUTCOME_UNSURE &&
           c->eta >= least * (1.0 - 1e-9);
}

TEST(right_answers) {
    static const double masses[] = {1e-9, 1.0, 1e9};
    for (int k = 0; k < 3; k++) {
        double m = masses[k], push = m * G * H;
        Looked l;
        // at rest
        CHECK(good(one_ball(&l, m, 0.0, cr_vec3(0, 0, push))));
        CHECK(l.scene.step.certificate.momentum <= 1e-16);
        scene_close(&l.scene);
        // sliding all through the step: friction against it at its limit
        CHECK(good(one_ball(&l, m, 3.0, cr_vec3(-MU * push, 0, push))));
        scene_close(&l.scene);
        // stopped at the point of contact: sticking by an impulse inside the cone, P (1/m + r^2/I) = u, I = 2/5 m r^2
        double slow = 0.5 * 3.5 * MU * push / m;
        CHECK(good(one_ball(&l, m, slow, cr_vec3(-m * slow / 3.5, 0, push))));
        scene_close(&l.scene);
    }
}

TEST(wrong_answers) {
    static const double masses[] = {1e-9, 1.0, 1e9};
    for (int k = 0; k < 3; k++) {
        double m = masses[k], push = m * G * H;
        Looked l;
        // no impulse: it falls into the plane
        CHECK(bad(one_ball(&l, m, 0.0, cr_vec3(0, 0, 0)), G * H));
        CHECK_NEAR(l.scene.step.certificate.approach, G * H, 1e-15);
        scene_close(&l.scene);
        // half of what is needed, and twice: it goes on closing, or leaves beside its impulse
        CHECK(bad(one_ball(&l, m, 0.0, cr_vec3(0, 0, 0.5 * push)), 0.5 * G * H));
        scene_close(&l.scene);
        CHECK(bad(one_ball(&l, m, 0.0, cr_vec3(0, 0, 2.0 * push)), G * H));
        scene_close(&l.scene);
        // held down while it rises: tension
        CHECK(bad(one_ball(&l, m, 0.0, cr_vec3(0, 0, -push)), G * H));
        scene_close(&l.scene);
        // sliding: no friction, friction that drives, friction across the slip
        CHECK(bad(one_ball(&l, m, 3.0, cr_vec3(0, 0, push)), MU * G * H));
        scene_close(&l.scene);
        CHECK(bad(one_ball(&l, m, 3.0, cr_vec3(MU * push, 0, push)), MU * G * H));
        scene_close(&l.scene);
        CHECK(bad(one_ball(&l, m, 3.0, cr_vec3(0, MU * push, push)), MU * G * H));
        scene_close(&l.scene);
        // more than the cone allows, though the point of contact comes to rest by it
        double fast = 2.0 * 3.5 * MU * push / m;
        CHECK(bad(one_ball(&l, m, fast, cr_vec3(-m * fast / 3.5, 0, push)), MU * G * H));
        CHECK_NEAR(l.scene.step.certificate.cone, MU * push, 1e-12 * push);
        scene_close(&l.scene);
    }
}

// the laws hold at v, but v is not what the impulses give
TEST(velocities_of_other_impulses) {
    Looked l;
    one_ball(&l, 1.0, 0.0, cr_vec3(0, 0, 0));
    memset(l.scene.step.state.v, 0, (size_t)l.scene.model->nv * sizeof(double));
    const crCertificate* c = audit(&l);
    CHECK(bad(c, G * H));
    CHECK_NEAR(c->momentum, G * H, 1e-15);
    // spin that nothing gave: its speed at the surface
    l.scene.step.contacts.list[0].impulse =
        cr_scale(l.scene.step.contacts.list[0].body_b == l.body[0] ? 1.0 : -1.0, cr_vec3(0, 0, G * H));
    obey(&l);
    l.scene.step.state.v[l.scene.model->bodies[l.body[0]].v + 5] += 1e-3;
    c = audit(&l);
    CHECK(bad(c, 1e-4));
    CHECK_NEAR(c->momentum, 1e-4, 1e-12);
    scene_close(&l.scene);
}

// a gap that the solve has let give is exact as far as it says so and no farther than is near, and the distance holds it
TEST(gaps_that_give) {
    Looked l;
    one_ball(&l, 1.0, 0.0, cr_vec3(0, 0, G * H));
    crStepContact* contact = &l.scene.step.contacts.list[0];
    double near = l.scene.step.settings.shift * contact->delta / l.scene.step.settings.deadband;
    for (int k = -3; k <= 3; k++) {
        double sink = 0.4 * near * k;
        // one that rises by -sink in the step; what is told is right, opposite, or nothing
        l.scene.step.state.v[l.scene.model->bodies[l.body[0]].v + 2] = 0.0;
        contact->impulse =
            cr_scale(contact->body_b == l.body[0] ? 1.0 : -1.0, cr_vec3(0, 0, G * H - sink / H));
        obey(&l);
        contact->given = sink;
        crCertificate right = *audit(&l);
        contact->given = 0.0;
        crCertificate none = *audit(&l);
        bool allowed = fabs(sink) <= near;
        CHECK((right.outcome == CR_OUTCOME_SOLVED) == allowed);
        CHECK(right.distance >= (allowed ? fabs(sink) : near) * (1.0 - 1e-9));
        CHECK_NEAR(none.eta, fabs(sink) / H, 1e-12);
        CHECK(allowed || right.eta >= (fabs(sink) - near) / H * (1.0 - 1e-9));
        CHECK_NEAR(right.approach, none.approach, 1e-15);
    }
    scene_close(&l.scene);
}

// contacts that take no part in the solve must not close either
TEST(contacts_left_out) {
    Looked l;
    one_ball(&l, 1.0, 0.0, cr_vec3(0, 0, 0));
    l.takes[0] = false;
    const crCertificate* c = audit(&l);
    CHECK(c->outcome != CR_OUTCOME_SOLVED && c->eta >= G * H * (1.0 - 1e-9));
    scene_close(&l.scene);
}

// the worst of what a step solved counts, in whatever order
TEST(worst_outcome) {
    static const crOutcome ranks[] = {CR_OUTCOME_SOLVED, CR_OUTCOME_NEAR, CR_OUTCOME_BOUNDED,
                                      CR_OUTCOME_UNSURE, CR_OUTCOME_LIMIT};
    crStep step = {0};
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 5; k++) {
            step.certificate.outcome = CR_OUTCOME_SOLVED;
            cr__audit_outcome(&step.certificate, ranks[i]);
            cr__audit_outcome(&step.certificate, ranks[k]);
            CHECK(step.certificate.outcome == ranks[i > k ? i : k]);
        }
    }
}

// Three balls in a row, the last a little apart: the solve of the first two overlaps the third, which takes part in the
// next round. Only that one is a solve of the step.
TEST(rounds_of_a_named_solver) {
    for (int named = 0; named < 2; named++) {
        Scene scene = {cr_model_create(NULL), {0}};
        crStepSettings settings = scene_settings(CR_METHOD_CONE);
        scene.model->gravity = cr_vec3(0, 0, 0);
        int material = scene_material(scene.model, 0.0, 0.0), body[3];
        static const double at[3] = {0.0, 0.2, 0.401};
        for (int i = 0; i < 3; i++) {
            body[i] = scene_free(scene.model, cr_shape_sphere(0.1), cr_vec3(at[i], 0, 0), 1.0, material);
        }
        CHECK_STATUS(cr_solver_find(named == 1 ? "newton" : "auto", NULL, &settings.solver, NULL), CR_OK);
        scene_open(&scene, &settings);
        scene.step.state.v[scene.model->bodies[body[0]].v] = 1.0;
        scene_step(&scene, H);
        CHECK(scene.step.certificate.solves == 1 && scene.step.certificate.outcome == CR_OUTCOME_SOLVED);
        for (int i = 0; i < 3; i++) {
            // the third is met after .001 of .005 m: all three end as one, less what the gap took
            double v = scene.step.state.v[scene.model->bodies[body[i]].v];
            CHECK(v > 0.0 && v < 0.6);
        }
        double sum = 0.0;
        for (int i = 0; i < 3; i++) {
            sum += scene.step.state.v[scene.model->bodies[body[i]].v];
        }
        CHECK_NEAR(sum, 1.0, 1e-12);
        scene_close(&scene);
    }
}

// random impulses on piles

static void make_pile(Looked* l, crRandom* r) {
    int material = begin(l);
    for (int i = 0; i < 8; i++) {
        double shift = 1e-7 * sample_uniform(r, -1.0, 1.0);
        crVec3 at = cr_vec3(0.2 * (i % 2) + shift, 0.2 * (i / 2 % 2) - shift, 0.1 + 0.2 * (i / 4));
        add_ball(l, at, sample_log(r, 0.1, 10.0), material);
    }
    crVec3 before[MOST];
    for (int i = 0; i < l->count; i++) {
        before[i] = cr_scale(
            0.1, cr_vec3(sample_uniform(r, -1, 1), sample_uniform(r, -1, 1), sample_uniform(r, -1, 1)));
    }
    look(l, before);
}

// impulses of which some are none, some pull, some rub too much; v of them, now and then of others
static void push_at_random(Looked* l, crRandom* r, double* wrong) {
    crStep* step = &l->scene.step;
    for (int k = 0; k < step->contacts.count; k++) {
        crStepContact* c = &step->contacts.list[k];
        double size =
            made_chance(r, 0.3) ? 0.0 : sample_log(r, 1e-3, 1.0) * (made_chance(r, 0.1) ? -1.0 : 1.0);
        crVec3 t = cr_cross(c->point.normal, cr_vec3(0.6, -0.3, 0.7));
        c->impulse = cr_madd(cr_scale(size, c->point.normal), size * sample_uniform(r, 0.0, 1.5), t);
    }
    obey(l);
    *wrong = 0.0;
    if (made_chance(r, 0.5)) return;
    *wrong = sample_log(r, 1e-6, 1.0);
    step->state.v[l->scene.model->bodies[l->body[made_below(r, l->count)]].v + made_below(r, 3)] += *wrong;
}

TEST(random_impulses) {
    crRandom r = sample_seed(7401);
    int solved = 0;
    for (int i = 0; i < test_samples(12000); i++) {
        Looked l;
        double wrong;
        make_pile(&l, &r);
        push_at_random(&l, &r, &wrong);
        const crCertificate* c = audit(&l);
        double closing = 0.0;
        for (int k = 0; k < l.scene.step.contacts.count; k++) {
            const crStepContact* contact = &l.scene.step.contacts.list[k];
            double gap = contact->point.gap, bias = gap > contact->delta ? (gap - contact->delta) / H : 0.0;
            closing = fmax(closing, -(cr_dot(l.u[k], contact->point.normal) + bias));
        }
        CHECK(closing <= c->eta + c->floor + 1e-14);
        CHECK(closing <= c->approach + 1e-14);
        solved += c->outcome == CR_OUTCOME_SOLVED;
        scene_close(&l.scene);
    }
    CHECK(solved == 0);
}
