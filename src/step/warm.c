// warm.c - warm start: forces of the last solve, found by shapes, children and features.
//
// The next solve starts from these forces. A contact whose pair carried no load in the last solve begins: an
// event.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "base/tasks.h"
#include "step/clocks.h"

#define HOLD  3.0     // gap up to which a contact that carried load still touches, in deadbands
#define NEAR  1e-4    // the same for a contact that opens slowly, share of the pair's size,
#define FALL  0.06    // but at most this share of g h^2
#define SLOW  2.5e-3  // speed up to which a contact opens slowly, share of g h
#define CHUNK 512     // contacts or forces per task

static inline int compare(const crWarm* w, const crStepContact* c, bool shapes_only) {
    // equality is by far the most frequent case; adjacent integers are compared at once
    bool shapes = memcmp(&w->shape_a, &c->shape_a, 2 * sizeof w->shape_a) == 0;
    if (shapes && (shapes_only || memcmp(&w->child_a, &c->point.child_a, 4 * sizeof w->child_a) == 0))
        return 0;
    if (w->shape_a != c->shape_a) return w->shape_a < c->shape_a ? -1 : 1;
    if (w->shape_b != c->shape_b) return w->shape_b < c->shape_b ? -1 : 1;
    crWarm own = cr__warm_of(c, cr_vec3(0, 0, 0));
    return cr__warm_order(w, &own);
}

// Moves the cursor to the first kept force that does not come before c. Returns it if it is c's, else NULL.
// Forces are sorted as contacts are.
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
    return next_kept(step->warm.force, step->warm.count, c, false, cursor);
}

// Number of the sorted forces that come before c. of: the forces' places in w; NULL: they are w itself.
static inline int count_before(const crWarm* w, const int* of, int count, const crStepContact* c,
                               bool shapes_only) {
    int lo = 0, hi = count;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        bool before = compare(&w[of != NULL ? of[mid] : mid], c, shapes_only) < 0;
        lo = before ? mid + 1 : lo;
        hi = before ? hi : mid;
    }
    return lo;
}

int cr__step_warm_from(const crStep* step, const crStepContact* c) {
    return count_before(step->warm.force, NULL, step->warm.count, c, false);
}

const crWarm* cr__step_warm(const crStep* step, const crStepContact* c) {
    if (step->clocks->kept.open && !step->clocks->kept.inside) return cr__step_kept_find(step, c);
    int at = cr__step_warm_from(step, c);
    return cr__step_warm_next(step, c, &at);
}

bool cr__step_pressed(const crStep* step, const crStepContact* c, int* cursor) {
    if (step->clocks->kept.open && !step->clocks->kept.inside) return cr__step_kept_find(step, c) != NULL;
    if (*cursor < 0) *cursor = cr__step_warm_from(step, c);
    return cr__step_warm_next(step, c, cursor) != NULL;
}

// True if another point of the same two shapes carried load in the last solve; cursor: place of c's force.
static bool pair_pressed(const crStepWarm* warm, const crStepContact* c, int cursor) {
    bool before = cursor > 0 && compare(&warm->force[cursor - 1], c, true) == 0;
    return before || (cursor < warm->count && compare(&warm->force[cursor], c, true) == 0);
}

// The band of a contact that carried load is wider than the deadband (hysteresis): a corner that alternates
// between open and closed shifts its load to its neighbours and keeps a heap moving. In a heap at rest only
// residuals open such contacts. A contact treated as open may close by its gap in a step; if the other
// corners stick, the sweeps remove its load only up to that speed per step, and each removal disturbs the
// heap. Points of one face lie in one plane: next to points with load, biases of some microns would
// contradict them.
double cr__step_band(const crStep* step, const crStepContact* c, int* cursor) {
    double gap = c->point.gap, band = HOLD * c->delta;
    if (gap <= c->delta) return c->delta;
    if (gap > band) {
        double fall = step->free.h * cr_norm(step->model->gravity);
        if (!(c->speed <= SLOW * fall)) return c->delta;
        band = fmax(band, fmin(NEAR * c->delta / step->settings.deadband, FALL * step->free.h * fall));
        if (gap > band) return c->delta;
    }
    if (cr__step_warm_next(step, c, cursor) != NULL) return band;
    return gap <= HOLD * c->delta && pair_pressed(&step->warm, c, *cursor) ? HOLD * c->delta : c->delta;
}

