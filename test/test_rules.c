// The worked results of the rules for many contacts, from the papers and from closed forms.
#include "impact_case.h"
#include "resolve/kinds.h"

static crRule rule_named(const char* name, const crRuleParams* params) {
    crRule rule = {0};
    CHECK_STATUS(cr_rule_find(name, params, &rule, NULL), CR_OK);
    return rule;
}

TEST(catalogue_names_every_rule_once) {
    CHECK(cr_rule_count() == 8);
    for (int i = 0; i < cr_rule_count(); i++) {
        crRule rule = {0};
        CHECK_STATUS(cr_rule_find(cr_rule_info(i)->name, NULL, &rule, NULL), CR_OK);
        CHECK_TEXT(rule.name, cr_rule_info(i)->name);
        CHECK(rule.resolve != NULL);
    }
    CHECK(cr_rule_info(-1) == NULL && cr_rule_info(cr_rule_count()) == NULL);
    crError error = {0};
    crRule rule;
    CHECK_STATUS(cr_rule_find("nonsense", NULL, &rule, &error), CR_ERR_NAME);
    CHECK_TEXT(error.field, "rule");
    CHECK_TEXT(cr_unique_name(CR_UNIQUE_TIE), "tie-broken");
}

// five equal balls, one comes in: the sequence passes it on, one complementarity problem shares it out
TEST(five_ball_cradle) {
    const double v[5] = {1, 0, 0, 0, 0};
    Case* c = case_balls(5, NULL, 1.0, false, v);
    const char* passing[] = {"sequence", "feasible", "reflect"};
    for (int i = 0; i < 3; i++) {
        crRule rule = rule_named(passing[i], NULL);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_V(c, 1e-15, 0, 0, 0, 0, 1);
        CHECK(c->report.steps == 4 && c->report.unique == CR_UNIQUE_YES && c->report.flags == 0);
        CHECK(c->report.permissible && c->report.outcome == CR_OUTCOME_SOLVED);
    }
    const char* sharing[] = {"newton", "poisson"};
    for (int i = 0; i < 2; i++) {
        crRule rule = rule_named(sharing[i], NULL);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_V(c, 1e-14, -0.6, 0.4, 0.4, 0.4, 0.4);
        CHECK(c->report.permissible && c->report.unique == CR_UNIQUE_YES);
        CHECK_NEAR(c->report.energy_change, 0.0, 1e-15);
    }
    case_free(c);
}

TEST(three_ball_cradle) {
    const double one[3] = {1, 0, 0}, two[3] = {1, 1, 0};
    const char* names[] = {"sequence", "feasible", "reflect"};
    for (int i = 0; i < 3; i++) {
        crRule rule = rule_named(names[i], NULL);
        Case* c = case_balls(3, NULL, 1.0, false, one);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_V(c, 1e-15, 0, 0, 1);
        case_velocity(c, two);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_V(c, 1e-15, 0, 1, 1);
        case_free(c);
    }
}

// plastic: below the threshold, by e = 0 in one problem, and as the limit of a sequence
TEST(plastic_cradle) {
    const double v[3] = {1, 0, 0};
    Case* c = case_balls(3, NULL, 1.0, false, v);
    crRuleParams params = cr_rule_params();
    params.threshold = 2.0;
    crRule rule = cr__rule(&cr__rule_feasible, &params);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK_V(c, 1e-15, 1.0 / 3, 1.0 / 3, 1.0 / 3);
    CHECK((c->report.flags & CR_RULE_PLASTIC) != 0 && c->report.outcome_count == 1);
    case_free(c);
    c = case_balls(3, NULL, 0.0, false, v);
    const char* names[] = {"newton", "poisson", "coupled", "reflect", "sequence"};
    for (int i = 0; i < 5; i++) {
        rule = rule_named(names[i], NULL);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_V(c, 1e-12, 1.0 / 3, 1.0 / 3, 1.0 / 3);
        CHECK_NEAR(c->report.energy_change, -1.0 / 3, 1e-12);
    }
    // each impact halves the difference of two balls: the sequence has no end and is summed
    CHECK((c->report.flags & CR_RULE_EXTRAPOLATED) != 0 && c->report.steps < 20);
    case_free(c);
}

