// tosses.c - rows of a table grouped into measured motions and checked.
//
// Velocities must agree with the poses they belong to: the way |v| dt summed over all samples against the sum
// of |dp|, and the same for rotations, within a factor of three; farther off, units are mixed up (mm,
// degrees, frames instead of seconds). Fails: see tosses.h.
#include "fit/tosses.h"

#include <stdlib.h>

#include "fit/columns.h"

#define MOST_RATIO 3.0

enum { TOSS, T, P, Q = 5, V = 9, W = 12, SPATIAL_END = 15 };
static const crQuantity world_axes[] = {
    {"toss", 0.0}, {"t", NAN},  {"px", NAN}, {"py", NAN}, {"pz", NAN}, {"qw", NAN}, {"qx", NAN}, {"qy", NAN},
    {"qz", NAN},   {"vx", NAN}, {"vy", NAN}, {"vz", NAN}, {"wx", NAN}, {"wy", NAN}, {"wz", NAN},
};
static const crQuantity body_axes[] = {
    {"toss", 0.0}, {"t", NAN},  {"px", NAN},  {"py", NAN},  {"pz", NAN},
    {"qw", NAN},   {"qx", NAN}, {"qy", NAN},  {"qz", NAN},  {"vx", NAN},
    {"vy", NAN},   {"vz", NAN}, {"wbx", NAN}, {"wby", NAN}, {"wbz", NAN},
};
enum { ANGLE = 4, PV = 5, PW = 7, PLANAR_END };
static const crQuantity planar[] = {
    {"toss", 0.0}, {"t", NAN}, {"px", NAN}, {"py", NAN}, {"angle", NAN}, {"vx", NAN}, {"vy", NAN}, {"w", NAN},
};

typedef struct Reader {
    crColumns columns;
    bool planar;
    bool body_axes;  // of w
} Reader;

static crVec3 vector(const Reader* r, int i) {
    const double* x = &r->columns.value[i];
    return cr_vec3(x[0], x[1], x[2]);
}

static crStatus read_spatial(const Reader* r, int row, crTossSample* s, crError* error) {
    const double* x = r->columns.value;
    crQuat q = {x[Q], x[Q + 1], x[Q + 2], x[Q + 3]};
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(fabs(length - 1.0) <= CR_TOSS_UNIT_TOL)) {
        cr_error_set(error, CR_ERR_UNIT, "qw", "qw ...: the quaternion's length is %.6g, must be 1 within %g",
                     length, CR_TOSS_UNIT_TOL);
        return cr__columns_refuse(&r->columns, row, Q, CR_ERR_UNIT, error);
    }
    s->pose = (crPose){vector(r, P), cr_quat_normalize(q)};
    s->v = vector(r, V);
    s->w = r->body_axes ? cr_quat_rotate(s->pose.q, vector(r, W)) : vector(r, W);
    return CR_OK;
}

static void read_planar(const Reader* r, crTossSample* s) {
    const double* x = r->columns.value;
    s->angle = x[ANGLE];
    s->pose = (crPose){cr_vec3(x[P], x[P + 1], 0.0), cr_quat_axis_angle(cr_vec3(0.0, 0.0, 1.0), s->angle)};
    s->v = cr_vec3(x[PV], x[PV + 1], 0.0);
    s->w = cr_vec3(0.0, 0.0, x[PW]);
}

// the next sample of a toss that began at `start`
static crStatus read_sample(Reader* r, int row, double start, const crTossSample* before, crTossSample* s,
                            crError* error) {
    *s = (crTossSample){.time = r->columns.value[T] - start};
    if (before != NULL && !(s->time > before->time)) {
        cr_error_set(error, CR_ERR_RANGE, "t", "t: is %g, must ascend within a toss, is %g in the row before",
                     r->columns.value[T], start + before->time);
        return cr__columns_refuse(&r->columns, row, T, CR_ERR_RANGE, error);
    }
    if (!r->planar) return read_spatial(r, row, s, error);
    read_planar(r, s);
    return CR_OK;
}

static bool is_known(const crTosses* t, double id) {
    for (int i = 0; i < t->count; i++) {
        if (t->tosses[i].id == id) return true;
    }
    return false;
}

