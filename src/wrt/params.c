// params.c - parameters that a step is differentiated by, and how they are changed for a difference.
//
// A mass changes with its inertia in proportion. Coefficients are those of the surface that a world keeps for a pair of
// materials. Fails: CR_ERR_RANGE for a body without mass or a material that does not exist.
#include <string.h>

#include "base/argument.h"
#include "step/step.h"
#include "wrt/inside.h"

static crStatus check_param(const crModel* model, const crWrtParam* p, int i, crError* error) {
    bool kind = p->kind >= CR_WRT_MASS && p->kind <= CR_WRT_MU_ROLL;
    bool control = p->a >= 0 && p->a < model->nu;
    bool body = p->a > 0 && p->a < model->nb && model->bodies[p->a].mass > 0.0;
    bool pair = p->a >= 0 && p->a < model->material_count && p->b >= 0 && p->b < model->material_count;
    if (kind && (p->kind == CR_WRT_MASS ? body : p->kind == CR_WRT_CTRL ? control : pair)) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, "params",
                        "params: number %d is of kind %d with %d and %d; must be a body with "
                        "mass, two materials or an actuator",
                        i, (int)p->kind, p->a, p->b);
}

crStatus cr_wrt_params(crWrt* wrt, int count, const crWrtParam* params, crError* error) {
    if (wrt == NULL) return cr__missing(error, "wrt");
    if (count < 0) return cr_error_set(error, CR_ERR_RANGE, "count", "count: is %d, must be >= 0", count);
    if (params == NULL) return cr__missing(error, "params");
    for (int i = 0; i < count; i++) {
        crStatus status = check_param(&wrt->model, &params[i], i, error);
        if (status != CR_OK) return status;
    }
    size_t n = (size_t)count, inputs = 3 * (size_t)wrt->model.nv + n;
    crWrtParam* own = cr_arena_alloc(&wrt->arena, (n + 1) * sizeof *own);
    double* d = cr_arena_alloc(&wrt->arena, (inputs + 1) * sizeof *d);
    crBody* bodies = cr_arena_alloc(&wrt->arena, (n + 1) * sizeof *bodies);
    double* values = cr_arena_alloc(&wrt->arena, (n + 1) * sizeof *values);
    bool* bounced = cr_arena_alloc(&wrt->arena, (n + 1) * sizeof *bounced);
    if (own == NULL || d == NULL || bodies == NULL || values == NULL || bounced == NULL)
        return cr_error_set(error, CR_ERR_MEMORY, "params", "params: out of memory");
    memcpy(own, params, n * sizeof *own);
    wrt->params = own;
    wrt->bodies = bodies;
    wrt->values = values;
    wrt->bounced = bounced;
    wrt->d = d;
    wrt->param_count = count;
    wrt->recorded = false;
    return CR_OK;
}

// kinematics that stand while q does are made again
static void forget_poses_of(crStep* step) {
    for (int i = 0; i < step->model->nq; i++) {
        step->dynamics.q[i] = (double)NAN;
    }
}

static void scale_body(crBody* b, double by) {
    const crSym3 I = b->inertia;
    b->mass *= by;
    b->inertia = (crSym3){by * I.xx, by * I.xy, by * I.xz, by * I.yy, by * I.yz, by * I.zz};
    for (int i = 0; i < 3; i++) {
        b->principal[i] *= by;
    }
}

// The surfaces that the world keeps for two materials, in either order; false: no memory.
static bool surfaces_of(crWrt* w, const crWrtParam* p, crNearSurface* found[2]) {
    crPairs* pairs = cr_world_stages(w->world)->pairs;
    int one = cr__pairs_surface(pairs, p->a, p->b), other = cr__pairs_surface(pairs, p->b, p->a);
    if (one < 0 || other < 0) return false;
    found[0] = pairs->surfaces[one];
    found[1] = pairs->surfaces[other];
    return true;
}

static double* coefficient_of(crNearSurface* surface, crWrtParamKind kind) {
    crSurface* s = &surface->at_rest.surface;
    if (kind == CR_WRT_MU_SPIN) return &s->mu_spin;
    if (kind == CR_WRT_MU_ROLL) return &s->mu_roll;
    return kind == CR_WRT_MU ? &s->mu : kind == CR_WRT_E ? &s->e : &s->et;
}

// contacts of the two materials have rows of moments: none is swept in packed form any more
static void have_moments(crPairs* pairs, const crWrtParam* p) {
    int one = cr__pairs_surface(pairs, p->a, p->b), other = cr__pairs_surface(pairs, p->b, p->a);
    for (int i = 0; i < pairs->count; i++) {
        crNear* near = &pairs->near[i];
        if ((int)near->surface == one || (int)near->surface == other) near->packable = false;
    }
}

static bool set_coefficient(crWrt* w, const crWrtParam* p, double x) {
    crNearSurface* found[2];
    if (!surfaces_of(w, p, found)) return false;
    bool moments = p->kind == CR_WRT_MU_SPIN || p->kind == CR_WRT_MU_ROLL;
    if (moments && x > 0.0) have_moments(cr_world_stages(w->world)->pairs, p);
    for (int i = 0; i < 2; i++) {
        crSurface* s = &found[i]->at_rest.surface;
        if (p->kind == CR_WRT_MU && s->mu2 == s->mu) s->mu2 = x;
        *coefficient_of(found[i], p->kind) = x;
    }
    return true;
}

