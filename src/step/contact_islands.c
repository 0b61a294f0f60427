// contact_islands.c - one contact solve, island by island.
//
// Contacts of free bodies with round friction are swept in packed form, all other blocks as rows in the same
// sweeps (units.h). In fast, sweeps end at a small change; otherwise small islands are swept to rounding. An
// island that a few sweeps leave unsolved (large mass ratios, towers, heaps) is swept on as soon as no more
// contacts are added to it, and then becomes a problem of its own (exact.c). Large islands are left as they
// are in fast, and in accurate if they are near a solution, as factorizations would hardly bring them nearer.
// Islands about to rest are swept beyond their tolerance (rest.c). The audit states what was reached
// (audit_contacts.c).
// Fails: CR_ERR_MEMORY; as the solver does.
#include "step/contact_islands.h"

#include <string.h>

#include "model/spatial.h"
#include "step/clocks.h"
#include "step/exact.h"
#include "step/rest.h"

#define SMALL_ROWS       60     // rows up to which an island is swept to rounding
#define FAST_ROWS        600    // rows up to which exact.c continues an island in fast
#define FAST_TOL         2e-7   // change at which sweeps end in fast, m/s: errors add up over a tower
#define LARGE_TOL        2e-6   // the same above FAST_ROWS, m/s
#define FAST_SWEEPS      100    // sweeps of an island in fast: with half as many a heap rests later
#define AGAIN_SWEEPS     20     // the same in later rounds, which start from the impulses before
#define LITTLE_ROWS      12     // rows of a body on one face, where sweeps cost less than exact.c
#define LITTLE_SWEEPS    1000   // sweeps of such an island, in every round
#define LITTLE_TOL       2e-9   // change at which they end after FAST_SWEEPS, m/s
#define SCOUT_SWEEPS     50     // sweeps of an island before the choice of contacts is final
#define SCOUT_AGAIN      20     // the same in later rounds
#define ACCURATE_SWEEPS  500    // further sweeps in a try, in accurate: cheaper than a factorization
#define CERTIFIED_SWEEPS 500    // the same in certified
#define FLAT_SWEEPS      200    // the same in certified for flat islands, whose factorizations are cheap
#define TRIES            4      // tries of sweeps and exact.c in turns
#define NEAR             0.25   // change up to which an island is near, share of Near.speed
#define FLAT             0.6    // change at which sweeps of flat islands end, share of Near.speed
#define SWEPT            0.001  // change at which sweeps end, share of tol: errors are many changes
#define LARGE_SWEPT \
    0.1  // the same above FAST_ROWS in accurate, where both sweeps and factorizations cost most, share of tol
#define CERTIFIED_SWEPT 0.01   // the same above FAST_ROWS in certified, share of tol
#define LONGER_SWEEPS   1000   // further sweeps of an island in certified whose sweeps converge
#define SMALL_CHANGE    1e3    // change up to which they converge, share of the change at which they end
#define SMALL_TOL       1e-12  // the same in small islands, share of the largest velocity
#define ROW_SWEEPS      40     // sweeps of a small island with rows
#define REST_SWEEPS     400    // sweeps of an island about to rest
#define NOISE           1e-6   // least scale of residuals, share of a body's speed or of h g
#define LIST_CHUNK      512    // contacts per task

// Marks islands with a contact that is new in this round; in the first round all islands.
static crStatus find_dirty(const crStep* step, const bool* fresh, crArena* arena, crIslandSolve* s) {
    if (!CR_ROOMS(arena, CR_ROOM(s->dirty, s->islands.count + 1))) return CR_ERR_MEMORY;
    memset(s->dirty, fresh == NULL, (size_t)s->islands.count + 1);
    for (int i = 0; i < step->contacts.count && fresh != NULL; i++) {
        if (fresh[i]) s->dirty[cr__island_of_contact(step, &s->islands, &step->contacts.list[i])] = true;
    }
    // rows are posed again in each round
    for (int i = 0; i < s->islands.count; i++) {
        s->dirty[i] = s->dirty[i] || s->islands.general[i];
    }
    return CR_OK;
}

// arguments of the tasks that list packed contacts
typedef struct Listing {
    const crStep* step;
    double h;
    const bool *takes, *fresh;
    crIslandSolve* solve;
    int* first;  // packed contacts of each chunk, then the place of its first one
} Listing;

static void count_chunk(void* ctx, int begin, int end) {
    const Listing* list = ctx;
    int count = 0;
    for (int i = begin; i < end; i++) {
        crStepContact* c = &list->step->contacts.list[i];
        c->row = -1;
        count += list->takes[i] && cr__step_packed(list->step, &list->solve->islands, c);
    }
    list->first[begin / LIST_CHUNK] = count;
}

