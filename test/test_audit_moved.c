// The audit of islands that short steps moved, on one ball with one contact: impulses in the cone that give its velocity are bounded, all
// else is not. Expected figures by hand: a ball of mass m and moment I has v = v_free + P / m, omega = omega_free + r x P / I. Two
// balls with three contacts have the sums of all. Pairs that the first look at overlap calls shallow are so by collision.
#include "sample_shape.h"
#include "test.h"

#include "step/audit.h"
#include "step/moving.h"
#include "step/step.h"

#define MASS   2.0
#define MOMENT 0.05
#define RADIUS 0.2
#define MU     0.5

// the outcome where the ball's velocities differ by dv and domega from what P gives
static crOutcome audited(crVec3 P, double dv, double domega) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = MASS;
    def.inertia = (crSym3){.xx = MOMENT, .yy = MOMENT, .zz = MOMENT};
    crShape ball = cr_shape_sphere(RADIUS);
    int body = cr_model_add_body(model, &def);
    cr_model_add_shape(model, body, &ball, 0);
    crStepSettings settings = cr_step_settings();
    crStep step;
    CHECK_STATUS(cr_step_create(model, &settings, NULL, &step, NULL), CR_OK);
    CHECK_STATUS(cr_step_begin(&step, NULL), CR_OK);
    CHECK_STATUS(cr_step_forces(&step, 0.01, NULL), CR_OK);
    crContactSurface surface = {.surface.mu = MU};
    crStepContact contact = {.point.normal = {0, 0, 1}, .point.point = {0, 0, -RADIUS}, .body_b = body};
    contact.surface = &surface;
    contact.impulse = P;
    // r x P for r = (0, 0, -RADIUS)
    crVec3 turn = cr_vec3(RADIUS * P.y, -RADIUS * P.x, 0.0);
    double v[6] = {P.x / MASS + dv,          P.y / MASS,     P.z / MASS, turn.x / MOMENT,
                   turn.y / MOMENT + domega, turn.z / MOMENT};
    for (int k = 0; k < 6; k++) {
        step.state.v[k] = step.free.v[k] + v[k];
    }
    bool moving[2] = {false, true};
    crMoved moved = {.body = moving, .near = &contact, .near_count = 1, .contacts = &contact, .count = 1};
    CHECK_STATUS(cr__audit_moved(&step, &moved), CR_OK);
    crOutcome outcome = step.certificate.outcome;
    cr_step_destroy(&step);
    cr_model_destroy(model);
    return outcome;
}

TEST(impulses_in_the_cone_that_give_the_velocity_are_bounded) {
    CHECK(audited(cr_vec3(0, 0, 0), 0.0, 0.0) == CR_OUTCOME_BOUNDED);
    CHECK(audited(cr_vec3(0.2, -0.1, 1.0), 0.0, 0.0) == CR_OUTCOME_BOUNDED);
    // on the cone, but for rounding
    CHECK(audited(cr_vec3(0.3, 0.4, 1.0), 0.0, 0.0) == CR_OUTCOME_BOUNDED);
}

TEST(impulses_outside_the_cone_are_not) {
    CHECK(audited(cr_vec3(0.3, 0.4 + 1e-8, 1.0), 0.0, 0.0) == CR_OUTCOME_LIMIT);
    CHECK(audited(cr_vec3(0.6, 0.0, 1.0), 0.0, 0.0) == CR_OUTCOME_LIMIT);
    CHECK(audited(cr_vec3(0.0, 0.0, -1e-3), 0.0, 0.0) == CR_OUTCOME_LIMIT);
    CHECK(audited(cr_vec3(1e-9, 0.0, 0.0), 0.0, 0.0) == CR_OUTCOME_LIMIT);
}

