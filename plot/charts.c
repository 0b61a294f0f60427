// charts.c - series of numbers from logs of motion: energy, positions, velocities, forces, certificates,
// events.
//
// Forces are m (v2 - v1) / (t2 - t1) - m g between two records: everything but gravity that acted on the
// body, joints included, impacts as their mean over the record. Fails: what a file does not hold is named.
#include "plot/charts.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SERIES (16 * CR_MOTION_BODIES)  // of one chart
#define FLAT        1e-3                     // share of the largest change below which an axis is not drawn

typedef struct Maker {
    crCharts* charts;
    const crPlotRun* runs;
    int run_count;
    int bodies[CR_MOTION_BODIES];  // of the first run
    int body_count;
    int moving;  // bodies of the first run that could be shown
} Maker;

static crStatus memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "plot", "plot: %s", cr_status_text(CR_ERR_MEMORY));
}

static crChart* new_chart(crCharts* c, const char* title, const char* y_label) {
    crSeries* series =
        c->count < CR_CHARTS_MOST ? cr_arena_alloc(&c->arena, MOST_SERIES * sizeof(crSeries)) : NULL;
    if (series == NULL) return NULL;
    crChart* chart = &c->charts[c->count++];
    *chart = (crChart){.title = title, .x_label = "time [s]", .y_label = y_label, .series = series};
    return chart;
}

static crSeries* new_series(crChart* chart) {
    if (chart->series_count == MOST_SERIES) return NULL;
    crSeries* s = (crSeries*)chart->series + chart->series_count;
    *s = (crSeries){.step = 1, .color = chart->series_count};
    chart->series_count++;
    return s;
}

// a column of the log itself
static void add_column(crChart* chart, const crMotionLog* log, int column, const char* label, int color,
                       int dash) {
    crSeries* s = new_series(chart);
    if (s == NULL) return;
    *s = (crSeries){label, log->count, log->rows, log->rows + column, log->columns, color, dash, false};
}

static crStatus add_energy(Maker* m, crError* error) {
    for (int i = 0; i < m->run_count; i++) {
        if (!m->runs[i].log->has_energy)
            return cr_error_set(error, CR_ERR_MISSING, "energy",
                                "energy: %.60s has none; --scene SCENE lets it be computed",
                                m->runs[i].label);
    }
    crChart* chart = new_chart(m->charts, m->run_count > 1 ? "total energy" : "energy", "energy [J]");
    if (chart == NULL) return memory(error);
    for (int i = 0; i < m->run_count; i++) {
        const crMotionLog* log = m->runs[i].log;
        double* total = cr_arena_alloc(&m->charts->arena, log->count * sizeof(double));
        double* time = cr_arena_alloc(&m->charts->arena, log->count * sizeof(double));
        if (total == NULL || time == NULL) return memory(error);
        for (size_t k = 0; k < log->count; k++) {
            const double* row = log->rows + k * log->columns;
            time[k] = row[CR_MOTION_TIME];
            total[k] = row[CR_MOTION_KINETIC] + row[CR_MOTION_POTENTIAL];
        }
        if (m->run_count == 1) {
            add_column(chart, log, CR_MOTION_KINETIC, "kinetic", 0, 0);
            add_column(chart, log, CR_MOTION_POTENTIAL, "potential", 1, 0);
        }
        crSeries* s = new_series(chart);
        if (s == NULL) break;
        const char* label = m->run_count > 1 ? m->runs[i].label : "total";
        *s = (crSeries){
            label, log->count, time, total, 1, m->run_count > 1 ? i : 2, m->run_count > 1 ? i % 3 : 1, false};
    }
    return CR_OK;
}

