// fit_report.c - carom fit as one page of HTML that needs nothing else: what was measured, the ranking with
// pictures, and what the data do not tell.
//
// Fails: file, memory; a page that is not whole is not left behind.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fitting.h"
#include "plot/page_parts.h"

FILE* fitting_page_open(const char* path, const char* title, crError* error) {
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        cr_error_set(error, CR_ERR_FILE, "report", "report: cannot write %.120s: %s", path, strerror(errno));
        return NULL;
    }
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'\">\n<title>",
          file);
    cr_sheet_escape(file, title);
    fputs("</title>\n<style>\n", file);
    fputs(cr__page_base, file);
    for (int i = CR_INK_TEXT; i < CR_INKS; i++) {
        fprintf(file, "svg .fill-%d{fill:var(--ink-%d)}svg .line-%d{stroke:var(--ink-%d)}\n", i, i, i, i);
    }
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>", file);
    cr_sheet_escape(file, title);
    fputs("</h1>\n", file);
    return file;
}

crStatus fitting_page_end(FILE* file, const char* path, const char* by, crStatus status, crError* error) {
    fprintf(file, "<footer>%s</footer>\n</main>\n</body>\n</html>\n", by);
    bool bad = ferror(file) != 0;
    bad |= fclose(file) != 0;
    if (status == CR_OK && !bad) return CR_OK;
    cr_fit_discard(path);
    return bad ? cr_error_set(error, CR_ERR_FILE, "report", "report: cannot write %.120s", path)
               : cr_error_set(error, status, "report", "report: out of memory");
}

static void put_fact(FILE* file, const char* name, const char* format, double a, double b) {
    fprintf(file, "<tr><th>%s</th><td>", name);
    fprintf(file, format, a, b);
    fputs("</td></tr>\n", file);
}

static void put_summary(const Fitting* f, FILE* file) {
    const crImpactsSummary* s = &f->summary;
    fputs("<h2>What was measured</h2>\n<div class=\"wide\"><table><tbody>\n", file);
    put_fact(file, "collisions (left out)", "%.0f (%.0f)", f->impacts.count,
             f->impacts.left_out + f->impacts.skipped);
    put_fact(file, "mean change of velocity, mass-weighted", "%.4g m/s", s->speed_change, 0.0);
    put_fact(file, "floor of any impulse at the point of contact", "%.4g m/s", s->floor, 0.0);
    put_fact(file, "floor of any permissible one", "%.4g m/s", s->permissible_floor, 0.0);
    put_fact(file, "explained by no permissible impulse", "%.0f (%.2g %%)", s->impossible,
             100.0 * s->impossible / f->impacts.count);
    fputs("</tbody></table></div>\n", file);
    char warning[400];
    fitting_warning(f, warning, sizeof warning);
    if (warning[0] == '\0') return;
    fputs("<p class=\"bad\">", file);
    cr_sheet_escape(file, warning);
    fputs("</p>\n", file);
}

static void put_law(const Fitting* f, FILE* file, int place) {
    const crFit* fit = &f->fits[f->order[place]];
    double difference, se;
    cr_fit_compare(fit, &f->fits[f->order[0]], f->impacts.count, &difference, &se);
    fprintf(file, "<tr%s><th>%s</th><td>%.4f &plusmn; %.4f</td><td>", place == 0 ? " class=\"best\"" : "",
            fit->law.name, fit->cv, fit->cv_se);
    if (place > 0) fprintf(file, "%.4f &plusmn; %.4f", difference, se);
    fputs("</td><td>", file);
    for (int i = 0; i < fit->count; i++) {
        const crFitted* p = &fit->fitted[i];
        bool known = p->determined == CR_DETERMINED;
        fprintf(file, "%s<span%s>%s %.4f", i > 0 ? ", " : "", known ? "" : " class=\"bad\"",
                cr_fit_param_name(p->param), fit->theta.value[p->param]);
        if (f->options.bootstrap > 0) fprintf(file, " [%.4f, %.4f]", p->lo, p->hi);
        fputs("</span>", file);
    }
    fprintf(file, "</td><td>%d</td><td>%d</td></tr>\n", fit->unanswered, fit->impermissible);
}

static void put_ranking(const Fitting* f, FILE* file) {
    fprintf(
        file,
        "<h2>Ranking</h2>\n<p>Error: mean mass-weighted difference of predicted and measured velocities in "
        "m/s, each collision predicted by a fit without its fold of %d. Behind the best: the same collision "
        "by "
        "collision. Intervals: 95 %% of %d resamples. Parameters in red are not determined.</p>\n"
        "<div class=\"wide\"><table>\n<thead><tr><th>law</th><th>error</th><th>behind the best</th>"
        "<th>parameters</th><th>no answer</th><th>not permissible</th></tr></thead>\n<tbody>\n",
        f->options.folds, f->options.bootstrap);
    for (int k = 0; k < f->ranked; k++) {
        put_law(f, file, k);
    }
    fputs("</tbody></table></div>\n", file);
}

static void put_doubts(const Fitting* f, FILE* file) {
    fputs("<h2>What these data do not tell</h2>\n<ul>\n", file);
    for (int k = 0; k < f->ranked; k++) {
        const crFit* fit = &f->fits[f->order[k]];
        for (int i = 0; i < fit->count; i++) {
            char doubt[160];
            fitting_doubt(fit, i, doubt, sizeof doubt);
            if (doubt[0] != '\0') fprintf(file, "<li>%s: %s</li>\n", fit->law.name, doubt);
        }
    }
    for (int i = 0; i < f->fit_count; i++) {
        if (f->fits[i].status == CR_OK) continue;
        fprintf(file, "<li>%s does not apply: ", f->fits[i].law.name);
        cr_sheet_escape(file, f->fits[i].error.message);
        fputs("</li>\n", file);
    }
    fputs("</ul>\n", file);
}

crStatus fitting_figures(FILE* file, const char* const* names, int count, FittingDraw draw, const void* ctx) {
    crStatus status = CR_OK;
    fputs("<h2>Pictures</h2>\n<div class=\"charts\">\n", file);
    for (int i = 0; i < count && status == CR_OK; i++) {
        crSheet sheet;
        cr_sheet_create(&sheet, 520.0, 380.0);
        status = draw(ctx, i, &sheet, (double[4]){4.0, 4.0, 516.0, 376.0});
        if (status == CR_OK) status = sheet.status;
        fputs("<figure>", file);
        if (status == CR_OK) cr_sheet_svg(&sheet, file, names[i]);
        fputs("</figure>\n", file);
        cr_sheet_destroy(&sheet);
    }
    fputs("</div>\n", file);
    return status;
}

static crStatus picture(const void* ctx, int index, crSheet* sheet, const double box[4]) {
    return fitting_picture(ctx, index, sheet, box[0], box[1], box[2], box[3]);
}

crStatus fitting_report(const Fitting* f, const char* path, crError* error) {
    char title[200];
    snprintf(title, sizeof title, "Collision laws and %s", f->path);
    FILE* file = fitting_page_open(path, title, error);
    if (file == NULL) return CR_ERR_FILE;
    put_summary(f, file);
    put_ranking(f, file);
    crStatus status = fitting_figures(file, fitting_picture_names, FITTING_PICTURES, picture, f);
    put_doubts(f, file);
    return fitting_page_end(file, path, "carom fit", status, error);
}
