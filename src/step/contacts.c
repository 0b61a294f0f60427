// contacts.c - from shapes and poses to contacts: broad phase, pairs, surfaces, frames, speeds.
//
// Pairs that never meet: shapes of two bodies that no velocity moves, and what cr_model_meet says. Contacts
// come sorted by (shapes, children, features), whatever the history and the number of threads. A body is in
// the air where nothing touches it within the deadband, or only what it leaves faster than the threshold:
// then its flight is exact, else it is supported.
// Fails: CR_ERR_MEMORY; CR_ERR_LIMIT where bodies are piled into each other; what the broad phase or a
// material says.
#include <string.h>

#include "base/tasks.h"
#include "collide/manifold.h"
#include "step/cache.h"
#include "step/forest.h"

#define CHUNK       64         // pairs that one thread takes at a time
#define BODIES      256        // likewise
#define SURE        1e-5       // of a pair's size: what rounding may make of distances
#define CROWD       128        // contacts per body, and
#define CROWD_LEAST (1 << 17)  // so many in any case: more are refused

// *until as cr__collide has it
static int collide_shapes(const crStep* step, int sa, int sb, crPose pose_a, crPose pose_b, double margin,
                          crContactPoint* points, int capacity, int* needed, double* until) {
    const crBodyShape* a = &step->model->shapes[sa];
    const crBodyShape* b = &step->model->shapes[sb];
    crVec3 axis = cr__step_common_plane(step, a->body, b->body);
    *until = -INFINITY;
    if (cr_dot(axis, axis) > 0.0 && capacity >= 2) {
        // the plane goes through the body that moves
        bool swap = !cr__moves(step->model, a->body);
        crStatus status =
            swap
                ? cr_collide_planar(&b->shape, pose_b, &a->shape, pose_a, axis, margin, points, needed, NULL)
                : cr_collide_planar(&a->shape, pose_a, &b->shape, pose_b, axis, margin, points, needed, NULL);
        for (int i = 0; status == CR_OK && swap && i < *needed; i++) {
            crContactPoint p = points[i];
            points[i] = (crContactPoint){p.gap,     cr_neg(p.normal), p.point,     p.on_b,     p.on_a,
                                         p.child_b, p.child_a,        p.feature_b, p.feature_a};
        }
        if (status == CR_OK) return *needed;
    }
    return cr__collide(&a->shape, &pose_a, &b->shape, &pose_b, margin, points, capacity, needed, until);
}

int cr__step_pair(const crStep* step, int shape_a, int shape_b, crPose pose_a, crPose pose_b, double margin,
                  crContactPoint* points, int capacity, int* needed) {
    double until;
    return collide_shapes(step, shape_a, shape_b, pose_a, pose_b, margin, points, capacity, needed, &until);
}

// what a lasting contact can approach by in one step because normals and arms turn: h (omega^2 r + 2 omega
// u_t)
static double turning_gain(const crStep* step, const crStepContact* c, double slip) {
    double a = cr_norm(step->dynamics.twist[c->body_a].omega);
    double b = cr_norm(step->dynamics.twist[c->body_b].omega);
    double rate = a * a * step->size[c->body_a] + b * b * step->size[c->body_b] + 2.0 * (a + b) * slip;
    return 2.0 * step->settings.dt * rate;
}

// velocity of b's point against a's
static crVec3 velocity_of(const crStep* step, const crNear* pair, bool late, crVec3 x) {
    const crDynamics* d = &step->dynamics;
    int a = pair->body_a, b = pair->body_b;
    if (late) return cr_sub(cr__step_velocity_now(step, b, x), cr__step_velocity_now(step, a, x));
    crVec3 u = cr_vec3(0, 0, 0);
    if (b != CR_WORLD) u = cr__twist_at(d->twist[b], cr_sub(x, d->origin[b]));
    if (a != CR_WORLD) u = cr_sub(u, cr__twist_at(d->twist[a], cr_sub(x, d->origin[a])));
    return u;
}

