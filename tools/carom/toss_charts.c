// toss_charts.c - charts of tosses: what each contributes to the loss, errors over time, and single tosses,
// measured as dots and simulated as lines.
//
// Fails: memory.
#include "toss_charts.h"

#include <stdlib.h>
#include <string.h>

#include "fit/motion.h"
#include "plot/chart.h"

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int toss_at(const double* losses, int count, int place) {
    for (int i = 0; i < count; i++) {
        int below = 0;
        for (int k = 0; k < count; k++) {
            below += losses[k] < losses[i] || (losses[k] == losses[i] && k < i);
        }
        if (below == place) return i;
    }
    return 0;
}

// a few tosses decide a mean of squares
crStatus toss_chart_losses(crSheet* sheet, const double box[4], const char* const* names,
                           const double* const* losses, int lines, int count) {
    size_t n = (size_t)count;
    double* memory = malloc((size_t)(lines + 1) * n * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    crSeries series[TOSS_LINES];
    for (size_t i = 0; i < n; i++) {
        memory[i] = (double)i + 1.0;
    }
    for (int k = 0; k < lines; k++) {
        double* y = memory + (size_t)(k + 1) * n;
        memcpy(y, losses[k], n * sizeof *y);
        qsort(y, n, sizeof *y, ascending);
        series[k] = (crSeries){names[k], n, memory, y, 1, k, k / 8, false};
    }
    crChart chart = {
        "Loss of each toss, in ascending order", "toss", "loss", true, 0.0, 0.0, lines, series, NULL};
    cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
    free(memory);
    return CR_OK;
}

crStatus toss_chart_errors(crSheet* sheet, const double box[4], const crTosses* t, const crPose* poses,
                           double length) {
    int n = t->count, most = 0;
    for (int i = 0; i < n; i++) {
        most = t->tosses[i].count > most ? t->tosses[i].count : most;
    }
    double* memory = malloc(((size_t)most * 3 + 2 * (size_t)n) * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    double *x = memory, *p = x + most, *a = p + most, *distance = a + most, *angle = distance + n;
    for (int k = 0; k < most; k++) {
        for (int i = 0; i < n; i++) {
            // a toss that is over stays as far off as it was
            int at = t->tosses[i].first + (k < t->tosses[i].count ? k : t->tosses[i].count - 1);
            distance[i] = cr_norm(cr_sub(poses[at].p, t->samples[at].pose.p)) / length;
            angle[i] = cr_rotation_between(poses[at].q, t->samples[at].pose.q);
        }
        qsort(distance, (size_t)n, sizeof *distance, ascending);
        qsort(angle, (size_t)n, sizeof *angle, ascending);
        x[k] = k * t->interval;
        p[k] = distance[n / 2];
        a[k] = angle[n / 2];
    }
    crSeries series[] = {{"position, lengths", (size_t)most, x, p, 1, 0, 0, false},
                         {"angle, rad", (size_t)most, x, a, 1, 1, 0, false}};
    crChart chart = {
        "Median error over the tosses", "time since the start, s", "", false, 0.0, 0.0, 2, series, NULL};
    cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
    free(memory);
    return CR_OK;
}

crStatus toss_chart_position(crSheet* sheet, const double box[4], const char* title, const crTosses* t,
                             const crPose* poses, int toss) {
    static const char* const names[] = {"x, measured", "y", "z"};
    int first = t->tosses[toss].first, axes = t->planar ? 2 : 3;
    size_t n = (size_t)t->tosses[toss].count;
    double* memory = malloc(7 * n * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    for (size_t k = 0; k < n; k++) {
        const crTossSample* s = &t->samples[first + (int)k];
        const crVec3 at = poses[first + (int)k].p;
        const double all[7] = {s->time, s->pose.p.x, s->pose.p.y, s->pose.p.z, at.x, at.y, at.z};
        for (size_t i = 0; i < 7; i++) {
            memory[i * n + k] = all[i];
        }
    }
    crSeries series[6];
    for (int i = 0; i < axes; i++) {
        const double *measured = memory + (size_t)(1 + i) * n, *simulated = memory + (size_t)(4 + i) * n;
        series[2 * i] = (crSeries){names[i], n, memory, measured, 1, i, 0, true};
        series[2 * i + 1] = (crSeries){i == 0 ? "predicted" : NULL, n, memory, simulated, 1, i, 0, false};
    }
    crChart chart = {title, "time since the start, s", "m", false, 0.0, 0.0, 2 * axes, series, NULL};
    cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
    free(memory);
    return CR_OK;
}

crStatus toss_chart_rotation(crSheet* sheet, const double box[4], const char* title, const crTosses* t,
                             const crPose* poses, int toss) {
    int first = t->tosses[toss].first;
    size_t n = (size_t)t->tosses[toss].count;
    double* memory = malloc(4 * n * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    crQuat start = t->samples[first].pose.q;
    for (size_t k = 0; k < n; k++) {
        const crTossSample* s = &t->samples[first + (int)k];
        crQuat at = poses[first + (int)k].q;
        memory[k] = s->time;
        memory[n + k] = cr_rotation_between(s->pose.q, start);
        memory[2 * n + k] = cr_rotation_between(at, start);
        memory[3 * n + k] = cr_rotation_between(at, s->pose.q);
    }
    crSeries series[] = {{"from the start, measured", n, memory, memory + n, 1, 0, 0, true},
                         {"predicted", n, memory, memory + 2 * n, 1, 0, 0, false},
                         {"between the two", n, memory, memory + 3 * n, 1, 1, 1, false}};
    crChart chart = {title, "time since the start, s", "angle, rad", false, 0.0, 0.0, 3, series, NULL};
    cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
    free(memory);
    return CR_OK;
}
