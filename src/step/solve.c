// solve.c - impulses from the problem, and the velocities after them.
//
// v+ = v_free + M^-1 J^T p. What the audit finds goes into the certificate, the worst of all solves of the
// step. Forces of the contacts are kept under their features for the next start; a contact that is not among
// those of the step before begins: an event.
// Fails: CR_ERR_FINITE where velocities are not numbers; CR_ERR_MEMORY. A solve that did not converge is no
// failure.
#include <string.h>

#include "model/spatial.h"
#include "step/audit.h"
#include "step/cache.h"
#include "step/packed.h"

#define CHUNK 512     // contacts that one thread takes at a time
#define HOLD  3.0     // deadbands within which a contact that pressed still touches
#define NEAR  1e-4    // likewise where it opens slowly: of the pair's size
#define FALL  0.06    // and of g h^2
#define SLOW  2.5e-3  // of g h

crStatus cr_step_solve(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    crSolver solver = step->settings.solver;
    crSolverParams params = cr_solver_params();
    params.tol = fmin(1e-10, 0.1 * cr_step_tol(&step->settings));
    if (solver.params == NULL) solver.params = &params;
    crStatus status = cr_solver_run(&solver, &step->problem, cr_step_tol(&step->settings), &step->scratch,
                                    step->p, &step->report, error);
    if (status != CR_OK) return status;
    crAudit audit = step->report.audit;
    audit.momentum = 0.0;  // relative there, a speed here
    cr__audit_merge(step, &audit, step->report.outcome);
    return CR_OK;
}

static inline int compare(const crWarm* w, const crStepContact* c, bool shapes_only) {
    const crStepPoint* p = &c->point;
    // nearly always, and what stands side by side is compared at once
    bool shapes = memcmp(&w->shape_a, &c->shape_a, 2 * sizeof w->shape_a) == 0;
    if (shapes && (shapes_only || memcmp(&w->child_a, &p->child_a, 4 * sizeof w->child_a) == 0)) return 0;
    if (w->shape_a != c->shape_a) return w->shape_a < c->shape_a ? -1 : 1;
    if (w->shape_b != c->shape_b) return w->shape_b < c->shape_b ? -1 : 1;
    if (w->child_a != p->child_a) return w->child_a < p->child_a ? -1 : 1;
    if (w->child_b != p->child_b) return w->child_b < p->child_b ? -1 : 1;
    if (w->feature_a != p->feature_a) return w->feature_a < p->feature_a ? -1 : 1;
    if (w->feature_b != p->feature_b) return w->feature_b < p->feature_b ? -1 : 1;
    return 0;
}

// the first force kept, from cursor on, that is not before c; NULL where it is not c's. Forces are sorted as
// contacts are
static inline const crWarm* next_kept(const crWarm* kept, int count, const crStepContact* c, bool shapes_only,
                                      int* cursor) {
    int order = -1;
    while (*cursor < count) {
        order = compare(&kept[*cursor], c, shapes_only);
        if (order >= 0) break;
        ++*cursor;
    }
    return order == 0 ? &kept[*cursor] : NULL;
}

