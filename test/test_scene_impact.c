// test_scene_impact.c - what scenes say about impacts: parameters of laws and rules reach them, and mistakes
// are refused by field, line and column.
#include "resolve/kinds.h"
#include "scene_text.h"

#define IMPACT(part) "{\"carom\":1,\"impact\":{" part "}}"

// the rod of Kane's paradox: every law has its own answer
static crContact rod(void) {
    crContact c = {.mu = 0.5, .e = 0.9};
    double s = sin(0.8), k = cos(0.8);
    c.W = (crSym3){.xx = 1.0 + 3.0 * k * k, .xy = -3.0 * s * k, .yy = 1.0 + 3.0 * s * s, .zz = 1.0};
    c.V = cr_vec3(-1.0, 0.6, 0.0);
    return c;
}

static crVec3 impulse_of(const crLaw* law) {
    crContact c = rod();
    crHit hit = {0};
    crError error = {0};
    CHECK_STATUS(cr_law_apply_contact(law, &c, &hit, &error), CR_OK);
    return hit.P;
}

// the law a scene names gives the impulse of the law made by hand
static void same_law(const char* text, const crLaw* expected) {
    crScene scene;
    if (!good(text, &scene)) return;
    CHECK_TEXT(scene.step.law.name, expected->name);
    CHECK_VEC(impulse_of(&scene.step.law), impulse_of(expected), 0.0);
    cr_scene_free(&scene);
}

TEST(parameters_reach_the_law) {
    crLawParams p = cr_law_params();
    crLaw law = cr__law(&cr__law_routh, &p);
    p.ending = CR_ENDING_ENERGETIC;
    same_law(IMPACT("\"law\":\"routh\",\"law_params\":{\"ending\":\"energetic\"}"), &law);
    p.ending = CR_ENDING_NEWTON;
    same_law(IMPACT("\"law\":\"routh\",\"law_params\":{\"ending\":\"newton\"}"), &law);
    law = cr__law(&cr__law_anitescu_potra, &p);
    p.directions = 5;
    same_law(IMPACT("\"law\":\"anitescu-potra\",\"law_params\":{\"cone\":5}"), &law);
    law = cr__law(&cr__law_brach, &p);
    p.mu2 = -0.25;
    same_law(IMPACT("\"law\":\"brach\",\"law_params\":{\"ratios\":[-0.25,0]}"), &law);
    law = cr__law(&cr__law_spherical, &p);
    p.psi1 = 0.5;
    p.psi2 = 1.0;
    p.rho = 0.5;
    same_law(IMPACT("\"law\":\"spherical\",\"law_params\":{\"psi1\":0.5,\"psi2\":1,\"rho\":0.5}"), &law);
    law = cr__law(&cr__law_projected, &p);
    p.wish = cr_vec3(0.5, 0.25, 0.0);
    same_law(IMPACT("\"law\":\"projected\",\"law_params\":{\"wish\":[0.5,0.25,0]}"), &law);
    law = cr__law(&cr__law_compliant, &p);
    p.eta2 = 2.0;
    same_law(IMPACT("\"law\":\"compliant\",\"law_params\":{\"eta2\":2}"), &law);
    law = cr__law(&cr__law_pfeiffer_glocker, &p);
    p.nu = 0.5;
    same_law(IMPACT("\"law\":\"pfeiffer-glocker\",\"law_params\":{\"nu\":0.5}"), &law);
}

