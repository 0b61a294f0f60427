// lcp_problem.c - the complementarity problems of Stewart and Trinkle's step, and Poisson's second one.
//
//     position   0 <= gap/h + n.(v+ - v^)  _|_  c_n >= 0         v^: the velocity that leads to q^
//     velocity   0 <= n.v+ + e n.v         _|_  c_n >= 0         e = 0 in Poisson's compression
//     friction   0 <= lambda e + D^T v+    _|_  beta >= 0,       0 <= mu c_n - sum beta  _|_  lambda >= 0
//     expansion  0 <= n.v+  _|_  c_2 - e c_1 s >= 0,             friction within mu c_2
//
// s is the share of the approach speed that is there before the forces of the step act, 0 for a ball at rest.
// Slip is that of the two witness points, on_b - on_a = gap n, so that a body's arm does not depend on the
// overlap at q^. Source: Stewart and Trinkle 2000, eqs. 5 to 13; Anitescu and Potra 1997.
// Fails: CR_ERR_RANGE for infinite and for rolling friction, which are no LCP; CR_ERR_MEMORY.
#include "step/lcp_problem.h"
#include "step/audit.h"

#include <string.h>

#include "resolve/lcp.h"

#define REST_TOL 1e-11  // speed after compression that counts as rounding, share of the incoming speed

// e of a contact that approaches as fast as an impact, 0 of a slower one
static double lcp_e(const crStepSettings* settings, const crStepContact* c) {
    return c->speed < -settings->threshold ? c->e : 0.0;
}

// Adds turn.omega of a body to a row that already has entries for all its velocities.
static void add_turn(const crStep* step, int body, crVec3 turn, int row, crRows* rows) {
    const crDynamics* d = &step->dynamics;
    rows->w_hat[row] += cr_dot(turn, cr__given(d, body).omega);
    for (int j = step->model->bodies[body].last; j >= 0; j = step->model->velocity.parent[j]) {
        for (int i = rows->start[row]; i < rows->start[row + 1]; i++) {
            if (rows->col[i] == j) rows->value[i] += cr_dot(turn, cr__dof_axis(d, j).omega);
        }
    }
}

// Changes slip rows from the midpoint to the two witness points: t.(omega_a + omega_b) x (gap/2) n.
static void set_arms(const crStep* step, crStepPosed* posed) {
    for (int i = 0; i < posed->problem.block_count; i++) {
        const crBlock* block = &posed->problem.blocks[i];
        if (block->source < 0) continue;
        const crStepContact* c = &step->contacts.list[block->source];
        crMat3 F = cr__step_frame(step, c);
        for (int r = 1; r < cr__step_point_rows(c); r++) {
            crVec3 turn = cr_cross(c->point.normal, cr_mat3_column(F, r));
            turn = cr_scale(0.5 * c->point.gap, turn);
            add_turn(step, c->body_a, turn, block->row + r, &posed->rows);
            add_turn(step, c->body_b, turn, block->row + r, &posed->rows);
        }
    }
}

crStatus cr__step_pose_arms(const crStep* step, crArena* arena, const crBlock* blocks,
                            const double (*vertices)[2], crStepPosed* posed) {
    set_arms(step, posed);
    posed->problem = (crProblem){.blocks = blocks,
                                 .block_count = posed->problem.block_count,
                                 .vertices = vertices,
                                 .nv = posed->problem.nv,
                                 .b = posed->b};
    return cr__step_pose_problem(step, arena, &posed->rows, step->free.v, &posed->H, &posed->problem);
}

static crStatus refuse(const crBlock* block, crError* error) {
    if (block->kind != CR_BLOCK_CONE) return CR_OK;
    if (!isfinite(block->mu) || !isfinite(block->mu2) || (block->spin && !isfinite(block->mu_spin))) {
        return cr_error_set(error, CR_ERR_RANGE, "mu", "mu: the lcp method needs finite friction");
    }
    if (block->roll) {
        return cr_error_set(error, CR_ERR_RANGE, "mu_roll",
                            "mu_roll: the lcp method has no rolling friction");
    }
    return CR_OK;
}

