// test_motion_predict.c - what was fitted to motions, read back and applied: tosses that were made with known
// values come out again, errors by their definitions, files of fits round and round, refusals with places.
#include "fit/motion_predict.h"

#include "toss_sample.h"

static const TossKind exact = {.tosses = 8, .samples = 9, .interval = 0.05, .noise = 0.0, .fall = 1.0};

static void open_tosses(const char* scene, const TossKind* kind, uint64_t seed, crTosses* tosses) {
    FitFile file = toss_sample(scene, kind, seed);
    crTable table;
    const crImpactOptions none = {0};
    CHECK_STATUS(cr_table_read(file.path, &table, NULL), CR_OK);
    remove(file.path);
    CHECK_STATUS(cr_tosses_create(&table, &none, tosses, NULL), CR_OK);
    cr_table_free(&table);
}

static crJsonDoc parse(const char* text) {
    crJsonDoc doc = {0};
    crError error = {0};
    CHECK_STATUS(cr_json_parse(text, strlen(text), 1, &doc, &error), CR_OK);
    return doc;
}

// the scene that the tosses were made in with another mu and e, and a file that sets them right
static void make_file(char* text, size_t size, const char* scene, const char* set) {
    snprintf(text, size,
             "{\"fit\": \"motion\", \"tree\": %s, \"laws\": [{\"law\": \"scene\", \"set\": {%s}}]}", scene,
             set);
}

#define WRONG                                                                                     \
    "{\"carom\": 1, \"step\": {\"dt\": 0.005}, \"materials\": {\"wood\": {\"mu\": 1, \"e\": 0}}," \
    " \"bodies\": [{\"name\": \"ball\", \"mass\": 0.5,"                                           \
    "   \"shapes\": [{\"type\": \"sphere\", \"r\": 0.05, \"material\": \"wood\"}]}],"             \
    " \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0, \"material\": \"wood\"}]}"

TEST(known_values_give_the_tosses_again) {
    crTosses tosses;
    open_tosses(TOSS_SPATIAL, &exact, 5, &tosses);
    const char* const sets[] = {"\"materials.wood.mu\": 0.08, \"materials.wood.e\": 0.4", ""};
    double losses[2];
    for (int i = 0; i < 2; i++) {
        char text[2000];
        make_file(text, sizeof text, WRONG, sets[i]);
        crJsonDoc doc = parse(text);
        crMotionChoice choice;
        crMotionModel model;
        crMotionPrediction p;
        crMotionOptions options = {.threads = 1 + i};
        CHECK_STATUS(cr_motion_choose(doc.root, NULL, &choice, NULL), CR_OK);
        CHECK_TEXT(choice.law, "scene");
        CHECK(choice.substeps == 0 && choice.scale == 0.2 && isnan(choice.misfit) && isnan(choice.loss_se));
        CHECK_STATUS(cr_motion_choice_model(&choice, NULL, &tosses, &model, NULL), CR_OK);
        CHECK_STATUS(cr_motion_predict(&model, NULL, &options, &p, NULL), CR_OK);
        for (int k = 0; i == 0 && k < tosses.sample_count; k++) {
            // velocities were written with six digits, and flights last up to .4 s
            CHECK_VEC(p.poses[k].p, tosses.samples[k].pose.p, 2e-6);
            CHECK(cr_rotation_between(p.poses[k].q, tosses.samples[k].pose.q) < 2e-5);
        }
        CHECK(p.worst.penetration < 1e-7 && p.worst.energy_created <= 1e-12 && p.worst.unsolved == 0);
        losses[i] = p.loss;
        cr_motion_prediction_destroy(&p);
        cr_motion_model_destroy(&model);
        cr_json_free(&doc);
    }
    CHECK(losses[0] < 1e-9 && losses[1] > 1e-3);
    cr_tosses_destroy(&tosses);
}

