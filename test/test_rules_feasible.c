// The feasible rule against reflections done by bare hands in velocity space (Seghete and Murphey).
#include "impact_case.h"
#include "resolve/kinds.h"

#define LEAVES 4096

// all valid velocities reachable by reflections at violated surfaces, unmerged
typedef struct Leaves {
    int count;
    int deepest;
    double v[LEAVES][8];
} Leaves;

static double row_dot(const Case* c, int i, const double* v) {
    double sum = 0.0;
    for (int j = 0; j < c->nv; j++) {
        sum += c->J[i * c->nv + j] * v[j];
    }
    return sum;
}

// G_u v with a diagonal M
static void reflect(const Case* c, int i, const double* v, double* out) {
    const double* u = c->J + i * c->nv;
    double w = 0.0;
    for (int j = 0; j < c->nv; j++) {
        w += u[j] * u[j] / c->M[j * c->nv + j];
    }
    double s = 2.0 * row_dot(c, i, v) / w;
    for (int j = 0; j < c->nv; j++) {
        out[j] = v[j] - s * u[j] / c->M[j * c->nv + j];
    }
}

// false where there are too many
static bool explore(const Case* c, const double* v, double tol, int depth, Leaves* leaves) {
    bool valid = true;
    if (depth > leaves->deepest) leaves->deepest = depth;
    for (int i = 0; i < c->rows; i++) {
        if (row_dot(c, i, v) >= -tol) continue;
        double next[8];
        valid = false;
        reflect(c, i, v, next);
        if (depth > 200 || !explore(c, next, tol, depth + 1, leaves)) return false;
    }
    if (!valid) return true;
    if (leaves->count == LEAVES) return false;
    memcpy(leaves->v[leaves->count++], v, (size_t)c->nv * sizeof *v);
    return true;
}

static double distance(const Case* c, const double* a, const double* b) {
    double sum = 0.0;
    for (int j = 0; j < c->nv; j++) {
        sum += c->M[j * c->nv + j] * (a[j] - b[j]) * (a[j] - b[j]);
    }
    return sqrt(sum);
}

// two balls in a row at a wall: ball 1 against it, ball 2 against ball 1
static Case* balls_at_wall(double m1, double m2, double v1, double v2) {
    const double masses[2] = {m1, m2}, u[2] = {1, 0}, w[2] = {-1, 1}, v[2] = {v1, v2};
    Case* c = case_make(2, masses);
    case_contact(c, u, 1.0);
    case_contact(c, w, 1.0);
    case_velocity(c, v);
    return c;
}

TEST(two_equal_balls_turn_back) {
    crRandom random = sample_seed(1);
    crRule rule = cr__rule(&cr__rule_feasible, NULL);
    for (int i = 0; i < 1000; i++) {
        double v1 = -sample_uniform(&random, 0.01, 2.0), v2 = v1 - sample_uniform(&random, 0.01, 2.0);
        Case* c = balls_at_wall(1.0, 1.0, v1, v2);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK_V(c, 1e-14, -v1, -v2);
        CHECK(c->report.bound == 4 && c->report.steps == 4 && c->report.outcome_count == 1);
        CHECK(c->report.unique == CR_UNIQUE_YES && c->report.permissible);
        case_free(c);
    }
}