TEST(other_velocities_are_not) {
    CHECK(audited(cr_vec3(0.2, -0.1, 1.0), 1e-8, 0.0) == CR_OUTCOME_LIMIT);
    CHECK(audited(cr_vec3(0.2, -0.1, 1.0), 0.0, 1e-7) == CR_OUTCOME_LIMIT);
    CHECK(audited(cr_vec3(0, 0, 0), 1e-8, 0.0) == CR_OUTCOME_LIMIT);
}

static int add_ball(crModel* model) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = MASS;
    def.inertia = (crSym3){.xx = MOMENT, .yy = MOMENT, .zz = MOMENT};
    crShape ball = cr_shape_sphere(RADIUS);
    int body = cr_model_add_body(model, &def);
    cr_model_add_shape(model, body, &ball, 0);
    return body;
}

// the outcome for three impulses between two balls where the second one's omega differs by domega from what they give
static crOutcome audited_pair(crRandom* random, double domega) {
    crModel* model = cr_model_create(NULL);
    int a = add_ball(model), b = add_ball(model);
    crStepSettings settings = cr_step_settings();
    crStep step;
    CHECK_STATUS(cr_step_create(model, &settings, NULL, &step, NULL), CR_OK);
    crVec3 centre = cr_vec3(0.3, -0.1, 2.0 * RADIUS);
    cr__store_vec(centre, step.state.q + model->bodies[b].q);
    CHECK_STATUS(cr_step_begin(&step, NULL), CR_OK);
    CHECK_STATUS(cr_step_forces(&step, 0.01, NULL), CR_OK);
    crContactSurface surface = {.surface.mu = MU};
    crStepContact contacts[3];
    crVec3 sum = cr_vec3(0, 0, 0), turn_a = sum, turn_b = sum;
    for (int i = 0; i < 3; i++) {
        crVec3 point = cr_scale(RADIUS, sample_direction(random)), n = sample_direction(random);
        // the second impulse is none
        crVec3 P = cr_scale(i == 1 ? 0.0 : sample_uniform(random, 0.5, 1.0), n);
        contacts[i] =
            (crStepContact){.point.normal = n, .point.point = point, .shape_b = 1, .body_a = a, .body_b = b};
        contacts[i].surface = &surface;
        contacts[i].impulse = P;
        sum = cr_add(sum, P);
        turn_a = cr_sub(turn_a, cr_cross(point, P));
        turn_b = cr_add(turn_b, cr_cross(cr_sub(point, centre), P));
    }
    const double v[12] = {-sum.x / MASS,     -sum.y / MASS,     -sum.z / MASS,
                          turn_a.x / MOMENT, turn_a.y / MOMENT, turn_a.z / MOMENT,
                          sum.x / MASS,      sum.y / MASS,      sum.z / MASS,
                          turn_b.x / MOMENT, turn_b.y / MOMENT, turn_b.z / MOMENT + domega};
    for (int k = 0; k < 12; k++) {
        step.state.v[k] = step.free.v[k] + v[k];
    }
    bool moving[3] = {false, true, true};
    crMoved moved = {.body = moving, .near = contacts, .near_count = 3, .contacts = contacts, .count = 3};
    CHECK_STATUS(cr__audit_moved(&step, &moved), CR_OK);
    crOutcome outcome = step.certificate.outcome;
    cr_step_destroy(&step);
    cr_model_destroy(model);
    return outcome;
}

TEST(impulses_of_a_pair_are_summed) {
    crRandom random = sample_seed(31);
    for (int n = 0; n < test_samples(200); n++) {
        CHECK(audited_pair(&random, 0.0) == CR_OUTCOME_BOUNDED);
        CHECK(audited_pair(&random, 1e-7) == CR_OUTCOME_LIMIT);
    }
}

