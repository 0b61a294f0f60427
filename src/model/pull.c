// pull.c - l and g = dl/dv of tendons, sites and slider-cranks, and their forces at a state.
//
// Each line is a sum of wrenches on bodies: dl/dt = sum of F.v(x) + M.omega. A wrench counts along the velocities from its
// body up to `stop`, the first one that moves the body at the other end too: what moves both ends alike leaves l as it is.
// (A site with a reference follows MuJoCo: the velocities that move both count nothing, and the turning of the reference
// itself is left out.) Fails: nothing.
#include "model/pull.h"

#include "model/sense.h"

bool cr__line_pulls(const crModel* model, int line) {
    if (line >= model->tendon_count)
        return model->actuators[line - model->tendon_count].transmission != CR_ALONG_JOINTS;
    return model->tendons[line].stiffness > 0.0 || model->tendons[line].damping > 0.0;
}

bool cr__model_pulls(const crModel* model) {
    for (int i = 0; i < cr__line_count(model); i++) {
        if (cr__line_pulls(model, i)) return true;
    }
    return false;
}

static crVec3 site_point(const crModel* model, const crDynamics* d, int site) {
    return cr_pose_point(d->pose[model->sites[site].body], model->sites[site].volume.pose.p);
}

// lengths

static double path_length(const crModel* model, const crDynamics* d, const crTendon* t) {
    double sum = 0.0;
    for (int k = 0; k + 1 < t->count; k++) {
        crVec3 a = site_point(model, d, t->item[k]), b = site_point(model, d, t->item[k + 1]);
        sum += t->coef[k] * cr_norm(cr_sub(b, a));
    }
    return sum;
}

static double tendon_length(const crModel* model, const crDynamics* d, const crTendon* t) {
    double sum = 0.0;
    if (!t->joints) return path_length(model, d, t);
    for (int k = 0; k < t->count; k++) {
        const crBody* body = &model->bodies[model->velocity.body[t->item[k]]];
        sum += t->coef[k] * d->q[body->q + t->item[k] - body->v];
    }
    return sum;
}

static double site_length(const crModel* model, const crDynamics* d, const crActuator* a) {
    if (a->reference < 0) return 0.0;
    crPose site = cr__site_pose(model, d, a->site), from = cr__site_pose(model, d, a->reference);
    crQuat back = cr_quat_conj(from.q);
    crVec3 x = cr_quat_rotate(back, cr_sub(site.p, from.p));
    crVec3 phi = cr__rotation_log(cr_quat_normalize(cr_quat_mul(back, site.q)));
    return cr_dot(x, cr__load_vec(a->wrench)) + cr_dot(phi, cr__load_vec(a->wrench + 3));
}

// The slider's way, and how it changes with x and with z.
typedef struct Crank {
    crVec3 x, z;  // from the reference site to the site; axis of the slider
    double length;
    crVec3 by_x, by_z;
} Crank;

static Crank crank_of(const crModel* model, const crDynamics* d, const crActuator* a) {
    crPose site = cr__site_pose(model, d, a->site), slider = cr__site_pose(model, d, a->reference);
    Crank c = {.x = cr_sub(site.p, slider.p), .z = cr_quat_rotate(slider.q, cr_vec3(0, 0, 1))};
    double along = cr_dot(c.x, c.z), square = along * along + a->rod * a->rod - cr_dot(c.x, c.x);
    c.length = along;
    c.by_x = c.z;
    c.by_z = c.x;
    if (!(square > 0.0)) return c;
    double root = sqrt(square), share = 1.0 - along / root;
    c.length = along - root;
    c.by_x = cr_madd(cr_scale(share, c.z), 1.0 / root, c.x);
    c.by_z = cr_scale(share, c.x);
    return c;
}