// Reading goes on row by row; a bad toss is skipped to its end.
typedef struct Reading {
    Reader reader;
    const crImpactOptions* options;
    crTosses* out;
    bool open, bad;  // a toss is being read; it is to be skipped
    double start;    // its first time
    int row;         // its first
} Reading;

static crStatus end_toss(Reading* g, crError* error) {
    crTosses* t = g->out;
    if (!g->open) return CR_OK;
    g->open = false;
    crToss* toss = &t->tosses[t->count];
    crError trouble = {0};
    crStatus status = g->bad ? CR_ERR_SIZE : CR_OK;
    if (!g->bad && toss->count < 2) {
        status = cr_error_set(&trouble, CR_ERR_SIZE, "toss", "toss: %g has one sample, at least 2", toss->id);
        cr__columns_refuse(&g->reader.columns, g->row, TOSS, status, &trouble);
        if (!g->options->skip) {
            if (error != NULL) *error = trouble;
            return status;
        }
        if (t->skipped == 0) t->skip_first = trouble;
    }
    if (status == CR_OK) {
        t->count++;
        return CR_OK;
    }
    t->skipped++;
    t->sample_count = toss->first;
    return CR_OK;
}

static crStatus begin_toss(Reading* g, int row, double id, crError* error) {
    crTosses* t = g->out;
    crStatus status = end_toss(g, error);
    if (status != CR_OK) return status;
    if (is_known(t, id)) {
        cr_error_set(error, CR_ERR_SIZE, "toss",
                     "toss: %g comes again; rows of a toss must follow each other", id);
        return cr__columns_refuse(&g->reader.columns, row, TOSS, CR_ERR_SIZE, error);
    }
    t->tosses[t->count] =
        (crToss){.id = id, .line = g->reader.columns.table->lines[row], .first = t->sample_count};
    g->open = true;
    g->bad = false;
    g->row = row;
    g->start = g->reader.columns.value[T];
    return CR_OK;
}

// the id of a row whose other cells may be bad
static double id_of(const Reader* r, int row) {
    int column = r->columns.column[TOSS];
    return column < 0 ? r->columns.factor[TOSS]
                      : r->columns.factor[TOSS] * cr_table_value(r->columns.table, row, column);
}

static crStatus read_row(Reading* g, int row, crError* error) {
    crTosses* t = g->out;
    double id = id_of(&g->reader, row);
    if (g->open && g->bad && id == t->tosses[t->count].id) return CR_OK;
    crError trouble = {0};
    crStatus status = cr__columns_read(&g->reader.columns, row, &trouble);
    if (status != CR_OK && !(isfinite(id) && g->options->skip)) {
        if (error != NULL) *error = trouble;
        return status;
    }
    if (!g->open || t->tosses[t->count].id != id) {
        crStatus begun = begin_toss(g, row, id, error);
        if (begun != CR_OK) return begun;
    }
    crToss* toss = &t->tosses[t->count];
    crTossSample* s = &t->samples[t->sample_count];
    if (status == CR_OK)
        status = read_sample(&g->reader, row, g->start, toss->count > 0 ? s - 1 : NULL, s, &trouble);
    if (status == CR_OK) {
        toss->count++;
        t->sample_count++;
        return CR_OK;
    }
    if (!g->options->skip) {
        if (error != NULL) *error = trouble;
        return status;
    }
    if (t->skipped == 0 && t->skip_first.status == CR_OK) t->skip_first = trouble;
    g->bad = true;
    return CR_OK;
}

// rotation from one pose to another over a time, in world axes
static crVec3 mean_spin(crQuat from, crQuat to, double time) {
    crQuat d = cr_quat_mul(to, cr_quat_conj(from));
    crVec3 v = cr_vec3(d.x, d.y, d.z);
    double sine = cr_norm(v);
    if (sine == 0.0) return v;
    double angle = 2.0 * cr_atan2(sine, fabs(d.w));
    return cr_scale((d.w < 0.0 ? -angle : angle) / (sine * time), v);
}

