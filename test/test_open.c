// test_open.c - scenes and models in one call: the same world as by the readers one after another, refusals by
// path, what is left out in the log; lists of numbers that JSON packs are written as they were read.
#include <stdlib.h>
#include <unistd.h>

#include "carom/io/import.h"
#include "carom/io/json_set.h"
#include "carom/io/scene.h"
#include "test.h"

static const char* text_of(const char* path, size_t* size) {
    static char text[65536];
    FILE* file = fopen(path, "rb");
    *size = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL) fclose(file);
    text[*size] = '\0';
    return text;
}

static void path_of(char path[300], const char* name) {
    const char* source = getenv("CAROM_SOURCE");
    snprintf(path, 300, "%s/%s", source != NULL ? source : ".", name);
}

// hash of the state after 50 steps; 0 where there is no world
static uint64_t played(crWorld* world) {
    for (int i = 0; i < 50 && world != NULL; i++) {
        if (cr_world_step(world, NULL) != CR_OK) return 0;
    }
    return cr_world_hash(world);
}

static uint64_t opened(const char* path) {
    crScene scene;
    crWorld* world = NULL;
    crError error = {0};
    if (!CHECK_STATUS(cr_scene_open(path, NULL, &scene, &world, &error), CR_OK))
        printf("  %s\n", error.message);
    uint64_t hash = played(world);
    cr_world_destroy(world);
    cr_scene_free(&scene);
    return hash;
}

static uint64_t read_by_hand(crJsonDoc* doc) {
    crScene scene;
    crWorld* world = NULL;
    CHECK_STATUS(cr_scene_read(doc->root, &scene, NULL), CR_OK);
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    uint64_t hash = played(world);
    cr_world_destroy(world);
    cr_scene_free(&scene);
    cr_json_free(doc);
    return hash;
}

TEST(a_file_and_its_bundled_name_are_one_scene) {
    char path[300];
    size_t size;
    crJsonDoc doc;
    path_of(path, "scenes/box-stack.json");
    const char* text = text_of(path, &size);
    if (!CHECK_STATUS(cr_json_parse(text, size, 1, &doc, NULL), CR_OK)) return;
    uint64_t expected = read_by_hand(&doc);
    CHECK(expected != 0);
    CHECK(opened(path) == expected);
    CHECK(opened("box-stack") == expected);
    CHECK(opened("dominoes") != expected);
}

TEST(every_bundled_scene_opens) {
    int count = 0;
    for (const char* name; (name = cr_scene_bundled(count)) != NULL; count++) {
        crScene scene;
        crError error = {0};
        char path[300], file[200];
        snprintf(file, sizeof file, "scenes/%s.json", name);
        path_of(path, file);
        CHECK(access(path, R_OK) == 0);
        crStatus status = cr_scene_open(name, NULL, &scene, NULL, &error);
        // a carom without Qhull refuses hulls of points by name
        bool hull = status == CR_ERR_NAME && strstr(error.message, "CAROM_QHULL") != NULL;
        if (!hull && !CHECK_STATUS(status, CR_OK)) printf("  %s: %s\n", name, error.message);
        cr_scene_free(&scene);
    }
    CHECK(count > 20);
    CHECK(cr_scene_bundled(-1) == NULL && cr_scene_bundled(count + 1) == NULL);
}

typedef struct Told {
    int warnings, infos;
    char text[512];
} Told;

static void hear(void* ctx, crLogLevel level, const char* message) {
    Told* told = ctx;
    told->warnings += level == CR_LOG_WARNING;
    told->infos += level == CR_LOG_INFO;
    if (level == CR_LOG_WARNING) snprintf(told->text, sizeof told->text, "%s", message);
}

TEST(a_model_opens_and_tells_what_it_leaves_out) {
    char path[300];
    path_of(path, "examples/models/arm.xml");
    crImport import;
    crError error = {0};
    crStatus status = cr_import_file(path, NULL, &import, &error);
    if (status == CR_ERR_FILE && strstr(error.message, "expat") != NULL) return;
    if (!CHECK_STATUS(status, CR_OK)) return;
    int unsupported = 0;
    for (int i = 0; i < import.note_count; i++) {
        unsupported += import.notes[i].level == CR_NOTE_UNSUPPORTED;
    }
    Told told = {0};
    crLog log = {hear, &told};
    crScene scene;
    crWorld* world = NULL;
    CHECK_STATUS(cr_scene_open(path, &log, &scene, &world, &error), CR_OK);
    CHECK(unsupported > 0 && told.warnings == unsupported);
    CHECK(told.infos == import.note_count - unsupported);
    CHECK(strstr(told.text, "arm.xml:10:26: ") != NULL && strstr(told.text, "margin") != NULL);
    uint64_t hash = played(world);
    cr_world_destroy(world);
    cr_scene_free(&scene);
    CHECK(hash == read_by_hand(&import.scene));
    cr_import_free(&import);
}

