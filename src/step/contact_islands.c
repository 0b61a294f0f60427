// contact_islands.c - one contact solve, island by island.
//
// Islands of free bodies with round friction are swept in packed form; fast ends at a change of 2e-6 m/s,
// otherwise small islands must get to rounding. Small islands that the sweeps leave unsolved (large mass
// ratios, towers) go to the problem's solver as problems of their own, larger ones where the quality asks
// for it; islands with trees, loops or other friction at once. The audit is by velocities that came from
// impulses through M^-1 J^T P.
// Fails: CR_ERR_MEMORY; as the solver does. What is not reached is in the certificate.
#include "step/contact_islands.h"

#include <string.h>

#include "linalg/project.h"
#include "model/spatial.h"
#include "problem/residual.h"
#include "step/cache.h"
#include "step/exact.h"

#define SMALL_ROWS      60    // islands up to this size are solved exactly
#define FAST_ROWS       36    // and in fast, where sweeps fail
#define DIRECT_ROWS     150   // and up to this one where sweeps fail
#define CERTIFY_ROWS    3000  // likewise, certified
#define FAST_TOL        2e-6  // m/s
#define FAST_SWEEPS     50
#define AGAIN_SWEEPS    20  // in rounds after the first, which starts from impulses of the one before
#define ACCURATE_SWEEPS 100
#define ACCURATE_TOL    1e-7   // of changes, for residuals a hundred times as large, m/s
#define SMALL_TOL       1e-12  // of the largest velocity
#define ROW_SWEEPS      40     // where rows take part, in small islands
#define HOLD            3.0    // deadbands within which a contact that pressed still touches
#define NOISE           1e-6   // of the bodies' speed: relative residuals compare with no less

// velocity of b's point against a's that bodies on rails have
static crVec3 given_velocity(const crStep* step, const crStepContact* c) {
    const crDynamics* d = &step->dynamics;
    crVec3 x = c->point.point;
    return cr_sub(cr__twist_at(d->given[c->body_b], cr_sub(x, d->origin[c->body_b])),
                  cr__twist_at(d->given[c->body_a], cr_sub(x, d->origin[c->body_a])));
}

// islands with a contact that is new in this round
static crStatus find_dirty(crStep* step, const bool* fresh, crIslandSolve* s) {
    s->dirty = cr_arena_alloc(&step->scratch, (size_t)s->islands.count + 1);
    if (s->dirty == NULL) return CR_ERR_MEMORY;
    memset(s->dirty, fresh == NULL, (size_t)s->islands.count + 1);
    for (int i = 0; i < step->contact_count && fresh != NULL; i++) {
        if (fresh[i]) s->dirty[cr__island_of_contact(step, &s->islands, &step->contacts[i])] = true;
    }
    // rows are posed anew each round
    for (int i = 0; i < s->islands.count; i++) {
        s->dirty[i] = s->dirty[i] || s->islands.general[i];
    }
    return CR_OK;
}

// packed contacts with bias and impulse of the last step, or round
static crStatus list_packed(crStep* step, double h, const bool* takes, bool again, crIslandSolve* s) {
    size_t room = (size_t)step->contact_count + 1;
    s->index = cr_arena_alloc(&step->scratch, room * sizeof *s->index);
    s->contact = cr_arena_alloc(&step->scratch, room * sizeof *s->contact);
    s->b = cr_arena_alloc(&step->scratch, room * sizeof *s->b);
    if (s->contact == NULL || s->index == NULL || s->b == NULL) return CR_ERR_MEMORY;
    int cursor = 0;
    for (int i = 0; i < step->contact_count; i++) {
        crStepContact* c = &step->contacts[i];
        c->row = -1;
        if (!takes[i] || !cr__step_packed(step, &s->islands, c)) continue;
        const crWarm* warm = cr__step_warm_next(step, c, &cursor);
        // what pressed goes on to touch a little longer: a corner that flickers moves its load to the others
        double band = warm != NULL ? HOLD * c->delta : c->delta;
        double b = c->point.gap > band ? (c->point.gap - c->delta) / h : 0.0;
        crPackedContact* to = &s->contact[s->count];
        *to = (crPackedContact){.body_a = c->body_a, .body_b = c->body_b, .mu = c->surface.surface.mu};
        to->point = c->point.point;
        to->normal = c->point.normal;
        to->tangent = cr_mat3_column(c->frame, 1);
        to->E = cr_madd(given_velocity(step, c), b, to->normal);
        if (warm != NULL) to->P = cr_scale(h, warm->force);
        if (again) to->P = c->impulse;
        s->index[s->count] = i;
        s->b[s->count++] = b;
    }
    return CR_OK;
}

