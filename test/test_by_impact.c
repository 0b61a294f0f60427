// test_by_impact.c - coefficients that depend on speed, slip, angle and spin: curves, forms, laws, steps, ready materials.
#include "carom/forms.h"
#include "sample.h"
#include "scene_text.h"
#include "test.h"

static crVec3 sample_vector(crRandom* random) {
    return cr_scale(sample_uniform(random, 0.0, 3.0), sample_direction(random));
}

static crLaw chatterjee_ruina(void) {
    crLaw law = {0};
    crLawParams params = cr_law_params();
    CHECK_STATUS(cr_law_find("chatterjee-ruina", &params, &law, NULL), CR_OK);
    law.params = NULL;
    return law;
}

// figures from their definitions, in any coordinates
TEST(figures_of_an_approach) {
    crRandom random = sample_seed(1);
    for (int i = 0; i < test_samples(3000); i++) {
        crVec3 n = sample_direction(&random), V = sample_vector(&random), omega = sample_vector(&random);
        crApproach a = cr_approach(n, V, omega);
        double along = -(n.x * V.x + n.y * V.y + n.z * V.z), length = cr_norm(V);
        CHECK_NEAR(a.speed, along > 0.0 ? along : 0.0, 1e-13);
        CHECK_NEAR(a.slip * a.slip + along * along, length * length, 1e-11);
        CHECK_NEAR(a.angle, along > 0.0 ? atan(a.slip / along) : 0.5 * acos(-1.0), 1e-12);
        CHECK_NEAR(a.spin, fabs(n.x * omega.x + n.y * omega.y + n.z * omega.z), 1e-13);
    }
}

// a bilinear function is met everywhere inside the table, and its edge beyond
TEST(tables_over_two_figures) {
    const double x[3] = {0.5, 1.0, 4.0}, y[2] = {0.1, 1.1};
    double value[6];
    crRandom random = sample_seed(2);
    for (int i = 0; i < 6; i++) {
        value[i] = 0.3 + 0.05 * x[i / 2] - 0.1 * y[i % 2] + 0.02 * x[i / 2] * y[i % 2];
    }
    crCurve c = {
        .by = {CR_FIGURE_SLIP, CR_FIGURE_SPIN}, .rows = 3, .columns = 2, .x = x, .y = y, .value = value};
    for (int i = 0; i < test_samples(3000); i++) {
        crApproach a = {.speed = 9.0,
                        .slip = sample_uniform(&random, 0.0, 6.0),
                        .angle = 9.0,
                        .spin = sample_uniform(&random, 0.0, 2.0)};
        double s = fmin(4.0, fmax(0.5, a.slip)), t = fmin(1.1, fmax(0.1, a.spin));
        CHECK_NEAR(cr_curve_at(&c, &a), 0.3 + 0.05 * s - 0.1 * t + 0.02 * s * t, 1e-14);
    }
    CHECK(isnan(cr_curve_at(NULL, &(crApproach){0})) && isnan(cr_curve_at(&c, NULL)));
}

static crCurve form_curve(const crForm* form, crFigure by, double* x, double* value) {
    int rows = cr_form_table(form, x, value, NULL);
    CHECK(rows > 1 && rows <= CR_FORM_ROWS);
    return (crCurve){.by = {by}, .rows = rows, .columns = 1, .x = x, .value = value};
}

TEST(decay_and_grip_against_their_formulas) {
    double x[CR_FORM_ROWS], value[CR_FORM_ROWS];
    crRandom random = sample_seed(3);
    for (int i = 0; i < test_samples(2000); i++) {
        crForm decay = {.kind = CR_FORM_DECAY,
                        .begin = sample_uniform(&random, 0.0, 1.0),
                        .end = sample_uniform(&random, 0.0, 1.0),
                        .scale = sample_uniform(&random, 0.1, 5.0)};
        crCurve c = form_curve(&decay, CR_FIGURE_SLIP, x, value);
        double v = sample_uniform(&random, 0.0, 15.0) * decay.scale, range = fabs(decay.begin - decay.end);
        double exact = decay.end + (decay.begin - decay.end) * exp(-v / decay.scale);
        CHECK(fabs(cr_curve_at(&c, &(crApproach){.slip = v}) - exact) <= 2e-3 * range);
        crForm grip = {.kind = CR_FORM_GRIP,
                       .grip = sample_uniform(&random, 0.0, 1.0),
                       .limit = sample_uniform(&random, 0.05, 1.5)};
        c = form_curve(&grip, CR_FIGURE_ANGLE, x, value);
        double angle = sample_uniform(&random, 0.0, 1.57);
        exact = grip.grip * fmax(0.0, 1.0 - tan(angle) / tan(grip.limit));
        CHECK(fabs(cr_curve_at(&c, &(crApproach){.angle = angle}) - exact) <= 2e-3 * grip.grip);
    }
}

