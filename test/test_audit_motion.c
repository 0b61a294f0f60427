// test_audit_motion.c - the audit of motions against motions written down by hand: parabolas, bounces in the air, balls
// sunk by a known depth, bullets through walls, tops, pairs that push each other in flight.
#include <string.h>

#include "world_scene.h"

#define MOST 200
#define G    9.81

typedef struct Motion {
    crModel* model;
    int count;
    double time[MOST];
    double q[MOST * 14], v[MOST * 12];
    crMotionData data;
    crMotionStep steps[MOST];
    crMotionReport report;
} Motion;

static Motion motion_of(crModel* model) { return (Motion){.model = model}; }

// a record of all bodies; each has a position, a velocity and the given rotation
static void add(Motion* m, double time, const crVec3* at, const crVec3* v, const crQuat* turn,
                const crVec3* omega) {
    m->time[m->count] = time;
    for (int i = 0; i + 1 < m->model->nb; i++) {
        double* q = m->q + m->count * m->model->nq + 7 * i;
        double* u = m->v + m->count * m->model->nv + 6 * i;
        crQuat r = turn != NULL ? turn[i] : cr_quat_identity();
        crVec3 w = omega != NULL ? omega[i] : cr_vec3(0, 0, 0);
        const double x[7] = {at[i].x, at[i].y, at[i].z, r.w, r.x, r.y, r.z};
        const double y[6] = {v[i].x, v[i].y, v[i].z, w.x, w.y, w.z};
        memcpy(q, x, sizeof x);
        memcpy(u, y, sizeof y);
    }
    m->count++;
}

static crStatus judge(Motion* m, bool velocities, crError* error) {
    crMotionLimits limits = cr_motion_limits();
    crMotionDigits digits = m->data.digits;
    m->data = (crMotionData){.count = (size_t)m->count, .time = m->time, .q = m->q, .digits = digits};
    if (velocities) m->data.v = m->v;
    return cr_audit_motion(m->model, &m->data, &limits, NULL, m->steps, &m->report, error);
}

static crModel* one_ball(double mass) {
    crModel* model = cr_model_create(NULL);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0), mass, 0);
    return model;
}

// a parabola from z = 10 at speed up; at the record `kink` its speed becomes `after`
static void parabola(Motion* m, double h, int count, double up, int kink, double after) {
    double z = 10.0, vz = up;
    for (int i = 0; i < count; i++) {
        if (i == kink) vz = after;
        crVec3 at = cr_vec3(2.0 * i * h, 0, z), v = cr_vec3(2.0, 0, vz);
        add(m, i * h, &at, &v, NULL, NULL);
        z += h * vz - 0.5 * G * h * h;
        vz -= G * h;
    }
}

TEST(a_parabola_flies_and_gains_nothing) {
    for (int known = 0; known < 2; known++) {
        Motion m = motion_of(one_ball(2.0));
        parabola(&m, 0.01, 100, 4.0, -1, 0.0);
        CHECK_STATUS(judge(&m, known == 1, NULL), CR_OK);
        const crMotionReport* r = &m.report;
        printf("  velocities %d: momentum %.1e +- %.1e, gain %.1e to %.1e\n", known, r->momentum.value,
               r->momentum.floor, r->gain_least, r->gain_most);
        CHECK(r->velocities == (known == 1));
        CHECK(r->momentum.value <= r->momentum.floor);
        CHECK(r->gain == 0.0 && r->gain_least == 0.0);
        CHECK(r->flights == (known == 1 ? 99 : 98) && r->jumps == 0 && r->energy_unknown == 0);
        CHECK(cr_motion_holds(r) == CR_TRUTH_YES);
        double start = 0.5 * 2.0 * (4.0 * 4.0 + 2.0 * 2.0) + 2.0 * G * 10.0;
        CHECK_NEAR(r->energy_start, start, 1e-9);
        CHECK_NEAR(r->energy_end, start, 1e-9);
        cr_model_destroy(m.model);
    }
}

