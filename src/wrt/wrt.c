// wrt.c - derivatives of a step, with a verdict: along its tape where it has one, else by differences.
//
// Solves are certified to the least tolerance, and end near rounding. A step whose tape is known (record.c) is differentiated
// operation by operation; another, and one that the tape finds at a switch, as a whole (difference.c).
// Fails: as a step does; CR_ERR_RANGE with the residual where a step is not solved.
#include <string.h>

#include "base/argument.h"
#include "carom/stages.h"
#include "model/spatial.h"
#include "wrt/inside.h"

#define TOL 1e-13  // of contact solves

void cr_wrt_destroy(crWrt* wrt) {
    if (wrt == NULL) return;
    cr__tape_destroy(&wrt->tape);
    cr_world_destroy(wrt->world);
    crArena arena = wrt->arena;
    cr_arena_destroy(&arena);
}

static bool get_memory(crWrt* w, const crModel* model) {
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    w->base = cr_arena_alloc(&w->arena, (nq + nv + 1) * sizeof(double));
    w->end = cr_arena_alloc(&w->arena, (nq + nv + 1) * sizeof(double));
    bool good = w->base != NULL && w->end != NULL;
    for (int i = 0; i < 4; i++) {
        w->moved[i] = cr_arena_alloc(&w->arena, (nq + nv + 1) * sizeof(double));
        good = good && w->moved[i] != NULL;
    }
    for (int i = 0; i < 2; i++) {
        w->side[i] = cr_arena_alloc(&w->arena, (2 * nv + 1) * sizeof(double));
        w->rough[i] = cr_arena_alloc(&w->arena, (2 * nv + 1) * sizeof(double));
        good = good && w->side[i] != NULL && w->rough[i] != NULL;
    }
    w->d = cr_arena_alloc(&w->arena, (3 * nv + 1) * sizeof(double));
    w->work = cr_arena_alloc(&w->arena, (cr__change_work(model) + nq + 1) * sizeof(double));
    return good && w->d != NULL && w->work != NULL;
}

crStatus cr_wrt_create(const crWorldDef* def, crWrt** wrt, crError* error) {
    if (def == NULL) return cr__missing(error, "def");
    if (wrt == NULL) return cr__missing(error, "wrt");
    *wrt = NULL;
    if (def->model == NULL) return cr__missing(error, "model");
    crArena arena;
    crStatus status = cr_arena_create(&arena, def->allocator, 0);
    if (status != CR_OK) return cr_error_set(error, status, "wrt", "wrt: out of memory");
    crWrt* w = cr_arena_alloc(&arena, sizeof *w);
    if (w == NULL) {
        cr_arena_destroy(&arena);
        return cr_error_set(error, CR_ERR_MEMORY, "wrt", "wrt: out of memory");
    }
    *w = (crWrt){.arena = arena};
    size_t bodies = (size_t)def->model->nb * sizeof(crBody);
    w->model = *def->model;
    w->model.bodies = cr_arena_alloc(&w->arena, bodies + 1);
    if (w->model.bodies == NULL) {
        cr_wrt_destroy(w);
        return cr_error_set(error, CR_ERR_MEMORY, "wrt", "wrt: out of memory");
    }
    if (bodies > 0) memcpy(w->model.bodies, def->model->bodies, bodies);
    crWorldDef own = *def;
    own.model = &w->model;
    own.step.quality = CR_QUALITY_CERTIFIED;
    own.step.tol = TOL;
    own.step.sleep_time = 0.0;
    own.step.error = 0.0;
    own.scratch = NULL;
    status = cr_world_create(&own, &w->world, error);
    if (status == CR_OK) status = cr__tape_create(&w->tape, w->world, &w->model, error);
    if (status == CR_OK && !get_memory(w, def->model)) {
        status = cr_error_set(error, CR_ERR_MEMORY, "wrt", "wrt: out of memory");
    }
    if (status != CR_OK) {
        cr_wrt_destroy(w);
        return status;
    }
    *wrt = w;
    return CR_OK;
}

const crModel* cr__wrt_model(const crWrt* wrt) { return cr_world_model(wrt->world); }
int cr__wrt_params(const crWrt* wrt) { return wrt->param_count; }

crStatus cr_wrt_set_dt(crWrt* wrt, double dt, crError* error) {
    if (wrt == NULL) return cr__missing(error, "wrt");
    if (!(dt > 0.0 && isfinite(dt)))
        return cr_error_set(error, CR_ERR_RANGE, "dt", "dt: is %g, must be > 0 and finite", dt);
    cr_world_stages(wrt->world)->settings.dt = wrt->tape.eval.settings.dt = dt;
    wrt->tape.other.settings.dt = wrt->tape.dt = dt;
    wrt->recorded = false;
    return CR_OK;
}

