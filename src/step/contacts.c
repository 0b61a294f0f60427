// contacts.c - from shapes and poses to contacts: broad phase, pairs, surfaces, frames, speeds.
//
// Pairs that never meet: shapes of two bodies that no velocity moves, and what cr_model_meet says. Contacts
// come sorted by (shapes, children, features), whatever the history and the number of threads. A body is in
// the air where nothing touches it within the deadband, or only what it leaves faster than the threshold:
// then its flight is exact, else it is supported.
// Fails: CR_ERR_MEMORY; what the broad phase or a material says.
#include <limits.h>
#include <string.h>

#include "base/tasks.h"
#include "collide/manifold.h"
#include "model/single.h"
#include "step/cache.h"

#define CHUNK 64                             // pairs that one thread takes at a time
#define ROOM  (CHUNK * CR_MANIFOLD_MAX / 2)  // and contacts they may have
#define SURE  1e-5                           // of a pair's size: what rounding may make of distances

crTwist cr__step_twist(const crStep* step, const double* v, int body) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    if (model->bodies[body].single) return cr__single_twist(v + model->bodies[body].v);
    crTwist twist = d->given[body];
    for (int j = model->bodies[body].last; j >= 0; j = model->dof_parent[j]) {
        twist = cr__twist_madd(twist, v[j], d->axis[j]);
    }
    return twist;
}

crVec3 cr__step_point_velocity(const crStep* step, const double* v, int body, crVec3 point) {
    return cr__twist_at(cr__step_twist(step, v, body), cr_sub(point, step->dynamics.origin[body]));
}

double cr__step_pair_size(const crStep* step, int a, int b) {
    const crModel* model = step->model;
    bool both = cr__moves(model, a) && cr__moves(model, b);
    return both ? fmin(step->size[a], step->size[b]) : fmax(step->size[a], step->size[b]);
}

crVec3 cr__step_common_plane(const crStep* step, int a, int b) {
    crVec3 none = cr_vec3(0, 0, 0);
    if (!step->cache->planes) return none;
    bool moves_a = cr__moves(step->model, a), moves_b = cr__moves(step->model, b);
    crVec3 na = step->plane[a], nb = step->plane[b];
    if (moves_a && moves_b) {
        bool same = cr_norm(na) > 0.0 && cr_norm(nb) > 0.0 && cr_norm(cr_cross(na, nb)) <= 1e-12;
        return same ? na : none;
    }
    return moves_a ? na : nb;
}

// *apart as cr__collide has it
static int collide_shapes(const crStep* step, int sa, int sb, crPose pose_a, crPose pose_b, double margin,
                          crContactPoint* points, int capacity, int* needed, double* apart) {
    const crBodyShape* a = &step->model->shapes[sa];
    const crBodyShape* b = &step->model->shapes[sb];
    crVec3 axis = cr__step_common_plane(step, a->body, b->body);
    *apart = -INFINITY;
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
    return cr__collide(&a->shape, &pose_a, &b->shape, &pose_b, margin, points, capacity, needed, apart);
}

int cr__step_pair(const crStep* step, int shape_a, int shape_b, crPose pose_a, crPose pose_b, double margin,
                  crContactPoint* points, int capacity, int* needed) {
    double apart;
    return collide_shapes(step, shape_a, shape_b, pose_a, pose_b, margin, points, capacity, needed, &apart);
}

