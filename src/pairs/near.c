// near.c - which shapes are near: boxes with room to move, the list of pairs they make, its index by body.
//
// The broad phase holds boxes larger than margins ask for, and longer ahead; while every shape stays in its own, the list of
// pairs stands and costs nothing. A shape that left gets a new box, and the pairs it then has are looked for: the list is
// changed only where one of them is new. Pairs whose boxes are apart stay until then. The list is sorted and contacts are
// taken by their gaps alone, so that no result depends on which boxes were told. Not listed: shapes of two bodies that no
// velocity moves, what cr_model_meet keeps apart, and shapes that move in parallel planes and pass by each other.
// Fails: CR_ERR_MEMORY; what the broad phase or a material says.
#include <limits.h>
#include <string.h>

#include "base/room.h"
#include "collide/broad.h"
#include "collide/pieces.h"
#include "pairs/pairs.h"

#define ROOM  0.03  // of a body's size, by which held boxes are larger than margins ask for
#define AHEAD 4.0   // steps ahead that they hold
#define STALE 8     // one of so many boxes may have changed before pairs are dropped
#define LOOSE 2.0   // times as much, and they are made anew
#define CHUNK 256   // bodies that one thread takes at a time
#define PAIRS 1024  // pairs likewise
#define MANY  64    // bodies beyond which contacts of slow pairs are kept

static bool make_pairs(const crPlan* plan, crArena* arena, crPairs* pairs) {
    const crModel* model = plan->model;
    int nb = model->nb, shapes = model->shape_count;
    int materials = model->material_count * model->material_count;
    bool ok = CR_ROOMS(arena, CR_ZERO(pairs->boxes.now, shapes), CR_ZERO(pairs->trails.at, nb),
                       CR_ZERO(pairs->trails.way, nb), CR_ZERO(pairs->boxes.moves, nb),
                       CR_ZERO(pairs->boxes.left, shapes), CR_ZERO(pairs->margin, nb),
                       CR_ZERO(pairs->first_of, nb + 1), CR_ZERO(pairs->first_pair, shapes + 1),
                       CR_ZERO(pairs->mark, nb), CR_ROOM(pairs->materials.surface, materials));
    for (int b = 0; ok && b < nb; b++) {
        pairs->boxes.moves[b] = cr__moves(model, b);
    }
    for (int i = 0; ok && i < materials; i++) {
        pairs->materials.surface[i] = -1;
    }
    return ok;
}

crStatus cr__pairs_create(const crPlan* plan, const crAllocator* allocator, crArena* arena, crPairs* pairs) {
    *pairs = (crPairs){.plan = plan, .allocator = *allocator, .flat = -1.0, .cells.free = -1};
    pairs->cells.many = plan->model->nb > MANY && !plan->planes;
    crStatus status = cr_arena_create(&pairs->materials.at_impact, allocator, 0);
    if (status != CR_OK) return status;
    return make_pairs(plan, arena, pairs) ? CR_OK : CR_ERR_MEMORY;
}

void cr__pairs_destroy(crPairs* pairs) {
    const crAllocator* a = &pairs->allocator;
    cr_broad_destroy(pairs->boxes.broad);
    cr_arena_destroy(&pairs->materials.at_impact);
    cr__drop(a, pairs->near, pairs->capacity, sizeof *pairs->near);
    cr__drop(a, pairs->time, pairs->time_capacity, sizeof *pairs->time);
    cr__drop(a, pairs->of, pairs->of_capacity, sizeof *pairs->of);
    cr__drop(a, pairs->cells.slot, pairs->cells.capacity, sizeof *pairs->cells.slot);
    for (int i = 0; i < pairs->materials.count; i++) {
        cr__drop(a, pairs->surfaces[i], 1, sizeof **pairs->surfaces);
    }
    cr__drop(a, pairs->surfaces, pairs->materials.capacity, sizeof *pairs->surfaces);
}

static crBounds grown(crBounds box, double by) {
    crVec3 m = cr_vec3(by, by, by);
    return (crBounds){cr_sub(box.lo, m), cr_add(box.hi, m)};
}