// approach speed above which a contact is an impact, u its velocity
static double fast_of(const crStep* step, const crStepContact* c, crVec3 u) {
    const crStepCache* cache = step->cache;
    bool plain = cache->plain[c->body_a] && cache->plain[c->body_b] && !c->bounces;
    if (cache->plastic || plain || cache->blunt[c->body_a] || cache->blunt[c->body_b]) return INFINITY;
    if (cr__step_warm(step, c) == NULL) return step->settings.threshold;
    return step->settings.threshold + turning_gain(step, c, cr_norm(cr_madd(u, -c->speed, c->point.normal)));
}

// what not every contact has: restitution by speed, a plane
static crStatus complete(const crStep* step, const crNearSurface* surface, crStepContact* c, crError* error) {
    if (surface->by_speed) {
        crContactSurface now;
        crStatus status = cr_model_surface(step->model, surface->material_a, surface->material_b,
                                           fmax(0.0, -c->speed), &now);
        if (status != CR_OK)
            return cr_error_set(error, status, "surface", "surface: %s", cr_status_text(status));
        c->e = now.surface.e;
    }
    if (!step->cache->planes) return CR_OK;
    crVec3 axis = cr__step_common_plane(step, c->body_a, c->body_b);
    c->planar = cr_dot(axis, axis) > 0.0 && fabs(cr_dot(axis, c->point.normal)) <= 1e-9;
    c->packable = c->packable && !c->planar;
    return CR_OK;
}

// where contacts go
typedef struct Sink {
    crStepContact* contacts;
    int count, capacity;
    crArena* arena;  // for more, NULL: what does not fit is CR_ERR_LIMIT
    bool fixed;      // likewise, for the contacts alone
    double until;    // margin up to which the contacts of the pair added last would be the same, m
    crScout* scout;  // is told which contacts are whose; NULL: nobody is
} Sink;

static crStatus reserve(Sink* sink, int more, crError* error) {
    if (sink->count + more <= sink->capacity) return CR_OK;
    if (sink->arena == NULL || sink->fixed) return CR_ERR_LIMIT;
    int larger = 2 * sink->capacity + more + 4;
    crStepContact* contacts = cr_arena_alloc(sink->arena, (size_t)larger * sizeof *contacts);
    if (contacts == NULL) return cr__step_memory(error);
    if (sink->count > 0) memcpy(contacts, sink->contacts, (size_t)sink->count * sizeof *contacts);
    sink->contacts = contacts;
    sink->capacity = larger;
    return CR_OK;
}

static bool apart(const crBounds* a, const crBounds* b) {
    return a->hi.x < b->lo.x || b->hi.x < a->lo.x || a->hi.y < b->lo.y || b->hi.y < a->lo.y ||
           a->hi.z < b->lo.z || b->hi.z < a->lo.z;
}

// whether a body is awake, or driven at a velocity
static bool active(const crStep* step, int body) {
    if (cr__moves(step->model, body)) return step->sleep[body].island == 0;
    crTwist given = step->dynamics.given[body];
    return cr_dot(given.omega, given.omega) + cr_dot(given.v, given.v) > 0.0;
}

// whether a body's own clock is not yet at now_at
static bool is_late(const crStep* step, int body) {
    const crStepCache* cache = step->cache;
    return cache->now_at > cache->clock[body] && cr__moves(step->model, body);
}

// points of a pair at now_at: at most capacity, and how many there are; a ball's without the way there
static int pair_points(const crStep* step, const crNear* pair, bool late, double margin,
                       crContactPoint* points, int capacity, int* needed, double* until) {
    const crPose* pose = step->dynamics.pose;
    if (!late && !step->cache->planes) {
        const crBodyShape* shapes = step->model->shapes;
        int count = cr__ball_contact(&shapes[pair->shape_a].shape, &pose[pair->body_a],
                                     &shapes[pair->shape_b].shape, &pose[pair->body_b], margin, points);
        if (count >= 0) *until = count > 0 ? INFINITY : points->gap;
        if (count >= 0) return *needed = count;
    }
    crPose a = late ? cr__step_pose_now(step, pair->body_a) : pose[pair->body_a];
    crPose b = late ? cr__step_pose_now(step, pair->body_b) : pose[pair->body_b];
    return collide_shapes(step, pair->shape_a, pair->shape_b, a, b, margin, points, capacity, needed, until);
}