// masses 1.1 and 1: the two maps of four reflections, printed to four digits in the paper
TEST(two_unequal_balls) {
    const double printed[2][2][2] = {{{-0.9955, -0.0907}, {0.0998, -0.9955}},
                                     {{-0.9955, 0.0907}, {-0.0998, -0.9955}}};
    // G_u = diag(-1, 1); G_v = I - 2 Minv v^T v / (v Minv v^T)
    const double a = 1.0 / 1.1, w = a + 1.0;
    const double Gu[2][2] = {{-1, 0}, {0, 1}}, Gv[2][2] = {{1 - 2 * a / w, 2 * a / w}, {2 / w, 1 - 2 / w}};
    crRule rule = cr__rule(&cr__rule_feasible, NULL);
    const double v0[2] = {-1, -2};
    Case* c = balls_at_wall(1.1, 1.0, v0[0], v0[1]);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK(c->report.outcome_count == 2 && c->report.unique == CR_UNIQUE_NO && c->report.bound == 4);
    CHECK(c->report.steps == 4);
    double expected[2][2];
    for (int first = 0; first < 2; first++) {
        double x[2] = {v0[0], v0[1]};
        double map[2][2] = {{1, 0}, {0, 1}};
        for (int step = 0; step < 4; step++) {
            const double(*G)[2] = (step + first) % 2 == 0 ? Gu : Gv;
            double y[2], next[2][2];
            for (int i = 0; i < 2; i++) {
                y[i] = G[i][0] * x[0] + G[i][1] * x[1];
                for (int j = 0; j < 2; j++) {
                    next[i][j] = G[i][0] * map[0][j] + G[i][1] * map[1][j];
                }
            }
            memcpy(x, y, sizeof x);
            memcpy(map, next, sizeof map);
        }
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                CHECK_NEAR(map[i][j], printed[first][i][j], 5e-5);
            }
            CHECK_NEAR(c->outcome_v[first][i], x[i], 1e-12);
        }
        memcpy(expected[first], x, sizeof x);
    }
    // the two are equally far from v0: a tie, broken by the lower first surface
    CHECK_NEAR(distance(c, expected[0], v0), distance(c, expected[1], v0), 1e-12);
    CHECK((c->report.flags & CR_RULE_TIE) != 0 && c->report.chosen == 0);
    CHECK_V(c, 1e-12, expected[0][0], expected[0][1]);
    case_free(c);
}

// hull: the foot of the perpendicular on the segment of two outcomes; arc: that direction, all the energy
TEST(hull_and_arc) {
    Case* c = balls_at_wall(1.1, 1.0, -1, -2);
    crRuleParams params = cr_rule_params();
    params.pick = CR_PICK_HULL;
    crRule rule = cr__rule(&cr__rule_feasible, &params);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK(c->report.chosen == -1 && c->report.unique == CR_UNIQUE_NO && c->report.permissible);
    double middle[2];
    for (int i = 0; i < 2; i++) {
        middle[i] = 0.5 * (c->outcome_v[0][i] + c->outcome_v[1][i]);
    }
    CHECK_V(c, 1e-12, middle[0], middle[1]);
    CHECK(c->report.energy_change < -1e-3);
    params.pick = CR_PICK_ARC;
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    double s = sqrt(case_energy(c, c->v) / case_energy(c, middle));
    CHECK_V(c, 1e-12, s * middle[0], s * middle[1]);
    CHECK_NEAR(c->report.energy_change, 0.0, 1e-13);
    case_free(c);
}

// Truesdell: a point hits the corner of a convex wedge and leaves by the edge that changes it least
TEST(truesdell_wedge) {
    crRandom random = sample_seed(2);
    crRuleParams params = cr_rule_params();
    params.corner = CR_CORNER_CONVEX;
    crRule rule = cr__rule(&cr__rule_feasible, &params);
    int impacts = 0;
    for (int i = 0; i < 1000; i++) {
        double a = sample_uniform(&random, 0, 2 * CR_PI), b = a + sample_uniform(&random, 0.1, 3.0);
        const double n1[2] = {cos(a), sin(a)}, n2[2] = {cos(b), sin(b)};
        double v1 = sample_uniform(&random, -1, 1), v2 = sample_uniform(&random, -1, 1);
        const double v[2] = {v1, v2};
        Case* c = case_make(2, NULL);
        case_contact(c, n1, 1.0);
        case_contact(c, n2, 1.0);
        case_velocity(c, v);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        double u1 = row_dot(c, 0, v), u2 = row_dot(c, 1, v);
        if (u1 >= 0.0 || u2 >= 0.0) {
            CHECK(c->p[0] == 0.0 && c->p[1] == 0.0);
        } else {
            bool first = u1 > u2;
            CHECK_NEAR(c->p[0], first ? -2 * u1 : 0.0, 1e-15);
            CHECK_NEAR(c->p[1], first ? 0.0 : -2 * u2, 1e-15);
            CHECK(c->report.outcome_count == 2 && c->report.unique == CR_UNIQUE_NO);
            impacts++;
        }
        CHECK(c->report.permissible && (c->report.flags & CR_RULE_CONVEX) != 0);
        case_free(c);
    }
    CHECK(impacts > 100);
}

