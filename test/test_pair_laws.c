// test_pair_laws.c - a law of a pair's own: bodies in one scene go each by its law, as they do in a scene of that law alone;
// the derivative of the step follows, and mistakes are refused.
#include "carom/wrt.h"
#include "resolve/kinds.h"
#include "scene_text.h"

#define BAR(name, x, material)                                                                           \
    "{\"name\":\"" name "\",\"pos\":[" x ",0,0.42],\"quat\":[0.9,0.1,0.4,0.1],\"vel\":[0.7,-0.4,-2.5],"  \
    "\"omega\":[1,2,-3],\"shapes\":[{\"type\":\"box\",\"half\":[0.2,0.05,0.03],\"material\":\"" material \
    "\"}]}"
#define SCENE(law, pairs)                                                                                 \
    "{\"carom\":1,\"step\":{\"dt\":0.005,\"duration\":0.25},\"impact\":{\"rule\":\"sequence\",\"law\":"   \
    "\"" law "\"},"                                                                                       \
    "\"materials\":{\"oak\":{\"mu\":0.3,\"e\":0.7},\"ash\":{\"mu\":0.3,\"e\":0.7},\"floor\":{\"mu\":0.3," \
    "\"e\":0.7}},"                                                                                        \
    "\"pairs\":[" pairs "],\"static\":[{\"type\":\"halfspace\",\"n\":[0,0,1],\"material\":\"floor\"}],"   \
    "\"bodies\":[" BAR("left", "-3", "oak") "," BAR("right", "3", "ash") "]}"
#define OAK   "{\"materials\":[\"oak\",\"floor\"],\"law\":\"routh\",\"law_params\":{\"ending\":\"energetic\"}}"
#define ASH   "{\"materials\":[\"floor\",\"ash\"],\"law\":\"smith\"}"
#define ROUTH "\"law\":\"routh\",\"law_params\":{\"ending\":\"energetic\"}"

enum { NQ = 14, NV = 12, STEPS = 50 };

// poses and velocities after the run; impacts on the way
static int run_scene(const char* text, double* q, double* v) {
    crScene scene;
    crWorld* world;
    int impacts = 0;
    if (!good(text, &scene)) return 0;
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    for (int i = 0; i < STEPS; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        impacts += cr_world_certificate(world)->impacts;
        CHECK(cr_world_certificate(world)->impermissible == 0);
    }
    memcpy(q, cr_world_state(world)->q, NQ * sizeof *q);
    memcpy(v, cr_world_state(world)->v, NV * sizeof *v);
    cr_world_destroy(world);
    cr_scene_free(&scene);
    return impacts;
}