static double margin_of(const crStep* step, const crNear* pair) {
    return step->cache->margin[pair->body_a] + step->cache->margin[pair->body_b];
}

// how far each body has come since all pairs were last looked at; turned by phi its points go
// 2 sin(phi / 2) of their distance at most, which is less than 2 |q+ - q|
static void follow_range(void* ctx, int begin, int end) {
    const crStep* step = ctx;
    const crDynamics* d = &step->dynamics;
    for (int b = begin > 0 ? begin : 1; b < end; b++) {
        crTrail* trail = &step->cache->trail[b];
        crQuat q = d->pose[b].q, was = trail->q;
        double turn = sqrt((q.w - was.w) * (q.w - was.w) + (q.x - was.x) * (q.x - was.x) +
                           (q.y - was.y) * (q.y - was.y) + (q.z - was.z) * (q.z - was.z));
        // what v does not move has no size here
        double size = cr__moves(step->model, b) ? step->size[b] : INFINITY;
        if (turn > 0.0) trail->length += 2.0 * turn * size;
        trail->length += cr_norm(cr_sub(d->com[b], trail->com));
        trail->com = d->com[b];
        trail->q = q;
    }
}

static double trails(const crStepCache* cache, const crNear* pair) {
    return cache->trail[pair->body_a].length + cache->trail[pair->body_b].length;
}

static crStatus add_pair(const crStep* step, crNear* pair, Sink* sink, crError* error) {
    const crStepCache* cache = step->cache;
    double margin = cache->flat >= 0.0 ? cache->flat : margin_of(step, pair), until;
    sink->until = margin;
    // since they were last looked at they cannot have come so near
    if (cache->trailed && pair->clear - trails(cache, pair) > margin + SURE * pair->size) return CR_OK;
    if (apart(&cache->now[pair->shape_a], &cache->now[pair->shape_b])) return CR_OK;
    if (!active(step, pair->body_a) && !active(step, pair->body_b)) return CR_OK;
    crContactPoint few[16], *points = few;
    int needed = 0;
    bool late = is_late(step, pair->body_a) || is_late(step, pair->body_b);
    int count = pair_points(step, pair, late, margin, few, 16, &needed, &until);
    if (cache->trailed) pair->clear = count == 0 ? until + trails(cache, pair) : -INFINITY;
    if (count > 0 && until > margin) sink->until = until;
    if (needed > 16 && sink->arena == NULL) return CR_ERR_LIMIT;
    if (needed > 16) {
        points = cr_arena_alloc(sink->arena, (size_t)needed * sizeof *points);
        if (points == NULL) return cr__step_memory(error);
        count = pair_points(step, pair, late, margin, points, needed, &needed, &until);
    }
    if (count == 0) return CR_OK;
    const crNearSurface* surface = cache->surfaces[pair->surface];
    double delta = step->settings.deadband * pair->size;
    crStatus status = reserve(sink, count, error);
    for (int i = 0; i < count && status == CR_OK; i++) {
        crStepContact* c = &sink->contacts[sink->count];
        const crContactPoint* p = &points[i];
        crVec3 u = velocity_of(step, pair, late, p->point);
        *c = (crStepContact){
            .point = {p->gap, p->normal, p->point, p->child_a, p->child_b, p->feature_a, p->feature_b},
            .shape_a = pair->shape_a,
            .shape_b = pair->shape_b,
            .body_a = pair->body_a,
            .body_b = pair->body_b,
            .row = -1,
            .packable = pair->packable,
            .bounces = surface->bounces,
            .surface = &surface->at_rest,
            .e = surface->at_rest.surface.e,
            .speed = cr_dot(p->normal, u),
            .delta = delta};
        c->fast = fast_of(step, c, u);
        if (surface->by_speed || cache->planes) status = complete(step, surface, c, error);
        if (status == CR_OK) sink->count++;
    }
    return status;
}

// contacts of a pair as the scout found them; false: it did not look so far
static bool add_scouted(const crStep* step, int i, Sink* sink, crStatus* status, crError* error) {
    const crStepCache* cache = step->cache;
    const crScout* scout = cache->scout;
    // larger boxes may have made a new list
    if (scout == NULL || scout->list != cache->lists) return false;
    if (!(margin_of(step, &cache->pairs[i]) <= scout->until[i])) return false;
    int count = scout->end[i] - scout->first[i];
    *status = reserve(sink, count, error);
    if (*status != CR_OK || count == 0) return true;
    memcpy(sink->contacts + sink->count, scout->contacts + scout->first[i],
           (size_t)count * sizeof *sink->contacts);
    sink->count += count;
    return true;
}

