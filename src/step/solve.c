// solve.c - impulses of the problem, and the velocities after them.
//
// v+ = v_free + M^-1 J^T p. The certificate takes the worst audit of all solves of the step.
// Fails: CR_ERR_FINITE if velocities are not finite; CR_ERR_MEMORY. A solve that did not converge is no
// error.
#include <string.h>

#include "model/spatial.h"
#include "relax/packed.h"
#include "step/audit.h"
#include "step/step.h"

#define CHUNK 512  // contacts per task

crStatus cr_step_solve(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    crSolver solver = step->settings.solver;
    crSolverParams params = cr_solver_params();
    params.tol = fmin(1e-10, 0.1 * cr_step_tol(&step->settings));
    if (solver.params == NULL) solver.params = &params;
    crStatus status = cr_solver_run(&solver, &step->posed.problem, cr_step_tol(&step->settings),
                                    &step->scratch, step->posed.p, &step->posed.report, error);
    if (status != CR_OK) return status;
    crAudit audit = step->posed.report.audit;
    audit.momentum = 0.0;  // the audit's figure is relative, the certificate's is a speed
    cr__audit_merge(&step->certificate, &audit, step->posed.report.outcome);
    return CR_OK;
}

void cr__step_add_momentum(const crModel* model, const crDynamics* d, int count,
                           const crPackedContact* contact, double* momentum) {
    for (int i = 0, end; i < count; i = end) {
        int a = contact[i].body_a, b = contact[i].body_b;
        crPushed on_a =
            cr__pushed_begin(cr__moves(model, a) ? momentum + model->bodies[a].v : NULL, d->origin[a]);
        crPushed on_b =
            cr__pushed_begin(cr__moves(model, b) ? momentum + model->bodies[b].v : NULL, d->origin[b]);
        for (end = i; end < count && contact[end].body_a == a && contact[end].body_b == b; end++) {
            const crPackedContact* c = &contact[end];
            if (on_a.at != NULL) cr__pushed_add(&on_a, c->point, cr_neg(c->P));
            if (on_b.at != NULL) cr__pushed_add(&on_b, c->point, c->P);
        }
        cr__pushed_end(&on_a);
        cr__pushed_end(&on_b);
    }
}

// Reads the impulses of contacts that have rows in the problem.
static void read_rows(const crStep* step, const double* p, crStepContacts* contacts) {
    for (int i = 0; i < contacts->count; i++) {
        crStepContact* c = &contacts->list[i];
        c->impulse = cr_vec3(0, 0, 0);
        if (c->row < 0 || !(p[c->row] > 0.0)) continue;
        c->impulse = cr__step_row_impulse(step, c, p);
    }
}

static crStatus clear_part(const crModel* model, crPart part, crDynamics* d, void* dv) {
    (void)d;
    cr__part_clear(model, part, dv);
    return CR_OK;
}

// v = free + M^-1 dv, where dv is a momentum before
typedef struct Velocities {
    const double* free;
    double *dv, *v;
} Velocities;

static crStatus set_velocities(const crModel* model, crPart part, crDynamics* d, void* ctx) {
    const Velocities* to = ctx;
    cr__part_mass_solve(model, part, d, to->dv);
    cr__part_add(model, part, to->free, to->dv, to->v);
    return CR_OK;
}

// copy of impulses from packed contacts to the step's contacts
typedef struct Given {
    crStepContact* to;
    const crPackedContact* from;
    const int* index;
} Given;

static void give_range(void* ctx, int begin, int end) {
    const Given* given = ctx;
    for (int i = begin; i < end; i++) {
        given->to[given->index[i]].impulse = given->from[i].P;
    }
}

crStatus cr__step_apply(crStep* step, int count, const int* index, const crPackedContact* contact,
                        double* dv) {
    crPart part = cr__step_part(step);
    if (cr__step_by_bodies(step, part, clear_part, dv) != CR_OK) return CR_ERR_MEMORY;
    // Impulses come only from rows and packed contacts.
    if (step->posed.rows.count > 0 || count == 0) read_rows(step, step->posed.p, &step->contacts);
    cr_rows_add_impulse(&step->posed.rows, step->posed.p, dv);
    cr__step_add_momentum(step->model, &step->dynamics, count, contact, dv);
    cr__tasks_for(step->own.tasks, count, CHUNK, give_range, &(Given){step->contacts.list, contact, index});
    return cr__step_by_bodies(step, part, set_velocities, &(Velocities){step->free.v, dv, step->state.v});
}

crStatus cr_step_apply(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    if (cr__step_apply(step, 0, NULL, NULL, step->dynamics.scratch.v) != CR_OK) return cr__step_memory(error);
    cr__audit_drives(step->plan, &step->dynamics, &step->contacts, step->audited.drive);
    cr__step_keep_ties(step, &step->ties);
    return cr__step_keep(step) == CR_OK ? CR_OK : cr__step_memory(error);
}