// what bounces is located in time: a surface says whether it may
static void set_bounces(crWrt* w, const crWrtParam* p) {
    crPairs* pairs = cr_world_stages(w->world)->pairs;
    crNearSurface* found[2];
    if (!surfaces_of(w, p, found)) return;
    for (int i = 0; i < 2; i++) {
        const crSurface* s = &found[i]->at_rest.surface;
        found[i]->bounces = found[i]->bounces || s->e > 0.0 || (pairs->materials.reads_et && s->et != 0.0);
        pairs->bouncing = pairs->bouncing || found[i]->bounces;
    }
}

crStatus cr__wrt_params_change(crWrt* w, double t, const double* d) {
    w->bouncing = cr_world_stages(w->world)->pairs->bouncing;
    for (int i = 0; i < w->param_count; i++) {
        const crWrtParam* p = &w->params[i];
        if (d[i] == 0.0) continue;
        if (p->kind == CR_WRT_MASS) {
            crBody* body = &w->model.bodies[p->a];
            w->bodies[i] = *body;
            scale_body(body, 1.0 + t * d[i] / body->mass);
            forget_poses_of(cr_world_stages(w->world));
            continue;
        }
        if (p->kind == CR_WRT_CTRL) {
            cr_world_state(w->world)->ctrl[p->a] += t * d[i];
            continue;
        }
        crNearSurface* found[2];
        if (!surfaces_of(w, p, found)) return CR_ERR_MEMORY;
        w->values[i] = *coefficient_of(found[0], p->kind);
        w->bounced[i] = found[0]->bounces;
        set_coefficient(w, p,
                        p->kind == CR_WRT_ET ? w->values[i] + t * d[i] : fmax(0.0, w->values[i] + t * d[i]));
        set_bounces(w, p);
    }
    return CR_OK;
}

const char* cr__wrt_params_begin(crWrt* w) {
    double fast = cr_world_stages(w->world)->settings.threshold;
    for (int i = 0; i < w->param_count; i++) {
        const crWrtParam* p = &w->params[i];
        crNearSurface* found[2];
        bool of_pair = p->kind != CR_WRT_MASS && p->kind != CR_WRT_CTRL && p->kind != CR_WRT_ET;
        if (!of_pair || !surfaces_of(w, p, found) || *coefficient_of(found[0], p->kind) != 0.0) continue;
        bool e = p->kind == CR_WRT_E;
        if (!cr__tape_meet(&w->tape, p, e ? fast : -INFINITY)) continue;
        return e ? "restitution that is a parameter is zero" : "friction that is a parameter is zero";
    }
    return NULL;
}

void cr__wrt_params_restore(crWrt* w, const double* d) {
    for (int i = w->param_count - 1; i >= 0; i--) {
        const crWrtParam* p = &w->params[i];
        // a state brings its own controls
        if (d[i] == 0.0 || p->kind == CR_WRT_CTRL) continue;
        if (p->kind == CR_WRT_MASS) {
            w->model.bodies[p->a] = w->bodies[i];
            forget_poses_of(cr_world_stages(w->world));
            continue;
        }
        set_coefficient(w, p, w->values[i]);
        crNearSurface* found[2];
        if (surfaces_of(w, p, found)) found[0]->bounces = found[1]->bounces = w->bounced[i];
    }
    cr_world_stages(w->world)->pairs->bouncing = w->bouncing;
}

static bool allowed(const crWrtParam* p, double x) {
    if (!isfinite(x)) return false;
    if (p->kind == CR_WRT_MASS) return x > 0.0;
    if (p->kind == CR_WRT_ET) return x >= -1.0 && x <= 1.0;
    return p->kind == CR_WRT_CTRL || x >= 0.0;
}

crStatus cr_wrt_set(crWrt* w, const double* values, crError* error) {
    if (w == NULL) return cr__missing(error, "wrt");
    if (values == NULL) return cr__missing(error, "values");
    static const char* const names[] = {"mass, > 0", "mu, >= 0",      "e, >= 0",      "et, -1 to 1",
                                        "control",   "mu_spin, >= 0", "mu_roll, >= 0"};
    for (int i = 0; i < w->param_count; i++) {
        if (allowed(&w->params[i], values[i])) continue;
        return cr_error_set(error, CR_ERR_RANGE, "values", "values: number %d is %g, must be a %s", i,
                            values[i], names[w->params[i].kind]);
    }
    for (int i = 0; i < w->param_count; i++) {
        const crWrtParam* p = &w->params[i];
        if (p->kind == CR_WRT_CTRL) continue;
        if (p->kind == CR_WRT_MASS) {
            crBody* body = &w->model.bodies[p->a];
            scale_body(body, values[i] / body->mass);
            forget_poses_of(cr_world_stages(w->world));
            forget_poses_of(&w->tape.eval);
            forget_poses_of(&w->tape.other);
            continue;
        }
        if (!set_coefficient(w, p, values[i]))
            return cr_error_set(error, CR_ERR_MEMORY, "values", "values: out of memory");
        set_bounces(w, p);
    }
    w->recorded = false;
    return CR_OK;
}
