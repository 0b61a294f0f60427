// verb_schema.c - carom schema: the JSON Schema of scene files, docs/scene.schema.json.

#include "command.h"
#include "options.h"

// docs/scene.schema.json, put into the command when it is built
extern const char cr_scene_schema[];

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
    fputs(cr_scene_schema, stdout);
    return EXIT_GOOD;
}