static crStatus add_beginning(const crStep* step, const crStepContact* c, crStepEvents* events) {
    crEvent event = cr__step_event_of(step->state.time, c);
    event.energy_change = 0.5 * c->speed * cr_dot(c->impulse, c->point.normal);
    return cr__step_event_put(&step->own.allocator, &event, events);
}

// Replacement of the forces of the last solve by the forces of this solve, in chunks of contacts, one per
// task. Old forces with a moving body outside the part stay; each chunk writes the ones that sort before the
// next chunk's first contact.
typedef struct Keeping {
    crStep* step;
    int count;
    const crWarm* old;  // (count)
    int other_count;
    int* others;             // indices of old forces that stay (other_count)
    bool* stays;             // true for each old force that stays (count)
    bool *presses, *begins;  // true for contacts that carry load, and for those that begin (contacts.count)
    struct KeepChunk* chunk;
} Keeping;

typedef struct KeepChunk {
    int presses;      // contacts that carry load
    int first_other;  // place of its first old force in `others`
    int at;           // place of its first force
} KeepChunk;

static int chunks_of(int count) { return (count + CHUNK - 1) / CHUNK; }

// Empties `warm`, and keeps its forces for `keep`. The forces that the step began with stay in warm.start.
static crStatus begin_forces(crArena* arena, crStepWarm* warm, Keeping* keep) {
    keep->count = warm->count;
    keep->old = warm->force;
    if (warm->changed) {
        crWarm* copy = cr_arena_alloc(arena, (size_t)(warm->count + 1) * sizeof *copy);
        if (copy == NULL) return CR_ERR_MEMORY;
        if (warm->count > 0) memcpy(copy, warm->force, (size_t)warm->count * sizeof *copy);
        keep->old = copy;
    } else {
        cr__step_swap_forces(warm);
        warm->changed = true;
    }
    warm->count = 0;
    return CR_OK;
}

// Finds the old forces that stay: a body that v moves is outside the part. A body that v does not move counts
// on neither side.
static void find_staying(void* ctx, int begin, int end) {
    const Keeping* keep = ctx;
    const crStep* step = keep->step;
    const int *body = step->plan->shape.body, *mark = step->work.mark;
    for (int i = begin; i < end; i++) {
        int a = body[keep->old[i].shape_a], b = body[keep->old[i].shape_b];
        keep->stays[i] =
            (mark[a] == 0 && cr__moves(step->model, a)) || (mark[b] == 0 && cr__moves(step->model, b));
    }
}

static crStatus find_others(Keeping* keep) {
    crStep* step = keep->step;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(keep->others, keep->count + 1),
                  CR_ROOM(keep->stays, keep->count + 1)))
        return CR_ERR_MEMORY;
    cr__step_mark_part(step, 1);
    cr__tasks_for(step->own.tasks, keep->count, CHUNK, find_staying, keep);
    cr__step_mark_part(step, 0);
    for (int i = 0; i < keep->count; i++) {
        keep->others[keep->other_count] = i;
        keep->other_count += keep->stays[i];
    }
    return CR_OK;
}

