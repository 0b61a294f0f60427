// near.c - boxes of shapes in the broad phase, the list of overlapping pairs, its index by body.
//
// Boxes in the broad phase have room beyond the margin, and more in the direction of motion. The list of
// pairs is unchanged while every shape stays in its box. A shape that leaves its box gets a new one, and its
// new pairs are added to the list. Pairs whose boxes are apart stay until enough boxes have changed. The list
// is sorted, and contacts depend on their gaps alone: no result depends on the boxes. Not listed: shapes of
// two bodies that v does not move, shapes that cr_model_meet excludes, and shapes that pass by each other in
// parallel planes.
// Fails: CR_ERR_MEMORY, CR_ERR_LIMIT (too many boxes overlap), errors of materials.
#include <limits.h>
#include <string.h>

#include "base/room.h"
#include "collide/broad.h"
#include "collide/pieces.h"
#include "pairs/pairs.h"

#define ROOM   0.03  // room of a box beyond the margin, share of the body's size
#define AHEAD  4.0   // steps of motion that a box has room for
#define STALE  8     // pairs are dropped when more than 1 / STALE of the boxes changed
#define LOOSE  2.0   // a box is renewed if larger than its shape's present box by LOOSE times its room
#define CHUNK  256   // bodies per task
#define PAIRS  1024  // pairs per task
#define ASKING 16    // pairs per pair without a cell above which cells are shared though the list stays
#define MANY   64    // number of bodies above which contacts of slow pairs are kept

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

// approximate travel of a body in a step, m
static double travel(const crPairs* pairs, int body) {
    double way = cr__pairs_margin(pairs, body) - ROOM * pairs->plan->size[body];
    return way > 0.0 ? way : 0.0;
}

// Finds the present box of a shape. Returns true if it lies in the box of the broad phase, and that one is
// not much larger than a new one. Margins that are the same for all bodies say nothing of how large that is.
static bool stays(const crPairs* pairs, const crBounds* held, const crDynamics* d, int s) {
    const crBodyShape* shape = &pairs->plan->model->shapes[s];
    crBounds bounds = cr_shape_bounds(&shape->shape, d->pose[shape->body]);
    crBounds* now = &pairs->boxes.now[s];
    *now = cut(grown(bounds, cr__pairs_margin(pairs, shape->body)));
    if (!pairs->boxes.spread || !inside(now, &held[s])) return false;
    if (pairs->flat >= 0.0) return true;
    double room = 6.0 * ROOM * pairs->plan->size[shape->body] + 2.0 * AHEAD * travel(pairs, shape->body);
    return !(girth(&held[s]) - girth(now) > LOOSE * room);
}

// box for the broad phase: with room on all sides, and more in the direction of motion
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

