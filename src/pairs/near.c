// near.c - which shapes are near: boxes with room to move, the list of pairs they make, its index by body.
//
// The broad phase holds boxes larger than margins ask for; while every shape stays in its own, the list of pairs
// stands and costs nothing. The list is sorted and contacts are taken by their gaps alone, so that no result
// depends on which boxes were told. Not listed: shapes of two bodies that no velocity moves, what cr_model_meet
// keeps apart, and shapes that move in parallel planes and pass by each other.
// Fails: CR_ERR_MEMORY; what the broad phase or a material says.
#include <limits.h>
#include <string.h>

#include "base/room.h"
#include "collide/broad.h"
#include "pairs/pairs.h"

#define ROOM  0.02  // of a body's size, beyond its margin
#define CHUNK 256   // bodies that one thread takes at a time
#define PAIRS 1024  // likewise
#define MANY  64    // bodies beyond which contacts of slow pairs are kept

static bool make_pairs(const crPlan* plan, crArena* arena, crPairs* pairs) {
    const crModel* model = plan->model;
    int nb = model->nb, shapes = model->shape_count;
    int materials = model->material_count * model->material_count;
    bool ok = (pairs->box = cr__zeros(arena, shapes, sizeof(crBounds))) != NULL;
    ok = (pairs->now = cr__zeros(arena, shapes, sizeof(crBounds))) != NULL && ok;
    ok = (pairs->trail = cr__zeros(arena, nb, sizeof(crTrail))) != NULL && ok;
    ok = (pairs->way = cr__zeros(arena, nb, sizeof(double))) != NULL && ok;
    ok = (pairs->left = cr__zeros(arena, nb, sizeof(bool))) != NULL && ok;
    ok = (pairs->margin = cr__zeros(arena, nb, sizeof(double))) != NULL && ok;
    ok = (pairs->first_of = cr__zeros(arena, nb + 1, sizeof(int))) != NULL && ok;
    ok = (pairs->mark = cr__zeros(arena, nb, sizeof(int))) != NULL && ok;
    ok = (pairs->surface_of = cr__zeros(arena, materials, sizeof(int))) != NULL && ok;
    for (int i = 0; ok && i < materials; i++) {
        pairs->surface_of[i] = -1;
    }
    return ok;
}

crStatus cr__pairs_create(const crPlan* plan, const crAllocator* allocator, crArena* arena, crPairs* pairs) {
    *pairs = (crPairs){.plan = plan, .allocator = *allocator, .flat = -1.0, .cells.free = -1};
    pairs->many = plan->model->nb > MANY && !plan->planes;
    crStatus status = cr_arena_create(&pairs->at_impact, allocator, 0);
    if (status != CR_OK) return status;
    return make_pairs(plan, arena, pairs) ? CR_OK : CR_ERR_MEMORY;
}

void cr__pairs_destroy(crPairs* pairs) {
    const crAllocator* a = &pairs->allocator;
    cr_broad_destroy(pairs->broad);
    cr_arena_destroy(&pairs->at_impact);
    cr__drop(a, pairs->near, pairs->capacity, sizeof *pairs->near);
    cr__drop(a, pairs->time, pairs->time_capacity, sizeof *pairs->time);
    cr__drop(a, pairs->of, pairs->of_capacity, sizeof *pairs->of);
    cr__drop(a, pairs->cells.slot, pairs->cells.capacity, sizeof *pairs->cells.slot);
    for (int i = 0; i < pairs->surface_count; i++) {
        cr__drop(a, pairs->surfaces[i], 1, sizeof **pairs->surfaces);
    }
    cr__drop(a, pairs->surfaces, pairs->surface_capacity, sizeof *pairs->surfaces);
}

static crBounds grown(crBounds box, double by) {
    crVec3 m = cr_vec3(by, by, by);
    return (crBounds){cr_sub(box.lo, m), cr_add(box.hi, m)};
}

static bool inside(const crBounds* a, const crBounds* of) {
    return a->lo.x >= of->lo.x && a->lo.y >= of->lo.y && a->lo.z >= of->lo.z && a->hi.x <= of->hi.x &&
           a->hi.y <= of->hi.y && a->hi.z <= of->hi.z;
}

