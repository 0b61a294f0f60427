// impact_table.c - answers of `carom impact` for people: a header and one row per law.
#include <string.h>

#include "command.h"
#include "numbers.h"
#include "verb_impact.h"

static void put_vector(FILE* file, const char* label, crVec3 v, int dimension) {
    fprintf(file, "%s (%.5g, %.5g", label, v.x, v.y);
    if (dimension == 3) fprintf(file, ", %.5g", v.z);
    putc(')', file);
}

static void put_header(FILE* file, const crImpact* impact, int line, bool color) {
    const crContact* c = &impact->contact;
    const crCollision* in = &impact->collision;
    if (color) fputs(BOLD, file);
    if (impact->name != NULL) {
        print_plain(file, impact->name);
    } else {
        fprintf(file, "line %d", line);
    }
    if (color) fputs(PLAIN, file);
    fprintf(file, ": %dD, ", impact->dimension);
    put_vector(file, "V", in->V, impact->dimension);
    put_vector(file, " m/s, n", in->n, impact->dimension);
    fprintf(file, ", Vn %.5g, ", c->V.x);
    fprintf(file, isinf(c->mu) ? "mu inf" : "mu %.5g", c->mu);
    fprintf(file, ", e %.5g, et %.5g\n  ", c->e, c->et);
    crVec3 P;
    if (cr_impulse_P_I(c, &P)) {
        put_vector(file, "P_I", cr_mat3_mul(impact->frame, P), impact->dimension);
        fputs(" N s, ", file);
    } else {
        fputs("no P_I, ", file);
    }
    double available = 0.0;
    if (cr_impulse_P_II(c, &P) && cr_impulse_contact_energy(c, cr_vec3(0, 0, 0), &available)) {
        put_vector(file, "P_II", cr_mat3_mul(impact->frame, P), impact->dimension);
        fprintf(file, " N s, energy available %.5g J\n", available);
    } else {
        fputs("no P_II\n", file);
    }
}

// Names of the conditions that P breaks beyond the tolerance of the verdict.
static void verdict_of(const crImpact* impact, const crHit* hit, char* text, size_t size) {
    snprintf(text, size, "permissible");
    if (hit->permissible) return;
    if (hit->verdict == CR_TRUTH_UNSURE) {
        snprintf(text, size, "cannot tell");
        return;
    }
    crVerdict verdict =
        cr_impulse_verdict(&impact->contact, cr_mat3_mul_t(impact->frame, hit->P), CR_PERMISSIBLE_TOL);
    const crMargins *m = &verdict.margins, *floor = &verdict.floor, *allowed = &verdict.allowed;
    const struct {
        const char* name;
        bool broken;
    } conditions[] = {{"creates energy", hit->creates_energy},
                      {"penetration", m->penetration < -allowed->penetration - floor->penetration},
                      {"tension", m->tension < -allowed->tension - floor->tension},
                      {"cone", isfinite(impact->contact.mu) && m->cone < -allowed->cone - floor->cone}};
    size_t used = 0;
    for (int i = 0; i < 4; i++) {
        if (!conditions[i].broken) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", conditions[i].name);
    }
    if (used == 0) snprintf(text, size, "not permissible");
}

typedef struct Table {
    const crImpact* impact;
    int name;    // columns of the law's name
    int regime;  // columns of the regime
    Style P, V, energy;
    int percent;       // columns of the share of it, 0 for none
    double available;  // J
} Table;

static void regime_of(const crHit* hit, char* text, size_t size) {
    int length = snprintf(text, size, "%s", cr_regime_name(hit->regime));
    if (hit->solutions > 1) snprintf(text + length, size - (size_t)length, " x%d", hit->solutions);
}

