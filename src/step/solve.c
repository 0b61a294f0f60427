// solve.c - impulses from the problem, and the velocities after them.
//
// v+ = v_free + M^-1 J^T p. What the audit finds goes into the certificate, the worst of all solves of the
// step. Forces of the contacts are kept under their features for the next start; a contact that is not among
// those of the step before begins: an event.
// Fails: CR_ERR_FINITE where velocities are not numbers; CR_ERR_MEMORY. A solve that did not converge is no
// failure.
#include <string.h>

#include "model/spatial.h"
#include "step/cache.h"
#include "step/packed.h"

#define HOLD 3.0  // deadbands within which a contact that pressed still touches

crStatus cr_step_solve(crStep* step, crError* error) {
    crSolver solver = step->settings.solver;
    crSolverParams params = cr_solver_params();
    params.tol = cr_step_tol(&step->settings);
    if (solver.params == NULL) solver.params = &params;
    crStatus status = cr_solver_run(&solver, &step->problem, cr_step_tol(&step->settings), &step->scratch,
                                    step->p, &step->report, error);
    if (status != CR_OK) return status;
    const crAudit* audit = &step->report.audit;
    cr__step_certify(step, step->report.outcome, audit, fmax(audit->approach, audit->dissipation));
    return CR_OK;
}

void cr__step_certify(crStep* step, crOutcome outcome, const crAudit* audit, double speed) {
    crCertificate* c = &step->certificate;
    c->solves++;
    if (outcome != CR_OUTCOME_SOLVED) c->outcome = outcome;
    c->residual = fmax(c->residual, audit->residual);
    c->residual_speed = fmax(c->residual_speed, speed);
    c->approach = fmax(c->approach, audit->approach);
    c->cone = fmax(c->cone, audit->cone);
    c->dissipation = fmax(c->dissipation, audit->dissipation);
    c->complementarity = fmax(c->complementarity, audit->complementarity);
}

static int compare(const crWarm* w, const crStepContact* c, bool shapes_only) {
    const crStepPoint* p = &c->point;
    if (w->shape_a != c->shape_a) return w->shape_a < c->shape_a ? -1 : 1;
    if (w->shape_b != c->shape_b) return w->shape_b < c->shape_b ? -1 : 1;
    if (shapes_only) return 0;
    if (w->child_a != p->child_a) return w->child_a < p->child_a ? -1 : 1;
    if (w->child_b != p->child_b) return w->child_b < p->child_b ? -1 : 1;
    if (w->feature_a != p->feature_a) return w->feature_a < p->feature_a ? -1 : 1;
    if (w->feature_b != p->feature_b) return w->feature_b < p->feature_b ? -1 : 1;
    return 0;
}

// the first force kept, from cursor on, that is not before c; NULL where it is not c's. Forces are sorted as
// contacts are
static const crWarm* next_kept(const crStep* step, const crStepContact* c, bool shapes_only, int* cursor) {
    int order = -1;
    while (*cursor < step->warm_count) {
        order = compare(&step->warm[*cursor], c, shapes_only);
        if (order >= 0) break;
        ++*cursor;
    }
    return order == 0 ? &step->warm[*cursor] : NULL;
}

const crWarm* cr__step_warm_next(const crStep* step, const crStepContact* c, int* cursor) {
    return next_kept(step, c, false, cursor);
}

int cr__step_warm_from(const crStep* step, const crStepContact* c) {
    int lo = 0, hi = step->warm_count;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        bool before = compare(&step->warm[mid], c, false) < 0;
        lo = before ? mid + 1 : lo;
        hi = before ? hi : mid;
    }
    return lo;
}

const crWarm* cr__step_warm(const crStep* step, const crStepContact* c) {
    int at = cr__step_warm_from(step, c);
    return cr__step_warm_next(step, c, &at);
}

// what pressed goes on to touch a little longer: a corner that flickers moves its load to the others
double cr__step_band(const crStep* step, const crStepContact* c, int* cursor) {
    if (c->point.gap <= c->delta || c->point.gap > HOLD * c->delta) return c->delta;
    return cr__step_warm_next(step, c, cursor) != NULL ? HOLD * c->delta : c->delta;
}

static bool presses(const crStepContact* c) { return cr_dot(c->impulse, c->point.normal) > 0.0; }

