// scene_input.c - scenes for verbs: options that set values, files or shipped scenes, worlds.
//
// Options that change the scene are values set in its tree before it is read, so they are checked as the
// scene is. A name that is no file is looked up among the scenes that come with carom. Fails: what the
// reader of scenes refuses, file where there is neither.
#include "scene_input.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "command.h"
#include "examples.h"
#include "io/input.h"
#include "io/json_set.h"
#include "io/names.h"
#include "model.h"
#include "options.h"
#include "stream.h"

SceneInput scene_input(const char* verb) { return (SceneInput){.verb = verb, .quality = -1}; }

const char* scene_title(const SceneInput* input) {
    return strcmp(input->path, "-") == 0 ? "standard input" : input->path;
}

// the argument as the scene; a second one is a usage error
static int scene_argument(SceneInput* input, const char* argument) {
    if (input->path != NULL)
        return usage_error(input->verb, "only one scene at a time, '%s' is a second one", argument);
    input->path = argument;
    return EXIT_GOOD;
}

static int add_set(SceneInput* input, const char* path, const char* value) {
    if (input->set_count == SCENE_SETS)
        return usage_error(input->verb, "at most %d values can be set", SCENE_SETS);
    input->paths[input->set_count] = path;
    input->values[input->set_count++] = value;
    return EXIT_GOOD;
}

// PATH=VALUE, cut in two
static int take_set(SceneInput* input, char* argument) {
    char* equals = strchr(argument, '=');
    if (equals == NULL) return usage_error(input->verb, "--set needs PATH=VALUE, is '%s'", argument);
    *equals = '\0';
    return add_set(input, argument, equals + 1);
}

static int take_threads(SceneInput* input, const char* value) {
    char* end = NULL;
    long threads = strtol(value, &end, 10);
    if (end == value || *end != '\0' || threads < 1 || threads > 1024)
        return usage_error(input->verb, "--threads is '%s', must be 1 to 1024", value);
    input->threads = (int)threads;
    return EXIT_GOOD;
}

static int take_quality(SceneInput* input, const char* value) {
    for (int i = 0; cr_quality_name((crQuality)i) != NULL; i++) {
        if (strcmp(value, cr_quality_name((crQuality)i)) != 0) continue;
        input->quality = i;
        return EXIT_GOOD;
    }
    return usage_error(input->verb, "--quality is '%s', must be fast, accurate or certified", value);
}

const char* scene_option_path(const char* name) {
    static const char* const names[][2] = {{"--dt", "step.dt"},         {"--duration", "step.duration"},
                                           {"--method", "step.method"}, {"--rule", "impact.rule"},
                                           {"--law", "impact.law"},     {"--solver", "solver.name"},
                                           {"--tol", "solver.tol"},     {"--error", "step.error"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i][0]) == 0) return names[i][1];
    }
    return NULL;
}

// options every verb on a scene has: -1 no such option, else the exit status so far; a flag leaves *taken false
static int scene_option(SceneInput* input, const char* name, char* value, bool* taken) {
    *taken = false;
    if (strcmp(name, "--json") == 0 || strcmp(name, "--strict") == 0) {
        *(name[2] == 'j' ? &input->json : &input->strict) = true;
        return EXIT_GOOD;
    }
    int status = model_option(input, name, value, taken);
    if (status >= 0) return status;
    const char* path = scene_option_path(name);
    bool set = strcmp(name, "--set") == 0;
    bool threads = strcmp(name, "--threads") == 0;
    if (path == NULL && !set && !threads && strcmp(name, "--quality") != 0) return -1;
    if (value == NULL) return usage_error(input->verb, "%s needs a value", name);
    *taken = true;
    if (path != NULL) return add_set(input, path, value);
    return set ? take_set(input, value) : threads ? take_threads(input, value) : take_quality(input, value);
}

