// spread_plot.c - the pictures of carom spread: where one body ended, by cluster, and how much of the
// outcomes' variance the first pairs of the order explain.
//
// The body is the one with the largest variance unless another is named; its two numbers that vary most are
// the axes, or one of them over the number of the sample where only one does. Fails: memory.
#include <math.h>
#include <stdlib.h>

#include "plot/chart.h"
#include "spreading.h"

#define WIDE  1040.0
#define HIGH  440.0
#define SHOWN CR_INK_COLORS

static double variance_of(const crSpreadSummary* f, int body) {
    double sum = 0.0;
    for (int i = 0; i < f->column_count; i++) {
        if (f->columns[i].body == body) sum += f->columns[i].sd * f->columns[i].sd;
    }
    return sum;
}

static int body_of(const Spreading* s) {
    if (s->body != NULL) return cr_model_find_body(s->scene.model, s->body);
    int best = 1;
    for (int i = 2; i < s->spread.nb; i++) {
        if (variance_of(&s->summary, i) > variance_of(&s->summary, best)) best = i;
    }
    return best;
}

// the two columns of a body that vary most, x before y; -1 where there is none
static void columns_of(const crSpreadSummary* f, int body, int* x, int* y) {
    *x = *y = -1;
    for (int i = 0; i < f->column_count; i++) {
        if (f->columns[i].body != body) continue;
        if (*x < 0 || f->columns[i].sd > f->columns[*x].sd) {
            *y = *x;
            *x = i;
        } else if (*y < 0 || f->columns[i].sd > f->columns[*y].sd) {
            *y = i;
        }
    }
    if (*y < 0 || *x < *y) return;
    int swap = *x;
    *x = *y;
    *y = swap;
}

static void label_of(const Spreading* s, int column, char* text, size_t size) {
    const crSpreadColumn* c = &s->summary.columns[column];
    snprintf(text, size, "%s%c of %.40s, %s", s->options.of == CR_SPREAD_POSITION ? "" : "v", "xyz"[c->axis],
             spreading_name(s, c->body), s -> options.of == CR_SPREAD_POSITION ? "m" : "m/s");
}

// the samples of one cluster; the last series takes all clusters beyond those that have a colour
static size_t gather(const crSpreadSummary* f, int cluster, bool beyond, int x, int y, double* at_x,
                     double* at_y) {
    size_t count = 0;
    for (int i = 0; i < f->used; i++) {
        if (beyond ? f->cluster[i] < cluster : f->cluster[i] != cluster) continue;
        const double* row = &f->values[(size_t)i * (size_t)f->column_count];
        at_x[count] = y < 0 ? f->sample[i] : row[x];
        at_y[count++] = row[y < 0 ? x : y];
    }
    return count;
}

static crStatus draw_outcomes(const Spreading* s, crSheet* sheet, double x0, double y0, double x1,
                              double y1) {
    const crSpreadSummary* f = &s->summary;
    size_t used = (size_t)f->used;
    double* memory = malloc(2 * used * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    int x, y;
    columns_of(f, body_of(s), &x, &y);
    if (x < 0) {
        free(memory);
        return CR_OK;
    }
    char x_label[80] = "sample", y_label[80], labels[SHOWN][40];
    if (y >= 0) label_of(s, x, x_label, sizeof x_label);
    label_of(s, y >= 0 ? y : x, y_label, sizeof y_label);
    crSeries series[2 * SHOWN];
    int count = f->cluster_count < SHOWN ? f->cluster_count : SHOWN;
    size_t taken = 0;
    for (int c = 0; c < count; c++) {
        bool beyond = c == SHOWN - 1;
        size_t got = gather(f, c, beyond, x, y, memory + taken, memory + used + taken);
        snprintf(labels[c], sizeof labels[c], "%s %d, %.1f %%", beyond ? "clusters from" : "cluster", c + 1,
                 100.0 * (double)got / f->used);
        // the legend begins with the largest cluster, the points end with it: it lies on top
        series[c] = (crSeries){count > 1 ? labels[c] : NULL, 0, memory, memory, 1, c, 0, true};
        series[2 * count - 1 - c] =
            (crSeries){NULL, got, memory + taken, memory + used + taken, 1, c, 0, true};
        taken += got;
    }
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; i < taken; i++) {
        lo = fmin(lo, memory[i]);
        hi = fmax(hi, memory[i]);
    }
    double margin = 0.03 * (hi - lo);
    crChart chart = {
        "Outcomes of the samples", x_label, y_label, false, lo - margin, hi + margin, 2 * count, series};
    cr_chart_draw(sheet, x0, y0, x1, y1, &chart);
    free(memory);
    return CR_OK;
}

static void draw_explained(const Spreading* s, crSheet* sheet, double x0, double y0, double x1, double y1) {
    const crSpreadSummary* f = &s->summary;
    double pairs[CR_SPREAD_ORDER + 1] = {0.0}, share[CR_SPREAD_ORDER + 1] = {0.0};
    int count = 1;
    for (int k = 1; k <= f->prefix_count && f->prefix[k].orders * 2 <= f->used; k++) {
        pairs[count] = k;
        share[count++] = 100.0 * f->prefix[k].explained;
    }
    double ends[2] = {0.0, fmax(1.0, pairs[count - 1])};
    double all[2] = {100.0 * f->clusters_explained, 100.0 * f->clusters_explained};
    crSeries series[] = {{"the first pairs", (size_t)count, pairs, share, 1, 0, 0, false},
                         {NULL, (size_t)count, pairs, share, 1, 0, 0, true},
                         {"the cluster", 2, ends, all, 1, 1, 1, false}};
    crChart chart = {"Variance of the outcomes that is explained by",
                     "pairs of the order of impacts that are known",
                     "percent",
                     false,
                     0.0,
                     ends[1],
                     f->cluster_count > 1 ? 3 : 2,
                     series};
    cr_chart_draw(sheet, x0, y0, x1, y1, &chart);
}

crStatus spreading_picture(const Spreading* s, int index, crSheet* sheet, double x0, double y0, double x1,
                           double y1) {
    if (index == 0) return draw_outcomes(s, sheet, x0, y0, x1, y1);
    draw_explained(s, sheet, x0, y0, x1, y1);
    return CR_OK;
}

crStatus spreading_plot(const Spreading* s, const char* path, crError* error) {
    crSheet sheet;
    cr_sheet_create(&sheet, WIDE, HIGH);
    crStatus status = CR_OK;
    for (int i = 0; i < SPREADING_PICTURES && status == CR_OK; i++) {
        double x = i * WIDE / 2;
        status = spreading_picture(s, i, &sheet, x + 6.0, 6.0, x + WIDE / 2 - 6.0, HIGH - 6.0);
    }
    if (status == CR_OK) status = sheet.status;
    status = status == CR_OK ? cr_sheet_save(&sheet, path, "Outcomes of a scene under jitter", error)
                             : cr_error_set(error, status, "plot", "plot: out of memory");
    cr_sheet_destroy(&sheet);
    return status;
}