// means and standard errors, and each toss as cr_motion_simulate has it
static void check_means(const crMotionModel* model, const double* values, const crMotionPrediction* p) {
    int n = model->tosses->count, steps = 0;
    double loss = 0.0, misfit = 0.0, square = 0.0, deepest = 0.0;
    for (int i = 0; i < n; i++) {
        crMotionRun run;
        crPose poses[64];
        CHECK_STATUS(cr_motion_simulate(model, values, i, &run, poses, NULL), CR_OK);
        CHECK(memcmp(&run, &p->runs[i], sizeof run) == 0);
        CHECK(memcmp(poses, &p->poses[model->tosses->tosses[i].first],
                     (size_t)model->tosses->tosses[i].count * sizeof *poses) == 0);
        loss += (run.position + run.rotation) / n;
        misfit += run.misfit / n;
        deepest = fmax(deepest, run.penetration);
        steps += run.steps;
    }
    for (int i = 0; i < n; i++) {
        double d = p->runs[i].position + p->runs[i].rotation - loss;
        square += d * d;
    }
    CHECK_NEAR(p->loss, loss, 1e-15);
    CHECK_NEAR(p->position + p->rotation, loss, 1e-15);
    CHECK_NEAR(p->misfit, misfit, 1e-15);
    CHECK_NEAR(p->loss_se, sqrt(square / (n * (n - 1.0))), 1e-15);
    CHECK(p->worst.steps == steps && p->worst.penetration == deepest);
}

// a fit written, read back and applied: the same bits as with the fitted values in its own model
TEST(a_file_is_as_good_as_the_fit) {
    const TossKind noisy = {.tosses = 6, .samples = 7, .interval = 0.05, .noise = 2e-4, .fall = 1.0};
    crTosses tosses;
    open_tosses(TOSS_SPATIAL, &noisy, 9, &tosses);
    crJsonDoc scene = parse(TOSS_SPATIAL), doc = {0};
    crMotionParam params[2];
    CHECK_STATUS(cr_motion_param("mu", &params[0], NULL), CR_OK);
    CHECK_STATUS(cr_motion_param("h=static[0].offset:-0.01:0.01", &params[1], NULL), CR_OK);
    const char* const rules[] = {"newton"};
    crMotionLaw law;
    CHECK(cr_motion_laws(0, rules, 1, NULL, 0, &law, 1) == 1);
    crMotionModel model, read;
    const crMotionDef def = {.scene = scene.root,
                             .tosses = &tosses,
                             .body = "ball",
                             .substeps = 3,
                             .params = params,
                             .param_count = 2};
    CHECK_STATUS(cr_motion_model_create(&def, &law, &model, NULL), CR_OK);
    crMotionFit fit = {.count = 2, .cv = 0.25, .cv_se = 0.03, .cv_loss = 0.5, .cv_loss_se = 0.125};
    fit.fitted[0].value = 1.0 / 3.0;
    fit.fitted[1].value = -0.1 / 70.0;
    FitFile file;
    fit_sample_text(&file, "");
    const crMotionFit* fits[] = {&fit};
    const crMotionLaw* laws[] = {&law};
    CHECK_STATUS(cr_motion_write(file.path, &model, laws, fits, 1, NULL), CR_OK);
    char text[4000] = "";
    FILE* in = fopen(file.path, "r");
    CHECK(in != NULL && fread(text, 1, sizeof text - 1, in) > 0);
    fclose(in);
    remove(file.path);
    doc = parse(text);
    crMotionChoice choice;
    CHECK_STATUS(cr_motion_choose(doc.root, "newton", &choice, NULL), CR_OK);
    CHECK(choice.misfit == 0.25 && choice.misfit_se == 0.03 && choice.loss == 0.5 && choice.loss_se == 0.125);
    CHECK(choice.substeps == 3 && choice.length == model.length && choice.scale == model.scale);
    CHECK_TEXT(choice.body, "ball");
    CHECK_STATUS(cr_motion_choice_model(&choice, NULL, &tosses, &read, NULL), CR_OK);
    const double values[] = {fit.fitted[0].value, fit.fitted[1].value};
    crMotionOptions options = {.threads = 2};
    crMotionPrediction by_file, by_model;
    CHECK_STATUS(cr_motion_predict(&read, NULL, &options, &by_file, NULL), CR_OK);
    CHECK_STATUS(cr_motion_predict(&model, values, &options, &by_model, NULL), CR_OK);
    CHECK(memcmp(by_file.poses, by_model.poses, (size_t)tosses.sample_count * sizeof *by_file.poses) == 0);
    CHECK(by_file.loss == by_model.loss && by_file.misfit == by_model.misfit);
    check_means(&model, values, &by_model);
    cr_motion_prediction_destroy(&by_file);
    cr_motion_prediction_destroy(&by_model);
    cr_motion_model_destroy(&read);
    cr_motion_model_destroy(&model);
    cr_json_free(&doc);
    cr_json_free(&scene);
    cr_tosses_destroy(&tosses);
}

