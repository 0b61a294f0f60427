// fit_motion_plot.c - carom fit motion in pictures and as a page: the ranking, what each toss contributes,
// errors over time, and one toss next to its simulation.
//
// Fails: memory, file; a page that is not whole is not left behind.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/motion_predict.h"
#include "numbers.h"
#include "toss_charts.h"
#include "tossing.h"

#define WIDE     1040.0
#define HIGH     760.0
#define PICTURES 4

static const char* const names[PICTURES] = {"Ranking", "Toss by toss", "Errors over time", "One toss"};

// a fit, and what its best law simulates
typedef struct Shown {
    const Tossing* f;
    crMotionPrediction predicted;
} Shown;

static crStatus simulate(const Tossing* f, Shown* shown, crError* error) {
    *shown = (Shown){.f = f};
    if (f->ranked == 0) return CR_OK;
    double values[CR_MOTION_PARAMS];
    for (int i = 0; i < f->param_count; i++) {
        values[i] = f->fits[f->order[0]].fitted[i].value;
    }
    crMotionOptions options = {.threads = f->options.threads};
    return cr_motion_predict(&f->models[f->order[0]], values, &options, &shown->predicted, error);
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

static crStatus draw_losses(const Tossing* f, crSheet* sheet, const double box[4]) {
    const char* called[TOSS_LINES];
    const double* losses[TOSS_LINES];
    int lines = f->ranked < TOSS_LINES ? f->ranked : TOSS_LINES;
    for (int k = 0; k < lines; k++) {
        called[k] = f->laws[f->order[k]].name;
        losses[k] = f->fits[f->order[k]].losses;
    }
    return toss_chart_losses(sheet, box, called, losses, lines, f->tosses.count);
}

static crStatus draw_toss(const Shown* s, crSheet* sheet, const double box[4]) {
    const Tossing* f = s->f;
    int toss = toss_at(f->fits[f->order[0]].losses, f->tosses.count, f->tosses.count / 2);
    char title[80];
    snprintf(title, sizeof title, "Toss %g, in the middle of the losses", f->tosses.tosses[toss].id);
    return toss_chart_position(sheet, box, title, &f->tosses, s->predicted.poses, toss);
}

static crStatus picture(const void* ctx, int index, crSheet* sheet, const double box[4]) {
    const Shown* s = ctx;
    const Tossing* f = s->f;
    if (f->ranked == 0) return CR_OK;
    if (index == 1) return draw_losses(f, sheet, box);
    if (index == 2) return toss_chart_errors(sheet, box, &f->tosses, s->predicted.poses, f->models[0].length);
    if (index == 3) return draw_toss(s, sheet, box);
    return draw_ranking(f, sheet, box);
}

crStatus tossing_plot(const Tossing* f, const char* path, crError* error) {
    Shown shown;
    crStatus status = simulate(f, &shown, error);
    if (status != CR_OK) return status;
    crSheet sheet;
    cr_sheet_create(&sheet, WIDE, HIGH);
    for (int i = 0; i < PICTURES && status == CR_OK; i++) {
        double x = i % 2 == 0 ? 0.0 : WIDE / 2, y = i < 2 ? 0.0 : HIGH / 2;
        status =
            picture(&shown, i, &sheet, (double[4]){x + 6.0, y + 6.0, x + WIDE / 2 - 6.0, y + HIGH / 2 - 6.0});
    }
    if (status == CR_OK) status = sheet.status;
    status = status == CR_OK ? cr_sheet_save(&sheet, path, "A scene fitted to measured motions", error)
                             : cr_error_set(error, status, "plot", "plot: out of memory");
    cr_sheet_destroy(&sheet);
    cr_motion_prediction_destroy(&shown.predicted);
    return status;
}

static void put_law(const Tossing* f, FILE* file, int place) {
    const crMotionFit* fit = &f->fits[f->order[place]];
    crMotionRun w = cr_motion_worst(fit->runs, f->tosses.count);
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
        "<h2>Ranking</h2>\n<p>%d %s, %d %s. Each toss is simulated with what was fitted without its "
        "fold of %d. Misfit: share of samples beyond %g rad or lengths, smoothly; loss: mean of |dp|&sup2; / "
        "%.4g m + angle&sup2;. Intervals: 95 %% of %d resamples. Parameters in red are not determined.</p>\n"
        "<div class=\"wide\"><table>\n<thead><tr><th>law</th><th>misfit</th><th>behind the best</th>"
        "<th>loss</th><th>parameters</th><th>deepest overlap</th><th>energy above the start</th>"
        "<th>not permissible</th></tr></thead>\n<tbody>\n",
        f->tosses.count, noun(f->tosses.count, "toss", "tosses"), f->tosses.sample_count,
        noun(f->tosses.sample_count, "sample", "samples"), f->options.folds, f->models[0].scale,
        f->models[0].length, f->options.bootstrap);
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

crStatus tossing_report(const Tossing* f, const char* path, crError* error) {
    Shown shown;
    crStatus status = simulate(f, &shown, error);
    if (status != CR_OK) return status;
    char title[200];
    snprintf(title, sizeof title, "Motions of %s", f->path);
    FILE* file = fitting_page_open(path, title, error);
    if (file != NULL) {
        put_ranking(f, file);
        status = fitting_figures(file, names, PICTURES, picture, &shown);
        put_doubts(f, file);
        status = fitting_page_end(file, path, "carom fit", status, error);
    }
    cr_motion_prediction_destroy(&shown.predicted);
    return file != NULL ? status : CR_ERR_FILE;
}