// whether the present box of a shape is still in what the broad phase was told
static bool stays(const crPairs* pairs, const crDynamics* d, int s) {
    const crBodyShape* shape = &pairs->plan->model->shapes[s];
    crBounds bounds = cr_shape_bounds(&shape->shape, d->pose[shape->body]);
    pairs->now[s] = grown(bounds, pairs->margin[shape->body]);
    return pairs->spread && inside(&pairs->now[s], &pairs->box[s]);
}

// a new box for the broad phase where a shape left the old
static crStatus set_box(crPairs* pairs, const crDynamics* d, int s, crError* error) {
    if (stays(pairs, d, s)) return CR_OK;
    const crModel* model = pairs->plan->model;
    int body = model->shapes[s].body;
    crBounds box = grown(pairs->now[s], ROOM * pairs->plan->size[body] + 0.5 * pairs->margin[body]);
    pairs->listed = false;
    int group = cr__moves(model, body) ? body : CR_WORLD;
    crStatus status = cr_broad_set(pairs->broad, s, box, group, error);
    if (status == CR_OK) pairs->box[s] = box;
    return status;
}

static crStatus set_boxes(crPairs* pairs, const crDynamics* d, int body, crError* error) {
    const crPlan* plan = pairs->plan;
    crStatus status = CR_OK;
    for (int i = plan->first_shape[body]; i < plan->first_shape[body + 1] && status == CR_OK; i++) {
        status = set_box(pairs, d, plan->body_shapes[i], error);
    }
    return status;
}

typedef struct Move {
    crPairs* pairs;
    const crDynamics* d;
    crPart part;
} Move;

static void find_left(void* ctx, int begin, int end) {
    const Move* move = ctx;
    const crPlan* plan = move->pairs->plan;
    for (int k = begin; k < end; k++) {
        int b = cr__part_body(move->part, k);
        bool left = false;
        for (int i = plan->first_shape[b]; i < plan->first_shape[b + 1]; i++) {
            if (!stays(move->pairs, move->d, plan->body_shapes[i])) left = true;
        }
        move->pairs->left[b] = left;
    }
}

crStatus cr__pairs_move(crPairs* pairs, crTasks* tasks, crPart part, const crDynamics* d, crError* error) {
    crStatus status = CR_OK;
    if (!pairs->spread) {
        for (int s = 0; s < pairs->plan->model->shape_count && status == CR_OK; s++) {
            status = set_box(pairs, d, s, error);
        }
        pairs->spread = status == CR_OK;
        return status;
    }
    // all are looked at by several threads, few leave their boxes
    Move move = {pairs, d, part};
    cr__tasks_for(tasks, part.count, CHUNK, find_left, &move);
    for (int k = 0; k < part.count && status == CR_OK; k++) {
        int b = cr__part_body(part, k);
        if (pairs->left[b]) status = set_boxes(pairs, d, b, error);
    }
    return status;
}

// whether a loop holds two bodies together
static bool tied(const crPlan* plan, int a, int b) {
    for (int i = plan->first_tie[a]; i < plan->first_tie[a + 1]; i++) {
        const crLoop* loop = &plan->model->loops[plan->ties[i]];
        if (loop->kind == CR_LOOP_JOINT || cr_loop_ranges(loop)) continue;
        if (loop->a == b || loop->b == b) return true;
    }
    return false;
}