// 1 - e of viscoelastic spheres goes with v^(1/5) at low speed (Kuwabara and Kono 1987; Ramirez and others 1999)
TEST(viscoelastic_restitution_at_low_speed) {
    double x[CR_FORM_ROWS], value[CR_FORM_ROWS];
    crForm form = {.kind = CR_FORM_VISCOELASTIC, .speed = 1.0, .e = 0.9999};
    int rows = cr_form_table(&form, x, value, NULL);
    for (int i = 8; i < rows / 2; i += 8) {
        double slope = log((1.0 - value[i]) / (1.0 - value[i - 8])) / log(x[i] / x[i - 8]);
        CHECK_NEAR(slope, 0.2, 2e-3);
    }
}

static crRigid ball_of(double mass, double r, double share, crVec3 velocity, crVec3 omega) {
    crRigid ball = cr_rigid_sphere(mass, r);
    double I = share * mass * r * r;
    ball.inertia = (crSym3){.xx = I, .yy = I, .zz = I};
    ball.position = cr_vec3(0, 0, r);
    ball.velocity = velocity;
    ball.omega = omega;
    return ball;
}

// Energy that a grip-slip bounce loses: with m_t = m k/(1 + k), I = k m r^2, slip u and normal speed v,
//     grips   m (1 - e^2) v^2/2 + m_t (1 - et^2) u^2/2
//     slides  m (1 - e^2) v^2/2 + J u - J^2/(2 m_t),   J = mu m (1 + e) v < (1 + et) m_t u
TEST(energy_of_a_grip_slip_bounce) {
    double x[2][CR_FORM_ROWS], value[2][CR_FORM_ROWS];
    crRandom random = sample_seed(4);
    crRigid floor = cr_rigid();
    crLaw law = chatterjee_ruina();
    floor.fixed = true;
    floor.position = cr_vec3(0, 0, -1);
    int grips = 0, slides = 0;
    for (int i = 0; i < test_samples(20000); i++) {
        crForm grip = {.kind = CR_FORM_GRIP,
                       .grip = sample_uniform(&random, 0.0, 1.0),
                       .limit = sample_uniform(&random, 0.3, 1.5)};
        crForm decay = {.kind = CR_FORM_DECAY, .begin = 0.8, .end = 0.1, .scale = 2.0};
        crCurve et = form_curve(&grip, CR_FIGURE_ANGLE, x[0], value[0]);
        crCurve mu = form_curve(&decay, CR_FIGURE_SLIP, x[1], value[1]);
        crByImpact by = {.et = &et, .mu = &mu};
        double m = 0.058, r = 0.0335, k = sample_uniform(&random, 0.4, 2.0 / 3.0);
        double v = sample_uniform(&random, 0.5, 20.0), angle = sample_uniform(&random, 0.0, 1.5);
        crVec3 omega = cr_scale(100.0, sample_vector(&random));
        crVec3 velocity = cr_vec3(v * tan(angle), 0.0, -v);
        crRigid ball = ball_of(m, r, k, velocity, omega);
        crCollision c = cr_collision();
        c.n = cr_vec3(0, 0, 1);
        c.e = 0.75;
        c.by_impact = &by;
        CHECK_STATUS(cr_collision_bodies(&c, &floor, &ball, cr_vec3(0, 0, 0), NULL), CR_OK);
        crHit hit;
        CHECK_STATUS(cr_law_apply(&law, &c, &hit, NULL), CR_OK);
        // the velocity of the lowest point by hand
        double ux = velocity.x - omega.y * r, uy = velocity.y + omega.x * r, u = sqrt(ux * ux + uy * uy);
        crApproach a = {.speed = v, .slip = u, .angle = atan2(u, v), .spin = fabs(omega.z)};
        double e_t = cr_curve_at(&et, &a), friction = cr_curve_at(&mu, &a), m_t = m * k / (1.0 + k);
        double J = friction * m * 1.75 * v, normal = 0.5 * m * (1.0 - 0.75 * 0.75) * v * v;
        bool slip = J < (1.0 + e_t) * m_t * u;
        double lost =
            slip ? normal + J * u - 0.5 * J * J / m_t : normal + 0.5 * m_t * (1.0 - e_t * e_t) * u * u;
        CHECK_NEAR(hit.energy_change / lost, -1.0, 1e-10);
        CHECK(hit.permissible);
        slides += slip;
        grips += !slip;
    }
    CHECK(grips > 20 && slides > 20);
}

