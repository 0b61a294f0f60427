// contacts.c - from shapes and poses to contacts: broad phase, pairs, surfaces, frames, speeds.
//
// Pairs of shapes whose bodies v does not move, and pairs excluded by cr_model_meet, have no contacts.
// Contacts are sorted by (shapes, children, features), for any history and number of threads. A body is in
// the air if nothing touches it within the deadband, or if all its touching contacts separate faster than the
// threshold: its flight is then exact; all other bodies are supported.
// Fails: CR_ERR_MEMORY; CR_ERR_LIMIT if bodies are piled into each other; errors of the broad phase and of
// materials.
#include <string.h>

#include "base/tasks.h"
#include "collide/manifold.h"
#include "step/clocks.h"
#include "step/forest.h"

#define CHUNK       64         // pairs per task
#define BODIES      256        // bodies per task
#define SOON        4          // pairs between a prefetch and its use
#define SLOW        4.0        // steps for which a pair's motion must fit into a cell,
#define QUICK       16.0       // and where its contacts are found fast
#define SURE        1e-5       // rounding of distances, share of a pair's size
#define CROWD       128        // contacts per body above which a world is refused,
#define CROWD_LEAST (1 << 17)  // beyond this number of contacts

// Speed by which a lasting contact can approach in one step because normals and arms turn: h (omega^2 r + 2
// omega u_t), with a factor of 2, m/s.
static double turning_gain(const crStep* step, const crStepContact* c, double slip) {
    double a = cr_norm(step->dynamics.twist[c->body_a].omega);
    double b = cr_norm(step->dynamics.twist[c->body_b].omega);
    double rate =
        a * a * step->plan->size[c->body_a] + b * b * step->plan->size[c->body_b] + 2.0 * (a + b) * slip;
    return 2.0 * step->settings.dt * rate;
}

// velocity of b's point relative to a's
static crVec3 velocity_of(const crStep* step, const crNear* pair, bool late, crVec3 x) {
    const crDynamics* d = &step->dynamics;
    int a = pair->body_a, b = pair->body_b;
    if (late) return cr_sub(cr__step_velocity_now(step, b, x), cr__step_velocity_now(step, a, x));
    crVec3 u = cr_vec3(0, 0, 0);
    if (b != CR_WORLD) u = cr__twist_at(d->twist[b], cr_sub(x, d->origin[b]));
    if (a != CR_WORLD) u = cr_sub(u, cr__twist_at(d->twist[a], cr_sub(x, d->origin[a])));
    return u;
}

// approach speed above which a contact is an impact; u: relative velocity
static double fast_of(const crStep* step, const crStepContact* c, crVec3 u, int* cursor) {
    bool plain = step->clocks->plain[c->body_a] && step->clocks->plain[c->body_b] && !c->bounces;
    if (step->clocks->plastic || plain || step->clocks->blunt[c->body_a] || step->clocks->blunt[c->body_b])
        return INFINITY;
    if (!cr__step_pressed(step, c, cursor)) return step->settings.threshold;
    return step->settings.threshold + turning_gain(step, c, cr_norm(cr_madd(u, -c->speed, c->point.normal)));
}

// Adds coefficients that depend on the impact, and the common plane of planar bodies.
static crStatus complete(const crStep* step, const crNearSurface* surface, crVec3 u, crStepContact* c,
                         crError* error) {
    if (surface->by_speed) {
        crStatus status = cr__step_surface_at(step, c, u);
        if (status != CR_OK)
            return cr_error_set(error, status, "surface", "surface: %s", cr_status_text(status));
    }
    if (!step->plan->planes) return CR_OK;
    crVec3 axis = cr__plan_common_plane(step->plan, c->body_a, c->body_b);
    c->planar = cr_dot(axis, axis) > 0.0 && fabs(cr_dot(axis, c->point.normal)) <= 1e-9;
    c->packable = c->packable && !c->planar;
    return CR_OK;
}

// list of contacts that grows
typedef struct Sink {
    crStepContact* contacts;
    int count, capacity;
    crArena* arena;  // memory for more contacts; NULL: CR_ERR_LIMIT if the list is full
    bool fixed;      // true if the list may not grow, while `arena` serves other arrays
    int asking;      // slow pairs without a cell
    int cursor;      // place among the forces of the last solve; negative: not searched yet
    crTail tail;     // place of the list in the arena
} Sink;