static crStatus index_pairs(crPairs* pairs) {
    const crModel* model = pairs->plan->model;
    void* of = pairs->of;
    crStatus status =
        cr__grow(&pairs->allocator, &of, &pairs->of_capacity, 0, 2 * pairs->count, sizeof *pairs->of);
    pairs->of = of;
    if (status != CR_OK) return status;
    int* first = pairs->first_of;
    memset(first, 0, (size_t)(model->nb + 1) * sizeof *first);
    for (int i = 0; i < pairs->count; i++) {
        first[pairs->near[i].body_a]++;
        first[pairs->near[i].body_b]++;
    }
    // counts to ends; filling from the back turns ends into starts and keeps pairs ascending
    for (int b = 0, sum = 0; b <= model->nb; b++) {
        int count = b < model->nb && cr__moves(model, b) ? first[b] : 0;
        sum += count;
        first[b] = sum;
    }
    for (int i = pairs->count - 1; i >= 0; i--) {
        int a = pairs->near[i].body_a, b = pairs->near[i].body_b;
        if (cr__moves(model, a)) pairs->of[--first[a]] = i;
        if (cr__moves(model, b)) pairs->of[--first[b]] = i;
    }
    return CR_OK;
}

static bool is_before(const crNear* a, int shape_a, int shape_b) {
    return a->shape_a < shape_a || (a->shape_a == shape_a && a->shape_b < shape_b);
}

// slots of pairs that are no more, or no longer touch, are free
static void leave_slot(crPairs* pairs, crNear* pair) {
    crCells* cells = &pairs->cells;
    if (pair->slot < 0) return;
    cells->slot[pair->slot].next = cells->free;
    cells->free = pair->slot;
    pair->slot = -1;
}

static crStatus take_slot(crPairs* pairs, crNear* pair) {
    crCells* cells = &pairs->cells;
    if (cells->free < 0) {
        void* slots = cells->slot;
        crStatus status = cr__grow(&pairs->allocator, &slots, &cells->capacity, cells->count,
                                   cells->count + 1, sizeof *cells->slot);
        cells->slot = slots;
        if (status != CR_OK) return status;
        cells->slot[cells->count].next = -1;
        cells->free = cells->count++;
    }
    pair->slot = cells->free;
    cells->free = cells->slot[pair->slot].next;
    cells->slot[pair->slot].held = false;
    return CR_OK;
}

// a slot for each pair of the old list that may keep contacts and had some
static crStatus share_slots(crPairs* pairs, crNear* old, int old_count) {
    crStatus status = CR_OK;
    for (int i = 0; i < old_count; i++) {
        leave_slot(pairs, &old[i]);
    }
    for (int i = 0; i < pairs->count && status == CR_OK; i++) {
        crNear* pair = &pairs->near[i];
        bool touches = pair->keeps && pair->looked && pair->clear == -INFINITY;
        if (!touches) leave_slot(pairs, pair);
        if (touches && pair->slot < 0) status = take_slot(pairs, pair);
    }
    return status;
}

static bool stands_alone(const crModel* model, int body) {
    return model->bodies[body].single || !cr__moves(model, body);
}

static bool is_packable(const crPairs* pairs, int surface, int a, int b) {
    const crModel* model = pairs->plan->model;
    const crSurface* s = &pairs->surfaces[surface]->at_rest.surface;
    bool round = s->vertex_count == 0 && isfinite(s->mu) && (isnan(s->mu2) || s->mu2 == s->mu) &&
                 s->mu_spin == 0.0 && s->mu_roll == 0.0;
    return round && stands_alone(model, a) && stands_alone(model, b);
}

// a pair that the broad phase found, with what it has of its own
static crStatus make_pair(crPairs* pairs, crPair found, crNear* near) {
    const crBodyShape* a = &pairs->plan->model->shapes[found.a];
    const crBodyShape* b = &pairs->plan->model->shapes[found.b];
    int surface = cr__pairs_surface(pairs, a->material, b->material);
    if (surface < 0) return (crStatus)surface;
    *near = (crNear){
        .shape_a = found.a,
        .shape_b = found.b,
        .body_a = a->body,
        .body_b = b->body,
        .slot = -1,
        .surface = (unsigned)surface % CR_SURFACES,
        .packable = is_packable(pairs, surface, a->body, b->body),
        .keeps = cr__pairs_has_cells(pairs, found.a, found.b),
        .clear = -INFINITY,
    };
    return CR_OK;
}