// Makes blocks with `directions` vertices on each disc or ellipse in space, the first along t1. CR_ERR_RANGE,
// CR_ERR_MEMORY.
static crStatus set_polygons(const crStep* step, crArena* arena, crBlock** out, double (**vertices)[2],
                             crError* error) {
    const crProblem* problem = &step->posed.problem;
    int count = step->settings.directions;
    size_t room = (size_t)problem->block_count * (size_t)count + 1;
    for (int i = 0; i < problem->block_count; i++) {
        room += (size_t)problem->blocks[i].vertex_count;
    }
    crBlock* blocks;
    double(*all)[2];
    int used = 0;
    if (!CR_ROOMS(arena, CR_ROOM(blocks, problem->block_count + 1), CR_ROOM(all, room)))
        return cr__step_memory(error);
    for (int i = 0; i < problem->block_count; i++) {
        crBlock* block = &blocks[i];
        *block = problem->blocks[i];
        crStatus status = refuse(block, error);
        if (status != CR_OK) return status;
        bool space = block->kind == CR_BLOCK_CONE && !step->contacts.list[block->source].planar;
        if (!space) continue;
        int given = block->vertex_count, first = block->vertex;
        block->vertex = used;
        block->vertex_count = given > 0 ? given : count;
        for (int k = 0; k < block->vertex_count; k++, used++) {
            double s, c;
            cr_sincos(2.0 * CR_PI * k / block->vertex_count, &s, &c);
            all[used][0] = given > 0 ? problem->vertices[first + k][0] : block->mu * c;
            all[used][1] = given > 0 ? problem->vertices[first + k][1] : block->mu2 * s;
        }
        // a contact without friction may still have spin friction
        if (given == 0 && block->mu == 0.0 && block->mu2 == 0.0) block->vertex_count = 0;
    }
    *out = blocks;
    *vertices = all;
    return CR_OK;
}

static void set_bias(const crStepSettings* settings, const crStepPosed* posed, const crStepContacts* contacts,
                     double h, const double* u_hat) {
    const crProblem* problem = &posed->problem;
    bool position = settings->level == CR_LEVEL_POSITION;
    bool newton = settings->restitution == CR_LCP_NEWTON;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        int row = block->row;
        if (block->kind == CR_BLOCK_BOX) continue;
        if (block->source < 0) {
            for (int r = row; r < row + block->count; r++) {
                posed->b[r] = position ? posed->rows.gap[r] / h - u_hat[r] : 0.0;
            }
            continue;
        }
        const crStepContact* c = &contacts->list[block->source];
        double e = newton ? lcp_e(settings, c) : 0.0;
        posed->b[row] = position ? c->point.gap / h - u_hat[row] : e * fmin(0.0, c->speed);
    }
}

crStatus cr__step_lcp_problem(crStep* step, double h, const bool* takes, const double* v_hat,
                              crError* error) {
    crStatus status = cr_step_problem_build(step, h, takes, error);
    if (status != CR_OK) return status;
    crBlock* blocks = NULL;
    double(*vertices)[2] = NULL;
    double* u_hat = cr_arena_alloc(&step->scratch, (size_t)(step->posed.rows.count + 1) * sizeof(double));
    if (u_hat == NULL) return cr__step_memory(error);
    status = set_polygons(step, &step->scratch, &blocks, &vertices, error);
    if (status != CR_OK) return status;
    status = cr__step_pose_arms(step, &step->scratch, blocks, (const double(*)[2])vertices, &step->posed);
    if (status != CR_OK) return cr__step_memory(error);
    cr_rows_velocity(&step->posed.rows, v_hat, u_hat);
    set_bias(&step->settings, &step->posed, &step->contacts, h, u_hat);
    return CR_OK;
}

// Writes the impulses of restitution, e of the share of c_1 from the approach speed (the weight of the step
// is not given back), and reduces boxes to what compression left of them.
static void release(const crStepSettings* settings, const crStepPosed* posed, const crStepContacts* contacts,
                    crBlock* blocks, const double* p1, double* given) {
    for (int i = 0; i < posed->problem.block_count; i++) {
        crBlock* block = &blocks[i];
        if (block->source >= 0) {
            const crStepContact* c = &contacts->list[block->source];
            double share = c->speed / fmin(c->speed, posed->problem.u_free[block->row]);
            double e = lcp_e(settings, c);
            given[block->row] = e > 0.0 ? e * share * p1[block->row] : 0.0;
        } else if (block->kind == CR_BLOCK_BOX) {
            block->lo -= p1[block->row];
            block->hi -= p1[block->row];
        }
    }
}

