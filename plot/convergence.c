// convergence.c - the picture of carom converge: errors of velocity and position over dt, and a line of
// order one through the coarsest to compare with.
//
// Fails: memory, file.
#include "plot/convergence.h"

#include <math.h>

#include "plot/gnuplot.h"

#define WIDTH  700
#define HEIGHT 480

static bool has_errors(const crConvergence* c) {
    for (int i = 0; i < c->count; i++) {
        if (c->velocity[i] > 0.0 || c->position[i] > 0.0) return true;
    }
    return false;
}

crStatus cr_convergence_plot(const crConvergence* c, const char* path, crError* error) {
    crGnuplot g;
    crStatus status = cr_gnuplot_begin(&g, path, WIDTH, HEIGHT, 1.0, error);
    if (status != CR_OK) return status;
    fputs("$data << EOD\n", g.script);
    for (int i = 0; i < c->count; i++) {
        fprintf(g.script, "%.10g %.10g %.10g\n", c->dt[i],
                c->velocity[i] > 0.0 ? c->velocity[i] : (double)NAN,
                c->position[i] > 0.0 ? c->position[i] : (double)NAN);
    }
    fputs("EOD\nset border 3\nset tics nomirror\nset grid lc rgb '#dddddd' lt 1 lw 0.5\nset key left top\n"
          "set xlabel 'dt [s]'\nset ylabel 'error against the reference'\nset title ",
          g.script);
    cr_gnuplot_quote(g.script, c->title);
    fputs(" noenhanced\n", g.script);
    // no logarithm of nothing
    if (has_errors(c)) {
        fputs("set logscale xy\nset format '10^{%T}'\n", g.script);
        double scale = c->position[0] > 0.0 ? c->position[0] / c->dt[0] : c->velocity[0] / c->dt[0];
        fprintf(g.script,
                "plot %.10g*x with lines dt 3 lc rgb '#888888' title 'order 1', "
                "$data using 1:2 with linespoints lw 1.5 pt 5 lc rgb '#0072b2' title 'velocity', "
                "$data using 1:3 with linespoints lw 1.5 pt 7 lc rgb '#d55e00' title 'position'\n",
                scale > 0.0 ? scale : 1.0);
    } else {
        fputs("set yrange [0:1]\nplot $data using 1:(0) with points pt 7 lc rgb '#d55e00' title 'no error'\n",
              g.script);
    }
    return cr_gnuplot_end(&g, error);
}
