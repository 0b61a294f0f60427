// verb_info.c - carom info: what is in a scene or model: tree, freedoms, masses, inertias, shapes, notes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "info_control.h"
#include "info_materials.h"
#include "io/names.h"
#include "io/recording.h"
#include "numbers.h"
#include "scene_input.h"

#define NAMES   34  // columns of names
#define INDENTS 12  // of a tree's bodies at most
#define NUMBERS 85  // columns from there to the shapes

static void print_help(void) {
    puts("usage: carom info MODEL [options]\n"
         "       carom info --materials [--json]\n"
         "\n"
         "What is in a scene, in a model (MJCF, URDF, SDF) or in the scene of a trajectory (.h5): the tree\n"
         "of bodies, their joints, masses, centres of mass (from the joint), principal moments of inertia\n"
         "and shapes, and what the import left out; of a trajectory also its records, their times and how\n"
         "many events it has.\n"
         "\n"
         "  --json            the same as one JSON object\n"
         "  --materials       no model: the ready materials that scenes may name, with their sources\n"
         "  --strict --key NAME --package DIR --fixed-base --with FILE --set PATH=VALUE\n"
         "                    as for carom import\n"
         "\n"
         "Exit status: 0 good, 1 bad model, 2 wrong usage, 3 a file cannot be opened.\n"
         "\n"
         "example:\n"
         "  carom info humanoid.xml");
}

// a model's shapes, body by body
typedef struct Shapes {
    int* start;  // of each body's (nb + 1)
    int* item;   // (shape_count)
} Shapes;

// false when memory is out; free both
static bool sort_shapes(const crModel* model, Shapes* shapes) {
    shapes->start = calloc((size_t)model->nb + 2, sizeof(int));
    shapes->item = calloc((size_t)model->shape_count + 1, sizeof(int));
    if (shapes->start == NULL || shapes->item == NULL) return false;
    int* next = shapes->start + 1;  // becomes the end of each body's
    for (int i = 0; i < model->shape_count; i++) {
        next[model->shapes[i].body + 1]++;
    }
    for (int b = 0; b < model->nb; b++) {
        next[b + 1] += next[b];
    }
    for (int i = 0; i < model->shape_count; i++) {
        shapes->item[next[model->shapes[i].body]++] = i;
    }
    return true;
}