static Case* random_corner(crRandom* random, int surfaces) {
    // as many dimensions as surfaces: the corner has an inside
    int nv = surfaces + (int)sample_uniform(random, 0, 5);
    double masses[8], row[8], v[8];
    for (int i = 0; i < nv; i++) {
        masses[i] = sample_log(random, 0.1, 10);
        v[i] = sample_uniform(random, -1, 1);
    }
    Case* c = case_make(nv, masses);
    for (int k = 0; k < surfaces; k++) {
        for (int i = 0; i < nv; i++) {
            row[i] = sample_uniform(random, -1, 1);
        }
        case_contact(c, row, 1.0);
    }
    case_velocity(c, v);
    return c;
}

// every leaf is an outcome and every outcome is a leaf; returns the greatest distance between partners
static double compare(const Case* c, const Leaves* leaves) {
    double worst = 0.0;
    for (int side = 0; side < 2; side++) {
        int from = side == 0 ? leaves->count : c->report.outcome_count;
        int to = side == 0 ? c->report.outcome_count : leaves->count;
        for (int i = 0; i < from; i++) {
            double nearest = (double)INFINITY;
            for (int j = 0; j < to; j++) {
                const double* leaf = leaves->v[side == 0 ? i : j];
                nearest = fmin(nearest, distance(c, leaf, c->outcome_v[side == 0 ? j : i]));
            }
            worst = fmax(worst, nearest);
        }
    }
    return worst / sqrt(case_energy(c, c->v));
}

TEST(two_surfaces_end_within_the_bound) {
    crRandom random = sample_seed(3);
    static Leaves leaves;
    double worst = 0.0, energy = 0.0;
    int impacts = 0, ties = 0, twice = 0, longest = 0;
    for (int i = 0; i < test_samples(100000); i++) {
        Case* c = random_corner(&random, 2);
        // the angle between surfaces as between vectors in the metric, by the other route: cosine from u Minv
        // w
        double a = 0, b = 0, d = 0;
        for (int j = 0; j < c->nv; j++) {
            double m = c->M[j * c->nv + j];
            a += c->J[j] * c->J[j] / m;
            b += c->J[c->nv + j] * c->J[c->nv + j] / m;
            d += c->J[j] * c->J[c->nv + j] / m;
        }
        int N = (int)ceil(CR_PI / acos(-d / sqrt(a * b)) - 1e-9);
        // both branches may go the whole way
        crRuleParams params = cr_rule_params();
        params.budget = 2 * N + 1;
        crRule rule = cr__rule(&cr__rule_feasible, &params);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        leaves.count = leaves.deepest = 0;
        CHECK(c->report.bound == N || fabs(d) > 0.999999 * sqrt(a * b));
        CHECK(c->report.steps <= N && c->report.outcome_count <= 2);
        CHECK(c->report.outcome == CR_OUTCOME_SOLVED && c->report.verdict != CR_TRUTH_NO);
        CHECK((c->report.unique == CR_UNIQUE_YES) == (c->report.outcome_count == 1));
        if (N < 100 && explore(c, c->v, 1e-12, 0, &leaves)) {
            worst = fmax(worst, compare(c, &leaves));
            CHECK(leaves.deepest == c->report.steps);
        }
        // in a narrow wedge the impulses are large and the energy is what is left of p.W p after cancelling
        double size = a * c->p[0] * c->p[0] + b * c->p[1] * c->p[1] + 2 * fabs(d) * c->p[0] * c->p[1];
        energy = fmax(energy, fabs(c->report.energy_change) / (size + case_energy(c, c->v)));
        impacts += c->report.steps > 0;
        ties += (c->report.flags & CR_RULE_TIE) != 0;
        twice += c->report.outcome_count == 2;
        longest = c->report.steps > longest ? c->report.steps : longest;
        case_free(c);
    }
    CHECK(worst < 1e-11 && energy < 1e-14);
    printf(
        "two surfaces: %d impacts, %d with two outcomes (%d equally near), longest %d, outcomes off by %.1e, "
        "energy by %.1e\n",
        impacts, twice, ties, longest, worst, energy);
}

