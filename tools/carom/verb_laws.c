// verb_laws.c - carom laws: what the catalogue says about each law.
#include <string.h>

#include "carom/carom.h"
#include "command.h"
#include "io/json.h"
#include "io/names.h"
#include "options.h"

#define WIDTH 100

static void print_help(void) {
    puts("usage: carom laws [NAME ...] [--json]\n"
         "\n"
         "Lists the collision laws: their parameters with ranges, what always holds, the source, the\n"
         "dimension of the part of the permissible region a law reaches by varying its parameters,\n"
         "and what it can predict. With names, only those laws.\n"
         "\n"
         "  --json   one JSON object per law\n"
         "\n"
         "examples:\n"
         "  carom laws\n"
         "  carom laws routh smith\n"
         "  carom laws --json | python3 -m json.tool --json-lines");
}

static const crLawInfo* find_law(const char* name) {
    for (int i = 0; i < cr_law_count(); i++) {
        if (strcmp(cr_law_info(i)->name, name) == 0) return cr_law_info(i);
    }
    return NULL;
}

static const char* yes(bool flag) { return flag ? "yes" : "-"; }

static void print_table(void) {
    puts("                  dimension  planar  creates  slip of a sphere     rebound at grazing\n"
         "law               reached    only    energy   reversed  or not     normal  tangential");
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* law = cr_law_info(i);
        printf("%-16s  %-9d  %-6s  %-7s  %-8s  %-9s  %-6s  %s\n", law->name, law->dimension, yes(law->planar),
               law->may_create_energy ? "may" : "-", yes(law->spin_reversal), yes(law->spin_non_reversal),
               yes(law->grazing_normal), yes(law->grazing_tangential));
    }
    puts("\ndimension reached: of the part of the permissible region that the law's parameters cover");
}

static void print_row(const char* label, const char* text) {
    printf("  %-11s ", label);
    print_wrapped(stdout, text, 14, 14, WIDTH);
}

static void print_predictions(const crLawInfo* law) {
    const struct {
        const char* what;
        bool can;
    } cells[] = {{"energy created", law->may_create_energy},
                 {"slip of a sphere reversed", law->spin_reversal},
                 {"slip of a sphere not reversed", law->spin_non_reversal},
                 {"normal rebound at grazing", law->grazing_normal},
                 {"tangential rebound at grazing", law->grazing_tangential}};
    char text[256] = "";
    size_t used = 0;
    for (int i = 0; i < 5; i++) {
        if (!cells[i].can) continue;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "", cells[i].what);
    }
    print_row("can predict", text);
}

static void print_law(const crLawInfo* law) {
    printf("%s - ", law->name);
    print_wrapped(stdout, law->title, (int)strlen(law->name) + 3, 4, WIDTH);
    print_row("parameters", law->parameters);
    print_row("holds", law->guarantee);
    print_row("source", law->source);
    char reach[64];
    snprintf(reach, sizeof reach, "%d-dimensional part of the region%s", law->dimension,
             law->planar ? "; planar contacts only" : "");
    print_row("reaches", reach);
    print_predictions(law);
}

static void json_text(const char* key, const char* text) {
    printf("\"%s\":", key);
    cr_json_write_string(stdout, text);
    putchar(',');
}

static void json_law(const crLawInfo* law) {
    putchar('{');
    json_text("law", law->name);
    json_text("title", law->title);
    json_text("parameters", law->parameters);
    json_text("guarantee", law->guarantee);
    json_text("source", law->source);
    printf("\"dimension\":%d,", law->dimension);
    const struct {
        const char* key;
        bool value;
    } flags[] = {{"planar", law->planar},
                 {"may_create_energy", law->may_create_energy},
                 {"spin_reversal", law->spin_reversal},
                 {"spin_non_reversal", law->spin_non_reversal},
                 {"grazing_normal", law->grazing_normal},
                 {"grazing_tangential", law->grazing_tangential}};
    for (int i = 0; i < 6; i++) {
        printf("\"%s\":%s%s", flags[i].key, flags[i].value ? "true" : "false", i < 5 ? "," : "}\n");
    }
}

int verb_laws(int count, char** arguments) {
    bool json = false;
    int names = 0;
    for (int i = 0; i < count; i++) {
        const char* argument = arguments[i];
        if (asks_help(argument)) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            json = true;
        } else if (argument[0] == '-') {
            return unknown_option("laws", argument);
        } else if (find_law(argument) == NULL) {
            const char* near = cr_name_nearest(argument, cr_name_law, NULL);
            return near != NULL
                       ? usage_error("laws", "no law is called '%s'; did you mean '%s'?", argument, near)
                       : usage_error("laws", "no law is called '%s'", argument);
        } else {
            names++;
        }
    }
    int printed = 0;
    if (names == 0 && !json) print_table();
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* law = cr_law_info(i);
        bool wanted = names == 0;
        for (int k = 0; k < count; k++) {
            wanted = wanted || strcmp(arguments[k], law->name) == 0;
        }
        if (!wanted) continue;
        if (json) {
            json_law(law);
        } else {
            if (names == 0 || printed > 0) putchar('\n');
            print_law(law);
            printed++;
        }
    }
    return EXIT_GOOD;
}
