// impact_gradient.c - answers of `carom impact --gradient`: derivatives of each law's impulse and of V+, with the verdict.
#include <string.h>

#include "command.h"
#include "numbers.h"
#include "verb_impact.h"

// true for inputs that the law reads and the input can change: in two dimensions those within the plane
static bool is_shown(const crImpact* impact, const crGradient* g, int k) {
    static const int across[] = {CR_BY_WXZ, CR_BY_WYZ, CR_BY_WZZ,   CR_BY_VZ,
                                 CR_BY_NZ,  CR_BY_MU3, CR_BY_WISH_Z};
    for (int i = 0; i < 7 && impact->dimension == 2; i++) {
        if (across[i] == k) return false;
    }
    return g->reads[k];
}

static bool is_split(const crGradient* g, int k) {
    return memcmp(&g->P_minus[k], &g->P_plus[k], sizeof(crVec3)) != 0 && !isnan(g->P_plus[k].x);
}

static void put_vector(FILE* file, const Style* style, crVec3 v, int dimension) {
    const double component[3] = {v.x, v.y, v.z};
    for (int i = 0; i < dimension; i++) {
        putc(' ', file);
        put_number(file, style, component[i]);
    }
}

typedef struct Table {
    Style P, V;
    int columns[2];  // of P and of V+
    int dimension;
    bool errors;  // a column of error estimates
} Table;

static Table table_of(const crImpact* impact, const crGradient* g) {
    double P[6 * CR_LAW_INPUTS], V[6 * CR_LAW_INPUTS];
    Table t = {.dimension = impact->dimension, .errors = g->differenced};
    int count = 0;
    for (int k = 0; k < CR_LAW_INPUTS; k++) {
        if (!is_shown(impact, g, k) || isnan(g->P_plus[k].x)) continue;
        const crVec3 all[4] = {g->P_minus[k], g->P_plus[k], g->V_minus[k], g->V_plus[k]};
        for (int i = 0; i < 2; i++) {
            const double p[3] = {all[i].x, all[i].y, all[i].z},
                         v[3] = {all[2 + i].x, all[2 + i].y, all[2 + i].z};
            for (int j = 0; j < t.dimension; j++) {
                P[count] = p[j];
                V[count++] = v[j];
            }
        }
    }
    t.P = style_of(P, count, 5);
    t.V = style_of(V, count, 5);
    t.columns[0] = t.dimension * (t.P.width + 1);
    t.columns[1] = t.dimension * (t.V.width + 1);
    return t;
}

static void put_row(FILE* file, const Table* t, const char* name, char side, crVec3 P, crVec3 V,
                    double error) {
    char label[16];
    snprintf(label, sizeof label, "%s%c", name, side);
    fprintf(file, "  %-8s", label);
    if (isnan(P.x)) {
        fputs(" none\n", file);
        return;
    }
    put_vector(file, &t->P, P, t->dimension);
    fputs("  ", file);
    put_vector(file, &t->V, V, t->dimension);
    if (t->errors) fprintf(file, "   %.1e", error);
    putc('\n', file);
}

static void put_verdict(FILE* file, const crImpact* impact, const char* law, const crGradient* g,
                        bool color) {
    const char* const tint[] = {GREEN, AMBER, RED};
    fprintf(file, "%s: %s, %s%s%s", law, cr_regime_name(g->hit.regime), color ? tint[g->verdict] : "",
            cr_smoothness_name(g->verdict), color ? PLAIN : "");
    if (g->differenced) fputs(", differenced", file);
    bool known = g->nearest != CR_SWITCH_NONE && isfinite(g->distance);
    if (known && g->differenced && g->switches == 0 && g->nearest == CR_SWITCH_UNKNOWN) {
        fprintf(file, "; no switch seen within %.2g", g->distance);
    } else if (known) {
        fprintf(file, "; switch %s at %.2g", cr_switch_name(g->nearest), g->distance);
    } else if (g->verdict == CR_NO_DERIVATIVE) {
        fputs("; W is singular, or no solution, or two solutions meet", file);
    }
    if (g->verdict != CR_SMOOTH && known) fprintf(file, ", beyond it %s", cr_regime_name(g->beyond));
    if (cr_norm(g->jump) > 0.0) {
        fprintf(file, ", P jumps by (%.5g, %.5g", g->jump.x, g->jump.y);
        if (impact->dimension == 3) fprintf(file, ", %.5g", g->jump.z);
        fputs(") N s", file);
    }
    putc('\n', file);
}

static void put_table(FILE* file, const crImpact* impact, const char* law, const crGradient* g, bool color) {
    Table t = table_of(impact, g);
    put_verdict(file, impact, law, g, color);
    fputs("  by       ", file);
    put_heading(file, "dP", "N s", &t.P, t.columns[0] + 2);
    put_heading(file, "dV+", "m/s", &t.V, t.errors ? t.columns[1] + 2 : 0);
    fputs(t.errors ? "error of dP\n" : "\n", file);
    for (int k = 0; k < CR_LAW_INPUTS; k++) {
        if (!is_shown(impact, g, k)) continue;
        const char* name = cr_law_input_name((crLawInput)k);
        bool split = is_split(g, k);
        if (split) put_row(file, &t, name, '-', g->P_minus[k], g->V_minus[k], g->error[k]);
        put_row(file, &t, name, split ? '+' : ' ', g->P_plus[k], g->V_plus[k], g->error[k]);
    }
}