// violation of the condition between w and z, as a velocity or an impulse
static double miss(double w, double z, bool free) {
    if (free) return fabs(w);
    return z > 0.0 ? fabs(w) : fmax(0.0, -w);
}

// outcome of a residual between off - floor and off + floor; size: scale that does not depend on the solution
static crOutcome outcome_between(double off, double floor, double size, double tol) {
    if (off + floor <= tol * size) return CR_OUTCOME_SOLVED;
    return off - floor <= tol * size ? CR_OUTCOME_UNSURE : CR_OUTCOME_LIMIT;
}

// Audits the solution of the second stage in its mixed form, into the certificate. Velocities and friction
// limits are each relative to the largest given value of their kind, here or in the first stage. z enlarges
// only the rounding floor.
static void audit_lcp(const crStepSettings* settings, const crStepPosed* posed, crCertificate* certificate,
                      const crLcp* lcp, const double* z) {
    double off[2] = {0.0, 0.0}, floor[2] = {0.0, 0.0}, size[2] = {posed->problem.rest, 0.0};
    double tol = cr_step_tol(settings);
    crAudit audit = {0};
    double mobile = 0.0;  // largest W_ii
    for (int r = 0; r < posed->problem.rows; r++) {
        double weight = 0.0;
        for (int k = posed->H.start[r]; k < posed->H.start[r + 1]; k++) {
            weight += posed->H.value[k] * posed->H.value[k];
        }
        mobile = fmax(mobile, weight);
        size[0] = fmax(size[0], fabs(posed->problem.u_free[r]));
        size[1] = fmax(size[1], fabs(posed->p[r]));
    }
    // impulse that stops the fastest row
    if (mobile > 0.0) size[1] = fmax(size[1], size[0] / mobile);
    for (int i = 0; i < lcp->n; i++) {
        int kind = lcp->columns[i].kind == CR_LCP_LIMIT ? 1 : 0;
        double w = lcp->q[i], s = fabs(w);
        for (int j = 0; j < lcp->n; j++) {
            double term = lcp->M[(size_t)i * (size_t)lcp->n + (size_t)j] * z[j];
            w += term;
            s += fabs(term);
        }
        off[kind] = fmax(off[kind], miss(w, z[i], i < lcp->free_count));
        floor[kind] = fmax(floor[kind], 16.0 * 0x1p-52 * s);
        size[kind] = fmax(size[kind], fabs(lcp->q[i]));
    }
    crOutcome outcome = CR_OUTCOME_SOLVED;
    for (int kind = 0; kind < 2; kind++) {
        double share = off[kind] > 0.0 ? off[kind] / size[kind] : off[kind];
        audit.residual = share > audit.residual || isnan(share) ? share : audit.residual;
        crOutcome own = outcome_between(off[kind], floor[kind], size[kind], tol);
        if (own == CR_OUTCOME_LIMIT || outcome == CR_OUTCOME_SOLVED) outcome = own;
    }
    audit.eta = off[0];
    audit.floor = floor[0];
    cr__audit_merge(certificate, &audit, outcome);
}

