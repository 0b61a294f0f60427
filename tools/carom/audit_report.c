// audit_report.c - an audit as one page of HTML that needs nothing else.
//
// A motion: animation, the lines of the terminal, charts over time, moments beyond a limit. A problem: the lines of the
// terminal, impulses and velocities row by row. Fails: file, memory; a page that is not whole is not left behind.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auditing.h"
#include "fitting.h"
#include "numbers.h"
#include "plot/page.h"

#define MOST_MOMENTS 50  // rows of the table
#define MOST_ROWS    20000

static void begin_lines(FILE* file) { fputs("<div class=\"wide\"><table class=\"lines\"><tbody>\n", file); }

static void end_lines(FILE* file) { fputs("</tbody></table></div>\n", file); }

// sentences, not columns of numbers
static void put_style(FILE* file) {
    fputs("<style>.lines td{text-align:left;white-space:normal;overflow-wrap:anywhere;vertical-align:top}"
          ".lines th{vertical-align:top;min-width:6rem}.lines td:nth-child(2){min-width:5.5rem}</style>\n",
          file);
}

// motion

static void put_name(FILE* file, const crModel* model, int body) {
    cr_sheet_escape(file, body < 0 ? "" : body == CR_WORLD ? "world" : model->bodies[body].name);
}

// what of a record is beyond its limit; floors of single records are not known, so some may be rounding
static bool beyond_overlap(const crMotionReport* r, const crMotionStep* s) {
    return s->overlap > r->limits.overlap;
}
static bool beyond_speed(const crMotionReport* r, const crMotionStep* s) {
    return s->momentum > r->limits.speed;
}
static bool beyond_energy(const crMotionReport* r, const crMotionStep* s) {
    return s->gain > r->limits.energy * r->energy_scale;
}
static bool is_moment(const crMotionReport* r, const crMotionStep* s) {
    return beyond_overlap(r, s) || beyond_speed(r, s) || beyond_energy(r, s) || s->crossings > 0;
}

static void put_cell(FILE* file, double value, bool bad) {
    if (isnan(value)) {
        fputs("<td></td>", file);
    } else {
        fprintf(file, "<td%s>%.3e</td>", bad ? " class=\"bad\"" : "", value);
    }
}

static void put_moment(const AuditedMotion* m, FILE* file, const crMotionStep* s) {
    const crMotionReport* r = m->report;
    fprintf(file, "<tr><td>%.6g</td>", s->time);
    put_cell(file, s->overlap, beyond_overlap(r, s));
    fputs("<td>", file);
    put_name(file, m->model, s->overlap_a);
    if (s->overlap_b >= 0) fputs(", ", file);
    put_name(file, m->model, s->overlap_b);
    fprintf(file, "</td><td%s>%d</td>", s->crossings > 0 ? " class=\"bad\"" : "", s->crossings);
    put_cell(file, s->gain, beyond_energy(r, s));
    put_cell(file, s->momentum, beyond_speed(r, s));
    fputs("</tr>\n", file);
}

static void put_moments(const AuditedMotion* m, FILE* file) {
    size_t count = 0;
    for (size_t i = 0; i < m->file->data.count; i++) {
        count += is_moment(m->report, &m->steps[i]);
    }
    fputs("<section aria-labelledby=\"moments\">\n<h2 id=\"moments\">Moments beyond a limit</h2>\n", file);
    if (count == 0) {
        fputs("<p>None.</p>\n</section>\n", file);
        return;
    }
    fprintf(file, "<p>%zu of %zu records%s.</p>\n", count, m->file->data.count,
            count > MOST_MOMENTS ? ", the first of them" : "");
    fputs(
        "<div class=\"wide long\"><table>\n<thead><tr><th>time [s]</th><th>overlap [m]</th><th>of</th>"
        "<th>crossings</th><th>energy gained [J]</th><th>speed in flight [m/s]</th></tr></thead>\n<tbody>\n",
        file);
    size_t shown = 0;
    for (size_t i = 0; i < m->file->data.count && shown < MOST_MOMENTS; i++) {
        if (!is_moment(m->report, &m->steps[i])) continue;
        put_moment(m, file, &m->steps[i]);
        shown++;
    }
    fputs("</tbody></table></div>\n</section>\n", file);
}