static crStatus add_pairs(const crStep* step, int begin, int end, Sink* sink, crError* error) {
    crStatus status = CR_OK;
    for (int i = begin; i < end && status == CR_OK; i++) {
        if (add_scouted(step, i, sink, &status, error)) continue;
        int from = sink->count;
        status = add_pair(step, &step->cache->pairs[i], sink, error);
        if (sink->scout == NULL || status != CR_OK) continue;
        sink->scout->first[i] = from;
        sink->scout->end[i] = sink->count;
        sink->scout->until[i] = sink->until;
    }
    return status;
}

// a slider or planar body at one of its limits is supported
static bool at_limit(const crStep* step, const crBody* body, double delta) {
    if (body->nq != body->nv) return false;
    for (int j = 0; j < body->nv; j++) {
        const crDof* dof = &step->model->dofs[body->v + j];
        double q = step->state.q[body->q + j];
        if (q - dof->lower <= delta || dof->upper - q <= delta) return true;
    }
    return false;
}

static void begin_airborne(crStep* step) {
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        step->airborne[b] = !at_limit(step, &step->model->bodies[b], step->settings.deadband);
    }
}

// whether a contact supports its bodies: it touches, and does not leave fast
static bool supports(const crStep* step, const crStepContact* c) {
    return !(c->point.gap > c->delta || c->speed >= fmax(step->settings.threshold, 1e-12));
}

// bodies of the contacts from this one on are supported where they touch
static void support(const crStep* step, const Sink* sink, int from) {
    for (int i = from; i < sink->count; i++) {
        const crStepContact* c = &sink->contacts[i];
        if (!supports(step, c)) continue;
        step->airborne[c->body_a] = false;
        step->airborne[c->body_b] = false;
    }
}

// contacts of all pairs, each chunk looked at while it is at hand
static crStatus add_all(const crStep* step, Sink* sink, crError* error) {
    int pairs = step->cache->pair_count;
    crStatus status = CR_OK;
    for (int begin = 0; begin < pairs && status == CR_OK; begin += CHUNK) {
        int from = sink->count;
        status = add_pairs(step, begin, begin + CHUNK < pairs ? begin + CHUNK : pairs, sink, error);
        support(step, sink, from);
    }
    return status;
}

// pairs in chunks for several threads, each with room of its own
typedef struct Chunk {
    Sink sink;
    crStatus status;
    int at;       // where its contacts go
    int* bodies;  // that they support (body_count)
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
        int pairs = share->step->cache->pair_count;
        for (int k = i * CHUNK; from->scout != NULL && k < (i + 1) * CHUNK && k < pairs; k++) {
            from->scout->first[k] += share->chunk[i].at;
            from->scout->end[k] += share->chunk[i].at;
        }
    }
}

// where each chunk's contacts go; those of a chunk that had no room are found once more, and are there
static bool place_chunks(const crStep* step, Chunk* chunk, int chunks, Sink* sink) {
    for (int i = 0, pairs = step->cache->pair_count; i < chunks; i++) {
        int end = (i + 1) * CHUNK < pairs ? (i + 1) * CHUNK : pairs, from = sink->count;
        chunk[i].at = from;
        if (chunk[i].status == CR_ERR_LIMIT) {
            if (add_pairs(step, i * CHUNK, end, sink, NULL) != CR_OK) return false;
            support(step, sink, from);
            continue;
        }
        if (chunk[i].status != CR_OK || reserve(sink, chunk[i].sink.count, NULL) != CR_OK) return false;
        sink->count += chunk[i].sink.count;
        for (int k = 0; k < chunk[i].body_count; k++) {
            step->airborne[chunk[i].bodies[k]] = false;
        }
    }
    return true;
}

