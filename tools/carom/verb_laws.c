// verb_laws.c - carom laws: what the catalogue says about each law.
#include <string.h>

#include "carom/carom.h"
#include "command.h"
#include "io/json.h"
#include "io/names.h"

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

static const char* law_at(const void* ctx, int index) {
    (void)ctx;
    const crLawInfo* info = cr_law_info(index);
    return info != NULL ? info->name : NULL;
}

static const crLawInfo* find_law(const char* name) {
    for (int i = 0; i < cr_law_count(); i++) {
        if (strcmp(cr_law_info(i)->name, name) == 0) return cr_law_info(i);
    }
    return NULL;
}

static const char* yes(bool flag) { return flag ? "yes" : "-"; }

static void print_table(void) {
    puts("                                 may     slip of a sphere   rebound at grazing\n"
         "law               reaches        create  reverse  keep      normal  tangential\n"
         "                                 energy");
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* law = cr_law_info(i);
        printf("%-16s  %-13s  %-6s  %-7s  %-8s  %-6s  %s\n", law->name, law->reaches,
               yes(law->may_create_energy), yes(law->spin_reversal), yes(law->spin_non_reversal),
               yes(law->grazing_normal), yes(law->grazing_tangential));
    }
}

static void print_row(const char* label, const char* text) {
    printf("  %-11s ", label);
    print_wrapped(stdout, text, 14, 14, WIDTH);
}

static void print_law(const crLawInfo* law) {
    printf("%s - ", law->name);
    print_wrapped(stdout, law->title, (int)strlen(law->name) + 3, 4, WIDTH);
    print_row("parameters", law->parameters);
    print_row("holds", law->guarantee);
    print_row("reaches", law->reaches);
    print_row("source", law->source);
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
    json_text("reaches", law->reaches);
    const struct {
        const char* key;
        bool value;
    } flags[] = {{"may_create_energy", law->may_create_energy},
                 {"spin_reversal", law->spin_reversal},
                 {"spin_non_reversal", law->spin_non_reversal},
                 {"grazing_normal", law->grazing_normal},
                 {"grazing_tangential", law->grazing_tangential}};
    for (int i = 0; i < 5; i++) {
        printf("\"%s\":%s%s", flags[i].key, flags[i].value ? "true" : "false", i < 4 ? "," : "}\n");
    }
}

int verb_laws(int count, char** arguments) {
    bool json = false;
    int names = 0;
    for (int i = 0; i < count; i++) {
        const char* argument = arguments[i];
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            json = true;
        } else if (argument[0] == '-') {
            return usage_error("laws", "unknown option '%s'", argument);
        } else if (find_law(argument) == NULL) {
            const char* near = cr_name_nearest(argument, law_at, NULL);
            return near != NULL
                       ? usage_error("laws", "no law is called '%s'; did you mean '%s'?", argument, near)
                       : usage_error("laws", "no law is called '%s'", argument);
        } else {
            names++;
        }
    }
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
            if (names == 0 || i > 0) putchar('\n');
            print_law(law);
        }
    }
    return EXIT_GOOD;
}
