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

// momentum and moment about its origin that consecutive contacts give to one body
typedef struct Push {
    int body;
    double* at;  // place of its momentum; NULL: v does not move it
    crVec3 origin, linear, angular;
} Push;

static Push push_begin(const crModel* model, const crDynamics* d, int body, double* momentum) {
    if (!cr__moves(model, body)) return (Push){.body = body};
    double* at = momentum + model->bodies[body].v;
    return (Push){body, at, d->origin[body], cr__load_vec(at), cr__load_vec(at + 3)};
}

static void push_end(const Push* push) {
    if (push->at == NULL) return;
    cr__store_vec(push->linear, push->at);
    cr__store_vec(push->angular, push->at + 3);
}

static void push_add(Push* push, crVec3 point, crVec3 P) {
    push->linear = cr_add(push->linear, P);
    push->angular = cr_add(push->angular, cr_cross(cr_sub(point, push->origin), P));
}

void cr__step_add_momentum(const crModel* model, const crDynamics* d, int count,
                           const crPackedContact* contact, double* momentum) {
    Push a = {.body = -1}, b = {.body = -1};
    for (int i = 0; i < count; i++) {
        const crPackedContact* c = &contact[i];
        if (c->body_a != a.body || c->body_b != b.body) {
            push_end(&a);
            push_end(&b);
            a = push_begin(model, d, c->body_a, momentum);
            b = push_begin(model, d, c->body_b, momentum);
        }
        if (a.at != NULL) push_add(&a, c->point, cr_neg(c->P));
        if (b.at != NULL) push_add(&b, c->point, c->P);
    }
    push_end(&a);
    push_end(&b);
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

static crStatus clear_part(crStep* step, crPart part, crDynamics* d, void* dv) {
    (void)d;
    cr__part_clear(step->model, part, dv);
    return CR_OK;
}

static crStatus set_velocities(crStep* step, crPart part, crDynamics* d, void* ctx) {
    double* dv = ctx;
    cr__part_mass_solve(step->model, part, d, dv);
    cr__part_add(step->model, part, step->free.v, dv, step->state.v);
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
    if (cr__step_by_bodies(step, clear_part, dv) != CR_OK) return CR_ERR_MEMORY;
    // Impulses come only from rows and packed contacts.
    if (step->posed.rows.count > 0 || count == 0) read_rows(step, step->posed.p, &step->contacts);
    cr_rows_add_impulse(&step->posed.rows, step->posed.p, dv);
    cr__step_add_momentum(step->model, &step->dynamics, count, contact, dv);
    cr__tasks_for(step->own.tasks, count, CHUNK, give_range, &(Given){step->contacts.list, contact, index});
    return cr__step_by_bodies(step, set_velocities, dv);
}

crStatus cr_step_apply(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    if (cr__step_apply(step, 0, NULL, NULL, step->dynamics.scratch.v) != CR_OK) return cr__step_memory(error);
    cr__audit_drives(step);
    cr__step_keep_ties(step);
    return cr__step_keep(step, error);
}