static crStatus reserve(Sink* sink, int more, crError* error) {
    if (sink->count + more <= sink->capacity) return CR_OK;
    if (sink->arena == NULL || sink->fixed) return CR_ERR_LIMIT;
    // an eighth more, as arrays of cr__grow
    int larger = sink->count + more + sink->capacity / 8 + 4;
    crStepContact* contacts =
        cr__resize(sink->arena, &sink->tail, sink->contacts, (size_t)sink->count * sizeof *contacts,
                   (size_t)larger * sizeof *contacts);
    if (contacts == NULL) return cr__step_memory(error);
    sink->contacts = contacts;
    sink->capacity = larger;
    return CR_OK;
}

// Gives back the room of the list beyond its last contact, if nothing was allocated after it.
static void trim(Sink* sink) {
    crArena* arena = sink->arena;
    bool last = arena->spill == NULL && cr_arena_mark(arena) == sink->tail.end;
    if (sink->capacity == 0 || !last) return;
    size_t bytes = (size_t)sink->count * sizeof *sink->contacts;
    sink->contacts = cr__resize(arena, &sink->tail, sink->contacts, bytes, bytes);
    sink->capacity = sink->count;
}

// true if a body is awake, or driven at a velocity
static bool active(const crStep* step, int body) {
    if (cr__moves(step->model, body)) return !cr__step_idle(step, body);
    crTwist given = step->dynamics.given[body];
    return cr_dot(given.omega, given.omega) + cr_dot(given.v, given.v) > 0.0;
}

// true if short steps already moved one of a pair's bodies
static bool has_moved(const crStep* step, const crNear* pair) {
    const bool* moved = step->clocks->moved;
    return moved != NULL && (moved[pair->body_a] || moved[pair->body_b]);
}

// true if a body's own clock is behind now_at
static bool is_late(const crStep* step, int body) {
    return step->clocks->now_at > step->clocks->clock[body] && cr__moves(step->model, body);
}

// Writes at most `capacity` points of a pair at now_at and their full number to *needed; returns the number
// written. Two balls are computed directly.
static int pair_points(const crStep* step, const crNear* pair, bool late, double margin,
                       crContactPoint* points, int capacity, int* needed, double* until) {
    const crPose* pose = step->dynamics.pose;
    if (!late && !step->plan->planes) {
        const crBodyShape* shapes = step->model->shapes;
        int count = cr__ball_contact(&shapes[pair->shape_a].shape, &pose[pair->body_a],
                                     &shapes[pair->shape_b].shape, &pose[pair->body_b], margin, points);
        if (count >= 0) *until = count > 0 ? INFINITY : points->gap;
        if (count >= 0) return *needed = count;
    }
    crPose a = late ? cr__step_pose_now(step, pair->body_a) : pose[pair->body_a];
    crPose b = late ? cr__step_pose_now(step, pair->body_b) : pose[pair->body_b];
    return cr__pairs_collide(step->plan, pair->shape_a, pair->shape_b, a, b, margin, points, capacity, needed,
                             until);
}

static double margin_of(const crStep* step, const crNear* pair) {
    return step->pairs->margin[pair->body_a] + step->pairs->margin[pair->body_b];
}

// Edge of the cells in which a pair's contacts are kept, share of its size. The pair must stay in its cell
// for SLOW or QUICK steps. 0: the contacts are not kept; always so except in fast.
static double grain_of(const crStep* step, const crNear* pair, double size) {
    if (!pair->keeps || step->settings.quality != CR_QUALITY_FAST || step->pairs->flat >= 0.0) return 0.0;
    const crDynamics* d = &step->dynamics;
    int a = pair->body_a, b = pair->body_b;
    crVec3 u = velocity_of(step, pair, false, d->com[cr__moves(step->model, b) ? b : a]);
    crVec3 turn = b != CR_WORLD ? d->twist[b].omega : cr_vec3(0, 0, 0);
    if (a != CR_WORLD) turn = cr_sub(turn, d->twist[a].omega);
    double move = (pair->quick ? QUICK : SLOW) * step->free.h * (cr_norm(u) + cr_norm(turn) * size);
    if (move <= CR_CELL_FINE * size) return CR_CELL_FINE;
    return move <= CR_CELL_COARSE * size ? CR_CELL_COARSE : 0.0;
}