// the model's shapes of one body, by kind: "2 capsule, sphere"
static void shape_text(const crModel* model, const Shapes* shapes, int body, char* text, size_t size) {
    size_t at = 0;
    text[0] = '\0';
    for (int kind = 0; kind < CR_SHAPE_KINDS; kind++) {
        int count = 0;
        for (int i = shapes->start[body]; i < shapes->start[body + 1]; i++) {
            count += (int)model->shapes[shapes->item[i]].shape.kind == kind;
        }
        if (count == 0 || at >= size) continue;
        const char* name = cr_shape_info((crShapeKind)kind)->name;
        int wrote = count > 1 ? snprintf(text + at, size - at, "%s%d %s", at > 0 ? ", " : "", count, name)
                              : snprintf(text + at, size - at, "%s%s", at > 0 ? ", " : "", name);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
}

// how many bodies are above, at most INDENTS
static int depth_of(const crModel* model, int body) {
    int depth = 0;
    while (body != CR_WORLD && depth < INDENTS) {
        body = model->bodies[body].parent;
        depth++;
    }
    return depth;
}

static double total_mass(const crModel* model) {
    double sum = 0.0;
    for (int i = 1; i < model->nb; i++) {
        sum += model->bodies[i].last >= 0 ? model->bodies[i].mass : 0.0;
    }
    return sum;
}

static void print_body(const crModel* model, const Shapes* of, int i) {
    const crBody* body = &model->bodies[i];
    char shapes[120];
    shape_text(model, of, i, shapes, sizeof shapes);
    int indent = 2 * depth_of(model, i);
    printf("%*s", indent, "");
    print_plain(stdout, body->name);
    int width = indent + plain_width(body->name);
    printf("%*s", width < NAMES ? NAMES - width : 0, "");
    const double* I = body->principal;
    if (i == CR_WORLD) {
        printf(shapes[0] != '\0' ? "%*s%s\n" : "\n", NUMBERS, "", shapes);
    } else {
        crVec3 com = body->com;
        printf(" %-7s %2d %10.4g  %9.3g %9.3g %9.3g %9.3g %9.3g %9.3g%s%s\n",
               cr_joint_info(body->joint)->name, body->nv, body->mass, com.x, com.y, com.z, I[0], I[1], I[2],
               shapes[0] != '\0' ? "  " : "", shapes);
    }
}

static double first_time(const crRecording* r) { return r->count > 0 ? r->time[0] : 0.0; }
static double last_time(const crRecording* r) { return r->count > 0 ? r->time[r->count - 1] : 0.0; }

static void print_records(const crRecording* r) {
    printf("%zu %s from %.6g s to %.6g s", r->count, noun((long)(r->count), "record", "records"),
           first_time(r), last_time(r));
    if (r->has_events) printf(", %zu %s", r->event_count, noun((long)(r->event_count), "event", "events"));
    putchar('\n');
}

static const char* kind_of(const crImport* import, const crRecording* recording) {
    if (import->format != CR_IMPORT_NONE) return cr_import_format_name(import->format);
    return recording != NULL ? "trajectory" : "scene";
}

static void print_text(const SceneInput* input, const crScene* scene, const Shapes* of,
                       const crRecording* recording) {
    const crImport* import = &input->imported;
    const crModel* model = scene->model;
    print_plain(stdout, scene_title(input));
    printf(": %s\n", kind_of(import, recording));
    if (recording != NULL) print_records(recording);
    printf("bodies %d, coordinates %d, velocities %d, moving mass %.6g kg\n", model->nb - 1, model->nq,
           model->nv, total_mass(model));
    printf("shapes %d, ", model->shape_count);
    if (model->visual_count > 0) printf("visuals %d, ", model->visual_count);
    printf("materials %d, constraints %d, excluded pairs %d, overlaps at the start %d\n",
           model->material_count - 1, model->loop_count, model->exclusion_count, scene->overlap_count);
    printf("gravity %g %g %g m/s^2, dt %g s\n\n", model->gravity.x, model->gravity.y, model->gravity.z,
           scene->step.dt);
    printf("%-*s %-7s %2s %10s  %-29s %-29s  %s\n", NAMES, "body", "joint", "nv", "mass kg",
           "centre of mass from joint m", "principal moments kg m^2", "shapes");
    for (int i = 0; i < model->nb; i++) {
        print_body(model, of, i);
    }
    info_control_text(scene);
    info_materials_text(scene);
    int levels[2] = {0, 0};
    for (int i = 0; i < import->note_count; i++) {
        levels[import->notes[i].level]++;
    }
    if (import->note_count > 0)
        printf("\nleft out: kinds that act on bodies %d, that do not %d\n", levels[CR_NOTE_UNSUPPORTED],
               levels[CR_NOTE_IGNORED]);
}

static void json_number(const char* key, double value) {
    printf("\"%s\": ", key);
    cr_json_write_number(stdout, value);
}

static void json_body(const crModel* model, const Shapes* of, int i) {
    const crBody* body = &model->bodies[i];
    printf("%s\n    {\"name\": ", i > 0 ? "," : "");
    cr_json_write_string(stdout, body->name);
    fputs(", \"parent\": ", stdout);
    if (i == CR_WORLD) {
        fputs("null", stdout);
    } else {
        cr_json_write_string(stdout, model->bodies[body->parent].name);
    }
    printf(", \"joint\": \"%s\", \"nq\": %d, \"nv\": %d, ", cr_joint_info(body->joint)->name, body->nq,
           body->nv);
    json_number("mass", body->mass);
    fputs(", \"com\": [", stdout);
    const double com[] = {body->com.x, body->com.y, body->com.z};
    for (int k = 0; k < 3; k++) {
        fputs(k > 0 ? ", " : "", stdout);
        cr_json_write_number(stdout, com[k]);
    }
    fputs("], \"moments\": [", stdout);
    for (int k = 0; k < 3; k++) {
        fputs(k > 0 ? ", " : "", stdout);
        cr_json_write_number(stdout, body->principal[k]);
    }
    fputs("], \"shapes\": [", stdout);
    for (int s = of->start[i]; s < of->start[i + 1]; s++) {
        fputs(s > of->start[i] ? ", " : "", stdout);
        cr_json_write_string(stdout, cr_shape_info(model->shapes[of->item[s]].shape.kind)->name);
    }
    fputs("]}", stdout);
}

static void json_records(const crRecording* r) {
    printf("  \"records\": %zu,\n  ", r->count);
    json_number("from", first_time(r));
    fputs(",\n  ", stdout);
    json_number("to", last_time(r));
    if (r->has_events) printf(",\n  \"events\": %zu", r->event_count);
    fputs(",\n", stdout);
}

static void print_json(const SceneInput* input, const crScene* scene, const Shapes* of,
                       const crRecording* recording) {
    const crImport* import = &input->imported;
    const crModel* model = scene->model;
    fputs("{\n  \"model\": ", stdout);
    cr_json_write_string(stdout, scene_title(input));
    printf(",\n  \"format\": \"%s\",\n  \"nq\": %d,\n  \"nv\": %d,\n  ", kind_of(import, recording),
           model->nq, model->nv);
    json_number("mass", total_mass(model));
    printf(",\n  \"shapes\": %d,\n  \"visuals\": %d,\n  \"materials\": %d,\n", model->shape_count,
           model->visual_count, model->material_count - 1);
    printf("  \"constraints\": %d,\n  \"excluded\": %d,\n", model->loop_count, model->exclusion_count);
    printf("  \"overlaps\": %d,\n", scene->overlap_count);
    if (recording != NULL) json_records(recording);
    info_control_json(scene);
    info_materials_json(scene);
    fputs("  \"bodies\": [", stdout);
    for (int i = 0; i < model->nb; i++) {
        json_body(model, of, i);
    }
    fputs("\n  ],\n  \"left_out\": [", stdout);
    for (int i = 0; i < import->note_count; i++) {
        const crNote* note = &import->notes[i];
        printf("%s\n    {\"acts\": %s, \"file\": ", i > 0 ? "," : "",
               note->level == CR_NOTE_UNSUPPORTED ? "true" : "false");
        cr_json_write_string(stdout, note->file);
        printf(", \"line\": %d, \"column\": %d, \"count\": %d, \"text\": ", note->line, note->column,
               note->count);
        cr_json_write_string(stdout, note->text);
        fputs("}", stdout);
    }
    fputs(import->note_count > 0 ? "\n  ]\n}\n" : "]\n}\n", stdout);
}

// the scene that a trajectory carries, into input->doc
static crStatus open_recorded(SceneInput* input, crRecording* recording, crError* error) {
    crStatus status = cr_recording_read(input->path, recording, error);
    if (status != CR_OK) return status;
    if (recording->scene == NULL) {
        status = cr_error_set(error, CR_ERR_MISSING, "scene", "scene: the file does not carry its scene");
    } else {
        status = cr_json_parse(recording->scene, strlen(recording->scene), 1, &input->doc, error);
    }
    if (status != CR_OK) cr_recording_free(recording);
    return status;
}

// -1 to go on, else the exit status
static int read_options(SceneInput* input, int count, char** arguments) {
    int status = scene_arguments(input, count, arguments, print_help, NULL, NULL);
    if (status >= 0) return status;
    return input->path != NULL ? -1 : usage_error("info", "which model?");
}

// true where the ready materials are asked for, alone or as JSON
static bool asks_for_materials(int count, char** arguments, bool* json) {
    bool asked = false;
    *json = false;
    for (int i = 0; i < count; i++) {
        bool materials = strcmp(arguments[i], "--materials") == 0;
        asked = asked || materials;
        *json = *json || strcmp(arguments[i], "--json") == 0;
        if (!materials && strcmp(arguments[i], "--json") != 0) return false;
    }
    return asked;
}

int verb_info(int count, char** arguments) {
    bool json;
    if (asks_for_materials(count, arguments, &json)) {
        info_ready(json);
        return EXIT_GOOD;
    }
    SceneInput input = scene_input("info");
    int status = read_options(&input, count, arguments);
    if (status >= 0) return status;
    crScene scene;
    crError error = {0};
    input.every_note = true;
    crRecording recording = {0};
    bool recorded = ends_in(input.path, ".h5");
    crStatus opened = recorded ? open_recorded(&input, &recording, &error) : scene_open(&input, &error);
    if (opened != CR_OK) return scene_refuse(&input, &error);
    if (scene_read(&input, &scene, &error) == CR_OK) {
        Shapes shapes;
        status = sort_shapes(scene.model, &shapes) ? EXIT_GOOD : EXIT_FILE;
        bool sure = scene_centres(&input, &scene);
        if (status == EXIT_GOOD)
            (input.json ? print_json : print_text)(&input, &scene, &shapes, recorded ? &recording : NULL);
        if (status != EXIT_GOOD) fputs("carom info: out of memory\n", stderr);
        if (status == EXIT_GOOD && !sure) status = EXIT_BAD_INPUT;
        free(shapes.start);
        free(shapes.item);
        cr_scene_free(&scene);
    } else {
        status = scene_refuse(&input, &error);
    }
    scene_close(&input);
    cr_recording_free(&recording);
    return status;
}
