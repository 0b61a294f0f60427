// predict_report.c - carom predict of motions as one page of HTML: the errors with their certificate, the
// best, the middle and the worst toss in pictures, and every toss in a table.
//
// Fails: file, memory; a page that is not whole is not left behind.
#include <stdlib.h>

#include "numbers.h"
#include "predicting.h"
#include "toss_charts.h"

#define PICTURES 8
static const char* const names[PICTURES] = {
    "Toss by toss",          "Errors over time",      "Best toss, position",  "Best toss, rotation",
    "Middle toss, position", "Middle toss, rotation", "Worst toss, position", "Worst toss, rotation"};

typedef struct Shown {
    const PredictedMotion* p;
    double* losses;  // (tosses)
} Shown;

static void put_fact(FILE* file, const char* name, const char* value, bool bad) {
    fprintf(file, "<tr><th>%s</th><td%s>%s</td></tr>\n", name, bad ? " class=\"bad\"" : "", value);
}

static void put_means(FILE* file, const char* name, double misfit, double misfit_se, double loss,
                      double loss_se) {
    char text[120];
    snprintf(text, sizeof text, "misfit %.4g &plusmn; %.2g, loss %.4g &plusmn; %.2g", misfit, misfit_se, loss,
             loss_se);
    put_fact(file, name, text, false);
}

static void put_summary(const PredictedMotion* p, FILE* file) {
    const crMotionPrediction* m = &p->prediction;
    const crMotionRun* w = &m->worst;
    char text[120];
    fprintf(
        file,
        "<h2>How well</h2>\n<p>%d %s, %d %s, each toss simulated from its first pose and "
        "velocity. Misfit: share of samples beyond %g rad or lengths, smoothly; loss: mean of |dp|&sup2; / "
        "%.4g m + angle&sup2;; &plusmn; standard error.</p>\n<div class=\"wide\"><table><tbody>\n",
        p->tosses.count, noun(p->tosses.count, "toss", "tosses"), p->tosses.sample_count,
        noun(p->tosses.sample_count, "sample", "samples"), p->model.scale, p->model.length);
    fputs("<tr><th>law</th><td>", file);
    cr_sheet_escape(file, p->choice.law);
    fputs("</td></tr>\n", file);
    put_means(file, "means over the tosses", m->misfit, m->misfit_se, m->loss, m->loss_se);
    if (p->choice.misfit == p->choice.misfit)
        put_means(file, "cross-validated where it was fitted", p->choice.misfit, p->choice.misfit_se,
                  p->choice.loss, p->choice.loss_se);
    snprintf(text, sizeof text, "%.4g and %.4g", m->position, m->rotation);
    put_fact(file, "position and rotation, of the loss", text, false);
    snprintf(text, sizeof text, "%.2g m", w->penetration);
    put_fact(file, "deepest overlap after any step", text, false);
    snprintf(text, sizeof text, "%.2g J, above the start %.2g J", w->energy_created, w->energy_gain);
    put_fact(file, "energy made by an impact", text, w->energy_created > 0.0);
    snprintf(text, sizeof text, "%d", w->impermissible);
    put_fact(file, "impacts outside the permissible region", text, w->impermissible > 0);
    snprintf(text, sizeof text, "%d of %d", w->unsolved, w->steps);
    put_fact(file, "steps not solved", text, w->unsolved > 0);
    fputs("</tbody></table></div>\n", file);
}

static crStatus picture(const void* ctx, int index, crSheet* sheet, const double box[4]) {
    static const char* const which[] = {"best", "in the middle", "worst"};
    const Shown* s = ctx;
    const PredictedMotion* p = s->p;
    int count = p->tosses.count;
    if (index == 0)
        return toss_chart_losses(sheet, box, &p->choice.law, (const double* const[]){s->losses}, 1, count);
    if (index == 1) return toss_chart_errors(sheet, box, &p->tosses, p->prediction.poses, p->model.length);
    int kind = index / 2 - 1;
    int toss = toss_at(s->losses, count, kind == 0 ? 0 : kind == 1 ? count / 2 : count - 1);
    char title[100];
    snprintf(title, sizeof title, "Toss %g, %s: loss %.3g", p->tosses.tosses[toss].id, which[kind],
             s->losses[toss]);
    return index % 2 == 0 ? toss_chart_position(sheet, box, title, &p->tosses, p->prediction.poses, toss)
                          : toss_chart_rotation(sheet, box, title, &p->tosses, p->prediction.poses, toss);
}

static void put_tosses(const Shown* s, FILE* file) {
    const PredictedMotion* p = s->p;
    fputs("<h2>Toss by toss</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>toss</th><th>samples</th>"
          "<th>misfit</th><th>loss</th><th>position</th><th>rotation</th><th>deepest overlap</th>"
          "<th>energy above the start</th></tr></thead>\n<tbody>\n",
          file);
    for (int i = 0; i < p->tosses.count; i++) {
        const crMotionRun* r = &p->prediction.runs[i];
        fprintf(file,
                "<tr><th>%g</th><td>%d</td><td>%.4f</td><td>%.4g</td><td>%.4g</td><td>%.4g</td><td>%.2g "
                "m</td><td>%.2g J</td></tr>\n",
                p->tosses.tosses[i].id, p->tosses.tosses[i].count, r->misfit, s->losses[i], r->position,
                r->rotation, r->penetration, r->energy_gain);
    }
    fputs("</tbody></table></div>\n", file);
}

crStatus predicted_report(const PredictedMotion* p, const char* path, crError* error) {
    Shown shown = {p, malloc((size_t)p->tosses.count * sizeof(double))};
    if (shown.losses == NULL) return cr_error_set(error, CR_ERR_MEMORY, "report", "report: out of memory");
    for (int i = 0; i < p->tosses.count; i++) {
        shown.losses[i] = predicted_loss(p, i);
    }
    char title[200];
    snprintf(title, sizeof title, "Predicted motions of %s", p->asked->path);
    FILE* file = fitting_page_open(path, title, error);
    crStatus status = CR_ERR_FILE;
    if (file != NULL) {
        put_summary(p, file);
        status = fitting_figures(file, names, PICTURES, picture, &shown);
        put_tosses(&shown, file);
        status = fitting_page_end(file, path, "carom predict", status, error);
    }
    free(shown.losses);
    return status;
}