static crMat3 planar_frame(crVec3 n, crVec3 axis) {
    crVec3 t = cr_cross(axis, n);
    return cr_mat3_columns(n, cr_scale(1.0 / cr_norm(t), t), cr_cross(n, cr_scale(1.0 / cr_norm(t), t)));
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

crMat3 cr__step_frame(const crStep* step, const crStepContact* c) {
    crVec3 n = c->point.normal;
    if (c->planar) return planar_frame(n, cr__step_common_plane(step, c->body_a, c->body_b));
    if (c->surface->axis_of < 0) return cr_frame(n);
    int body = c->surface->axis_of == 0 ? c->body_a : c->body_b;
    return cr_surface_frame(n, cr_quat_rotate(step->dynamics.pose[body].q, c->surface->surface.axis));
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
                       crContactPoint* points, int capacity, int* needed, double* apart) {
    const crPose* pose = step->dynamics.pose;
    if (!late && !step->cache->planes) {
        const crBodyShape* shapes = step->model->shapes;
        int count = cr__ball_contact(&shapes[pair->shape_a].shape, &pose[pair->body_a],
                                     &shapes[pair->shape_b].shape, &pose[pair->body_b], margin, points);
        *apart = points->gap;
        if (count >= 0) return *needed = count;
    }
    crPose a = late ? cr__step_pose_now(step, pair->body_a) : pose[pair->body_a];
    crPose b = late ? cr__step_pose_now(step, pair->body_b) : pose[pair->body_b];
    return collide_shapes(step, pair->shape_a, pair->shape_b, a, b, margin, points, capacity, needed, apart);
}

// how far each body has come since all pairs were last looked at; turned by phi its points go
// 2 sin(phi / 2) of their distance at most, which is less than 2 |q+ - q|
static void follow_trails(crStep* step) {
    const crDynamics* d = &step->dynamics;
    for (int b = 1; b < step->model->nb; b++) {
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
    double margin = cache->margin[pair->body_a] + cache->margin[pair->body_b], distance = -INFINITY;
    if (cache->flat >= 0.0) margin = cache->flat;
    // since they were last looked at they cannot have come so near
    if (cache->trailed && pair->clear - trails(cache, pair) > margin + SURE * pair->size) return CR_OK;
    if (apart(&cache->now[pair->shape_a], &cache->now[pair->shape_b])) return CR_OK;
    if (!active(step, pair->body_a) && !active(step, pair->body_b)) return CR_OK;
    crContactPoint few[16];
    crContactPoint* points = few;
    int needed = 0;
    bool late = is_late(step, pair->body_a) || is_late(step, pair->body_b);
    int count = pair_points(step, pair, late, margin, few, 16, &needed, &distance);
    if (cache->trailed) pair->clear = count == 0 ? distance + trails(cache, pair) : -INFINITY;
    if (needed > 16 && sink->arena == NULL) return CR_ERR_LIMIT;
    if (needed > 16) {
        points = cr_arena_alloc(sink->arena, (size_t)needed * sizeof *points);
        if (points == NULL) return cr__step_memory(error);
        count = pair_points(step, pair, late, margin, points, needed, &needed, &distance);
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

static crStatus add_pairs(const crStep* step, int begin, int end, Sink* sink, crError* error) {
    crStatus status = CR_OK;
    for (int i = begin; i < end && status == CR_OK; i++) {
        status = add_pair(step, &step->cache->pairs[i], sink, error);
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

// bodies of the contacts from this one on are supported where they touch
static void support(const crStep* step, const Sink* sink, int from) {
    double threshold = fmax(step->settings.threshold, 1e-12);
    for (int i = from; i < sink->count; i++) {
        const crStepContact* c = &sink->contacts[i];
        if (c->point.gap > c->delta || c->speed >= threshold) continue;
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
typedef struct Share {
    const crStep* step;
    Sink* chunk;
    crStatus* status;
} Share;

static void add_chunk(void* ctx, int begin, int end) {
    const Share* share = ctx;
    int i = begin / CHUNK;
    share->status[i] = add_pairs(share->step, begin, end, &share->chunk[i], NULL);
}

// what a chunk found, or where it had no room for it, its pairs once more
static bool put_chunk(const crStep* step, int begin, int end, const Sink* from, crStatus status, Sink* sink) {
    if (status == CR_ERR_LIMIT) return add_pairs(step, begin, end, sink, NULL) == CR_OK;
    if (status != CR_OK || reserve(sink, from->count, NULL) != CR_OK) return false;
    memcpy(sink->contacts + sink->count, from->contacts, (size_t)from->count * sizeof *from->contacts);
    sink->count += from->count;
    return true;
}

// contacts of all pairs by several threads, in the order of pairs; false: not this way, nothing is added
static bool add_shared(crStep* step, Sink* sink) {
    int pairs = step->cache->pair_count, chunks = (pairs + CHUNK - 1) / CHUNK;
    size_t mark = cr_arena_mark(&step->scratch), room = (size_t)chunks * ROOM;
    Share share = {.step = step};
    crStepContact* contacts = cr_arena_alloc(&step->scratch, room * sizeof *contacts);
    share.chunk = cr_arena_alloc(&step->scratch, (size_t)chunks * sizeof *share.chunk);
    share.status = cr_arena_alloc(&step->scratch, (size_t)chunks * sizeof *share.status);
    bool ok = contacts != NULL && share.chunk != NULL && share.status != NULL;
    for (int i = 0; i < chunks && ok; i++) {
        share.chunk[i] = (Sink){.contacts = contacts + (size_t)i * ROOM, .capacity = ROOM};
    }
    if (ok) cr__tasks_for(step->tasks, pairs, CHUNK, add_chunk, &share);
    sink->fixed = true;
    for (int i = 0; i < chunks && ok; i++) {
        int end = (i + 1) * CHUNK < pairs ? (i + 1) * CHUNK : pairs;
        int from = sink->count;
        ok = put_chunk(step, i * CHUNK, end, &share.chunk[i], share.status[i], sink);
        if (ok) support(step, sink, from);
    }
    sink->fixed = false;
    if (!ok) sink->count = 0;
    cr_arena_release(&step->scratch, mark);
    return ok;
}

// ascending; many that lie close together by one bit each, which is what they are sorted by
static crStatus sort_places(crStep* step, int* places, int count) {
    int lowest = INT_MAX, highest = 0;
    for (int i = 0; i < count; i++) {
        if (places[i] < lowest) lowest = places[i];
        if (places[i] > highest) highest = places[i];
    }
    if (count < 32 || (highest - lowest) / 64 > 4 * count) {
        cr__step_sort(places, count);
        return CR_OK;
    }
    size_t mark = cr_arena_mark(&step->scratch);
    int words = (highest - lowest) / 64 + 1, found = 0;
    uint64_t* bits = cr_arena_alloc(&step->scratch, (size_t)words * sizeof *bits);
    if (bits == NULL) return CR_ERR_MEMORY;
    memset(bits, 0, (size_t)words * sizeof *bits);
    for (int i = 0; i < count; i++) {
        bits[(places[i] - lowest) / 64] |= UINT64_C(1) << ((places[i] - lowest) % 64);
    }
    for (int w = 0; w < words; w++) {
        for (int k = 0; bits[w] >> k != 0; k++) {
            if ((bits[w] >> k & 1) != 0) places[found++] = lowest + 64 * w + k;
            if (k == 63) break;
        }
    }
    cr_arena_release(&step->scratch, mark);
    return CR_OK;
}

// places of the part's pairs in the list, ascending, each once
static int* pairs_of_part(crStep* step, bool cross, int* count) {
    crStepCache* cache = step->cache;
    int room = 0, found = 0;
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        cache->mark[b] = 1;
        room += cache->first_pair[b + 1] - cache->first_pair[b];
    }
    int* places = cr_arena_alloc(&step->scratch, (size_t)(room + 1) * sizeof *places);
    for (int k = 0; k < step->part_count && places != NULL; k++) {
        int b = step->part[k];
        for (int i = cache->first_pair[b]; i < cache->first_pair[b + 1]; i++) {
            const crNear* pair = &cache->pairs[cache->pair_of[i]];
            int other = pair->body_a == b ? pair->body_b : pair->body_a;
            bool both = cache->mark[other] != 0, moves = cr__moves(step->model, other);
            // a pair of two bodies of the part is met twice: the first time counts
            if (moves && both ? pair->body_a != b : moves && !cross) continue;
            places[found++] = cache->pair_of[i];
        }
    }
    for (int k = 0; k < step->part_count; k++) {
        cache->mark[step->part[k]] = 0;
    }
    if (places != NULL && sort_places(step, places, found) != CR_OK) return NULL;
    *count = found;
    return places;
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
    int* places = pairs_of_part(step, cross, &count);
    if (places == NULL) return cr__step_memory(error);
    crStatus status = CR_OK;
    for (int i = 0; i < count && status == CR_OK; i++) {
        crNear* pair = &cache->pairs[places[i]];
        bool keeps = stock->fresh != NULL && !stock->fresh[pair->body_a] && !stock->fresh[pair->body_b];
        status = keeps ? keep_pair(pair, stock, sink, error) : add_pair(step, pair, sink, error);
    }
    return status;
}

static crStatus collide_part(crStep* step, bool cross, Stock* stock, crError* error) {
    crStepCache* cache = step->cache;
    step->contact_count = 0;
    step->contacts = NULL;
    Sink sink = {.arena = &step->scratch};
    bool reads_et, whole = step->part == cache->whole;
    crStatus status = cr__step_velocity(step, step->state.v);
    if (status != CR_OK) return cr__step_memory(error);
    status = cr__step_near(step, error);
    // bodies that are late are not where they are looked at
    cache->trailed = whole && !(cache->now_at > 0.0);
    if (cache->trailed) follow_trails(step);
    cache->plastic =
        cache->flat < 0.0 && !cache->bouncing && cr__step_solves_alike(&step->settings, &reads_et);
    if (status == CR_OK && whole) {
        begin_airborne(step);
        // as many as there were last and some: arrays that were too small stay in the arena
        int last = cache->contacts_last > step->warm_count ? cache->contacts_last : step->warm_count;
        status = reserve(&sink, last + last / 8, error);
        bool shared = step->tasks != NULL && cache->pair_count > 2 * CHUNK;
        if (status == CR_OK && !(shared && add_shared(step, &sink))) {
            status = add_all(step, &sink, error);
        }
    } else if (status == CR_OK) {
        status = add_part(step, cross, stock, &sink, error);
        // only now: the flights of those that are late were needed
        begin_airborne(step);
        support(step, &sink, 0);
    }
    step->contacts = sink.contacts;
    step->contact_count = sink.count;
    if (whole) cache->contacts_last = step->contact_count;
    if (step->contact_count > step->certificate.contacts) step->certificate.contacts = step->contact_count;
    return status;
}

crStatus cr__step_collide_part(crStep* step, bool cross, crError* error) {
    Stock none = {0};
    return collide_part(step, cross, &none, error);
}

crStatus cr__step_collide_fresh(crStep* step, const bool* fresh, const crStepContact* contacts, int count,
                                crError* error) {
    Stock stock = {contacts, count, 0, fresh};
    return collide_part(step, true, &stock, error);
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
    if (!isfinite(margin)) {
        return cr_error_set(error, CR_ERR_FINITE, "margin", "margin: is %g, must be finite", margin);
    }
    step->cache->flat = fmax(0.0, margin);
    for (int b = 0; b < step->model->nb; b++) {
        step->cache->margin[b] = cr__moves(step->model, b) ? step->cache->flat : 0.0;
    }
    return cr__step_collide_part(step, false, error);
}
