// verb_schema.c - carom schema: the JSON Schema of scene files.
//
// The schema is scene.schema.in with its lists filled in from the library: "@laws" and the like are names, a block between
// "@each shape" (or joint) and "@end" is repeated for each kind that is given by sizes (or has one velocity). What it
// prints is kept as docs/scene.schema.json. Fails: nothing.

#include <string.h>

#include "carom/forms.h"
#include "carom/step.h"
#include "command.h"
#include "io/names.h"
#include "io/scene_ready.h"
#include "options.h"

// scene.schema.in, put into the command when it is built
extern const char cr_scene_schema[];

static const char* method_at(const void* ctx, int index) {
    (void)ctx;
    return cr_method_name((crMethod)index);
}

static const char* quality_at(const void* ctx, int index) {
    (void)ctx;
    return cr_quality_name((crQuality)index);
}

static const char* form_at(const void* ctx, int index) {
    (void)ctx;
    return cr_form_name((crFormKind)index);
}

static const char* figure_at(const void* ctx, int index) {
    (void)ctx;
    return cr_figure_name((crFigure)index);
}

static const char* ready_at(const void* ctx, int index) {
    (void)ctx;
    const crReady* ready = cr_ready_at(index);
    return ready != NULL && ready->other == NULL ? ready->name : NULL;
}

typedef struct NameList {
    const char* word;
    const char* (*name_at)(const void* ctx, int index);
} NameList;

static const NameList lists[] = {
    {"laws", cr_name_law},     {"rules", cr_name_rule}, {"solvers", cr_name_solver}, {"methods", method_at},
    {"qualities", quality_at}, {"forms", form_at},      {"figures", figure_at},      {"ready", ready_at},
};

static void put_list(const char* word, size_t length) {
    const char* name;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strlen(lists[i].word) != length || strncmp(lists[i].word, word, length) != 0) continue;
        for (int k = 0; (name = lists[i].name_at(NULL, k)) != NULL; k++) {
            printf("%s\"%s\"", k > 0 ? ", " : "", name);
        }
    }
}

// a kind that a block is repeated for; one of the two
typedef struct Kind {
    const crShapeInfo* shape;
    const crJointInfo* joint;
} Kind;

#define INDENT "            "

static void put_fields(Kind kind) {
    if (kind.joint != NULL) {
        printf(INDENT "\"%s\": {\"type\": \"number\", \"description\": \"at the start, %s\"},\n",
               kind.joint->coordinate, kind.joint->unit);
        printf(INDENT "\"%s\": {\"type\": \"number\", \"description\": \"%s/s\"},\n", kind.joint->rate,
               kind.joint->unit);
        return;
    }
    for (int i = 0; i < 2 && kind.shape->fields[i] != NULL; i++) {
        const char* type = kind.shape->sizes == 3 ? "\"$ref\": \"#/$defs/sizes\""
                                                  : "\"type\": \"number\", \"exclusiveMinimum\": 0";
        printf(INDENT "\"%s\": {%s, \"description\": \"%s\"},\n", kind.shape->fields[i], type,
               kind.shape->what[i]);
    }
    if (kind.shape->turned)
        puts(INDENT "\"axis\": {\"enum\": [\"x\", \"y\", \"z\"], \"description\": \"along which it lies, "
                    "default z\"},");
}

static void put_word(const char* word, size_t length, Kind kind) {
    if (length == 4 && strncmp(word, "name", 4) == 0)
        fputs(kind.joint != NULL ? kind.joint->name : kind.shape->name, stdout);
    else if (length == 4 && strncmp(word, "unit", 4) == 0)
        fputs(kind.joint->unit, stdout);
    else if (length == 8 && strncmp(word, "required", 8) == 0)
        for (int i = 0; i < 2 && kind.shape->fields[i] != NULL; i++) {
            printf("%s\"%s\"", i > 0 ? ", " : "", kind.shape->fields[i]);
        }
    else
        put_list(word, length);
}

// text up to end, lines that are "@fields" and words behind "@" replaced
static void put_text(const char* text, const char* end, Kind kind) {
    while (text < end) {
        if (strncmp(text, "@fields\n", 8) == 0) {
            put_fields(kind);
            text += 8;
        } else if (*text == '@') {
            size_t length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz");
            put_word(text + 1, length, kind);
            text += 1 + length;
        } else {
            putchar(*text++);
        }
    }
}

static void put_block(const char* text, const char* end, bool shapes) {
    for (int i = 0; shapes && i < CR_SHAPE_KINDS; i++) {
        const crShapeInfo* shape = cr_shape_info((crShapeKind)i);
        if (shape->sizes > 0) put_text(text, end, (Kind){.shape = shape});
    }
    for (int i = 0; !shapes && i < CR_JOINT_KINDS; i++) {
        const crJointInfo* joint = cr_joint_info((crJoint)i);
        if (joint->nv == 1) put_text(text, end, (Kind){.joint = joint});
    }
}

static void put_schema(void) {
    const char* text = cr_scene_schema;
    const char* block;
    while ((block = strstr(text, "@each ")) != NULL) {
        put_text(text, block, (Kind){0});
        const char* begin = strchr(block, '\n') + 1;
        const char* end = strstr(begin, "@end\n");
        put_block(begin, end, strncmp(block, "@each shape", 11) == 0);
        text = end + 5;
    }
    put_text(text, text + strlen(text), (Kind){0});
}

int verb_schema(int count, char** arguments) {
    if (count > 0 && asks_help(arguments[0])) {
        puts("usage: carom schema\n"
             "\n"
             "Prints the JSON Schema (2020-12) of scene files. An editor that knows it completes and checks "
             "them.\n"
             "\n"
             "example:\n"
             "  carom schema > scene.schema.json");
        return EXIT_GOOD;
    }
    if (count > 0 && arguments[0][0] == '-') return unknown_option("schema", arguments[0]);
    if (count > 0) return usage_error("schema", "takes no arguments, '%s' is one", arguments[0]);
    put_schema();
    return EXIT_GOOD;
}