TEST(shallow_pairs_are_shallow) {
    crRandom random = sample_seed(32);
    crHullPool pool = sample_hulls(&random);
    int shallow = 0, apart = 0;
    for (int n = 0; n < test_samples(4000); n++) {
        crModel* model = cr_model_create(NULL);
        crSampleForm form = (crSampleForm)(n % FORMS);
        crShape shape[2];
        double size = 0.0;
        for (int k = 0; k < 2; k++) {
            bool box = sample_bits(&random) % 2 == 0;
            shape[k] = sample_shape(
                &random, box ? CR_SHAPE_BOX : convex_kinds[sample_bits(&random) % CONVEX_KINDS], form, &pool);
            shape[k].pose = n % 2 == 0 ? cr_pose_identity() : sample_pose(&random, form);
            size += shape_size(&shape[k]) + cr_norm(shape[k].pose.p);
            crBodyDef def = cr_body_def();
            def.joint = CR_JOINT_FREE;
            def.mass = MASS;
            def.inertia = (crSym3){.xx = MOMENT, .yy = MOMENT, .zz = MOMENT};
            cr_model_add_shape(model, cr_model_add_body(model, &def), &shape[k], 0);
        }
        crStepSettings settings = cr_step_settings();
        crStep step;
        CHECK_STATUS(cr_step_create(model, &settings, NULL, &step, NULL), CR_OK);
        crPose pose[3] = {cr_pose_identity(), sample_pose(&random, form), sample_pose(&random, form)};
        pose[2].p = cr_madd(pose[1].p, sample_uniform(&random, 0.0, 1.0) * size, sample_direction(&random));
        double known = n % 3 == 0 ? 0.0 : sample_uniform(&random, 0.0, 0.2) * size;
        double depth = cr__audit_depth(step.plan, pose, 0, 1);
        apart += depth <= known;
        if (cr__audit_shallow(step.plan, pose, 0, 1, known)) {
            shallow++;
            CHECK(depth <= known + 1e-9 * size);
        }
        cr_step_destroy(&step);
        cr_model_destroy(model);
    }
    // it is of use
    CHECK(2 * shallow > apart);
    sample_hulls_destroy(&pool);
}

// Overlap that the audit finds of two balls without listed contacts: the second one gets `way` nearer to the first, which is `gap`
// away, while one margin for all bodies takes the place of their own, as in the position pass.
static double overlap_found(double gap, double way, double flat) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    add_ball(model);
    int second = add_ball(model);
    crStepSettings settings = cr_step_settings();
    crStep step;
    CHECK_STATUS(cr_step_create(model, &settings, NULL, &step, NULL), CR_OK);
    step.state.q[model->bodies[second].q] = 2.0 * RADIUS + gap;
    CHECK_STATUS(cr_step_begin(&step, NULL), CR_OK);
    CHECK_STATUS(cr_step_forces(&step, 0.01, NULL), CR_OK);
    CHECK_STATUS(cr__step_margins(&step, 0.01, NULL), CR_OK);
    CHECK_STATUS(cr__step_collide_part(&step, false, NULL), CR_OK);
    step.state.q[model->bodies[second].q] -= way;
    cr_model_kinematics(model, &step.state, &step.dynamics);
    CHECK_STATUS(cr_step_collide(&step, flat, NULL), CR_OK);
    bool moving[3] = {false, true, true};
    crMoved moved = {.body = moving, .margin = step.pairs->margin};
    double overlap = -1.0;
    CHECK_STATUS(cr__audit_moved_overlap(&step, &moved, NULL, &overlap, NULL), CR_OK);
    cr_step_destroy(&step);
    cr_model_destroy(model);
    return overlap;
}

TEST(bodies_beyond_their_own_margins_are_collided_whatever_margin_takes_their_place) {
    CHECK_NEAR(overlap_found(0.3, 0.35, 0.0), 0.05, 1e-15);
    CHECK_NEAR(overlap_found(0.3, 0.35, 1.0), 0.05, 1e-15);
    // within its margin a body has no other contacts than those listed, here none
    CHECK(overlap_found(-0.05, 1e-6, 0.0) == 0.0);
    CHECK(overlap_found(-0.05, 1e-6, 1.0) == 0.0);
}
