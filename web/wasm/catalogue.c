// catalogue.c - names the page offers: laws, rules, methods, solvers.
#include <stdio.h>
#include <stdlib.h>

#include "io/json.h"
#include "page.h"

static void put_member(FILE* file, const char* key, const char* text) {
    fprintf(file, "\"%s\":", key);
    cr_json_write_string(file, text);
}

static void put_laws(FILE* file) {
    fputs(",\"laws\":[", file);
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* law = cr_law_info(i);
        fputs(i > 0 ? ",{" : "{", file);
        put_member(file, "name", law->name);
        putc(',', file);
        put_member(file, "title", law->title);
        putc(',', file);
        put_member(file, "guarantee", law->guarantee);
        putc('}', file);
    }
    putc(']', file);
}

static void put_rules(FILE* file) {
    fputs(",\"rules\":[", file);
    for (int i = 0; i < cr_rule_count(); i++) {
        const crRuleInfo* rule = cr_rule_info(i);
        fputs(i > 0 ? ",{" : "{", file);
        put_member(file, "name", rule->name);
        putc(',', file);
        put_member(file, "title", rule->title);
        putc(',', file);
        put_member(file, "guarantee", rule->guarantee);
        putc('}', file);
    }
    putc(']', file);
}

char* carom_catalogue(void) {
    char* out = NULL;
    size_t length = 0;
    FILE* file = open_memstream(&out, &length);
    if (file == NULL) return NULL;
    fprintf(file, "{\"version\":\"%d.%d.%d\",\"numerics\":%d", CR_VERSION_MAJOR, CR_VERSION_MINOR,
            CR_VERSION_PATCH, CR_NUMERICS_REVISION);
    put_laws(file);
    put_rules(file);
    fputs(",\"methods\":[", file);
    for (int i = 0; cr_method_name((crMethod)i) != NULL; i++) {
        fputs(i > 0 ? "," : "", file);
        cr_json_write_string(file, cr_method_name((crMethod)i));
    }
    fputs("]}", file);
    fclose(file);
    return out;
}