// whether shapes whose boxes overlap may meet
static bool may_meet(const crPlan* plan, crPair found, const crPose* pose) {
    const crBodyShape *a = &plan->model->shapes[found.a], *b = &plan->model->shapes[found.b];
    if (!cr__meet_but_for_loops(plan->model, found.a, found.b) || tied(plan, a->body, b->body)) return false;
    return !cr__pairs_pass_by(plan, a, b, pose[a->body], pose[b->body]);
}

static const crNearTime never = {.when = INFINITY};

// the list before, while the next one is made
typedef struct Old {
    crPairs* pairs;
    const crPair* found;  // by the broad phase
    crNear* near;         // (count)
    crNearTime* time;     // (count); NULL where pairs have no times
    int count;
} Old;

static int place_among(const crNear* near, int count, int shape_a, int shape_b) {
    int lo = 0, hi = count;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        bool low = is_before(&near[mid], shape_a, shape_b);
        lo = low ? mid + 1 : lo;
        hi = low ? hi : mid;
    }
    return lo;
}

int cr__pairs_place(const crPairs* pairs, int shape_a, int shape_b) {
    return place_among(pairs->near, pairs->count, shape_a, shape_b);
}

// pairs begin to end - 1 of those found as they were in the old list; shape_a is -1 where they were not
static void copy_known(void* ctx, int begin, int end) {
    const Old* old = ctx;
    crPairs* pairs = old->pairs;
    int j = place_among(old->near, old->count, old->found[begin].a, old->found[begin].b);
    for (int i = begin; i < end; i++) {
        crPair found = old->found[i];
        while (j < old->count && is_before(&old->near[j], found.a, found.b)) {
            j++;
        }
        bool known = j < old->count && old->near[j].shape_a == found.a && old->near[j].shape_b == found.b;
        pairs->near[i].shape_a = -1;
        if (old->time != NULL) pairs->time[i] = known ? old->time[j] : never;
        if (!known) continue;
        pairs->near[i] = old->near[j];
        old->near[j].slot = -1;
    }
}

// The pairs that the broad phase found; those that were in the old list are as they were there.
static crStatus fill(Old* old, int count, crTasks* tasks, const crPose* pose) {
    crPairs* pairs = old->pairs;
    crStatus status = CR_OK;
    pairs->count = 0;
    cr__tasks_for(tasks, count, PAIRS, copy_known, old);
    for (int i = 0; i < count && status == CR_OK; i++) {
        crNear* near = &pairs->near[i];
        bool known = near->shape_a >= 0;
        // shapes that move in parallel planes may pass each other by now
        if ((!known || pairs->plan->planes) && !may_meet(pairs->plan, old->found[i], pose)) {
            if (known) leave_slot(pairs, near);
            continue;
        }
        if (!known) status = make_pair(pairs, old->found[i], near);
        if (status != CR_OK) break;
        if (i > pairs->count) {
            pairs->near[pairs->count] = *near;
            if (old->time != NULL) pairs->time[pairs->count] = pairs->time[i];
        }
        pairs->count++;
    }
    return status;
}

static crStatus grow_times(crPairs* pairs, int count) {
    void* time = pairs->time;
    crStatus status =
        cr__grow(&pairs->allocator, &time, &pairs->time_capacity, 0, count, sizeof *pairs->time);
    pairs->time = time;
    return status;
}

crStatus cr__pairs_reset_times(crPairs* pairs) {
    crStatus status = grow_times(pairs, pairs->count);
    for (int i = 0; i < pairs->count && status == CR_OK; i++) {
        pairs->time[i] = never;
    }
    return status;
}

// a copy of the entries of a list; NULL: no memory
static void* copy_of(crArena* scratch, const void* entries, int count, size_t size) {
    void* copy = cr_arena_alloc(scratch, (size_t)(count + 1) * size);
    if (copy != NULL && count > 0) memcpy(copy, entries, (size_t)count * size);
    return copy;
}

