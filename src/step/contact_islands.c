// contact_islands.c - one contact solve, island by island.
//
// Contacts of free bodies with round friction are swept in packed form, everything else along with them as
// rows (units.h); fast ends at a change of 2e-6 m/s, otherwise small islands must get to rounding. Small
// islands that the sweeps leave unsolved (large mass ratios, towers) go to the problem's solver as problems
// of their own, larger ones where the quality asks for it. The audit is by the velocities themselves, which
// came from impulses through M^-1 J^T P.
// Fails: CR_ERR_MEMORY; as the solver does. What is not reached is in the certificate.
#include "step/contact_islands.h"

#include <string.h>

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
#define ACCURATE_SWEEPS 300
#define ACCURATE_TOL    1e-7   // of changes, for residuals a hundred times as large, m/s
#define SMALL_TOL       1e-12  // of the largest velocity
#define ROW_SWEEPS      40     // where rows take part, in small islands
#define NOISE           1e-6   // of the bodies' speed or fall in a step: residuals compare with no less
#define AUDIT_CHUNK     256    // contacts that one thread takes at a time
#define LIST_CHUNK      512    // likewise

// velocity of b's point against a's that bodies on rails have
static crVec3 given_velocity(const crStep* step, const crStepContact* c) {
    const crDynamics* d = &step->dynamics;
    if (step->cache->given_count == 0) return cr_vec3(0, 0, 0);
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

// contacts on their way to packed ones
typedef struct Listing {
    crStep* step;
    double h;
    const bool *takes, *fresh;
    crIslandSolve* solve;
    int* first;  // place of each chunk's first; before that, how many it has
} Listing;

static void count_chunk(void* ctx, int begin, int end) {
    const Listing* list = ctx;
    int count = 0;
    for (int i = begin; i < end; i++) {
        crStepContact* c = &list->step->contacts[i];
        c->row = -1;
        count += list->takes[i] && cr__step_packed(list->step, &list->solve->islands, c);
    }
    list->first[begin / LIST_CHUNK] = count;
}

static void list_chunk(void* ctx, int begin, int end) {
    const Listing* list = ctx;
    const crStep* step = list->step;
    crIslandSolve* s = list->solve;
    int cursor = cr__step_warm_from(step, &step->contacts[begin]), at = list->first[begin / LIST_CHUNK];
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts[i];
        if (!list->takes[i] || !cr__step_packed(step, &s->islands, c)) continue;
        const crWarm* warm = cr__step_warm_next(step, c, &cursor);
        bool touches = c->point.gap <= cr__step_band(step, c, &cursor);
        double b = touches ? 0.0 : (c->point.gap - c->delta) / list->h;
        crPackedContact* to = &s->contact[at];
        *to = (crPackedContact){.body_a = c->body_a, .body_b = c->body_b, .mu = c->surface->surface.mu};
        to->point = c->point.point;
        to->normal = c->point.normal;
        to->E = cr_madd(given_velocity(step, c), b, to->normal);
        if (warm != NULL) to->P = cr__in_cone(to, cr_scale(list->h, warm->force));
        if (list->fresh != NULL && !list->fresh[i]) to->P = c->impulse;
        s->index[at] = i;
        s->b[at++] = b;
    }
}

// packed contacts with bias and impulse of the last step, or of the last round where they were in it
static crStatus list_packed(crStep* step, double h, const bool* takes, const bool* fresh, crIslandSolve* s) {
    int count = step->contact_count, chunks = count / LIST_CHUNK + 1;
    size_t room = (size_t)count + 1;
    Listing list = {step, h, takes, fresh, s, NULL};
    list.first = cr_arena_alloc(&step->scratch, (size_t)chunks * sizeof *list.first);
    s->index = cr_arena_alloc(&step->scratch, room * sizeof *s->index);
    s->contact = cr_arena_alloc(&step->scratch, room * sizeof *s->contact);
    s->b = cr_arena_alloc(&step->scratch, room * sizeof *s->b);
    if (s->contact == NULL || s->index == NULL || s->b == NULL || list.first == NULL) return CR_ERR_MEMORY;
    cr__tasks_for(step->tasks, count, LIST_CHUNK, count_chunk, &list);
    for (int i = 0; i * LIST_CHUNK < count; i++) {
        int more = list.first[i];
        list.first[i] = s->count;
        s->count += more;
    }
    cr__tasks_for(step->tasks, count, LIST_CHUNK, list_chunk, &list);
    return CR_OK;
}

