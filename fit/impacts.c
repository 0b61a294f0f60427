// impacts.c - rows of a table turned into measured collisions: quantities found, checked, seen in impulse
// space.
//
//     P = W^-1 dV,   dV = dv + dw x r,   unexplained = (|dv|^2_M - P.W P) / m
//
// is the least-squares impulse in the kinetic metric (W P = J dv are its normal equations). Fails: every cell
// that is used must be a finite number; masses positive; contacts approaching; the radius of gyration within
// a hundredfold of the lever arm and the energy after at most tenfold, since beyond that units are mixed up.
#include "fit/impacts.h"

#include <stdlib.h>

#include "fit/columns.h"

#define MOST_GROWTH   10.0   // of the kinetic energy
#define MOST_GYRATION 100.0  // radius of gyration over lever arm, or the other way round

enum { M, I, NX, NY, RX, RY, VX, VY, WZ, VX_AFTER, VY_AFTER, WZ_AFTER, PLANAR_END };
static const crQuantity planar[] = {
    {"m", NAN},  {"I", NAN},  {"nx", 0.0}, {"ny", 1.0},       {"rx", NAN},       {"ry", NAN},
    {"vx", NAN}, {"vy", NAN}, {"w", NAN},  {"vx_after", NAN}, {"vy_after", NAN}, {"w_after", NAN},
};
enum { S_M, S_I, S_N = 7, S_R = 10, S_V = 13, S_W = 16, S_V_AFTER = 19, S_W_AFTER = 22, SPATIAL_END = 25 };
static const crQuantity spatial[] = {
    {"m", NAN},        {"Ixx", NAN},      {"Iyy", NAN},      {"Izz", NAN},      {"Ixy", 0.0},
    {"Ixz", 0.0},      {"Iyz", 0.0},      {"nx", 0.0},       {"ny", 0.0},       {"nz", 1.0},
    {"rx", NAN},       {"ry", NAN},       {"rz", NAN},       {"vx", NAN},       {"vy", NAN},
    {"vz", NAN},       {"wx", NAN},       {"wy", NAN},       {"wz", NAN},       {"vx_after", NAN},
    {"vy_after", NAN}, {"vz_after", NAN}, {"wx_after", NAN}, {"wy_after", NAN}, {"wz_after", NAN},
};
enum { WNN, WN1, W11, VN, V1, MASS, WN2, W12, W22, V2, PN, P1, P2, IMPULSE_END };
static const crQuantity impulse[] = {
    {"Wnn", NAN}, {"Wn1", NAN}, {"W11", NAN}, {"Vn", NAN}, {"V1", NAN}, {"m", 0.0},  {"Wn2", 0.0},
    {"W12", 0.0}, {"W22", 0.0}, {"V2", 0.0},  {"Pn", NAN}, {"P1", NAN}, {"P2", 0.0},
};
static const crQuantity* const forms[] = {planar, spatial, impulse};
static const int form_sizes[] = {PLANAR_END, SPATIAL_END, IMPULSE_END};
static const int first_after[] = {VX_AFTER, S_V_AFTER, PN};

typedef struct Reader {
    crColumns columns;
    crImpactForm form;
} Reader;

static crImpactForm form_of(const crTable* table, const crImpactOptions* options) {
    if (cr__columns_given(table, options, "Wnn")) return CR_FORM_IMPULSE;
    if (cr__columns_given(table, options, "Izz") || cr__columns_given(table, options, "wz"))
        return CR_FORM_SPATIAL;
    return CR_FORM_PLANAR;
}

// every quantity of the form, or those before the impact where the others may be missing and are
static crStatus find_quantities(Reader* r, const crImpactOptions* options, bool* measured, crError* error) {
    const crTable* table = r->columns.table;
    r->form = form_of(table, options);
    *measured = !options->unmeasured;
    r->columns.quantities = forms[r->form];
    r->columns.count = form_sizes[r->form];
    int after = first_after[r->form];
    if (options->unmeasured) {
        *measured = cr__columns_given(table, options, forms[r->form][after].name);
        if (!*measured) r->columns.count = after;
    }
    crStatus status = cr__columns_find(&r->columns, options, error);
    return status == CR_OK ? cr__columns_known(options, forms[r->form], form_sizes[r->form], "impacts", error)
                           : status;
}

