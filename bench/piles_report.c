// piles_report.c - results of bench piles: a table of medians over seeds, JSON and CSV seed by seed.
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "piles.h"

#define SEEDS  64
#define HEADER 2048  // characters

// the figures of a result, in the order of the columns of CSV and JSON
static const struct {
    const char* name;
    size_t at;
} figures[] = {
    {"seconds", offsetof(PilesResult, seconds)},
    {"ms", offsetof(PilesResult, ms)},
    {"ms_settled", offsetof(PilesResult, ms_settled)},
    {"ms_worst", offsetof(PilesResult, ms_worst)},
    {"to_box3d", offsetof(PilesResult, to_box3d)},
    {"to_best_peer", offsetof(PilesResult, to_best)},
    {"settled_to_box3d", offsetof(PilesResult, settled_to_box3d)},
    {"settled_to_best_peer", offsetof(PilesResult, settled_to_best)},
    {"overlap", offsetof(PilesResult, overlap)},
    {"overlap_max", offsetof(PilesResult, overlap_max)},
    {"overlap_settled", offsetof(PilesResult, overlap_settled)},
    {"overlap_max_settled", offsetof(PilesResult, overlap_max_settled)},
    {"kinetic", offsetof(PilesResult, energy)},
    {"kinetic95", offsetof(PilesResult, energy95)},
    {"potential", offsetof(PilesResult, potential)},
    {"rest_after", offsetof(PilesResult, rest)},
    {"moved", offsetof(PilesResult, displacement)},
    {"residual", offsetof(PilesResult, residual)},
    {"heap_calls", offsetof(PilesResult, heap_calls)},
    {"audit_share", offsetof(PilesResult, audit)},
    {"audit_share_with_geometry", offsetof(PilesResult, audit_geometry)},
    {"bytes_per_body", offsetof(PilesResult, bytes_per_body)},
    {"contacts", offsetof(PilesResult, contacts)},
};
#define FIGURES ((int)(sizeof figures / sizeof *figures))

static double figure(const PilesResult* r, size_t at) {
    double x;
    memcpy(&x, (const char*)r + at, sizeof x);
    return x;
}

// table