// contacts of all pairs by several threads, in the order of pairs; false: not this way, nothing is added
static bool add_shared(crStep* step, Sink* sink) {
    int pairs = step->cache->pair_count, chunks = (pairs + CHUNK - 1) / CHUNK;
    // twice what a chunk had last, in the mean
    int room = CHUNK / 2 + (int)(2.0 * CHUNK * step->cache->contacts_last / pairs);
    size_t mark = cr_arena_mark(&step->scratch), all = (size_t)chunks * (size_t)room;
    Share share = {.step = step};
    crStepContact* contacts = cr_arena_alloc(&step->scratch, all * sizeof *contacts);
    int* bodies = cr_arena_alloc(&step->scratch, 2 * all * sizeof *bodies);
    share.chunk = cr_arena_alloc(&step->scratch, (size_t)chunks * sizeof *share.chunk);
    bool ok = contacts != NULL && bodies != NULL && share.chunk != NULL;
    for (int i = 0; i < chunks && ok; i++) {
        size_t at = (size_t)i * (size_t)room;
        share.chunk[i] = (Chunk){.sink = {.contacts = contacts + at, .capacity = room, .scout = sink->scout},
                                 .bodies = bodies + 2 * at};
    }
    if (ok) cr__tasks_for(step->tasks, pairs, CHUNK, add_chunk, &share);
    sink->fixed = true;
    ok = ok && place_chunks(step, share.chunk, chunks, sink);
    sink->fixed = false;
    share.to = sink->contacts;
    cr__tasks_for(step->tasks, ok ? chunks : 0, 8, put_chunks, &share);
    if (!ok) sink->count = 0;
    cr_arena_release(&step->scratch, mark);
    return ok;
}

// contacts of the last call, of which those without a fresh body stand
typedef struct Stock {
    const crStepContact* contacts;
    int count, at;
    const bool* fresh;  // NULL: there are none
} Stock;