TEST(a_bounce_in_the_air_is_a_jump_and_its_energy_is_known) {
    const double h = 0.01, m0 = 2.0;
    const int kink = 40;
    double before = 4.0 - G * h * kink;
    for (int known = 0; known < 2; known++) {
        for (int gains = 0; gains < 2; gains++) {
            double after = gains == 1 ? 3.0 : 0.1 * before;
            Motion m = motion_of(one_ball(m0));
            parabola(&m, h, 100, 4.0, kink, after);
            CHECK_STATUS(judge(&m, known == 1, NULL), CR_OK);
            const crMotionReport* r = &m.report;
            double energy = 0.5 * m0 * (after * after - before * before);
            CHECK_NEAR(r->momentum.value, fabs(after - before), 1e-9);
            CHECK(r->jumps == 1);
            // differences see it in the interval after the record
            CHECK_NEAR(r->momentum.time, h * (known == 1 ? kink : kink + 1), 1e-12);
            CHECK_NEAR(r->gain, fmax(0.0, energy), 1e-8);
            CHECK(r->momentum.body_a == 1);
            CHECK(cr_motion_flies(r) == CR_TRUTH_NO && cr_motion_holds(r) == CR_TRUTH_NO);
            CHECK(cr_motion_no_gain(r) == (gains == 1 ? CR_TRUTH_NO : CR_TRUTH_YES));
            cr_model_destroy(m.model);
        }
    }
}

// the same bounce on a floor is a contact, and nothing is wrong with it
TEST(a_bounce_on_the_floor_is_none) {
    for (int known = 0; known < 2; known++) {
        Motion m = motion_of(one_ball(2.0));
        scene_ground(m.model, cr_vec3(0, 0, 1), 0);
        // falls from z = 1 and touches at r = 0.1 within an interval, where it turns to 0.8 of its speed
        double h = 0.01, fall = sqrt(2.0 * 0.9 / G), v = G * fall;
        for (int i = 0; i < 80; i++) {
            double t = i * h, s = t - fall;
            crVec3 at = cr_vec3(0, 0, s < 0.0 ? 1.0 - 0.5 * G * t * t : 0.1 + 0.8 * v * s - 0.5 * G * s * s);
            crVec3 u = cr_vec3(0, 0, s < 0.0 ? -G * t : 0.8 * v - G * s);
            add(&m, t, &at, &u, NULL, NULL);
        }
        CHECK_STATUS(judge(&m, known == 1, NULL), CR_OK);
        CHECK(m.report.jumps == 0 && m.report.gain == 0.0);
        CHECK(m.report.flights > 60);
        CHECK(cr_motion_flies(&m.report) == CR_TRUTH_YES);
        CHECK(cr_motion_holds(&m.report) == (known == 1 ? CR_TRUTH_YES : CR_TRUTH_UNSURE));
        cr_model_destroy(m.model);
    }
}

TEST(a_sunk_ball_is_as_deep_as_it_is) {
    Motion m = motion_of(one_ball(1.0));
    scene_ground(m.model, cr_vec3(0, 0, 1), 0);
    const double depths[] = {0.0, 0.003, 0.02, 0.001};
    for (int i = 0; i < 4; i++) {
        crVec3 at = cr_vec3(0, 0, 0.1 - depths[i]), v = cr_vec3(0, 0, 0);
        add(&m, 0.1 * i, &at, &v, NULL, NULL);
    }
    CHECK_STATUS(judge(&m, false, NULL), CR_OK);
    const crMotionReport* r = &m.report;
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(m.steps[i].overlap, depths[i], 1e-15);
    }
    CHECK_NEAR(r->overlap.value, 0.02, 1e-15);
    CHECK(r->overlap.time == 0.2 && r->overlaps == 3);
    CHECK((r->overlap.body_a == 0) + (r->overlap.body_b == 0) == 1);
    CHECK((r->overlap.body_a == 1) + (r->overlap.body_b == 1) == 1);
    CHECK(cr_motion_no_overlap(r) == CR_TRUTH_NO);
    CHECK_NEAR(r->limits.overlap, 1e-4, 1e-18);
    // digits coarser than the overlap leave it open
    m.data.digits.position = 0.05;
    CHECK_STATUS(judge(&m, false, NULL), CR_OK);
    CHECK(cr_motion_no_overlap(&m.report) == CR_TRUTH_UNSURE);
    cr_model_destroy(m.model);
}