const crWarm* cr__step_warm_next(const crStep* step, const crStepContact* c, int* cursor) {
    return next_kept(step->warm, step->warm_count, c, false, cursor);
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

// whether another point of the same two shapes pressed in the last solve; cursor: where c's force would stand
static bool pair_pressed(const crStep* step, const crStepContact* c, int cursor) {
    bool before = cursor > 0 && compare(&step->warm[cursor - 1], c, true) == 0;
    return before || (cursor < step->warm_count && compare(&step->warm[cursor], c, true) == 0);
}

// what pressed goes on to touch a little longer: a corner that flickers moves its load to the others. In a
// heap at rest only residuals open what presses. Let go, it may close by its gap in a step; where the others
// stick, sweeps take its load away by no more than that speed at a time, and each of them stirs the heap.
// Points of one face have one plane: beside points that press, biases of some microns would contradict them
double cr__step_band(const crStep* step, const crStepContact* c, int* cursor) {
    double gap = c->point.gap, band = HOLD * c->delta;
    if (gap <= c->delta) return c->delta;
    if (gap > band) {
        double fall = step->h * cr_norm(step->model->gravity);
        if (!(c->speed <= SLOW * fall)) return c->delta;
        band = fmax(band, fmin(NEAR * c->delta / step->settings.deadband, FALL * step->h * fall));
        if (gap > band) return c->delta;
    }
    if (cr__step_warm_next(step, c, cursor) != NULL) return band;
    return gap <= HOLD * c->delta && pair_pressed(step, c, *cursor) ? HOLD * c->delta : c->delta;
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

// forces of the last solve, while those of this one take their place
typedef struct Kept {
    const crWarm* old;
    int count, next;
    bool alone;  // all of them are of the part
} Kept;

// room for new forces; those that the step began with stay where they are
static crStatus begin_forces(crStep* step, Kept* kept) {
    kept->count = step->warm_count;
    kept->old = step->warm;
    if (step->warm_changed) {
        crWarm* copy = cr_arena_alloc(&step->scratch, (size_t)(step->warm_count + 1) * sizeof *copy);
        if (copy == NULL) return CR_ERR_MEMORY;
        if (step->warm_count > 0) memcpy(copy, step->warm, (size_t)step->warm_count * sizeof *copy);
        kept->old = copy;
    } else {
        cr__step_swap_forces(step);
        step->warm_changed = true;
    }
    int room = step->contact_count + (kept->alone ? 0 : kept->count);
    void* warm = step->warm;
    step->warm_count = 0;
    crStatus status =
        cr__step_grow(&step->allocator, &warm, &step->warm_capacity, 0, room, sizeof *step->warm);
    step->warm = warm;
    return status;
}

void cr__step_swap_forces(crStep* step) {
    crWarm* warm = step->warm;
    int count = step->warm_count, capacity = step->warm_capacity;
    step->warm = step->warm_start;
    step->warm_count = step->warm_start_count;
    step->warm_capacity = step->warm_start_capacity;
    step->warm_start = warm;
    step->warm_start_count = count;
    step->warm_start_capacity = capacity;
}

// old forces before contact c, NULL: all that are left, that are not of the part
static void keep_others(crStep* step, Kept* kept, const crStepContact* c) {
    for (; kept->next < kept->count; kept->next++) {
        const crWarm* w = &kept->old[kept->next];
        if (c != NULL && compare(w, c, false) >= 0) return;
        if (!of_part(step, w)) step->warm[step->warm_count++] = *w;
    }
}

static void mark_part(crStep* step, int value) {
    for (int k = 0; k < step->part_count; k++) {
        step->cache->mark[step->part[k]] = value;
    }
}

// contacts of pairs that did not press in the last solve begin; forces of the part's contacts take the place
// of its old ones, in order
static crStatus keep_forces(crStep* step) {
    size_t mark = cr_arena_mark(&step->scratch);
    Kept kept = {.alone = step->part == step->cache->whole && step->part_count == step->model->nb - 1};
    crStatus status = begin_forces(step, &kept);
    if (status != CR_OK) return status;
    int cursor = 0;
    double rate = 1.0 / step->h;
    if (!kept.alone) mark_part(step, 1);
    for (int i = 0; i < step->contact_count && status == CR_OK; i++) {
        const crStepContact* c = &step->contacts[i];
        if (!presses(c)) continue;
        if (c->speed < 0.0 && next_kept(kept.old, kept.count, c, true, &cursor) == NULL) {
            status = add_beginning(step, c);
        }
        if (!kept.alone) keep_others(step, &kept, c);
        const crStepPoint* p = &c->point;
        step->warm[step->warm_count++] = (crWarm){c->shape_a,
                                                  c->shape_b,
                                                  p->child_a,
                                                  p->child_b,
                                                  p->feature_a,
                                                  p->feature_b,
                                                  cr_scale(rate, c->impulse)};
    }
    if (!kept.alone) {
        keep_others(step, &kept, NULL);
        mark_part(step, 0);
    }
    cr_arena_release(&step->scratch, mark);
    return status;
}

// momentum and moment about its origin that contacts give to one body, which stays the same for a while
typedef struct Push {
    int body;
    double* at;  // NULL: it does not move
    crVec3 origin, linear, angular;
} Push;

static Push push_begin(const crStep* step, int body, double* momentum) {
    if (!cr__moves(step->model, body)) return (Push){.body = body};
    double* at = momentum + step->model->bodies[body].v;
    return (Push){body, at, step->dynamics.origin[body], cr__load_vec(at), cr__load_vec(at + 3)};
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

void cr__step_add_momentum(const crStep* step, int count, const crPackedContact* contact, double* momentum) {
    Push a = {.body = -1}, b = {.body = -1};
    for (int i = 0; i < count; i++) {
        const crPackedContact* c = &contact[i];
        if (c->body_a != a.body || c->body_b != b.body) {
            push_end(&a);
            push_end(&b);
            a = push_begin(step, c->body_a, momentum);
            b = push_begin(step, c->body_b, momentum);
        }
        if (a.at != NULL) push_add(&a, c->point, cr_neg(c->P));
        if (b.at != NULL) push_add(&b, c->point, c->P);
    }
    push_end(&a);
    push_end(&b);
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

static crStatus clear(crStep* step, crPart part, crDynamics* d, void* dv) {
    (void)d;
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &step->model->bodies[cr__part_body(part, k)];
        memset((double*)dv + body->v, 0, (size_t)body->nv * sizeof(double));
    }
    return CR_OK;
}

static crStatus set_velocities(crStep* step, crPart part, crDynamics* d, void* ctx) {
    double* dv = ctx;
    cr__part_mass_solve(step->model, part, d, dv);
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &step->model->bodies[cr__part_body(part, k)];
        for (int i = body->v; i < body->v + body->nv; i++) {
            step->state.v[i] = step->v_free[i] + dv[i];
        }
    }
    return CR_OK;
}

// impulses of packed contacts on their way to the step's
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
    if (cr__step_by_bodies(step, clear, dv) != CR_OK) return CR_ERR_MEMORY;
    // contacts have none but from rows and packed ones
    if (step->rows.count > 0 || count == 0) read_impulses(step);
    cr_rows_add_impulse(&step->rows, step->p, dv);
    cr__step_add_momentum(step, count, contact, dv);
    cr__tasks_for(step->tasks, count, CHUNK, give_range, &(Given){step->contacts, contact, index});
    return cr__step_by_bodies(step, set_velocities, dv);
}

crStatus cr__step_keep(crStep* step, crError* error) {
    return keep_forces(step) == CR_OK ? CR_OK : cr__step_memory(error);
}

crStatus cr_step_apply(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    if (cr__step_apply(step, 0, NULL, NULL, step->dynamics.work) != CR_OK) return cr__step_memory(error);
    cr__audit_drives(step);
    cr__step_keep_ties(step);
    return cr__step_keep(step, error);
}