static void list_chunk(void* ctx, int begin, int end) {
    const Listing* list = ctx;
    const crStep* step = list->step;
    crIslandSolve* s = list->solve;
    int cursor = cr__step_warm_from(step, &step->contacts.list[begin]), at = list->first[begin / LIST_CHUNK];
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!list->takes[i] || !cr__step_packed(step, &s->islands, c)) continue;
        const crWarm* warm = cr__step_warm_next(step, c, &cursor);
        double b = c->point.gap <= c->seat ? 0.0 : (c->point.gap - c->seat) / list->h;
        crPackedContact* to = &s->contact[at];
        cr__step_packed_from(c, to);
        to->E = cr_madd(cr__step_given_velocity(step, c), b, to->normal);
        if (warm != NULL) to->P = cr__in_cone(to, cr_scale(list->h, warm->force));
        if (list->fresh != NULL && !list->fresh[i]) to->P = c->impulse;
        s->index[at] = i;
        s->b[at++] = b;
    }
}

// Lists packed contacts with bias and initial impulse: of the last round, else of the last step.
static crStatus list_packed(const crStep* step, double h, const bool* takes, const bool* fresh,
                            crArena* arena, crIslandSolve* s) {
    int count = step->contacts.count;
    Listing list = {step, h, takes, fresh, s, NULL};
    if (!CR_ROOMS(arena, CR_ROOM(list.first, count / LIST_CHUNK + 1))) return CR_ERR_MEMORY;
    cr__tasks_for(step->own.tasks, count, LIST_CHUNK, count_chunk, &list);
    for (int i = 0; i * LIST_CHUNK < count; i++) {
        int more = list.first[i];
        list.first[i] = s->count;
        s->count += more;
    }
    int room = s->count + 1;
    if (!CR_ROOMS(arena, CR_ROOM(s->index, room), CR_ROOM(s->contact, room), CR_ROOM(s->b, room)))
        return CR_ERR_MEMORY;
    cr__tasks_for(step->own.tasks, count, LIST_CHUNK, list_chunk, &list);
    return CR_OK;
}

static crVec3 body_velocity(const crStep* step, const crPackedContact* c) {
    int body = cr__moves(step->model, c->body_b) ? c->body_b : c->body_a;
    return cr__load_vec(step->free.v + step->model->bodies[body].v);
}

// Returns the square of the velocity below which a row's velocity is rounding: a share of the terms of its
// sum. Rows whose load springs or motors carry have no other velocity left.
static double row_noise(const crStep* step, int r) {
    double fall = step->free.h * cr_norm(step->model->gravity), sum = fall * fall;
    for (int k = step->posed.rows.start[r]; k < step->posed.rows.start[r + 1]; k++) {
        double term = step->posed.rows.value[k] * step->free.v[step->posed.rows.col[k]];
        sum += term * term;
    }
    return NOISE * NOISE * sum;
}

// Writes the square of its rows' largest velocity to each island's `tol`; counts rows of loops and joints.
static void measure_rows(const crStep* step, crIslandSolve* s) {
    const crProblem* problem = &step->posed.problem;
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

// Writes the square of the largest velocity of its packed contacts to each island's `tol`.
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

// Counts the bodies of each island in `rests`; it becomes -1 if one of them is faster than `speed` by v.
static void count_slow(const crStep* step, const double* v, double speed, const crIslandSolve* s) {
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k], i = s->islands.of_body[b];
        if (i < 0 || s->rests[i] < 0) continue;
        s->rests[i] = cr__step_speed(step, v, b) <= speed ? s->rests[i] + 1 : -1;
    }
}

// Lets the sweeps of islands that are about to rest go on to a smaller change; see rest.c.
static void aim_at_rest(const crStep* step, bool again, crIslandSolve* s) {
    double fall = step->free.h * cr_norm(step->model->gravity);
    memset(s->rests, 0, (size_t)s->islands.count * sizeof *s->rests);
    if (cr__step_may_rest(step)) count_slow(step, step->start.v, CR_REST_ABOUT * fall, s);
    for (int i = 0; i < s->islands.count; i++) {
        // islands with rows come to rest by Newton's method
        if (s->rests[i] < 1 || s->islands.general[i]) continue;
        s->of[i].aim = CR_REST_AIM * fall;
        if (!again && s->of[i].limit < REST_SWEEPS) s->of[i].limit = REST_SWEEPS;
    }
}