TEST(three_surfaces_against_all_branches) {
    crRandom random = sample_seed(4);
    crRule rule = cr__rule(&cr__rule_feasible, NULL);
    static Leaves leaves;
    double worst = 0.0;
    int compared = 0, most = 0, skipped = 0;
    for (int i = 0; i < test_samples(20000); i++) {
        Case* c = random_corner(&random, 3);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        leaves.count = leaves.deepest = 0;
        if ((c->report.flags & CR_RULE_INCOMPLETE) != 0 || c->report.outcome_count > 64 ||
            !explore(c, c->v, 1e-12, 0, &leaves)) {
            skipped++;
            case_free(c);
            continue;
        }
        double limit = 3.0;
        for (int k = 1; k < c->report.steps; k++) {
            limit *= 2.0;
        }
        CHECK(c->report.outcome_count <= limit);
        worst = fmax(worst, compare(c, &leaves));
        for (int k = 0; k < c->report.outcome_count; k++) {
            for (int r = 0; r < 3; r++) {
                CHECK(row_dot(c, r, c->outcome_v[k]) >= -1e-10);
                CHECK(c->report.outcome_p[k * 3 + r] >= 0.0);
            }
            CHECK_NEAR(case_energy(c, c->outcome_v[k]) / case_energy(c, c->v), 1.0, 1e-11);
        }
        // nearest in the metric
        for (int k = 0; k < c->report.outcome_count; k++) {
            CHECK(distance(c, c->v_plus, c->v) <= distance(c, c->outcome_v[k], c->v) * (1 + 1e-8) + 1e-12);
        }
        compared++;
        most = c->report.outcome_count > most ? c->report.outcome_count : most;
        case_free(c);
    }
    CHECK(worst < 1e-11 && skipped < compared / 20);
    printf("three surfaces: %d compared with all branches, %d skipped, at most %d outcomes, off by %.1e\n",
           compared, skipped, most, worst);
}

// A permissible velocity, or one of which rounding in a narrow corner lets nobody say that it is not. Where no branch has ended the
// velocity is the plastic one, and the outcome says so.
static bool honest(const Case* c) {
    bool ends = c->report.outcome == CR_OUTCOME_SOLVED || c->report.outcome == CR_OUTCOME_UNSURE;
    return c->report.verdict != CR_TRUTH_NO && (ends || (c->report.flags & CR_RULE_PLASTIC) != 0);
}