static crStatus draw_chart(const void* ctx, int index, crSheet* sheet, const double box[4]) {
    const crChart* charts = ctx;
    cr_chart_draw(sheet, box[0], box[1], box[2], box[3], &charts[index]);
    return CR_OK;
}

static crStatus put_charts(FILE* file, const crChart* charts, int count) {
    const char* names[MOTION_CHARTS];
    for (int i = 0; i < count; i++) {
        names[i] = charts[i].title;
    }
    return fitting_figures(file, names, count, draw_chart, charts);
}

static crStatus motion_section(FILE* file, const void* ctx) {
    const AuditedMotion* m = ctx;
    AuditLines lines = {.file = file, .page = true, .verdicts = true};
    MotionCharts charts;
    put_style(file);
    fputs("<section aria-labelledby=\"audit\">\n<h2 id=\"audit\">Audit</h2>\n<p>", file);
    head_motion(m, &lines);
    fputs("</p>\n", file);
    begin_lines(file);
    table_motion(m, &lines);
    end_lines(file);
    fputs("</section>\n", file);
    crStatus status = motion_charts_create(&charts, m->steps, m->file->data.count);
    if (status == CR_OK) {
        status = put_charts(file, charts.charts.charts, MOTION_CHARTS);
        motion_charts_destroy(&charts);
    }
    put_moments(m, file);
    return status;
}

// What is shown of a motion given by poses: the same bodies, each free that a joint moves. NULL: out of memory.
static crModel* pose_model(const crModel* from) {
    crModel* model = cr_model_create(NULL);
    for (int i = 1; i < from->nb && model != NULL; i++) {
        const crBody* body = &from->bodies[i];
        crBodyDef def = cr_body_def();
        def.name = body->name;
        def.joint = body->nq > 0 ? CR_JOINT_FREE : body->joint;
        def.parent = body->nq > 0 ? CR_WORLD : body->parent;
        def.pose = body->pose;
        def.axis = body->axis;
        def.mass = 1.0;
        def.com = body->com;
        def.inertia = (crSym3){.xx = 1.0, .yy = 1.0, .zz = 1.0};
        def.drive = body->drive;
        def.drive_ctx = body->drive_ctx;
        if (cr_model_add_body(model, &def) == i) continue;
        cr_model_destroy(model);
        model = NULL;
    }
    crMaterial material = cr_material();
    int plain = model != NULL ? cr_model_add_material(model, &material) : 0;
    for (int i = 0; i < from->shape_count && model != NULL; i++) {
        const crBodyShape* shape = &from->shapes[i];
        if (cr_model_add_shape(model, shape->body, &shape->shape, plain) == i) continue;
        cr_model_destroy(model);
        model = NULL;
    }
    if (model != NULL) model->gravity = from->gravity;
    return model;
}

// coordinates of the free bodies of a record
static void place(const crModel* model, const crMotionData* data, size_t record, double* q) {
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (body->nq == 0) continue;
        crPose pose = data->pose[record * (size_t)model->nb + (size_t)i];
        const double x[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
        memcpy(q + body->q, x, sizeof x);
    }
}

// a log of poses alone
static crStatus fill(crMotionLog* log, const crModel* model, const crMotionData* data) {
    crStatus status = cr_motion_create(log, model);
    double* work = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *work);
    if (work == NULL) status = CR_ERR_MEMORY;
    log->has_energy = log->has_certificate = log->has_events = false;
    for (size_t i = 0; i < data->count && status == CR_OK; i++) {
        crState state = {.time = data->time[i], .q = work, .v = work + model->nq};
        if (data->q != NULL) {
            memcpy(work, data->q + i * (size_t)model->nq, (size_t)model->nq * sizeof *work);
        } else {
            place(model, data, i, work);
        }
        status = cr_motion_add(log, &state, &(crRecord){0});
    }
    free(work);
    return status;
}

