// audit_motion_print.c - the audit of a motion for people, as JSON, as CSV by record, and as a picture.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auditing.h"
#include "command.h"
#include "io/json.h"
#include "numbers.h"

// for people

static void put_body(const AuditLines* lines, const crModel* model, int body) {
    lines_name(lines, body == CR_WORLD ? "the world" : model->bodies[body].name);
}

static void put_place(const AuditLines* lines, const crModel* model, const crMotionWorst* w) {
    if (w->body_a < 0 && w->body_b < 0) return;
    fprintf(lines->file, " at %.6g s, ", w->time);
    if (w->body_a >= 0) put_body(lines, model, w->body_a);
    if (w->body_b >= 0) fputs(" and ", lines->file);
    if (w->body_b >= 0) put_body(lines, model, w->body_b);
}

static void put_label(const AuditLines* lines, const char* label, crTruth truth) {
    lines_begin(lines, label, &truth);
}

static void put_figure(const AuditLines* lines, const crModel* model, const char* what,
                       const crMotionWorst* w, const char* unit) {
    fprintf(lines->file, "%s %.3e %s", what, w->value, unit);
    if (w->floor > 0.0) fprintf(lines->file, " (+- %.1e)", w->floor);
    put_place(lines, model, w);
}

static void put_energy(const AuditLines* lines, const crModel* model, const crMotionReport* r) {
    FILE* file = lines->file;
    put_label(lines, "energy kept", cr_motion_no_gain(r));
    if (isnan(r->gain)) {
        fputs(r->energy_unknown > 0 && r->velocities
                  ? "driven bodies, motors or forces do work that is not known"
                  : "no interval in which it is known",
              file);
    } else {
        fprintf(file, "gained without work %.3e J, between %.1e and %.1e; allowed %.1e J", r->gain,
                r->gain_least, r->gain_most, r->limits.energy * r->energy_scale);
    }
    if (r->gained.value > 0.0) {
        lines_more(lines);
        put_figure(lines, model, "most in one interval", &r->gained, "J");
    }
    if (!isnan(r->energy_start)) {
        lines_more(lines);
        fprintf(file, "T + U %.6g J first, %.6g J last", r->energy_start, r->energy_end);
    }
    if (r->energy_unknown > 0) {
        lines_more(lines);
        fprintf(file, "not known in %zu of %zu intervals", r->energy_unknown, r->records - 1);
    }
    lines_end(lines);
}

static void put_flight(const AuditLines* lines, const crModel* model, const crMotionReport* r) {
    FILE* file = lines->file;
    put_label(lines, "flight", cr_motion_flies(r));
    if (isnan(r->momentum.value)) {
        fputs("nothing was in flight between two records", file);
        lines_end(lines);
        return;
    }
    put_figure(lines, model, "change of speed beside gravity", &r->momentum, "m/s");
    fprintf(file, "; allowed %.1e", r->limits.speed);
    if (!isnan(r->spin.value)) {
        lines_more(lines);
        put_figure(lines, model, "of spin", &r->spin, "rad/s");
    }
    if (!isnan(r->path.value)) {
        lines_more(lines);
        put_figure(lines, model, "positions against velocities", &r->path, "m");
    }
    lines_more(lines);
    fprintf(file, "%zu %s, %zu %s of speed without a contact", r->flights,
            noun((long)(r->flights), "flight", "flights"), r->jumps, noun((long)(r->jumps), "jump", "jumps"));
    if (r->flights_unknown > 0) fprintf(file, ", %zu with drag not judged", r->flights_unknown);
    lines_end(lines);
}

void table_motion(const AuditedMotion* audited, const AuditLines* lines) {
    const crMotionReport* r = audited->report;
    const crModel* model = audited->model;
    FILE* file = lines->file;
    crTruth all = cr_motion_holds(r);
    put_label(lines, "all", all);
    fputs(all == CR_TRUTH_YES  ? "kept: nothing below is beyond its limit"
          : all == CR_TRUTH_NO ? "not kept"
                               : "some figures leave it open",
          file);
    lines_end(lines);
    put_label(lines, "no overlap", cr_motion_no_overlap(r));
    put_figure(lines, model, "deepest", &r->overlap, "m");
    fprintf(file, "; allowed %.1e m, more in %zu of %zu records", r->limits.overlap, r->overlaps, r->records);
    lines_end(lines);
    put_label(lines, "no crossing", cr_motion_no_crossing(r));
    fprintf(file, "%zu %s passed through each other, of %zu cannot tell", r->crossings,
            noun((long)(r->crossings), "pair", "pairs"), r->crossings_unsure);
    if (r->crossings > 0) {
        fputs("; first", file);
        put_place(lines, model, &r->crossing);
    }
    lines_end(lines);
    put_energy(lines, model, r);
    put_flight(lines, model, r);
    if (r->escaped.value > 0.0) {
        put_label(lines, "in bounds", CR_TRUTH_NO);
        put_figure(lines, model, "farthest", &r->escaped, "m");
        lines_end(lines);
    }
}

