// piles_report.c - results of bench piles as a table, as JSON, and next to the aims: met or missed.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "piles.h"

static void cell(double x, int width, int digits) {
    if (isnan(x)) {
        printf(" %*s", width, "-");
    } else {
        printf(" %*.*g", width, digits, x);
    }
}

static void notes(const PilesResult* r) {
    double body_steps = r->bodies / r->ms * 1e3;
    if (strncmp(r->scene, "cubes", 5) == 0) printf("  %.0f k body-steps/s", body_steps * 1e-3);
    if (r->escapes > 0) printf("  %d escaped", r->escapes);
    if (!isnan(r->displacement)) printf("  moved %.1g m", r->displacement);
    if (r->replaced[0] != '\0') printf("  spheres for: %s", r->replaced);
    if (r->gave_up) printf("  gave up");
    if (r->cut) printf("  not settled: limit");
    printf("\n");
}

void piles_print_table(const PilesResult* results, int count) {
    if (count == 0) return;
    printf("\n%s: %d bodies, median of %d seed%s\n", results->scene, results->bodies, results->seeds,
           results->seeds > 1 ? "s" : "");
    printf("%-15s %2s %7s %8s %7s %8s %8s %8s %8s %8s %8s %6s %6s %6s %6s\n", "engine", "th", "settled",
           "ms/step", "/Bullet", "overlap", "max", "KE", "KE95", "residual", "contacts", "heap", "kB/b",
           "audit%", "+geom%");
    for (int i = 0; i < count; i++) {
        const PilesResult* r = &results[i];
        if (r->seeds == 0) {
            printf("%-15s %2d  gave up\n", r->engine->name, r->threads);
            continue;
        }
        bool told = r->engine->report != NULL;
        printf("%-15s %2d %5.2f s", r->engine->name, r->threads, r->settled);
        cell(r->ms, 8, 4);
        cell(r->ratio, 7, 3);
        cell(r->mean, 8, 2);
        cell(r->max, 8, 2);
        cell(r->energy, 8, 2);
        cell(r->energy95, 8, 2);
        cell(r->residual, 8, 2);
        cell(told ? (double)r->contacts : NAN, 8, 6);
        cell(r->heap_calls, 6, 3);
        cell(r->bytes_per_body / 1e3, 6, 3);
        cell(100.0 * r->audit, 6, 3);
        cell(100.0 * r->geometry, 6, 3);
        notes(r);
    }
    fflush(stdout);
}

// aims

static const PilesResult* find(const PilesResult* results, int count, const char* scene,
                               const PilesEngine* engine, int threads) {
    for (int i = 0; i < count; i++) {
        const PilesResult* r = &results[i];
        if (r->engine == engine && r->threads == threads && strcmp(r->scene, scene) == 0) return r;
    }
    return NULL;
}

static double ratio(const PilesResult* r) { return r->ratio; }
static double mean(const PilesResult* r) { return r->mean; }
static double max(const PilesResult* r) { return r->max; }
static double energy95(const PilesResult* r) { return r->energy95; }
static double residual(const PilesResult* r) { return r->residual; }
static double ms(const PilesResult* r) { return r->ms; }
static double body_steps(const PilesResult* r) { return r->bodies / r->ms * 1e3; }
static double kilobytes(const PilesResult* r) { return r->bytes_per_body / 1e3; }
static double heap_calls(const PilesResult* r) { return r->heap_calls; }
static double share(const PilesResult* r) { return r->share_1e8; }
static double audit(const PilesResult* r) { return r->audit; }

typedef struct Aim {
    const char* scene;
    const PilesEngine* engine;
    const char* what;
    double (*figure)(const PilesResult*);
    double limit;
    bool at_least;
} Aim;