static crStatus add_certificate(Maker* m, crError* error) {
    static const struct {
        int column;
        const char* title;
        const char* label;
        bool logarithmic;
    } parts[] = {{CR_MOTION_RESIDUAL, "residual of the contact solves", "residual", true},
                 {CR_MOTION_PENETRATION, "deepest overlap", "overlap [m]", true},
                 {CR_MOTION_CONTACTS, "contacts", "contacts", false}};
    for (int i = 0; i < m->run_count; i++) {
        if (!m->runs[i].log->has_certificate)
            return cr_error_set(error, CR_ERR_MISSING, "certificate",
                                "certificate: %.60s has none; a trajectory in HDF5 (.h5) has",
                                m->runs[i].label);
    }
    for (int p = 0; p < 3; p++) {
        crChart* chart = new_chart(m->charts, parts[p].title, parts[p].label);
        if (chart == NULL) return memory(error);
        chart->logarithmic = parts[p].logarithmic;
        chart->x0 = m->runs[0].log->rows[0];
        chart->x1 = m->runs[0].log->rows[(m->runs[0].log->count - 1) * m->runs[0].log->columns];
        for (int i = 0; i < m->run_count; i++) {
            add_column(chart, m->runs[i].log, parts[p].column, m->run_count > 1 ? m->runs[i].label : NULL, i,
                       i % 3);
        }
    }
    return CR_OK;
}

static crStatus add_events(Maker* m, crError* error) {
    crChart* speeds = new_chart(m->charts, "approach speed of each event", "speed [m/s]");
    crChart* impulses =
        speeds != NULL ? new_chart(m->charts, "impulse of each event", "impulse [N s]") : NULL;
    if (impulses == NULL) return memory(error);
    for (int i = 0; i < m->run_count; i++) {
        const crMotionLog* log = m->runs[i].log;
        if (!log->has_events)
            return cr_error_set(error, CR_ERR_MISSING, "events",
                                "events: %.60s has none; a trajectory in HDF5 (.h5) has", m->runs[i].label);
        double* numbers = cr_arena_alloc(&m->charts->arena, (3 * log->event_count + 1) * sizeof(double));
        if (numbers == NULL) return memory(error);
        for (size_t k = 0; k < log->event_count; k++) {
            numbers[3 * k] = log->events[k].time;
            numbers[3 * k + 1] = log->events[k].approach;
            numbers[3 * k + 2] = cr_norm(log->events[k].impulse);
        }
        const char* label = m->run_count > 1 ? m->runs[i].label : NULL;
        crSeries* s = new_series(speeds);
        if (s != NULL) *s = (crSeries){label, log->event_count, numbers, numbers + 1, 3, i, 0, true};
        s = new_series(impulses);
        if (s != NULL) *s = (crSeries){label, log->event_count, numbers, numbers + 2, 3, i, 0, true};
        if (log->event_count < log->event_total) {
            char* note = cr_arena_alloc(&m->charts->arena, 64);
            if (note != NULL)
                snprintf(note, 64, "the first %zu of %zu events", log->event_count, log->event_total);
            speeds->note = impulses->note = note;
        }
        double end = log->rows[(log->count - 1) * log->columns];
        speeds->x0 = impulses->x0 = log->rows[0];
        speeds->x1 = impulses->x1 = fmax(end, impulses->x1);
    }
    return CR_OK;
}

static int body_in(const crMotionLog* log, const char* name) {
    for (int i = 0; i < log->body_count; i++) {
        if (strcmp(log->bodies[i].name, name) == 0) return i;
    }
    return -1;
}

// "TITLE, NAME" where one body is shown
static const char* title_of(Maker* m, const char* title) {
    if (m->body_count != 1) return title;
    const char* name = m->runs[0].log->bodies[m->bodies[0]].name;
    size_t size = strlen(title) + strlen(name) + 3;
    char* text = cr_arena_alloc(&m->charts->arena, size);
    if (text != NULL) snprintf(text, size, "%s, %s", title, name);
    return text != NULL ? text : title;
}

// "12 of 16 bodies" where some are left out
static const char* note_of(Maker* m) {
    if (m->body_count >= m->moving) return NULL;
    char* text = cr_arena_alloc(&m->charts->arena, 64);
    if (text != NULL) snprintf(text, 64, "%d of %d bodies; --bodies names others", m->body_count, m->moving);
    return text;
}

// what a legend calls a body of a run
static const char* series_label(Maker* m, int run, int body) {
    const char* name = m->runs[0].log->bodies[m->bodies[body]].name;
    if (m->run_count == 1) return name;
    if (m->body_count == 1) return m->runs[run].label;
    size_t size = strlen(name) + strlen(m->runs[run].label) + 3;
    char* label = cr_arena_alloc(&m->charts->arena, size);
    if (label != NULL) snprintf(label, size, "%s, %s", name, m->runs[run].label);
    return label;
}

