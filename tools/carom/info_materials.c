// info_materials.c - coefficients that depend on the impact: their figures and range; ready materials with their sources.
#include "info_materials.h"

#include <math.h>
#include <stdio.h>

#include "carom/forms.h"
#include "command.h"
#include "io/json.h"
#include "io/scene_ready.h"

typedef struct Range {
    const char* coefficient;
    char by[40];  // "speed", "speed and angle", "a function"
    double least, most;
} Range;

static Range range_of(const char* coefficient, const crCurve* c) {
    Range r = {.coefficient = coefficient, .least = INFINITY, .most = -INFINITY};
    if (c->function != NULL) {
        snprintf(r.by, sizeof r.by, "a function");
        return r;
    }
    bool two = c->columns > 1;
    snprintf(r.by, sizeof r.by, "%s%s%s", cr_figure_name(c->by[0]), two ? " and " : "",
             two ? cr_figure_name(c->by[1]) : "");
    for (int i = 0; i < c->rows * c->columns; i++) {
        r.least = fmin(r.least, c->value[i]);
        r.most = fmax(r.most, c->value[i]);
    }
    return r;
}

// At most three; e over speed is a table of its own kind.
static int ranges_of(const crSurface* s, Range* out) {
    int count = 0;
    const crRestitution* r = s->e_of_speed;
    const crByImpact none = {0}, *by = s->by_impact != NULL ? s->by_impact : &none;
    if (by->e != NULL) {
        out[count++] = range_of("e", by->e);
    } else if (r != NULL && r->function == NULL) {
        out[count++] =
            range_of("e", &(crCurve){.rows = r->count, .columns = 1, .x = r->speed, .value = r->e});
    }
    if (by->et != NULL) out[count++] = range_of("et", by->et);
    if (by->mu != NULL) out[count++] = range_of("mu", by->mu);
    return count;
}

static const char* name_of(const crModel* model, int material) {
    const char* name = model->materials[material].name;
    return name != NULL ? name : "default";
}

static void print_ranges(const crModel* model, int a, int b, const crSurface* s, bool* any) {
    Range ranges[3];
    int count = ranges_of(s, ranges);
    for (int i = 0; i < count; i++) {
        if (!*any) puts("\ncoefficients that depend on the impact");
        *any = true;
        fputs("  ", stdout);
        print_plain(stdout, name_of(model, a));
        if (b >= 0) fputs(" with ", stdout);
        if (b >= 0) print_plain(stdout, name_of(model, b));
        printf(": %s by %s", ranges[i].coefficient, ranges[i].by);
        if (ranges[i].least <= ranges[i].most)
            printf(", %.4g to %.4g%s", ranges[i].least, ranges[i].most,
                   ranges[i].coefficient[0] == 'e' && ranges[i].most > 1.0 ? ": above 1, may create energy"
                                                                           : "");
        putchar('\n');
    }
}

void info_materials_text(const crScene* scene) {
    const crModel* model = scene->model;
    bool any = false;
    for (int i = 0; i < model->material_count; i++) {
        print_ranges(model, i, -1, &model->materials[i].surface, &any);
    }
    for (int i = 0; i < model->pair_count; i++) {
        const crMaterialPair* p = &model->pairs[i];
        print_ranges(model, p->a, p->b, &p->surface, &any);
    }
}

static void json_ranges(const crModel* model, int a, int b, const crSurface* s, bool* any) {
    Range ranges[3];
    int count = ranges_of(s, ranges);
    for (int i = 0; i < count; i++) {
        fputs(*any ? ",\n    {\"materials\": [" : "\n    {\"materials\": [", stdout);
        *any = true;
        cr_json_write_string(stdout, name_of(model, a));
        if (b >= 0) fputs(", ", stdout);
        if (b >= 0) cr_json_write_string(stdout, name_of(model, b));
        printf("], \"coefficient\": \"%s\", \"by\": \"%s\", \"range\": [", ranges[i].coefficient,
               ranges[i].by);
        bool known = ranges[i].least <= ranges[i].most;
        cr_json_write_number(stdout, known ? ranges[i].least : (double)NAN);
        fputs(", ", stdout);
        cr_json_write_number(stdout, known ? ranges[i].most : (double)NAN);
        fputs("]}", stdout);
    }
}

void info_materials_json(const crScene* scene) {
    const crModel* model = scene->model;
    bool any = false;
    fputs("  \"by_impact\": [", stdout);
    for (int i = 0; i < model->material_count; i++) {
        json_ranges(model, i, -1, &model->materials[i].surface, &any);
    }
    for (int i = 0; i < model->pair_count; i++) {
        const crMaterialPair* p = &model->pairs[i];
        json_ranges(model, p->a, p->b, &p->surface, &any);
    }
    fputs(any ? "\n  ],\n" : "],\n", stdout);
}

void info_ready(bool json) {
    const crReady* r;
    for (int i = 0; (r = cr_ready_at(i)) != NULL; i++) {
        if (json) {
            fputs("{\"materials\": [", stdout);
            cr_json_write_string(stdout, r->name);
            if (r->other != NULL) fputs(", ", stdout);
            if (r->other != NULL) cr_json_write_string(stdout, r->other);
            printf("], \"fields\": %s, \"source\": ", r->fields);
            cr_json_write_string(stdout, r->source);
            puts("}");
            continue;
        }
        printf("%s%s%s\n", r->name, r->other != NULL ? " with " : "", r->other != NULL ? r->other : "");
        fputs("  ", stdout);
        print_wrapped(stdout, r->fields, 2, 2, 100);
        fputs("  ", stdout);
        print_wrapped(stdout, r->source, 2, 2, 100);
    }
}