// a uniform rod (m = L = 1) falling flat onto frictionless supports at both ends, e = 1/2
static Case* flat_rod(void) {
    const double masses[2] = {1, 1.0 / 12}, left[2] = {1, -0.5}, right[2] = {1, 0.5}, v[2] = {-1, 0};
    Case* c = case_make(2, masses);
    case_contact(c, left, 0.5);
    case_contact(c, right, 0.5);
    case_velocity(c, v);
    return c;
}

TEST(flat_falling_rod) {
    Case* c = flat_rod();
    crRule rule = rule_named("sequence", NULL);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    // 1.5/4 left, 2.625/4 right, 1.21875/4 left: all binary fractions
    CHECK_V(c, 1e-15, 0.3359375, -0.140625);
    CHECK(c->report.steps == 3 && c->report.unique == CR_UNIQUE_TIE && (c->report.flags & CR_RULE_TIE) != 0);
    const crVec3 points[2] = {{-0.5, 0, 0}, {0.5, 0, 0}};
    crRuleParams params = cr_rule_params();
    params.points = points;
    params.direction = cr_vec3(-1, 0, 0);
    rule.params = &params;
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK_V(c, 1e-15, 0.3359375, 0.140625);
    const char* names[] = {"newton", "poisson", "reflect"};
    for (int i = 0; i < 3; i++) {
        rule = rule_named(names[i], NULL);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_V(c, 1e-15, 0.5, 0.0);
        CHECK(c->report.unique == CR_UNIQUE_YES && c->report.flags == 0);
    }
    case_free(c);
}

// seeds give both orders, the same one for the same seed
TEST(ties_by_seed) {
    Case* c = flat_rod();
    const crTies ways[] = {CR_TIES_PERTURB, CR_TIES_RANDOM};
    for (int w = 0; w < 2; w++) {
        int left = 0;
        for (uint64_t seed = 0; seed < 64; seed++) {
            crRuleParams params = cr_rule_params();
            params.ties = ways[w];
            params.seed = seed;
            crRule rule = cr__rule(&cr__rule_sequence, &params);
            CHECK_STATUS(case_run(c, &rule), CR_OK);
            double spin = c->v_plus[1];
            CHECK_NEAR(fabs(spin), 0.140625, 1e-15);
            CHECK(c->report.unique == CR_UNIQUE_TIE);
            CHECK_STATUS(case_run(c, &rule), CR_OK);
            CHECK(c->v_plus[1] == spin);
            left += spin < 0.0;
        }
        CHECK(left > 16 && left < 48);
    }
    case_free(c);
}

// Glocker's figure 9: a rod falls flat, e = 0, on two obstacles at x1 and x2 from its centre
TEST(rod_on_two_obstacles) {
    const char* names[] = {"newton", "poisson", "coupled", "reflect"};
    for (int i = 0; i < 4; i++) {
        crRule rule = rule_named(names[i], NULL);
        const double masses[2] = {1, 1.0 / 12}, v[2] = {-1, 0};
        // both on the right: the far one takes no impulse and opens
        const double near[2] = {1, 0.1}, far[2] = {1, 0.4}, across[2] = {1, -0.3};
        Case* c = case_make(2, masses);
        case_contact(c, near, 0.0);
        case_contact(c, far, 0.0);
        case_velocity(c, v);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        double p = 1.0 / (1.0 + 12 * 0.01);
        CHECK_NEAR(c->p[0], p, 1e-15);
        CHECK(c->p[1] == 0.0 && c->u_plus[1] > 0.0);
        CHECK_NEAR(c->u_plus[0], 0.0, 1e-15);
        case_free(c);
        // on opposite sides: both press and both stay shut
        c = case_make(2, masses);
        case_contact(c, near, 0.0);
        case_contact(c, across, 0.0);
        case_velocity(c, v);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_NEAR(c->p[0], 0.75, 1e-14);
        CHECK_NEAR(c->p[1], 0.25, 1e-14);
        CHECK_NEAR(c->u_plus[0], 0.0, 1e-15);
        CHECK_NEAR(c->u_plus[1], 0.0, 1e-15);
        case_free(c);
    }
}