// Gives the broad phase a new box of a shape. CR_ERR_MEMORY.
static crStatus set_box(crPairs* pairs, const crDynamics* d, int s, crError* error) {
    const crModel* model = pairs->plan->model;
    const crBounds* held = cr__broad_held(pairs->boxes.broad);
    int body = model->shapes[s].body, group = cr__moves(model, body) ? body : CR_WORLD;
    // the first call finds the present boxes here
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
    for (int i = plan->shape.first[body]; i < plan->shape.first[body + 1] && status == CR_OK; i++) {
        int s = plan->shape.list[i];
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
        for (int i = plan->shape.first[b]; i < plan->shape.first[b + 1]; i++) {
            int s = plan->shape.list[i];
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
    // few shapes leave their boxes: the check is shared by threads, the renewal is not
    Move move = {pairs, d, part};
    cr__tasks_for(tasks, part.count, CHUNK, find_left, &move);
    for (int k = 0; k < part.count && status == CR_OK; k++) {
        status = set_boxes(pairs, d, cr__part_body(part, k), error);
    }
    return status;
}

// true if a loop holds two bodies together
static bool tied(const crPlan* plan, int a, int b) {
    for (int i = plan->tie.first[a]; i < plan->tie.first[a + 1]; i++) {
        const crLoop* loop = &plan->model->loops[plan->tie.list[i]];
        if (loop->kind == CR_LOOP_JOINT || cr_loop_ranges(loop)) continue;
        if (loop->a == b || loop->b == b) return true;
    }
    return false;
}

// Finds the first pair of each shape.
static void index_shapes(void* ctx, int begin, int end) {
    const crPairs* pairs = ctx;
    for (int i = begin; i < end; i++) {
        int shape = i > 0 ? pairs->near[i - 1].shape_a + 1 : 0;
        for (; shape <= pairs->near[i].shape_a; shape++) {
            pairs->first_pair[shape] = i;
        }
    }
}

static void index_pairs(crPairs* pairs, crTasks* tasks) {
    int last = pairs->count > 0 ? pairs->near[pairs->count - 1].shape_a + 1 : 0;
    cr__tasks_for(tasks, pairs->count, PAIRS, index_shapes, pairs);
    for (int shape = last; shape <= pairs->plan->model->shape_count; shape++) {
        pairs->first_pair[shape] = pairs->count;
    }
    pairs->indexed = false;
}

// index by body: each task goes through all pairs for the bodies of its part
typedef struct Indexing {
    crPairs* pairs;
    int parts;
} Indexing;

static int part_begin(const Indexing* index, int part) {
    return (int)((int64_t)index->pairs->plan->model->nb * part / index->parts);
}

static void count_pairs(void* ctx, int part, int end) {
    const Indexing* index = ctx;
    const crPairs* pairs = index->pairs;
    int *first = pairs->first_of, from = part_begin(index, part), to = part_begin(index, end);
    memset(first + from, 0, (size_t)(to - from) * sizeof *first);
    for (int i = 0; i < pairs->count; i++) {
        int a = pairs->near[i].body_a, b = pairs->near[i].body_b;
        if (a >= from && a < to) first[a]++;
        if (b >= from && b < to) first[b]++;
    }
}

// Fills from the back, which turns ends into beginnings and keeps pairs ascending.
static void place_pairs(void* ctx, int part, int end) {
    const Indexing* index = ctx;
    const crPairs* pairs = index->pairs;
    int *first = pairs->first_of, from = part_begin(index, part), to = part_begin(index, end);
    for (int i = pairs->count - 1; i >= 0; i--) {
        int a = pairs->near[i].body_a, b = pairs->near[i].body_b;
        if (a >= from && a < to && pairs->boxes.moves[a]) pairs->of[--first[a]] = i;
        if (b >= from && b < to && pairs->boxes.moves[b]) pairs->of[--first[b]] = i;
    }
}

void cr__pairs_index(crPairs* pairs, crTasks* tasks) {
    int nb = pairs->plan->model->nb, *first = pairs->first_of;
    if (pairs->indexed) return;
    pairs->indexed = true;
    Indexing index = {pairs, cr__tasks_threads(tasks)};
    cr__tasks_for(tasks, index.parts, 1, count_pairs, &index);
    for (int b = 0, sum = 0; b <= nb; b++) {
        sum += b < nb && pairs->boxes.moves[b] ? first[b] : 0;
        first[b] = sum;
    }
    cr__tasks_for(tasks, index.parts, 1, place_pairs, &index);
}

static bool is_before(const crNear* a, int shape_a, int shape_b) {
    return a->shape_a < shape_a || (a->shape_a == shape_a && a->shape_b < shape_b);
}

// Frees the cell of a pair, if it has one.
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

// Gives a cell to each pair that is slow and had contacts when last collided. CR_ERR_MEMORY.
static crStatus share_slots(crPairs* pairs) {
    crStatus status = CR_OK;
    pairs->cells.asking = 0;
    for (int i = 0; i < pairs->count && status == CR_OK; i++) {
        crNear* pair = &pairs->near[i];
        bool uses = pair->slow && pair->clear == -INFINITY;
        if (!uses) leave_slot(pairs, pair);
        if (uses && pair->slot < 0) status = take_slot(pairs, pair);
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

// Makes a pair of the list from one of the broad phase. Fails as cr__pairs_surface.
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
        .quick = cr__pairs_is_quick(pairs, found.a, found.b),
        .clear = -INFINITY,
    };
    return CR_OK;
}

// true if two shapes whose boxes overlap may have contacts
static bool may_meet(const crPlan* plan, crPair found, const crPose* pose) {
    if (plan->meets_all && !plan->planes) return plan->shape.body[found.a] != plan->shape.body[found.b];
    const crBodyShape *a = &plan->model->shapes[found.a], *b = &plan->model->shapes[found.b];
    if (!cr__meet_but_for_loops(plan->model, found.a, found.b) || tied(plan, a->body, b->body)) return false;
    return !cr__pairs_pass_by(plan, a, b, pose[a->body], pose[b->body]);
}

static const crNearTime never = {.when = INFINITY};

// index of the pair of two shapes among the pairs begin to end - 1, or the index at which it would be
// inserted
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

// pairs to add to the list, sorted
typedef struct New {
    int count;
    crPair* pair;  // (count)
    crNear* near;  // (count)
} New;

// the list of pairs, and poses of bodies
typedef struct Listed {
    const crPairs* pairs;
    const crPose* pose;
} Listed;

// true if a pair of the broad phase is not in the list and may have contacts
static bool is_new(const void* ctx, crPair found) {
    const Listed* listed = ctx;
    return !is_listed(listed->pairs, found) && may_meet(listed->pairs->plan, found, listed->pose);
}

// Finds the pairs that the list lacks. CR_ERR_MEMORY, CR_ERR_LIMIT, errors of materials.
static crStatus find_new(crPairs* pairs, crTasks* tasks, const crPose* pose, crArena* scratch, New* new) {
    const Listed listed = {pairs, pose};
    const crPair* found;
    *new = (New){0};
    crStatus status = cr__broad_fresh(pairs->boxes.broad, tasks, scratch, &(crBroadWant){is_new, &listed},
                                      &found, &new->count);
    if (status != CR_OK || new->count == 0) return status;
    crKeyed *keys, *work;
    if (!CR_ROOMS(scratch, CR_ROOM(new->pair, new->count), CR_ROOM(new->near, new->count),
                  CR_ROOM(keys, new->count), CR_ROOM(work, new->count)))
        return CR_ERR_MEMORY;
    double shapes = pairs->plan->model->shape_count;
    for (int i = 0; i < new->count; i++) {
        keys[i] = (crKeyed){found[i].a * shapes + found[i].b, i};
    }
    keys = cr__sort_keyed(keys, work, new->count);
    for (int i = 0; i < new->count&& status == CR_OK; i++) {
        new->pair[i] = found[keys[i].at];
        status = make_pair(pairs, new->pair[i], &new->near[i]);
    }
    return status;
}

// true if a pair stays in the list
static bool lasts(const crPairs* pairs, const crBounds* held, const crNear* near, const crPose* pose) {
    const crBounds *a = &held[near->shape_a], *b = &held[near->shape_b];
    if (!cr__boxes_meet(*a, *b)) return false;
    // shapes that move in parallel planes may have come to pass by each other
    return !pairs->plan->planes || may_meet(pairs->plan, (crPair){near->shape_a, near->shape_b}, pose);
}

// pairs that stay in the list
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

// Removes the pairs whose boxes no longer overlap from the list. CR_ERR_MEMORY: the list is unchanged.
static crStatus drop_pairs(crPairs* pairs, crTasks* tasks, const crPose* pose, crArena* scratch) {
    Lasting list = {pairs, pose, cr_arena_alloc(scratch, (size_t)pairs->count + 1)};
    if (list.lasts == NULL) return CR_ERR_MEMORY;
    cr__tasks_for(tasks, pairs->count, PAIRS, find_lasting, &list);
    int kept = 0;
    // few pairs are dropped: the others move by whole runs
    for (int i = 0; i < pairs->count;) {
        const bool* next = memchr(list.lasts + i, false, (size_t)(pairs->count - i) * sizeof *next);
        int end = next != NULL ? (int)(next - list.lasts) : pairs->count, run = end - i;
        if (kept < i) memmove(&pairs->near[kept], &pairs->near[i], (size_t)run * sizeof *pairs->near);
        if (kept < i && pairs->time != NULL)
            memmove(&pairs->time[kept], &pairs->time[i], (size_t)run * sizeof *pairs->time);
        kept += run;
        if (end < pairs->count) pairs->cells.keeping -= pairs->near[end].keeps;
        if (end < pairs->count) leave_slot(pairs, &pairs->near[end]);
        i = end + 1;
    }
    pairs->count = kept;
    pairs->boxes.told = 0;
    return CR_OK;
}

// Makes room for the times of `count` pairs and keeps the first `used`. CR_ERR_MEMORY.
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

// Makes room for `count` pairs, their times and their index, and gives back what is far more. CR_ERR_MEMORY.
static crStatus grow_pairs(crPairs* pairs, int count) {
    int have = pairs->count;
    if (pairs->capacity / 2 > count + count / 8) {
        CR_FIT(&pairs->allocator, pairs->near, pairs->capacity, have);
        CR_FIT(&pairs->allocator, pairs->of, pairs->of_capacity, 2 * have);
    }
    crStatus status = CR_GROW(&pairs->allocator, pairs->near, pairs->capacity, have, count);
    if (status == CR_OK)
        status = CR_GROW(&pairs->allocator, pairs->of, pairs->of_capacity, 2 * have, 2 * count);
    return status == CR_OK && pairs->time != NULL ? grow_times(pairs, have, count) : status;
}

// Inserts new pairs into the sorted list, from the back.
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
        pairs->cells.keeping += new->near[k].keeps;
        if (pairs->time != NULL) pairs->time[to] = never;
    }
    pairs->count += new->count;
}