static bool stop_at_three(void* ctx, int done, int count) {
    (void)ctx;
    (void)count;
    return done < 3;
}

TEST(other_scenes_and_stopping) {
    crTosses tosses;
    open_tosses(TOSS_SPATIAL, &exact, 5, &tosses);
    crJsonDoc doc = parse("{\"fit\": \"motion\", \"laws\": [{\"law\": \"a\", \"set\": {}}]}");
    crJsonDoc scene = parse(TOSS_SPATIAL);
    crMotionChoice choice;
    crMotionModel model = {0};
    crMotionPrediction p;
    crError error = {0};
    CHECK_STATUS(cr_motion_choose(doc.root, NULL, &choice, NULL), CR_OK);
    CHECK_STATUS(cr_motion_choice_model(&choice, NULL, &tosses, &model, &error), CR_ERR_MISSING);
    CHECK(strstr(error.message, "no scene in it") != NULL);
    CHECK_STATUS(cr_motion_choice_model(&choice, scene.root, &tosses, &model, &error), CR_OK);
    crMotionOptions options = {.threads = 1, .watch = stop_at_three};
    CHECK_STATUS(cr_motion_predict(&model, NULL, &options, &p, &error), CR_ERR_LIMIT);
    CHECK(p.runs == NULL && p.poses == NULL);
    options.threads = 1000;
    CHECK_STATUS(cr_motion_predict(&model, NULL, &options, &p, &error), CR_ERR_RANGE);
    cr_motion_model_destroy(&model);
    cr_json_free(&scene);
    cr_json_free(&doc);
    cr_tosses_destroy(&tosses);
}

TEST(methods_rules_and_laws_are_combined) {
    const char* const rules[] = {"newton", "poisson"};
    crFitLaw laws[] = {cr_fit_law_find("routh-energetic"), cr_fit_law_find("smith")};
    crMotionLaw all[16];
    CHECK(cr_motion_laws(0, rules, 0, laws, 0, all, 16) == 1);
    CHECK(all[0].set_count == 0);
    CHECK_TEXT(all[0].name, "scene");
    // cone with two rules and two laws; moreau has its own
    unsigned methods = 1u << CR_METHOD_CONE | 1u << CR_METHOD_MOREAU;
    CHECK(cr_motion_laws(methods, rules, 2, laws, 2, all, 16) == 5);
    CHECK_TEXT(all[1].name, "cone poisson");
    CHECK_TEXT(all[2].name, "cone sequence routh-energetic");
    CHECK_TEXT(all[4].name, "moreau");
    CHECK(all[2].set_count == 4 && all[4].set_count == 1);
    CHECK_TEXT(all[2].path[3], "impact.law_params.ending");
    CHECK_TEXT(all[2].value[3], "energetic");
    // more than there is room for are counted
    CHECK(cr_motion_laws(methods, rules, 2, laws, 2, all, 3) == 5);
}

typedef struct Refusal {
    const char* text;
    crStatus status;
    int line, column;
    const char* words;
} Refusal;