crStatus report_motion(const char* path, const AuditedMotion* m, crError* error) {
    const crMotionData* data = &m->file->data;
    crModel* own = data->q == NULL ? pose_model(m->model) : NULL;
    const crModel* model = data->q != NULL ? m->model : own;
    crMotionLog log = {0};
    crStatus status = model != NULL ? fill(&log, model, data) : CR_ERR_MEMORY;
    if (status != CR_OK) {
        cr_error_set(error, status, "report", "report: out of memory");
    } else {
        char title[200];
        snprintf(title, sizeof title, "Audit of %.180s", m->options->path);
        crPageRun run = {.label = m->options->path, .log = &log};
        status = cr_page_write_section(path, title, "", &run, motion_section, m, error);
    }
    cr_motion_destroy(&log);
    cr_model_destroy(own);
    return status;
}

// problem

typedef struct Rows {
    double* number;  // of each row
    crSeries series[3];
    crChart charts[2];
} Rows;

static bool make_rows(const AuditedProblem* m, Rows* rows) {
    const char* left_out = m->file->problem.rows > MOST_ROWS ? "the first rows" : NULL;
    size_t count = left_out != NULL ? MOST_ROWS : (size_t)m->file->problem.rows;
    const char* unit = m->file->problem.raw ? "w" : "m/s or rad/s";
    rows->number = malloc((count + 1) * sizeof *rows->number);
    if (rows->number == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        rows->number[i] = (double)i;
    }
    rows->series[0] = (crSeries){"as given", count, rows->number, m->p, 1, 0, 0, true};
    rows->series[1] = (crSeries){"neighbour", count, rows->number, m->neighbour, 1, 1, 0, true};
    rows->series[2] = (crSeries){NULL, count, rows->number, m->w, 1, 2, 0, true};
    double end = (double)count - 0.5;
    rows->charts[0] =
        (crChart){"Impulses",   "row",   m->file->problem.raw ? "z" : "N s or N m s", false, -0.5, end, 2,
                  rows->series, left_out};
    rows->charts[1] = (crChart){"Velocities with bias, of the neighbour",
                                "row",
                                unit,
                                false,
                                -0.5,
                                end,
                                1,
                                &rows->series[2],
                                left_out};
    return true;
}

crStatus report_problem(const char* path, const AuditedProblem* m, crError* error) {
    const crProblemFile* problem = m->file;
    Rows rows;
    char title[200];
    snprintf(title, sizeof title, "Audit of %.180s",
             problem->name[0] != '\0' ? problem->name : m->options->path);
    if (!make_rows(m, &rows)) return cr_error_set(error, CR_ERR_MEMORY, "report", "report: out of memory");
    FILE* file = fitting_page_open(path, title, error);
    crStatus status = CR_ERR_FILE;
    if (file != NULL) {
        put_style(file);
        fprintf(file, "<p>%s, %d %s, %d %s", problem->format, problem->problem.rows,
                noun(problem->problem.rows, "row", "rows"), problem->problem.block_count,
                noun(problem->problem.block_count, "block", "blocks"));
        if (m->options->impulses != NULL) fputs("; impulses of ", file);
        if (m->options->impulses != NULL) cr_sheet_escape(file, m->options->impulses);
        fputs("</p>\n", file);
        begin_lines(file);
        table_problem(m, &(AuditLines){.file = file, .page = true});
        end_lines(file);
        status = put_charts(file, rows.charts, 2);
        status = fitting_page_end(file, path, "carom audit", status, error);
    }
    free(rows.number);
    return status;
}