static crStatus list_anew(crPairs* pairs, crTasks* tasks, const crPose* pose, crArena* scratch) {
    int count;
    size_t mark = cr_arena_mark(scratch);
    Old old = {.pairs = pairs, .count = pairs->count};
    old.near = copy_of(scratch, pairs->near, old.count, sizeof *old.near);
    if (pairs->time != NULL) old.time = copy_of(scratch, pairs->time, old.count, sizeof *old.time);
    if (old.near == NULL || (pairs->time != NULL && old.time == NULL)) return CR_ERR_MEMORY;
    crStatus status = cr__broad_pairs(pairs->broad, tasks, &old.found, &count);
    if (status == CR_OK && old.time != NULL) status = grow_times(pairs, count);
    void* near = pairs->near;
    if (status == CR_OK)
        status = cr__grow(&pairs->allocator, &near, &pairs->capacity, old.count, count, sizeof *pairs->near);
    pairs->near = near;
    pairs->lists++;
    if (status == CR_OK) status = fill(&old, count, tasks, pose);
    if (status == CR_OK && pairs->many) status = share_slots(pairs, old.near, old.count);
    cr_arena_release(scratch, mark);
    return status == CR_OK ? index_pairs(pairs) : status;
}

crStatus cr__pairs_list(crPairs* pairs, crTasks* tasks, const crDynamics* d, crArena* scratch,
                        crError* error) {
    if (pairs->listed) return CR_OK;
    crStatus status = list_anew(pairs, tasks, d->pose, scratch);
    pairs->listed = status == CR_OK;
    if (status == CR_ERR_LIMIT)
        return cr_error_set(error, status, "pairs", "pairs: too many bodies are piled into each other");
    return status == CR_OK ? CR_OK : cr_error_set(error, status, "pairs", "%s", cr_status_text(status));
}

// ascending; many that lie close together by one bit each, which is what they are sorted by
static crStatus sort_places(int* places, int count, crArena* scratch) {
    int lowest = INT_MAX, highest = 0;
    for (int i = 0; i < count; i++) {
        if (places[i] < lowest) lowest = places[i];
        if (places[i] > highest) highest = places[i];
    }
    if (count < 32 || (highest - lowest) / 64 > 4 * count) {
        cr__sort(places, count);
        return CR_OK;
    }
    size_t mark = cr_arena_mark(scratch);
    int words = (highest - lowest) / 64 + 1, found = 0;
    uint64_t* bits = cr__zeros(scratch, words, sizeof *bits);
    if (bits == NULL) return CR_ERR_MEMORY;
    for (int i = 0; i < count; i++) {
        bits[(places[i] - lowest) / 64] |= UINT64_C(1) << ((places[i] - lowest) % 64);
    }
    for (int w = 0; w < words; w++) {
        for (int k = 0; bits[w] >> k != 0; k++) {
            if ((bits[w] >> k & 1) != 0) places[found++] = lowest + 64 * w + k;
            if (k == 63) break;
        }
    }
    cr_arena_release(scratch, mark);
    return CR_OK;
}

int* cr__pairs_of_part(crPairs* pairs, crPart part, bool cross, crArena* scratch, int* count) {
    const crModel* model = pairs->plan->model;
    int room = 0, found = 0, *mark = pairs->mark;
    for (int k = 0; k < part.count; k++) {
        int b = part.bodies[k];
        mark[b] = 1;
        room += pairs->first_of[b + 1] - pairs->first_of[b];
    }
    int* places = cr_arena_alloc(scratch, (size_t)(room + 1) * sizeof *places);
    for (int k = 0; k < part.count && places != NULL; k++) {
        int b = part.bodies[k];
        for (int i = pairs->first_of[b]; i < pairs->first_of[b + 1]; i++) {
            const crNear* pair = &pairs->near[pairs->of[i]];
            int other = pair->body_a == b ? pair->body_b : pair->body_a;
            bool both = mark[other] != 0, moves = cr__moves(model, other);
            // a pair of two bodies of the part is met twice: the first time counts
            if (moves && both ? pair->body_a != b : moves && !cross) continue;
            places[found++] = pairs->of[i];
        }
    }
    for (int k = 0; k < part.count; k++) {
        mark[part.bodies[k]] = 0;
    }
    if (places != NULL && sort_places(places, found, scratch) != CR_OK) return NULL;
    *count = found;
    return places;
}