// losing energy at each reflection, still every outcome is permissible; a small budget is reported
TEST(inelastic_branches_and_budget) {
    crRandom random = sample_seed(5);
    int truncated = 0, plastic = 0, limited = 0;
    for (int i = 0; i < test_samples(20000); i++) {
        Case* c = random_corner(&random, 3);
        crRuleParams params = cr_rule_params();
        params.threshold = i % 2 == 0 ? 0.0 : 0.05;
        for (int k = 0; k < 3; k++) {
            c->block[k].e = sample_uniform(&random, 0, 1);
        }
        crRule rule = cr__rule(&cr__rule_feasible, &params);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK(honest(c));
        truncated += (c->report.flags & CR_RULE_TRUNCATED) != 0;
        plastic += (c->report.flags & CR_RULE_PLASTIC) != 0;
        params.budget = 3;
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK(honest(c));
        if ((c->report.flags & CR_RULE_INCOMPLETE) != 0) {
            CHECK(c->report.unique != CR_UNIQUE_YES && c->report.outcome_count >= 1);
            limited++;
        }
        case_free(c);
    }
    printf("inelastic: %d truncated, %d plastic, %d out of a budget of 3\n", truncated, plastic, limited);
    CHECK(plastic > 0 && limited > 0);
}

// plastic or nearly plastic balls in a row: the impacts go on for ever, and the sum of their impulses is known. With
// e < 1 the balls end together (momentum over mass) as long as none of them gets away, which small e does not let it
TEST(soft_cradle_ends_together) {
    for (int balls = 2; balls <= 5; balls++) {
        for (int step = 0; step < 4; step++) {
            double v[5] = {1, 0, 0, 0, 0};
            Case* c = case_make(balls, NULL);
            for (int i = 0; i + 1 < balls; i++) {
                double row[5] = {0};
                row[i] = -1.0;
                row[i + 1] = 1.0;
                case_contact(c, row, 0.02 * step);
            }
            case_velocity(c, v);
            crRule rule = cr__rule(&cr__rule_feasible, NULL);
            CHECK_STATUS(case_run(c, &rule), CR_OK);
            CHECK(c->report.permissible && c->report.outcome == CR_OUTCOME_SOLVED);
            CHECK((c->report.flags & CR_RULE_CYCLE) == 0);
            for (int i = 0; i < balls && (balls == 3 || step == 0); i++) {
                CHECK_NEAR(c->v_plus[i], 1.0 / balls, 1e-7);
            }
            case_free(c);
        }
    }
}

// n walls around an axis, and a velocity along it: turning and mirroring the walls changes nothing, so the outcomes are those of
// all branches although only one of each kind is followed
static Case* round_corner(int walls, double steep, double along, double across) {
    Case* c = case_make(3, NULL);
    for (int i = 0; i < walls; i++) {
        double angle = 2 * CR_PI * i / walls;
        const double row[3] = {cos(steep) * cos(angle), cos(steep) * sin(angle), sin(steep)};
        case_contact(c, row, 1.0);
    }
    const double v[3] = {across, 0.0, along};
    case_velocity(c, v);
    return c;
}

TEST(mirror_images_are_found) {
    crRandom random = sample_seed(7);
    crRule rule = cr__rule(&cr__rule_feasible, NULL);
    static Leaves leaves;
    double worst = 0.0;
    int compared = 0, several = 0;
    for (int i = 0; i < test_samples(2000); i++) {
        // on the axis everything is alike; off it, towards the first wall, one mirror image is left
        double across = i % 2 == 0 ? 0.0 : -sample_uniform(&random, 0.01, 0.3);
        Case* c = round_corner(3 + i % 3, sample_uniform(&random, 0.4, 1.2), -1.0, across);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        leaves.count = leaves.deepest = 0;
        if ((c->report.flags & CR_RULE_INCOMPLETE) == 0 && c->report.outcome_count <= 64 &&
            explore(c, c->v, 1e-12, 0, &leaves)) {
            worst = fmax(worst, compare(c, &leaves));
            CHECK(leaves.deepest == c->report.steps && c->report.permissible);
            for (int a = 0; a < c->report.outcome_count; a++) {
                for (int b = 0; b < a; b++) {
                    CHECK(distance(c, c->outcome_v[a], c->outcome_v[b]) > 1e-11);
                }
            }
            several += c->report.outcome_count > 2;
            compared++;
        }
        case_free(c);
    }
    printf("mirrors: %d compared with all branches, %d of more than two outcomes, off by %.1e\n", compared,
           several, worst);
    CHECK(worst < 1e-10 && 4 * compared > 3 * test_samples(2000) && several > 0);
}