static double apart(const double* a, const double* b, int from, int count) {
    double most = 0.0;
    for (int i = from; i < from + count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

TEST(each_pair_by_its_law) {
    double q[4][NQ], v[4][NV];
    // both laws of pairs; one of a pair and one of the scene; either law for all
    const char* const scenes[] = {
        SCENE("newton", OAK "," ASH), SCENE("smith", OAK), SCENE("smith", ""),
        "{\"carom\":1,\"step\":{\"dt\":0.005,\"duration\":0.25},\"impact\":{\"rule\":\"sequence\"," ROUTH
        "},\"materials\":{\"oak\":{\"mu\":0.3,\"e\":0.7},\"ash\":{\"mu\":0.3,\"e\":0.7},\"floor\":{\"mu\":0."
        "3,"
        "\"e\":0.7}},\"static\":[{\"type\":\"halfspace\",\"n\":[0,0,1],\"material\":\"floor\"}],"
        "\"bodies\":[" BAR("left", "-3", "oak") "," BAR("right", "3", "ash") "]}"};
    for (int i = 0; i < 4; i++)
        CHECK(run_scene(scenes[i], q[i], v[i]) >= 2);
    for (int i = 0; i < 2; i++) {
        CHECK(apart(q[i], q[3], 0, 7) == 0.0 && apart(v[i], v[3], 0, 6) == 0.0);
        CHECK(apart(q[i], q[2], 7, 7) == 0.0 && apart(v[i], v[2], 6, 6) == 0.0);
    }
    // and the laws do differ here
    CHECK(apart(v[2], v[3], 0, 6) > 0.01 && apart(v[2], v[3], 6, 6) > 0.01);
}

// J of the step in which the bars hit the floor
static bool jacobian_of(const char* text, double* J) {
    crScene scene;
    crWrt* wrt;
    crWorldDef def = cr_world_def();
    crWrtVerdict verdict = {0};
    if (!good(text, &scene)) return false;
    def.model = scene.model;
    def.step = scene.step;
    CHECK_STATUS(cr_wrt_create(&def, &wrt, NULL), CR_OK);
    crState state;
    CHECK_STATUS(cr_state_create(scene.model, &scene.arena, &state), CR_OK);
    memcpy(state.q, scene.q, NQ * sizeof *scene.q);
    memcpy(state.v, scene.v, NV * sizeof *scene.v);
    bool hit = false;
    for (int i = 0; i < STEPS && !hit; i++) {
        CHECK_STATUS(cr_wrt_jacobian(wrt, &state, J, &verdict, NULL), CR_OK);
        // an impact lifts what falls
        double fall = state.v[2];
        CHECK_STATUS(cr_wrt_step(wrt, &state, &state, NULL), CR_OK);
        hit = state.v[2] > fall;
    }
    CHECK(hit && verdict.verdict == CR_SMOOTH && !verdict.differenced);
    if (verdict.differenced) printf("  %s\n", verdict.why);
    cr_wrt_destroy(wrt);
    cr_scene_free(&scene);
    return hit;
}

TEST(derivative_by_the_laws_of_pairs) {
    static double mixed[2 * NV * 3 * NV], smith[2 * NV * 3 * NV], newton[2 * NV * 3 * NV];
    if (!jacobian_of(SCENE("newton", "{\"materials\":[\"oak\",\"floor\"],\"law\":\"chatterjee-ruina\"}," ASH),
                     mixed))
        return;
    if (!jacobian_of(SCENE("smith", ""), smith) || !jacobian_of(SCENE("chatterjee-ruina", ""), newton))
        return;
    double off = 0.0, differ = 0.0, size = 0.0;
    for (int i = 0; i < 2 * NV; i++) {
        for (int j = 0; j < 3 * NV; j++) {
            bool left = i % NV < 6;
            double own = mixed[i * 3 * NV + j], one = newton[i * 3 * NV + j], two = smith[i * 3 * NV + j];
            off = fmax(off, fabs(own - (left ? one : two)));
            differ = fmax(differ, fabs(one - two));
            size = fmax(size, fabs(own));
        }
    }
    test_check(off < 1e-8 * size, __FILE__, __LINE__, "off by %g of %g", off, size);
    CHECK(differ > 0.01 * size);
}

TEST(refused) {
    static const struct {
        const char *text, *field, *word;
    } all[] = {
        {"{\"carom\":1,\"materials\":{\"a\":{}},\"pairs\":[{\"materials\":[\"a\",\"a\"],\"law\":\"smith\"}]}",
         "pairs[0].law", "poisson"},
        {SCENE("smith", "{\"materials\":[\"oak\",\"ash\"],\"law\":\"smit\"}"), "pairs[0].law", "smith"},
        {SCENE("smith", "{\"materials\":[\"oak\",\"ash\"],\"law_params\":{\"nu\":1}}"), "pairs[0].law",
         "law"},
        {SCENE("smith", "{\"materials\":[\"oak\",\"ash\"],\"law\":\"smith\",\"law_params\":{\"nu\":2}}"),
         "pairs[0].law_params.nu", "1"},
        {"{\"carom\":1,\"materials\":{\"a\":{\"law\":\"smith\"}}}", "materials.a.law", "no such field"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        crScene scene;
        crError error;
        crStatus status = read_text(all[i].text, &scene, &error);
        if (status == CR_OK) cr_scene_free(&scene);
        test_check(status != CR_OK && strcmp(error.field, all[i].field) == 0 &&
                       strstr(error.message, all[i].word) != NULL,
                   __FILE__, __LINE__, "%zu: \"%s\": %s", i, error.field, error.message);
    }
    crModel* model = cr_model_create(NULL);
    crMaterial material = cr_material();
    crLaw law = cr__law(&cr__law_smith, NULL);
    material.surface.law = &law;
    CHECK(cr_model_add_material(model, &material) == CR_ERR_ARGUMENT);
    CHECK_TEXT(model->error.field, "law");
    cr_model_destroy(model);
}
