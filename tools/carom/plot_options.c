// plot_options.c - options of carom plot, and which of them go together.
#include "plot_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "io/names.h"
#include "options.h"
#include "plot/animation.h"
#include "plot/gnuplot.h"
#include "stream.h"

static void print_help(void) {
    puts("usage: carom plot FILE... [options]\n"
         "\n"
         "Draws trajectories that carom run --out wrote (.h5, .csv). Several files are laid over each other, "
         "or\n"
         "stand side by side where bodies are drawn. Without --what: energy and positions.\n"
         "\n"
         "  --what KIND     over time: energy, positions, velocities, forces, certificate, events,\n"
         "                  sensors (controls and sensors)\n"
         "                  bodies with their shapes: strobe, plan, elevation, impulses, motion\n"
         "  --out FILE      .svg, .png or .pdf; .html for a report with an animation; default FILE.svg;\n"
         "                  motion: .svg that plays by itself, .gif, or .mp4 and .webm where ffmpeg is "
         "installed\n"
         "  --bodies A,B    only these\n"
         "  --from S        from this time on          --to S   up to this time\n"
         "  --times S,S     strobe, plan, elevation: when; default eight from first to last\n"
         "  --at S          impulses: those nearest to this time\n"
         "  --speed X       motion: of playing, default 1; 0.1 is ten times slower\n"
         "  --eye X,Y,Z     motion: in perspective, as on the page of carom view, seen from this direction;\n"
         "                  --eye page: from where the page looks\n"
         "  --look X,Y,Z    motion: the point in the middle     --follow BODY   a body stays in the middle\n"
         "  --zoom X        motion: 2 is twice as large         --dark          on dark paper; .svg is as "
         "the\n"
         "                                                      reader's screen is\n"
         "  --scene SCENE   shapes and masses for files that do not carry their scene (.csv)\n"
         "  --labels A,B    names of the files in the legend\n"
         "\n"
         "Exit status: 0 good, 1 bad file or nothing to draw, 2 wrong usage, 3 a file cannot be read or "
         "written.\n"
         "\n"
         "examples:\n"
         "  carom run scenes/pool-break.json --out break.h5 && carom plot break.h5 --what strobe --out "
         "break.svg\n"
         "  carom plot coarse.h5 fine.h5 --what energy --out energy.png\n"
         "  carom plot break.h5 --what impulses --at 0.09 --out impulses.svg\n"
         "  carom plot break.h5 --what motion --speed 0.2 --out break.gif\n"
         "  carom plot break.h5 --what motion --eye page --follow cue --zoom 2 --out break.mp4\n"
         "  carom plot newton.h5 poisson.h5 --out rules.html");
}

static const char* const what_names[] = {"energy",      "positions", "velocities", "forces",
                                         "certificate", "events",    "sensors",    "strobe",
                                         "plan",        "elevation", "impulses",   "motion"};

static const char* what_at(const void* ctx, int index) {
    (void)ctx;
    return index < PLOT_KINDS ? what_names[index] : NULL;
}

const char* plot_kind(int index) { return what_at(NULL, index); }

static int take_what(PlotOptions* o, const char* value) {
    for (int i = 0; i < PLOT_KINDS; i++) {
        if (strcmp(value, what_names[i]) == 0) {
            o->what = i;
            return EXIT_GOOD;
        }
    }
    const char* near = cr_name_nearest(value, what_at, NULL);
    return usage_error("plot", "--what: nothing is called '%s'%s%s%s", value,
                       near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
}

static int take_number(const char* name, const char* text, double* number) {
    char* end = NULL;
    *number = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*number)) return EXIT_GOOD;
    return usage_error("plot", "%s needs a number of seconds, is '%s'", name, text);
}

static int take_speed(PlotOptions* o, const char* text) {
    char* end = NULL;
    o->speed = strtod(text, &end);
    if (end != text && *end == '\0' && o->speed >= 1e-6 && o->speed <= 1e6) return EXIT_GOOD;
    return usage_error("plot", "--speed is '%s', must be 1e-6 to 1e6", text);
}

static int take_zoom(PlotOptions* o, const char* text) {
    char* end = NULL;
    o->view.zoom = strtod(text, &end);
    if (end != text && *end == '\0' && o->view.zoom >= 0.01 && o->view.zoom <= 1000.0) return EXIT_GOOD;
    return usage_error("plot", "--zoom is '%s', must be 0.01 to 1000", text);
}

static int take_vector(const char* name, const char* text, crVec3* out) {
    double x[3];
    char* end = (char*)text;
    for (int i = 0; i < 3; i++) {
        const char* from = end;
        x[i] = strtod(from, &end);
        bool good = end != from && isfinite(x[i]) && *end == (i < 2 ? ',' : '\0');
        if (!good)
            return usage_error("plot", "%s is '%s', must be three numbers: 1,-2,0.5%s", name, text,
                               strcmp(name, "--eye") == 0 ? ", or page" : "");
        end += i < 2;
    }
    *out = cr_vec3(x[0], x[1], x[2]);
    return EXIT_GOOD;
}

static int take_eye(PlotOptions* o, const char* text) {
    if (strcmp(text, "page") == 0) return EXIT_GOOD;
    o->view.has_eye = true;
    int status = take_vector("--eye", text, &o->view.eye);
    if (status != EXIT_GOOD || cr_norm(o->view.eye) > 0.0) return status;
    return usage_error("plot", "--eye is '%s', must be a direction: not all zeros", text);
}