TEST(shapes_that_overlap_at_the_start_are_told) {
    static const char text[] =
        "{\"carom\": 1, \"bodies\": [{\"name\": \"ball\", \"mass\": 1, \"pos\": [0, 0, 0.05],"
        "\"shapes\": [{\"type\": \"sphere\", \"r\": 0.1}]}],"
        "\"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0}]}";
    char path[] = "/tmp/carom-open-XXXXXX";
    int descriptor = mkstemp(path);
    if (!CHECK(descriptor >= 0 && write(descriptor, text, sizeof text - 1) == (ssize_t)sizeof text - 1))
        return;
    close(descriptor);
    Told told = {0};
    crLog log = {hear, &told};
    crScene scene;
    CHECK_STATUS(cr_scene_open(path, &log, &scene, NULL, NULL), CR_OK);
    CHECK(told.warnings == 1 && strstr(told.text, "ball") != NULL && strstr(told.text, "by 0.05 m") != NULL);
    cr_scene_free(&scene);
    unlink(path);
}

// the status of a file with this text; the scene comes back zeroed and world NULL
static crStatus refused(const char* text, crError* error) {
    char path[] = "/tmp/carom-open-XXXXXX";
    int descriptor = mkstemp(path);
    size_t size = strlen(text);
    CHECK(descriptor >= 0 && write(descriptor, text, size) == (ssize_t)size);
    close(descriptor);
    crScene scene;
    memset(&scene, 1, sizeof scene);
    crWorld* world = (crWorld*)&scene;
    *error = (crError){0};
    crStatus status = cr_scene_open(path, NULL, &scene, &world, error);
    CHECK(status == error->status && error->message[0] != '\0');
    CHECK(world == NULL && scene.model == NULL && scene.q == NULL && scene.owned == NULL);
    CHECK(scene.arena.block == NULL && scene.arena.spill == NULL && scene.step.dt == 0.0);
    CHECK(cr_scene_open(path, NULL, &scene, &world, NULL) == status);
    cr_scene_free(&scene);
    unlink(path);
    return status;
}

TEST(what_is_no_scene_is_refused) {
    crError error;
    CHECK_STATUS(refused("", &error), CR_ERR_SYNTAX);
    CHECK_STATUS(refused("{\"carom\": 1}\n{\"carom\": 1}\n", &error), CR_ERR_SYNTAX);
    CHECK(error.line == 2);
    CHECK_STATUS(refused("{\"carom\": 1,\n \"bodis\": []}", &error), CR_ERR_FIELD);
    CHECK(error.line == 2 && error.column == 11);
    CHECK_STATUS(refused("[1]", &error), CR_ERR_TYPE);
    CHECK(refused("<nothing/>", &error) < 0);
    crScene scene;
    CHECK_STATUS(cr_scene_open("/nonexistent/scene.json", NULL, &scene, NULL, &error), CR_ERR_FILE);
    CHECK(strcmp(error.field, "path") == 0 && strstr(error.message, "/nonexistent/scene.json") != NULL);
    CHECK_STATUS(cr_scene_open("box-stak", NULL, &scene, NULL, &error), CR_ERR_FILE);
    CHECK(strstr(error.message, "did you mean \"box-stack\"") != NULL);
}

TEST(packed_lists_are_written_as_they_were_read) {
    static const char text[] =
        "{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17.5],\"b\":[[],[1]],\"c\":\"d\"}";
    crJsonDoc doc;
    if (!CHECK_STATUS(cr_json_parse_data(text, sizeof text - 1, &doc, NULL), CR_OK)) return;
    CHECK(cr_json_get(doc.root, "a")->packed != NULL);
    char* written = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&written, &size);
    cr_json_write_tree(memory, doc.root);
    fclose(memory);
    CHECK(strcmp(written, text) == 0);
    free(written);
    cr_json_free(&doc);
}