void head_motion(const AuditedMotion* audited, const AuditLines* lines) {
    const crMotionReport* r = audited->report;
    lines_name(lines, audited->options->path);
    fprintf(lines->file, ": %zu %s from %.6g s to %.6g s, %d %s, %s", r->records,
            noun((long)(r->records), "record", "records"), r->start, r->end, audited->model->nb - 1,
            noun(audited->model->nb - 1, "body", "bodies"),
            r->velocities ? "velocities given" : "velocities from differences");
    if (audited->file->missing[0] == '\0') return;
    lines_more(&(AuditLines){.file = lines->file, .page = lines->page});
    fputs("column ", lines->file);
    lines_name(lines, audited->file->missing);
    fputs(" is missing", lines->file);
}

// JSON

static void member(FILE* file, const char* name, double value) {
    fprintf(file, ",\"%s\":", name);
    cr_json_write_number(file, value);
}

static void json_name(FILE* file, const char* key, const crModel* model, int body) {
    fprintf(file, ",\"%s\":", key);
    if (body < 0) {
        fputs("null", file);
    } else {
        cr_json_write_string(file, body == CR_WORLD ? "world" : model->bodies[body].name);
    }
}

static void json_worst(FILE* file, const crModel* model, const char* name, const crMotionWorst* w) {
    fprintf(file, ",\"%s\":{\"value\":", name);
    cr_json_write_number(file, w->value);
    member(file, "floor", w->floor);
    member(file, "time", w->body_a >= 0 || w->body_b >= 0 ? w->time : (double)NAN);
    json_name(file, "a", model, w->body_a);
    json_name(file, "b", model, w->body_b);
    putc('}', file);
}

static void json_truth(FILE* file, const char* name, crTruth truth) {
    fprintf(file, ",\"%s\":\"%s\"", name, cr_truth_name(truth));
}

void json_motion(FILE* file, const AuditOptions* o, const crModel* model, const crMotionReport* r,
                 const crMotionDigits* d) {
    fputs("{\"trajectory\":", file);
    cr_json_write_string(file, o->path);
    fprintf(file, ",\"records\":%zu", r->records);
    member(file, "start", r->start);
    member(file, "end", r->end);
    fprintf(file, ",\"velocities\":%s", r->velocities ? "true" : "false");
    json_truth(file, "holds", cr_motion_holds(r));
    json_truth(file, "no_overlap", cr_motion_no_overlap(r));
    json_truth(file, "no_crossing", cr_motion_no_crossing(r));
    json_truth(file, "no_gain", cr_motion_no_gain(r));
    json_truth(file, "flies", cr_motion_flies(r));
    json_worst(file, model, "overlap", &r->overlap);
    fprintf(file, ",\"overlaps\":%zu,\"crossings\":%zu,\"crossings_unsure\":%zu", r->overlaps, r->crossings,
            r->crossings_unsure);
    json_worst(file, model, "crossing", &r->crossing);
    fputs(",\"energy\":{\"start\":", file);
    cr_json_write_number(file, r->energy_start);
    member(file, "end", r->energy_end);
    member(file, "scale", r->energy_scale);
    member(file, "gain", r->gain);
    member(file, "gain_least", r->gain_least);
    member(file, "gain_most", r->gain_most);
    fprintf(file, ",\"known\":%zu,\"unknown\":%zu", r->energy_known, r->energy_unknown);
    json_worst(file, model, "worst", &r->gained);
    putc('}', file);
    json_worst(file, model, "momentum", &r->momentum);
    json_worst(file, model, "spin", &r->spin);
    json_worst(file, model, "path", &r->path);
    fprintf(file, ",\"flights\":%zu,\"flights_unknown\":%zu,\"jumps\":%zu", r->flights, r->flights_unknown,
            r->jumps);
    json_worst(file, model, "escaped", &r->escaped);
    fputs(",\"limits\":{\"overlap\":", file);
    cr_json_write_number(file, r->limits.overlap);
    member(file, "energy", r->limits.energy);
    member(file, "speed", r->limits.speed);
    fputs("},\"digits\":{\"time\":", file);
    cr_json_write_number(file, d->time);
    member(file, "position", d->position);
    member(file, "rotation", d->rotation);
    member(file, "velocity", d->velocity);
    member(file, "omega", d->omega);
    fputs("}}\n", file);
}