static const Aim aims[] = {
    {"spheres-1000", &piles_carom_fast, "time / Bullet's", ratio, 0.25, false},
    {"spheres-1000", &piles_carom_fast, "mean overlap, m", mean, 1e-5, false},
    {"spheres-1000", &piles_carom_fast, "largest overlap, m", max, 2e-5, false},
    {"spheres-1000", &piles_carom_fast, "KE95, J", energy95, 1e-6, false},
    {"spheres-1000", &piles_carom_fast, "kB per body", kilobytes, 2.0, false},
    {"spheres-1000", &piles_carom_fast, "heap calls per step", heap_calls, 0.0, false},
    {"spheres-1000", &piles_carom_fast, "audit, share of a step", audit, 0.1, false},
    {"spheres-1000", &piles_carom_accurate, "residual, m/s", residual, 1e-5, false},
    {"spheres-1000", &piles_carom_accurate, "time / Bullet's", ratio, 1.0, false},
    {"spheres-1000", &piles_carom_certified, "share of steps to 1e-8 (stretch)", share, 0.9, true},
    {"spheres-1000", &piles_carom_certified, "ms per step (stretch)", ms, 10.0, false},
    {"boxes-1000", &piles_carom_fast, "time / Bullet's", ratio, 0.4, false},
    {"boxes-1000", &piles_carom_fast, "mean overlap, m", mean, 1e-5, false},
    {"boxes-1000", &piles_carom_fast, "largest overlap, m", max, 2e-5, false},
    {"boxes-1000", &piles_carom_fast, "KE95, J", energy95, 1e-6, false},
    {"boxes-1000", &piles_carom_fast, "kB per body", kilobytes, 2.0, false},
    {"boxes-1000", &piles_carom_fast, "heap calls per step", heap_calls, 0.0, false},
    {"boxes-1000", &piles_carom_fast, "audit, share of a step", audit, 0.1, false},
    {"boxes-1000", &piles_carom_accurate, "residual, m/s", residual, 1e-5, false},
    {"boxes-1000", &piles_carom_accurate, "time / Bullet's", ratio, 1.0, false},
    {"pyramid-210", &piles_carom_fast, "time / Bullet's", ratio, 0.4, false},
    {"pyramid-210", &piles_carom_fast, "mean overlap, m", mean, 1e-5, false},
    {"pyramid-210", &piles_carom_fast, "largest overlap, m", max, 2e-5, false},
    {"pyramid-210", &piles_carom_fast, "KE95, J", energy95, 1e-6, false},
    {"pyramid-210", &piles_carom_accurate, "residual, m/s", residual, 1e-5, false},
    {"pyramid-210", &piles_carom_accurate, "time / Bullet's", ratio, 1.0, false},
    {"heavy-on-light", &piles_carom_certified, "residual, m/s", residual, 1e-8, false},
    {"heavy-on-light", &piles_carom_certified, "ms per step", ms, 1.0, false},
    {"cubes-alone", &piles_carom_fast, "body-steps/s/core", body_steps, 1e6, true},
    {"cubes-together", &piles_carom_fast, "body-steps/s/core", body_steps, 1e6, true},
};
#define AIMS ((int)(sizeof aims / sizeof *aims))

static void verdict(const PilesResult* r, const char* what, double figure, double limit, bool at_least) {
    bool met = at_least ? figure >= limit : figure <= limit;
    printf("  %-6s  %-15s %-15s %-33s %9.3g, %s %g%s\n", met ? "met" : "MISSED", r->scene, r->engine->name,
           what, figure, at_least ? "at least" : "at most", limit, r->cut ? " (not settled)" : "");
}

// wall time of one thread over that of two, and time per body of the largest heap over the smallest
static void scaling(const PilesResult* results, int count) {
    const PilesEngine* fast = &piles_carom_fast;
    const PilesResult* one = find(results, count, "spheres-10000", fast, 1);
    const PilesResult* two = find(results, count, "spheres-10000", fast, 2);
    if (one != NULL && two != NULL) {
        verdict(two, "two threads over one", one->wall_ms / two->wall_ms, 1.6, true);
    }
    const PilesResult* small = find(results, count, "spheres-1000", fast, 1);
    const char* larger[] = {"spheres-10000", "spheres-100000"};
    for (int i = 0; i < 2; i++) {
        const PilesResult* large = find(results, count, larger[i], fast, 1);
        if (small == NULL || large == NULL) continue;
        double growth = large->ms / large->bodies / (small->ms / small->bodies);
        verdict(large, "time per body / that of 1000", growth, 1.5, false);
    }
}

void piles_print_aims(const PilesResult* results, int count) {
    printf("\naims:\n");
    for (int i = 0; i < AIMS; i++) {
        const PilesResult* r = find(results, count, aims[i].scene, aims[i].engine, 1);
        if (r == NULL || r->seeds == 0 || isnan(aims[i].figure(r))) continue;
        verdict(r, aims[i].what, aims[i].figure(r), aims[i].limit, aims[i].at_least);
    }
    scaling(results, count);
}

// JSON

static void field(const char* name, double x) {
    if (isfinite(x)) {
        printf(", \"%s\": %.6g", name, x);
    } else {
        printf(", \"%s\": null", name);
    }
}

void piles_print_json(const PilesResult* results, int count) {
    printf("[");
    for (int i = 0; i < count; i++) {
        const PilesResult* r = &results[i];
        printf("%s\n  {\"scene\": \"%s\", \"engine\": \"%s\", \"threads\": %d, \"seeds\": %d, \"bodies\": %d",
               i > 0 ? "," : "", r->scene, r->engine->name, r->threads, r->seeds, r->bodies);
        field("settled", r->settled);
        field("ms", r->ms);
        field("wall_ms", r->wall_ms);
        field("ratio", r->ratio);
        field("overlap_mean", r->mean);
        field("overlap_max", r->max);
        field("energy", r->energy);
        field("energy95", r->energy95);
        field("displacement", r->displacement);
        field("residual", r->residual);
        field("share_1e8", r->share_1e8);
        field("heap_calls", r->heap_calls);
        field("bytes_per_body", r->bytes_per_body);
        field("audit", r->audit);
        field("geometry", r->geometry);
        printf(", \"contacts\": %d, \"escapes\": %d, \"gave_up\": %s, \"spheres_for\": \"%s\"}", r->contacts,
               r->escapes, r->gave_up ? "true" : "false", r->replaced);
    }
    printf("\n]\n");
}