TEST(a_bullet_through_a_wall_crosses_it_once) {
    for (int beside = 0; beside < 2; beside++) {
        Motion m = motion_of(cr_model_create(NULL));
        m.model->gravity = cr_vec3(0, 0, 0);
        scene_free(m.model, cr_shape_sphere(0.05), cr_vec3(0, 0, 0), 1.0, 0);
        crShape wall = cr_shape_box(0.01, 1.0, 1.0);
        cr_model_add_shape(m.model, CR_WORLD, &wall, 0);
        for (int i = 0; i < 5; i++) {
            crVec3 at = cr_vec3(-2.5 + 1.0 * i, beside == 1 ? 1.2 : 0.3, 0), v = cr_vec3(100, 0, 0);
            add(&m, 0.01 * i, &at, &v, NULL, NULL);
        }
        CHECK_STATUS(judge(&m, true, NULL), CR_OK);
        const crMotionReport* r = &m.report;
        CHECK(r->crossings == (beside == 1 ? 0 : 1) && r->crossings_unsure == 0);
        CHECK(r->overlap.value == 0.0);
        if (beside == 0)
            CHECK(r->crossing.time == 0.03 && r->crossing.body_a == 1 && r->crossing.body_b == CR_WORLD);
        CHECK(cr_motion_no_crossing(r) == (beside == 1 ? CR_TRUTH_YES : CR_TRUTH_NO));
        cr_model_destroy(m.model);
    }
}

// two balls of 1 and 3 kg hit each other in flight; what they exchange cancels, and what is added does not
TEST(bodies_that_meet_in_flight_keep_their_momentum_together) {
    for (int wrong = 0; wrong < 2; wrong++) {
        Motion m = motion_of(one_ball(1.0));
        scene_free(m.model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0), 3.0, 0);
        double h = 0.01, extra = wrong == 1 ? 0.4 : 0.0;
        // at t = 0.1 the gap is 0; elastic: 2 m/s on rest gives -1 and 1 m/s
        for (int i = 0; i < 20; i++) {
            double t = i * h, s = t - 0.1, z = 5.0 - 0.5 * G * t * t;
            bool after = i >= 10;
            crVec3 at[2] = {cr_vec3(after ? -s : 2.0 * s, 0, z),
                            cr_vec3(0.2 + (after ? (1.0 + extra) * s : 0.0), 0, z)};
            crVec3 v[2] = {cr_vec3(after ? -1.0 : 2.0, 0, -G * t),
                           cr_vec3(after ? 1.0 + extra : 0.0, 0, -G * t)};
            add(&m, t, at, v, NULL, NULL);
        }
        CHECK_STATUS(judge(&m, true, NULL), CR_OK);
        const crMotionReport* r = &m.report;
        CHECK_NEAR(r->momentum.value, 3.0 * extra / 4.0, 1e-12);
        CHECK(r->jumps == (wrong == 1 ? 1 : 0));
        double energy = 0.5 * 3.0 * ((1.0 + extra) * (1.0 + extra) - 1.0);
        CHECK_NEAR(r->gain, energy, 1e-12);
        cr_model_destroy(m.model);
    }
}

