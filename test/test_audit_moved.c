// The audit of islands that short steps moved, on one ball with one contact: impulses in the cone that give its velocity are bounded, all
// else is not. Expected figures by hand: a ball of mass m and moment I has v = v_free + P / m, omega = omega_free + r x P / I.
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

// Overlap that the audit finds of two balls without listed contacts: the second one gets `way` nearer to the first, which is `gap`
// away, while one margin for all bodies takes the place of their own, as in the position pass.
static double overlap_found(double gap, double way, double flat) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = MASS;
    def.inertia = (crSym3){.xx = MOMENT, .yy = MOMENT, .zz = MOMENT};
    crShape ball = cr_shape_sphere(RADIUS);
    for (int i = 0; i < 2; i++) {
        def.pose.p.x = i * (2.0 * RADIUS + gap);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &ball, 0);
    }
    crStepSettings settings = cr_step_settings();
    crStep step;
    CHECK_STATUS(cr_step_create(model, &settings, NULL, &step, NULL), CR_OK);
    CHECK_STATUS(cr_step_begin(&step, NULL), CR_OK);
    CHECK_STATUS(cr_step_forces(&step, 0.01, NULL), CR_OK);
    CHECK_STATUS(cr__step_margins(&step, 0.01, NULL), CR_OK);
    CHECK_STATUS(cr__step_collide_part(&step, false, NULL), CR_OK);
    step.state.q[model->bodies[2].q] -= way;
    cr_model_kinematics(model, &step.state, &step.dynamics);
    CHECK_STATUS(cr_step_collide(&step, flat, NULL), CR_OK);
    bool moving[3] = {false, true, true};
    crMoved moved = {.body = moving};
    double overlap = cr__audit_moved_overlap(&step, &moved, NULL);
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