// the composite is the weighted sum of its parts, each with the parameters given
TEST(composite_is_the_weighted_sum) {
    crScene scene;
    if (!good(IMPACT("\"law\":\"composite\",\"law_params\":{\"laws\":[\"smith\",\"routh\",\"newton\"],"
                     "\"sigma\":[0.5,0.25,0.25],\"ending\":\"newton\"}"),
              &scene))
        return;
    crLawParams p = cr_law_params();
    p.ending = CR_ENDING_NEWTON;
    crLaw laws[] = {cr__law(&cr__law_smith, NULL), cr__law(&cr__law_routh, &p),
                    cr__law(&cr__law_newton, NULL)};
    crVec3 sum = cr_scale(0.5, impulse_of(&laws[0]));
    sum = cr_madd(cr_madd(sum, 0.25, impulse_of(&laws[1])), 0.25, impulse_of(&laws[2]));
    CHECK_VEC(impulse_of(&scene.step.law), sum, 1e-14);
    cr_scene_free(&scene);
    // without a word on its parts it is half of each of two
    if (!good(IMPACT("\"law\":\"composite\""), &scene)) return;
    crLaw first = cr__law(&cr__law_chatterjee_ruina, NULL), second = cr__law(&cr__law_routh, NULL);
    sum = cr_scale(0.5, cr_add(impulse_of(&first), impulse_of(&second)));
    CHECK_VEC(impulse_of(&scene.step.law), sum, 1e-14);
    cr_scene_free(&scene);
}

// beads of mass 1 on a line, the first one at 1 m/s; their speeds after one step
static bool beads(const char* impact, int count, double e, double* v) {
    char text[2000];
    int used = snprintf(text, sizeof text,
                        "{\"carom\":1,\"gravity\":[0,0,0],\"impact\":{%s},\"materials\":{\"m\":{\"mu\":0,"
                        "\"e\":%g}},\"bodies\":[",
                        impact, e);
    for (int i = 0; i < count; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{\"joint\":\"slider\",\"axis\":[1,0,0],\"pos\":[%d,0,0],\"vel\":%d,\"mass\":1,"
                         "\"shapes\":[{\"type\":\"sphere\",\"r\":0.5,\"material\":\"m\"}]}",
                         i > 0 ? "," : "", i, i == 0);
    }
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    crScene scene;
    if (!good(text, &scene)) return false;
    crWorldDef def = cr_world_def();
    def.model = scene.model;
    def.step = scene.step;
    crWorld* world = NULL;
    crError error = {0};
    bool ok = CHECK_STATUS(cr_world_create(&def, &world, &error), CR_OK);
    if (ok) {
        crState* state = cr_world_state(world);
        memcpy(state->v, scene.v, (size_t)scene.model->nv * sizeof(double));
        ok = CHECK_STATUS(cr_world_step(world, &error), CR_OK);
        memcpy(v, state->v, (size_t)count * sizeof(double));
    }
    cr_world_destroy(world);
    cr_scene_free(&scene);
    return ok;
}

// g+ = -eps g- with g- = (-1, 0): the speed at which the first contact closes is that at which the second
// opens
TEST(eps_is_for_as_many_contacts_as_it_has_rows) {
    double v[4];
    const char* impact = "\"rule\":\"coupled\",\"rule_params\":{\"eps\":[[0,0],[1,0]]}";
    if (beads(impact, 3, 0.0, v)) {
        // g1+ = 0, g2+ = 1, momentum 1
        CHECK_NEAR(v[1] - v[0], 0.0, 1e-12);
        CHECK_NEAR(v[2] - v[1], 1.0, 1e-12);
        CHECK_NEAR(v[0] + v[1] + v[2], 1.0, 1e-12);
    }
    // one contact: its own e
    if (beads(impact, 2, 0.5, v)) {
        CHECK_NEAR(v[1] - v[0], 0.5, 1e-12);
        CHECK_NEAR(v[0] + v[1], 1.0, 1e-12);
    }
    // three: each its own e, which is Newton's rule
    double w[4];
    if (beads(impact, 4, 0.5, v) && beads("\"rule\":\"newton\"", 4, 0.5, w)) {
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(v[i], w[i], 1e-12);
        }
    }
}