// Sets the change at which the sweeps of each island end, and their number. again: true in later rounds.
static void set_goals(const crStep* step, const crVec3* u_free, bool again, crIslandSolve* s) {
    crQuality quality = step->settings.quality;
    double tol = step->settings.tol;
    for (int i = 0; i < s->islands.count; i++) {
        s->of[i].live = s->dirty[i] && s->islands.rows[i] > 0;
    }
    // the tolerances of fast are absolute
    if (quality != CR_QUALITY_FAST || tol > 0.0) measure_packed(step, u_free, s);
    if (s->posed) measure_rows(step, s);
    for (int i = 0; i < s->islands.count; i++) {
        crPackedIsland* island = &s->of[i];
        double scale = sqrt(island->tol);
        bool small = s->islands.rows[i] <= SMALL_ROWS;
        if (quality == CR_QUALITY_FAST) {
            island->tol = s->islands.rows[i] <= FAST_ROWS ? FAST_TOL : LARGE_TOL;
            bool little = s->islands.rows[i] <= LITTLE_ROWS && !s->islands.general[i];
            if (tol > 0.0) island->tol = tol * scale;
            if (little && tol <= 0.0) island->late = LITTLE_TOL;
            island->early = again ? AGAIN_SWEEPS : FAST_SWEEPS;
            island->limit = little ? LITTLE_SWEEPS : island->early;
        } else if (small) {
            island->tol = SMALL_TOL * scale;
            island->limit = s->islands.general[i] ? ROW_SWEEPS : 20;
        } else {
            bool certified = quality == CR_QUALITY_CERTIFIED;
            double share = s->islands.rows[i] <= FAST_ROWS ? SWEPT
                           : certified                     ? CERTIFIED_SWEPT
                                                           : LARGE_SWEPT;
            island->tol = share * cr_step_tol(&step->settings) * scale;
            island->limit = again ? SCOUT_AGAIN : SCOUT_SWEEPS;
        }
    }
    aim_at_rest(step, again, s);
}

// Chooses unsolved islands to be continued. Islands with contacts in `added` have another round instead.
// Returns true if there are any.
static bool choose_exact(const crStep* step, const bool* added, crIslandSolve* s) {
    bool fast = step->settings.quality == CR_QUALITY_FAST, any = false;
    memset(s->exact, 0, (size_t)s->islands.count * sizeof *s->exact);
    crPart bodies = cr__step_met(step);
    for (int k = 0; k < bodies.count; k++) {
        int b = cr__part_body(bodies, k), i = s->islands.of_body[b];
        if (s->open[b] && i >= 0) s->exact[i] = !fast || s->islands.rows[i] <= FAST_ROWS;
    }
    for (int i = 0; i < step->contacts.count && added != NULL; i++) {
        if (!added[i]) continue;
        int a = s->islands.of_body[step->contacts.list[i].body_a],
            b = s->islands.of_body[step->contacts.list[i].body_b];
        if (a >= 0) s->exact[a] = false;
        if (b >= 0) s->exact[b] = false;
    }
    for (int i = 0; i < s->islands.count; i++) {
        any = any || s->exact[i];
    }
    return any;
}

static crStatus sweep(const crStep* step, const crInertias* of, const crVec3* u_free, bool again,
                      crIslandSolve* s) {
    crPacked* packed = &s->packed;
    crUnits* units = s->posed ? &s->units : NULL;
    crStatus status = CR_OK;
    if (s->posed) {
        status = cr__units_create(of, &step->posed.problem, step->posed.H.w_hat, step->posed.p,
                                  s->islands.of_body, s->islands.count, s->order, s->first, units);
        if (status != CR_OK) return status;
    }
    status = cr__packed_create(of, s->islands.of_body, step->free.v, s->count, s->contact, units, packed);
    if (status != CR_OK) return status;
    if (units != NULL) units->island = s->of;
    set_goals(step, u_free, again, s);
    status = cr__packed_solve(packed, s->of, s->islands.count, of->arena);
    if (status == CR_OK) cr__packed_results(packed, s->of);
    return status;
}

// Packs the contacts again with the impulses of exact.c. Islands with rows have no second try.
static crStatus pack_again(const crInertias* of, const double* v_free, crIslandSolve* s) {
    for (int i = 0; i < s->islands.count; i++) {
        s->of[i].solved = false;
        s->of[i].sweeps = 0;
    }
    return cr__packed_create(of, s->islands.of_body, v_free, s->count, s->contact, NULL, &s->packed);
}

// Figures of an island for its tries.
typedef struct Near {
    double speed;  // change of gaps by settings.shift, as a speed, if it is enough to be near; else 0, m/s
    int points, shared;  // contacts; contacts after the first of their two shapes
} Near;

