// fit_tosses.c - friction and restitution of a thrown ball from its measured poses, by the library instead of
// the command: fit_tosses TOSSES.csv SCENE.json
#include <stdio.h>

#include "fit/motion_fit.h"
#include "io/input.h"

static int refuse(const char* what, const crError* error) {
    fprintf(stderr, "%s:%d:%d: %s\n", what, error->line, error->column, error->message);
    return 1;
}

int main(int count, char** arguments) {
    if (count != 3) {
        fputs("usage: fit_tosses TOSSES.csv SCENE.json\n", stderr);
        return 2;
    }
    crError error = {0};
    crTable table;
    crTosses tosses;
    crImpactOptions columns = {0};
    if (cr_table_read(arguments[1], &table, &error) != CR_OK) return refuse(arguments[1], &error);
    if (cr_tosses_create(&table, &columns, &tosses, &error) != CR_OK) return refuse(arguments[1], &error);

    crInput input;
    crJsonDoc scene = {0};
    int line = 0;
    if (cr_input_open(&input, arguments[2], &error) != CR_OK) return refuse(arguments[2], &error);
    if (!cr_input_next(&input, &scene, &line, &error) || scene.root == NULL)
        return refuse(arguments[2], &error);

    // what is to be found, and everything that is simulated with it
    crMotionParam params[2];
    crMotionModel model;
    cr_motion_param("mu", &params[0], NULL);
    cr_motion_param("e", &params[1], NULL);
    const crMotionDef def = {.scene = scene.root, .tosses = &tosses, .params = params, .param_count = 2};
    if (cr_motion_model_create(&def, NULL, &model, &error) != CR_OK) return refuse(arguments[2], &error);

    crMotionOptions options = cr_motion_options();
    crMotionFit fit;
    options.points = 8;
    if (cr_motion_fit(&model, &options, &fit, &error) != CR_OK) return refuse(arguments[1], &error);
    for (int i = 0; i < fit.count; i++) {
        printf("%s %.4f, 95 %% from %.4f to %.4f\n", params[i].name, fit.fitted[i].value, fit.fitted[i].lo,
               fit.fitted[i].hi);
    }
    printf("half of the tosses predicts the other with a misfit of %.4f\n", fit.cv);

    cr_motion_fit_destroy(&fit);
    cr_motion_model_destroy(&model);
    cr_input_close(&input);
    cr_json_free(&scene);
    cr_tosses_destroy(&tosses);
    cr_table_free(&table);
    return 0;
}