// -1: no option of the camera
static int take_camera(PlotOptions* o, const char* name, char* value) {
    bool eye = strcmp(name, "--eye") == 0;
    bool look = strcmp(name, "--look") == 0;
    bool zoom = strcmp(name, "--zoom") == 0;
    if (!eye && !look && !zoom && strcmp(name, "--follow") != 0) return -1;
    if (value == NULL) return usage_error("plot", "%s needs a value", name);
    o->camera = name;
    o->view.given = true;
    if (eye) return take_eye(o, value);
    if (zoom) return take_zoom(o, value);
    if (!look) {
        o->view.follow = value;
        return EXIT_GOOD;
    }
    o->view.has_look = true;
    return take_vector(name, value, &o->view.look);
}

static int take_times(PlotOptions* o, char* text) {
    for (char* word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
        if (o->time_count == PLOT_TIMES) return usage_error("plot", "--times: at most %d", PLOT_TIMES);
        int status = take_number("--times", word, &o->times[o->time_count++]);
        if (status != EXIT_GOOD) return status;
    }
    return o->time_count > 0 ? EXIT_GOOD : usage_error("plot", "--times needs times: 0,0.1,0.2");
}

// -1: no such option
static int take_option(PlotOptions* o, const char* name, char* value) {
    static const char* const names[] = {"--what", "--out", "--scene", "--bodies", "--labels",
                                        "--from", "--to",  "--at",    "--times",  "--speed"};
    int camera = take_camera(o, name, value);
    if (camera >= 0) return camera;
    bool known = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        known = known || strcmp(name, names[i]) == 0;
    }
    if (!known) return -1;
    if (value == NULL) return usage_error("plot", "%s needs a value", name);
    if (strcmp(name, "--what") == 0) return take_what(o, value);
    if (strcmp(name, "--times") == 0) return take_times(o, value);
    if (strcmp(name, "--from") == 0) return take_number(name, value, &o->from);
    if (strcmp(name, "--to") == 0) return take_number(name, value, &o->to);
    if (strcmp(name, "--speed") == 0) return take_speed(o, value);
    o->has_at = o->has_at || strcmp(name, "--at") == 0;
    if (strcmp(name, "--at") == 0) return take_number(name, value, &o->at);
    if (strcmp(name, "--out") == 0) o->out = value;
    if (strcmp(name, "--scene") == 0) o->scene = value;
    if (strcmp(name, "--bodies") == 0) o->bodies = value;
    if (strcmp(name, "--labels") == 0) o->labels = value;
    return EXIT_GOOD;
}

bool plot_is_page(const char* path) { return ends_in(path, ".html") || ends_in(path, ".htm"); }

static int check_options(const PlotOptions* o) {
    if (o->file_count == 0) return usage_error("plot", "which trajectory?");
    crPictureFormat format;
    bool motion = o->what == PLOT_MOTION;
    if (o->out != NULL && motion && !cr_animation_is_format(o->out))
        return usage_error("plot", "--out: '%s' must end in .svg, .gif, .mp4 or .webm with --what motion",
                           o->out);
    if (o->out != NULL && !motion && cr_animation_is_format(o->out) && !ends_in(o->out, ".svg"))
        return usage_error("plot", "--out: '%s' is a moving picture; it goes with --what motion", o->out);
    if (o->out != NULL && !motion && !plot_is_page(o->out) &&
        cr_picture_format(o->out, &format, NULL) != CR_OK)
        return usage_error("plot", "--out: '%s' must end in .svg, .png, .pdf or .html", o->out);
    if (o->speed > 0.0 && !motion) return usage_error("plot", "--speed goes with --what motion");
    if (o->camera != NULL && !motion) return usage_error("plot", "%s goes with --what motion", o->camera);
    if (o->dark && !motion) return usage_error("plot", "--dark goes with --what motion");
    if (o->dark && (o->out == NULL || ends_in(o->out, ".svg")))
        return usage_error("plot",
                           "--dark goes with .gif, .mp4 and .webm; an .svg follows the reader's screen");
    if (o->view.follow != NULL && o->view.has_look)
        return usage_error("plot", "--follow and --look are two middles of the picture: one of them");
    if (o->out != NULL && plot_is_page(o->out) && (o->what >= 0 || o->bodies != NULL || o->time_count > 0))
        return usage_error("plot", "a report shows everything: no --what, --bodies, --times with .html");
    if (o->what == PLOT_IMPULSES && !o->has_at) return usage_error("plot", "--what impulses needs --at S");
    if (o->has_at && o->what != PLOT_IMPULSES) return usage_error("plot", "--at goes with --what impulses");
    if (o->time_count > 0 && (o->what < PLOT_STROBE || o->what >= PLOT_IMPULSES))
        return usage_error("plot", "--times goes with --what strobe, plan or elevation");
    if (!(o->from <= o->to)) return usage_error("plot", "--from %g is after --to %g", o->from, o->to);
    return -1;
}

int plot_read_options(PlotOptions* o, int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        if (asks_help(argument)) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--dark") == 0) {
            o->dark = true;
        } else if (argument[0] == '-' && argument[1] != '\0') {
            int status = take_option(o, argument, i + 1 < count ? arguments[i + 1] : NULL);
            if (status < 0) return unknown_option("plot", argument);
            if (status != EXIT_GOOD) return status;
            i++;
        } else if (o->file_count == CR_PAGE_RUNS) {
            return usage_error("plot", "at most %d files", CR_PAGE_RUNS);
        } else {
            o->files[o->file_count++] = argument;
        }
    }
    return check_options(o);
}