static bool is_flat(const Near* near) { return 2 * near->shared > near->points; }

static crStatus find_near(const crStep* step, double h, const crIslandSolve* s, crArena* arena, Near** near) {
    if (!CR_ROOMS(arena, CR_ROOM(*near, s->islands.count + 1))) return CR_ERR_MEMORY;
    bool accurate = step->settings.quality == CR_QUALITY_ACCURATE;
    for (int i = 0; i < s->islands.count; i++) {
        (*near)[i] = (Near){.speed = accurate && s->islands.rows[i] > FAST_ROWS ? (double)INFINITY : 0.0};
    }
    for (int i = 0; i < s->count; i++) {
        const crStepContact* c = &step->contacts.list[s->index[i]];
        const crPackedContact *own = &s->contact[i], *last = &s->contact[i > 0 ? i - 1 : i];
        Near* to = &(*near)[cr__island_of_contact(step, &s->islands, c)];
        to->speed = fmin(to->speed, step->settings.shift * c->delta / (step->settings.deadband * h));
        to->points++;
        to->shared += i > 0 && cr__packed_same_pair(own, last);
    }
    return CR_OK;
}

// Sweeps of an island in a try, before exact.c.
static int count_sweeps(const crStep* step, const Near* near) {
    if (step->settings.quality == CR_QUALITY_ACCURATE) return ACCURATE_SWEEPS;
    return is_flat(near) ? FLAT_SWEEPS : CERTIFIED_SWEEPS;
}

// Sweeps the live islands on. CR_ERR_MEMORY.
static crStatus sweep_live(crArena* scratch, crIslandSolve* s) {
    for (int i = 0; i < s->packed.group_count; i++) {
        s->packed.group[i].live = true;
    }
    crStatus status = cr__packed_solve(&s->packed, s->of, s->islands.count, scratch);
    if (status == CR_OK) cr__packed_results(&s->packed, s->of);
    return status;
}

// Chooses islands of certified whose sweeps converge and sets their new limit. Returns true if there are any. To sweep
// these to their end costs less than a few factorizations. Where regimes change, the change of a sweep stays ten
// thousand times as large, and more sweeps gain nothing.
static bool lengthen(const crStep* step, const Near* near, crIslandSolve* s) {
    bool any = false;
    for (int i = 0; i < s->islands.count; i++) {
        crPackedIsland* island = &s->of[i];
        double small = SMALL_CHANGE * island->tol;
        island->live = s->exact[i] && step->settings.quality == CR_QUALITY_CERTIFIED && !is_flat(&near[i]) &&
                       s->islands.rows[i] > FAST_ROWS && !island->solved && island->change <= small * small;
        if (island->live) island->limit = island->sweeps + LONGER_SWEEPS;
        if (island->live) island->fade = 0;
        any = any || island->live;
    }
    return any;
}

// Sweeps the chosen islands on from where their sweeps ended.
static crStatus sweep_on(const crStep* step, const Near* near, crArena* arena, crIslandSolve* s) {
    bool any = false;
    for (int i = 0; i < s->islands.count; i++) {
        crPackedIsland* island = &s->of[i];
        int most = count_sweeps(step, &near[i]);
        island->live = s->exact[i] && s->islands.rows[i] > SMALL_ROWS && !island->solved;
        if (island->live) island->limit = island->sweeps + most;
        island->fade = most;
        // islands about to rest have an aim already; balls with so large an error would roll on
        if (is_flat(&near[i]) && s->rests[i] < 2) island->aim = fmax(island->tol, FLAT * near[i].speed);
        any = any || island->live;
    }
    if (!any || step->settings.quality == CR_QUALITY_FAST) return CR_OK;
    crStatus status = sweep_live(arena, s);
    return status == CR_OK && lengthen(step, near, s) ? sweep_live(arena, s) : status;
}

// Removes islands from `exact` that are solved, or large and near. *any: true if some are left.
static void keep_unsolved(const Near* near, crIslandSolve* s, bool* any) {
    for (int i = 0; i < s->islands.count; i++) {
        double least = NEAR * near[i].speed;
        bool enough = least > 0.0 && s->of[i].change <= least * least;
        s->exact[i] = s->exact[i] && !s->of[i].solved && !enough;
        *any = *any || s->exact[i];
    }
}

static crStatus apply(crStep* step, crIslandSolve* s, crError* error) {
    if (cr__step_apply(step, s->count, s->index, s->contact, s->dv) != CR_OK) return cr__step_memory(error);
    cr__step_keep_ties(step, &step->ties);
    return CR_OK;
}