// a top free of moments, in closed form; then its omega is changed about the axis of the least moment
TEST(a_top_keeps_its_angular_momentum) {
    for (int wrong = 0; wrong < 2; wrong++) {
        Motion m = motion_of(cr_model_create(NULL));
        m.model->gravity = cr_vec3(0, 0, 0);
        scene_free(m.model, cr_shape_cylinder(0.2, 0.05), cr_vec3(0, 0, 0), 1.0, 0);
        const double* I = m.model->bodies[1].principal;
        double I1 = I[0], I3 = I[2], w1 = 1.0, w3 = 20.0,
               rate = sqrt(I1 * w1 * I1 * w1 + I3 * w3 * I3 * w3) / I1;
        crVec3 L = cr_vec3(I1 * w1, 0, I3 * w3);
        for (int i = 0; i < 50; i++) {
            double t = 0.01 * i;
            // about L at L / I1, and about its own axis at what is left
            crQuat go = cr_quat_axis_angle(L, rate * t),
                   spin = cr_quat_axis_angle(cr_vec3(0, 0, 1), (1.0 - I3 / I1) * w3 * t);
            crQuat turn = cr_quat_mul(go, spin);
            crVec3 omega = cr_quat_rotate(go, cr_vec3(w1, 0, w3)), at = cr_vec3(0, 0, 0), v = at;
            if (wrong == 1 && i == 49) omega = cr_add(omega, cr_quat_rotate(go, cr_vec3(0, 0, 0.5)));
            add(&m, t, &at, &v, &turn, &omega);
        }
        CHECK_STATUS(judge(&m, true, NULL), CR_OK);
        const crMotionReport* r = &m.report;
        printf("  top: spin %.1e +- %.1e\n", r->spin.value, r->spin.floor);
        if (wrong == 0) CHECK(r->spin.value <= r->spin.floor && r->gain == 0.0);
        if (wrong == 1) CHECK_NEAR(r->spin.value, 0.5, 1e-12);
        if (wrong == 1) CHECK_NEAR(r->gain, 0.5 * I3 * (20.5 * 20.5 - 400.0), 1e-11);
        cr_model_destroy(m.model);
    }
}

TEST(few_digits_are_part_of_the_floor) {
    Motion m = motion_of(one_ball(2.0));
    parabola(&m, 0.01, 100, 4.0, -1, 0.0);
    for (int i = 0; i < m.count; i++) {
        m.q[7 * i + 2] = 1e-4 * floor(1e4 * m.q[7 * i + 2] + 0.5);
        m.v[6 * i + 2] = 1e-3 * floor(1e3 * m.v[6 * i + 2] + 0.5);
    }
    CHECK_STATUS(judge(&m, true, NULL), CR_OK);
    CHECK(m.report.momentum.value > m.report.momentum.floor && m.report.gain > 0.0);
    CHECK(cr_motion_no_gain(&m.report) == CR_TRUTH_NO);
    m.data.digits = (crMotionDigits){.position = 5e-5, .velocity = 5e-4};
    CHECK_STATUS(judge(&m, true, NULL), CR_OK);
    CHECK(m.report.momentum.value <= m.report.momentum.floor && m.report.gain == 0.0);
    CHECK(cr_motion_no_gain(&m.report) == CR_TRUTH_UNSURE);
    // positions alone: second differences
    CHECK_STATUS(judge(&m, false, NULL), CR_OK);
    CHECK(m.report.momentum.value <= m.report.momentum.floor && m.report.jumps == 0);
    CHECK(cr_motion_flies(&m.report) == CR_TRUTH_UNSURE);
    cr_model_destroy(m.model);
}

static void lift(void* ctx, double time, crDriven* out) {
    (void)ctx;
    out->pose.p.z += time;
    out->velocity.z = 1.0;
}

// a ball on a driven table rises: the work is the table's, and not known
TEST(driven_bodies_leave_the_energy_open) {
    Motion m = motion_of(cr_model_create(NULL));
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_DRIVEN;
    def.drive = lift;
    int table = cr_model_add_body(m.model, &def);
    crShape top = cr_shape_box(1, 1, 0.1);
    cr_model_add_shape(m.model, table, &top, 0);
    int ball = scene_free(m.model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.2), 1.0, 0);
    double time[10], q[70], v[60] = {0};
    for (int i = 0; i < 10; i++) {
        time[i] = 0.1 * i;
        const double x[7] = {0, 0, 0.2 + time[i], 1, 0, 0, 0};
        memcpy(q + 7 * i, x, sizeof x);
        v[6 * i + 2] = 1.0;
    }
    crMotionData data = {.count = 10, .time = time, .q = q, .v = v};
    crMotionLimits limits = cr_motion_limits();
    crMotionReport r;
    CHECK_STATUS(cr_audit_motion(m.model, &data, &limits, NULL, NULL, &r, NULL), CR_OK);
    CHECK(r.energy_unknown == 9 && isnan(r.gain) && r.overlap.value < 1e-15 && ball == 2);
    CHECK(cr_motion_no_gain(&r) == CR_TRUTH_UNSURE && cr_motion_holds(&r) == CR_TRUTH_UNSURE);
    cr_model_destroy(m.model);
}

