// fit_motion_plot.c - carom fit motion in pictures and as a page: the ranking, what each toss contributes,
// errors over time, and one toss next to its simulation.
//
// Fails: memory, file; a page that is not whole is not left behind.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/chart.h"
#include "tossing.h"

#define WIDE     1040.0
#define HIGH     760.0
#define PICTURES 4
#define LINES    8  // laws drawn toss by toss

static const char* const names[PICTURES] = {"Ranking", "Toss by toss", "Errors over time", "One toss"};

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static crStatus draw_ranking(const Tossing* f, crSheet* sheet, const double box[4]) {
    FittingBar bars[TOSSING_LAWS];
    for (int k = 0; k < f->ranked; k++) {
        const crMotionFit* fit = &f->fits[f->order[k]];
        bars[k] = (FittingBar){f->laws[f->order[k]].name, fit->cv, fit->cv_se};
    }
    fitting_ranking(sheet, box, "Cross-validated misfit, two standard errors either side",
                    "share of samples lost", bars, f->ranked, (double)NAN);
    return CR_OK;
}

// losses in ascending order, one line per law: a few tosses decide a mean of squares
static crStatus draw_tosses(const Tossing* f, crSheet* sheet, const double box[4]) {
    size_t n = (size_t)f->tosses.count;
    int lines = f->ranked < LINES ? f->ranked : LINES;
    double* memory = malloc((size_t)(lines + 1) * n * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    crSeries series[LINES];
    for (size_t i = 0; i < n; i++) {
        memory[i] = (double)i + 1.0;
    }
    for (int k = 0; k < lines; k++) {
        double* y = memory + (size_t)(k + 1) * n;
        memcpy(y, f->fits[f->order[k]].losses, n * sizeof *y);
        qsort(y, n, sizeof *y, ascending);
        series[k] = (crSeries){f->laws[f->order[k]].name, n, memory, y, 1, k, k / 8, false};
    }
    crChart chart = {"Loss of each toss, in ascending order", "toss", "loss", true, 0.0, 0.0, lines, series};
    cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
    free(memory);
    return CR_OK;
}

// what the best law simulates of a toss (count poses), to free
static crPose* simulate(const Tossing* f, int toss) {
    int law = f->order[0];
    double values[CR_MOTION_PARAMS];
    for (int i = 0; i < f->param_count; i++) {
        values[i] = f->fits[law].fitted[i].value;
    }
    crMotionRun run;
    crPose* poses = malloc((size_t)f->tosses.tosses[toss].count * sizeof *poses);
    if (poses == NULL || cr_motion_simulate(&f->models[law], values, toss, &run, poses, NULL) == CR_OK)
        return poses;
    free(poses);
    return NULL;
}

// medians over the tosses of the errors of position and angle, sample by sample
static crStatus draw_errors(const Tossing* f, crSheet* sheet, const double box[4]) {
    int n = f->tosses.count, most = 0;
    for (int i = 0; i < n; i++) {
        most = f->tosses.tosses[i].count > most ? f->tosses.tosses[i].count : most;
    }
    double* memory = malloc(((size_t)most * 3 + 2 * (size_t)most * (size_t)n) * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    double *x = memory, *p = x + most, *a = p + most, *all = a + most;
    crStatus status = CR_OK;
    for (int i = 0; i < n && status == CR_OK; i++) {
        const crToss* t = &f->tosses.tosses[i];
        crPose* poses = simulate(f, i);
        if (poses == NULL) status = CR_ERR_MEMORY;
        for (int k = 0; k < most && poses != NULL; k++) {
            const crTossSample* s = &f->tosses.samples[t->first + (k < t->count ? k : t->count - 1)];
            const crPose* pose = &poses[k < t->count ? k : t->count - 1];
            all[(k * 2) * n + i] = cr_norm(cr_sub(pose->p, s->pose.p)) / f->models[0].length;
            all[(k * 2 + 1) * n + i] = cr_rotation_between(pose->q, s->pose.q);
        }
        free(poses);
    }
    for (int k = 0; k < most && status == CR_OK; k++) {
        qsort(&all[(k * 2) * n], (size_t)n, sizeof *all, ascending);
        qsort(&all[(k * 2 + 1) * n], (size_t)n, sizeof *all, ascending);
        x[k] = k * f->tosses.interval;
        p[k] = all[(k * 2) * n + n / 2];
        a[k] = all[(k * 2 + 1) * n + n / 2];
    }
    crSeries series[] = {{"position, lengths", (size_t)most, x, p, 1, 0, 0, false},
                         {"angle, rad", (size_t)most, x, a, 1, 1, 0, false}};
    crChart chart = {
        "Median error over the tosses", "time since the start, s", "", false, 0.0, 0.0, 2, series};
    if (status == CR_OK) cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
    free(memory);
    return status;
}

// the toss in the middle of the losses: heights, measured and simulated
static int middle_toss(const Tossing* f) {
    const crMotionFit* fit = &f->fits[f->order[0]];
    int middle = 0;
    for (int i = 0; i < f->tosses.count; i++) {
        int below = 0;
        for (int k = 0; k < f->tosses.count; k++) {
            below += fit->losses[k] < fit->losses[i] || (fit->losses[k] == fit->losses[i] && k < i);
        }
        if (below == f->tosses.count / 2) middle = i;
    }
    return middle;
}

static crStatus draw_toss(const Tossing* f, crSheet* sheet, const double box[4]) {
    int toss = middle_toss(f);
    const crToss* t = &f->tosses.tosses[toss];
    size_t n = (size_t)t->count;
    crPose* poses = simulate(f, toss);
    double* memory = malloc(5 * n * sizeof *memory);
    if (poses == NULL || memory == NULL) {
        free(poses);
        free(memory);
        return CR_ERR_MEMORY;
    }
    for (size_t k = 0; k < n; k++) {
        const crTossSample* s = &f->tosses.samples[t->first + (int)k];
        memory[k] = s->time;
        memory[n + k] = f->tosses.planar ? s->pose.p.y : s->pose.p.z;
        memory[2 * n + k] = f->tosses.planar ? poses[k].p.y : poses[k].p.z;
        memory[3 * n + k] = s->pose.p.x;
        memory[4 * n + k] = poses[k].p.x;
    }
    crSeries series[] = {{"height, measured", n, memory, memory + n, 1, 0, 0, true},
                         {"simulated", n, memory, memory + 2 * n, 1, 0, 0, false},
                         {"x, measured", n, memory, memory + 3 * n, 1, 1, 0, true},
                         {"simulated", n, memory, memory + 4 * n, 1, 1, 0, false}};
    char title[80];
    snprintf(title, sizeof title, "Toss %g, in the middle of the losses", t->id);
    crChart chart = {title, "time since the start, s", "m", false, 0.0, 0.0, 4, series};
    cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &chart);
    free(poses);
    free(memory);
    return CR_OK;
}

static crStatus picture(const Tossing* f, int index, crSheet* sheet, const double box[4]) {
    if (f->ranked == 0) return CR_OK;
    if (index == 1) return draw_tosses(f, sheet, box);
    if (index == 2) return draw_errors(f, sheet, box);
    if (index == 3) return draw_toss(f, sheet, box);
    return draw_ranking(f, sheet, box);
}

crStatus tossing_plot(const Tossing* f, const char* path, crError* error) {
    crSheet sheet;
    cr_sheet_create(&sheet, WIDE, HIGH);
    crStatus status = CR_OK;
    for (int i = 0; i < PICTURES && status == CR_OK; i++) {
        double x = i % 2 == 0 ? 0.0 : WIDE / 2, y = i < 2 ? 0.0 : HIGH / 2;
        status = picture(f, i, &sheet, (double[4]){x + 6.0, y + 6.0, x + WIDE / 2 - 6.0, y + HIGH / 2 - 6.0});
    }
    if (status == CR_OK) status = sheet.status;
    status = status == CR_OK ? cr_sheet_save(&sheet, path, "A scene fitted to measured motions", error)
                             : cr_error_set(error, status, "plot", "plot: out of memory");
    cr_sheet_destroy(&sheet);
    return status;
}

static void put_law(const Tossing* f, FILE* file, int place) {
    const crMotionFit* fit = &f->fits[f->order[place]];
    crMotionRun w = tossing_worst(f, fit);
    double difference, se;
    cr_motion_compare(fit, &f->fits[f->order[0]], f->tosses.count, &difference, &se);
    fprintf(file, "<tr%s><th>%s</th><td>%.4f &plusmn; %.4f</td><td>", place == 0 ? " class=\"best\"" : "",
            f->laws[f->order[place]].name, fit->cv, fit->cv_se);
    if (place > 0) fprintf(file, "%.4f &plusmn; %.4f", difference, se);
    fprintf(file, "</td><td>%.4f &plusmn; %.4f</td><td>", fit->cv_loss, fit->cv_loss_se);
    for (int i = 0; i < fit->count; i++) {
        const crMotionFitted* p = &fit->fitted[i];
        fprintf(file, "%s<span%s>%s %.4g", i > 0 ? ", " : "",
                p->determined == CR_DETERMINED ? "" : " class=\"bad\"", f->params[i].name, p->value);
        if (f->options.bootstrap > 0) fprintf(file, " [%.4g, %.4g]", p->lo, p->hi);
        fputs("</span>", file);
    }
    fprintf(file, "</td><td>%.2g m</td><td>%.2g J</td><td>%d</td></tr>\n", w.penetration, w.energy_gain,
            w.impermissible);
}

static void put_ranking(const Tossing* f, FILE* file) {
    fprintf(
        file,
        "<h2>Ranking</h2>\n<p>%d tosses, %d samples. Each toss is simulated with what was fitted without its "
        "fold of %d. Misfit: share of samples beyond %g rad or lengths, smoothly; loss: mean of |dp|&sup2; / "
        "%.4g m + angle&sup2;. Intervals: 95 %% of %d resamples. Parameters in red are not determined.</p>\n"
        "<div class=\"wide\"><table>\n<thead><tr><th>law</th><th>misfit</th><th>behind the best</th>"
        "<th>loss</th><th>parameters</th><th>deepest overlap</th><th>energy above the start</th>"
        "<th>not permissible</th></tr></thead>\n<tbody>\n",
        f->tosses.count, f->tosses.sample_count, f->options.folds, f->models[0].scale, f->models[0].length,
        f->options.bootstrap);
    for (int k = 0; k < f->ranked; k++) {
        put_law(f, file, k);
    }
    fputs("</tbody></table></div>\n", file);
}

static void put_doubts(const Tossing* f, FILE* file) {
    fputs("<h2>What these data do not tell</h2>\n<ul>\n", file);
    for (int k = 0; k < f->ranked; k++) {
        const crMotionFit* fit = &f->fits[f->order[k]];
        for (int i = 0; i < fit->count; i++) {
            char doubt[200];
            tossing_doubt(f, fit, i, doubt, sizeof doubt);
            if (doubt[0] == '\0') continue;
            fprintf(file, "<li>%s: ", f->laws[f->order[k]].name);
            cr_sheet_escape(file, doubt);
            fputs("</li>\n", file);
        }
    }
    for (int i = 0; i < f->fit_count; i++) {
        if (f->fits[i].status == CR_OK) continue;
        fprintf(file, "<li>%s does not apply: ", f->laws[i].name);
        cr_sheet_escape(file, f->fits[i].error.message);
        fputs("</li>\n", file);
    }
    fputs("</ul>\n", file);
}

static crStatus put_pictures(const Tossing* f, FILE* file) {
    crStatus status = CR_OK;
    fputs("<h2>Pictures</h2>\n<div class=\"charts\">\n", file);
    for (int i = 0; i < PICTURES && status == CR_OK; i++) {
        crSheet sheet;
        cr_sheet_create(&sheet, 520.0, 380.0);
        status = picture(f, i, &sheet, (double[4]){4.0, 4.0, 516.0, 376.0});
        if (status == CR_OK) status = sheet.status;
        fputs("<figure>", file);
        if (status == CR_OK) cr_sheet_svg(&sheet, file, names[i]);
        fputs("</figure>\n", file);
        cr_sheet_destroy(&sheet);
    }
    fputs("</div>\n", file);
    return status;
}

crStatus tossing_report(const Tossing* f, const char* path, crError* error) {
    FILE* file = fopen(path, "w");
    if (file == NULL)
        return cr_error_set(error, CR_ERR_FILE, "report", "report: cannot write %.120s: %s", path,
                            strerror(errno));
    char title[200];
    snprintf(title, sizeof title, "Motions of %s", f->path);
    fitting_page_head(file, title);
    put_ranking(f, file);
    crStatus status = put_pictures(f, file);
    put_doubts(f, file);
    return fitting_page_end(file, path, status, error);
}