// Glocker's figure 10: the rod of length l rocks about one obstacle and hits the other, a apart, e = 0
TEST(rocking_rod) {
    const char* names[] = {"newton", "poisson", "coupled", "reflect"};
    const double l = 1.0, critical = l / sqrt(3.0);
    const double spacings[] = {0.2, critical * (1 - 1e-9), critical * (1 + 1e-9), 0.9};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            double a = spacings[k];
            const double masses[2] = {1, l * l / 12}, left[2] = {1, -0.5 * a}, right[2] = {1, 0.5 * a};
            // turning about the right obstacle onto the left one: u = (-a, 0)
            const double v[2] = {-0.5 * a, 1};
            Case* c = case_make(2, masses);
            case_contact(c, left, 0.0);
            case_contact(c, right, 0.0);
            case_velocity(c, v);
            crRule rule = rule_named(names[i], NULL);
            CHECK_STATUS(case_run(c, &rule), CR_OK);
            CHECK_NEAR(c->u_plus[0], 0.0, 1e-15);
            if (a < critical) {
                CHECK(c->p[1] == 0.0 && c->u_plus[1] > 0.0 && c->v_plus[1] > 0.0);
            } else {
                CHECK(c->p[1] > 0.0);
                CHECK_NEAR(c->v_plus[0], 0.0, 1e-14);
                CHECK_NEAR(c->v_plus[1], 0.0, 1e-14);
            }
            case_free(c);
        }
    }
}

// Glocker's figure 7: a rod of length 1 hinged at one end strikes a floor with the other, alpha from the
// vertical. Coordinates x, y, spin of the centre; the hinge is two equality rows.
static Case* pendulum(double alpha, double mu, double e) {
    double s = sin(alpha), c = cos(alpha);
    const double masses[3] = {1, 1, 1.0 / 12};
    // the tip is at (s, -c)/2 from the centre, the hinge opposite; spin moves a point r by (-r_y, r_x)
    const double tip[6] = {0, 1, 0.5 * s, 1, 0, 0.5 * c};
    const double hinge[6] = {1, 0, -0.5 * c, 0, 1, -0.5 * s};
    Case* k = case_make(3, masses);
    case_cone(k, 2, tip, mu, e, 0.0);
    case_block(k, CR_BLOCK_EQUALITY, 2, hinge);
    // spin -1 about the hinge: the tip goes down at sin(alpha)
    const double v[3] = {-0.5 * c, -0.5 * s, -1};
    case_velocity(k, v);
    return k;
}

TEST(impact_pendulum_intact) {
    const double frictions[] = {0.0, 0.3, 0.5, 1.0};
    const double angles[] = {30 * CR_PI / 180, 80 * CR_PI / 180};
    for (int a = 0; a < 2; a++) {
        for (int m = 0; m < 4; m++) {
            double s = sin(angles[a]), c = cos(angles[a]), mu = frictions[m];
            Case* k = pendulum(angles[a], mu, 1.0);
            // Newton: the spin is reversed and nothing is lost, whatever the friction; where friction against
            // the slip after would outweigh the normal impulse there is no solution at all
            crRule rule = rule_named("newton", NULL);
            CHECK_STATUS(case_run(k, &rule), CR_OK);
            if (s > mu * c) {
                CHECK_NEAR(k->v_plus[2], 1.0, 1e-13);
                CHECK_NEAR(k->report.energy_change, 0.0, 1e-13);
                CHECK_NEAR(k->report.margins.joint, 0.0, 1e-13);
            }
            CHECK((k->report.outcome == CR_OUTCOME_SOLVED) == (s > mu * c));
            // Poisson: the tip slides inwards before and outwards after, so friction helps compression and
            // hinders expansion: moment arms s + mu c, then s - mu c about the hinge. Steep enough, the tip
            // stays
            rule = rule_named("poisson", NULL);
            CHECK_STATUS(case_run(k, &rule), CR_OK);
            double lost = k->report.energy_change;
            CHECK(lost <= 1e-14);
            CHECK(mu == 0.0 ? fabs(lost) < 1e-13 : lost < -1e-2);
            CHECK_NEAR(k->v_plus[2], fmax(0.0, (s - mu * c) / (s + mu * c)), 1e-12);
            CHECK(k->report.permissible);
            case_free(k);
        }
    }
}

