// page.c - a report as one HTML page: animation, summary, charts, outcome and events of one or more runs.
//
// Tables and the strobe are written here; animation and charts are drawn by the page's own modules (web/src)
// from the data in the report. Nothing is fetched: style, script and data stand in the report, which a policy
// of its own content security also says. All text from files is escaped. The page is written next to its target and renamed when it is
// whole. Fails: see page.h.
#include "plot/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plot/page_parts.h"
#include "plot/view.h"

#define CHART_WIDTH 480.0
#define MOST_EVENTS 200  // rows of a table
#define FEW_EVENTS  20   // rows that are shown unasked
#define MOST_BODIES 60
#define OWN_FACTS   7

typedef struct Page {
    FILE* file;
    const crPageRun* runs;
    int run_count;
    crPageSection section;  // NULL: summary, outcome and events
    const void* ctx;
} Page;

static void put_head(Page* p, const char* title, const char* note) {
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; "
          "script-src 'unsafe-inline'\">\n<title>",
          p->file);
    cr_sheet_escape(p->file, title);
    fputs("</title>\n<style>\n", p->file);
    fputs(cr__page_base, p->file);
    fputs(cr__page_style, p->file);
    for (int i = CR_INK_TEXT; i < CR_INKS; i++) {
        fprintf(p->file, "svg .fill-%d{fill:var(--ink-%d)}svg .line-%d{stroke:var(--ink-%d)}\n", i, i, i, i);
    }
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>", p->file);
    cr_sheet_escape(p->file, title);
    fputs("</h1>\n", p->file);
    if (note[0] != '\0') {
        fputs("<p>", p->file);
        cr_sheet_escape(p->file, note);
        fputs("</p>\n", p->file);
    }
}

static void put_motion(Page* p) {
    fputs("<section aria-labelledby=\"motion\">\n<h2 id=\"motion\">Motion</h2>\n<div id=\"stages\"></div>\n"
          "<noscript><p>Animation and charts need scripts; everything else is below.</p></noscript>\n"
          "</section>\n",
          p->file);
}

static void put_charts(Page* p) {
    fputs("<section aria-labelledby=\"over\">\n<h2 id=\"over\">Over time</h2>\n"
          "<div class=\"charts\" id=\"charts\"></div>\n</section>\n",
          p->file);
}

static double total(const double* row) { return row[CR_MOTION_KINETIC] + row[CR_MOTION_POTENTIAL]; }

// what the log itself tells of a run; returns how many
static int own_facts(const crMotionLog* log, crPageFact facts[OWN_FACTS]) {
    const double* first = log->rows;
    const double* last = log->rows + (log->count - 1) * log->columns;
    double worst[3] = {0};
    for (size_t i = 0; i < log->count; i++) {
        for (int k = 0; k < 3; k++) {
            worst[k] = fmax(worst[k], log->rows[i * log->columns + CR_MOTION_RESIDUAL + (size_t)k]);
        }
    }
    int n = 0;
    facts[n] = (crPageFact){.name = "bodies"};
    snprintf(facts[n++].value, CR_PAGE_TEXT, "%d", log->body_count);
    facts[n] = (crPageFact){.name = "time"};
    snprintf(facts[n++].value, CR_PAGE_TEXT, "%.6g s to %.6g s", first[0], last[0]);
    if (log->has_certificate) {
        facts[n] = (crPageFact){.name = "residual, worst"};
        snprintf(facts[n++].value, CR_PAGE_TEXT, "%.1e", worst[0]);
        facts[n] = (crPageFact){.name = "overlap, at most"};
        snprintf(facts[n++].value, CR_PAGE_TEXT, "%.1e m", worst[1]);
        facts[n] = (crPageFact){.name = "contacts, most at once"};
        snprintf(facts[n++].value, CR_PAGE_TEXT, "%.0f", worst[2]);
    }
    if (log->has_events) {
        facts[n] = (crPageFact){.name = "events"};
        snprintf(facts[n++].value, CR_PAGE_TEXT, "%zu", log->event_total);
    }
    if (log->has_energy) {
        facts[n] = (crPageFact){.name = "energy, start to end"};
        snprintf(facts[n++].value, CR_PAGE_TEXT, "%.5g J to %.5g J", total(first), total(last));
    }
    return n;
}