// Finds the contacts of a chunk that carry load. A contact begins if its pair carried none in the last solve.
static void find_pressing(void* ctx, int begin, int end) {
    const Keeping* keep = ctx;
    const crStepContact* list = keep->step->contacts.list;
    KeepChunk* chunk = &keep->chunk[begin / CHUNK];
    // the first old force whose pair does not sort before that of the first contact
    int cursor = count_before(keep->old, NULL, keep->count, &list[begin], true);
    *chunk = (KeepChunk){0};
    if (begin > 0)
        chunk->first_other = count_before(keep->old, keep->others, keep->other_count, &list[begin], false);
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &list[i];
        keep->presses[i] = cr__step_presses(c);
        // the sign of the speed is no branch: in a heap it cannot be foreseen
        bool fresh = keep->presses[i] && next_kept(keep->old, keep->count, c, true, &cursor) == NULL;
        keep->begins[i] = fresh & (c->speed < 0.0);
        chunk->presses += keep->presses[i];
    }
}

// Writes the forces of contacts begin to end - 1, merged with the chunk's old forces, in order.
static void put_forces(void* ctx, int begin, int end) {
    const Keeping* keep = ctx;
    const crStep* step = keep->step;
    const KeepChunk* chunk = &keep->chunk[begin / CHUNK];
    crWarm* to = step->warm.force + chunk->at;
    int other = chunk->first_other, last = chunk[1].first_other;
    double rate = 1.0 / step->free.h;
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!keep->presses[i]) continue;
        for (; other < last && compare(&keep->old[keep->others[other]], c, false) < 0; other++) {
            *to++ = keep->old[keep->others[other]];
        }
        *to++ = cr__warm_of(c, cr_scale(rate, c->impulse));
    }
    for (; other < last; other++) {
        *to++ = keep->old[keep->others[other]];
    }
}

// Sets the place of each chunk's forces and makes room for all. CR_ERR_MEMORY.
static crStatus place_forces(Keeping* keep, int chunks) {
    crStep* step = keep->step;
    int count = 0;
    keep->chunk[chunks] = (KeepChunk){.first_other = keep->other_count};
    for (int k = 0; k < chunks; k++) {
        keep->chunk[k].at = count;
        count += keep->chunk[k].presses + keep->chunk[k + 1].first_other - keep->chunk[k].first_other;
    }
    // without contacts there is no chunk, and all old forces that stay are written by the caller
    if (chunks == 0) count = keep->other_count;
    crStatus status = cr__warm_reserve(&step->own.allocator, &step->warm, count);
    if (status == CR_OK) step->warm.count = count;
    return status;
}

static crStatus add_beginnings(const Keeping* keep) {
    crStep* step = keep->step;
    crStatus status = CR_OK;
    // few contacts begin
    for (int i = 0; i < step->contacts.count && status == CR_OK; i++) {
        size_t left = (size_t)(step->contacts.count - i);
        const bool* next = memchr(keep->begins + i, true, left * sizeof *next);
        if (next == NULL) break;
        i = (int)(next - keep->begins);
        status = add_beginning(step, &step->contacts.list[i], &step->events);
    }
    return status;
}

crStatus cr__step_keep(crStep* step) {
    size_t mark = cr_arena_mark(&step->scratch), count = (size_t)step->contacts.count;
    bool whole = step->part.count == step->model->nb - 1;
    int chunks = chunks_of(step->contacts.count);
    Keeping keep = {.step = step};
    if (!CR_ROOMS(&step->scratch, CR_ROOM(keep.presses, count + 1), CR_ROOM(keep.begins, count + 1),
                  CR_ROOM(keep.chunk, chunks + 1)))
        return CR_ERR_MEMORY;
    crStatus status = begin_forces(&step->scratch, &step->warm, &keep);
    if (status == CR_OK && !whole && !step->clocks->kept.inside) status = find_others(&keep);
    if (status != CR_OK) return status;
    cr__tasks_for(step->own.tasks, step->contacts.count, CHUNK, find_pressing, &keep);
    status = place_forces(&keep, chunks);
    if (status != CR_OK) return status;
    cr__tasks_for(step->own.tasks, step->contacts.count, CHUNK, put_forces, &keep);
    for (int i = 0; chunks == 0 && i < keep.other_count; i++) {
        step->warm.force[i] = keep.old[keep.others[i]];
    }
    status = add_beginnings(&keep);
    cr_arena_release(&step->scratch, mark);
    return status;
}