static crStatus add_beginning(crStep* step, const crStepContact* c) {
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

// forces that are not of the part, in the order they are kept in; how many
static int keep_others(crStep* step, crWarm* others) {
    int kept = 0;
    for (int k = 0; k < step->part_count; k++) {
        step->cache->mark[step->part[k]] = 1;
    }
    for (int i = 0; i < step->warm_count; i++) {
        if (!of_part(step, &step->warm[i])) others[kept++] = step->warm[i];
    }
    for (int k = 0; k < step->part_count; k++) {
        step->cache->mark[step->part[k]] = 0;
    }
    return kept;
}

// forces of the part's contacts take the place of its old ones, in order
static crStatus replace_forces(crStep* step, int pressed) {
    void* warm = step->warm;
    crStatus status = cr__step_grow(&step->allocator, &warm, &step->warm_capacity, step->warm_count,
                                    step->warm_count + pressed, sizeof *step->warm);
    step->warm = warm;
    size_t mark = cr_arena_mark(&step->scratch);
    crWarm* others = cr_arena_alloc(&step->scratch, (size_t)(step->warm_count + 1) * sizeof *others);
    if (status != CR_OK || others == NULL) return CR_ERR_MEMORY;
    int kept = keep_others(step, others), next = 0;
    step->warm_count = 0;
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (!presses(c)) continue;
        while (next < kept && compare(&others[next], c, false) < 0) {
            step->warm[step->warm_count++] = others[next++];
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
        step->warm[step->warm_count++] = others[next++];
    }
    cr_arena_release(&step->scratch, mark);
    return CR_OK;
}

// contacts of pairs that did not press in the last solve begin; then the forces of this one are kept
static crStatus keep_forces(crStep* step) {
    int pressed = 0, cursor = 0;
    crStatus status = CR_OK;
    for (int i = 0; i < step->contact_count && status == CR_OK; i++) {
        const crStepContact* c = &step->contacts[i];
        if (!presses(c)) continue;
        pressed++;
        if (c->speed < 0.0 && next_kept(step, c, true, &cursor) == NULL) status = add_beginning(step, c);
    }
    return status == CR_OK ? replace_forces(step, pressed) : status;
}

void cr__step_add_momentum(const crStep* step, int count, const crPackedContact* contact, double* momentum) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    for (int i = 0; i < count; i++) {
        const crPackedContact* c = &contact[i];
        for (int side = 0; side < 2; side++) {
            int body = side == 0 ? c->body_a : c->body_b;
            if (!cr__moves(model, body)) continue;
            crVec3 push = side == 0 ? cr_neg(c->P) : c->P;
            double* to = momentum + model->bodies[body].v;
            cr__store_vec(cr_add(cr__load_vec(to), push), to);
            crVec3 turn = cr_cross(cr_sub(c->point, d->origin[body]), push);
            cr__store_vec(cr_add(cr__load_vec(to + 3), turn), to + 3);
        }
    }
}

// impulses of the contacts that have rows in the problem
static void read_impulses(crStep* step) {
    for (int i = 0; i < step->contact_count; i++) {
        crStepContact* c = &step->contacts[i];
        c->impulse = cr_vec3(0, 0, 0);
        if (c->row < 0 || !(step->p[c->row] > 0.0)) continue;
        int count = cr__step_contact_rows(c);
        int linear = count == 1 ? 1 : (c->planar ? 2 : 3);
        crMat3 F = cr__step_frame(step, c);
        for (int r = 0; r < linear; r++) {
            c->impulse = cr_madd(c->impulse, step->p[c->row + r], cr_mat3_column(F, r));
        }
    }
}

void cr__step_apply(crStep* step, int count, const int* index, const crPackedContact* contact, double* dv) {
    const crModel* model = step->model;
    for (int k = 0; k < step->part_count; k++) {
        const crBody* body = &model->bodies[step->part[k]];
        memset(dv + body->v, 0, (size_t)body->nv * sizeof *dv);
    }
    read_impulses(step);
    cr_rows_add_impulse(&step->rows, step->p, dv);
    cr__step_add_momentum(step, count, contact, dv);
    for (int i = 0; i < count; i++) {
        step->contacts[index[i]].impulse = contact[i].P;
    }
    cr__part_mass_solve(model, cr__step_part(step), &step->dynamics, dv);
    for (int k = 0; k < step->part_count; k++) {
        const crBody* body = &model->bodies[step->part[k]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            step->state.v[i] = step->v_free[i] + dv[i];
        }
    }
}

crStatus cr__step_keep(crStep* step, crError* error) {
    return keep_forces(step) == CR_OK ? CR_OK : cr__step_memory(error);
}

crStatus cr_step_apply(crStep* step, crError* error) {
    cr__step_apply(step, 0, NULL, NULL, step->dynamics.work);
    cr__step_keep_ties(step);
    return cr__step_keep(step, error);
}