// Sets all fields of a contact except those of its velocity. Single assignments are faster than one compound
// literal, which is cleared first.
static void begin_contact(const crNear* pair, const crNearSurface* surface, const crContactPoint* p,
                          double delta, crStepContact* c) {
    c->point = (crStepPoint){p->gap, p->normal, p->point, p->child_a, p->child_b, p->feature_a, p->feature_b};
    c->shape_a = pair->shape_a;
    c->shape_b = pair->shape_b;
    c->body_a = pair->body_a;
    c->body_b = pair->body_b;
    c->row = -1;
    c->planar = c->takes = false;
    c->packable = pair->packable;
    c->bounces = surface->bounces;
    c->surface = &surface->at_rest;
    c->e = surface->at_rest.surface.e;
    c->speed = c->fast = 0.0;
    c->delta = c->seat = delta;
    c->impulse = cr_vec3(0, 0, 0);
}

static crStatus add_pair(const crStep* step, crNear* pair, Sink* sink, crError* error) {
    if (!active(step, pair->body_a) && !active(step, pair->body_b)) return CR_OK;
    double margin = step->pairs->flat >= 0.0 ? step->pairs->flat : margin_of(step, pair), until;
    // The bodies cannot have come within the margin since the pair was last examined.
    if (step->pairs->trailed && pair->clear - cr__pairs_trails(step->pairs, pair) > margin) return CR_OK;
    if (cr__pairs_boxes_apart(step->pairs, pair)) return CR_OK;
    if (has_moved(step, pair)) return CR_OK;
    double size = cr__pairs_size(step->pairs, pair);
    crContactPoint few[16], *points = few;
    int needed = 0;
    bool late = is_late(step, pair->body_a) || is_late(step, pair->body_b);
    int count = -1;
    double grain = late ? 0.0 : grain_of(step, pair, size);
    // the position pass keeps no contacts, and nor do late bodies
    if (!late && step->pairs->flat < 0.0) pair->slow = grain > 0.0;
    sink->asking += grain > 0.0 && pair->slot < 0;
    if (grain > 0.0) {
        const crPose* pose = step->dynamics.pose;
        count =
            cr__pairs_cell(step->pairs, pair, &pose[pair->body_a], &pose[pair->body_b], grain, margin, few);
        until = margin;
    }
    if (count < 0) count = pair_points(step, pair, late, margin, few, 16, &needed, &until);
    if (step->pairs->trailed)
        pair->clear = count == 0 ? until - SURE * size + cr__pairs_trails(step->pairs, pair) : -INFINITY;
    pair->looked = true;
    if (needed > 16 && sink->arena == NULL) return CR_ERR_LIMIT;
    if (needed > 16) {
        points = cr_arena_alloc(sink->arena, (size_t)needed * sizeof *points);
        if (points == NULL) return cr__step_memory(error);
        count = pair_points(step, pair, late, margin, points, needed, &needed, &until);
    }
    if (count == 0) return CR_OK;
    const crNearSurface* surface = step->pairs->surfaces[pair->surface];
    double delta = step->settings.deadband * size;
    crStatus status = reserve(sink, count, error);
    for (int i = 0; i < count && status == CR_OK; i++) {
        crStepContact* c = &sink->contacts[sink->count];
        const crContactPoint* p = &points[i];
        crVec3 u = velocity_of(step, pair, late, p->point);
        begin_contact(pair, surface, p, delta, c);
        c->speed = cr_dot(p->normal, u);
        c->fast = fast_of(step, c, u, &sink->cursor);
        if (surface->by_speed || step->plan->planes) status = complete(step, surface, u, c, error);
        if (status == CR_OK) sink->count++;
    }
    return status;
}

static crStatus add_pairs(const crStep* step, int begin, int end, Sink* sink, crError* error) {
    crStatus status = CR_OK;
    for (int i = begin; i < end && status == CR_OK; i++) {
        if (i + SOON < end) cr__pairs_soon(step->pairs, &step->pairs->near[i + SOON]);
        status = add_pair(step, &step->pairs->near[i], sink, error);
    }
    return status;
}

// True if a slider or planar body is at one of its limits; the body is then supported.
static bool at_limit(const crStep* step, const crBody* body, double delta) {
    if (body->nq != body->nv) return false;
    for (int j = 0; j < body->nv; j++) {
        const crDof* dof = cr_model_dof(step->model, body->v + j);
        double q = step->state.q[body->q + j];
        if (q - dof->lower <= delta || dof->upper - q <= delta) return true;
    }
    return false;
}