// poses of jointed bodies instead of their coordinates: a pendulum at rest, and free ones, give the same figures
TEST(poses_and_coordinates_agree) {
    Motion m = motion_of(one_ball(2.0));
    parabola(&m, 0.01, 100, 4.0, 40, 3.0);
    CHECK_STATUS(judge(&m, true, NULL), CR_OK);
    static crPose pose[2 * MOST];
    static crVec3 velocity[2 * MOST], omega[2 * MOST];
    for (int i = 0; i < m.count; i++) {
        const double *q = m.q + 7 * i, *v = m.v + 6 * i;
        pose[2 * i + 1] = (crPose){{q[0], q[1], q[2]}, {q[3], q[4], q[5], q[6]}};
        velocity[2 * i + 1] = cr_vec3(v[0], v[1], v[2]);
        omega[2 * i + 1] = cr_vec3(v[3], v[4], v[5]);
    }
    crMotionData data = {
        .count = (size_t)m.count, .time = m.time, .pose = pose, .velocity = velocity, .omega = omega};
    crMotionLimits limits = cr_motion_limits();
    crMotionReport r;
    CHECK_STATUS(cr_audit_motion(m.model, &data, &limits, NULL, NULL, &r, NULL), CR_OK);
    CHECK(r.momentum.value == m.report.momentum.value && r.gain == m.report.gain &&
          r.flights == m.report.flights);
    cr_model_destroy(m.model);
}

TEST(carom_itself_is_clean) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.3, 0.6);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_box(0.1, 0.2, 0.15), cr_vec3(0, 0, 0.8), 1.0, material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.05, 0, 1.5), 2.0, material);
    Motion m = motion_of(model);
    crWorld* world = scene_world(model, NULL);
    crState* state = cr_world_state(world);
    state->v[4] = 3.0;
    for (; m.count < MOST; m.count++) {
        m.time[m.count] = state->time;
        memcpy(m.q + m.count * model->nq, state->q, (size_t)model->nq * sizeof(double));
        memcpy(m.v + m.count * model->nv, state->v, (size_t)model->nv * sizeof(double));
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    }
    CHECK_STATUS(judge(&m, true, NULL), CR_OK);
    printf("  overlap %.1e, gain %.1e, momentum %.1e, flights %zu\n", m.report.overlap.value, m.report.gain,
           m.report.momentum.value, m.report.flights);
    CHECK(cr_motion_holds(&m.report) == CR_TRUTH_YES);
    CHECK(m.report.flights > 20);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(refusals_say_where) {
    crError error = {0};
    Motion m = motion_of(one_ball(2.0));
    parabola(&m, 0.01, 10, 4.0, -1, 0.0);
    m.time[5] = m.time[4];
    CHECK_STATUS(judge(&m, true, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "time");
    CHECK(strstr(error.message, "record 6") != NULL);
    m.time[5] = 0.05;
    m.q[7 * 3 + 1] = (double)NAN;
    CHECK_STATUS(judge(&m, true, &error), CR_ERR_FINITE);
    CHECK(strstr(error.message, "record 4") != NULL);
    m.q[7 * 3 + 1] = 0.0;
    m.q[7 * 2 + 3] = 1.01;
    CHECK_STATUS(judge(&m, true, &error), CR_ERR_UNIT);
    m.data.digits.rotation = 0.005;
    CHECK_STATUS(judge(&m, true, &error), CR_OK);
    cr_model_destroy(m.model);
}