double cr__line_length(const crModel* model, const crDynamics* d, int line) {
    if (line < model->tendon_count) return tendon_length(model, d, &model->tendons[line]);
    const crActuator* a = &model->actuators[line - model->tendon_count];
    switch (a->transmission) {
    case CR_ALONG_TENDON:
        return a->gear[0] * tendon_length(model, d, &model->tendons[a->tendon]);
    case CR_ALONG_SITE:
        return site_length(model, d, a);
    case CR_ALONG_CRANK:
        return a->gear[0] * crank_of(model, d, a).length;
    default:
        return cr__actuator_length(model, line - model->tendon_count, d->q);
    }
}

// entries of g

typedef struct Walk {
    const crModel* model;
    const crDynamics* d;
    crEntryFn entry;
    void* ctx;
    double given;  // dl/dt by driven bodies
} Walk;

// the lowest velocity that moves both bodies, -1 where none does
static int shared(const crModel* model, int a, int b) {
    int i = model->bodies[a].last, j = model->bodies[b].last;
    while (i != j) {
        if (i > j) {
            i = model->velocity.parent[i];
        } else {
            j = model->velocity.parent[j];
        }
    }
    return i;
}

static void walk_wrench(Walk* w, int body, int stop, crVec3 at, crVec3 force, crVec3 moment) {
    crVec3 arm = cr_sub(at, w->d->origin[body]);
    crTwist wrench = cr__twist(cr_add(moment, cr_cross(arm, force)), force);
    for (int j = w->model->bodies[body].last; j > stop; j = w->model->velocity.parent[j]) {
        w->entry(w->ctx, j, cr__twist_dot(cr__dof_axis(w->d, j), wrench));
    }
    if (stop < 0) w->given += cr__twist_dot(cr__given(w->d, body), wrench);
}

static void walk_path(Walk* w, const crTendon* t, double gear) {
    const crModel* model = w->model;
    crVec3 none = cr_vec3(0, 0, 0);
    for (int k = 0; k + 1 < t->count; k++) {
        int a = model->sites[t->item[k]].body, b = model->sites[t->item[k + 1]].body;
        crVec3 xa = site_point(model, w->d, t->item[k]), xb = site_point(model, w->d, t->item[k + 1]);
        crVec3 apart = cr_sub(xb, xa);
        double length = cr_norm(apart);
        // sites in one place have no direction
        if (t->coef[k] == 0.0 || a == b || !(length > 0.0)) continue;
        crVec3 force = cr_scale(gear * t->coef[k] / length, apart);
        int stop = shared(model, a, b);
        walk_wrench(w, b, stop, xb, force, none);
        walk_wrench(w, a, stop, xa, cr_neg(force), none);
    }
}

static void walk_tendon(Walk* w, const crTendon* t, double gear) {
    if (!t->joints) walk_path(w, t, gear);
    for (int k = 0; k < t->count && t->joints; k++) {
        w->entry(w->ctx, t->item[k], gear * t->coef[k]);
    }
}

static void walk_site(Walk* w, const crActuator* a) {
    int body = w->model->sites[a->site].body, frame = a->reference >= 0 ? a->reference : a->site;
    crPose axes = cr__site_pose(w->model, w->d, frame);
    crVec3 force = cr_quat_rotate(axes.q, cr__load_vec(a->wrench));
    crVec3 moment = cr_quat_rotate(axes.q, cr__load_vec(a->wrench + 3));
    int other = a->reference >= 0 ? w->model->sites[a->reference].body : CR_WORLD;
    int stop = shared(w->model, body, other);
    walk_wrench(w, body, stop, site_point(w->model, w->d, a->site), force, moment);
    if (a->reference >= 0) walk_wrench(w, other, stop, axes.p, cr_neg(force), cr_neg(moment));
}

static void walk_crank(Walk* w, const crActuator* a) {
    Crank c = crank_of(w->model, w->d, a);
    int body = w->model->sites[a->site].body, slider = w->model->sites[a->reference].body;
    crVec3 force = cr_scale(a->gear[0], c.by_x), turn = cr_scale(a->gear[0], cr_cross(c.z, c.by_z));
    int stop = shared(w->model, body, slider);
    walk_wrench(w, body, stop, site_point(w->model, w->d, a->site), force, cr_vec3(0, 0, 0));
    walk_wrench(w, slider, stop, site_point(w->model, w->d, a->reference), cr_neg(force), turn);
}

