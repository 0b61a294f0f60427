// test_restitution.c - named forms of restitution over speed, and the stroke of a cue.
#include "carom/forms.h"
#include "sample.h"
#include "test.h"

static crRestitution table_of(const crForm* form, double* speed, double* e) {
    int rows = cr_form_table(form, speed, e, NULL);
    CHECK(rows > 0 && rows <= CR_FORM_ROWS);
    return (crRestitution){.count = rows, .speed = speed, .e = e};
}

TEST(power_law_against_the_library_s_pow) {
    double speed[CR_FORM_ROWS], e[CR_FORM_ROWS];
    crRandom random = sample_seed(1);
    for (int i = 0; i < test_samples(2000); i++) {
        crForm form = {.kind = CR_FORM_POWER,
                       .speed = sample_uniform(&random, 0.1, 10.0),
                       .e = sample_uniform(&random, 0.1, 1.0),
                       .exponent = sample_uniform(&random, 0.0, 1.0),
                       .most = sample_uniform(&random, 0.5, 1.0)};
        crRestitution table = table_of(&form, speed, e);
        double v = form.speed * pow(2.0, sample_uniform(&random, -7.9, 7.9));
        double exact = fmin(form.most, form.e * pow(v / form.speed, -form.exponent));
        CHECK(fabs(cr_restitution_at(&table, v) - exact) <=
              2e-3 * exact + (exact == form.most ? 0.0 : 6e-3 * form.most));
        // at the rows themselves it is the form to rounding
        int row = (int)(sample_bits(&random) % CR_FORM_ROWS);
        double there = fmin(form.most, form.e * pow(speed[row] / form.speed, -form.exponent));
        CHECK_NEAR(e[row], there, 1e-13);
    }
}

// The motion itself: Hertz's force with Kuwabara and Kono's damping, rho (x^1.5 + 1.5 A sqrt(x) x'), m = 1.
static double collide(double rho, double A, double v) {
    double x = 0.0, t = 2e-5 / pow(rho, 0.4) / pow(v, 0.2), u = v;
    for (int i = 0; i < 10000000; i++) {
        double k[4][2], px = x, pu = u;
        for (int s = 0; s < 4; s++) {
            double y = fmax(px, 0.0);
            double f = rho * (y * sqrt(y) + 1.5 * A * sqrt(y) * pu);
            k[s][0] = pu;
            k[s][1] = -f;
            double h = s < 2 ? 0.5 * t : t;
            px = x + h * k[s][0];
            pu = u + h * k[s][1];
        }
        x += t / 6.0 * (k[0][0] + 2.0 * k[1][0] + 2.0 * k[2][0] + k[3][0]);
        u += t / 6.0 * (k[0][1] + 2.0 * k[1][1] + 2.0 * k[2][1] + k[3][1]);
        // the bodies part where the force is zero, before x is
        if (u < 0.0 && x + 1.5 * A * u <= 0.0) break;
    }
    return -u / v;
}

TEST(viscoelastic_spheres_against_their_motion) {
    double speed[CR_FORM_ROWS], e[CR_FORM_ROWS];
    const double rho = 1.0, A = 0.05;
    double reference = collide(rho, A, 1.0);
    crForm form = {.kind = CR_FORM_VISCOELASTIC, .speed = 1.0, .e = reference};
    crRestitution table = table_of(&form, speed, e);
    const double tries[] = {0.05, 0.3, 3.0, 20.0};
    for (int i = 0; i < 4; i++) {
        double exact = collide(rho, A, tries[i]);
        test_check(fabs(cr_restitution_at(&table, tries[i]) - exact) < 5e-3, __FILE__, __LINE__,
                   "at %g m/s: %g, the motion gives %g", tries[i], cr_restitution_at(&table, tries[i]),
                   exact);
    }
}

TEST(plastic_spheres) {
    double speed[CR_FORM_ROWS], e[CR_FORM_ROWS];
    crForm form = {.kind = CR_FORM_PLASTIC, .speed = 0.05};
    crRestitution table = table_of(&form, speed, e);
    CHECK(cr_restitution_at(&table, 0.01) == 1.0 && cr_restitution_at(&table, 0.05) == 1.0);
    // far beyond yield e falls with v^-1/4 (Johnson)
    double far = cr_restitution_at(&table, 0.05 * 256.0), half = cr_restitution_at(&table, 0.05 * 128.0);
    CHECK_NEAR(half / far, pow(2.0, 0.25), 2e-3);
    // Thornton's limit: 1.18 (vy/v)^(1/4)
    CHECK_NEAR(far, 1.18 * pow(256.0, -0.25), 3e-3);
    for (int i = 1; i < CR_FORM_ROWS; i++)
        CHECK(e[i] <= e[i - 1] && e[i] > 0.0 && e[i] <= 1.0);
}