TEST(refusals_have_a_place) {
    static const Refusal cases[] = {
        {"[]", CR_ERR_NAME, 1, 1, "must be \"motion\""},
        {"{\"laws\": []}", CR_ERR_NAME, 1, 1, "must be \"motion\""},
        {"{\"fit\": \"impacts\", \"laws\": [{\"law\": \"routh\"}]}", CR_ERR_NAME, 1, 9, "must be \"motion\""},
        {"{\"fit\": \"motion\"}", CR_ERR_MISSING, 1, 1, "list of fitted laws"},
        {"{\"fit\": \"motion\", \"laws\": [{}]}", CR_ERR_MISSING, 1, 28, "must be named"},
        {"{\"fit\": \"motion\",\n\"laws\": [{\"law\": 3}]}", CR_ERR_TYPE, 2, 18, "law"},
        {"{\"fit\": \"motion\",\n\"laws\": [{\"law\": \"b\"}]}", CR_ERR_NAME, 2, 9, "'a' is not in the file"},
        {"{\"fit\": \"motion\",\n\"laws\": [{\"law\": \"a\"}]}", CR_ERR_MISSING, 2, 10, "set"},
        {"{\"fit\": \"motion\",\n\"laws\": [{\"law\": \"a\", \"set\": {\"step.dt\": []}}]}", CR_ERR_TYPE, 2,
         42, "step.dt must be a number or a name"},
        {"{\"fit\": \"motion\", \"scale\": 0, \"laws\": [{\"law\": \"a\", \"set\": {}}]}", CR_ERR_RANGE, 1,
         28, "scale"},
        {"{\"fit\": \"motion\", \"length\": -1, \"laws\": [{\"law\": \"a\", \"set\": {}}]}", CR_ERR_RANGE, 1,
         29, "length"},
        {"{\"fit\": \"motion\", \"length\": \"x\", \"laws\": [{\"law\": \"a\", \"set\": {}}]}", CR_ERR_TYPE,
         1, 29, "length"},
        {"{\"fit\": \"motion\", \"substeps\": 1.5, \"laws\": [{\"law\": \"a\", \"set\": {}}]}", CR_ERR_RANGE,
         1, 31, "whole number"},
        {"{\"fit\": \"motion\", \"body\": 1, \"laws\": [{\"law\": \"a\", \"set\": {}}]}", CR_ERR_TYPE, 1, 27,
         "body"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        crJsonDoc doc = parse(cases[i].text);
        crMotionChoice choice;
        crError error = {0};
        CHECK_STATUS(cr_motion_choose(doc.root, "a", &choice, &error), cases[i].status);
        test_check(error.line == cases[i].line && error.column == cases[i].column &&
                       strstr(error.message, cases[i].words) != NULL,
                   __FILE__, __LINE__, "case %d: %d:%d %s", (int)i, error.line, error.column, error.message);
        cr_json_free(&doc);
    }
}

// values that the scene does not take, and measurements of another body
TEST(scenes_and_tosses_that_do_not_fit) {
    static const struct {
        const char* scene;
        const char* set;
        crStatus status;
        const char* field;
    } cases[] = {
        {WRONG, "\"materials.wood.mu\": -1", CR_ERR_RANGE, "materials.wood.mu"},
        {WRONG, "\"impact.rule\": \"nowhere\"", CR_ERR_NAME, "impact.rule"},
        {WRONG, "\"static[3].offset\": 0", CR_ERR_MISSING, "set"},
        {"{\"carom\": 2}", "", CR_ERR_RANGE, "carom"},
        {"3", "", CR_ERR_TYPE, "scene"},
        {TOSS_PLANAR, "", CR_ERR_NAME, "body"},
    };
    crTosses tosses;
    open_tosses(TOSS_SPATIAL, &exact, 5, &tosses);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2000];
        make_file(text, sizeof text, cases[i].scene, cases[i].set);
        crJsonDoc doc = parse(text);
        crMotionChoice choice;
        crMotionModel model;
        crError error = {0};
        CHECK_STATUS(cr_motion_choose(doc.root, NULL, &choice, &error), CR_OK);
        CHECK_STATUS(cr_motion_choice_model(&choice, NULL, &tosses, &model, &error), cases[i].status);
        CHECK_TEXT(error.field, cases[i].field);
        cr_motion_model_destroy(&model);
        cr_json_free(&doc);
    }
    cr_tosses_destroy(&tosses);
}
