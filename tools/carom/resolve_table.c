// resolve_table.c - answers of `carom resolve` for people.
//
// Few velocities and impulses: one row per rule with all of them. Many: the verdicts first, then velocities
// and impulses with one column per rule, so that the rules can still be compared number by number.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "numbers.h"
#include "verb_resolve.h"

#define NAME     8  // columns of a rule's name
#define PER_LINE 8  // rules side by side

typedef struct Table {
    const crResolve* resolve;
    const Resolution* answers;
    int impulses;  // rows of contacts; joints are in --json
    Style v, p, energy;
    double before;  // kinetic energy, J
    bool color;
} Table;

static double kinetic_energy(const crProblem* problem) {
    double energy = 0.0;
    for (int i = 0; i < problem->nv; i++) {
        for (int j = 0; j < problem->nv; j++) {
            energy += 0.5 * problem->v[i] * cr_matrix_at(&problem->M, i, j) * problem->v[j];
        }
    }
    return energy;
}

// rounding left where nothing should be is shown as nothing
static double cleaned(double value, double size) { return fabs(value) < 1e-13 * size ? 0.0 : value; }

// widths and decimals from all answers; values has room for all numbers of one kind
static void measure(Table* t, double* values) {
    const crProblem* problem = &t->resolve->problem;
    int nv = problem->nv, count = 0, energies = 0;
    double energy[CR_RESOLVE_MAX_RULES];
    for (int i = 0; i < t->resolve->rule_count; i++) {
        if (t->answers[i].status != CR_OK) continue;
        memcpy(values + count, t->answers[i].got.v, (size_t)nv * sizeof *values);
        count += nv;
        energy[energies++] = cleaned(t->answers[i].got.report.energy_change, t->before);
    }
    memcpy(values + count, problem->v, (size_t)nv * sizeof *values);
    t->v = style_of(values, count + nv, 4);
    t->energy = style_of(energy, energies, 4);
    count = 0;
    for (int i = 0; i < t->resolve->rule_count; i++) {
        if (t->answers[i].status != CR_OK) continue;
        memcpy(values + count, t->answers[i].got.p, (size_t)t->impulses * sizeof *values);
        count += t->impulses;
    }
    t->p = style_of(values, count, 4);
}

static void put_header(FILE* file, const Table* t, int line) {
    const crResolve* resolve = t->resolve;
    int joints = resolve->problem.block_count - resolve->contact_count;
    if (t->color) fputs(BOLD, file);
    if (resolve->name != NULL) {
        print_plain(file, resolve->name);
    } else {
        fprintf(file, "line %d", line);
    }
    if (t->color) fputs(PLAIN, file);
    fprintf(file, ": %d velocit%s, %d contact%s", resolve->problem.nv, resolve->problem.nv == 1 ? "y" : "ies",
            resolve->contact_count, resolve->contact_count == 1 ? "" : "s");
    if (joints > 0) fprintf(file, ", %d joint%s", joints, joints == 1 ? "" : "s");
    fprintf(file, ", kinetic energy %.5g J\n", t->before);
    const double* v = resolve->problem.v;
    if (resolve->problem.nv > 6) return;
    for (int i = 0; i < resolve->problem.nv; i++) {
        fprintf(file, i == 0 ? "  v (%.5g" : ", %.5g", v[i]);
    }
    fputs(")\n", file);
}

// The conditions an answer breaks, or permissible; then what else there is to know.
static void verdict_of(const crResolved* got, char* text, size_t size) {
    const crRuleReport* report = &got->report;
    const crRuleMargins *m = &report->margins, *floor = &report->floor, *allowed = &report->allowed;
    bool bad = report->verdict == CR_TRUTH_NO;
    const struct {
        const char* name;
        bool holds;
    } notes[] = {{"creates energy", report->creates_energy},
                 {"penetration", bad && m->penetration < -allowed->penetration - floor->penetration},
                 {"tension", bad && m->tension < -allowed->tension - floor->tension},
                 {"cone", bad && m->cone < -allowed->cone - floor->cone},
                 {"joint", bad && m->joint < -allowed->joint - floor->joint},
                 {cr_outcome_name(report->outcome),
                  report->outcome != CR_OUTCOME_SOLVED && report->outcome != CR_OUTCOME_UNSURE},
                 {"extrapolated", (report->flags & CR_RULE_EXTRAPOLATED) != 0},
                 {"truncated", (report->flags & CR_RULE_TRUNCATED) != 0},
                 {"cycle", (report->flags & CR_RULE_CYCLE) != 0},
                 {"plastic", (report->flags & CR_RULE_PLASTIC) != 0},
                 {"set not complete", (report->flags & CR_RULE_INCOMPLETE) != 0},
                 {"choice proven", (report->flags & CR_RULE_PROVEN) != 0}};
    int used = snprintf(text, size, "%s", report->permissible ? "permissible" : bad ? "" : "cannot tell");
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        if (!notes[i].holds || (size_t)used >= size) continue;
        used += snprintf(text + used, size - (size_t)used, "%s%s", used > 0 ? ", " : "", notes[i].name);
    }
    if (used == 0) snprintf(text, size, "not permissible");
}