// widths and decimals from all rows
static Table table_of(const crImpact* impact, const Answer* answers) {
    double P[3 * CR_IMPACT_MAX_LAWS];
    double V[3 * CR_IMPACT_MAX_LAWS];
    double energy[CR_IMPACT_MAX_LAWS];
    int hits = 0;
    int dimension = impact->dimension;
    Table table = {.impact = impact, .name = 3, .regime = 6};
    for (int i = 0; i < impact->law_count; i++) {
        int name = (int)strlen(impact->laws[i]);
        if (name > table.name) table.name = name;
        if (answers[i].status != CR_OK) continue;
        const crHit* hit = &answers[i].hit;
        const double p[3] = {hit->P.x, hit->P.y, hit->P.z};
        const double v[3] = {hit->V_plus.x, hit->V_plus.y, hit->V_plus.z};
        for (int k = 0; k < dimension; k++) {
            P[hits * dimension + k] = p[k];
            V[hits * dimension + k] = v[k];
        }
        energy[hits++] = hit->energy_change;
        char regime[32];
        regime_of(hit, regime, sizeof regime);
        if ((int)strlen(regime) > table.regime) table.regime = (int)strlen(regime);
    }
    int digits = dimension == 2 ? 4 : 3;
    table.P = style_of(P, hits * dimension, digits);
    table.V = style_of(V, hits * dimension, digits);
    table.energy = style_of(energy, hits, digits);
    bool known = cr_impulse_contact_energy(&impact->contact, cr_vec3(0, 0, 0), &table.available);
    if (known && table.available > 0.0) table.percent = dimension == 2 ? 8 : 6;
    return table;
}

static int widest(int a, int b) { return a > b ? a : b; }

static int vector_columns(const Style* style, int dimension) {
    int numbers = dimension * style->width + (dimension - 1);
    return widest(numbers, style->power != 0 ? 13 : 8);
}

static int energy_columns(const Table* t) {
    return widest(t->energy.width + t->percent, t->energy.power != 0 ? 15 : 10);
}

static void put_components(FILE* file, const Style* style, crVec3 v, int dimension) {
    const double component[3] = {v.x, v.y, v.z};
    int pad = vector_columns(style, dimension) - (dimension * style->width + dimension - 1);
    for (int k = 0; k < dimension; k++) {
        if (k > 0) putc(' ', file);
        put_number(file, style, component[k]);
    }
    fprintf(file, "%*s", pad + 2, "");
}

static void put_row(FILE* file, const Table* t, const crHit* hit, bool color) {
    put_components(file, &t->P, hit->P, t->impact->dimension);
    put_components(file, &t->V, hit->V_plus, t->impact->dimension);
    char text[64];
    regime_of(hit, text, sizeof text);
    fprintf(file, "%-*s  ", t->regime, text);
    put_number(file, &t->energy, hit->energy_change);
    int used = t->energy.width;
    if (t->percent > 0) {
        double percent = 100.0 * hit->energy_change / t->available;
        int decimals = t->impact->dimension == 2 && fabs(percent) < 999.0 ? 1 : 0;
        bool none = fabs(percent) < (decimals > 0 ? 0.05 : 0.5);
        used += fprintf(file, " %*.*f%%", t->percent - 2, decimals, none ? 0.0 : percent);
    }
    fprintf(file, "%*s  ", widest(energy_columns(t) - used, 0), "");
    verdict_of(t->impact, hit, text, sizeof text);
    fprintf(file, "%s%s%s\n", color ? (hit->permissible ? GREEN : RED) : "", text, color ? PLAIN : "");
}

void table_answers(FILE* file, const crImpact* impact, int line, const Answer* answers, bool color) {
    Table t = table_of(impact, answers);
    put_header(file, impact, line, color);
    int dimension = impact->dimension;
    fprintf(file, "\n%-*s  ", t.name, "law");
    put_heading(file, "P", "N s", &t.P, vector_columns(&t.P, dimension) + 2);
    put_heading(file, "V+", "m/s", &t.V, vector_columns(&t.V, dimension) + 2);
    fprintf(file, "%-*s  ", t.regime, "regime");
    put_heading(file, "energy", "J", &t.energy, energy_columns(&t) + 2);
    fputs("verdict\n", file);
    for (int i = 0; i < impact->law_count; i++) {
        fprintf(file, "%-*s  ", t.name, impact->laws[i]);
        if (answers[i].status == CR_OK) {
            put_row(file, &t, &answers[i].hit, color);
            continue;
        }
        if (color) fputs(AMBER, file);
        print_wrapped(file, answers[i].error.message, t.name + 2, t.name + 2, WIDTH);
        if (color) fputs(PLAIN, file);
    }
}