// the same pendulum by the sequence: one impact with the hinge held, many with the bodies apart
TEST(impact_pendulum_apart) {
    double alpha = 0.9, s = sin(alpha);
    for (int m = 0; m < 2; m++) {
        double e = m == 0 ? 0.0 : 0.6;
        Case* k = pendulum(alpha, 0.0, e);
        crRule rule = rule_named("sequence", NULL);
        CHECK_STATUS(case_run(k, &rule), CR_OK);
        CHECK(k->report.steps == 1);
        CHECK_NEAR(k->v_plus[2], e, 1e-14);
        crRuleParams params = cr_rule_params();
        params.mechanism = CR_MECHANISM_APART;
        rule.params = &params;
        CHECK_STATUS(case_run(k, &rule), CR_OK);
        CHECK(k->report.permissible && k->report.energy_change < 0.0);
        CHECK(((k->report.flags & CR_RULE_EXTRAPOLATED) != 0) == (e == 0.0));
        double jumped[3];
        memcpy(jumped, k->v_plus, sizeof jumped);
        // the same by bare hands: floor and hinge in turn, whichever is faster, to the end
        double v[3];
        memcpy(v, k->v, sizeof v);
        int impacts = 0;
        for (; impacts < 100000; impacts++) {
            double tip = v[1] + 0.5 * s * v[2], hx = v[0] - 0.5 * cos(alpha) * v[2],
                   hy = v[1] - 0.5 * s * v[2];
            double hinge = sqrt(hx * hx + hy * hy);
            if (fmax(-tip, hinge) < 1e-15) break;
            if (-tip > hinge) {
                double p = -(1 + e) * tip / (1 + 3 * s * s);
                v[1] += p;
                v[2] += 6 * s * p;
            } else {
                // free rod with its end stopped: angular momentum about that end is kept
                double c = cos(alpha);
                double L = v[2] / 12 + 0.5 * (s * v[1] + c * v[0]);
                v[2] = 3 * L;
                v[0] = 0.5 * c * v[2];
                v[1] = 0.5 * s * v[2];
            }
        }
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(jumped[i], v[i], 1e-11);
        }
        params.extrapolate = false;
        CHECK_STATUS(case_run(k, &rule), CR_OK);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(k->v_plus[i], v[i], 1e-11);
        }
        printf("pendulum apart, e = %g: spin after %.6f (intact %.6f), %d impacts by hand\n", e, v[2], e,
               impacts);
        case_free(k);
    }
}

// two equal spheres hit a third at rest from both sides of its path, 60 degrees apart (planar, no friction)
TEST(two_spheres_hit_a_third) {
    double s = 0.5, q = sqrt(0.75);
    // coordinates: third x y, first x y, second x y; both normals point to the third
    const double a[6] = {q, s, -q, -s, 0, 0}, b[6] = {q, -s, 0, 0, -q, s};
    const double v[6] = {0, 0, q, s, q, -s};
    Case* c = case_make(6, NULL);
    case_contact(c, a, 1.0);
    case_contact(c, b, 1.0);
    case_velocity(c, v);
    // both at once: u = -1 each, W = [[2, 1/2], [1/2, 2]], so p = 2/(5/2) each
    const char* names[] = {"newton", "poisson", "reflect"};
    for (int i = 0; i < 3; i++) {
        crRule rule = rule_named(names[i], NULL);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_V(c, 1e-15, 1.6 * q, 0, 0.2 * q, 0.2 * s, 0.2 * q, -0.2 * s);
    }
    // one after the other: 1, then the second approaches at 1 - 1/2 and gets 1/2
    crRule rule = rule_named("sequence", NULL);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK(c->report.unique == CR_UNIQUE_TIE && c->report.steps == 2);
    CHECK_NEAR(c->p[0], 1.0, 1e-15);
    CHECK_NEAR(c->p[1], 0.5, 1e-15);
    rule = rule_named("feasible", NULL);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK(c->report.outcome_count == 2 && c->report.unique == CR_UNIQUE_NO &&
          (c->report.flags & CR_RULE_TIE) != 0);
    CHECK(c->report.chosen == 0 && c->p[0] == 1.0);
    case_free(c);
}

