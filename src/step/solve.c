// solve.c - impulses from the problem, and the velocities after them.
//
// v+ = v_free + M^-1 J^T p. What the audit finds goes into the certificate, the worst of all solves of the
// step. Forces of the contacts are kept under their features for the next start; a contact that is not among
// those of the step before begins: an event.
// Fails: CR_ERR_FINITE where velocities are not numbers; CR_ERR_MEMORY. A solve that did not converge is no
// failure.
#include <string.h>

#include "step/cache.h"

crStatus cr_step_solve(crStep* step, crError* error) {
    crSolver solver = step->settings.solver;
    crSolverParams params = cr_solver_params();
    params.tol = step->settings.tol;
    if (solver.params == NULL) solver.params = &params;
    crStatus status = cr_solver_run(&solver, &step->problem, step->settings.tol, &step->scratch, step->p,
                                    &step->report, error);
    if (status != CR_OK) return status;
    const crAudit* audit = &step->report.audit;
    crCertificate* c = &step->certificate;
    c->solves++;
    if (step->report.outcome != CR_OUTCOME_SOLVED) c->outcome = step->report.outcome;
    c->residual = fmax(c->residual, audit->residual);
    c->approach = fmax(c->approach, audit->approach);
    c->cone = fmax(c->cone, audit->cone);
    c->dissipation = fmax(c->dissipation, audit->dissipation);
    c->complementarity = fmax(c->complementarity, audit->complementarity);
    return CR_OK;
}

static int compare(const crWarm* w, const crStepContact* c, bool shapes_only) {
    const crContactPoint* p = &c->point;
    if (w->shape_a != c->shape_a) return w->shape_a < c->shape_a ? -1 : 1;
    if (w->shape_b != c->shape_b) return w->shape_b < c->shape_b ? -1 : 1;
    if (shapes_only) return 0;
    if (w->child_a != p->child_a) return w->child_a < p->child_a ? -1 : 1;
    if (w->child_b != p->child_b) return w->child_b < p->child_b ? -1 : 1;
    if (w->feature_a != p->feature_a) return w->feature_a < p->feature_a ? -1 : 1;
    if (w->feature_b != p->feature_b) return w->feature_b < p->feature_b ? -1 : 1;
    return 0;
}

// first of the forces kept, which are sorted as contacts are, that is not before c; NULL where it is not c's
static const crWarm* search(const crStep* step, const crStepContact* c, bool shapes_only) {
    int lo = 0, hi = step->warm_count;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        bool before = compare(&step->warm[mid], c, shapes_only) < 0;
        lo = before ? mid + 1 : lo;
        hi = before ? hi : mid;
    }
    bool found = lo < step->warm_count && compare(&step->warm[lo], c, shapes_only) == 0;
    return found ? &step->warm[lo] : NULL;
}

const crWarm* cr__step_warm(const crStep* step, const crStepContact* c) { return search(step, c, false); }

static crStatus add_beginning(crStep* step, const crStepContact* c) {
    if (!(c->speed < 0.0) || search(step, c, true) != NULL) return CR_OK;
    crEvent event = {.time = step->state.time, .shape_a = c->shape_a, .shape_b = c->shape_b};
    event.body_a = c->body_a;
    event.body_b = c->body_b;
    event.point = c->point.point;
    event.normal = c->point.normal;
    event.approach = -c->speed;
    event.impulse = c->impulse;
    event.energy_change = 0.5 * c->speed * cr_dot(c->impulse, c->point.normal);
    event.impact = -1;
    return cr_step_event_add(step, &event);
}

// whether a kept force is of the part: neither of its bodies moves outside
static bool of_part(const crStep* step, const crWarm* w) {
    const crModel* model = step->model;
    int a = model->shapes[w->shape_a].body, b = model->shapes[w->shape_b].body;
    const int* mark = step->cache->mark;
    return (!cr__moves(model, a) || mark[a] != 0) && (!cr__moves(model, b) || mark[b] != 0);
}

// forces of the part's contacts take the place of its old ones, in order
static crStatus keep_forces(crStep* step, int pressed) {
    void* warm = step->warm;
    int old_count = step->warm_count;
    crStatus status = cr__step_grow(&step->allocator, &warm, &step->warm_capacity, old_count,
                                    old_count + pressed, sizeof *step->warm);
    step->warm = warm;
    size_t mark = cr_arena_mark(&step->scratch);
    crWarm* old = cr_arena_alloc(&step->scratch, (size_t)(old_count + 1) * sizeof *old);
    if (status != CR_OK || old == NULL) return CR_ERR_MEMORY;
    int kept = 0;
    for (int k = 0; k < step->part_count; k++) {
        step->cache->mark[step->part[k]] = 1;
    }
    for (int i = 0; i < old_count; i++) {
        if (!of_part(step, &step->warm[i])) old[kept++] = step->warm[i];
    }
    for (int k = 0; k < step->part_count; k++) {
        step->cache->mark[step->part[k]] = 0;
    }
    step->warm_count = 0;
    int next = 0;
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (c->row < 0 || !(step->p[c->row] > 0.0)) continue;
        while (next < kept && compare(&old[next], c, false) < 0) {
            step->warm[step->warm_count++] = old[next++];
        }
        step->warm[step->warm_count++] = (crWarm){c->shape_a,
                                                  c->shape_b,
                                                  c->point.child_a,
                                                  c->point.child_b,
                                                  c->point.feature_a,
                                                  c->point.feature_b,
                                                  cr_scale(1.0 / step->h, c->impulse)};
    }
    while (next < kept) {
        step->warm[step->warm_count++] = old[next++];
    }
    cr_arena_release(&step->scratch, mark);
    return CR_OK;
}

crStatus cr_step_apply(crStep* step, crError* error) {
    const crModel* model = step->model;
    double* dv = step->dynamics.work;
    for (int k = 0; k < step->part_count; k++) {
        const crBody* body = &model->bodies[step->part[k]];
        memset(dv + body->v, 0, (size_t)body->nv * sizeof *dv);
    }
    cr_rows_add_impulse(&step->rows, step->p, dv);
    cr__part_mass_solve(model, cr__step_part(step), &step->dynamics, dv);
    for (int k = 0; k < step->part_count; k++) {
        const crBody* body = &model->bodies[step->part[k]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            step->state.v[i] = step->v_free[i] + dv[i];
        }
    }
    int pressed = 0;
    crStatus status = CR_OK;
    for (int i = 0; i < step->contact_count && status == CR_OK; i++) {
        crStepContact* c = &step->contacts[i];
        if (c->row < 0 || !(step->p[c->row] > 0.0)) continue;
        int count = cr__step_contact_rows(c);
        int linear = count == 1 ? 1 : (c->planar ? 2 : 3);
        c->impulse = cr_vec3(0, 0, 0);
        for (int r = 0; r < linear; r++) {
            c->impulse = cr_madd(c->impulse, step->p[c->row + r], cr_mat3_column(c->frame, r));
        }
        pressed++;
        status = add_beginning(step, c);
    }
    if (status == CR_OK) status = keep_forces(step, pressed);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}