// A choice that is called proven from a part of the set is the choice from the whole of it.
TEST(a_proven_choice_is_the_whole_sets) {
    crRandom random = sample_seed(8);
    int proven = 0, part = 0;
    for (int i = 0; i < test_samples(20000); i++) {
        Case* c = random_corner(&random, 3);
        crRuleParams params = cr_rule_params();
        params.pick = i % 2 == 0 ? CR_PICK_NEAREST : CR_PICK_HULL;
        for (int k = 0; k < 3 && i % 3 == 0; k++) {
            c->block[k].e = sample_uniform(&random, 0.5, 1);
        }
        crRule rule = cr__rule(&cr__rule_feasible, &params);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        double whole = distance(c, c->v_plus, c->v);
        bool complete = (c->report.flags & CR_RULE_INCOMPLETE) == 0;
        params.budget = 2;
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        // a narrow corner may be beyond what rounding lets one tell
        CHECK(c->report.verdict != CR_TRUTH_NO);
        bool says = (c->report.flags & CR_RULE_PROVEN) != 0;
        CHECK(!says || (c->report.flags & CR_RULE_INCOMPLETE) != 0);
        if (complete && (c->report.flags & CR_RULE_INCOMPLETE) != 0) {
            double found = distance(c, c->v_plus, c->v);
            part++;
            proven += says;
            CHECK(found >= whole * (1 - 1e-8));
            if (says) CHECK_NEAR(found / whole, 1.0, 1e-8);
        }
        case_free(c);
    }
    printf("a budget of 2: %d sets not complete, %d choices proven\n", part, proven);
    CHECK(proven > 0 && proven < part);
}

// Balls of a rack: a budget that is out leaves a permissible velocity, energy kept, and says that the set is not
// complete.
TEST(a_rack_of_balls_is_an_anytime_answer) {
    enum { ROWS = 4, BALLS = 1 + ROWS * (ROWS + 1) / 2 };
    double at[BALLS][2] = {{-1.0, 0.0}}, v[2 * BALLS] = {1.0, 0.02};
    int count = 1;
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i <= row; i++, count++) {
            at[count][0] = row * sqrt(0.75);
            at[count][1] = i - 0.5 * row;
        }
    }
    Case* c = case_make(2 * BALLS, NULL);
    for (int i = 0; i < BALLS; i++) {
        for (int j = i + 1; j < BALLS; j++) {
            double x = at[j][0] - at[i][0], y = at[j][1] - at[i][1];
            double row[2 * BALLS] = {0};
            if (x * x + y * y > 1.000001) continue;
            row[2 * i] = -x;
            row[2 * i + 1] = -y;
            row[2 * j] = x;
            row[2 * j + 1] = y;
            case_contact(c, row, 1.0);
        }
    }
    case_velocity(c, v);
    for (int budget = 16; budget <= 4096; budget *= 16) {
        crRuleParams params = cr_rule_params();
        params.budget = budget;
        crRule rule = cr__rule(&cr__rule_feasible, &params);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK(c->report.permissible && c->report.outcome == CR_OUTCOME_SOLVED);
        CHECK((c->report.flags & CR_RULE_INCOMPLETE) != 0 && c->report.unique != CR_UNIQUE_YES);
        for (int r = 0; r < c->rows; r++)
            CHECK(row_dot(c, r, c->v_plus) >= -1e-12 && c->p[r] >= 0.0);
        CHECK_NEAR(case_energy(c, c->v_plus) / case_energy(c, c->v), 1.0, 1e-12);
        printf("budget %d: %d outcomes, the nearest %.4f away\n", budget, c->report.outcome_count,
               distance(c, c->v_plus, c->v));
    }
    case_free(c);
}