// Newton with a contact that was opening, and a coupled restitution out of thin air: energy is made and said
// so
TEST(created_energy_is_reported) {
    // contact 2 opens at .1 and is shut by the blow at contact 1: dT = ((1-1) u1 p1 + (1-0) .1 p2)/2
    const double v[3] = {2, 0, 0.1};
    Case* c = case_balls(3, NULL, 1.0, false, v);
    c->block[1].e = 0.0;
    crRule rule = rule_named("newton", NULL);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK_NEAR(c->report.energy_change, 0.05 * 3.8 / 3, 1e-15);
    CHECK_NEAR(c->report.energy_change, case_energy(c, c->v_plus) - case_energy(c, c->v), 1e-14);
    CHECK(c->report.creates_energy && !c->report.permissible && c->report.outcome == CR_OUTCOME_SOLVED);
    case_free(c);
    const double v2[3] = {1, 0, 0}, eps[4] = {1, 0, 3, 1};
    c = case_balls(3, NULL, 0.0, false, v2);
    crRuleParams params = cr_rule_params();
    params.eps = eps;
    rule = cr__rule(&cr__rule_coupled, &params);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    double made = case_energy(c, c->v_plus) - case_energy(c, c->v);
    CHECK_NEAR(c->report.energy_change, made, 1e-14);
    CHECK(made > 1.0 && c->report.creates_energy && !c->report.permissible);
    case_free(c);
}

// a full restitution matrix that passes the cradle on: what contact 1 brings in, contact 2 gives back
TEST(coupled_cradle) {
    const double v[3] = {1, 0, 0}, eps[4] = {0, 0, 1, 0};
    Case* c = case_balls(3, NULL, 0.0, false, v);
    crRuleParams params = cr_rule_params();
    params.eps = eps;
    crRule rule = cr__rule(&cr__rule_coupled, &params);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK_V(c, 1e-15, 0, 0, 1);
    CHECK_NEAR(c->report.energy_change, 0.0, 1e-15);
    case_free(c);
}

// a ball squeezed between two walls, e = 1, can never end
TEST(cycles_are_noticed) {
    const double left[1] = {1}, right[1] = {-1}, v[1] = {-1};
    Case* c = case_make(1, NULL);
    case_contact(c, left, 1.0);
    case_contact(c, right, 1.0);
    case_velocity(c, v);
    const char* names[] = {"sequence", "feasible", "reflect"};
    for (int i = 0; i < 3; i++) {
        crRule rule = rule_named(names[i], NULL);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK(c->report.outcome == CR_OUTCOME_STALLED && (c->report.flags & CR_RULE_CYCLE) != 0);
        // feasible has no outcome to choose and falls back to the plastic impact
        bool plastic = (c->report.flags & CR_RULE_PLASTIC) != 0;
        CHECK(plastic == (i == 1) && c->report.permissible == plastic);
    }
    // with e < 1 it comes to rest, and the sum of its bounces is geometric
    c->block[0].e = c->block[1].e = 0.9;
    crRule rule = rule_named("sequence", NULL);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK(c->report.outcome == CR_OUTCOME_SOLVED && (c->report.flags & CR_RULE_EXTRAPOLATED) != 0);
    CHECK_NEAR(c->v_plus[0], 0.0, 1e-12);
    // left: 1.9 (1 + .81 + ...), right: .9 of it
    CHECK_NEAR(c->p[0], 1.9 / (1 - 0.81), 1e-10);
    CHECK_NEAR(c->p[1], 0.9 * 1.9 / (1 - 0.81), 1e-10);
    case_free(c);
}

