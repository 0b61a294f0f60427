// verb_export.c - carom export: scenes and trajectories as files for the page.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "export.h"

static void print_help(void) {
    puts(
        "usage: carom export [SCENE | TRAJECTORY] [-o FILE] [options]\n"
        "\n"
        "Writes what the page (carom view) opens. A scene comes out finished: hulls given by their points "
        "get\n"
        "their faces, so that no other program is needed to read it; it runs to the same bits as before. A\n"
        "trajectory (.h5, .csv) comes out as JSON with its scene. SCENE is a file, a model, - for standard\n"
        "input, or the name of a scene that comes with carom.\n"
        "\n"
        "  -o FILE           where to write; without it, standard output\n"
        "  --scene SCENE     of a trajectory that does not carry its own (.csv)\n"
        "  --set PATH=VALUE  one value of the scene; --dt, --duration, --method, --rule, --law, --solver "
        "and\n"
        "                    --tol as carom run has them\n"
        "\n"
        "Exit status: 0 good, 1 bad scene or trajectory, 2 wrong usage, 3 a file cannot be read or written.\n"
        "\n"
        "examples:\n"
        "  carom export tetrahedron -o tetrahedron.json\n"
        "  carom run pool-break --out break.h5 && carom export break.h5 -o break.json");
}

// -1 to go on, else the exit status
static int read_options(ExportOptions* o, int count, char** arguments) {
    int status = export_arguments(o, count, arguments, print_help);
    if (status >= 0) return status;
    if (o->scene.path == NULL) return usage_error("export", "which scene or trajectory?");
    if (o->of != NULL && !export_is_trajectory(o->scene.path))
        return usage_error("export", "--scene goes with a trajectory, .h5 or .csv");
    return -1;
}

static int write_file(const char* path, const char* text) {
    FILE* file = path != NULL ? fopen(path, "w") : stdout;
    bool good = file != NULL && fputs(text, file) >= 0 && fflush(file) == 0;
    if (file != NULL && file != stdout) good = fclose(file) == 0 && good;
    if (good) return EXIT_GOOD;
    fputs("carom export: ", stderr);
    print_plain(stderr, path != NULL ? path : "standard output");
    fputs(" cannot be written\n", stderr);
    return EXIT_FILE;
}

int verb_export(int count, char** arguments) {
    ExportOptions o = {.scene = scene_input("export"), .out_name = "-o"};
    int status = read_options(&o, count, arguments);
    if (status >= 0) return status;
    char* text = NULL;
    status = export_text(&o.scene, o.of, &text);
    if (status == EXIT_GOOD) status = write_file(o.out, text);
    free(text);
    return status;
}