// True if a tendon pulls a single body. The body then moves by v+, so that force and displacement of both
// ends conserve momentum.
static bool pulled(const crStep* step, const crBody* body) {
    const double* f = step->state.force + body->v;
    return step->plan->pulls && body->single && (f[0] != 0.0 || f[1] != 0.0 || f[2] != 0.0);
}

static void begin_airborne(const crStep* step, bool* airborne) {
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        const crBody* body = &step->model->bodies[b];
        airborne[b] = !at_limit(step, body, step->settings.deadband) && !pulled(step, body);
    }
}

// true if a contact supports its bodies: it touches and does not separate fast
static bool supports(const crStep* step, const crStepContact* c) {
    double fast = step->settings.threshold > 1e-12 ? step->settings.threshold : 1e-12;
    return !(c->point.gap > c->delta || c->speed >= fast);
}

// Marks the bodies of touching contacts, from contact `from` on, as supported.
static void support(const crStep* step, const Sink* sink, int from) {
    for (int i = from; i < sink->count; i++) {
        const crStepContact* c = &sink->contacts[i];
        if (!supports(step, c)) continue;
        step->airborne[c->body_a] = false;
        step->airborne[c->body_b] = false;
    }
}

// Finds the contacts of all pairs in chunks, and marks supported bodies while a chunk is in the cache.
static crStatus add_all(const crStep* step, Sink* sink, crError* error) {
    int pairs = step->pairs->count;
    crStatus status = CR_OK;
    for (int begin = 0; begin < pairs && status == CR_OK; begin += CHUNK) {
        int from = sink->count;
        status = add_pairs(step, begin, begin + CHUNK < pairs ? begin + CHUNK : pairs, sink, error);
        support(step, sink, from);
    }
    return status;
}

// a chunk of pairs for one task, with memory of its own
typedef struct Chunk {
    Sink sink;
    crStatus status;
    int at;       // place of its first contact in the whole list
    int* bodies;  // bodies that its contacts support (body_count)
    int body_count;
} Chunk;

typedef struct Share {
    const crStep* step;
    Chunk* chunk;
    crStepContact* to;
} Share;

static void add_chunk(void* ctx, int begin, int end) {
    const Share* share = ctx;
    Chunk* chunk = &share->chunk[begin / CHUNK];
    chunk->status = add_pairs(share->step, begin, end, &chunk->sink, NULL);
    for (int i = 0; chunk->status == CR_OK && i < chunk->sink.count; i++) {
        const crStepContact* c = &chunk->sink.contacts[i];
        if (!supports(share->step, c)) continue;
        chunk->bodies[chunk->body_count++] = c->body_a;
        chunk->bodies[chunk->body_count++] = c->body_b;
    }
}

static void put_chunks(void* ctx, int begin, int end) {
    const Share* share = ctx;
    for (int i = begin; i < end; i++) {
        const Sink* from = &share->chunk[i].sink;
        if (share->chunk[i].status != CR_OK || from->count == 0) continue;
        memcpy(share->to + share->chunk[i].at, from->contacts, (size_t)from->count * sizeof *share->to);
    }
}

// Places each chunk's contacts in the whole list. Contacts of a chunk that ran out of memory are found again
// directly in the list. Returns false if memory runs out or a chunk failed.
static bool place_chunks(const crStep* step, Chunk* chunk, int chunks, Sink* sink) {
    for (int i = 0, pairs = step->pairs->count; i < chunks; i++) {
        int end = (i + 1) * CHUNK < pairs ? (i + 1) * CHUNK : pairs, from = sink->count;
        chunk[i].at = from;
        if (chunk[i].status == CR_ERR_LIMIT) {
            if (add_pairs(step, i * CHUNK, end, sink, NULL) != CR_OK) return false;
            support(step, sink, from);
            continue;
        }
        if (chunk[i].status != CR_OK || reserve(sink, chunk[i].sink.count, NULL) != CR_OK) return false;
        sink->count += chunk[i].sink.count;
        sink->asking += chunk[i].sink.asking;
        for (int k = 0; k < chunk[i].body_count; k++) {
            step->airborne[chunk[i].bodies[k]] = false;
        }
    }
    return true;
}