static int by_size(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

typedef struct Column {
    const PilesResult* first;  // of one engine
    int seeds, stride;
} Column;

// median over the seeds that have the figure, NAN where more than half have none; spread: largest minus smallest
static double median(Column column, size_t at, double* spread) {
    double x[SEEDS];
    int n = 0;
    for (int i = 0; i < column.seeds; i++) {
        double value = figure(column.first + i * column.stride, at);
        if (!isnan(value)) x[n++] = value;
    }
    *spread = NAN;
    if (2 * n <= column.seeds) return NAN;
    qsort(x, (size_t)n, sizeof *x, by_size);
    *spread = x[n - 1] - x[0];
    return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

static void cell(Column column, size_t at, int width, int digits) {
    double spread, x = median(column, at, &spread);
    if (isnan(x)) {
        printf(" %*s", width, "-");
    } else {
        printf(" %*.*g", width, digits, x);
    }
}

static void spread_cell(Column column, size_t at) {
    double spread, x = median(column, at, &spread);
    if (column.seeds < 2 || isnan(spread)) {
        printf(" %5s", "");
    } else {
        printf(" %4.0f%%", 100.0 * spread / x);
    }
}

static void print_outcomes(Column column) {
    long sums[PILES_OUTCOMES] = {0}, steps = 0;
    for (int i = 0; i < column.seeds; i++) {
        for (int k = 0; k < PILES_OUTCOMES; k++) {
            sums[k] += column.first[i * column.stride].outcomes[k];
            steps += column.first[i * column.stride].outcomes[k];
        }
    }
    for (int k = 0; k < PILES_OUTCOMES && column.first->told; k++) {
        if (sums[k] == 0) continue;
        printf("  %s %.3g%%", cr_outcome_name((crOutcome)k), 100.0 * (double)sums[k] / (double)steps);
    }
}

static void print_notes(Column column) {
    int escapes = 0, gave_up = 0, cut = 0;
    for (int i = 0; i < column.seeds; i++) {
        const PilesResult* r = column.first + i * column.stride;
        escapes += r->escapes;
        gave_up += r->gave_up;
        cut += r->cut;
    }
    double spread, moved = median(column, offsetof(PilesResult, displacement), &spread);
    if (!isnan(moved)) printf("  moved %.1g m", moved);
    if (escapes > 0) printf("  %d escaped", escapes);
    if (cut > 0) {
        printf("  cut after %.2g s", median(column, offsetof(PilesResult, seconds), &spread));
    }
    if (gave_up > 0) printf("  gave up");
    if (column.first->replaced[0] != '\0') printf("  (%s)", column.first->replaced);
}

static void print_row(Column column) {
    printf("%-15s %2d", column.first->engine->name, column.first->threads);
    cell(column, offsetof(PilesResult, ms), 8, 3);
    spread_cell(column, offsetof(PilesResult, ms));
    cell(column, offsetof(PilesResult, to_box3d), 7, 3);
    cell(column, offsetof(PilesResult, to_best), 7, 3);
    cell(column, offsetof(PilesResult, ms_settled), 8, 3);
    cell(column, offsetof(PilesResult, settled_to_box3d), 7, 3);
    cell(column, offsetof(PilesResult, overlap), 8, 2);
    cell(column, offsetof(PilesResult, overlap_max), 8, 2);
    cell(column, offsetof(PilesResult, overlap_settled), 8, 2);
    cell(column, offsetof(PilesResult, overlap_max_settled), 8, 2);
    cell(column, offsetof(PilesResult, energy95), 8, 2);
    cell(column, offsetof(PilesResult, rest), 5, 3);
    cell(column, offsetof(PilesResult, potential), 9, 6);
    cell(column, offsetof(PilesResult, audit), 7, 2);
    cell(column, offsetof(PilesResult, audit_geometry), 7, 2);
    print_outcomes(column);
    print_notes(column);
    printf("\n");
}

void piles_print_table(const PilesResult* results, int seeds, int engines) {
    if (engines == 0) return;
    printf("\n%s: %d bodies, %d seed%s\n", results->scene, results->bodies, seeds, seeds > 1 ? "s" : "");
    printf("%-18s %8s %5s %7s %7s | %8s %7s | %8s %8s %8s %8s | %6s %5s %9s %7s %7s\n", "whole run | settled",
           "ms", "", "/Box3D", "/best", "ms", "/Box3D", "overlap", "max", "settled", "max", "KE95", "rest",
           "PE", "audit", "+geom");
    for (int i = 0; i < engines; i++) {
        print_row((Column){results + i, seeds, engines});
    }
    fflush(stdout);
}

// JSON and CSV

static void print_figure(FILE* out, double x, const char* none) {
    if (isfinite(x)) {
        fprintf(out, "%.6g", x);
    } else {
        fputs(none, out);
    }
}

void piles_print_json(const PilesResult* results, int count) {
    printf("[");
    for (int i = 0; i < count; i++) {
        const PilesResult* r = &results[i];
        printf("%s\n  {\"scene\": \"%s\", \"engine\": \"%s\", \"threads\": %d, \"seed\": %d, \"bodies\": %d",
               i > 0 ? "," : "", r->scene, r->engine->name, r->threads, r->seed, r->bodies);
        for (int k = 0; k < FIGURES; k++) {
            printf(", \"%s\": ", figures[k].name);
            print_figure(stdout, figure(r, figures[k].at), "null");
        }
        printf(", \"outcomes\": {");
        for (int k = 0; k < piles_outcome_count() && r->told; k++) {
            printf("%s\"%s\": %d", k > 0 ? ", " : "", cr_outcome_name((crOutcome)k), r->outcomes[k]);
        }
        printf("}, \"escapes\": %d, \"cut\": %s, \"gave_up\": %s, \"replaced\": \"%s\"}", r->escapes,
               r->cut ? "true" : "false", r->gave_up ? "true" : "false", r->replaced);
    }
    printf("\n]\n");
}

static void machine(char* out, size_t size) {
    snprintf(out, size, "unknown");
    FILE* file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char* at = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (at == NULL) continue;
        snprintf(out, size, "%s", at + 2);
        break;
    }
    if (file != NULL) fclose(file);
    for (char* at = out; *at != '\0'; at++) {
        if (*at == ',' || *at == '"' || iscntrl((unsigned char)*at)) *at = ' ';
    }
}

static void header(char* out, size_t size) {
    size_t n = (size_t)snprintf(out, size, "date,machine,compiler,scene,engine,threads,seed,bodies");
    for (int k = 0; k < FIGURES; k++) {
        n += (size_t)snprintf(out + n, size - n, ",%s", figures[k].name);
    }
    for (int k = 0; k < piles_outcome_count(); k++) {
        n += (size_t)snprintf(out + n, size - n, ",%s", cr_outcome_name((crOutcome)k));
    }
    snprintf(out + n, size - n, ",escapes,cut,gave_up,replaced,settings\n");
}

// Opened for adding, with a header where it is new. NULL: cannot be written, or its columns are others.
static FILE* open_csv(const char* path) {
    char wanted[HEADER], found[HEADER] = "";
    header(wanted, sizeof wanted);
    FILE* file = fopen(path, "r");
    bool same = file == NULL || fgets(found, sizeof found, file) == NULL || strcmp(found, wanted) == 0;
    if (file != NULL) fclose(file);
    if (!same) fprintf(stderr, "bench piles: the columns of %s are others; give a new file\n", path);
    file = same ? fopen(path, "a") : NULL;
    if (file != NULL && found[0] == '\0') fputs(wanted, file);
    return file;
}

static void write_row(FILE* file, const PilesResult* r, const char* date, const char* name) {
    fprintf(file, "%s,%s,%s,%s,%s,%d,%d,%d", date, name, __VERSION__, r->scene, r->engine->name, r->threads,
            r->seed, r->bodies);
    for (int k = 0; k < FIGURES; k++) {
        putc(',', file);
        print_figure(file, figure(r, figures[k].at), "");
    }
    for (int k = 0; k < piles_outcome_count(); k++) {
        putc(',', file);
        if (r->told) fprintf(file, "%d", r->outcomes[k]);
    }
    fprintf(file, ",%d,%d,%d,%s,\"%s\"\n", r->escapes, r->cut, r->gave_up, r->replaced, r->engine->about);
}

bool piles_append_csv(const char* path, const PilesResult* results, int count) {
    FILE* file = open_csv(path);
    if (file == NULL) return false;
    char name[128], date[16];
    time_t now = time(NULL);
    struct tm day;
    machine(name, sizeof name);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &day));
    for (int i = 0; i < count; i++) {
        write_row(file, &results[i], date, name);
    }
    bool good = ferror(file) == 0;
    return fclose(file) == 0 && good;
}