static void compare_velocities(crTosses* t) {
    double way = 0.0, by_v = 0.0, turn = 0.0, by_w = 0.0, time = 0.0;
    int pairs = 0;
    for (int i = 0; i < t->count; i++) {
        for (int k = t->tosses[i].first + 1; k < t->tosses[i].first + t->tosses[i].count; k++) {
            const crTossSample *a = &t->samples[k - 1], *b = &t->samples[k];
            double h = b->time - a->time;
            crVec3 spin = mean_spin(a->pose.q, b->pose.q, h);
            crVec3 other = t->planar ? cr_neg(b->w) : cr_quat_rotate(cr_quat_conj(b->pose.q), b->w);
            way += cr_norm(cr_sub(b->pose.p, a->pose.p));
            by_v += h * cr_norm(b->v);
            turn += h * cr_norm(spin);
            by_w += h * cr_norm(b->w);
            t->spin_error += cr_norm(cr_sub(b->w, spin));
            t->other_frame += cr_norm(cr_sub(other, spin));
            time += h;
            pairs++;
        }
    }
    t->interval = time / pairs;
    t->spin_error /= pairs;
    t->other_frame /= pairs;
    t->speed_ratio = way > 0.0 ? by_v / way : 1.0;
    t->spin_ratio = turn > 0.0 ? by_w / turn : 1.0;
}

static bool is_plausible(double ratio) { return ratio <= MOST_RATIO && ratio >= 1.0 / MOST_RATIO; }

static crStatus check_velocities(const Reader* r, const crTosses* t, crError* error) {
    bool speed = is_plausible(t->speed_ratio);
    if (speed && is_plausible(t->spin_ratio)) return CR_OK;
    int i = speed ? (r->planar ? PW : W) : (r->planar ? PV : V);
    const char* name = r->columns.quantities[i].name;
    cr_error_set(
        error, CR_ERR_RANGE, name, "%s ...: %s are %.3g times what the poses say, %g to %g is plausible: %s",
        name, speed ? "angular velocities" : "velocities", speed ? t->spin_ratio : t->speed_ratio,
        1.0 / MOST_RATIO, MOST_RATIO, speed ? "w is in rad/s, t in s" : "lengths are in m, v in m/s, t in s");
    if (error != NULL) {
        error->line = t->tosses[0].line;
        error->column = 1;
    }
    return CR_ERR_RANGE;
}

static crStatus read_rows(Reading* g, crError* error) {
    const crTable* table = g->reader.columns.table;
    crTosses* t = g->out;
    crStatus status = CR_OK;
    for (int row = 0; row < table->rows && status == CR_OK; row++) {
        bool counts = true;
        status = cr__columns_where(table, g->options, row, &counts, error);
        if (status == CR_OK && counts) status = read_row(g, row, error);
        t->left_out += !counts;
    }
    if (status == CR_OK) status = end_toss(g, error);
    if (status != CR_OK) return status;
    if (t->count == 0)
        return cr_error_set(error, CR_ERR_SIZE, "toss", "toss: none is left of %d rows (%d by where, %d bad)",
                            table->rows, t->left_out, t->skipped);
    compare_velocities(t);
    return check_velocities(&g->reader, t, error);
}

crStatus cr_tosses_create(const crTable* table, const crImpactOptions* options, crTosses* tosses,
                          crError* error) {
    *tosses = (crTosses){0};
    Reading g = {.reader = {.columns.table = table}, .options = options, .out = tosses};
    Reader* r = &g.reader;
    r->planar = tosses->planar = cr__columns_given(table, options, "angle");
    r->body_axes = cr__columns_given(table, options, "wbx");
    r->columns.quantities = r->planar ? planar : r->body_axes ? body_axes : world_axes;
    r->columns.count = r->planar ? PLANAR_END : SPATIAL_END;
    crStatus status = cr__columns_find(&r->columns, options, error);
    if (status == CR_OK)
        status = cr__columns_known(options, r->columns.quantities, r->columns.count, "motions", error);
    if (status != CR_OK) return status;
    tosses->tosses = calloc((size_t)table->rows + 1, sizeof *tosses->tosses);
    tosses->samples = calloc((size_t)table->rows + 1, sizeof *tosses->samples);
    status = tosses->tosses != NULL && tosses->samples != NULL
                 ? read_rows(&g, error)
                 : cr_error_set(error, CR_ERR_MEMORY, "toss", "toss: out of memory");
    if (status != CR_OK) cr_tosses_destroy(tosses);
    return status;
}

void cr_tosses_destroy(crTosses* tosses) {
    free(tosses->tosses);
    free(tosses->samples);
    *tosses = (crTosses){0};
}