static bool fits(const crWrt* wrt, const crState* state) {
    return cr__state_fits(cr_world_model(wrt->world), state);
}

static bool same_state(const crModel* model, const crState* a, const crState* b) {
    size_t nq = (size_t)model->nq * sizeof(double), nv = (size_t)model->nv * sizeof(double);
    bool same = a->time == b->time && memcmp(a->q, b->q, nq) == 0 && memcmp(a->v, b->v, nv) == 0;
    same = same && memcmp(a->force, b->force, nv) == 0 && memcmp(a->motor_speed, b->motor_speed, nv) == 0;
    return same && (model->nu == 0 || memcmp(a->ctrl, b->ctrl, (size_t)model->nu * sizeof(double)) == 0);
}

static void recorded_end(const crWrt* w, const crState* from, crState* to) {
    size_t nq = (size_t)w->model.nq;
    cr__change_copy(&w->model, from, to);
    memcpy(to->q, w->end, nq * sizeof *to->q);
    memcpy(to->v, w->end + nq, (size_t)w->model.nv * sizeof *to->v);
    to->time = from->time + w->tape.dt;
}

crStatus cr_wrt_step(crWrt* wrt, const crState* from, crState* to, crError* error) {
    if (wrt == NULL) return cr__missing(error, "wrt");
    if (!fits(wrt, from)) return cr__missing(error, "from");
    if (to != NULL && !fits(wrt, to)) return cr__missing(error, "to");
    // the step that was recorded last is known
    if (wrt->recorded && wrt->model.na == 0 && same_state(&wrt->model, from, &wrt->tape.start)) {
        if (to != NULL) recorded_end(wrt, from, to);
        return CR_OK;
    }
    crStatus status = cr__wrt_step_from(wrt, from, 0.0, NULL, wrt->base, error);
    if (status == CR_OK && to != NULL)
        cr__change_copy(cr_world_model(wrt->world), cr_world_state(wrt->world), to);
    return status;
}

// The step and its tape. The tape of the state before is kept: many changes of one step cost one record.
static crStatus record(crWrt* w, const crState* from, crError* error) {
    if (w->recorded && same_state(&w->model, from, &w->tape.start)) return CR_OK;
    w->recorded = false;
    crStatus status = cr__tape_record(&w->tape, from, error);
    if (status == CR_OK) status = cr__wrt_solved(w, w->base, error);
    const char* begins = status == CR_OK ? cr__wrt_params_begin(w) : NULL;
    if (begins != NULL) cr__tape_unknown(&w->tape, begins);
    memcpy(w->end, w->base, (size_t)(w->model.nq + w->model.nv) * sizeof *w->end);
    w->recorded = status == CR_OK;
    w->tape.verdict.residual = w->residual;
    return status;
}

// What the tape says; of a step that is differenced the reason.
static void tell(const crWrt* w, const crWrtVerdict* found, crWrtVerdict* verdict) {
    if (verdict == NULL) return;
    *verdict = *found;
    if (!found->differenced) return;
    verdict->why = w->tape.why;
    if (w->tape.verdict.distance < INFINITY && found->verdict == CR_SMOOTH)
        verdict->distance = w->tape.verdict.distance;
}

static void from_tape(crWrt* w, crWrtVerdict* verdict) {
    *verdict = w->tape.verdict;
    if (w->tape.edge) verdict->verdict = CR_ONE_SIDED;
}

// J d along the tape, on one side
static crStatus along_tape(crWrt* w, const double* d, int side, double* out, crError* error) {
    size_t nv = (size_t)w->model.nv;
    double* one = w->rough[0];
    w->tape.side = side;
    crStatus status = cr__tape_apply(&w->tape, d, d + 2 * nv, NULL, out, error);
    for (int i = 0; i < w->param_count && status == CR_OK; i++) {
        double by = d[3 * nv + (size_t)i];
        if (by == 0.0) continue;
        status = cr__tape_apply(&w->tape, NULL, NULL, &w->params[i], one, error);
        for (size_t k = 0; k < 2 * nv; k++) {
            out[k] += by * one[k];
        }
    }
    w->tape.side = 0;
    return status;
}