int scene_arguments(SceneInput* input, int count, char** arguments, void (*help)(void), VerbOption take,
                    void* ctx) {
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        char* value = i + 1 < count ? arguments[i + 1] : NULL;
        if (asks_help(argument)) {
            help();
            return EXIT_GOOD;
        }
        int status = -1;
        if (argument[0] == '-' && argument[1] != '\0') {
            bool taken = true;
            if (take != NULL) status = take(ctx, argument, value);
            if (status < 0) status = scene_option(input, argument, value, &taken);
            if (status < 0) return unknown_option(input->verb, argument);
            i += taken;
        } else {
            status = scene_argument(input, argument);
        }
        if (status != EXIT_GOOD) return status;
    }
    return -1;
}

// files that carom writes and other verbs read
static bool is_recording(const char* path) {
    static const char* const ends[] = {".h5", ".hdf5", ".csv"};
    size_t length = strlen(path);
    for (int i = 0; i < 3; i++) {
        size_t tail = strlen(ends[i]);
        if (length > tail && strcasecmp(path + length - tail, ends[i]) == 0) return true;
    }
    return false;
}

// the one JSON value of the file
static crStatus read_file(SceneInput* input, crError* error) {
    if (is_recording(input->path)) {
        return cr_error_set(error, CR_ERR_TYPE, "",
                            "a scene or a model is expected, this is a file of data; carom plot draws a "
                            "trajectory, carom run SCENE --resume goes on with it");
    }
    return cr_input_one(input->path, "", &input->doc, error);
}

// names of the shipped scenes alone
static const char* shipped_name(const void* ctx, int index) {
    (void)ctx;
    for (const crExample* e = cr_examples; e->name != NULL; e++) {
        if (strcmp(e->verb, "run") == 0 && index-- == 0) return e->name;
    }
    return NULL;
}

static crStatus read_shipped(SceneInput* input, crError* error) {
    for (const crExample* e = cr_examples; e->name != NULL; e++) {
        if (strcmp(e->verb, "run") == 0 && strcmp(e->name, input->path) == 0)
            return cr_json_parse(e->text, strlen(e->text), 1, &input->doc, error);
    }
    const char* near =
        strpbrk(input->path, "/.") == NULL ? cr_name_nearest(input->path, shipped_name, NULL) : NULL;
    return near != NULL
               ? cr_error_set(error, CR_ERR_FILE, "", "no such file or scene; did you mean '%s'?", near)
               : cr_error_set(error, CR_ERR_FILE, "",
                              "no such file; carom examples lists the scenes that come with carom");
}

crStatus scene_open(SceneInput* input, crError* error) {
    bool file = strcmp(input->path, "-") == 0 || access(input->path, F_OK) == 0;
    bool model = file && cr_import_is_model(input->path);
    crStatus status = model  ? model_open(input, error)
                      : file ? read_file(input, error)
                             : read_shipped(input, error);
    if (status == CR_OK) status = model_lay_over(input, error);
    for (int i = 0; status == CR_OK && i < input->set_count && input->doc.root->type == CR_JSON_OBJECT; i++) {
        status = cr_json_set(&input->doc, input->paths[i], input->values[i], error);
    }
    if (status != CR_OK) scene_close(input);
    return status;
}

void scene_close(SceneInput* input) {
    cr_json_free(&input->doc);
    cr_import_free(&input->imported);
}

crStatus scene_read(const SceneInput* input, crScene* scene, crError* error) {
    crStatus status = cr_scene_read(input->doc.root, scene, error);
    // models are imported at their keyframe
    bool own = input->imported.format == CR_IMPORT_NONE;
    if (status == CR_OK && own && input->how.key != NULL) {
        status = cr_scene_start(scene, input->how.key, error);
        if (status != CR_OK) cr_scene_free(scene);
    }
    if (status == CR_OK && input->threads > 0) scene->step.threads = input->threads;
    if (status == CR_OK && input->quality >= 0) scene->step.quality = (crQuality)input->quality;
    return status;
}

char* scene_text(const SceneInput* input) {
    char* text = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&text, &size);
    if (memory == NULL) return NULL;
    cr_json_write_tree(memory, input->doc.root);
    if (fclose(memory) == 0) return text;
    free(text);
    return NULL;
}

