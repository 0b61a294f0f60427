// motion.c - energy and positions of bodies over time as one picture.
//
// One panel for kinetic, potential and total energy and one for each of x, y, z that some body changes by
// more than a thousandth of the largest change; all share the axis of time. At most 2000 rows are drawn.
// Fails: memory, file.
#include "plot/motion.h"

#include <stdlib.h>
#include <string.h>

#include "plot/gnuplot.h"

#define MOST_ROWS 2000
#define WIDTH     900
#define ENERGY    260  // height of the panel of energy
#define PANEL     220

static const char* const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
enum { COLORS = sizeof colors / sizeof colors[0] };

static size_t columns_of(const crMotionLog* log) { return 3 + 3 * (size_t)log->body_count; }

void cr_motion_create(crMotionLog* log, const crModel* model) {
    *log = (crMotionLog){.model = model};
    for (int i = 1; i < model->nb && log->body_count < CR_MOTION_BODIES; i++) {
        bool moves = model->bodies[i].last >= 0 || model->bodies[i].base != CR_WORLD;
        if (moves) log->bodies[log->body_count++] = i;
    }
}

void cr_motion_destroy(crMotionLog* log) {
    free(log->rows);
    *log = (crMotionLog){0};
}

crStatus cr_motion_add(crMotionLog* log, double time, crEnergy energy, crWorld* world) {
    if (log->count == log->capacity) {
        size_t capacity = log->capacity > 0 ? 2 * log->capacity : 256;
        double* rows = realloc(log->rows, capacity * columns_of(log) * sizeof(double));
        if (rows == NULL) return CR_ERR_MEMORY;
        log->rows = rows;
        log->capacity = capacity;
    }
    double* row = log->rows + log->count++ * columns_of(log);
    row[0] = time;
    row[1] = energy.kinetic;
    row[2] = energy.potential;
    for (int i = 0; i < log->body_count; i++) {
        crVec3 at =
            cr_pose_point(cr_world_pose(world, log->bodies[i]), log->model->bodies[log->bodies[i]].com);
        row[3 + 3 * i] = at.x;
        row[4 + 3 * i] = at.y;
        row[5 + 3 * i] = at.z;
    }
    return CR_OK;
}

static double spread(const crMotionLog* log, size_t column) {
    double lo = INFINITY;
    double hi = -INFINITY;
    for (size_t i = 0; i < log->count; i++) {
        double x = log->rows[i * columns_of(log) + column];
        lo = fmin(lo, x);
        hi = fmax(hi, x);
    }
    return hi - lo;
}

// which of x, y, z are worth a panel
static int choose_axes(const crMotionLog* log, bool shown[3]) {
    double most[3] = {0};
    double largest = 0.0;
    for (size_t c = 3; c < columns_of(log); c++) {
        double s = spread(log, c);
        most[c % 3] = fmax(most[c % 3], s);
        largest = fmax(largest, s);
    }
    int count = 0;
    for (int i = 0; i < 3; i++) {
        shown[i] = most[i] > 1e-3 * largest && most[i] > 0.0;
        count += shown[i];
    }
    return count;
}

static void write_data(FILE* script, const crMotionLog* log) {
    size_t every = log->count / MOST_ROWS + 1;
    fputs("$data << EOD\n", script);
    for (size_t i = 0; i < log->count; i++) {
        if (i % every != 0 && i + 1 != log->count) continue;
        const double* row = log->rows + i * columns_of(log);
        for (size_t c = 0; c < columns_of(log); c++) {
            fprintf(script, "%.10g ", row[c]);
        }
        fprintf(script, "%.10g\n", row[1] + row[2]);
    }
    fputs("EOD\n", script);
}

static void plot_energy(FILE* script, const crMotionLog* log, double top, double bottom) {
    fprintf(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\nset ylabel 'energy [J]'\n", top,
            bottom);
    fprintf(script,
            "plot $data using 1:2 with lines lw 1.5 lc rgb '%s' title 'kinetic', "
            "$data using 1:3 with lines lw 1.5 lc rgb '%s' title 'potential', "
            "$data using 1:%zu with lines lw 1.5 dt 2 lc rgb '#000000' title 'total'\n",
            colors[0], colors[1], columns_of(log) + 1);
    fputs("unset title\n", script);
}

static void plot_axis(FILE* script, const crMotionLog* log, int axis, double top, double bottom) {
    fprintf(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\nset ylabel '%c [m]'\nplot ", top,
            bottom, "xyz"[axis]);
    for (int i = 0; i < log->body_count; i++) {
        fprintf(script, "%s$data using 1:%d with lines lw 1.5 dt %d lc rgb '%s' title ", i > 0 ? ", " : "",
                4 + 3 * i + axis, 1 + i / COLORS, colors[i % COLORS]);
        cr_gnuplot_quote(script, log->model->bodies[log->bodies[i]].name);
        fputs(" noenhanced", script);
    }
    fputc('\n', script);
}

crStatus cr_motion_plot(const crMotionLog* log, const char* path, const char* title, crError* error) {
    bool shown[3] = {false};
    int axes = choose_axes(log, shown);
    double height = ENERGY + PANEL * axes + 60.0;
    crGnuplot g;
    crStatus status = cr_gnuplot_begin(&g, path, WIDTH, (int)height, 1.0, error);
    if (status != CR_OK) return status;
    write_data(g.script, log);
    fputs("set multiplot\nset grid lc rgb '#dddddd' lt 1 lw 0.5\nset key outside right top\n"
          "set lmargin at screen 0.1\nset rmargin at screen 0.82\nset border 3\nset tics nomirror\n",
          g.script);
    fputs("set title ", g.script);
    cr_gnuplot_quote(g.script, title);
    fputs(" noenhanced\n", g.script);
    double top = 1.0 - 30.0 / height;
    double end = log->count > 0 ? log->rows[(log->count - 1) * columns_of(log)] : 1.0;
    fprintf(g.script, "set xrange [0:%.10g]\n", end > 0.0 ? end : 1.0);
    if (axes == 0) fputs("set xlabel 'time [s]'\n", g.script);
    plot_energy(g.script, log, top, top - (ENERGY - 40.0) / height);
    top -= ENERGY / height;
    for (int axis = 0, left = axes; axis < 3; axis++) {
        if (!shown[axis]) continue;
        if (--left == 0) fputs("set xlabel 'time [s]'\n", g.script);
        plot_axis(g.script, log, axis, top, top - (PANEL - 30.0) / height);
        top -= PANEL / height;
    }
    fputs("unset multiplot\n", g.script);
    return cr_gnuplot_end(&g, error);
}