// A ball with side off a cushion, closed form: e by speed, mu by angle as Han has them.
TEST(spinning_ball_off_a_cushion) {
    static const char text[] =
        "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"dt\": 0.01, \"duration\": 0.2},"
        " \"impact\": {\"rule\": \"sequence\", \"law\": \"chatterjee-ruina\"},"
        " \"materials\": {\"ball\": {\"ready\": \"pool-ball\"}, \"rail\": {\"ready\": \"carom-cushion\"}},"
        " \"bodies\": [{\"name\": \"b\", \"pos\": [-0.1, 0, 0], \"mass\": 0.17, \"vel\": [1.75, 1, 0],"
        " \"omega\": [0, 0, 30], \"shapes\": [{\"type\": \"sphere\", \"r\": 0.028575, \"material\": "
        "\"ball\"}]}],"
        " \"static\": [{\"type\": \"halfspace\", \"n\": [-1, 0, 0], \"offset\": 0, \"material\": \"rail\"}]}";
    crScene scene;
    crWorld* world = NULL;
    if (!good(text, &scene)) return;
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    CHECK_STATUS(cr_world_run(world, 0.2, NULL), CR_OK);
    double m = 0.17, r = 0.028575, I = 0.4 * m * r * r;
    // linear between rows of 1.5 and 2
    double e = 0.5 * (0.6765 + 0.728), slip = 1.0 + 30.0 * r, angle = atan2(slip, 1.75);
    double mu = 0.471 + (0.09244 - 0.471) * angle / (0.5 * acos(-1.0));
    double Pn = m * (1.0 + e) * 1.75, Pt = fmin(mu * Pn, 2.0 / 7.0 * m * slip);
    const double* v = cr_world_state(world)->v;
    CHECK_NEAR(v[0], -e * 1.75, 1e-9);
    // the touch is found with a gap of up to the deadband, which is part of the arm
    CHECK_NEAR(v[1], 1.0 - Pt / m, 1e-7);
    CHECK_NEAR(v[5], 30.0 - Pt * r / I, 1e-6);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

// With curves, and with the numbers that the curves have at this impact: the same motion in every method.
TEST(every_method_takes_them) {
    // lcp bounces at velocity level only
    static const char* const methods[] = {"cone", "event", "moreau", "lcp\", \"level\": \"velocity"};
    static const char frame[] =
        "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"method\": \"%s\", \"dt\": 0.01, \"duration\": "
        "0.2},"
        " \"impact\": {\"rule\": \"newton\"}, \"materials\": {\"m\": {%s}},"
        " \"bodies\": [{\"name\": \"b\", \"pos\": [0, 0, 0.2], \"mass\": 2, \"vel\": [0.5, 0.25, -2],"
        " \"omega\": [1, -2, 3], \"shapes\": [{\"type\": \"sphere\", \"r\": 0.1, \"material\": \"m\"}]}],"
        " \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0, \"material\": \"m\"}]}";
    static const char curves[] =
        "\"e\": {\"by\": [\"speed\", \"spin\"], \"x\": [1, 3], \"y\": [0, 6], \"values\": [[0.9, 0.7], [0.5, "
        "0.3]]}, \"mu\": {\"by\": \"slip\", \"rows\": [[0, 0.4], [1.5, 0.1]]}";
    double ux = 0.5 + 2.0 * 0.1, uy = 0.25 + 1.0 * 0.1, slip = sqrt(ux * ux + uy * uy);
    char constants[120];
    snprintf(constants, sizeof constants, "\"e\": %.17g, \"mu\": %.17g", 0.5 * (0.5 * 1.6 + 0.5 * 0.8),
             0.4 - 0.2 * slip);
    for (int k = 0; k < 4; k++) {
        double v[2][6];
        for (int i = 0; i < 2; i++) {
            char text[1600];
            crScene scene;
            crWorld* world = NULL;
            snprintf(text, sizeof text, frame, methods[k], i == 0 ? curves : constants);
            if (!good(text, &scene)) return;
            CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
            crTally tally = {0};
            for (int s = 0; s < 20; s++) {
                CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
                cr_tally_add(&tally, cr_world_certificate(world));
            }
            CHECK(tally.failed == 0 && tally.worst.impermissible == 0 && tally.worst.energy.created == 0.0);
            memcpy(v[i], cr_world_state(world)->v, sizeof v[i]);
            cr_world_destroy(world);
            cr_scene_free(&scene);
        }
        for (int d = 0; d < 6; d++) {
            test_check(fabs(v[0][d] - v[1][d]) <= 1e-12, __FILE__, __LINE__, "%s, v[%d]: %.17g, %.17g",
                       methods[k], d, v[0][d], v[1][d]);
        }
        CHECK(v[0][2] > 0.0);  // it bounced
    }
}

// Cloth: a ball that is hit through its centre slides for 2 v/(7 mu g), rolls at 5/7 v, then slows by 0.01 g; spin about the
// vertical falls by 10 rad/s^2.
TEST(ready_cloth_slides_rolls_and_spins) {
    static const char text[] =
        "{\"carom\": 1, \"step\": {\"dt\": 0.002, \"duration\": 1},"
        " \"materials\": {\"ball\": {\"ready\": \"pool-ball\"}, \"cloth\": {\"ready\": \"pool-cloth\"}},"
        " \"bodies\": [{\"name\": \"b\", \"pos\": [0, 0, 0.028575], \"vel\": [1, 0, 0],"
        " \"omega\": [0, 0, 40], \"shapes\": [{\"type\": \"sphere\", \"r\": 0.028575, \"material\": "
        "\"ball\"}]}],"
        " \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0, \"material\": \"cloth\"}]}";
    crScene scene;
    crWorld* world = NULL;
    if (!good(text, &scene)) return;
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    CHECK_NEAR(scene.model->bodies[1].mass, 0.170, 5e-4);
    const double* v = cr_world_state(world)->v;
    double slides = 2.0 / (7.0 * 0.2 * 9.81);
    CHECK_STATUS(cr_world_run(world, 0.05, NULL), CR_OK);
    // the moment of rolling friction acts while it slides too, on the ball alone
    CHECK_NEAR(v[0], 1.0 - 0.2 * 9.81 * 0.05, 1e-6);
    CHECK_NEAR(v[5], 40.0 - 10.0 * 0.05, 0.02);
    CHECK_STATUS(cr_world_run(world, 0.2, NULL), CR_OK);
    double rolling = v[0];
    CHECK(0.2 > slides && fabs(rolling - 5.0 / 7.0) < 0.02);
    CHECK_NEAR(v[4] * 0.028575, rolling, 1e-6);
    CHECK_STATUS(cr_world_run(world, 0.7, NULL), CR_OK);
    CHECK_NEAR(rolling - v[0], 0.01 * 9.81 * 0.5, 1e-5);
    CHECK_NEAR(v[5], 40.0 - 10.0 * 0.7, 0.02);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

// Laws take contacts that have rolling and spin friction too: a ball dropped on the cloth leaves with e of the cloth.
TEST(laws_on_cloth) {
    static const char text[] =
        "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"dt\": 0.01, \"duration\": 0.2},"
        " \"impact\": {\"rule\": \"sequence\", \"law\": \"chatterjee-ruina\"},"
        " \"materials\": {\"ball\": {\"ready\": \"pool-ball\"}, \"cloth\": {\"ready\": \"pool-cloth\"}},"
        " \"bodies\": [{\"name\": \"b\", \"pos\": [0, 0, 0.1], \"mass\": 0.17, \"vel\": [0, 0, -1], "
        "\"omega\": [3, 0, 9],"
        " \"shapes\": [{\"type\": \"sphere\", \"r\": 0.028575, \"material\": \"ball\"}]}],"
        " \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0, \"material\": \"cloth\"}]}";
    crScene scene;
    crWorld* world = NULL;
    if (!good(text, &scene)) return;
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    crTally tally = {0};
    for (int i = 0; i < 20; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        cr_tally_add(&tally, cr_world_certificate(world));
    }
    const double* v = cr_world_state(world)->v;
    double slip = 3.0 * 0.028575;  // against y; it sticks: 2/7 of it goes into y
    CHECK_NEAR(v[2], 0.5, 1e-9);
    CHECK_NEAR(v[1], -2.0 / 7.0 * slip, 1e-7);
    CHECK_NEAR(v[5], 9.0, 1e-9);
    CHECK(tally.worst.impermissible == 0 && tally.worst.energy.created == 0.0 && tally.failed == 0);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

// a scene with one material; the error it is refused with
static void refused(const char* material, crStatus status, const char* field) {
    char text[600];
    crScene scene;
    crError error;
    snprintf(text, sizeof text, "{\"carom\": 1, \"materials\": {\"m\": {%s}}}", material);
    crStatus got = read_text(text, &scene, &error);
    test_check(got == status && strcmp(error.field, field) == 0 && error.line == 1, __FILE__, __LINE__,
               "%s: status %d, field %s, %s", material, (int)got, error.field, error.message);
    if (got == CR_OK) cr_scene_free(&scene);
}

TEST(bad_coefficients_are_refused_by_field) {
    refused("\"et\": {\"by\": \"angel\", \"rows\": [[0, 0], [1, 0]]}", CR_ERR_NAME, "materials.m.et.by");
    refused("\"et\": {\"rows\": [[0, 0], [1, 0]]}", CR_ERR_FIELD, "materials.m.et.form");
    refused("\"et\": {\"by\": \"angle\", \"rows\": [[0, 0]]}", CR_ERR_SIZE, "materials.m.et.rows");
    refused("\"et\": {\"by\": \"angle\", \"rows\": [[0, 0], [1, 1.5]]}", CR_ERR_RANGE, "materials.m.et");
    refused("\"et\": {\"by\": \"angle\", \"rows\": [[1, 0], [0, 0]]}", CR_ERR_RANGE, "materials.m.et");
    refused("\"mu\": {\"by\": \"slip\", \"rows\": [[0, -1], [1, 0]]}", CR_ERR_RANGE, "materials.m.mu");
    refused("\"mu\": {\"form\": \"decay\", \"by\": \"slip\", \"near\": 1, \"scale\": 0}", CR_ERR_RANGE,
            "materials.m.mu");
    refused("\"mu\": {\"form\": \"decay\", \"near\": 1}", CR_ERR_NAME, "materials.m.mu.by");
    refused("\"mu\": {\"by\": \"slip\", \"rows\": [[0, 1], [1, 0]]}, \"mu2\": 1, \"axis\": [1, 0, 0]",
            CR_ERR_ARGUMENT, "materials.m.mu");
    refused("\"e\": {\"form\": \"bouncy\"}", CR_ERR_NAME, "materials.m.e.form");
    refused("\"e\": {\"form\": \"power\", \"grip\": 1}", CR_ERR_FIELD, "materials.m.e.grip");
    refused("\"et\": {\"form\": \"grip\", \"grip\": 0.2, \"limit\": 1.6}", CR_ERR_RANGE, "materials.m.et");
    refused(
        "\"e\": {\"by\": [\"speed\", \"speed\"], \"x\": [0, 1], \"y\": [0, 1], \"values\": [[0, 0], [0, 0]]}",
        CR_ERR_NAME, "materials.m.e.by");
    refused("\"e\": {\"by\": [\"speed\", \"spin\"], \"x\": [0, 1], \"y\": [0, 1], \"values\": [[0, 0]]}",
            CR_ERR_SIZE, "materials.m.e.values");
    refused("\"ready\": \"pool-bal\"", CR_ERR_NAME, "materials.m.ready");
}

static double bad_value(void* ctx, const crApproach* approach) {
    (void)approach;
    return *(const double*)ctx;
}

// functions of the user are asked at the impact, and their answers are checked there
TEST(functions_are_checked_where_they_are_asked) {
    double value = 0.5;
    crCurve curve = {.function = bad_value, .ctx = &value};
    crByImpact by = {.et = &curve};
    crCollision c = cr_collision();
    c.V = cr_vec3(-1.0, 1.0, 0.0);
    c.mu = 1.0;
    c.by_impact = &by;
    crContact contact;
    crMat3 frame;
    crError error = {0};
    CHECK_STATUS(cr_collision_contact(&c, &contact, &frame, &error), CR_OK);
    CHECK(contact.et == 0.5 && contact.mu == 1.0);
    value = 2.0;
    CHECK_STATUS(cr_collision_contact(&c, &contact, &frame, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "et");
    value = NAN;
    CHECK_STATUS(cr_collision_contact(&c, &contact, &frame, &error), CR_ERR_RANGE);
}

// derivatives take the curves along: against differences of the law's answers
TEST(gradients_take_the_curves_along) {
    const double x[2] = {0.0, 1.5}, value[2] = {0.6, 0.1};
    crCurve et = {.by = {CR_FIGURE_ANGLE}, .rows = 2, .columns = 1, .x = x, .value = value};
    crByImpact by = {.et = &et};
    crCollision c = cr_collision();
    c.V = cr_vec3(-2.0, 0.7, 0.2);
    c.mu = 2.0;
    c.e = 0.5;
    c.by_impact = &by;
    crGradient g;
    crLaw law = chatterjee_ruina();
    CHECK_STATUS(cr_law_gradient(&law, &c, 1e-9, &g, NULL), CR_OK);
    CHECK(g.verdict == CR_SMOOTH && g.differenced && !g.reads[CR_BY_ET]);
    crHit hit[2];
    for (int i = 0; i < 2; i++) {
        crCollision near = c;
        near.V.y += i == 0 ? -1e-6 : 1e-6;
        CHECK_STATUS(cr_law_apply(&law, &near, &hit[i], NULL), CR_OK);
    }
    CHECK_VEC(g.P_plus[CR_BY_VY], cr_scale(0.5e6, cr_sub(hit[1].P, hit[0].P)), 1e-8);
}

TEST(checkered_grounds) {
    crScene scene;
    if (!good("{\"carom\": 1, \"materials\": {\"m\": {\"color\": \"#102030\", \"checker\": \"#ffffff\"}}}",
              &scene))
        return;
    CHECK(scene.model->materials[1].color == 0x1102030U && scene.model->materials[1].checker == 0x1ffffffU);
    cr_scene_free(&scene);
    refused("\"checker\": \"white\"", CR_ERR_RANGE, "materials.m.checker");
}

// a look brings its colour where the scene gives none
TEST(looks_of_materials) {
    crScene scene;
    if (!good("{\"carom\": 1, \"materials\": {\"a\": {\"look\": \"wood\"}, \"b\": {\"look\": \"felt\", "
              "\"color\": "
              "\"#010203\"}, \"c\": {\"look\": \"plain\"}}}",
              &scene))
        return;
    const crMaterial* m = scene.model->materials;
    CHECK(m[1].look == CR_LOOK_WOOD && m[1].color != 0);
    CHECK(m[2].look == CR_LOOK_FELT && m[2].color == 0x1010203U);
    CHECK(m[3].look == CR_LOOK_PLAIN && m[3].color == 0);
    crMaterial bad = cr_material();
    bad.look = CR_LOOKS;
    CHECK(cr_model_add_material(scene.model, &bad) == CR_ERR_RANGE);
    cr_scene_free(&scene);
    refused("\"look\": \"marble\"", CR_ERR_NAME, "materials.m.look");
}
