// compare.c - the picture of carom compare: a colour per run, a dash per body.
//
// Panels: total energy over time, each of x, y, z that some body changes by more than a thousandth of the
// largest change, and the speeds of the bodies at the end. Fails: memory, file.
#include "plot/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/gnuplot.h"

#define WIDTH 940
#define PANEL 230

static const char* const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#e69f00", "#56b4e9", "#7a5230", "#5b5b5b"};
enum { COLORS = sizeof colors / sizeof colors[0] };

static size_t columns_of(const crTrack* t) { return 2 + 3 * (size_t)t->body_count; }

void cr_track_body(crTrack* track, int body) {
    if (track->body_count < CR_TRACK_BODIES) track->bodies[track->body_count++] = body;
}

void cr_track_free(crTrack* track) {
    free(track->rows);
    *track = (crTrack){0};
}

// every second row goes
static void thin(crTrack* t) {
    size_t columns = columns_of(t);
    for (int i = 0; 2 * i < t->count; i++) {
        memmove(t->rows + (size_t)i * columns, t->rows + (size_t)(2 * i) * columns, columns * sizeof(double));
    }
    t->count = (t->count + 1) / 2;
    t->stride *= 2;
}

crStatus cr_track_add(crTrack* t, crWorld* world) {
    size_t columns = columns_of(t);
    if (t->rows == NULL) {
        t->rows = malloc(CR_TRACK_ROWS * columns * sizeof(double));
        t->stride = 1;
        if (t->rows == NULL) return CR_ERR_MEMORY;
    }
    crEnergy energy = cr_world_energy(world);
    t->last[0] = cr_world_state(world)->time;
    t->last[1] = energy.kinetic + energy.potential;
    const crDynamics* d = &cr_world_stages(world)->dynamics;
    for (int i = 0; i < t->body_count; i++) {
        int body = t->bodies[i];
        crVec3 at = d->com[body];
        t->last[2 + 3 * i] = at.x;
        t->last[3 + 3 * i] = at.y;
        t->last[4 + 3 * i] = at.z;
        t->speed[i] = cr_norm(cr_model_point_velocity(d, body, at));
    }
    if (t->seen++ % t->stride != 0) return CR_OK;
    if (t->count == CR_TRACK_ROWS) thin(t);
    memcpy(t->rows + (size_t)t->count++ * columns, t->last, columns * sizeof(double));
    return CR_OK;
}

static double spread(const crTrack* t, size_t column) {
    double lo = t->last[column];
    double hi = lo;
    for (int i = 0; i < t->count; i++) {
        double x = t->rows[(size_t)i * columns_of(t) + column];
        lo = fmin(lo, x);
        hi = fmax(hi, x);
    }
    return hi - lo;
}

// which of x, y, z are worth a panel
static int choose_axes(const crTrackLabel* tracks, int count, bool shown[3]) {
    double most[3] = {0};
    double largest = 0.0;
    for (int i = 0; i < count; i++) {
        for (size_t c = 2; c < columns_of(tracks[i].track); c++) {
            double s = spread(tracks[i].track, c);
            most[(c - 2) % 3] = fmax(most[(c - 2) % 3], s);
            largest = fmax(largest, s);
        }
    }
    int axes = 0;
    for (int i = 0; i < 3; i++) {
        shown[i] = most[i] > 1e-3 * largest && most[i] > 0.0;
        axes += shown[i];
    }
    return axes;
}

static void write_row(FILE* script, const double* row, size_t columns) {
    for (size_t c = 0; c < columns; c++) {
        fprintf(script, "%.10g ", row[c]);
    }
    putc('\n', script);
}

// a block of numbers per track, and one of the speeds: a line per body, a column per track
static void write_data(FILE* script, const crTrackLabel* tracks, int count, const crModel* model) {
    for (int i = 0; i < count; i++) {
        const crTrack* t = tracks[i].track;
        fprintf(script, "$track%d << EOD\n", i);
        for (int r = 0; r < t->count; r++) {
            write_row(script, t->rows + (size_t)r * columns_of(t), columns_of(t));
        }
        write_row(script, t->last, columns_of(t));
        fputs("EOD\n", script);
    }
    fputs("$speed << EOD\n", script);
    for (int b = 0; b < tracks[0].track->body_count; b++) {
        for (int i = 0; i < count; i++) {
            fprintf(script, "%.10g ", tracks[i].track->speed[b]);
        }
        putc('\n', script);
    }
    fputs("EOD\n", script);
    fputs("unset xtics\n", script);
    for (int b = 0; b < tracks[0].track->body_count; b++) {
        fprintf(script, "name%d = ", b);
        cr_gnuplot_quote(script, model->bodies[tracks[0].track->bodies[b]].name);
        putc('\n', script);
    }
}

