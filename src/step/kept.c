// kept.c - forces of the last solve by body, for groups of bodies with clocks of their own.
//
// step->warm holds the forces in the order of contacts; a solve of the whole world reads and writes all of
// them. A solve of one group needs only its own: here each force is in one chain per moving body, and the
// forces of the part go into step->warm, sorted, for the time of its solve. At the end of the step all forces
// are sorted once.
// Fails: CR_ERR_MEMORY.
#include "step/kept.h"

#include "step/clocks.h"

int cr__warm_order(const crWarm* a, const crWarm* b) {
    if (a->shape_a != b->shape_a) return a->shape_a < b->shape_a ? -1 : 1;
    if (a->shape_b != b->shape_b) return a->shape_b < b->shape_b ? -1 : 1;
    if (a->child_a != b->child_a) return a->child_a < b->child_a ? -1 : 1;
    if (a->child_b != b->child_b) return a->child_b < b->child_b ? -1 : 1;
    if (a->feature_a != b->feature_a) return a->feature_a < b->feature_a ? -1 : 1;
    if (a->feature_b != b->feature_b) return a->feature_b < b->feature_b ? -1 : 1;
    return 0;
}

// Moves the force at i down the heap of the first `count` forces until no child sorts after it.
static void sink_force(crWarm* force, int i, int count) {
    crWarm down = force[i];
    for (int child = 2 * i + 1; child < count; child = 2 * i + 1) {
        if (child + 1 < count && cr__warm_order(&force[child], &force[child + 1]) < 0) child++;
        if (cr__warm_order(&down, &force[child]) >= 0) break;
        force[i] = force[child];
        i = child;
    }
    force[i] = down;
}

static void sort_forces(crWarm* force, int count) {
    for (int i = count / 2 - 1; i >= 0; i--) {
        sink_force(force, i, count);
    }
    for (int last = count - 1; last > 0; last--) {
        crWarm highest = force[0];
        force[0] = force[last];
        force[last] = highest;
        sink_force(force, 0, last);
    }
}

crStatus cr__warm_reserve(const crAllocator* a, crStepWarm* warm, int more) {
    return CR_GROW(a, warm->force, warm->capacity, warm->count, warm->count + more);
}

static crStatus append_force(const crAllocator* a, crStepWarm* warm, const crWarm* force) {
    crStatus status = cr__warm_reserve(a, warm, 1);
    if (status == CR_OK) warm->force[warm->count++] = *force;
    return status;
}

// end of a force that acts on a body: 0 or 1
static int end_at(const crModel* model, const crWarm* w, int body) {
    return model->shapes[w->shape_a].body == body ? 0 : 1;
}

static crStatus add_force(const crModel* model, const crAllocator* a, crKept* kept, const crWarm* w) {
    crStatus status = CR_GROW(a, kept->force, kept->capacity, kept->count, kept->count + 1);
    if (status != CR_OK) return status;
    crKeptForce* to = &kept->force[kept->count];
    *to = (crKeptForce){.force = *w, .next = {-1, -1}};
    int ends[2] = {model->shapes[w->shape_a].body, model->shapes[w->shape_b].body};
    for (int k = 0; k < 2; k++) {
        if (!cr__moves(model, ends[k])) continue;
        to->next[k] = kept->first[ends[k]];
        kept->first[ends[k]] = kept->count;
    }
    kept->count++;
    return CR_OK;
}

crStatus cr__step_kept_open(const crModel* model, const crAllocator* a, const crStepWarm* warm,
                            crKept* kept) {
    kept->count = 0;
    for (int b = 0; b < model->nb; b++) {
        kept->first[b] = -1;
    }
    crStatus status = CR_OK;
    for (int i = 0; i < warm->count && status == CR_OK; i++) {
        status = add_force(model, a, kept, &warm->force[i]);
    }
    kept->sorted = kept->count;
    kept->open = status == CR_OK;
    return status;
}

// True if the solve of the marked part replaces this force of one of its bodies. A force between two moving
// bodies of the part is taken once, at its end 1.
static bool is_taken(const crModel* model, const int* mark, const crWarm* w, int end) {
    int other = model->shapes[end == 0 ? w->shape_b : w->shape_a].body;
    if (!cr__moves(model, other)) return true;
    return end == 1 && mark[other] != 0;
}