static bool is_passing(const char* parent, const char* key) {
    return strcmp(key, "comment") == 0 || strcmp(key, "$schema") == 0 ||
           (parent != NULL && parent[0] == '\0' && strcmp(key, "record") == 0) ||
           (parent != NULL && strcmp(parent, "step") == 0 && strcmp(key, "duration") == 0);
}

// the hash of a number's bytes, least significant first: files go from one machine to another
static uint64_t hash_number(uint64_t hash, uint64_t x, int size) {
    for (int i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)(x >> (8 * i));
        hash = cr_hash(hash, &byte, 1);
    }
    return hash;
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// the order of members does not matter, and an empty object is as good as none. parent is the key of the
// object, "" for the root, NULL deeper down
static uint64_t tree_hash(const crJson* value, const char* parent) {
    uint64_t hash = CR_HASH_SEED;
    if (value->type == CR_JSON_OBJECT) {
        uint64_t sum = 0;
        for (const crJson* child = value->child; child != NULL; child = child->next) {
            if (is_passing(parent, child->key)) continue;
            uint64_t inner = tree_hash(child, parent != NULL && parent[0] == '\0' ? child->key : NULL);
            hash = cr_hash(CR_HASH_SEED, child->key, strlen(child->key));
            if (inner != 0) sum += hash_number(hash, inner, 8);
        }
        return sum;
    }
    hash = hash_number(hash, (uint64_t)value->type, 4);
    hash = hash_number(hash, bits_of(value->number), 8);
    if (value->text != NULL) hash = cr_hash(hash, value->text, strlen(value->text));
    for (const crJson* child = value->child; child != NULL; child = child->next) {
        uint64_t inner = tree_hash(child, NULL);
        hash = hash_number(hash, inner, 8);
    }
    return hash;
}

uint64_t scene_hash(const SceneInput* input, const crScene* scene) {
    return hash_number(tree_hash(input->doc.root, ""), (uint64_t)scene->step.quality, 4);
}

bool scene_centres(const SceneInput* input, const crScene* scene) {
    if (scene->centre_count == 0) return true;
    crVec3 com = cr_add(scene->model->bodies[scene->centre_body].com, scene->centre_anchor);
    print_plain(stderr, scene_title(input));
    fprintf(stderr, ": %s: ", input->strict ? "error" : "warning");
    print_plain(stderr, scene->model->bodies[scene->centre_body].name);
    fprintf(stderr, " has inertia but no com: taken from its shapes, [%.6g, %.6g, %.6g]", com.x, com.y,
            com.z);
    if (scene->centre_count > 1) fprintf(stderr, " (and %d more)", scene->centre_count - 1);
    fputs("; give com\n", stderr);
    return !input->strict;
}

bool scene_warnings(const SceneInput* input, const crScene* scene) {
    bool centres = scene_centres(input, scene);
    for (int i = 0; i < scene->overlap_count && i < CR_SCENE_OVERLAPS; i++) {
        char a[CR_SCENE_NAME];
        char b[CR_SCENE_NAME];
        cr_scene_shape_name(scene, scene->overlaps[i].shape_a, a);
        cr_scene_shape_name(scene, scene->overlaps[i].shape_b, b);
        print_plain(stderr, scene_title(input));
        fprintf(stderr, ": %s: ", input->strict ? "error" : "warning");
        print_plain(stderr, a);
        fputs(" and ", stderr);
        print_plain(stderr, b);
        fprintf(stderr, " overlap at the start by %.3g m\n", scene->overlaps[i].depth);
    }
    if (scene->overlap_count > CR_SCENE_OVERLAPS)
        fprintf(stderr, "and %d more pairs\n", scene->overlap_count - CR_SCENE_OVERLAPS);
    return centres && (scene->overlap_count == 0 || !input->strict);
}

int scene_refuse(const SceneInput* input, const crError* error) {
    if (input->json) {
        json_error(stdout, error);
    } else {
        text_error(input->path, error);
    }
    return error->status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}

int file_refuse(const SceneInput* input, const crError* error) {
    fflush(stdout);
    fprintf(stderr, "carom %s: ", input->verb);
    print_plain(stderr, error->message);
    fprintf(stderr, " (%s)\n", cr_status_name(error->status));
    return error->status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}