static crBounds cut(crBounds box) {
    double* side[6] = {&box.lo.x, &box.lo.y, &box.lo.z, &box.hi.x, &box.hi.y, &box.hi.z};
    for (int i = 0; i < 6; i++) {
        if (*side[i] < -CR_BROAD_WIDE) *side[i] = -CR_BROAD_WIDE;
        if (*side[i] > CR_BROAD_WIDE) *side[i] = CR_BROAD_WIDE;
    }
    return box;
}

static bool inside(const crBounds* a, const crBounds* of) {
    return a->lo.x >= of->lo.x && a->lo.y >= of->lo.y && a->lo.z >= of->lo.z && a->hi.x <= of->hi.x &&
           a->hi.y <= of->hi.y && a->hi.z <= of->hi.z;
}

// sum of the sides of a box
static double girth(const crBounds* box) {
    crVec3 side = cr_sub(box->hi, box->lo);
    return side.x + side.y + side.z;
}

// how far a body goes in a step, about
static double travel(const crPairs* pairs, int body) {
    double way = pairs->margin[body] - ROOM * pairs->plan->size[body];
    return way > 0.0 ? way : 0.0;
}

// whether the present box of a shape is in the one that is held, and that is not far larger than it would be by now
static bool stays(const crPairs* pairs, const crBounds* held, const crDynamics* d, int s) {
    const crBodyShape* shape = &pairs->plan->model->shapes[s];
    crBounds bounds = cr_shape_bounds(&shape->shape, d->pose[shape->body]);
    crBounds* now = &pairs->boxes.now[s];
    *now = cut(grown(bounds, pairs->margin[shape->body]));
    if (!pairs->boxes.spread || !inside(now, &held[s])) return false;
    double room = 6.0 * ROOM * pairs->plan->size[shape->body] + 2.0 * AHEAD * travel(pairs, shape->body);
    return !(girth(&held[s]) - girth(now) > LOOSE * room);
}

// The box that the broad phase is told: with room on all sides, and more in the direction of motion.
static crBounds roomy(const crPairs* pairs, const crDynamics* d, crBounds box, int body) {
    crVec3 u = cr__twist_at(d->twist[body], cr_sub(d->com[body], d->origin[body]));
    double speed = cr_norm(u), way = AHEAD * travel(pairs, body);
    crVec3 go = speed > 0.0 ? cr_scale(way / speed, u) : u;
    box = grown(box, ROOM * pairs->plan->size[body]);
    *(go.x < 0.0 ? &box.lo.x : &box.hi.x) += go.x;
    *(go.y < 0.0 ? &box.lo.y : &box.hi.y) += go.y;
    *(go.z < 0.0 ? &box.lo.z : &box.hi.z) += go.z;
    return cut(box);
}

// a new box for the broad phase where a shape left the old
static crStatus set_box(crPairs* pairs, const crDynamics* d, int s, crError* error) {
    const crModel* model = pairs->plan->model;
    const crBounds* held = cr__broad_held(pairs->boxes.broad);
    int body = model->shapes[s].body, group = cr__moves(model, body) ? body : CR_WORLD;
    // no box was looked at while the broad phase does not know them all
    if (!pairs->boxes.spread) stays(pairs, held, d, s);
    pairs->boxes.listed = false;
    pairs->boxes.told++;
    if (cr__broad_hold(pairs->boxes.broad, s, roomy(pairs, d, pairs->boxes.now[s], body), group) == CR_OK)
        return CR_OK;
    return cr_error_set(error, CR_ERR_MEMORY, "broad", "broad phase: out of memory");
}