static void put_labels(Page* p, const char* corner) {
    fprintf(p->file, "<div class=\"wide facts\"><table>\n<thead><tr><th scope=\"col\">%s</th>", corner);
    for (int i = 0; i < p->run_count; i++) {
        fputs("<th scope=\"col\">", p->file);
        cr_sheet_escape(p->file, p->run_count > 1 ? p->runs[i].label : "value");
        fputs("</th>", p->file);
    }
    fputs("</tr></thead>\n<tbody>\n", p->file);
}

static const crPageFact* find_fact(const crPageFact* facts, int count, const char* name) {
    for (int i = 0; i < count; i++) {
        if (strcmp(facts[i].name, name) == 0) return &facts[i];
    }
    return NULL;
}

// one line per fact, in the order of the first run that has it
static void put_fact(Page* p, const char* name, const crPageFact* const* facts, const int* counts) {
    fputs("<tr><th scope=\"row\">", p->file);
    cr_sheet_escape(p->file, name);
    fputs("</th>", p->file);
    for (int i = 0; i < p->run_count; i++) {
        const crPageFact* fact = find_fact(facts[i], counts[i], name);
        fputs(fact != NULL && fact->bad ? "<td class=\"bad\">" : "<td>", p->file);
        cr_sheet_escape(p->file, fact != NULL ? fact->value : "");
        fputs("</td>", p->file);
    }
    fputs("</tr>\n", p->file);
}

static void put_facts(Page* p, const crPageFact* const* facts, const int* counts) {
    for (int i = 0; i < p->run_count; i++) {
        for (int k = 0; k < counts[i]; k++) {
            bool known = false;
            for (int before = 0; before < i; before++) {
                known = known || find_fact(facts[before], counts[before], facts[i][k].name) != NULL;
            }
            if (!known) put_fact(p, facts[i][k].name, facts, counts);
        }
    }
}

static void put_summary(Page* p) {
    crPageFact own[CR_PAGE_RUNS][OWN_FACTS];
    const crPageFact* facts[CR_PAGE_RUNS];
    int counts[CR_PAGE_RUNS];
    fputs("<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary and certificate</h2>\n",
          p->file);
    put_labels(p, "");
    for (int i = 0; i < p->run_count; i++) {
        facts[i] = p->runs[i].facts;
        counts[i] = p->runs[i].fact_count;
    }
    put_facts(p, facts, counts);
    for (int i = 0; i < p->run_count; i++) {
        int made = own_facts(p->runs[i].log, own[i]);
        facts[i] = own[i];
        counts[i] = 0;
        for (int k = 0; k < made; k++) {
            bool told = find_fact(p->runs[i].facts, p->runs[i].fact_count, own[i][k].name) != NULL;
            if (!told) own[i][counts[i]++] = own[i][k];
        }
    }
    put_facts(p, facts, counts);
    fputs("</tbody></table></div>\n</section>\n", p->file);
}

static void put_figure(Page* p, const crSheet* sheet, const char* label) {
    fputs("<figure>", p->file);
    cr_sheet_svg(sheet, p->file, label);
    fputs("</figure>\n", p->file);
}

static crStatus put_views(Page* p, crError* error) {
    crViewChoice choice = {.kind = CR_VIEW_STROBE};
    const crMotionLog* logs[CR_PAGE_RUNS];
    for (int i = 0; i < p->run_count; i++) {
        logs[i] = p->runs[i].log;
    }
    crStatus status = cr_view_frame(logs, p->run_count, &choice, error);
    fputs("<section aria-labelledby=\"strobe\">\n<h2 id=\"strobe\">Strobe</h2>\n<div class=\"charts\">\n",
          p->file);
    for (int i = 0; i < p->run_count && status == CR_OK; i++) {
        crSheet sheet;
        double height = cr_view_height(&choice, CHART_WIDTH);
        cr_sheet_create(&sheet, CHART_WIDTH, height);
        const char* title = p->run_count > 1 ? p->runs[i].label : "bodies at eight times";
        status = cr_view_draw(&sheet, 0.0, 0.0, CHART_WIDTH, height, logs[i], title, &choice, error);
        if (status == CR_OK) put_figure(p, &sheet, "bodies drawn at eight times from start to end");
        cr_sheet_destroy(&sheet);
    }
    fputs("</div>\n</section>\n", p->file);
    return status;
}