// Moves a body's forces that the part's solve replaces to kept->part, and removes forces that are gone from the
// chain.
static crStatus take_forces(const crModel* model, const crAllocator* a, const int* mark, int body,
                            crKept* kept) {
    crStatus status = CR_OK;
    for (int* link = &kept->first[body]; *link >= 0 && status == CR_OK;) {
        crKeptForce* f = &kept->force[*link];
        int end = end_at(model, &f->force, body);
        if (!f->gone && is_taken(model, mark, &f->force, end)) {
            status = append_force(a, &kept->part, &f->force);
            if (status != CR_OK) break;
            f->gone = true;
        }
        if (f->gone) {
            *link = f->next[end];
        } else {
            link = &f->next[end];
        }
    }
    return status;
}

crStatus cr__step_kept_enter(const crStep* step, crStepWarm* warm, crKept* kept) {
    crStepWarm* part = &kept->part;
    crStatus status = CR_OK;
    part->count = 0;
    cr__step_mark_part(step, 1);
    for (int k = 0; k < step->part.count && status == CR_OK; k++) {
        if (cr__moves(step->model, step->part.bodies[k]))
            status =
                take_forces(step->model, &step->own.allocator, step->work.mark, step->part.bodies[k], kept);
    }
    cr__step_mark_part(step, 0);
    sort_forces(part->force, part->count);
    kept->whole = *warm;
    *warm = *part;
    warm->changed = true;
    kept->inside = true;
    return status;
}

crStatus cr__step_kept_leave(const crModel* model, const crAllocator* a, crStepWarm* warm, crKept* kept) {
    crStatus status = CR_OK;
    kept->part = *warm;
    *warm = kept->whole;
    kept->inside = false;
    for (int i = 0; i < kept->part.count && status == CR_OK; i++) {
        status = add_force(model, a, kept, &kept->part.force[i]);
    }
    return status;
}

// Sorts the forces that were added after opening into kept->part; *all: number of all present forces.
static crStatus sort_late(const crAllocator* a, crKept* kept, int* all) {
    crStatus status = CR_OK;
    kept->part.count = *all = 0;
    for (int i = 0; i < kept->count && status == CR_OK; i++) {
        *all += !kept->force[i].gone;
        if (i < kept->sorted || kept->force[i].gone) continue;
        status = append_force(a, &kept->part, &kept->force[i].force);
    }
    sort_forces(kept->part.force, kept->part.count);
    return status;
}

crStatus cr__step_kept_close(const crAllocator* a, crStepWarm* warm, crKept* kept) {
    int all, late = 0;
    crStatus status = sort_late(a, kept, &all);
    if (status != CR_OK) return status;
    kept->open = false;
    // the forces of the step's beginning stay in warm.start
    if (!warm->changed) cr__step_swap_forces(warm);
    warm->changed = true;
    warm->count = 0;
    status = cr__warm_reserve(a, warm, all);
    if (status != CR_OK) return status;
    for (int i = 0; i < kept->sorted; i++) {
        const crKeptForce* f = &kept->force[i];
        if (f->gone) continue;
        while (late < kept->part.count && cr__warm_order(&kept->part.force[late], &f->force) < 0) {
            warm->force[warm->count++] = kept->part.force[late++];
        }
        warm->force[warm->count++] = f->force;
    }
    while (late < kept->part.count) {
        warm->force[warm->count++] = kept->part.force[late++];
    }
    return CR_OK;
}

void cr__step_kept_destroy(const crAllocator* a, crKept* kept) {
    cr__drop(a, kept->force, kept->capacity, sizeof *kept->force);
    cr__drop(a, kept->part.force, kept->part.capacity, sizeof *kept->part.force);
}

// Searches the chains of both bodies in turn, until the shorter one ends.
const crWarm* cr__step_kept_find(const crStep* step, const crStepContact* c) {
    const crKept* kept = &step->clocks->kept;
    const int ends[2] = {c->body_a, c->body_b};
    int at[2];
    for (int k = 0; k < 2; k++) {
        at[k] = cr__moves(step->model, ends[k]) ? kept->first[ends[k]] : 0;
    }
    while (at[0] >= 0 && at[1] >= 0) {
        for (int k = 0; k < 2; k++) {
            if (!cr__moves(step->model, ends[k])) continue;
            const crKeptForce* f = &kept->force[at[k]];
            if (!f->gone && cr__warm_is_of(&f->force, c)) return &f->force;
            at[k] = f->next[end_at(step->model, &f->force, ends[k])];
        }
    }
    return NULL;
}

void cr__step_swap_forces(crStepWarm* warm) {
    crStepWarm was = *warm;
    warm->force = was.start;
    warm->count = was.start_count;
    warm->capacity = was.start_capacity;
    warm->start = was.force;
    warm->start_count = was.count;
    warm->start_capacity = was.capacity;
}