// values[(body*3 + axis)*count + row] of a run, NaN for a body it has not
static crStatus gather(Maker* m, crCharted kind, int run, double* values) {
    const crMotionLog* log = m->runs[run].log;
    crPlayer player;
    crStatus status = cr_player_create(&player, log);
    if (status != CR_OK) return status;
    for (size_t row = 0; row < log->count; row++) {
        cr_player_at(&player, row);
        for (int b = 0; b < m->body_count; b++) {
            int body = 1 + body_in(log, m->runs[0].log->bodies[m->bodies[b]].name);
            crVec3 x = cr_vec3(NAN, NAN, NAN);
            if (body > 0)
                x = kind == CR_CHART_POSITIONS ? player.d.com[body] : cr_player_velocity(&player, body);
            values[((size_t)b * 3 + 0) * log->count + row] = x.x;
            values[((size_t)b * 3 + 1) * log->count + row] = x.y;
            values[((size_t)b * 3 + 2) * log->count + row] = x.z;
        }
    }
    cr_player_destroy(&player);
    return CR_OK;
}

static double spread(const double* x, size_t count) {
    double lo = INFINITY;
    double hi = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        lo = fmin(lo, x[i]);
        hi = fmax(hi, x[i]);
    }
    return hi >= lo ? hi - lo : 0.0;
}

// values of every run, and which axes change in any of them
static crStatus gather_all(Maker* m, crCharted kind, double** values, bool shown[3]) {
    double most[3] = {0};
    for (int i = 0; i < m->run_count; i++) {
        size_t count = m->runs[i].log->count;
        values[i] = cr_arena_alloc(&m->charts->arena, (size_t)m->body_count * 3 * count * sizeof(double) + 8);
        if (values[i] == NULL || gather(m, kind, i, values[i]) != CR_OK) return CR_ERR_MEMORY;
        for (int c = 0; c < 3 * m->body_count; c++) {
            most[c % 3] = fmax(most[c % 3], spread(values[i] + (size_t)c * count, count));
        }
    }
    double largest = fmax(most[0], fmax(most[1], most[2]));
    for (int axis = 0; axis < 3; axis++) {
        shown[axis] = largest > 0.0 && most[axis] >= FLAT * largest;
    }
    if (largest == 0.0) shown[0] = true;
    return CR_OK;
}

// times of a run, without holes
static const double* times(Maker* m, int run) {
    const crMotionLog* log = m->runs[run].log;
    double* time = cr_arena_alloc(&m->charts->arena, log->count * sizeof(double));
    for (size_t k = 0; time != NULL && k < log->count; k++) {
        time[k] = log->rows[k * log->columns];
    }
    return time;
}

// runs that agree lie on each other: dashes let the one below be seen
static void style_of(const Maker* m, int run, int body, crSeries* s) {
    bool by_run = m->run_count > 1 && (m->body_count == 1 || m->run_count > 2);
    s->color = by_run ? run : body;
    s->dash = by_run ? (m->body_count > 1 ? body % 3 : run % 3)
                     : (m->run_count > 1 ? run % 3 : body / CR_INK_COLORS);
}

static crStatus add_vectors(Maker* m, crCharted kind, crError* error) {
    static const char* const titles[2][3] = {
        {"x of the centre of mass", "y of the centre of mass", "z of the centre of mass"},
        {"velocity along x", "velocity along y", "velocity along z"}};
    static const char* const labels[2][3] = {{"x [m]", "y [m]", "z [m]"},
                                             {"vx [m/s]", "vy [m/s]", "vz [m/s]"}};
    double** values = cr_arena_alloc(&m->charts->arena, (size_t)m->run_count * sizeof *values);
    bool shown[3];
    if (values == NULL || gather_all(m, kind, values, shown) != CR_OK) return memory(error);
    bool speed = kind == CR_CHART_VELOCITIES;
    for (int axis = 0; axis < 3; axis++) {
        if (!shown[axis]) continue;
        crChart* chart = new_chart(m->charts, title_of(m, titles[speed][axis]), labels[speed][axis]);
        if (chart == NULL) return memory(error);
        chart->note = note_of(m);
        for (int i = 0; i < m->run_count; i++) {
            const double* time = times(m, i);
            if (time == NULL) return memory(error);
            for (int b = 0; b < m->body_count; b++) {
                crSeries* s = new_series(chart);
                if (s == NULL) break;
                s->label = series_label(m, i, b);
                s->count = m->runs[i].log->count;
                s->x = time;
                s->y = values[i] + ((size_t)b * 3 + (size_t)axis) * s->count;
                style_of(m, i, b, s);
            }
        }
    }
    return CR_OK;
}