TEST(parameters_reach_the_rule) {
    double v[3], w[3];
    if (beads("\"rule\":\"sequence\",\"law\":\"newton\",\"rule_params\":{}", 3, 1.0, v)) {
        CHECK_NEAR(v[0], 0.0, 1e-12);
        CHECK_NEAR(v[1], 0.0, 1e-12);
        CHECK_NEAR(v[2], 1.0, 1e-12);
    }
    // plastic below the threshold: all go on together
    if (beads("\"rule\":\"feasible\",\"rule_params\":{\"threshold\":2}", 3, 1.0, v)) {
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(v[i], 1.0 / 3.0, 1e-12);
        }
    }
    // a chain of unequal springs is not one of equal springs; with three contacts the numbers do not fit two
    if (beads("\"rule\":\"chain\",\"rule_params\":{\"stiffness\":[1,100]}", 3, 1.0, v) &&
        beads("\"rule\":\"chain\"", 3, 1.0, w)) {
        CHECK_NEAR(v[0] + v[1] + v[2], 1.0, 1e-9);
        CHECK(fabs(v[2] - w[2]) > 1e-3);
    }
    double four[4], equal[4];
    if (beads("\"rule\":\"chain\",\"rule_params\":{\"stiffness\":[1,100]}", 4, 1.0, four) &&
        beads("\"rule\":\"chain\"", 4, 1.0, equal)) {
        for (int i = 0; i < 4; i++) {
            CHECK(four[i] == equal[i]);
        }
    }
}

TEST(choices_are_read) {
    crScene scene;
    if (!good(IMPACT("\"rule\":\"sequence\",\"law\":\"smith\",\"rule_params\":{\"mechanism\":\"apart\","
                     "\"ties\":\"random\",\"pick\":\"arc\",\"corner\":\"convex\",\"extrapolate\":false,"
                     "\"hertz\":true,\"seed\":12,\"budget\":34,\"threshold\":0.5,\"tolerance\":1e-6,"
                     "\"direction\":[0,2,0],\"cone\":6,\"stiffness\":[1,2,3]}"),
              &scene))
        return;
    const crRuleParams* p = scene.step.rule.params;
    CHECK_TEXT(scene.step.rule.name, "sequence");
    CHECK_TEXT(p->law.name, "smith");
    CHECK(p->mechanism == CR_MECHANISM_APART && p->ties == CR_TIES_RANDOM && p->pick == CR_PICK_ARC);
    CHECK(p->corner == CR_CORNER_CONVEX && !p->extrapolate && p->hertz && p->seed == 12 && p->budget == 34);
    CHECK(p->threshold == 0.5 && p->tolerance == 1e-6 && p->directions == 6 && p->stiffness[2] == 3.0);
    CHECK_VEC(p->direction, cr_vec3(0, 1, 0), 0.0);
    cr_scene_free(&scene);
    if (!good("{\"carom\":1,\"step\":{\"activation\":1.5},\"solver\":{\"quality\":\"certified\"}}", &scene)) {
        return;
    }
    CHECK(scene.step.activation == 1.5 && scene.step.quality == CR_QUALITY_CERTIFIED);
    cr_scene_free(&scene);
}

typedef struct Refusal {
    const char* text;
    crStatus status;
    const char* field;
    int column;  // in line 2
} Refusal;

#define S(part) "{\"carom\":1,\n " part "}"
#define L(part) S("\"impact\":{\"law_params\":{" part "}}")
#define R(part) S("\"impact\":{\"rule_params\":{" part "}}")