static crVec3 body_velocity(const crStep* step, const crPackedContact* c) {
    int body = cr__moves(step->model, c->body_b) ? c->body_b : c->body_a;
    return cr__load_vec(step->v_free + step->model->bodies[body].v);
}

// squared, the velocity below which a row's is rounding: a share of the terms it is the sum of
static double row_noise(const crStep* step, int r) {
    double sum = 0.0;
    for (int k = step->rows.start[r]; k < step->rows.start[r + 1]; k++) {
        double term = step->rows.value[k] * step->v_free[step->rows.col[k]];
        sum += term * term;
    }
    return NOISE * NOISE * sum;
}

// rows of each island and their largest velocity
static void measure_rows(const crStep* step, crIslandSolve* s) {
    const crProblem* problem = &step->problem;
    for (int i = 0; i < s->islands.count; i++) {
        crPackedIsland* island = &s->of[i];
        for (int k = s->first[i]; k < s->first[i + 1]; k++) {
            const crBlock* block = &problem->blocks[s->order[k]];
            double square = 0.0, noise = 0.0;
            for (int r = block->row; r < block->row + block->count; r++) {
                double u = problem->u_free[r] + problem->b[r];
                square += u * u;
                noise += row_noise(step, r);
            }
            island->tol = fmax(island->tol, fmax(square, noise));
            island->live = true;
            if (block->source < 0) s->islands.rows[i] += block->count;
        }
    }
}

// what each island is asked for; again: in a later round
static void set_goals(const crStep* step, const crVec3* u_free, bool again, crIslandSolve* s) {
    crQuality quality = step->settings.quality;
    double tol = step->settings.tol;
    for (int i = 0; i < s->count; i++) {
        const crPackedContact* c = &s->contact[i];
        int body = cr__moves(step->model, c->body_b) ? c->body_b : c->body_a;
        crPackedIsland* island = &s->of[s->islands.of_body[body]];
        crVec3 u = cr_madd(u_free[s->index[i]], s->b[i], c->normal);
        crVec3 v = body_velocity(step, c);
        island->tol = fmax(island->tol, fmax(cr_dot(u, u), NOISE * NOISE * cr_dot(v, v)));
        island->live = s->dirty[s->islands.of_body[body]];
    }
    if (s->posed) measure_rows(step, s);
    for (int i = 0; i < s->islands.count; i++) {
        crPackedIsland* island = &s->of[i];
        double scale = sqrt(island->tol);
        bool small = s->islands.rows[i] <= SMALL_ROWS;
        if (quality == CR_QUALITY_FAST) {
            island->tol = tol > 0.0 ? tol * scale : FAST_TOL;
            island->limit = again ? AGAIN_SWEEPS : FAST_SWEEPS;
        } else if (small) {
            island->tol = SMALL_TOL * scale;
            island->limit = s->islands.general[i] ? ROW_SWEEPS : 20;
        } else if (quality == CR_QUALITY_ACCURATE) {
            island->tol = tol > 0.0 ? 0.1 * tol * scale : ACCURATE_TOL;
            island->limit = again ? FAST_SWEEPS : ACCURATE_SWEEPS;
        } else {
            island->tol = 0.1 * cr_step_tol(&step->settings) * scale;
            island->limit = 1000;
        }
    }
}

// islands that go on to the problem's solver
static bool choose_exact(const crStep* step, crIslandSolve* s) {
    crQuality quality = step->settings.quality;
    bool any = false;
    for (int i = 0; i < s->islands.count; i++) {
        bool failed = s->of[i].sweeps > 0 && !s->of[i].solved, general = s->islands.general[i];
        int rows = quality == CR_QUALITY_FAST && !general ? FAST_ROWS : DIRECT_ROWS;
        if (quality == CR_QUALITY_CERTIFIED || (general && quality == CR_QUALITY_ACCURATE)) {
            rows = CERTIFY_ROWS;
        }
        s->exact[i] = failed && s->islands.rows[i] <= rows;
        any = any || s->exact[i];
    }
    return any;
}

