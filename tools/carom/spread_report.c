// spread_report.c - what carom spread found as one page of HTML that needs nothing else: outcomes, clusters,
// which order of impacts decides, pictures, and what to doubt.
//
// Fails: file, memory; a page that is not whole is not left behind.
#include "fitting.h"
#include "numbers.h"
#include "spreading.h"

static void begin_table(FILE* file, const char* heads) {
    fprintf(file, "<div class=\"wide\"><table>\n<thead><tr>%s</tr></thead>\n<tbody>\n", heads);
}

static void end_table(FILE* file) { fputs("</tbody></table></div>\n", file); }

static void put_head(const Spreading* s, FILE* file) {
    fprintf(file, "<p>%d %s until %.6g s, seed %llu; jitter: ", s->spread.samples,
            noun(s->spread.samples, "sample", "samples"), s->scene.duration,
            (unsigned long long)s->options.seed);
    for (int i = 0; i < s->options.jitter_count; i++) {
        if (i > 0) fputs(", ", file);
        cr_sheet_escape(file, s->texts[i]);
    }
    fputs("</p>\n", file);
    char doubt[400];
    for (int i = 0; spreading_doubt(s, i, doubt, sizeof doubt); i++) {
        fputs("<p class=\"bad\">", file);
        cr_sheet_escape(file, doubt);
        fputs("</p>\n", file);
    }
}

static void put_columns(const Spreading* s, FILE* file) {
    const crSpreadSummary* f = &s->summary;
    fprintf(file,
            "<h2>Where the bodies %s</h2>\n<p>The numbers that vary most, in %s; itself is the scene "
            "without jitter.</p>\n",
            s->options.of == CR_SPREAD_POSITION ? "end" : "go",
            s->options.of == CR_SPREAD_POSITION ? "m" : "m/s");
    begin_table(file, "<th>body</th><th>axis</th><th>itself</th><th>mean</th><th>sd</th><th>5 %</th>"
                      "<th>50 %</th><th>95 %</th>");
    for (int i = 0; i < f->column_count; i++) {
        const crSpreadColumn* c = &f->columns[i];
        if (spreading_above(f, i) >= SPREADING_ROWS) continue;
        fputs("<tr><th>", file);
        cr_sheet_escape(file, spreading_name(s, c->body));
        fprintf(file,
                "</th><td>%c</td><td>%.5g</td><td>%.5g</td><td>%.3g</td><td>%.5g</td><td>%.5g</td>"
                "<td>%.5g</td></tr>\n",
                "xyz"[c->axis], c -> nominal, c -> mean, c -> sd, c -> q05, c -> q50, c -> q95);
    }
    end_table(file);
}

static void put_clusters(const Spreading* s, FILE* file) {
    const crSpreadSummary* f = &s->summary;
    if (f->cluster_count <= 1) {
        fputs("<h2>Clusters</h2>\n<p>None stand apart, the outcomes are one cloud.</p>\n", file);
        return;
    }
    fprintf(file, "<h2>Clusters</h2>\n<p>%d, they explain %.0f %% of the variance.</p>\n", f->cluster_count,
            100.0 * f->clusters_explained);
    begin_table(file, "<th>cluster</th><th>share</th><th>like sample</th><th>mostly after order</th>");
    for (int i = 0; i < f->cluster_count; i++) {
        const crSpreadCluster* c = &f->clusters[i];
        fprintf(file, "<tr><th>%d</th><td>%.1f %%</td><td>%d</td><td>%d (%.0f %% of it)</td></tr>\n", i + 1,
                spreading_percent(c->count, f->used), c->representative, c->order + 1,
                spreading_percent(c->with_order, c->count));
    }
    end_table(file);
}

static void put_orders(const Spreading* s, FILE* file) {
    const crSpreadSummary* f = &s->summary;
    fputs("<h2>Which order of impacts decides</h2>\n", file);
    if (f->prefix_count == 0) {
        fputs("<p>No impact in any sample.</p>\n", file);
        return;
    }
    begin_table(file, "<th>first pairs</th><th>orders</th><th>explains of the variance</th>");
    for (int k = 1; k <= f->prefix_count && f->prefix[k].orders * 2 <= f->used; k++) {
        fprintf(file, "<tr><th>%d</th><td>%d</td><td>%.0f %%</td></tr>\n", k, f->prefix[k].orders,
                100.0 * f->prefix[k].explained);
    }
    end_table(file);
    fprintf(file, "<p>Orders by their first %d pair%s: %d; the most frequent are</p>\n", f->length,
            f->length == 1 ? "" : "s", f->order_count);
    begin_table(file, "<th>order</th><th>share</th><th>mostly in cluster</th><th>pairs</th>");
    for (int i = 0; i < f->order_count && i < SPREADING_ORDERS; i++) {
        const crSpreadOrder* o = &f->orders[i];
        fprintf(file, "<tr><th>%d</th><td>%.1f %%</td><td>%d (%.0f %%)</td><td>", i + 1,
                spreading_percent(o->count, f->used), o->cluster + 1,
                spreading_percent(o->in_cluster, o->count));
        spreading_order(s, o->example, file, cr_sheet_escape);
        fputs("</td></tr>\n", file);
    }
    end_table(file);
}

crStatus spreading_report(const Spreading* s, const char* path, crError* error) {
    char title[200];
    snprintf(title, sizeof title, "Outcomes of %s", scene_title(&s->input));
    FILE* file = fitting_page_open(path, title, error);
    if (file == NULL) return CR_ERR_FILE;
    put_head(s, file);
    crStatus status =
        fitting_figures(file, spreading_picture_names, SPREADING_PICTURES, spreading_picture, s);
    put_columns(s, file);
    put_clusters(s, file);
    put_orders(s, file);
    return fitting_page_end(file, path, "carom spread", status, error);
}
