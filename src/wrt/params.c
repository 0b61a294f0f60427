// params.c - parameters that a step is differentiated by, and how they are changed for a difference.
//
// A mass changes with its inertia in proportion. Coefficients are those of the surface that a world keeps for a pair of
// materials. Fails: CR_ERR_RANGE for a body without mass or a material that does not exist.
#include <string.h>

#include "base/argument.h"
#include "step/step.h"
#include "wrt/inside.h"

static crStatus check_param(const crModel* model, const crWrtParam* p, int i, crError* error) {
    bool kind = p->kind >= CR_WRT_MASS && p->kind <= CR_WRT_CTRL;
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
    if (own == NULL || d == NULL || bodies == NULL || values == NULL)
        return cr_error_set(error, CR_ERR_MEMORY, "params", "params: out of memory");
    memcpy(own, params, n * sizeof *own);
    wrt->params = own;
    wrt->bodies = bodies;
    wrt->values = values;
    wrt->d = d;
    wrt->param_count = count;
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

// the coefficient in the surface that the world keeps for two materials; NULL: no memory
static double* coefficient(crWrt* w, const crWrtParam* p) {
    crPairs* pairs = cr_world_stages(w->world)->pairs;
    int index = cr__pairs_surface(pairs, p->a < p->b ? p->a : p->b, p->a < p->b ? p->b : p->a);
    if (index < 0) return NULL;
    crSurface* s = &pairs->surfaces[index]->at_rest.surface;
    return p->kind == CR_WRT_MU ? &s->mu : p->kind == CR_WRT_E ? &s->e : &s->et;
}

crStatus cr__wrt_params_change(crWrt* w, double t, const double* d) {
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
        double* x = coefficient(w, p);
        if (x == NULL) return CR_ERR_MEMORY;
        w->values[i] = *x;
        *x += t * d[i];
    }
    return CR_OK;
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
        double* x = coefficient(w, p);
        if (x != NULL) *x = w->values[i];
    }
}