TEST(refusals) {
    static const Refusal all[] = {
        {L("\"end\":1"), CR_ERR_FIELD, "impact.law_params.end", 32},
        {L("\"ending\":\"soon\""), CR_ERR_NAME, "impact.law_params.ending", 35},
        {L("\"cone\":2"), CR_ERR_RANGE, "impact.law_params.cone", 33},
        {L("\"nu\":2"), CR_ERR_RANGE, "impact.law_params.nu", 31},
        {L("\"ratios\":[1]"), CR_ERR_SIZE, "impact.law_params.ratios", 35},
        {L("\"psi1\":4"), CR_ERR_RANGE, "impact.law_params.psi1", 33},
        {L("\"rho\":-1"), CR_ERR_RANGE, "impact.law_params.rho", 32},
        {L("\"wish\":[1,2]"), CR_ERR_SIZE, "impact.law_params.wish", 33},
        {L("\"eta2\":0"), CR_ERR_RANGE, "impact.law_params.eta2", 33},
        {L("\"laws\":[\"smit\"]"), CR_ERR_NAME, "impact.law_params.laws", 33},
        {L("\"laws\":[\"composite\"]"), CR_ERR_RANGE, "impact.law_params.laws", 33},
        {L("\"laws\":[\"smith\",\"routh\",\"newton\"]"), CR_ERR_MISSING, "impact.law_params.sigma", 25},
        {L("\"sigma\":[0.5,0.6]"), CR_ERR_RANGE, "impact.law_params.sigma", 34},
        {S("\"impact\":{\"law_params\":1}"), CR_ERR_TYPE, "impact.law_params", 25},
        {R("\"tie\":1"), CR_ERR_FIELD, "impact.rule_params.tie", 33},
        {R("\"ties\":\"x\""), CR_ERR_NAME, "impact.rule_params.ties", 34},
        {R("\"mechanism\":\"x\""), CR_ERR_NAME, "impact.rule_params.mechanism", 39},
        {R("\"pick\":1"), CR_ERR_TYPE, "impact.rule_params.pick", 34},
        {R("\"corner\":\"x\""), CR_ERR_NAME, "impact.rule_params.corner", 36},
        {R("\"extrapolate\":1"), CR_ERR_TYPE, "impact.rule_params.extrapolate", 41},
        {R("\"hertz\":0"), CR_ERR_TYPE, "impact.rule_params.hertz", 35},
        {R("\"seed\":0.5"), CR_ERR_RANGE, "impact.rule_params.seed", 34},
        {R("\"seed\":1e300"), CR_ERR_RANGE, "impact.rule_params.seed", 34},
        {R("\"budget\":-1"), CR_ERR_RANGE, "impact.rule_params.budget", 36},
        {R("\"threshold\":-1"), CR_ERR_RANGE, "impact.rule_params.threshold", 39},
        {R("\"tolerance\":1"), CR_ERR_RANGE, "impact.rule_params.tolerance", 39},
        {R("\"direction\":[0,0,0]"), CR_ERR_UNIT, "impact.rule_params.direction", 39},
        {R("\"cone\":1"), CR_ERR_RANGE, "impact.rule_params.cone", 34},
        {R("\"eps\":[[1,0],[0]]"), CR_ERR_SIZE, "impact.rule_params.eps", 40},
        {R("\"eps\":[1]"), CR_ERR_TYPE, "impact.rule_params.eps", 34},
        {R("\"eps\":[[\"a\"]]"), CR_ERR_TYPE, "impact.rule_params.eps", 34},
        {R("\"eps\":1"), CR_ERR_TYPE, "impact.rule_params.eps", 33},
        {R("\"stiffness\":[1,0]"), CR_ERR_RANGE, "impact.rule_params.stiffness", 39},
        {R("\"stiffness\":[\"a\"]"), CR_ERR_TYPE, "impact.rule_params.stiffness", 39},
        {S("\"solver\":{\"quality\":\"best\"}"), CR_ERR_NAME, "solver.quality", 22},
        {S("\"solver\":{\"tol\":1e-16}"), CR_ERR_RANGE, "solver.tol", 18},
        {S("\"step\":{\"activation\":3}"), CR_ERR_RANGE, "step.activation", 23},
        {S("\"step\":{\"dt\":1e-13}"), CR_ERR_RANGE, "step.dt", 15},
        {S("\"step\":{\"deadband\":1}"), CR_ERR_RANGE, "step.deadband", 21},
        {S("\"impact\":{\"threshold\":1e9}"), CR_ERR_RANGE, "impact.threshold", 24},
        {S("\"impact\":{\"cluster\":1e9}"), CR_ERR_RANGE, "impact.cluster", 22},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const Refusal* r = &all[i];
        crScene scene;
        crError error;
        crStatus status = read_text(r->text, &scene, &error);
        if (status == CR_OK) cr_scene_free(&scene);
        test_check(status == r->status && strcmp(error.field, r->field) == 0 && error.line == 2 &&
                       error.column == r->column,
                   __FILE__, __LINE__, "%s: %s at %d:%d in \"%s\" (%s), expected %s at 2:%d in \"%s\"",
                   r->text, cr_status_name(status), error.line, error.column, error.field, error.message,
                   cr_status_name(r->status), r->column, r->field);
    }
}