// Finds the contacts of all pairs by several threads, in the order of pairs. Returns false and adds nothing
// if that fails; the caller then uses one thread.
static bool add_shared(const crStep* step, Sink* sink) {
    crArena* arena = sink->arena;
    int pairs = step->pairs->count, chunks = (pairs + CHUNK - 1) / CHUNK;
    // twice the mean number of contacts per chunk in the last step
    int room = CHUNK / 2 + (int)(2.0 * CHUNK * step->contacts.last / pairs);
    size_t mark = cr_arena_mark(arena), all = (size_t)chunks * (size_t)room;
    Share share = {.step = step};
    crStepContact* contacts;
    int* bodies;
    bool ok = CR_ROOMS(arena, CR_ROOM(contacts, all), CR_ROOM(bodies, 2 * all), CR_ROOM(share.chunk, chunks));
    for (int i = 0; i < chunks && ok; i++) {
        size_t at = (size_t)i * (size_t)room;
        share.chunk[i] = (Chunk){.sink = {.contacts = contacts + at, .capacity = room, .cursor = -1},
                                 .bodies = bodies + 2 * at};
    }
    if (ok) cr__tasks_for(step->own.tasks, pairs, CHUNK, add_chunk, &share);
    sink->fixed = true;
    ok = ok && place_chunks(step, share.chunk, chunks, sink);
    sink->fixed = false;
    share.to = sink->contacts;
    cr__tasks_for(step->own.tasks, ok ? chunks : 0, 8, put_chunks, &share);
    if (!ok) {
        sink->count = 0;
        sink->cursor = -1;
    }
    cr_arena_release(arena, mark);
    return ok;
}

// Copies the known contacts of a pair; *at: the first one that no earlier pair has.
static crStatus keep_pair(const crNear* pair, const crStepKnown* known, int* at, Sink* sink, crError* error) {
    for (; *at < known->count; ++*at) {
        const crStepContact* c = &known->contacts[*at];
        if (c->shape_a > pair->shape_a || (c->shape_a == pair->shape_a && c->shape_b > pair->shape_b)) break;
        if (c->shape_a != pair->shape_a || c->shape_b != pair->shape_b) continue;
        crStatus status = reserve(sink, 1, error);
        if (status != CR_OK) return status;
        sink->contacts[sink->count] = *c;
        sink->contacts[sink->count].row = -1;
        sink->contacts[sink->count++].impulse = cr_vec3(0, 0, 0);
    }
    return CR_OK;
}

static crStatus add_part(const crStep* step, bool cross, const crStepKnown* known, Sink* sink,
                         crError* error) {
    int count = 0, at = 0;
    int* places =
        cr__pairs_of_part(step->pairs, step->own.tasks, cr__step_part(step), cross, sink->arena, &count);
    if (places == NULL) return cr__step_memory(error);
    // The list begins with room for the expected number of contacts: arrays that were too small stay in the
    // arena.
    double share = step->pairs->count > 0 ? (double)count / step->pairs->count : 0.0;
    int room = known != NULL && known->count > 0 ? known->count : (int)(share * step->contacts.last);
    crStatus status = reserve(sink, room + room / 8, error);
    for (int i = 0; i < count && status == CR_OK; i++) {
        crNear* pair = &step->pairs->near[places[i]];
        bool keeps = known != NULL && !known->fresh[pair->body_a] && !known->fresh[pair->body_b];
        status = keeps ? keep_pair(pair, known, &at, sink, error) : add_pair(step, pair, sink, error);
    }
    return status;
}

// Updates the boxes of sleeping bodies, since their margins may have changed.
static crStatus move_sleepers(const crStep* step, crArena* arena, crError* error) {
    if (step->certificate.asleep == 0) return CR_OK;
    size_t mark = cr_arena_mark(arena);
    int* bodies;
    if (!CR_ROOMS(arena, CR_ROOM(bodies, step->model->nb))) return cr__step_memory(error);
    crPart sleepers = {bodies, 0};
    for (int b = 1; b < step->model->nb; b++) {
        if (step->rest.sleep[b].island != 0) bodies[sleepers.count++] = b;
    }
    crStatus status = cr__pairs_move(step->pairs, NULL, sleepers, &step->dynamics, error);
    cr_arena_release(arena, mark);
    return status;
}

