// verb_import.c - carom import: MJCF, URDF and SDF as a scene in JSON.
//
// The scene is read once before it is written, so that what is written can be run.
#include <string.h>

#include "command.h"
#include "io/tree.h"
#include "model.h"
#include "stream.h"

static void print_help(void) {
    puts("usage: carom import MODEL [-o SCENE.json] [options]\n"
         "\n"
         "Writes a model (MuJoCo's MJCF, URDF, SDF) as a scene for carom run. What carom leaves out is "
         "listed on\n"
         "standard error with file, line and column: warnings act on bodies, notes do not. docs/models.md "
         "says\n"
         "what is understood.\n"
         "\n"
         "  -o FILE           where to write; without it, standard output\n"
         "  --strict          what is not supported and acts on bodies is an error\n"
         "  --key NAME        MJCF: start from this keyframe\n"
         "  --package DIR     where package://NAME/... and model://NAME/... are looked for; may be given "
         "again\n"
         "  --fixed-base      URDF: the root link is fixed to the world\n"
         "  --with FILE       a JSON object laid over the scene: what the format cannot say\n"
         "  --set PATH=VALUE  one value of the scene: materials.surface0.e=0.5, step.dt=0.001\n"
         "\n"
         "Exit status: 0 good, 1 bad model, 2 wrong usage, 3 a file cannot be opened or written.\n"
         "\n"
         "examples:\n"
         "  carom import humanoid.xml -o humanoid.json --key squat\n"
         "  carom import robot.urdf --package ~/robots --set materials.surface0.e=0.3 -o robot.json");
}

// -1 to go on, else the exit status
static int read_options(ModelOptions* options, const char** out, int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        const char* argument = arguments[i];
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "-o") == 0) {
            if (i + 1 == count) return usage_error("import", "-o needs a file");
            *out = arguments[++i];
        } else if (argument[0] == '-') {
            int taken = take_model_option("import", options, count - i, arguments + i);
            if (taken < 0) return -taken;
            if (taken == 0) return usage_error("import", "unknown option '%s'", argument);
            i += taken - 1;
        } else if (options->path != NULL) {
            return usage_error("import", "only one model at a time, '%s' is a second one", argument);
        } else {
            options->path = argument;
        }
    }
    return options->path != NULL ? -1 : usage_error("import", "which model?");
}

static int write_scene(const crImport* import, const char* out) {
    FILE* file = out != NULL ? fopen(out, "w") : stdout;
    bool good = file != NULL;
    if (good) cr_tree_write(file, import->scene.root);
    good = good && fflush(file) == 0 && !ferror(file);
    if (file != NULL && file != stdout) good = fclose(file) == 0 && good;
    if (good) return EXIT_GOOD;
    fputs("carom import: ", stderr);
    print_plain(stderr, out != NULL ? out : "standard output");
    fputs(" cannot be written\n", stderr);
    return EXIT_FILE;
}

int verb_import(int count, char** arguments) {
    ModelOptions options = {0};
    const char* out = NULL;
    int status = read_options(&options, &out, count, arguments);
    if (status >= 0) return status;
    crImport import;
    crScene scene;
    crError error = {0};
    if (read_model_tree(&options, &import, &error) != CR_OK) {
        text_error(options.path, &error);
        return error.status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
    }
    bool good = print_notes(&import, true, options.strict);
    status = good ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (cr_scene_read(import.scene.root, &scene, &error) != CR_OK) {
        text_error(options.path, &error);
        status = EXIT_BAD_INPUT;
    } else {
        cr_scene_free(&scene);
    }
    if (status == EXIT_GOOD) status = write_scene(&import, out);
    cr_import_free(&import);
    return status;
}