static crStatus keep_pair(const crNear* pair, Stock* stock, Sink* sink, crError* error) {
    for (; stock->at < stock->count; stock->at++) {
        const crStepContact* c = &stock->contacts[stock->at];
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

static crStatus add_part(crStep* step, bool cross, Stock* stock, Sink* sink, crError* error) {
    const crStepCache* cache = step->cache;
    int count = 0;
    int* places = cr__step_pairs_of_part(step, cross, &count);
    if (places == NULL) return cr__step_memory(error);
    crStatus status = CR_OK;
    for (int i = 0; i < count && status == CR_OK; i++) {
        crNear* pair = &cache->pairs[places[i]];
        bool keeps = stock->fresh != NULL && !stock->fresh[pair->body_a] && !stock->fresh[pair->body_b];
        status = keeps ? keep_pair(pair, stock, sink, error) : add_pair(step, pair, sink, error);
    }
    return status;
}

// bodies and boxes where they are now, for the pairs there are
static crStatus begin_pairs(crStep* step, crError* error) {
    crStepCache* cache = step->cache;
    bool reads_et;
    step->contact_count = 0;
    step->contacts = NULL;
    if (cr__step_velocity(step, step->state.v) != CR_OK) return cr__step_memory(error);
    crStatus status = cr__step_near(step, error);
    // bodies that are late are not where they are looked at
    cache->trailed = step->part == cache->whole && !(cache->now_at > 0.0);
    if (cache->trailed) cr__tasks_for(step->tasks, step->model->nb, BODIES, follow_range, step);
    cache->plastic =
        cache->flat < 0.0 && !cache->bouncing && cr__step_solves_alike(&step->settings, &reads_et);
    return status;
}

// as many as there were last and some: arrays that were too small stay in the arena
static crStatus reserve_whole(const crStep* step, Sink* sink, crError* error) {
    int last = step->cache->contacts_last;
    if (step->warm_count > last) last = step->warm_count;
    return reserve(sink, last + last / 8, error);
}

// More contacts than bodies that keep apart can have: bodies are piled into each other. The body with the
// most contacts is named.
static crStatus refuse_crowd(crStep* step, crError* error) {
    const crModel* model = step->model;
    int* count = cr_arena_alloc(&step->scratch, (size_t)model->nb * sizeof *count);
    if (count == NULL) return cr__step_memory(error);
    memset(count, 0, (size_t)model->nb * sizeof *count);
    int most = 0;
    for (int i = 0; i < step->contact_count; i++) {
        const int both[2] = {step->contacts[i].body_a, step->contacts[i].body_b};
        for (int k = 0; k < 2; k++) {
            if (cr__moves(model, both[k]) && ++count[both[k]] > count[most]) most = both[k];
        }
    }
    const char* name = model->bodies[most].name;
    return cr_error_set(error, CR_ERR_LIMIT, "contacts",
                        "contacts: %d are more than %d and %d per body; body %d %.40s alone has %d",
                        step->contact_count, CROWD_LEAST, CROWD, most, name != NULL ? name : "", count[most]);
}

static crStatus collide_part(crStep* step, bool cross, Stock* stock, Sink* sink, crError* error) {
    crStepCache* cache = step->cache;
    bool whole = step->part == cache->whole;
    crStatus status = begin_pairs(step, error);
    if (status == CR_OK && whole) {
        begin_airborne(step);
        status = reserve_whole(step, sink, error);
        bool shared = step->tasks != NULL && cache->pair_count > 2 * CHUNK;
        if (status == CR_OK && !(shared && add_shared(step, sink))) {
            status = add_all(step, sink, error);
        }
    } else if (status == CR_OK) {
        status = add_part(step, cross, stock, sink, error);
        // only now: the flights of those that are late were needed
        begin_airborne(step);
        support(step, sink, 0);
    }
    step->contacts = sink->contacts;
    step->contact_count = sink->count;
    if (whole) cache->contacts_last = step->contact_count;
    if (step->contact_count > step->certificate.contacts) step->certificate.contacts = step->contact_count;
    bool crowd =
        step->contact_count > CROWD_LEAST && (step->contact_count - CROWD_LEAST) / CROWD > step->model->nb;
    return status == CR_OK && crowd ? refuse_crowd(step, error) : status;
}

static crStatus scout_begin(crStep* step, crScout* scout, crError* error) {
    const crStepCache* cache = step->cache;
    size_t pairs = (size_t)cache->pair_count + 1;
    Sink room = {.arena = &step->scratch};
    crStatus status = scout->room == NULL ? reserve_whole(step, &room, error) : CR_OK;
    if (status != CR_OK) return status;
    if (scout->room == NULL) {
        *scout = (crScout){.room = room.contacts, .room_count = room.capacity};
        scout->after = cr_arena_mark(&step->scratch);
    }
    scout->list = cache->lists;
    scout->until = cr_arena_alloc(&step->scratch, pairs * sizeof *scout->until);
    scout->first = cr_arena_alloc(&step->scratch, pairs * sizeof *scout->first);
    scout->end = cr_arena_alloc(&step->scratch, pairs * sizeof *scout->end);
    if (scout->until == NULL || scout->first == NULL || scout->end == NULL) return cr__step_memory(error);
    for (int i = 0; i < cache->pair_count; i++) {
        scout->until[i] = -1.0;
    }
    return CR_OK;
}

static crStatus scout_pair(crStep* step, int i, int* islands, crScout* scout, Sink* sink, crError* error) {
    const crStepCache* cache = step->cache;
    crNear* pair = &cache->pairs[i];
    int a = pair->body_a, b = pair->body_b;
    bool bounces = cache->surfaces[pair->surface]->bounces;
    if (islands[a] == islands[b] && !bounces) return CR_OK;
    bool two = cr__moves(step->model, a) && cr__moves(step->model, b);
    bool joins = two && cr__forest_find(islands, a) != cr__forest_find(islands, b);
    if ((!joins && !bounces) || margin_of(step, pair) <= scout->until[i]) return CR_OK;
    scout->first[i] = sink->count;
    crStatus status = add_pair(step, pair, sink, error);
    scout->end[i] = sink->count;
    scout->until[i] = sink->until;
    if (two && scout->end[i] > scout->first[i]) cr__forest_join(islands, a, b);
    return status;
}

// whether a contact of the pair pressed in the last solve; going through pairs in their order
static bool pressed(const crStep* step, const crNear* pair, int* cursor) {
    for (; *cursor < step->warm_count; ++*cursor) {
        const crWarm* w = &step->warm[*cursor];
        if (w->shape_a == pair->shape_a && w->shape_b == pair->shape_b) return true;
        if (w->shape_a > pair->shape_a || (w->shape_a == pair->shape_a && w->shape_b > pair->shape_b)) break;
    }
    return false;
}

// all pairs by several threads, which is sooner done than by one those that matter; false: not this way
static bool scout_shared(crStep* step, int* islands, crScout* scout, Sink* sink) {
    const crStepCache* cache = step->cache;
    bool many = step->tasks != NULL && cache->pair_count > 2 * CHUNK;
    if (!many || reserve_whole(step, sink, NULL) != CR_OK) return false;
    sink->scout = scout;
    bool ok = add_shared(step, sink);
    sink->scout = NULL;
    for (int i = 0; i < cache->pair_count; i++) {
        int a = cache->pairs[i].body_a, b = cache->pairs[i].body_b;
        if (!ok) scout->until[i] = -1.0;
        if (!ok || scout->end[i] == scout->first[i] || islands[a] == islands[b]) continue;
        if (cr__moves(step->model, a) && cr__moves(step->model, b)) cr__forest_join(islands, a, b);
    }
    return ok;
}

crStatus cr__step_scout(crStep* step, int* islands, crScout* scout, crError* error) {
    const crStepCache* cache = step->cache;
    crStatus status = begin_pairs(step, error);
    bool first = scout->room == NULL || scout->list != cache->lists;
    if (status == CR_OK && first) status = scout_begin(step, scout, error);
    Sink sink = {scout->contacts, first ? 0 : scout->count, scout->capacity, .arena = &step->scratch};
    bool shared = status == CR_OK && first && scout_shared(step, islands, scout, &sink);
    // pairs that pressed are likely to join, and then few of the others can
    for (int rest = first ? 0 : 1; rest < 2 && !shared; rest++) {
        for (int i = 0, cursor = 0; i < cache->pair_count && status == CR_OK; i++) {
            if (rest == 1 || pressed(step, &cache->pairs[i], &cursor))
                status = scout_pair(step, i, islands, scout, &sink, error);
        }
    }
    for (int k = 0; k < step->part_count; k++) {
        islands[step->part[k]] = cr__forest_find(islands, step->part[k]);
    }
    step->contacts = scout->contacts = sink.contacts;
    step->contact_count = scout->count = sink.count;
    scout->capacity = sink.capacity;
    return status;
}

crStatus cr__step_collide_after(crStep* step, crScout* scout, crError* error) {
    Stock none = {0};
    Sink sink = {.contacts = scout->room, .capacity = scout->room_count, .arena = &step->scratch};
    step->cache->scout = scout;
    crStatus status = collide_part(step, false, &none, &sink, error);
    step->cache->scout = NULL;
    if (status == CR_OK && step->contacts == scout->room) cr_arena_release(&step->scratch, scout->after);
    return status;
}

crStatus cr__step_collide_part(crStep* step, bool cross, crError* error) {
    Stock none = {0};
    Sink sink = {.arena = &step->scratch};
    return collide_part(step, cross, &none, &sink, error);
}

crStatus cr__step_collide_fresh(crStep* step, const bool* fresh, const crStepContact* contacts, int count,
                                crError* error) {
    Stock stock = {contacts, count, 0, fresh};
    Sink sink = {.arena = &step->scratch};
    return collide_part(step, true, &stock, &sink, error);
}

crStatus cr__step_collide_pair(crStep* step, int pair, crError* error) {
    Sink sink = {.arena = &step->scratch};
    step->cache->trailed = false;
    crStatus status = add_pair(step, &step->cache->pairs[pair], &sink, error);
    step->contacts = sink.contacts;
    step->contact_count = sink.count;
    return status;
}

crStatus cr_step_collide(crStep* step, double margin, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    if (!isfinite(margin)) {
        return cr_error_set(error, CR_ERR_FINITE, "margin", "margin: is %g, must be finite", margin);
    }
    step->cache->flat = fmax(0.0, margin);
    for (int b = 0; b < step->model->nb; b++) {
        step->cache->margin[b] = cr__moves(step->model, b) ? step->cache->flat : 0.0;
    }
    return cr__step_collide_part(step, false, error);
}