static crStatus refuse(const Reader* r, int row, int i, crStatus status, crError* error) {
    return cr__columns_refuse(&r->columns, row, i, status, error);
}

static crVec3 vector(const Reader* r, int i) {
    return cr_vec3(r->columns.value[i], r->columns.value[i + 1], r->columns.value[i + 2]);
}

static void read_bodies(const Reader* r, crImpactRow* out, crVec3* n) {
    crRigid* b = &out->body;
    *b = cr_rigid();
    b->mass = out->mass = r->columns.value[M];
    if (r->form == CR_FORM_PLANAR) {
        double inertia = r->columns.value[I];
        b->inertia = (crSym3){.xx = inertia, .yy = inertia, .zz = inertia};
        b->velocity = cr_vec3(r->columns.value[VX], r->columns.value[VY], 0.0);
        b->omega = cr_vec3(0.0, 0.0, r->columns.value[WZ]);
        *n = cr_vec3(r->columns.value[NX], r->columns.value[NY], 0.0);
        out->point = cr_vec3(r->columns.value[RX], r->columns.value[RY], 0.0);
        out->v_after = cr_vec3(r->columns.value[VX_AFTER], r->columns.value[VY_AFTER], 0.0);
        out->w_after = cr_vec3(0.0, 0.0, r->columns.value[WZ_AFTER]);
    } else {
        const double* in = &r->columns.value[S_I];
        b->inertia = (crSym3){.xx = in[0], .yy = in[1], .zz = in[2], .xy = in[3], .xz = in[4], .yz = in[5]};
        b->velocity = vector(r, S_V);
        b->omega = vector(r, S_W);
        *n = vector(r, S_N);
        out->point = vector(r, S_R);
        out->v_after = vector(r, S_V_AFTER);
        out->w_after = vector(r, S_W_AFTER);
    }
}

static double kinetic(const crRigid* b, crVec3 v, crVec3 w) {
    return b->mass * cr_dot(v, v) + cr_sym3_quad(b->inertia, w);
}

static crStatus check_body(const Reader* r, int row, const crImpactRow* out, crError* error) {
    if (!(out->mass > 0.0)) {
        cr_error_set(error, CR_ERR_RANGE, "m", "m: is %g, must be > 0 kg", out->mass);
        return refuse(r, row, M, CR_ERR_RANGE, error);
    }
    double arm = cr_norm(out->point);
    double mean = cr_sym3_trace(out->body.inertia) / 3.0;
    double gyration = mean > 0.0 ? sqrt(mean / out->mass) : 0.0;
    bool plausible = gyration * MOST_GYRATION >= arm && (gyration <= arm * MOST_GYRATION || arm == 0.0);
    if (!(mean > 0.0) || !plausible) {
        cr_error_set(error, CR_ERR_RANGE, forms[r->form][I].name,
                     "%s: a radius of gyration of %.3g m with contact %.3g m from the centre is implausible: "
                     "inertia is in kg m^2, lengths in m",
                     forms[r->form][I].name, gyration, arm);
        return refuse(r, row, I, CR_ERR_RANGE, error);
    }
    return CR_OK;
}

static void measure(crImpactRow* out, crVec3 dv, crVec3 dw) {
    crVec3 dV = cr_mat3_mul_t(out->frame, cr_add(dv, cr_cross(dw, out->point)));
    cr_sym3_solve(out->contact.W, dV, &out->P);
    out->change = kinetic(&out->body, dv, dw) / out->mass;
    out->unexplained = fmax(0.0, out->change - cr_dot(out->P, dV) / out->mass);
}