// to the digits that are shown, without a sign before zero
static double shown_number(double x) { return fabs(x) < 0.5e-4 ? 0.0 : x; }

// velocities at the end, body by body; z where any has one
static crStatus put_outcome(Page* p) {
    crPlayer players[CR_PAGE_RUNS];
    int made = 0;
    crStatus status = CR_OK;
    for (; made < p->run_count && status == CR_OK; made++) {
        status = cr_player_create(&players[made], p->runs[made].log);
        if (status != CR_OK) break;
        cr_player_at(&players[made], p->runs[made].log->count - 1);
    }
    const crMotionLog* log = p->runs[0].log;
    bool deep = false;
    for (int i = 0; i < made && status == CR_OK; i++) {
        for (int b = 1; b <= p->runs[i].log->body_count; b++) {
            deep = deep || shown_number(cr_player_velocity(&players[i], b).z) != 0.0;
        }
    }
    fprintf(p->file,
            "<section aria-labelledby=\"outcome\">\n<h2 id=\"outcome\">At the end: velocity of each body, %s "
            "[m/s]</h2>\n",
            deep ? "x, y, z" : "x, y");
    put_labels(p, "body");
    int shown = log->body_count < MOST_BODIES ? log->body_count : MOST_BODIES;
    for (int b = 0; b < shown && status == CR_OK; b++) {
        fputs("<tr><th scope=\"row\">", p->file);
        cr_sheet_escape(p->file, log->bodies[b].name);
        fputs("</th>", p->file);
        for (int i = 0; i < p->run_count; i++) {
            int body = cr_model_find_body(p->runs[i].log->model, log->bodies[b].name);
            crVec3 v = body > 0 ? cr_player_velocity(&players[i], body) : cr_vec3(NAN, NAN, NAN);
            fprintf(p->file, "<td>%.4f, %.4f", shown_number(v.x), shown_number(v.y));
            if (deep) fprintf(p->file, ", %.4f", shown_number(v.z));
            fputs("</td>", p->file);
        }
        fputs("</tr>\n", p->file);
    }
    fputs("</tbody></table></div>\n", p->file);
    int left = log->body_count - shown;
    if (left > 0) fprintf(p->file, "<p>and %d %s more</p>\n", left, left == 1 ? "body" : "bodies");
    fputs("</section>\n", p->file);
    for (int i = 0; i < made; i++) {
        cr_player_destroy(&players[i]);
    }
    return status;
}

static void put_name(Page* p, const crMotionLog* log, int body) {
    fputs("<td>", p->file);
    cr_sheet_escape(p->file, body > 0 && body <= log->body_count ? log->bodies[body - 1].name : "world");
    fputs("</td>", p->file);
}

static void put_events(Page* p, const crPageRun* run) {
    const crMotionLog* log = run->log;
    bool few = p->run_count == 1 && log->event_total <= FEW_EVENTS;
    fprintf(p->file, "<details%s><summary>%zu event%s", few ? " open" : "", log->event_total,
            log->event_total == 1 ? "" : "s");
    if (p->run_count > 1) {
        fputs(", ", p->file);
        cr_sheet_escape(p->file, run->label);
    }
    size_t shown = log->event_count < MOST_EVENTS ? log->event_count : MOST_EVENTS;
    if (shown < log->event_total) fprintf(p->file, " (the first %zu)", shown);
    fputs("</summary>\n<div class=\"wide long\"><table>\n<thead><tr><th scope=\"col\">time [s]</th>"
          "<th scope=\"col\">body</th><th scope=\"col\">other</th><th scope=\"col\">approach [m/s]</th>"
          "<th scope=\"col\">impulse [N s]</th><th scope=\"col\">point [m]</th>"
          "<th scope=\"col\">energy change [J]</th></tr></thead>\n<tbody>\n",
          p->file);
    for (size_t i = 0; i < shown; i++) {
        const crEvent* e = &log->events[i];
        fprintf(p->file, "<tr><td>%.6f</td>", e->time);
        put_name(p, log, e->body_a);
        put_name(p, log, e->body_b);
        fprintf(p->file, "<td>%.4g</td><td>%.4g</td><td>%.3f, %.3f, %.3f</td><td>%.3g</td></tr>\n",
                e->approach, cr_norm(e->impulse), e->point.x, e->point.y, e->point.z, e->energy_change);
    }
    fputs("</tbody></table></div></details>\n", p->file);
}

