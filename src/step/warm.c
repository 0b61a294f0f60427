// warm.c - forces of the last solve, found again under shapes, children and features.
//
// They are what the next solve starts from. A contact that is not among those of the solve before begins: an event.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "step/clocks.h"

#define HOLD 3.0     // deadbands within which a contact that pressed still touches
#define NEAR 1e-4    // likewise where it opens slowly: of the pair's size
#define FALL 0.06    // and of g h^2
#define SLOW 2.5e-3  // of g h

static inline int compare(const crWarm* w, const crStepContact* c, bool shapes_only) {
    // nearly always, and what stands side by side is compared at once
    bool shapes = memcmp(&w->shape_a, &c->shape_a, 2 * sizeof w->shape_a) == 0;
    if (shapes && (shapes_only || memcmp(&w->child_a, &c->point.child_a, 4 * sizeof w->child_a) == 0))
        return 0;
    if (w->shape_a != c->shape_a) return w->shape_a < c->shape_a ? -1 : 1;
    if (w->shape_b != c->shape_b) return w->shape_b < c->shape_b ? -1 : 1;
    crWarm own = cr__warm_of(c, cr_vec3(0, 0, 0));
    return cr__warm_order(w, &own);
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
    return next_kept(step->warm.force, step->warm.count, c, false, cursor);
}

int cr__step_warm_from(const crStep* step, const crStepContact* c) {
    int lo = 0, hi = step->warm.count;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        bool before = compare(&step->warm.force[mid], c, false) < 0;
        lo = before ? mid + 1 : lo;
        hi = before ? hi : mid;
    }
    return lo;
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

// whether another point of the same two shapes pressed in the last solve; cursor: where c's force would stand
static bool pair_pressed(const crStepWarm* warm, const crStepContact* c, int cursor) {
    bool before = cursor > 0 && compare(&warm->force[cursor - 1], c, true) == 0;
    return before || (cursor < warm->count && compare(&warm->force[cursor], c, true) == 0);
}

// what pressed goes on to touch a little longer: a corner that flickers moves its load to the others. In a
// heap at rest only residuals open what presses. Let go, it may close by its gap in a step; where the others
// stick, sweeps take its load away by no more than that speed at a time, and each of them stirs the heap.
// Points of one face have one plane: beside points that press, biases of some microns would contradict them
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

static crStatus add_beginning(crStep* step, const crStepContact* c) {
    crEvent event = cr__step_event_of(step->state.time, c);
    event.energy_change = 0.5 * c->speed * cr_dot(c->impulse, c->point.normal);
    return cr_step_event_add(step, &event);
}

// forces of the last solve, while those of this one take their place
typedef struct Kept {
    int count;
    const crWarm* old;  // (count)
    int other_count;
    int* others;  // old ones of which a body moves outside the part (other_count)
    int next;     // of the others, to be appended
} Kept;

// no new forces yet; those that the step began with stay where they are
static crStatus begin_forces(crStep* step, Kept* kept) {
    kept->count = step->warm.count;
    kept->old = step->warm.force;
    if (step->warm.changed) {
        crWarm* copy = cr_arena_alloc(&step->scratch, (size_t)(step->warm.count + 1) * sizeof *copy);
        if (copy == NULL) return CR_ERR_MEMORY;
        if (step->warm.count > 0) memcpy(copy, step->warm.force, (size_t)step->warm.count * sizeof *copy);
        kept->old = copy;
    } else {
        cr__step_swap_forces(&step->warm);
        step->warm.changed = true;
    }
    step->warm.count = 0;
    return CR_OK;
}

static crStatus find_other_forces(crStep* step, Kept* kept) {
    const crModel* model = step->model;
    kept->others = cr_arena_alloc(&step->scratch, ((size_t)kept->count + 1) * sizeof *kept->others);
    if (kept->others == NULL) return CR_ERR_MEMORY;
    // what v does not move is on either side
    cr__step_mark_part(step, 1);
    for (int i = 0; i < kept->count; i++) {
        const crWarm* w = &kept->old[i];
        int a = model->shapes[w->shape_a].body, b = model->shapes[w->shape_b].body;
        kept->others[kept->other_count] = i;
        kept->other_count += (step->work.mark[a] == 0 && cr__moves(model, a)) ||
                             (step->work.mark[b] == 0 && cr__moves(model, b));
    }
    cr__step_mark_part(step, 0);
    return CR_OK;
}

// how many of the others come before contact c
static int others_before(const Kept* kept, const crStepContact* c) {
    int lo = kept->next, hi = kept->other_count;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        bool before = compare(&kept->old[kept->others[mid]], c, false) < 0;
        lo = before ? mid + 1 : lo;
        hi = before ? hi : mid;
    }
    return lo;
}

// the others up to this one
static crStatus keep_others(crStep* step, Kept* kept, int end) {
    crStepWarm* warm = &step->warm;
    crStatus status = cr__warm_reserve(&step->own.allocator, warm, end - kept->next);
    for (; kept->next < end && status == CR_OK; kept->next++) {
        warm->force[warm->count++] = kept->old[kept->others[kept->next]];
    }
    return status;
}

// contacts of pairs that did not press in the last solve begin; forces of the part's contacts take the place
// of its old ones, in order
static crStatus keep_forces(crStep* step) {
    size_t mark = cr_arena_mark(&step->scratch);
    bool whole = step->part.count == step->model->nb - 1;
    Kept kept = {0};
    crStatus status = begin_forces(step, &kept);
    if (status == CR_OK && !whole && !step->clocks->kept.inside) status = find_other_forces(step, &kept);
    int cursor = 0;
    double rate = 1.0 / step->free.h;
    for (int i = 0; i < step->contacts.count && status == CR_OK; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!cr__step_presses(c)) continue;
        if (c->speed < 0.0 && next_kept(kept.old, kept.count, c, true, &cursor) == NULL) {
            status = add_beginning(step, c);
        }
        if (kept.next < kept.other_count && status == CR_OK)
            status = keep_others(step, &kept, others_before(&kept, c));
        if (status == CR_OK) status = cr__warm_reserve(&step->own.allocator, &step->warm, 1);
        if (status == CR_OK)
            step->warm.force[step->warm.count++] = cr__warm_of(c, cr_scale(rate, c->impulse));
    }
    if (status == CR_OK) status = keep_others(step, &kept, kept.other_count);
    cr_arena_release(&step->scratch, mark);
    return status;
}

crStatus cr__step_keep(crStep* step, crError* error) {
    return keep_forces(step) == CR_OK ? CR_OK : cr__step_memory(error);
}