static crStatus read_body_row(const Reader* r, int row, bool measured, crImpactRow* out, crError* error) {
    crCollision c = cr_collision();
    c.normalize = true;
    read_bodies(r, out, &c.n);
    crStatus status = check_body(r, row, out, error);
    if (status != CR_OK) return status;
    crRigid ground = cr_rigid();
    ground.fixed = true;
    status = cr_collision_bodies(&c, &ground, &out->body, out->point, error);
    if (status == CR_OK) status = cr_collision_contact(&c, &out->contact, &out->frame, error);
    if (status != CR_OK) return refuse(r, row, I, status, error);
    if (!measured) return CR_OK;
    measure(out, cr_sub(out->v_after, out->body.velocity), cr_sub(out->w_after, out->body.omega));
    double before = kinetic(&out->body, out->body.velocity, out->body.omega);
    out->energy_ratio = kinetic(&out->body, out->v_after, out->w_after) / before;
    if (out->energy_ratio <= MOST_GROWTH) return CR_OK;
    int at = first_after[r->form];
    cr_error_set(
        error, CR_ERR_RANGE, forms[r->form][at].name,
        "%s ...: the kinetic energy grows %.3g-fold, at most %g is plausible: velocities are in m/s, "
        "w in rad/s",
        forms[r->form][at].name, out->energy_ratio, MOST_GROWTH);
    return refuse(r, row, at, CR_ERR_RANGE, error);
}

static crStatus read_impulse_row(const Reader* r, int row, bool measured, crImpactRow* out, crError* error) {
    const double* x = r->columns.value;
    crCollision c = cr_collision();
    // out of the plane nothing happens, with the inertia of the tangent
    double across = r->columns.column[W22] < 0 && x[W22] == 0.0 ? x[W11] : x[W22];
    c.W = (crMat3){{{x[WNN], x[WN1], x[WN2]}, {x[WN1], x[W11], x[W12]}, {x[WN2], x[W12], across}}};
    c.V = cr_vec3(x[VN], x[V1], x[V2]);
    crStatus status = cr_collision_contact(&c, &out->contact, &out->frame, error);
    crSym3 inverse;
    if (status == CR_OK && !cr_sym3_invert(out->contact.W, &inverse))
        status = cr_error_set(error, CR_ERR_DEFINITE, "Wnn", "Wnn ...: W must be positive definite");
    if (status != CR_OK) return refuse(r, row, WNN, status, error);
    out->mass = x[MASS] > 0.0 ? x[MASS] : 1.0 / x[WNN];
    if (!measured) return CR_OK;
    out->P = cr_mat3_mul_t(out->frame, cr_vec3(x[PN], x[P1], x[P2]));
    out->change = cr_sym3_quad(out->contact.W, out->P) / out->mass;
    double before = 0.5 * cr_sym3_quad(inverse, out->contact.V);
    out->energy_ratio = 1.0 + cr_impulse_energy_change(&out->contact, out->P) / before;
    if (out->energy_ratio <= MOST_GROWTH) return CR_OK;
    cr_error_set(error, CR_ERR_RANGE, "Pn",
                 "Pn ...: the contact energy grows %.3g-fold, at most %g is "
                 "plausible: impulses are in N s, W in 1/kg",
                 out->energy_ratio, MOST_GROWTH);
    return refuse(r, row, PN, CR_ERR_RANGE, error);
}

static crStatus read_row(Reader* r, int row, bool measured, crImpactRow* out, crError* error) {
    *out = (crImpactRow){.row = row, .line = r->columns.table->lines[row]};
    crStatus status = cr__columns_read(&r->columns, row, error);
    if (status != CR_OK) return status;
    status = r->form == CR_FORM_IMPULSE ? read_impulse_row(r, row, measured, out, error)
                                        : read_body_row(r, row, measured, out, error);
    if (status != CR_OK || out->contact.V.x < 0.0) return status;
    int at = r->form == CR_FORM_IMPULSE ? VN : r->form == CR_FORM_PLANAR ? VX : S_V;
    cr_error_set(
        error, CR_ERR_RANGE, forms[r->form][at].name,
        "%s ...: the contact does not approach (normal velocity %.4g m/s); n points from what is hit "
        "to the body, r from its centre to the contact",
        forms[r->form][at].name, out->contact.V.x);
    return refuse(r, row, at, CR_ERR_RANGE, error);
}