// Solves the mixed form by Lemke's method, polishes z, and audits it into the certificate. CR_ERR_MEMORY.
static crStatus pivot(const crStep* step, crArena* arena, const crLcp* lcp, double* z,
                      crCertificate* certificate, crError* error) {
    crLcpReduced reduced;
    crStatus status = cr__lcp_reduce(lcp, arena, &reduced);
    if (status != CR_OK) return cr__step_memory(error);
    size_t n = (size_t)lcp->n + 1, m = (size_t)reduced.n + 1;
    double *work, *x;
    int* iwork;
    if (!CR_ROOMS(arena, CR_ROOM(work, cr__lemke_work(reduced.n) + n * n + 5 * n),
                  CR_ROOM(iwork, cr__lemke_iwork(reduced.n) + 3 * n), CR_ROOM(x, m)))
        return cr__step_memory(error);
    crOutcome outcome = CR_OUTCOME_INFEASIBLE;
    int pivots = 0;
    if (!reduced.inconsistent) {
        outcome = cr__lemke(reduced.M, reduced.q, reduced.n, 50 * reduced.n + 1000, work, iwork, x, NULL,
                            NULL, &pivots);
    }
    memset(z, 0, n * sizeof(double));
    if (outcome != CR_OUTCOME_SOLVED) {
        crAudit none = {.residual = (double)INFINITY};
        cr__audit_merge(certificate, &none, outcome);
        return CR_OK;
    }
    cr__lcp_expand(lcp, &reduced, x, z);
    cr__lcp_polish(lcp->M, lcp->q, lcp->n, lcp->free_count, NULL, work, iwork, z);
    audit_lcp(&step->settings, &step->posed, certificate, lcp, z);
    return CR_OK;
}

// Widens the friction limits of the second stage to mu (c_2 + e c_1).
static void widen(const crLcp* lcp, const double* given) {
    for (int i = 0; i < lcp->n; i++) {
        const crLcpColumn* column = &lcp->columns[i];
        if (column->kind != CR_LCP_LIMIT || column->owner < 0) continue;
        lcp->q[i] = column->limit * given[lcp->columns[column->owner].row[0]];
    }
}

// Writes the velocities after compression, without rounding noise, and after the release. CR_ERR_MEMORY.
static crStatus second_start(const crProblem* problem, crArena* arena, const double* p1, const double* given,
                             double* u) {
    int rows = problem->rows;
    crStatus status = cr_problem_velocity(problem, arena, p1, u);
    double speed = 0.0;
    for (int i = 0; i < rows; i++) {
        speed = fmax(speed, fabs(problem->u_free[i]));
    }
    for (int i = 0; i < rows; i++) {
        if (fabs(u[i]) <= REST_TOL * speed) u[i] = 0.0;
    }
    if (status != CR_OK) return status;
    crProblem released = *problem;
    released.u_free = u;
    double* after;
    if (!CR_ROOMS(arena, CR_ROOM(after, rows + 1))) return CR_ERR_MEMORY;
    status = cr_problem_velocity(&released, arena, given, after);
    memcpy(u, after, (size_t)rows * sizeof(double));
    return status;
}

crStatus cr__step_lcp_expand(const crStep* step, crArena* arena, double* p, crCertificate* certificate,
                             crError* error) {
    size_t rows = (size_t)step->posed.rows.count, count = (size_t)step->posed.problem.block_count;
    double *given, *u, *p2;
    crBlock* blocks;
    if (!CR_ROOMS(arena, CR_ZERO(given, rows + 1), CR_ROOM(u, rows + 1), CR_ROOM(p2, rows + 1),
                  CR_ROOM(blocks, count + 1)))
        return cr__step_memory(error);
    memcpy(blocks, step->posed.problem.blocks, count * sizeof *blocks);
    release(&step->settings, &step->posed, &step->contacts, blocks, p, given);
    crStatus status = second_start(&step->posed.problem, arena, p, given, u);
    if (status != CR_OK) return cr__step_memory(error);
    crProblem posed = step->posed.problem;
    posed.blocks = blocks;
    posed.u_free = u;
    crLcp lcp;
    bool supported = false;
    status = cr__lcp_build(&posed, arena, &lcp, &supported);
    double* z = status == CR_OK ? cr_arena_alloc(arena, (size_t)(lcp.n + 1) * sizeof(double)) : NULL;
    if (z == NULL) return cr__step_memory(error);
    CR_ASSERT(supported);
    widen(&lcp, given);
    status = pivot(step, arena, &lcp, z, certificate, error);
    if (status != CR_OK) return status;
    cr__lcp_impulses(&lcp, (int)rows, z, p2);
    for (size_t i = 0; i < rows; i++) {
        p[i] += given[i] + p2[i];
    }
    return CR_OK;
}