static void put_all_events(Page* p) {
    fputs("<section aria-labelledby=\"events\">\n<h2 id=\"events\">Events</h2>\n", p->file);
    for (int i = 0; i < p->run_count; i++) {
        if (p->runs[i].log->has_events) put_events(p, &p->runs[i]);
    }
    fputs("</section>\n", p->file);
}

static crStatus put_page(Page* p, const char* title, const char* note, crError* error) {
    crStatus status = CR_OK;
    put_head(p, title, note);
    put_motion(p);
    if (p->section != NULL) {
        status = p->section(p->file, p->ctx);
    } else {
        put_summary(p);
    }
    put_charts(p);
    if (status == CR_OK) status = put_views(p, error);
    if (status == CR_OK && p->section == NULL) status = put_outcome(p);
    if (p->section == NULL) put_all_events(p);
    fprintf(p->file,
            "</main>\n<footer>Made by carom %d.%d.%d (numerics revision %d). Units: SI.</footer>\n"
            "<script type=\"application/json\" id=\"data\">",
            CR_VERSION_MAJOR, CR_VERSION_MINOR, CR_VERSION_PATCH, CR_NUMERICS_REVISION);
    if (status == CR_OK) status = cr__page_data(p->file, p->runs, p->run_count);
    fputs("</script>\n", p->file);
    fputs(cr__page_script, p->file);
    fputs("</body>\n</html>\n", p->file);
    return status;
}

static crStatus check(const crPageRun* runs, int run_count, crError* error) {
    if (run_count < 1 || run_count > CR_PAGE_RUNS)
        return cr_error_set(error, CR_ERR_ARGUMENT, "runs", "runs: %d, a page has 1 to %d", run_count,
                            CR_PAGE_RUNS);
    for (int i = 0; i < run_count; i++) {
        if (runs[i].log->model == NULL)
            return cr_error_set(error, CR_ERR_ARGUMENT, "scene",
                                "scene: a report draws shapes; say --scene SCENE, or use a .h5 file");
        if (runs[i].log->count == 0)
            return cr_error_set(error, CR_ERR_ARGUMENT, "runs", "runs: number %d has no record", i);
    }
    return CR_OK;
}

static crStatus write_page(Page page, const char* path, const char* title, const char* note, crError* error) {
    crStatus status = check(page.runs, page.run_count, error);
    if (status != CR_OK) return status;
    size_t size = strlen(path) + 32;
    char* partial = malloc(size);
    if (partial == NULL) return cr_error_set(error, CR_ERR_MEMORY, "report", "report: out of memory");
    snprintf(partial, size, "%s.partial-%ld", path, (long)getpid());
    page.file = fopen(partial, "wx");
    if (page.file == NULL) {
        free(partial);
        return cr_error_set(error, CR_ERR_FILE, "report", "report: \"%.80s\" cannot be written: %s", path,
                            strerror(errno));
    }
    crError inner = {0};
    status = put_page(&page, title, note, &inner);
    bool written = !ferror(page.file);
    written = fclose(page.file) == 0 && written;
    if (status != CR_OK) {
        cr_error_set(error, status, "report", "report: %s",
                     inner.message[0] != '\0' ? inner.message : cr_status_text(status));
    } else if (!written || rename(partial, path) != 0) {
        status = cr_error_set(error, CR_ERR_FILE, "report", "report: \"%.80s\" cannot be written: %s", path,
                              strerror(errno));
    }
    if (status != CR_OK) unlink(partial);
    free(partial);
    return status;
}

crStatus cr_page_write(const char* path, const char* title, const char* note, const crPageRun* runs,
                       int run_count, crError* error) {
    return write_page((Page){.runs = runs, .run_count = run_count}, path, title, note, error);
}

crStatus cr_page_write_section(const char* path, const char* title, const char* note, const crPageRun* run,
                               crPageSection section, const void* ctx, crError* error) {
    Page page = {.runs = run, .run_count = 1, .section = section, .ctx = ctx};
    return write_page(page, path, title, note, error);
}