// |m dv/dt - m g| over each record
static void forces(const crMotionLog* log, int body, const double* v, double* force) {
    const crBody* b = &log->model->bodies[body];
    size_t n = log->count;
    force[0] = NAN;
    for (size_t k = 1; k < n; k++) {
        double dt = log->rows[k * log->columns] - log->rows[(k - 1) * log->columns];
        crVec3 a = cr_vec3((v[k] - v[k - 1]) / dt, (v[n + k] - v[n + k - 1]) / dt,
                           (v[2 * n + k] - v[2 * n + k - 1]) / dt);
        force[k] = b->mass * cr_norm(cr_madd(a, -b->gravity_scale, log->model->gravity));
    }
}

static crStatus add_forces(Maker* m, crError* error) {
    double** values = cr_arena_alloc(&m->charts->arena, (size_t)m->run_count * sizeof *values);
    bool shown[3];
    if (values == NULL || gather_all(m, CR_CHART_VELOCITIES, values, shown) != CR_OK) return memory(error);
    crChart* chart =
        new_chart(m->charts, title_of(m, "force beyond gravity, mean over a record"), "force [N]");
    if (chart == NULL) return memory(error);
    chart->note = note_of(m);
    for (int i = 0; i < m->run_count; i++) {
        const crMotionLog* log = m->runs[i].log;
        const double* time = times(m, i);
        for (int b = 0; b < m->body_count && time != NULL; b++) {
            int body = 1 + body_in(log, m->runs[0].log->bodies[m->bodies[b]].name);
            double* force = cr_arena_alloc(&m->charts->arena, log->count * sizeof(double));
            crSeries* s = force != NULL && body > 0 ? new_series(chart) : NULL;
            if (s == NULL) continue;
            forces(log, body, values[i] + (size_t)b * 3 * log->count, force);
            *s = (crSeries){series_label(m, i, b), log->count, time, force, 1, 0, 0, false};
            style_of(m, i, b, s);
        }
    }
    return CR_OK;
}

// a chart for each name of a column that some body has: what a file without its scene can tell
static crStatus add_columns(Maker* m, bool velocity, crError* error) {
    static const char* const names[2][5] = {{"x", "y", "z", "theta", "q"}, {"vx", "vy", "vz", "omega", "v"}};
    for (int n = 0; n < 5; n++) {
        crChart* chart = NULL;
        for (int i = 0; i < m->run_count; i++) {
            const crMotionLog* log = m->runs[i].log;
            for (int b = 0; b < m->body_count; b++) {
                int at = body_in(log, m->runs[0].log->bodies[m->bodies[b]].name);
                const crColumn* c = at >= 0 ? cr_trajectory_columns(log->bodies[at].joint) : NULL;
                while (c != NULL && c->name != NULL && strcmp(c->name, names[velocity][n]) != 0) {
                    c++;
                }
                if (c == NULL || c->name == NULL) continue;
                if (chart == NULL)
                    chart = new_chart(m->charts, title_of(m, names[velocity][n]), names[velocity][n]);
                if (chart == NULL) return memory(error);
                chart->note = note_of(m);
                int column = CR_MOTION_STATE + (velocity ? log->nq + log->bodies[at].v : log->bodies[at].q);
                add_column(chart, log, column + c->index, series_label(m, i, b), 0, 0);
                style_of(m, i, b, (crSeries*)chart->series + chart->series_count - 1);
            }
        }
    }
    return CR_OK;
}

// how much of a channel's name tells what it is of: "ctrl", or "sensor.NAME" without a number behind it
static size_t group_length(const char* name) {
    if (strncmp(name, "ctrl.", 5) == 0) return 4;
    const char* dot = strchr(name + 7, '.');
    return dot != NULL ? (size_t)(dot - name) : strlen(name);
}