static crStatus sweep(crStep* step, const crVec3* u_free, bool again, crIslandSolve* s) {
    crPacked packed;
    crUnits* units = s->posed ? &s->units : NULL;
    crStatus status = CR_OK;
    if (s->posed) {
        status = cr__units_create(step, s->islands.of_body, s->islands.count, s->order, s->first, units);
        if (status != CR_OK) return status;
    }
    status = cr__packed_create(step, s->islands.of_body, step->v_free, s->count, s->contact, units, &packed);
    if (status != CR_OK) return status;
    if (units != NULL) units->island = s->of;
    set_goals(step, u_free, again, s);
    status = cr__packed_solve(&packed, s->of, s->islands.count, &step->scratch);
    if (status == CR_OK) cr__packed_results(&packed);
    return status;
}

static bool any_general(const crIslands* islands) {
    bool any = false;
    for (int i = 0; i < islands->count; i++) {
        any = any || islands->general[i];
    }
    return any;
}

crStatus cr__step_solve_islands(crStep* step, double h, const bool* takes, const bool* fresh,
                                const crVec3* u_free, crIslandSolve* s, crError* error) {
    *s = (crIslandSolve){0};
    crStatus status = cr__step_islands(step, takes, &s->islands);
    if (status != CR_OK) return cr__step_memory(error);
    size_t islands = (size_t)s->islands.count + 1;
    s->of = cr_arena_alloc(&step->scratch, islands * sizeof *s->of);
    s->exact = cr_arena_alloc(&step->scratch, islands * sizeof *s->exact);
    s->dv = cr_arena_alloc(&step->scratch, (size_t)(step->model->nv + 1) * sizeof(double));
    if (s->of == NULL || s->exact == NULL || s->dv == NULL) return cr__step_memory(error);
    memset(s->of, 0, islands * sizeof *s->of);
    memset(s->exact, 0, islands * sizeof *s->exact);
    status = find_dirty(step, fresh, s);
    if (status == CR_OK) status = list_packed(step, h, takes, fresh != NULL, s);
    if (status != CR_OK) return cr__step_memory(error);
    step->rows = (crRows){0};
    if (any_general(&s->islands)) {
        status = cr__step_pose_rows(step, h, takes, fresh != NULL, s, error);
        if (status != CR_OK) return status;
        s->posed = step->rows.count > 0;
    }
    if (s->count > 0 || s->posed) status = sweep(step, u_free, fresh != NULL, s);
    if (status != CR_OK) return cr__step_memory(error);
    int rows = 3 * s->count + step->rows.count;
    if (choose_exact(step, s)) {
        status = cr__step_solve_exact(step, h, takes, s, error);
        if (status != CR_OK) return status;
    }
    if (rows > step->certificate.rows) step->certificate.rows = rows;
    cr__step_apply(step, s->count, s->index, s->contact, s->dv);
    cr__step_keep_ties(step);
    return CR_OK;
}

// natural maps of one contact, normal and tangential with impulses scaled by w to velocities
static void audit_contact(const crPackedContact* c, crVec3 u, double b, crAudit* audit, double* speed,
                          double* total) {
    crVec3 n = c->normal, P = c->P;
    double mu = c->mu, w = c->w, pn = cr_dot(n, P), un = cr_dot(n, u) + b;
    crVec3 pt = cr_madd(P, -pn, n), ut = cr_madd(u, -cr_dot(n, u), n);
    double slip = cr_norm(ut), friction = cr_norm(pt), limit = mu * fmax(pn, 0.0);
    crVec3 moved = cr_madd(cr_scale(w, pt), -1.0, ut);
    double size = cr_norm(moved);
    if (size > w * limit) moved = cr_scale(w * limit / size, moved);
    double dissipation = cr_norm(cr_sub(cr_scale(w, pt), moved));
    audit->approach = fmax(audit->approach, -un);
    audit->cone = fmax(audit->cone, fmax(friction - limit, -pn));
    audit->dissipation = fmax(audit->dissipation, dissipation);
    audit->complementarity = fmax(audit->complementarity, fabs(un * pn));
    *speed = fmax(*speed, fmax(fabs(fmin(un, w * pn)), dissipation));
    // de Saxce's map, as cr_problem_audit has it
    crVec3 q = cr_sub(pt, ut);
    double t = cr_norm(q), q3[3] = {pn - un - mu * slip, t, 0.0};
    cr__project_cone(mu, q3);
    crVec3 back = t > 0.0 ? cr_scale(q3[1] / t, q) : cr_vec3(0, 0, 0);
    crVec3 d = cr_sub(pt, back);
    *total += (pn - q3[0]) * (pn - q3[0]) + cr_dot(d, d);
}