static crStatus set_boxes(crPairs* pairs, const crDynamics* d, int body, crError* error) {
    const crPlan* plan = pairs->plan;
    crStatus status = CR_OK;
    for (int i = plan->first_shape[body]; i < plan->first_shape[body + 1] && status == CR_OK; i++) {
        int s = plan->body_shapes[i];
        if (pairs->boxes.left[s]) status = set_box(pairs, d, s, error);
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
    const crBounds* held = cr__broad_held(move->pairs->boxes.broad);
    for (int k = begin; k < end; k++) {
        int b = cr__part_body(move->part, k);
        for (int i = plan->first_shape[b]; i < plan->first_shape[b + 1]; i++) {
            int s = plan->body_shapes[i];
            move->pairs->boxes.left[s] = !stays(move->pairs, held, move->d, s);
        }
    }
}

crStatus cr__pairs_move(crPairs* pairs, crTasks* tasks, crPart part, const crDynamics* d, crError* error) {
    crStatus status = CR_OK;
    if (!pairs->boxes.spread) {
        for (int s = 0; s < pairs->plan->model->shape_count && status == CR_OK; s++) {
            status = set_box(pairs, d, s, error);
        }
        pairs->boxes.spread = status == CR_OK;
        return status;
    }
    // all are looked at by several threads, few leave their boxes
    Move move = {pairs, d, part};
    cr__tasks_for(tasks, part.count, CHUNK, find_left, &move);
    for (int k = 0; k < part.count && status == CR_OK; k++) {
        status = set_boxes(pairs, d, cr__part_body(part, k), error);
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

// where pairs of each body and of each first shape stand in the list
static void index_pairs(crPairs* pairs) {
    const crModel* model = pairs->plan->model;
    int *first = pairs->first_of, *first_pair = pairs->first_pair;
    memset(first, 0, (size_t)(model->nb + 1) * sizeof *first);
    pairs->cells.keeping = 0;
    for (int i = 0, shape = 0; i < pairs->count; i++) {
        const crNear* near = &pairs->near[i];
        first[near->body_a]++;
        first[near->body_b]++;
        pairs->cells.keeping += near->keeps;
        while (shape <= near->shape_a) {
            first_pair[shape++] = i;
        }
    }
    int last = pairs->count > 0 ? pairs->near[pairs->count - 1].shape_a + 1 : 0;
    for (int shape = last; shape <= model->shape_count; shape++) {
        first_pair[shape] = pairs->count;
    }
    // counts to ends; filling from the back turns ends into starts and keeps pairs ascending
    for (int b = 0, sum = 0; b <= model->nb; b++) {
        int count = b < model->nb && pairs->boxes.moves[b] ? first[b] : 0;
        sum += count;
        first[b] = sum;
    }
    for (int i = pairs->count - 1; i >= 0; i--) {
        int a = pairs->near[i].body_a, b = pairs->near[i].body_b;
        if (pairs->boxes.moves[a]) pairs->of[--first[a]] = i;
        if (pairs->boxes.moves[b]) pairs->of[--first[b]] = i;
    }
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
        crStatus status =
            CR_GROW(&pairs->allocator, cells->slot, cells->capacity, cells->count, cells->count + 1);
        if (status != CR_OK) return status;
        cells->slot[cells->count].next = -1;
        cells->free = cells->count++;
    }
    pair->slot = cells->free;
    cells->free = cells->slot[pair->slot].next;
    cells->slot[pair->slot].held = false;
    return CR_OK;
}

// a slot for each pair that may keep contacts and had some when it was last looked at
static crStatus share_slots(crPairs* pairs) {
    crStatus status = CR_OK;
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
    if (plan->meets_all && !plan->planes) return plan->shape_body[found.a] != plan->shape_body[found.b];
    const crBodyShape *a = &plan->model->shapes[found.a], *b = &plan->model->shapes[found.b];
    if (!cr__meet_but_for_loops(plan->model, found.a, found.b) || tied(plan, a->body, b->body)) return false;
    return !cr__pairs_pass_by(plan, a, b, pose[a->body], pose[b->body]);
}

static const crNearTime never = {.when = INFINITY};

// place of the pair of two shapes, or where it would be, in the list or in the part of it that begin to end - 1 is
static int place_among(const crNear* near, int begin, int end, int shape_a, int shape_b) {
    while (begin < end) {
        int mid = begin + (end - begin) / 2;
        bool low = is_before(&near[mid], shape_a, shape_b);
        begin = low ? mid + 1 : begin;
        end = low ? end : mid;
    }
    return begin;
}

int cr__pairs_place(const crPairs* pairs, int shape_a, int shape_b) {
    const int* first = &pairs->first_pair[shape_a];
    return place_among(pairs->near, first[0], first[1], shape_a, shape_b);
}

static bool is_listed(const crPairs* pairs, crPair pair) {
    int at = cr__pairs_place(pairs, pair.a, pair.b);
    return at < pairs->count && pairs->near[at].shape_a == pair.a && pairs->near[at].shape_b == pair.b;
}

static bool pair_before(crPair x, crPair y) { return x.a < y.a || (x.a == y.a && x.b < y.b); }

// runs of a list, from..middle and middle..end, both in order, as one
static void merge_runs(const crPair* list, int from, int middle, int end, crPair* to) {
    for (int i = from, j = middle, k = from; k < end; k++) {
        bool second = i == middle || (j < end && pair_before(list[j], list[i]));
        to[k] = second ? list[j++] : list[i++];
    }
}

// in order, by way of `other`; which of the two arrays it is then in
static crPair* sort_pairs(crPair* list, crPair* other, int count) {
    for (int run = 1; run < count; run *= 2) {
        for (int i = 0; i < count; i += 2 * run) {
            int middle = i + run < count ? i + run : count;
            merge_runs(list, i, middle, i + 2 * run < count ? i + 2 * run : count, other);
        }
        crPair* sorted = other;
        other = list;
        list = sorted;
    }
    return list;
}

// pairs that come to the list, in order
typedef struct New {
    int count;
    crPair* pair;  // (count)
    crNear* near;  // (count)
} New;

// pairs of the list, and poses of bodies
typedef struct Listed {
    const crPairs* pairs;
    const crPose* pose;
} Listed;

// whether a pair that the broad phase found is not in the list and may meet
static bool is_new(const void* ctx, crPair found) {
    const Listed* listed = ctx;
    return !is_listed(listed->pairs, found) && may_meet(listed->pairs->plan, found, listed->pose);
}

// The pairs that the list lacks, by several threads. CR_ERR_MEMORY; what the broad phase or a material says.
static crStatus find_new(crPairs* pairs, crTasks* tasks, const crPose* pose, crArena* scratch, New* new) {
    const Listed listed = {pairs, pose};
    const crPair* found;
    *new = (New){0};
    crStatus status = cr__broad_fresh(pairs->boxes.broad, tasks, scratch, &(crBroadWant){is_new, &listed},
                                      &found, &new->count);
    if (status != CR_OK || new->count == 0) return status;
    crPair* list = cr_arena_alloc(scratch, 2 * (size_t)new->count * sizeof *list);
    new->near = cr_arena_alloc(scratch, (size_t)new->count * sizeof *new->near);
    if (list == NULL || new->near == NULL) return CR_ERR_MEMORY;
    memcpy(list, found, (size_t)new->count * sizeof *list);
    new->pair = sort_pairs(list, list + new->count, new->count);
    for (int i = 0; i < new->count&& status == CR_OK; i++) {
        status = make_pair(pairs, new->pair[i], &new->near[i]);
    }
    return status;
}

// whether a pair of the list is to stay in it
static bool lasts(const crPairs* pairs, const crBounds* held, const crNear* near, const crPose* pose) {
    const crBounds *a = &held[near->shape_a], *b = &held[near->shape_b];
    if (!cr__boxes_meet(*a, *b)) return false;
    // shapes that move in parallel planes may pass each other by now
    return !pairs->plan->planes || may_meet(pairs->plan, (crPair){near->shape_a, near->shape_b}, pose);
}

// which pairs of the list stay in it
typedef struct Lasting {
    const crPairs* pairs;
    const crPose* pose;
    bool* lasts;  // (pairs.count)
} Lasting;

static void find_lasting(void* ctx, int begin, int end) {
    const Lasting* list = ctx;
    const crBounds* held = cr__broad_held(list->pairs->boxes.broad);
    for (int i = begin; i < end; i++) {
        list->lasts[i] = lasts(list->pairs, held, &list->pairs->near[i], list->pose);
    }
}

// Pairs whose boxes no longer meet leave the list. Until then they cost little. CR_ERR_MEMORY, and nothing is done.
static crStatus drop_pairs(crPairs* pairs, crTasks* tasks, const crPose* pose, crArena* scratch) {
    Lasting list = {pairs, pose, cr_arena_alloc(scratch, (size_t)pairs->count + 1)};
    if (list.lasts == NULL) return CR_ERR_MEMORY;
    cr__tasks_for(tasks, pairs->count, PAIRS, find_lasting, &list);
    int kept = 0;
    for (int i = 0; i < pairs->count; i++) {
        if (!list.lasts[i]) {
            leave_slot(pairs, &pairs->near[i]);
            continue;
        }
        if (i > kept) {
            pairs->near[kept] = pairs->near[i];
            if (pairs->time != NULL) pairs->time[kept] = pairs->time[i];
        }
        kept++;
    }
    pairs->count = kept;
    pairs->boxes.told = 0;
    return CR_OK;
}

// room for the times of so many pairs, of which the first `used` stay
static crStatus grow_times(crPairs* pairs, int used, int count) {
    return CR_GROW(&pairs->allocator, pairs->time, pairs->time_capacity, used, count);
}

crStatus cr__pairs_reset_times(crPairs* pairs) {
    crStatus status = grow_times(pairs, 0, pairs->count);
    for (int i = 0; i < pairs->count && status == CR_OK; i++) {
        pairs->time[i] = never;
    }
    return status;
}

// room for so many pairs, their times and their index
static crStatus grow_pairs(crPairs* pairs, int count) {
    int have = pairs->count;
    crStatus status = CR_GROW(&pairs->allocator, pairs->near, pairs->capacity, have, count);
    if (status == CR_OK)
        status = CR_GROW(&pairs->allocator, pairs->of, pairs->of_capacity, 2 * have, 2 * count);
    return status == CR_OK && pairs->time != NULL ? grow_times(pairs, have, count) : status;
}

// New pairs take their places among the others, from the back.
static void add_new(crPairs* pairs, const New* new) {
    int i = pairs->count, to = i + new->count;
    for (int k = new->count - 1; k >= 0; k--) {
        int at = place_among(pairs->near, 0, i, new->pair[k].a, new->pair[k].b), more = i - at;
        to -= more;
        memmove(&pairs->near[to], &pairs->near[at], (size_t)more * sizeof *pairs->near);
        if (pairs->time != NULL)
            memmove(&pairs->time[to], &pairs->time[at], (size_t)more * sizeof *pairs->time);
        i = at;
        pairs->near[--to] = new->near[k];
        if (pairs->time != NULL) pairs->time[to] = never;
    }
    pairs->count += new->count;
}

static crStatus mend(crPairs* pairs, crTasks* tasks, const crPose* pose, crArena* scratch) {
    New new;
    size_t mark = cr_arena_mark(scratch);
    if (pairs->plan->planes) cr__broad_touch(pairs->boxes.broad);
    crStatus status = find_new(pairs, tasks, pose, scratch, &new);
    if (status == CR_OK) status = grow_pairs(pairs, pairs->count + new.count);
    bool changes = new.count > 0 || pairs->plan->planes;
    if (status == CR_OK && changes &&
        (pairs->plan->planes || pairs->boxes.told > pairs->plan->model->shape_count / STALE))
        status = drop_pairs(pairs, tasks, pose, scratch);
    // from here on nothing of the list can fail
    if (status == CR_OK && changes) {
        add_new(pairs, &new);
        index_pairs(pairs);
        pairs->lists++;
    }
    if (status == CR_OK) cr__broad_listed(pairs->boxes.broad);
    cr_arena_release(scratch, mark);
    return status == CR_OK && pairs->cells.many && pairs->cells.keeping > 0 ? share_slots(pairs) : status;
}

crStatus cr__pairs_list(crPairs* pairs, crTasks* tasks, const crDynamics* d, crArena* scratch,
                        crError* error) {
    if (pairs->boxes.listed) return CR_OK;
    crStatus status = mend(pairs, tasks, d->pose, scratch);
    pairs->boxes.listed = status == CR_OK;
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