static crStatus read_rows(Reader* r, const crImpactOptions* options, crImpacts* out, crError* error) {
    const crTable* table = r->columns.table;
    for (int row = 0; row < table->rows; row++) {
        bool counts = true;
        crStatus status = cr__columns_where(table, options, row, &counts, error);
        if (status != CR_OK) return status;
        if (!counts) {
            out->left_out++;
            continue;
        }
        crError trouble = {0};
        status = read_row(r, row, out->measured, &out->rows[out->count], &trouble);
        if (status == CR_OK) {
            out->count++;
        } else if (options->skip) {
            if (out->skipped++ == 0) out->skip_first = trouble;
        } else {
            if (error != NULL) *error = trouble;
            return status;
        }
    }
    if (out->count > 0) return CR_OK;
    return cr_error_set(error, CR_ERR_SIZE, "rows", "rows: none is left of %d (%d by where, %d bad)",
                        table->rows, out->left_out, out->skipped);
}

// what no impulse explains if rotations were counted the other way: w and the lever along the tangent turn
// round, mean over the rows
static double mirrored(const crImpacts* impacts) {
    double sum = 0.0;
    for (int i = 0; i < impacts->count; i++) {
        crImpactRow row = impacts->rows[i];
        crVec3 t = cr_mat3_column(row.frame, 1);
        crVec3 dv = cr_sub(row.v_after, row.body.velocity);
        crVec3 dw = cr_sub(row.body.omega, row.w_after);
        row.point = cr_madd(row.point, -2.0 * cr_dot(row.point, t), t);
        crVec3 n = cr_mat3_column(row.frame, 0);
        double a = cr_cross(row.point, n).z, b = cr_cross(row.point, t).z;
        double mass = 1.0 / row.mass, inertia = 1.0 / row.body.inertia.zz;
        row.contact.W.xx = mass + a * a * inertia;
        row.contact.W.xy = a * b * inertia;
        row.contact.W.yy = mass + b * b * inertia;
        measure(&row, dv, dw);
        sum += sqrt(row.unexplained);
    }
    return sum / impacts->count;
}

crStatus cr_impacts_create(const crTable* table, const crImpactOptions* options, crImpacts* impacts,
                           crError* error) {
    *impacts = (crImpacts){0};
    Reader reader = {.columns.table = table};
    crStatus status = find_quantities(&reader, options, &impacts->measured, error);
    if (status != CR_OK) return status;
    impacts->form = reader.form;
    impacts->rows = calloc((size_t)table->rows + 1, sizeof *impacts->rows);
    if (impacts->rows == NULL) return cr_error_set(error, CR_ERR_MEMORY, "rows", "rows: out of memory");
    status = read_rows(&reader, options, impacts, error);
    if (status != CR_OK) {
        cr_impacts_destroy(impacts);
        return status;
    }
    impacts->planar = true;
    for (int i = 0; i < impacts->count && impacts->planar; i++) {
        impacts->planar = cr_contact_is_planar(&impacts->rows[i].contact);
    }
    if (impacts->form == CR_FORM_PLANAR && impacts->measured) impacts->mirror = mirrored(impacts);
    return CR_OK;
}

void cr_impacts_destroy(crImpacts* impacts) {
    free(impacts->rows);
    *impacts = (crImpacts){0};
}

double cr_impact_error(const crImpactRow* row, crVec3 P) {
    return sqrt(row->unexplained + cr_sym3_quad(row->contact.W, cr_sub(P, row->P)) / row->mass);
}
