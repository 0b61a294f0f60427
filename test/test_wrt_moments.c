// test_wrt_moments.c - derivatives of steps with spin and rolling friction: closed forms, differences of steps, transposes.
#include "wrt_case.h"

static int rough_material(crModel* model, double mu, double e, double spin, double roll) {
    crMaterial material = cr_material();
    material.surface.mu = material.surface.mu2 = mu;
    material.surface.e = e;
    material.surface.mu_spin = spin;
    material.surface.mu_roll = roll;
    return cr_model_add_material(model, &material);
}

// A ball of radius r on the floor.
static Case ball_case(double r, double spin, double roll, double h) {
    crModel* model = cr_model_create(NULL);
    int material = rough_material(model, 0.5, 0.0, spin, roll);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    int ball = scene_free(model, cr_shape_sphere(r), cr_vec3(0, 0, r), 0.7, material);
    const crWrtParam params[2] = {{roll > 0.0 ? CR_WRT_MU_ROLL : CR_WRT_MU_SPIN, material, material},
                                  {CR_WRT_MASS, ball, 0}};
    return begin(model, h, "poisson", 2, params);
}

enum { COLUMNS = 20 };  // of one ball with two parameters

// d(vx, vy, wx, wy, wz) after by a change, as J says
static void after(const double J[12 * COLUMNS], const double d[COLUMNS], double out[12]) {
    for (int i = 0; i < 12; i++) {
        out[i] = 0.0;
        for (int k = 0; k < COLUMNS; k++)
            out[i] += J[i * COLUMNS + k] * d[k];
    }
}

// Rolling at v = r w slows by a = 5/7 mu_roll g/r, against its own direction.
TEST(a_rolling_ball_slows) {
    const double r = 0.03, roll = 2e-4, g = 9.81, h = 0.01, v = 0.8, a = 5.0 / 7.0 * roll * g / r;
    Case c = ball_case(r, 0.0, roll, h);
    static double J[12 * COLUMNS];
    double out[12], d[COLUMNS] = {0};
    crWrtVerdict verdict;
    c.state.v[0] = v;
    c.state.v[4] = v / r;
    jacobian(&c, J, &verdict);
    CHECK(verdict.distance > 0.0);
    d[18] = 1.0;  // mu_roll
    after(J, d, out);
    CHECK_NEAR(out[6], -h * a / roll, 1e-7 * h * a / roll);
    CHECK_NEAR(out[10], -h * a / roll / r, 1e-7 * h * a / roll / r);
    CHECK_NEAR(out[0], -h * h * a / roll, 1e-7 * h * h * a / roll);
    d[18] = 0.0;
    d[19] = 1.0;  // mass
    after(J, d, out);
    CHECK_NEAR(out[6], 0.0, 1e-9);
    d[19] = 0.0;
    d[6] = 1.0;  // faster, and rolling
    d[10] = 1.0 / r;
    after(J, d, out);
    CHECK_NEAR(out[6], 1.0, 1e-8);
    CHECK_NEAR(out[0], h, 1e-9);
    d[6] = d[10] = 0.0;
    d[7] = 1.0;  // to the side, and rolling: friction keeps the direction
    d[9] = -1.0 / r;
    after(J, d, out);
    CHECK_NEAR(out[7], (v - a * h) / v, 1e-8);
    CHECK_NEAR(out[9], -(v - a * h) / v / r, 1e-6);
    // over a run: v(t) = v - a t, and x by mu_roll
    enum { STEPS = 50 };
    double by_end[12] = {0}, by_start[12], by_param[2], n = STEPS;
    by_end[0] = 1.0;
    CHECK_STATUS(
        cr_wrt_adjoint(c.wrt, &c.state, STEPS, NULL, by_end, by_start, NULL, by_param, &verdict, NULL),
        CR_OK);
    CHECK(verdict.verdict == CR_SMOOTH && !verdict.differenced);
    CHECK_NEAR(c.state.v[0], v - a * n * h, 1e-9);
    double exact = -a / roll * h * h * 0.5 * n * (n + 1.0);
    CHECK_NEAR(by_param[0], exact, 1e-7 * fabs(exact));
    CHECK_NEAR(by_param[1], 0.0, 1e-9);
    CHECK_NEAR(by_start[6] + by_start[10] / r, n * h, 1e-7);
    end(&c);
}

// Spin about the vertical falls by 5/2 mu_spin g/r^2.
TEST(a_spinning_ball_slows) {
    const double r = 0.03, spin = 1e-3, g = 9.81, h = 0.01, w = 40.0, a = 2.5 * spin * g / (r * r);
    Case c = ball_case(r, spin, 0.0, h);
    static double J[12 * COLUMNS];
    double out[12], d[COLUMNS] = {0};
    crWrtVerdict verdict;
    c.state.v[5] = w;
    jacobian(&c, J, &verdict);
    d[18] = 1.0;
    after(J, d, out);
    CHECK_NEAR(out[11], -h * a / spin, 1e-7 * h * a / spin);
    d[18] = 0.0;
    d[11] = 1.0;
    after(J, d, out);
    CHECK_NEAR(out[11], 1.0, 1e-9);
    end(&c);
}