// yes, no, tie, or - where nobody looked; with the number of outcomes where there are several
static void unique_of(const crRuleReport* report, char* text, size_t size) {
    static const char* const words[] = {"yes", "no", "tie", "-"};
    bool tie = (report->flags & CR_RULE_TIE) != 0;
    int used = snprintf(text, size, "%s", tie ? "tie" : words[report->unique]);
    if (report->outcome_count > 1) {
        snprintf(text + used, size - (size_t)used, " of %d", report->outcome_count);
    }
}

static int widest(int a, int b) { return a > b ? a : b; }

// columns of a heading or of `count` numbers under it
static int columns_of(const Style* style, int count, int heading) {
    int power = style->power != 0 ? heading + 5 : heading;
    return widest(count * style->width + count - 1, power);
}

static int energy_columns(const Table* t) {
    return widest(t->energy.width + (t->before > 0.0 ? 8 : 0), t->energy.power != 0 ? 15 : 10);
}

// columns of a row with all numbers in it
static int row_columns(const Table* t) {
    int rest = energy_columns(t) + 2 + 5 + 2 + 8 + 2 + 11;
    return NAME + 2 + columns_of(&t->v, t->resolve->problem.nv, 3) + 2 + columns_of(&t->p, t->impulses, 7) +
           2 + rest;
}

static void put_energy(FILE* file, const Table* t, const crResolved* got) {
    double change = cleaned(got->report.energy_change, t->before);
    put_number(file, &t->energy, change);
    int used = t->energy.width;
    if (t->before > 0.0) {
        double percent = 100.0 * change / t->before;
        int decimals = fabs(percent) < 999.0 ? 1 : 0;
        used += fprintf(file, " %6.*f%%", decimals, fabs(percent) < 0.05 ? 0.0 : percent);
    }
    fprintf(file, "%*s  ", widest(energy_columns(t) - used, 0), "");
}

static void put_numbers(FILE* file, const Style* style, const double* x, int count, int columns) {
    int used = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0) putc(' ', file);
        put_number(file, style, x[i]);
        used += style->width + (i > 0);
    }
    fprintf(file, "%*s  ", widest(columns - used, 0), "");
}

// the part of a row that is the same in both layouts; column is where it begins
static void put_verdict(FILE* file, const Table* t, const crResolved* got, int column) {
    char text[128];
    put_energy(file, t, got);
    unique_of(&got->report, text, sizeof text);
    fprintf(file, "%5d  %-8s  ", got->report.steps, text);
    verdict_of(got, text, sizeof text);
    const char* shade = got->report.permissible && got->report.outcome == CR_OUTCOME_SOLVED ? GREEN : RED;
    column += energy_columns(t) + 2 + 5 + 2 + 8 + 2;
    if (t->color) fputs(shade, file);
    print_wrapped(file, text, column, column, WIDTH);
    if (t->color) fputs(PLAIN, file);
}

static void put_rows(FILE* file, const Table* t, bool numbers) {
    int nv = t->resolve->problem.nv;
    int v_columns = columns_of(&t->v, nv, 3), p_columns = columns_of(&t->p, t->impulses, 7);
    fprintf(file, "\n%-*s  ", NAME, "rule");
    if (numbers) {
        put_heading(file, "v+", "SI", &t->v, v_columns + 2);
        put_heading(file, "p", "N s", &t->p, p_columns + 2);
    }
    put_heading(file, "energy", "J", &t->energy, energy_columns(t) + 2);
    fputs("steps  unique    verdict\n", file);
    for (int i = 0; i < t->resolve->rule_count; i++) {
        const Resolution* answer = &t->answers[i];
        fprintf(file, "%-*s  ", NAME, t->resolve->rules[i]);
        if (answer->status == CR_OK) {
            if (numbers) {
                put_numbers(file, &t->v, answer->got.v, nv, v_columns);
                put_numbers(file, &t->p, answer->got.p, t->impulses, p_columns);
            }
            put_verdict(file, t, &answer->got, NAME + 2 + (numbers ? v_columns + 2 + p_columns + 2 : 0));
            continue;
        }
        if (t->color) fputs(AMBER, file);
        print_wrapped(file, answer->error.message, NAME + 2, NAME + 2, WIDTH);
        if (t->color) fputs(PLAIN, file);
    }
}