static bool same_group(const char* a, const char* b) {
    size_t length = group_length(a);
    return length == group_length(b) && strncmp(a, b, length) == 0;
}

static const char* group_title(Maker* m, const char* name) {
    if (strncmp(name, "ctrl.", 5) == 0) return "controls";
    size_t length = group_length(name) - 7;
    char* text = cr_arena_alloc(&m->charts->arena, length + 1);
    if (text == NULL) return "sensor";
    memcpy(text, name + 7, length);
    text[length] = '\0';
    return text;
}

static crStatus add_sensors(Maker* m, crError* error) {
    const crMotionLog* log = m->runs[0].log;
    if (log->channel_count == 0)
        return cr_error_set(error, CR_ERR_MISSING, "sensors", "sensors: %.60s has no controls and no sensors",
                            m->runs[0].label);
    for (int c = 0; c < log->channel_count && m->charts->count < CR_CHARTS_MOST; c++) {
        const char* name = log->channels[c].name;
        bool begun = false;
        for (int k = 0; k < c; k++) {
            begun = begun || same_group(log->channels[k].name, name);
        }
        if (begun) continue;
        const char* title = group_title(m, name);
        crChart* chart = new_chart(m->charts, title, title);
        if (chart == NULL) return memory(error);
        for (int i = 0; i < m->run_count; i++) {
            const crMotionLog* own = m->runs[i].log;
            for (int k = 0, drawn = 0; k < own->channel_count; k++) {
                if (!same_group(own->channels[k].name, name)) continue;
                size_t skip = strncmp(name, "ctrl.", 5) == 0 ? 5 : 7;
                int column = (int)own->columns - own->channel_count + k;
                add_column(chart, own, column,
                           m->run_count > 1 ? m->runs[i].label : own->channels[k].name + skip, drawn, i);
                drawn++;
            }
        }
    }
    return CR_OK;
}

static void choose_bodies(Maker* m, const int* bodies, int body_count) {
    const crMotionLog* log = m->runs[0].log;
    for (int i = 0; i < body_count && m->body_count < CR_MOTION_BODIES; i++) {
        m->bodies[m->body_count++] = bodies[i];
    }
    for (int i = 0; i < log->body_count; i++) {
        const crBody* body = log->model != NULL ? &log->model->bodies[i + 1] : NULL;
        bool moves = body == NULL || body->last >= 0 || body->base != CR_WORLD;
        m->moving += moves;
        if (moves && body_count == 0 && m->body_count < CR_MOTION_BODIES) m->bodies[m->body_count++] = i;
    }
}

crStatus cr_charts_add(crCharts* charts, crCharted kind, const crPlotRun* runs, int run_count,
                       const int* bodies, int body_count, crError* error) {
    if (charts->arena.allocator.alloc == NULL && cr_arena_create(&charts->arena, NULL, 0) != CR_OK)
        return memory(error);
    Maker m = {.charts = charts, .runs = runs, .run_count = run_count};
    choose_bodies(&m, bodies, body_count);
    bool scenes = true;
    for (int i = 0; i < run_count; i++) {
        scenes = scenes && runs[i].log->model != NULL;
    }
    switch (kind) {
    case CR_CHART_ENERGY:
        return add_energy(&m, error);
    case CR_CHART_CERTIFICATE:
        return add_certificate(&m, error);
    case CR_CHART_EVENTS:
        return add_events(&m, error);
    case CR_CHART_SENSORS:
        return add_sensors(&m, error);
    case CR_CHART_FORCES:
        if (!scenes)
            return cr_error_set(error, CR_ERR_MISSING, "scene",
                                "scene: forces need masses; say --scene SCENE, or use a .h5 file");
        return add_forces(&m, error);
    default:
        return scenes ? add_vectors(&m, kind, error) : add_columns(&m, kind == CR_CHART_VELOCITIES, error);
    }
}

void cr_charts_destroy(crCharts* charts) {
    if (charts->arena.allocator.alloc != NULL) cr_arena_destroy(&charts->arena);
    *charts = (crCharts){0};
}