static crStatus mend(crPairs* pairs, crTasks* tasks, const crPose* pose, crArena* scratch) {
    New new;
    size_t mark = cr_arena_mark(scratch);
    if (pairs->plan->planes) cr__broad_touch(pairs->boxes.broad);
    crStatus status = find_new(pairs, tasks, pose, scratch, &new);
    bool changes = new.count > 0 || pairs->plan->planes;
    if (status == CR_OK && changes &&
        (pairs->plan->planes || pairs->boxes.told > pairs->plan->model->shape_count / STALE))
        status = drop_pairs(pairs, tasks, pose, scratch);
    bool found = status == CR_OK;
    // dropped pairs make room for new ones; without room the list goes on without both
    if (found) status = grow_pairs(pairs, pairs->count + new.count);
    if (status == CR_OK && changes) add_new(pairs, &new);
    if (found && changes) {
        index_pairs(pairs, tasks);
        pairs->lists++;
    }
    if (status == CR_OK) cr__broad_listed(pairs->boxes.broad);
    cr_arena_release(scratch, mark);
    return status == CR_OK && pairs->cells.many && pairs->cells.keeping > 0 ? share_slots(pairs) : status;
}

crStatus cr__pairs_list(crPairs* pairs, crTasks* tasks, const crDynamics* d, crArena* scratch,
                        crError* error) {
    bool asks = pairs->cells.many && ASKING * pairs->cells.asking > pairs->cells.keeping;
    if (pairs->boxes.listed && !asks) return CR_OK;
    crStatus status = pairs->boxes.listed ? share_slots(pairs) : mend(pairs, tasks, d->pose, scratch);
    pairs->boxes.listed = pairs->boxes.listed || status == CR_OK;
    if (status == CR_ERR_LIMIT)
        return cr_error_set(error, status, "pairs", "pairs: too many bodies are piled into each other");
    return status == CR_OK ? CR_OK : cr_error_set(error, status, "pairs", "%s", cr_status_text(status));
}

// Sorts indices, each of which occurs once, ascending: dense ones by a bit set, others by comparison.
// CR_ERR_MEMORY.
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

int* cr__pairs_of_part(crPairs* pairs, crTasks* tasks, crPart part, bool cross, crArena* scratch,
                       int* count) {
    const crModel* model = pairs->plan->model;
    int room = 0, found = 0, *mark = pairs->mark;
    cr__pairs_index(pairs, tasks);
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
            // a pair of two bodies of the part occurs twice: it counts for its body a
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