// CSV by record

static void put_cell(FILE* file, double value) {
    putc(',', file);
    if (!isnan(value)) cr_json_write_number(file, value);
}

crStatus csv_motion(const char* path, const crModel* model, const crMotionStep* steps, size_t count,
                    crError* error) {
    FILE* file = fopen(path, "w");
    if (file == NULL)
        return cr_error_set(error, CR_ERR_FILE, "per-step", "per-step: %.120s: %s", path, strerror(errno));
    fputs("t,overlap,overlap_a,overlap_b,crossings,crossings_unsure,energy,gain,momentum,spin\n", file);
    for (size_t i = 0; i < count; i++) {
        const crMotionStep* s = &steps[i];
        cr_json_write_number(file, s->time);
        put_cell(file, s->overlap);
        for (int k = 0; k < 2; k++) {
            int body = k == 0 ? s->overlap_a : s->overlap_b;
            fprintf(file, ",%s", body < 0 ? "" : body == CR_WORLD ? "world" : model->bodies[body].name);
        }
        fprintf(file, ",%d,%d", s->crossings, s->crossings_unsure);
        put_cell(file, s->energy);
        put_cell(file, s->gain);
        put_cell(file, s->momentum);
        put_cell(file, s->spin);
        putc('\n', file);
    }
    bool bad = ferror(file) != 0;
    bad = fclose(file) != 0 || bad;
    return bad ? cr_error_set(error, CR_ERR_FILE, "per-step", "per-step: %.120s cannot be written: %s", path,
                              strerror(errno))
               : CR_OK;
}

// picture

enum { TIME, OVERLAP, ENERGY, GAINED, MOMENTUM, LINES };

crStatus motion_charts_create(MotionCharts* c, const crMotionStep* steps, size_t count) {
    static const struct {
        const char *title, *unit;
    } about[MOTION_CHARTS] = {{"Deepest overlap", "m"},
                              {"Energy T + U", "J"},
                              {"Energy gained without work, so far", "J"},
                              {"Change of speed in flight beside gravity", "m/s"}};
    *c = (MotionCharts){.y = malloc(LINES * count * sizeof *c->y)};
    if (c->y == NULL) return CR_ERR_MEMORY;
    double gained = 0.0, t0 = steps[0].time, t1 = steps[count - 1].time;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(steps[i].gain)) gained += steps[i].gain;
        c->y[TIME * count + i] = steps[i].time;
        c->y[OVERLAP * count + i] = steps[i].overlap;
        c->y[ENERGY * count + i] = steps[i].energy;
        c->y[GAINED * count + i] = gained;
        c->y[MOMENTUM * count + i] = steps[i].momentum;
    }
    c->charts.count = MOTION_CHARTS;
    for (int k = 0; k < MOTION_CHARTS; k++) {
        c->series[k] = (crSeries){NULL, count, c->y, c->y + (size_t)(k + 1) * count, 1, k, 0, false};
        c->charts.charts[k] =
            (crChart){about[k].title, "time, s", about[k].unit, false, t0, t1, 1, &c->series[k], NULL};
    }
    return CR_OK;
}

void motion_charts_destroy(MotionCharts* c) { free(c->y); }

crStatus plot_motion(const char* path, const char* title, const crMotionStep* steps, size_t count,
                     crError* error) {
    MotionCharts charts;
    if (motion_charts_create(&charts, steps, count) != CR_OK)
        return cr_error_set(error, CR_ERR_MEMORY, "plot", "plot: out of memory");
    crStatus status = cr_charts_save(&charts.charts, path, title, error);
    motion_charts_destroy(&charts);
    return status;
}