// A ball at rest that friction of spin and rolling holds: nothing that is small moves it.
TEST(a_ball_that_friction_holds) {
    const double r = 0.03;
    Case c = ball_case(r, 1e-3, 1e-3, 0.01);
    static double J[12 * COLUMNS];
    double out[12], d[COLUMNS] = {0};
    crWrtVerdict verdict;
    jacobian(&c, J, &verdict);
    const double push[COLUMNS] = {0, 0, 0, 0, 0, 0, 0.1, -0.2, 0, 1, 2, 3, 0.5, 1, 0, 0.1, 0.2, 0.3, 1, 1};
    memcpy(d, push, sizeof push);
    after(J, d, out);
    for (int k = 6; k < 12; k++)
        CHECK_NEAR(out[k], 0.0, 1e-8);
    // the switch: a push of the rolling limit, mu_roll m g h over r, as a change of the speed, or less
    CHECK(verdict.distance > 0.0 && verdict.distance < 0.1);
    end(&c);
}

// Balls that slide, roll and spin on the floor, one of them along a wall without moments that a force presses it to.
TEST(balls_with_moments_against_differences) {
    crModel* model = cr_model_create(NULL);
    int material = rough_material(model, 0.4, 0.0, 0.01, 0.006);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    crShape wall = cr_shape_halfspace(cr_vec3(0, 1, 0), -1.0);
    cr_model_add_shape(model, CR_WORLD, &wall, scene_material(model, 0.2, 0.0));
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.1), 1.0, material);
    scene_free(model, cr_shape_sphere(0.08), cr_vec3(0, -0.92, 0.08), 1.5, material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 1.0, 0.1), 1.0, material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.5, 1.0, 0.1), 1.0, material);
    Case c = begin(model, 0.01, "poisson", 0, NULL);
    const double v[24] = {1.5, 0.1, 0, 1, 20, 8, 0.8, 0,   0, 2,  7, 9,
                          0.3, 0.2, 0, 1, 2,  3, 0.2, 0.2, 0, -1, 1, -4};
    memcpy(c.state.v, v, sizeof v);
    c.state.force[7] = -20.0;
    compare_run(&c, 60, true, 6, 20);
    end(&c);
}

// A box that slides and turns on its face: which corner carries how much is open, and the velocity depends on it. The step is
// differenced as a whole, and says why.
TEST(load_that_is_shared_in_many_ways) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.4, 0.0);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.1), 2.0, material);
    Case c = begin(model, 0.01, "poisson", 0, NULL);
    double d[18] = {0}, a[12], b[12], error, scale;
    crWrtVerdict verdict;
    c.state.v[0] = 0.4;
    c.state.v[1] = 0.2;
    for (int k = 6; k < 12; k++)
        d[k] = 0.3 - 0.1 * (k % 5);
    for (int turns = 0; turns < 2; turns++) {
        c.state.v[5] = turns == 0 ? 0.0 : 2.0;
        CHECK_STATUS(cr_wrt_apply(c.wrt, &c.state, d, NULL, a, &verdict, NULL), CR_OK);
        CHECK(verdict.differenced == (turns == 1));
        if (turns == 0) continue;
        CHECK(strstr(verdict.why, "share their load") != NULL);
        CHECK(differences(&c, d, b, &error) && error < 1e-6);
        CHECK(difference_of(&c, a, b, &scale) <= 1e-4 * scale);
    }
    end(&c);
}

// Friction that is a parameter and zero has an effect on one side alone.
TEST(friction_at_zero_has_one_side) {
    const double r = 0.03, g = 9.81, h = 0.01, v = 0.8;
    for (int kind = 0; kind < 2; kind++) {
        crModel* model = cr_model_create(NULL);
        int material = rough_material(model, kind == 0 ? 0.0 : 0.5, 0.0, 0.0, 0.0);
        scene_ground(model, cr_vec3(0, 0, 1), material);
        scene_free(model, cr_shape_sphere(r), cr_vec3(0, 0, r), 0.7, material);
        const crWrtParam param = {kind == 0 ? CR_WRT_MU : CR_WRT_MU_ROLL, material, material};
        Case c = begin(model, h, "poisson", 1, &param);
        double d[19] = {0}, minus[12], plus[12];
        crWrtVerdict verdict;
        c.state.v[0] = v;
        c.state.v[4] = kind == 0 ? 0.0 : v / r;
        d[18] = 1.0;
        CHECK_STATUS(cr_wrt_apply(c.wrt, &c.state, d, minus, plus, &verdict, NULL), CR_OK);
        // slides: -g h by mu; rolls: -5/7 g h/r by mu_roll
        double exact = kind == 0 ? -g * h : -5.0 / 7.0 * g * h / r;
        CHECK(verdict.verdict == CR_ONE_SIDED && verdict.differenced);
        CHECK_NEAR(plus[6], exact, 1e-6 * fabs(exact));
        CHECK_NEAR(minus[6], 0.0, 1e-9);
        end(&c);
    }
}

// Without restitution a touch is not located in time: the step brings a ball just to the floor, .2 m in .1 s, and leaves it that speed. With
// any restitution it is located, and the ball leaves with e times its own. By e at zero the step jumps.
TEST(restitution_at_zero_is_a_jump) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(model, 0.0, 0.0);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.3), 1.0, material);
    const crWrtParam param = {CR_WRT_E, material, material};
    Case c = begin(model, 0.1, "poisson", 1, &param);
    double d[19] = {0};
    crWrtVerdict verdict;
    c.state.v[2] = -3.0;
    d[18] = 1.0;
    CHECK_STATUS(cr_wrt_apply(c.wrt, &c.state, d, NULL, NULL, &verdict, NULL), CR_OK);
    CHECK(verdict.verdict == CR_NO_DERIVATIVE && verdict.differenced);
    CHECK_NEAR(verdict.jump, 2.0, 1e-3);
    CHECK_STATUS(cr_wrt_step(c.wrt, &c.state, &c.state, NULL), CR_OK);
    CHECK_NEAR(c.state.v[2], -2.0, 1e-6);
    end(&c);
}