// J d of the step that was recorded.
static crStatus apply_recorded(crWrt* w, const crState* from, const double* d, double* minus, double* plus,
                               crWrtVerdict* verdict, crError* error) {
    size_t nv = (size_t)w->model.nv;
    if (!w->tape.known) return cr__wrt_difference(w, from, d, minus, plus, verdict, error);
    from_tape(w, verdict);
    double *upper = w->side[1], *lower = w->tape.edge && minus != NULL ? w->side[0] : upper;
    crStatus status = along_tape(w, d, 1, upper, error);
    if (status == CR_OK && lower != upper) status = along_tape(w, d, -1, lower, error);
    if (status == CR_OK && !w->tape.known) return cr__wrt_difference(w, from, d, minus, plus, verdict, error);
    for (size_t i = 0; i < 2 * nv && status == CR_OK; i++) {
        if (minus != NULL) minus[i] = lower[i];
        if (plus != NULL) plus[i] = upper[i];
    }
    return status;
}

crStatus cr_wrt_apply(crWrt* wrt, const crState* from, const double* d, double* minus, double* plus,
                      crWrtVerdict* verdict, crError* error) {
    if (wrt == NULL) return cr__missing(error, "wrt");
    if (!fits(wrt, from)) return cr__missing(error, "from");
    if (d == NULL) return cr__missing(error, "d");
    crWrtVerdict own = {0};
    crStatus status = record(wrt, from, error);
    if (status == CR_OK) status = apply_recorded(wrt, from, d, minus, plus, &own, error);
    if (status == CR_OK) tell(wrt, &own, verdict);
    return status;
}

crStatus cr_wrt_jacobian(crWrt* wrt, const crState* from, double* J, crWrtVerdict* verdict, crError* error) {
    if (wrt == NULL) return cr__missing(error, "wrt");
    if (!fits(wrt, from)) return cr__missing(error, "from");
    if (J == NULL) return cr__missing(error, "J");
    size_t rows = 2 * (size_t)wrt->model.nv, n = 3 * (size_t)wrt->model.nv + (size_t)wrt->param_count;
    crWrtVerdict worst = {.verdict = CR_SMOOTH, .distance = INFINITY};
    size_t mark = cr_arena_mark(&wrt->arena);
    double* column = cr_arena_alloc(&wrt->arena, (rows + 1) * sizeof *column);
    crStatus status = column != NULL ? CR_OK : cr_error_set(error, CR_ERR_MEMORY, "J", "J: out of memory");
    if (status == CR_OK) status = record(wrt, from, error);
    for (size_t k = 0; k < n && status == CR_OK; k++) {
        crWrtVerdict one = {0};
        memset(wrt->d, 0, n * sizeof *wrt->d);
        wrt->d[k] = 1.0;
        status = apply_recorded(wrt, from, wrt->d, NULL, column, &one, error);
        if (status != CR_OK) break;
        for (size_t i = 0; i < rows; i++) {
            J[i * n + k] = column[i];
        }
        double residual = fmax(worst.residual, one.residual);
        if (one.verdict > worst.verdict || k == 0) worst = one;
        worst.residual = residual;
    }
    cr_arena_release(&wrt->arena, mark);
    if (status == CR_OK) tell(wrt, &worst, verdict);
    return status;
}

crStatus cr_wrt_back(crWrt* wrt, const crState* from, const double* by, double* out, crWrtVerdict* verdict,
                     crError* error) {
    if (wrt == NULL) return cr__missing(error, "wrt");
    if (!fits(wrt, from)) return cr__missing(error, "from");
    if (by == NULL) return cr__missing(error, "by");
    if (out == NULL) return cr__missing(error, "out");
    crStatus status = record(wrt, from, error);
    if (status != CR_OK) return status;
    if (wrt->tape.known) {
        crWrtVerdict own;
        from_tape(wrt, &own);
        tell(wrt, &own, verdict);
        status = cr__tape_back(&wrt->tape, by, wrt->param_count, wrt->params, out, error);
        if (status != CR_OK || wrt->tape.known) return status;
    }
    size_t rows = 2 * (size_t)wrt->model.nv, n = 3 * (size_t)wrt->model.nv + (size_t)wrt->param_count;
    size_t mark = cr_arena_mark(&wrt->arena);
    double* J = cr_arena_alloc(&wrt->arena, (rows * n + 1) * sizeof *J);
    if (J == NULL) return cr_error_set(error, CR_ERR_MEMORY, "out", "out: out of memory");
    status = cr_wrt_jacobian(wrt, from, J, verdict, error);
    for (size_t k = 0; k < n && status == CR_OK; k++) {
        out[k] = 0.0;
        for (size_t i = 0; i < rows; i++) {
            out[k] += by[i] * J[i * n + k];
        }
    }
    cr_arena_release(&wrt->arena, mark);
    return status;
}