double cr__line_walk(const crModel* model, const crDynamics* d, int line, crEntryFn entry, void* ctx) {
    Walk w = {model, d, entry, ctx, 0.0};
    if (line < model->tendon_count) {
        walk_tendon(&w, &model->tendons[line], 1.0);
        return w.given;
    }
    const crActuator* a = &model->actuators[line - model->tendon_count];
    if (a->transmission == CR_ALONG_TENDON) walk_tendon(&w, &model->tendons[a->tendon], a->gear[0]);
    if (a->transmission == CR_ALONG_SITE) walk_site(&w, a);
    if (a->transmission == CR_ALONG_CRANK) walk_crank(&w, a);
    for (int k = 0; k < a->dof_count; k++) {
        entry(ctx, a->dof[k], a->gear[k]);
    }
    return w.given;
}

typedef struct Sum {
    const double* v;
    double sum;
} Sum;
static void add_product(void* ctx, int dof, double value) {
    Sum* s = ctx;
    s->sum += value * s->v[dof];
}

double cr__line_rate(const crModel* model, const crDynamics* d, int line, const double* v) {
    Sum s = {v, 0.0};
    double given = cr__line_walk(model, d, line, add_product, &s);
    return s.sum + given;
}

typedef struct Scaled {
    double f;
    double* k;
} Scaled;
static void add_scaled(void* ctx, int dof, double value) {
    const Scaled* s = ctx;
    s->k[dof] += s->f * value;
}

void cr__line_add(const crModel* model, const crDynamics* d, int line, double f, double* k) {
    Scaled s = {f, k};
    cr__line_walk(model, d, line, add_scaled, &s);
}

typedef struct One {
    int dof;
    double sum;
} One;
static void add_one(void* ctx, int dof, double value) {
    One* one = ctx;
    if (dof == one->dof) one->sum += value;
}

double cr__line_entry(const crModel* model, const crDynamics* d, int line, int dof) {
    One one = {dof, 0.0};
    cr__line_walk(model, d, line, add_one, &one);
    return one.sum;
}

// forces

// how far l is beyond the range in which the spring is slack
static double stretch(const crTendon* t, double l) {
    return l > t->rest_upper ? l - t->rest_upper : l < t->rest_lower ? l - t->rest_lower : 0.0;
}

crActuation cr__line_actuation(const crModel* model, const crState* state, int line, double l, double rate) {
    if (line >= model->tendon_count)
        return cr__actuation_at(model, state, line - model->tendon_count, l, rate);
    const crTendon* t = &model->tendons[line];
    double rest = l > t->rest_upper ? t->rest_upper : t->rest_lower;
    if (stretch(t, l) == 0.0) return (crActuation){0.0, 0.0, t->damping};
    return (crActuation){t->stiffness * rest, t->stiffness, t->damping};
}

void cr__lines_add(const crModel* model, const crState* state, const crDynamics* d, int first, double* k) {
    for (int i = first; i < cr__line_count(model); i++) {
        if (!cr__line_pulls(model, i)) continue;
        double l = cr__line_length(model, d, i), rate = cr__line_rate(model, d, i, state->v);
        crActuation x = cr__line_actuation(model, state, i, l, rate);
        cr__line_add(model, d, i, x.force - x.stiffness * l - x.damping * rate, k);
    }
}

double cr__tendon_energy(const crModel* model, const crDynamics* d) {
    double sum = 0.0;
    for (int i = 0; i < model->tendon_count; i++) {
        double s = stretch(&model->tendons[i], cr__line_length(model, d, i));
        sum += 0.5 * model->tendons[i].stiffness * s * s;
    }
    return sum;
}