TEST(splines_pass_through_their_rows_without_overshoot) {
    double speed[CR_FORM_ROWS], e[CR_FORM_ROWS];
    const double v[] = {0.0, 1.0, 2.0, 5.0, 9.0}, values[] = {0.95, 0.9, 0.5, 0.45, 0.45};
    crForm form = {.kind = CR_FORM_SPLINE, .count = 5, .speeds = v, .values = values};
    crRestitution table = table_of(&form, speed, e);
    for (int i = 0; i < 5; i++)
        CHECK_NEAR(cr_restitution_at(&table, v[i]), values[i], 1e-15);
    for (int i = 1; i < table.count; i++)
        CHECK(e[i] <= e[i - 1] + 1e-15 && speed[i] > speed[i - 1]);
}

TEST(bad_forms_are_refused_by_field) {
    double speed[CR_FORM_ROWS], e[CR_FORM_ROWS];
    const crForm good = {.kind = CR_FORM_POWER, .speed = 1.0, .e = 0.5, .exponent = 0.25, .most = 1.0};
    crForm forms[] = {good, good, good, good, good, good};
    forms[0].speed = 0.0;
    forms[1].e = 1.5;
    forms[2].exponent = NAN;
    forms[3].most = 0.0;
    forms[4].kind = (crFormKind)9;
    forms[5].kind = CR_FORM_SPLINE;
    const char* const fields[] = {"speed", "e", "exponent", "most", "kind", "rows"};
    for (int i = 0; i < 6; i++) {
        crError error = {0};
        CHECK(cr_form_table(&forms[i], speed, e, &error) < 0);
        CHECK_TEXT(error.field, fields[i]);
    }
}

// Energy and momentum of a stroke, and its two ends: through the centre, and the offset at which the ball rolls at once.
TEST(cue_strike) {
    const crCue cue = {.mass = 0.54, .end_mass = 0.006, .e = 0.75, .mu = 0.7};
    const double m = 0.17, R = 0.028575, V = 3.0;
    crStrike s;
    CHECK_STATUS(cr_cue_strike(&cue, m, R, V, 0.0, 0.0, &s, NULL), CR_OK);
    CHECK_NEAR(s.velocity.x, V * (1.0 + cue.e) * cue.mass / (cue.mass + m), 1e-12);
    CHECK(s.velocity.y == 0.0 && s.squirt == 0.0 && cr_norm(s.omega) == 0.0);
    // 2/5 R above the centre the ball leaves rolling: v = omega R
    CHECK_STATUS(cr_cue_strike(&cue, m, R, V, 0.0, 0.4 * R, &s, NULL), CR_OK);
    CHECK_NEAR(s.omega.y * R, s.velocity.x, 1e-12);
    // Newton's e at the point struck, and no energy from nowhere
    CHECK_STATUS(cr_cue_strike(&cue, m, R, V, 0.3 * R, -0.2 * R, &s, NULL), CR_OK);
    double speed = cr_norm(s.velocity), after = V - s.impulse / cue.mass;
    double point = speed + s.omega.y * (-0.2 * R) - s.omega.z * (0.3 * R);
    CHECK_NEAR(point - after, cue.e * V, 1e-12);
    double energy = 0.5 * m * speed * speed + 0.5 * 0.4 * m * R * R * cr_dot(s.omega, s.omega) +
                    0.5 * cue.mass * after * after;
    CHECK(energy < 0.5 * cue.mass * V * V);
    // left english: the ball goes to the right of the cue's line, by a degree or three
    CHECK(s.velocity.y < 0.0 && s.squirt > 0.01 && s.squirt < 0.06 && s.omega.z < 0.0);
    CHECK_STATUS(cr_cue_strike(&cue, m, R, V, 0.7 * R, 0.0, &s, NULL), CR_OK);
    CHECK(s.miscue);
    crError error = {0};
    CHECK_STATUS(cr_cue_strike(&cue, m, R, V, 1.1 * R, 0.0, &s, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "side");
}