// a wall driven at +1 hits a ball at rest, e = 1: the ball leaves at 2, the wall has worked 2 J
TEST(driven_bodies_work) {
    const double row[1] = {1}, v[1] = {0};
    Case* c = case_make(1, NULL);
    case_contact(c, row, 1.0);
    case_velocity(c, v);
    c->driven[0] = -1.0;
    for (int i = 0; i < cr_rule_count(); i++) {
        if (strcmp(cr_rule_info(i)->name, "coupled") == 0) continue;
        crRule rule = rule_named(cr_rule_info(i)->name, NULL);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_NEAR(c->v_plus[0], 2.0, 1e-11);
        CHECK_NEAR(c->report.contact_energy, 0.0, 1e-11);
        CHECK_NEAR(c->report.work, 2.0, 1e-10);
        CHECK_NEAR(c->report.energy_change, 2.0, 1e-10);
        CHECK(c->report.permissible);
    }
    case_free(c);
}

// a hammer blow f = -3 on a ball that rests on a table, e = 1/2: the table answers within the same instant
TEST(prescribed_impulse) {
    const double row[1] = {1}, v[1] = {0}, f[1] = {-3};
    Case* c = case_make(1, NULL);
    case_contact(c, row, 0.5);
    case_velocity(c, v);
    crRuleParams params = cr_rule_params();
    params.impulse = f;
    // Newton knows no approach before; Poisson compresses by 3 and gives 1.5 back
    const struct {
        const char* name;
        double p;
    } expected[] = {
        {"newton", 3.0}, {"poisson", 4.5}, {"sequence", 4.5}, {"feasible", 4.5}, {"weighted", 4.5}};
    for (int i = 0; i < 5; i++) {
        crRule rule = rule_named(expected[i].name, &params);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_NEAR(c->p[0], expected[i].p, 1e-14);
        double after = c->v_plus[0] - 3.0;
        CHECK_NEAR(c->report.margins.penetration, after, 1e-14);
        CHECK_NEAR(c->report.energy_change, 0.5 * after * after, 1e-14);
        CHECK_NEAR(c->report.contact_energy + c->report.work, c->report.energy_change, 1e-14);
    }
    case_free(c);
}

TEST(refusals_name_the_field) {
    const double v[3] = {1, 0, 0};
    Case* c = case_balls(3, NULL, 1.0, false, v);
    crRuleParams params = cr_rule_params();
    crRule rule = rule_named("poisson", &params);
    c->block[1].kind = CR_BLOCK_BOX;
    CHECK_STATUS(case_run(c, &rule), CR_ERR_ARGUMENT);
    CHECK_TEXT(c->error.field, "blocks");
    c->block[1].kind = CR_BLOCK_UNILATERAL;
    params.directions = 2;
    CHECK_STATUS(case_run(c, &rule), CR_ERR_RANGE);
    CHECK_TEXT(c->error.field, "directions");
    params = cr_rule_params();
    params.tolerance = -1.0;
    CHECK_STATUS(case_run(c, &rule), CR_ERR_RANGE);
    CHECK_TEXT(c->error.field, "tolerance");
    params = cr_rule_params();
    const double soft[2] = {1, 0};
    params.stiffness = soft;
    rule = rule_named("chain", &params);
    CHECK_STATUS(case_run(c, &rule), CR_ERR_RANGE);
    CHECK_TEXT(c->error.field, "stiffness");
    params = cr_rule_params();
    params.threshold = (double)NAN;
    rule = rule_named("feasible", &params);
    CHECK_STATUS(case_run(c, &rule), CR_ERR_RANGE);
    CHECK_TEXT(c->error.field, "threshold");
    const double eps[4] = {0, 0, (double)INFINITY, 0};
    params = cr_rule_params();
    params.eps = eps;
    rule = rule_named("coupled", &params);
    CHECK_STATUS(case_run(c, &rule), CR_ERR_FINITE);
    CHECK_TEXT(c->error.field, "eps");
    c->block[1].e = 0.5;
    rule = rule_named("reflect", NULL);
    CHECK_STATUS(case_run(c, &rule), CR_ERR_RANGE);
    CHECK_TEXT(c->error.field, "e");
    CHECK_STATUS(cr_rule_run(NULL, &c->problem, &c->arena, c->p, &c->report, NULL), CR_ERR_ARGUMENT);
    case_free(c);
}