// Updates velocities, boxes and the list of pairs for the present poses.
static crStatus begin_pairs(crStep* step, crError* error) {
    bool reads_et;
    step->contacts.count = 0;
    step->contacts.list = NULL;
    if (cr__step_velocity(step, step->state.v) != CR_OK) return cr__step_memory(error);
    crStatus status =
        cr__pairs_move(step->pairs, step->own.tasks, cr__step_part(step), &step->dynamics, error);
    bool whole = step->part.bodies == step->awake.bodies;
    if (status == CR_OK && whole) status = move_sleepers(step, &step->scratch, error);
    if (status == CR_OK)
        status = cr__pairs_list(step->pairs, step->own.tasks, &step->dynamics, &step->scratch, error);
    // Late bodies are examined at poses other than their present ones, so their distances are not kept.
    step->pairs->trailed = whole && !(step->clocks->now_at > 0.0);
    if (step->pairs->trailed) cr__pairs_follow(step->pairs, step->own.tasks, &step->dynamics);
    step->clocks->plastic = step->pairs->flat < 0.0 && !step->pairs->bouncing &&
                            cr__step_solves_alike(&step->settings, &reads_et);
    return status;
}

// Makes room for the expected number of contacts: arrays that were too small stay in the arena.
static crStatus reserve_whole(const crStep* step, Sink* sink, crError* error) {
    int last = step->contacts.last;
    if (step->warm.count > last) last = step->warm.count;
    return reserve(sink, last + last / 8, error);
}

// Reports CR_ERR_LIMIT for more contacts than separate bodies can have: bodies are piled into each other. The
// error names the body with the most contacts.
static crStatus refuse_crowd(const crModel* model, const crStepContacts* contacts, crArena* arena,
                             crError* error) {
    int most = 0, *count;
    if (!CR_ROOMS(arena, CR_ZERO(count, model->nb))) return cr__step_memory(error);
    for (int i = 0; i < contacts->count; i++) {
        const int both[2] = {contacts->list[i].body_a, contacts->list[i].body_b};
        for (int k = 0; k < 2; k++) {
            if (cr__moves(model, both[k]) && ++count[both[k]] > count[most]) most = both[k];
        }
    }
    const char* name = model->bodies[most].name;
    return cr_error_set(error, CR_ERR_LIMIT, "contacts",
                        "contacts: %d are more than %d and %d per body; body %d %.40s alone has %d",
                        contacts->count, CROWD_LEAST, CROWD, most, name != NULL ? name : "", count[most]);
}

crStatus cr__step_collide_known(crStep* step, bool cross, const crStepKnown* known, crError* error) {
    Sink sink = {.arena = &step->scratch, .cursor = -1};
    bool whole = step->part.bodies == step->awake.bodies;
    crStatus status = begin_pairs(step, error);
    if (status == CR_OK && whole) {
        begin_airborne(step, step->airborne);
        status = reserve_whole(step, &sink, error);
        // surfaces of contacts that depend on the impact are made by one thread
        bool shared = step->own.tasks != NULL && step->pairs->count > 2 * CHUNK && !step->pairs->by_impact;
        if (status == CR_OK && !(shared && add_shared(step, &sink))) status = add_all(step, &sink, error);
    } else if (status == CR_OK) {
        status = add_part(step, cross, known, &sink, error);
        // The flights of late bodies were needed up to here.
        begin_airborne(step, step->airborne);
        support(step, &sink, 0);
    }
    trim(&sink);
    step->contacts.list = sink.contacts;
    step->contacts.count = sink.count;
    if (whole) step->contacts.last = step->contacts.count;
    if (whole) step->pairs->cells.asking = sink.asking;
    if (step->contacts.count > step->certificate.contacts) step->certificate.contacts = step->contacts.count;
    bool crowd =
        step->contacts.count > CROWD_LEAST && (step->contacts.count - CROWD_LEAST) / CROWD > step->model->nb;
    return status == CR_OK && crowd ? refuse_crowd(step->model, &step->contacts, &step->scratch, error)
                                    : status;
}

crStatus cr__step_collide_part(crStep* step, bool cross, crError* error) {
    return cr__step_collide_known(step, cross, NULL, error);
}

crStatus cr__step_collide_pair(const crStep* step, int pair, crArena* arena, crStepContacts* contacts,
                               crError* error) {
    Sink sink = {.arena = arena, .cursor = -1};
    step->pairs->trailed = false;
    crStatus status = add_pair(step, &step->pairs->near[pair], &sink, error);
    contacts->list = sink.contacts;
    contacts->count = sink.count;
    return status;
}

void cr__step_flat_margins(crPairs* pairs, double margin) { pairs->flat = fmax(0.0, margin); }

crStatus cr_step_collide(crStep* step, double margin, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    if (!isfinite(margin)) {
        return cr_error_set(error, CR_ERR_FINITE, "margin", "margin: is %g, must be finite", margin);
    }
    cr__step_flat_margins(step->pairs, margin);
    return cr__step_collide_part(step, false, error);
}