static void begin_panel(FILE* script, double top, double bottom, const char* label) {
    fprintf(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\nset ylabel '%s'\n", top, bottom,
            label);
}

// column `column` of every track over time; label: the run's name in the legend
static void plot_lines(FILE* script, const crTrackLabel* tracks, int count, size_t column, size_t step,
                       int bodies, bool label) {
    fputs("plot ", script);
    for (int i = 0; i < count; i++) {
        for (int b = 0; b < bodies; b++) {
            fprintf(script, "%s$track%d using 1:%zu with lines lw 1.5 dt %d lc rgb '%s' ",
                    i + b > 0 ? ", " : "", i, column + step * (size_t)b, 1 + b, colors[i % COLORS]);
            if (!label && i > 0) {
                fputs("notitle", script);
            } else if (label) {
                fputs("title ", script);
                cr_gnuplot_quote(script, tracks[i].label);
                fputs(" noenhanced", script);
            } else {
                fprintf(script, "title name%d noenhanced", b);
            }
        }
    }
    putc('\n', script);
}

static void plot_speeds(FILE* script, const crTrackLabel* tracks, int count) {
    int bodies = tracks[0].track->body_count;
    fprintf(script, "unset xlabel\nset xrange [-0.6:%.1f]\nset yrange [0:*]\nset xtics (", bodies - 0.4);
    for (int b = 0; b < bodies; b++) {
        fprintf(script, "%sname%d %d", b > 0 ? ", " : "", b, b);
    }
    fputs(") noenhanced\nset boxwidth 0.9 relative\nset style fill solid 0.9\nplot ", script);
    for (int i = 0; i < count; i++) {
        // side by side within 0.8 around the body's tic
        double width = 0.8 / count;
        fprintf(script, "%s$speed using ($0+%.6f):%d:(%.6f) with boxes lc rgb '%s' title ", i > 0 ? ", " : "",
                (i + 0.5) * width - 0.4, i + 1, 0.9 * width, colors[i % COLORS]);
        cr_gnuplot_quote(script, tracks[i].label);
        fputs(" noenhanced", script);
    }
    putc('\n', script);
}

static double last_time(const crTrackLabel* tracks, int count) {
    double end = 0.0;
    for (int i = 0; i < count; i++) {
        end = fmax(end, tracks[i].track->last[0]);
    }
    return end > 0.0 ? end : 1.0;
}

crStatus cr_compare_plot(const crTrackLabel* tracks, int count, const crModel* model, const char* path,
                         const char* title, crError* error) {
    bool shown[3] = {false};
    int bodies = tracks[0].track->body_count;
    int panels = 1 + choose_axes(tracks, count, shown) + (bodies > 0);
    double height = PANEL * panels + 70.0;
    crGnuplot g;
    crStatus status = cr_gnuplot_begin(&g, path, WIDTH, (int)height, 1.0, error);
    if (status != CR_OK) return status;
    write_data(g.script, tracks, count, model);
    fputs(
        "set multiplot\nset xtics\nset grid lc rgb '#dddddd' lt 1 lw 0.5\nset key outside right top\n"
        "set lmargin at screen 0.1\nset rmargin at screen 0.78\nset border 3\nset tics nomirror\nset title ",
        g.script);
    cr_gnuplot_quote(g.script, title);
    fprintf(g.script, " noenhanced\nset xlabel 'time [s]'\nset xrange [0:%.10g]\n", last_time(tracks, count));
    double top = 1.0 - 30.0 / height;
    double share = (PANEL - 55.0) / height;
    begin_panel(g.script, top, top - share, "energy [J]");
    plot_lines(g.script, tracks, count, 2, 0, 1, true);
    fputs("unset title\n", g.script);
    for (int axis = 0; axis < 3; axis++) {
        if (!shown[axis]) continue;
        top -= PANEL / height;
        begin_panel(g.script, top, top - share, (const char*[]){"x [m]", "y [m]", "z [m]"}[axis]);
        plot_lines(g.script, tracks, count, (size_t)(3 + axis), 3, bodies, false);
    }
    if (bodies > 0) {
        top -= PANEL / height;
        begin_panel(g.script, top, top - share, "speed at the end [m/s]");
        plot_speeds(g.script, tracks, count);
    }
    fputs("unset multiplot\n", g.script);
    return cr_gnuplot_end(&g, error);
}
