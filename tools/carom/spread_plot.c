// spread_plot.c - the pictures of carom spread: where one body ended, by cluster and by order of impacts, how
// much of the outcomes' variance the first pairs of the order explain, and how outcomes are distributed.
//
// The body is the one with the largest variance unless another is named; its two numbers that vary most are
// the axes, or one of them over the number of the sample where only one does. Fails: memory.
#include <math.h>
#include <stdlib.h>

#include "plot/chart.h"
#include "spreading.h"

#define WIDE    1040.0
#define HIGH    440.0
#define SHOWN   CR_INK_COLORS
#define LINES   4  // of distributions
#define PLOTTED 2  // of the pictures, in a file of its own

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

// Samples in groups, the largest first.
typedef struct Groups {
    const char* title;
    const char* word;
    const int* of;  // each used sample (used)
    int count;
} Groups;

// the samples of one group; the last series takes all groups beyond those that have a colour
static size_t gather(const crSpreadSummary* f, const int* of, int group, bool beyond, int x, int y,
                     double* at_x, double* at_y) {
    size_t count = 0;
    for (int i = 0; i < f->used; i++) {
        if (beyond ? of[i] < group : of[i] != group) continue;
        const double* row = &f->values[(size_t)i * (size_t)f->column_count];
        at_x[count] = y < 0 ? f->sample[i] : row[x];
        at_y[count++] = row[y < 0 ? x : y];
    }
    return count;
}

// series of the groups (2 for each of the SHOWN), their points in memory (2*used)
static int group_series(const crSpreadSummary* f, const Groups* g, int x, int y, double* memory,
                        char labels[SHOWN][40], crSeries* series) {
    size_t used = (size_t)f->used, taken = 0;
    int count = g->count < SHOWN ? g->count : SHOWN;
    for (int c = 0; c < count; c++) {
        bool beyond = c == SHOWN - 1 && g->count > SHOWN;
        size_t got = gather(f, g->of, c, beyond, x, y, memory + taken, memory + used + taken);
        snprintf(labels[c], sizeof labels[c], "%s%s %d, %.1f %%", g->word, beyond ? "s from" : "", c + 1,
                 100.0 * (double)got / f->used);
        // the legend begins with the largest group, the points end with it: it lies on top
        series[c] = (crSeries){count > 1 ? labels[c] : NULL, 0, memory, memory, 1, c, 0, true};
        series[2 * count - 1 - c] =
            (crSeries){NULL, got, memory + taken, memory + used + taken, 1, c, 0, true};
        taken += got;
    }
    return 2 * count;
}

static crStatus draw_outcomes(const Spreading* s, const Groups* g, crSheet* sheet, const double box[4]) {
    const crSpreadSummary* f = &s->summary;
    size_t used = (size_t)f->used;
    int x, y;
    columns_of(f, body_of(s), &x, &y);
    if (x < 0) return CR_OK;
    double* memory = malloc(2 * used * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    char x_label[80] = "sample", y_label[80], labels[SHOWN][40];
    if (y >= 0) label_of(s, x, x_label, sizeof x_label);
    label_of(s, y >= 0 ? y : x, y_label, sizeof y_label);
    crSeries series[2 * SHOWN];
    int count = group_series(f, g, x, y, memory, labels, series);
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; i < used; i++) {
        lo = fmin(lo, memory[i]);
        hi = fmax(hi, memory[i]);
    }
    double margin = 0.03 * (hi - lo);
    crChart chart = {g->title, x_label, y_label, false, lo - margin, hi + margin, count, series, NULL};
    cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
    free(memory);
    return CR_OK;
}

static void draw_explained(const Spreading* s, crSheet* sheet, const double box[4]) {
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
                     series,
                     NULL};
    cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
}

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// the share of samples below a value, for the numbers that vary most
static crStatus draw_distribution(const Spreading* s, crSheet* sheet, const double box[4]) {
    const crSpreadSummary* f = &s->summary;
    size_t used = (size_t)f->used;
    double* memory = malloc((LINES + 1) * used * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    crSeries series[LINES];
    char labels[LINES][80];
    int count = 0;
    for (size_t i = 0; i < used; i++) {
        memory[i] = 100.0 * (double)(i + 1) / (double)used;
    }
    for (int c = 0; c < f->column_count; c++) {
        if (spreading_above(f, c) >= LINES) continue;
        double* x = memory + (size_t)(count + 1) * used;
        for (size_t i = 0; i < used; i++) {
            x[i] = f->values[i * (size_t)f->column_count + (size_t)c];
        }
        qsort(x, used, sizeof *x, ascending);
        label_of(s, c, labels[count], sizeof labels[count]);
        series[count] = (crSeries){labels[count], used, x, memory, 1, count, 0, false};
        count++;
    }
    const char* unit = s->options.of == CR_SPREAD_POSITION ? "m" : "m/s";
    crChart chart = {
        "Samples below a value, of what varies most", unit, "percent", false, 0.0, 0.0, count, series, NULL};
    if (count > 0) cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
    free(memory);
    return CR_OK;
}

const char* const spreading_picture_names[SPREADING_PICTURES] = {
    "Outcomes by cluster", "What the order explains", "Outcomes by order of impacts", "Distribution"};

crStatus spreading_picture(const void* ctx, int index, crSheet* sheet, const double box[4]) {
    const Spreading* s = ctx;
    const crSpreadSummary* f = &s->summary;
    if (index == 1) draw_explained(s, sheet, box);
    if (index == 3) return draw_distribution(s, sheet, box);
    Groups clusters = {"Outcomes of the samples", "cluster", f->cluster, f->cluster_count};
    Groups orders = {"Outcomes by order of impacts", "order", f->order, f->order_count};
    return index == 1 ? CR_OK : draw_outcomes(s, index == 0 ? &clusters : &orders, sheet, box);
}

crStatus spreading_plot(const Spreading* s, const char* path, crError* error) {
    crSheet sheet;
    cr_sheet_create(&sheet, WIDE, HIGH);
    crStatus status = CR_OK;
    for (int i = 0; i < PLOTTED && status == CR_OK; i++) {
        double x = i * WIDE / 2;
        status = spreading_picture(s, i, &sheet, (double[4]){x + 6.0, 6.0, x + WIDE / 2 - 6.0, HIGH - 6.0});
    }
    if (status == CR_OK) status = sheet.status;
    status = status == CR_OK ? cr_sheet_save(&sheet, path, "Outcomes of a scene under jitter", error)
                             : cr_error_set(error, status, "plot", "plot: out of memory");
    cr_sheet_destroy(&sheet);
    return status;
}
