// verb_import.c - carom import: MJCF, URDF and SDF as a scene in JSON.
//
// The scene is read once before it is written, so that what is written can be run.
#include <string.h>

#include "command.h"
#include "io/tree.h"
#include "options.h"
#include "scene_input.h"

static void print_help(void) {
    puts("usage: carom import MODEL [-o SCENE.json] [options]\n"
         "\n"
         "Writes a model (MuJoCo's MJCF, URDF, SDF) as a scene for carom run. What carom leaves out is "
         "listed\n"
         "on standard error with file, line and column: warnings act on bodies, notes do not.\n"
         "docs/models.md says what is understood.\n"
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

// -1: no option of this verb; else the exit status so far
static int take_option(void* ctx, char* name, char* value) {
    if (strcmp(name, "--json") == 0) return unknown_option("import", name);
    if (strcmp(name, "-o") != 0) return -1;
    if (value == NULL) return usage_error("import", "-o needs a file");
    *(const char**)ctx = value;
    return EXIT_GOOD;
}

// -1 to go on, else the exit status
static int read_options(SceneInput* input, const char** out, int count, char** arguments) {
    int status = scene_arguments(input, count, arguments, print_help, take_option, out);
    if (status >= 0) return status;
    return input->path != NULL ? -1 : usage_error("import", "which model?");
}

static int write_scene(const SceneInput* input, const char* out) {
    FILE* file = out != NULL ? fopen(out, "w") : stdout;
    bool good = file != NULL;
    if (good) cr_tree_write(file, input->doc.root);
    good = good && fflush(file) == 0 && !ferror(file);
    if (file != NULL && file != stdout) good = fclose(file) == 0 && good;
    if (good) return EXIT_GOOD;
    fputs("carom import: ", stderr);
    print_plain(stderr, out != NULL ? out : "standard output");
    fputs(" cannot be written\n", stderr);
    return EXIT_FILE;
}

int verb_import(int count, char** arguments) {
    SceneInput input = scene_input("import");
    const char* out = NULL;
    int status = read_options(&input, &out, count, arguments);
    if (status >= 0) return status;
    crScene scene;
    crError error = {0};
    if (scene_open(&input, &error) != CR_OK) return scene_refuse(&input, &error);
    if (cr_scene_read(input.doc.root, &scene, &error) == CR_OK) {
        cr_scene_free(&scene);
        status = write_scene(&input, out);
    } else {
        status = scene_refuse(&input, &error);
    }
    scene_close(&input);
    return status;
}