// headings of up to PER_LINE rules from `first`
static void put_names(FILE* file, const Table* t, const char* label, const char* unit, const Style* style,
                      int first) {
    putc('\n', file);
    put_heading(file, label, unit, style, 14);
    if (label[0] == 'v') fprintf(file, " %*s", widest(NAME, style->width), "before");
    for (int i = first; i < t->resolve->rule_count && i < first + PER_LINE; i++) {
        if (t->answers[i].status != CR_OK) continue;
        fprintf(file, " %*s", widest(NAME, style->width), t->resolve->rules[i]);
    }
    putc('\n', file);
}

static void put_cell(FILE* file, const Style* style, double value) {
    fprintf(file, " %*s", widest(NAME - style->width, 0), "");
    put_number(file, style, value);
}

// velocities: one line each, one column per rule
static void put_velocities(FILE* file, const Table* t, int first) {
    const crProblem* problem = &t->resolve->problem;
    put_names(file, t, "v+", "SI", &t->v, first);
    for (int row = 0; row < problem->nv; row++) {
        fprintf(file, "%-14d", row);
        put_cell(file, &t->v, problem->v[row]);
        for (int i = first; i < t->resolve->rule_count && i < first + PER_LINE; i++) {
            if (t->answers[i].status == CR_OK) put_cell(file, &t->v, t->answers[i].got.v[row]);
        }
        putc('\n', file);
    }
}

// impulses of contacts likewise, the row named by contact and direction
static void put_impulses(FILE* file, const Table* t, int first) {
    static const char* const directions[] = {"n", "t1", "t2"};
    const crProblem* problem = &t->resolve->problem;
    put_names(file, t, "p", "N s", &t->p, first);
    for (int b = 0; b < t->resolve->contact_count; b++) {
        for (int k = 0; k < problem->blocks[b].count; k++) {
            char label[24];
            snprintf(label, sizeof label, "%d %s", b, directions[k]);
            fprintf(file, "%-14s", label);
            for (int i = first; i < t->resolve->rule_count && i < first + PER_LINE; i++) {
                if (t->answers[i].status != CR_OK) continue;
                put_cell(file, &t->p, t->answers[i].got.p[problem->blocks[b].row + k]);
            }
            putc('\n', file);
        }
    }
}

// ties and refusals of sets are told below the table
static void put_ties(FILE* file, const Table* t) {
    for (int i = 0; i < t->resolve->rule_count; i++) {
        if (t->answers[i].status != CR_OK) continue;
        const char* tie = tie_of(t->resolve, &t->answers[i].got.report);
        if (tie != NULL) fprintf(file, "tie in %s: %s\n", t->resolve->rules[i], tie);
    }
}

void table_resolutions(FILE* file, const crResolve* resolve, int line, const Resolution* answers,
                       bool color) {
    const crProblem* problem = &resolve->problem;
    Table t = {.resolve = resolve, .answers = answers, .color = color, .before = kinetic_energy(problem)};
    for (int i = 0; i < resolve->contact_count; i++) {
        t.impulses += problem->blocks[i].count;
    }
    size_t most = (size_t)(CR_RESOLVE_MAX_RULES + 1) * (size_t)widest(problem->nv, problem->rows);
    double* values = malloc(most * sizeof *values);
    if (values == NULL) {
        fputs("out of memory\n", stderr);
        return;
    }
    measure(&t, values);
    free(values);
    put_header(file, &t, line);
    bool narrow = row_columns(&t) <= WIDTH;
    put_rows(file, &t, narrow);
    put_ties(file, &t);
    for (int first = 0; !narrow && first < resolve->rule_count; first += PER_LINE) {
        put_velocities(file, &t, first);
        put_impulses(file, &t, first);
    }
}
