// adjoint.c - derivatives of a figure of the last state of a run by its first state and by its forces.
//
// Backwards over the steps: lambda <- J^T lambda of each step (wrt.c). States are kept at the beginning of every
// stretch of about sqrt(steps) steps and made again within a stretch, the same bits each time.
// Fails: as a step's derivative does.
#include <string.h>

#include "base/argument.h"
#include "carom/wrt.h"
#include "model/spatial.h"
#include "wrt/change.h"

typedef struct Kept {
    crState* marks;   // at the beginning of each stretch
    crState* inside;  // of each step of one stretch
    double* out;      // (3 nv + params)
    int stretch;
} Kept;

static bool make_states(const crModel* model, crArena* arena, int count, crState** out) {
    *out = cr_arena_alloc(arena, (size_t)count * sizeof **out);
    bool good = *out != NULL;
    for (int i = 0; good && i < count; i++) {
        good = cr_state_create(model, arena, &(*out)[i]) == CR_OK;
    }
    return good;
}

static void set_forces(const crModel* model, crState* state, const double* forces, int step) {
    size_t nv = (size_t)model->nv;
    if (forces != NULL) memcpy(state->force, forces + (size_t)step * nv, nv * sizeof *forces);
}

// lambda (2 nv) before the step from `at`, and by its force; by_param adds up
static crStatus back(crWrt* wrt, const crModel* model, const crState* at, Kept* k, double* lambda,
                     double* by_force, double* by_param, crWrtVerdict* worst, crError* error) {
    crWrtVerdict one;
    size_t nv = (size_t)model->nv;
    crStatus status = cr_wrt_back(wrt, at, lambda, k->out, &one, error);
    if (status != CR_OK) return status;
    double residual = fmax(one.residual, worst->residual);
    double distance = one.distance < worst->distance ? one.distance : worst->distance;
    if (one.verdict > worst->verdict) *worst = one;
    worst->differenced = worst->differenced || one.differenced;
    if (one.why != NULL) worst->why = one.why;
    if (one.distance < worst->distance) worst->nearest = one.nearest;
    worst->residual = residual;
    worst->distance = distance;
    memcpy(lambda, k->out, 2 * nv * sizeof *lambda);
    if (by_force != NULL) memcpy(by_force, k->out + 2 * nv, nv * sizeof *by_force);
    for (int i = 0; by_param != NULL && i < cr__wrt_params(wrt); i++) {
        by_param[i] += k->out[3 * nv + (size_t)i];
    }
    return CR_OK;
}

static crStatus sweep(crWrt* wrt, const crModel* model, crState* state, int steps, const double* forces,
                      Kept* k, double* lambda, double* by_force, double* by_param, crWrtVerdict* worst,
                      crError* error) {
    crStatus status = CR_OK;
    for (int i = 0; i < steps && status == CR_OK; i++) {
        if (i % k->stretch == 0) cr__change_copy(model, state, &k->marks[i / k->stretch]);
        set_forces(model, state, forces, i);
        status = cr_wrt_step(wrt, state, state, error);
    }
    for (int s = (steps - 1) / k->stretch; s >= 0 && status == CR_OK; s--) {
        int first = s * k->stretch;
        int count = steps - first < k->stretch ? steps - first : k->stretch;
        cr__change_copy(model, &k->marks[s], &k->inside[0]);
        for (int i = 0; i < count && status == CR_OK; i++) {
            set_forces(model, &k->inside[i], forces, first + i);
            if (i + 1 < count) status = cr_wrt_step(wrt, &k->inside[i], &k->inside[i + 1], error);
        }
        for (int i = count - 1; i >= 0 && status == CR_OK; i--) {
            double* by = by_force != NULL ? by_force + (size_t)(first + i) * (size_t)model->nv : NULL;
            status = back(wrt, model, &k->inside[i], k, lambda, by, by_param, worst, error);
        }
    }
    return status;
}

crStatus cr_wrt_adjoint(crWrt* wrt, crState* state, int steps, const double* forces, const double* by_end,
                        double* by_start, double* by_force, double* by_param, crWrtVerdict* verdict,
                        crError* error) {
    if (wrt == NULL) return cr__missing(error, "wrt");
    if (!cr__state_fits(cr__wrt_model(wrt), state)) return cr__missing(error, "state");
    if (by_end == NULL) return cr__missing(error, "by_end");
    if (by_start == NULL) return cr__missing(error, "by_start");
    if (steps < 0) return cr_error_set(error, CR_ERR_RANGE, "steps", "steps: is %d, must be >= 0", steps);
    const crModel* model = cr__wrt_model(wrt);
    size_t nv = (size_t)model->nv;
    Kept k = {.stretch = 1};
    while (k.stretch * k.stretch < steps) {
        k.stretch++;
    }
    crArena arena;
    crStatus status = cr_arena_create(&arena, NULL, 0);
    crWrtVerdict worst = {.verdict = CR_SMOOTH, .distance = INFINITY};
    if (status == CR_OK) {
        k.out = cr_arena_alloc(&arena, (3 * nv + (size_t)cr__wrt_params(wrt) + 1) * sizeof *k.out);
        bool good = make_states(model, &arena, k.stretch + 1, &k.marks) &&
                    make_states(model, &arena, k.stretch + 1, &k.inside) && k.out != NULL;
        if (!good) status = CR_ERR_MEMORY;
    }
    if (status != CR_OK) {
        cr_arena_destroy(&arena);
        return cr_error_set(error, status, "steps", "steps: out of memory");
    }
    memcpy(by_start, by_end, 2 * nv * sizeof *by_start);
    for (int i = 0; by_param != NULL && i < cr__wrt_params(wrt); i++) {
        by_param[i] = 0.0;
    }
    status = sweep(wrt, model, state, steps, forces, &k, by_start, by_force, by_param, &worst, error);
    cr_arena_destroy(&arena);
    if (verdict != NULL) *verdict = worst;
    return status;
}