// what the impulses changed of the velocity of a body's point
static crVec3 gained(const crStep* step, const double* dv, int body, crVec3 point) {
    if (!cr__moves(step->model, body)) return cr_vec3(0, 0, 0);
    const double* at = dv + step->model->bodies[body].v;
    crVec3 r = cr_sub(point, step->dynamics.origin[body]);
    return cr_add(cr__load_vec(at), cr_cross(cr__load_vec(at + 3), r));
}

void cr__step_audit_islands(crStep* step, const crIslandSolve* s, const crVec3* u_free) {
    if (s->count == 0) return;
    crAudit audit = {0};
    double speed = 0.0, total = 0.0, scale = 0.0, seen = 0.0;
    for (int i = 0; i < s->count; i++) {
        const crPackedContact* c = &s->contact[i];
        crVec3 before = u_free[s->index[i]], v = body_velocity(step, c),
               q = cr_madd(before, s->b[i], c->normal);
        crVec3 u = cr_add(before, cr_sub(gained(step, s->dv, c->body_b, c->point),
                                         gained(step, s->dv, c->body_a, c->point)));
        audit_contact(c, u, s->b[i], &audit, &speed, &total);
        scale += fmax(cr_dot(q, q), NOISE * NOISE * cr_dot(v, v));
        seen += 0.0 * (cr_dot(u, u) + cr_dot(c->P, c->P));
    }
    audit.residual = sqrt(total) / (scale > 0.0 ? sqrt(scale) : 1.0);
    if (!(seen == 0.0)) {
        speed = (double)INFINITY;
        audit = (crAudit){speed, speed, speed, speed, speed, speed, speed, -1};
    }
    bool solved = true;
    for (int i = 0; i < s->islands.count; i++) {
        solved = solved && (s->of[i].sweeps == 0 || s->of[i].solved || s->exact[i]);
    }
    cr__step_certify(step, solved ? CR_OUTCOME_SOLVED : CR_OUTCOME_LIMIT, &audit, speed);
}

crStatus cr__step_audit_rows(crStep* step, const crIslandSolve* s, crError* error) {
    if (!s->posed) return CR_OK;
    double* u = cr_arena_alloc(&step->scratch, (size_t)(step->rows.count + 1) * sizeof *u);
    if (u == NULL) return cr__step_memory(error);
    cr_rows_velocity(&step->rows, step->state.v, u);
    for (int r = 0; r < step->rows.count; r++) {
        u[r] += step->b[r];
    }
    for (int i = 0; i < s->islands.count; i++) {
        int first = s->first[i], count = s->first[i + 1] - first;
        if (count == 0 || s->exact[i]) continue;
        crAudit audit;
        double speed = 0.0, noise = 0.0;
        for (int k = first; k < first + count; k++) {
            const crBlock* block = &step->problem.blocks[s->order[k]];
            for (int r = block->row; r < block->row + block->count; r++) {
                noise += row_noise(step, r);
            }
        }
        cr__problem_audit_blocks(&step->problem, s->order + first, count, noise, step->p, u, &audit, &speed);
        bool solved = s->of[i].sweeps == 0 || s->of[i].solved;
        cr__step_certify(step, solved ? CR_OUTCOME_SOLVED : CR_OUTCOME_LIMIT, &audit, speed);
    }
    return CR_OK;
}