static crVec3 body_velocity(const crStep* step, const crPackedContact* c) {
    int body = cr__moves(step->model, c->body_b) ? c->body_b : c->body_a;
    return cr__load_vec(step->v_free + step->model->bodies[body].v);
}

// squared, the velocity below which a row's is rounding: a share of the terms it is the sum of. What springs
// or motors carry has no speed left but that rounding
static double row_noise(const crStep* step, int r) {
    double fall = step->h * cr_norm(step->model->gravity), sum = fall * fall;
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

// largest velocity of the packed contacts of each island, squared
static void measure_packed(const crStep* step, const crVec3* u_free, crIslandSolve* s) {
    for (int i = 0; i < s->count; i++) {
        const crPackedContact* c = &s->contact[i];
        int body = cr__moves(step->model, c->body_b) ? c->body_b : c->body_a;
        crPackedIsland* island = &s->of[s->islands.of_body[body]];
        crVec3 u = cr_madd(u_free[s->index[i]], s->b[i], c->normal);
        crVec3 v = body_velocity(step, c);
        double size = cr_dot(u, u), noise = NOISE * NOISE * cr_dot(v, v);
        if (noise > size) size = noise;
        if (size > island->tol) island->tol = size;
    }
}

// what each island is asked for; again: in a later round
static void set_goals(const crStep* step, const crVec3* u_free, bool again, crIslandSolve* s) {
    crQuality quality = step->settings.quality;
    double tol = step->settings.tol;
    for (int i = 0; i < s->islands.count; i++) {
        s->of[i].live = s->dirty[i] && s->islands.rows[i] > 0;
    }
    // else nothing is relative
    if (quality != CR_QUALITY_FAST || tol > 0.0) measure_packed(step, u_free, s);
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
    if (status == CR_OK) cr__packed_results(&packed, s->of);
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
    if (status == CR_OK) status = list_packed(step, h, takes, fresh, s);
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
    if (cr__step_apply(step, s->count, s->index, s->contact, s->dv) != CR_OK) return cr__step_memory(error);
    cr__step_keep_ties(step);
    return CR_OK;
}

// squares where only the largest counts
typedef struct Worst {
    double approach, cone, dissipation, complementarity, speed;
    double total;  // of de Saxce's maps, squared
    double scale;  // what that is compared with
    double seen;   // 0 where everything is a number
} Worst;

static double larger(double a, double b) { return a > b ? a : b; }

// |p - projection on the cone of p - (u + mu |u_t| n)|^2: de Saxce's map, as cr_problem_audit has it
static double saxce(double mu, double pn, crVec3 pt, double un, crVec3 ut, double slip) {
    crVec3 q = cr_sub(pt, ut);
    double a = pn - un - mu * slip, t2 = cr_dot(q, q);
    if (a >= 0.0 && t2 <= mu * mu * a * a) return (un + mu * slip) * (un + mu * slip) + slip * slip;
    double t = sqrt(t2);
    if (mu * t <= -a) return pn * pn + cr_dot(pt, pt);
    double n = (a + mu * t) / (1.0 + mu * mu);
    crVec3 d = cr_madd(pt, -mu * n / t, q);
    return (pn - n) * (pn - n) + cr_dot(d, d);
}

// natural maps of one contact, normal and tangential with impulses scaled by w to velocities
static void audit_contact(const crPackedContact* c, crVec3 u, double b, Worst* worst) {
    crVec3 n = c->normal, P = c->P;
    double mu = c->mu, w = c->w, pn = cr_dot(n, P), bare = cr_dot(n, u), un = bare + b;
    crVec3 pt = cr_madd(P, -pn, n), ut = cr_madd(u, -bare, n);
    double slip2 = cr_dot(ut, ut), slip = sqrt(slip2), limit = mu * larger(pn, 0.0);
    // w p_t against its projection from w p_t - u_t on the disc
    crVec3 moved = cr_sub(cr_scale(w, pt), ut);
    double size2 = cr_dot(moved, moved), dissipation2 = slip2;
    if (size2 > w * w * limit * limit) {
        crVec3 d = cr_madd(cr_scale(w, pt), -w * limit / sqrt(size2), moved);
        dissipation2 = cr_dot(d, d);
    }
    double friction2 = cr_dot(pt, pt), normal = fabs(un < w * pn ? un : w * pn);
    if (friction2 > limit * limit) worst->cone = larger(worst->cone, sqrt(friction2) - limit);
    worst->cone = larger(worst->cone, -pn);
    worst->approach = larger(worst->approach, -un);
    worst->dissipation = larger(worst->dissipation, dissipation2);
    worst->complementarity = larger(worst->complementarity, fabs(un * pn));
    worst->speed = larger(worst->speed, larger(normal * normal, dissipation2));
    worst->total += saxce(mu, pn, pt, un, ut, slip);
}

typedef struct Audit {
    const crStep* step;
    const crIslandSolve* solve;
    const crVec3 *u_free, *u;
    Worst* worst;  // of each chunk
} Audit;

static void audit_chunk(void* ctx, int begin, int end) {
    const Audit* audit = ctx;
    const crStep* step = audit->step;
    const crIslandSolve* s = audit->solve;
    Worst worst = {0};
    for (int i = begin; i < end; i++) {
        const crPackedContact* c = &s->contact[i];
        crVec3 before = audit->u_free[s->index[i]], v = body_velocity(step, c),
               q = cr_madd(before, s->b[i], c->normal);
        crVec3 u = audit->u[s->index[i]];
        audit_contact(c, u, s->b[i], &worst);
        worst.scale += larger(cr_dot(q, q), NOISE * NOISE * cr_dot(v, v));
        worst.seen += 0.0 * (cr_dot(u, u) + cr_dot(c->P, c->P) + c->w);
    }
    audit->worst[begin / AUDIT_CHUNK] = worst;
}

// sums in the order of chunks, whoever made them
static Worst worst_of(const Worst* chunk, int count) {
    Worst all = {0};
    for (int i = 0; i < count; i++) {
        const Worst* w = &chunk[i];
        all.approach = larger(w->approach, all.approach);
        all.cone = larger(w->cone, all.cone);
        all.dissipation = larger(w->dissipation, all.dissipation);
        all.complementarity = larger(w->complementarity, all.complementarity);
        all.speed = larger(w->speed, all.speed);
        all.total += w->total;
        all.scale += w->scale;
        all.seen += w->seen;
    }
    return all;
}

crStatus cr__step_audit_islands(crStep* step, const crIslandSolve* s, const crVec3* u_free, const crVec3* u) {
    if (s->count == 0) return CR_OK;
    int chunks = (s->count - 1) / AUDIT_CHUNK + 1;
    Worst* chunk = cr_arena_alloc(&step->scratch, (size_t)chunks * sizeof *chunk);
    if (chunk == NULL) return CR_ERR_MEMORY;
    Audit task = {step, s, u_free, u, chunk};
    cr__tasks_for(step->tasks, s->count, AUDIT_CHUNK, audit_chunk, &task);
    Worst worst = worst_of(chunk, chunks);
    double speed = sqrt(worst.speed);
    crAudit audit = {.approach = worst.approach, .cone = worst.cone, .dissipation = sqrt(worst.dissipation)};
    audit.complementarity = worst.complementarity;
    audit.residual = sqrt(worst.total) / (worst.scale > 0.0 ? sqrt(worst.scale) : 1.0);
    if (!(worst.seen == 0.0)) {
        speed = (double)INFINITY;
        audit = (crAudit){speed, speed, speed, speed, speed, speed, speed, -1};
    }
    bool solved = true;
    for (int i = 0; i < s->islands.count; i++) {
        solved = solved && (s->of[i].sweeps == 0 || s->of[i].solved || s->exact[i]);
    }
    cr__step_certify(step, solved ? CR_OUTCOME_SOLVED : CR_OUTCOME_LIMIT, &audit, speed);
    return CR_OK;
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