static void write_vector(FILE* file, const char* key, crVec3 v, int dimension) {
    const double component[3] = {v.x, v.y, v.z};
    fprintf(file, "\"%s\":", key);
    for (int i = 0; i < dimension; i++) {
        putc(i == 0 ? '[' : ',', file);
        cr_json_write_number(file, component[i]);
    }
    putc(']', file);
}

static void write_number(FILE* file, const char* key, double value) {
    fprintf(file, ",\"%s\":", key);
    cr_json_write_number(file, value);
}

static void write_inputs(FILE* file, const crImpact* impact, const crGradient* g) {
    bool first = true;
    int dimension = impact->dimension;
    fputs(",\"by\":{", file);
    for (int k = 0; k < CR_LAW_INPUTS; k++) {
        if (!is_shown(impact, g, k)) continue;
        fprintf(file, "%s\"%s\":{", first ? "" : ",", cr_law_input_name((crLawInput)k));
        first = false;
        write_vector(file, "P_minus", g->P_minus[k], dimension);
        putc(',', file);
        write_vector(file, "P_plus", g->P_plus[k], dimension);
        putc(',', file);
        write_vector(file, "V_minus", g->V_minus[k], dimension);
        putc(',', file);
        write_vector(file, "V_plus", g->V_plus[k], dimension);
        write_number(file, "normal", g->normal[k]);
        write_number(file, "error", g->error[k]);
        putc('}', file);
    }
    putc('}', file);
}

static void write_gradient(FILE* file, const crImpact* impact, const char* law, const crGradient* g) {
    fprintf(file, "\"law\":\"%s\",", law);
    write_vector(file, "P", g->hit.P, impact->dimension);
    putc(',', file);
    write_vector(file, "V_plus", g->hit.V_plus, impact->dimension);
    fprintf(file, ",\"regime\":\"%s\",\"verdict\":\"%s\",\"differenced\":%s,\"switch\":\"%s\"",
            cr_regime_name(g->hit.regime), cr_smoothness_name(g->verdict), g->differenced ? "true" : "false",
            cr_switch_name(g->nearest));
    write_number(file, "distance", g->distance);
    fprintf(file, ",\"switches\":%d,\"beyond\":\"%s\",", g->switches, cr_regime_name(g->beyond));
    write_vector(file, "jump", g->jump, impact->dimension);
    write_inputs(file, impact, g);
}

// One law's gradient, or the reason why not.
static crStatus gradient_of(const crJson* object, const crImpact* impact, int i, crGradient* g,
                            crError* error) {
    crLaw law;
    crStatus status = cr_impact_apply(object, impact, i, &g->hit, error);
    if (status == CR_OK) status = cr_law_find(impact->laws[i], &impact->params, &law, error);
    if (status == CR_OK) status = cr_law_gradient(&law, &impact->collision, CR_GRADIENT_TOL, g, error);
    return status;
}

static void json_gradient(crStatus status, const crImpact* impact, int i, const crGradient* g,
                          const crError* error) {
    fputs(i > 0 ? ",{" : "{", stdout);
    if (status == CR_OK) {
        write_gradient(stdout, impact, impact->laws[i], g);
    } else {
        printf("\"law\":\"%s\",", impact->laws[i]);
        json_error_member(stdout, error);
    }
    putchar('}');
}

bool answer_gradient(const Stream* stream, const crJson* object, int line, bool first) {
    crImpact impact;
    crError error = {0};
    if (cr_impact_read(object, &impact, &error) != CR_OK) {
        stream_error(stream, &error);
        return false;
    }
    if (stream->json) {
        putchar('{');
        if (impact.name != NULL) {
            fputs("\"name\":", stdout);
            cr_json_write_string(stdout, impact.name);
            putchar(',');
        }
        fputs("\"gradients\":[", stdout);
    } else {
        if (!first) putchar('\n');
        if (impact.name != NULL) print_plain(stdout, impact.name);
        if (impact.name == NULL) printf("line %d", line);
        putchar('\n');
    }
    bool any = false;
    for (int i = 0; i < impact.law_count; i++) {
        crGradient g = {0};
        crStatus status = gradient_of(object, &impact, i, &g, &error);
        any = any || status == CR_OK;
        if (stream->json) {
            json_gradient(status, &impact, i, &g, &error);
        } else if (status == CR_OK) {
            putchar('\n');
            put_table(stdout, &impact, impact.laws[i], &g, stream->color);
        } else {
            printf("\n%s: ", impact.laws[i]);
            print_wrapped(stdout, error.message, (int)strlen(impact.laws[i]) + 2, 2, WIDTH);
        }
    }
    if (stream->json) puts("]}");
    return any;
}