// Sets `open` for the bodies of all islands that were swept in this round.
static void mark_open(const crStep* step, crIslandSolve* s) {
    crPart bodies = cr__step_met(step);
    for (int k = 0; k < bodies.count; k++) {
        int b = cr__part_body(bodies, k), i = s->islands.of_body[b];
        if (i < 0 || s->of[i].sweeps > 0) s->open[b] = i >= 0 && !s->of[i].solved;
    }
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
    *s = (crIslandSolve){.open = s->open};
    crStatus status = cr__step_islands(step, takes, &step->scratch, &s->islands);
    if (status != CR_OK) return cr__step_memory(error);
    int islands = s->islands.count + 1;
    if (!CR_ROOMS(&step->scratch, CR_ZERO(s->of, islands), CR_ZERO(s->exact, islands),
                  CR_ROOM(s->dv, step->model->nv + 1), CR_ZERO(s->rests, islands)))
        return cr__step_memory(error);
    s->mark = cr_arena_mark(&step->scratch);
    status = find_dirty(step, fresh, &step->scratch, s);
    if (status == CR_OK) status = list_packed(step, h, takes, fresh, &step->scratch, s);
    if (status != CR_OK) return cr__step_memory(error);
    step->posed.rows = (crRows){0};
    if (any_general(&s->islands)) {
        status = cr__step_pose_rows(step, h, takes, fresh != NULL, s, error);
        if (status != CR_OK) return status;
        s->posed = step->posed.rows.count > 0;
    }
    const crInertias of = cr__step_inertias(step, &step->scratch);
    if (s->count > 0 || s->posed) status = sweep(step, &of, u_free, fresh != NULL, s);
    if (status != CR_OK) return cr__step_memory(error);
    mark_open(step, s);
    int rows = 3 * s->count + step->posed.rows.count;
    if (rows > step->certificate.rows) step->certificate.rows = rows;
    return apply(step, s, error);
}

void cr__step_close_all(const crStep* step, crIslandSolve* s) {
    crPart bodies = cr__step_met(step);
    for (int k = 0; k < bodies.count; k++) {
        s->open[cr__part_body(bodies, k)] = false;
    }
}

crStatus cr__step_finish_islands(crStep* step, double h, const bool* takes, const bool* added,
                                 crIslandSolve* s, bool* changed, crError* error) {
    *changed = choose_exact(step, added, s);
    if (!*changed) return CR_OK;
    Near* near;
    const crInertias of = cr__step_inertias(step, &step->scratch);
    crStatus status = find_near(step, h, s, &step->scratch, &near);
    if (status != CR_OK) return cr__step_memory(error);
    for (int made = 0; made < TRIES; made++) {
        bool any = false;
        if (made > 0) status = pack_again(&of, step->free.v, s);
        if (status == CR_OK) status = sweep_on(step, near, &step->scratch, s);
        if (status != CR_OK) return cr__step_memory(error);
        keep_unsolved(near, s, &any);
        if (any) status = cr__step_solve_exact(step, h, takes, made + 1 == TRIES, s, &any, error);
        if (status != CR_OK) return status;
        if (!any) break;
    }
    // no island is continued twice
    cr__step_close_all(step, s);
    return apply(step, s, error);
}

// Sets the aim of each island to the speed below which it is at rest (cr__step_rest_speed).
static void find_rest_speeds(const crStep* step, const crIslandSolve* s) {
    for (int i = 0; i < s->islands.count; i++) {
        s->of[i].aim = 0.0;
    }
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k], i = s->islands.of_body[b];
        if (i < 0 || s->rests[i] < 0) continue;
        double held = cr__step_speed(step, s->dv, b);
        s->of[i].aim = fmax(s->of[i].aim, cr__step_rest_speed(step, held));
    }
}

bool cr__step_settle(const crStep* step, const crIslandSolve* s, double* v) {
    bool any = false;
    for (int i = 0; i < s->islands.count; i++) {
        s->rests[i] = s->rests[i] < 2 ? -1 : 0;
        any = any || s->rests[i] == 0;
    }
    if (!any) return false;
    find_rest_speeds(step, s);
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k], i = s->islands.of_body[b];
        if (i >= 0 && cr__step_speed(step, v, b) > s->of[i].aim) s->rests[i] = -1;
    }
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k], i = s->islands.of_body[b];
        const crBody* body = &step->model->bodies[b];
        if (i >= 0 && s->rests[i] >= 0) memset(v + body->v, 0, (size_t)body->nv * sizeof(double));
    }
    return true;
}
