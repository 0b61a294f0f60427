// pairs.c - which shapes are near: boxes with room to move, the list of pairs they make, its index by body.
//
// A body's margin is what its points can travel in h, by the larger of its speeds at v and v_free, plus the
// deadband, the cluster tolerance and a fiftieth of its size. Where the contact solve takes landings too,
// what is slow may be pushed by what is fast: there all of an island travel as far as the fastest of it. The
// broad phase holds boxes larger than margins ask for; while every shape stays in its own, the list of pairs
// stands and costs nothing. The list is sorted and contacts are taken by their gaps alone, so that no result
// depends on which boxes were told. Pairs that never meet: see contacts.c.
// Fails: CR_ERR_FINITE where a body would move farther in h than settings.bound; CR_ERR_MEMORY; what the
// broad phase or a material says.
#include <limits.h>
#include <string.h>

#include "step/cache.h"

#define ROOM 0.05  // of a body's size, beyond its margin
#define PUSH 0.02  // of a body's size, in its margin; half of it for what slow neighbours may add

static double speed_by(const crStep* step, crTwist twist, int i) {
    const crDynamics* d = &step->dynamics;
    crVec3 u = cr__twist_at(twist, cr_sub(d->com[i], d->origin[i]));
    return cr_norm(u) + cr_norm(twist.omega) * step->size[i];
}

double cr__step_speed(const crStep* step, const double* v, int i) {
    const crBody* body = &step->model->bodies[i];
    if (body->single)
        return cr_norm(cr__load_vec(v + body->v)) + cr_norm(cr__load_vec(v + body->v + 3)) * step->size[i];
    return speed_by(step, cr__step_twist(step, v, i), i);
}

// speed by v of a body whose carrier, where it has one, came before it; fields of trees are kept in `of`
static double next_speed(const crStep* step, const double* v, int i, crTwist* of) {
    const crBody* body = &step->model->bodies[i];
    v = body->single ? v + body->v : v;
    if (body->single) return cr_norm(cr__load_vec(v)) + cr_norm(cr__load_vec(v + 3)) * step->size[i];
    const crDynamics* d = &step->dynamics;
    crTwist twist = cr__moves(step->model, body->parent) ? of[body->parent] : d->given[i];
    for (int j = body->v; j < body->v + body->nv; j++) {
        twist = cr__twist_madd(twist, v[j], d->axis[j]);
    }
    of[i] = twist;
    return speed_by(step, twist, i);
}

static double larger(double a, double b) { return a > b ? a : b; }

// margin beyond what a body travels
static double room_of(const crStep* step, int b) {
    return (step->settings.deadband + PUSH) * step->size[b] + step->settings.cluster;
}

crStatus cr__step_margins(crStep* step, double h, crError* error) {
    crStepCache* cache = step->cache;
    crDynamics* d = &step->dynamics;
    cache->flat = -1.0;
    cache->margin[CR_WORLD] = 0.0;
    double most = 0.0, least = INFINITY;
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        bool moves = cr__moves(step->model, b);
        double speed = next_speed(step, step->state.v, b, d->twist), room = room_of(step, b);
        if (moves) speed = larger(speed, next_speed(step, step->v_free, b, d->rate));
        if (!(h * speed <= step->settings.bound)) return cr__step_lost(step, b, "speed", speed, error);
        double margin = cache->margin[b] = h * speed + room;
        if (!moves) continue;
        most = larger(most, margin - room);
        least = margin - 0.5 * room < least ? margin - 0.5 * room : least;
    }
    cache->even = most <= least;
    for (int b = 1; b < step->model->nb && step->certificate.asleep > 0; b++) {
        if (step->sleep[b].island != 0) cache->margin[b] = room_of(step, b);
    }
    return CR_OK;
}

bool cr__step_share_margins(crStep* step, int* islands, double* way) {
    crStepCache* cache = step->cache;
    const crModel* model = step->model;
    bool more = false;
    for (int b = 0; b < model->nb; b++) {
        way[b] = 0.0;
    }
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        if (!cr__moves(model, b)) continue;
        double* most = &way[islands[b]];
        *most = fmax(*most, cache->margin[b] - room_of(step, b));
    }
    // where rules resolve impacts, margins are looked at again after each
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (c->bounces) way[islands[cr__moves(model, c->body_a) ? c->body_a : c->body_b]] = 0.0;
    }
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        if (!cr__moves(model, b) || way[islands[b]] <= cache->margin[b] - 0.5 * room_of(step, b)) continue;
        cache->margin[b] = way[islands[b]] + room_of(step, b);
        more = true;
    }
    return more;
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
static bool stays(crStep* step, int s) {
    crStepCache* cache = step->cache;
    const crBodyShape* shape = &step->model->shapes[s];
    crBounds bounds = cr_shape_bounds(&shape->shape, step->dynamics.pose[shape->body]);
    cache->now[s] = grown(bounds, cache->margin[shape->body]);
    return cache->spread && inside(&cache->now[s], &cache->box[s]);
}

// a new box for the broad phase where a shape left the old
static crStatus set_box(crStep* step, int s, crError* error) {
    crStepCache* cache = step->cache;
    if (stays(step, s)) return CR_OK;
    int body = step->model->shapes[s].body;
    crBounds box = grown(cache->now[s], ROOM * step->size[body] + 2.0 * cache->margin[body]);
    cache->listed = false;
    int group = cr__moves(step->model, body) ? body : CR_WORLD;
    crStatus status = cr_broad_set(step->broad, s, box, group, error);
    if (status == CR_OK) cache->box[s] = box;
    return status;
}

static crStatus set_boxes(crStep* step, int body, crError* error) {
    const crStepCache* cache = step->cache;
    crStatus status = CR_OK;
    for (int i = cache->first_shape[body]; i < cache->first_shape[body + 1] && status == CR_OK; i++) {
        status = set_box(step, cache->body_shapes[i], error);
    }
    return status;
}

static crStatus find_left(crStep* step, crPart part, crDynamics* d, void* ctx) {
    crStepCache* cache = step->cache;
    (void)d;
    (void)ctx;
    for (int k = 0; k < part.count; k++) {
        int b = cr__part_body(part, k);
        cache->left[b] = false;
        for (int i = cache->first_shape[b]; i < cache->first_shape[b + 1]; i++) {
            if (!stays(step, cache->body_shapes[i])) cache->left[b] = true;
        }
    }
    return CR_OK;
}

// boxes of the part: all are looked at by several threads, few leave theirs
static crStatus set_part(crStep* step, crError* error) {
    if (cr__step_by_bodies(step, find_left, NULL) != CR_OK) return cr__step_memory(error);
    crStatus status = CR_OK;
    for (int k = 0; k < step->part_count && status == CR_OK; k++) {
        if (step->cache->left[step->part[k]]) status = set_boxes(step, step->part[k], error);
    }
    return status;
}

static bool tied(const crStep* step, int a, int b) {
    const crStepCache* cache = step->cache;
    for (int i = cache->first_tie[a]; i < cache->first_tie[a + 1]; i++) {
        const crLoop* loop = &step->model->loops[cache->ties[i]];
        if (loop->kind == CR_LOOP_JOINT || cr_loop_ranges(loop)) continue;
        if (loop->a == b || loop->b == b) return true;
    }
    return false;
}

int cr__step_surface(crStep* step, int a, int b) {
    crStepCache* cache = step->cache;
    int* index = &cache->surface_of[a * step->model->material_count + b];
    if (*index >= 0) return *index;
    void* surfaces = cache->surfaces;
    crStatus status = cr__step_grow(&step->allocator, &surfaces, &cache->surface_capacity,
                                    cache->surface_count, cache->surface_count + 1, sizeof *cache->surfaces);
    cache->surfaces = surfaces;
    if (status != CR_OK) return status;
    crNearSurface* kept = cr_arena_alloc(&step->store, sizeof *kept);
    if (kept == NULL) return CR_ERR_MEMORY;
    crNearSurface made = {.material_a = a, .material_b = b};
    status = cr_model_surface(step->model, a, b, 0.0, &made.at_rest);
    if (status != CR_OK) return status;
    const crMaterial* m = step->model->materials;
    made.by_speed = m[a].surface.e_of_speed != NULL || m[b].surface.e_of_speed != NULL;
    for (int i = 0; i < step->model->pair_count; i++) {
        const crMaterialPair* p = &step->model->pairs[i];
        bool this = (p->a == a && p->b == b) || (p->a == b && p->b == a);
        if (this) made.by_speed = p->surface.e_of_speed != NULL;
    }
    const crSurface* s = &made.at_rest.surface;
    bool reads_et;
    cr__step_solves_alike(&step->settings, &reads_et);
    made.bounces = made.by_speed || s->e != 0.0 || (reads_et && s->et != 0.0);
    cache->bouncing = cache->bouncing || made.bounces;
    *kept = made;
    cache->surfaces[cache->surface_count] = kept;
    *index = cache->surface_count++;
    return *index;
}

static crStatus index_pairs(crStep* step) {
    crStepCache* cache = step->cache;
    const crModel* model = step->model;
    void* pair_of = cache->pair_of;
    crStatus status = cr__step_grow(&step->allocator, &pair_of, &cache->pair_of_capacity, 0,
                                    2 * cache->pair_count, sizeof *cache->pair_of);
    cache->pair_of = pair_of;
    if (status != CR_OK) return status;
    int* first = cache->first_pair;
    memset(first, 0, (size_t)(model->nb + 1) * sizeof *first);
    for (int i = 0; i < cache->pair_count; i++) {
        first[cache->pairs[i].body_a]++;
        first[cache->pairs[i].body_b]++;
    }
    // counts to ends; filling from the back turns ends into starts and keeps pairs ascending
    for (int b = 0, sum = 0; b <= model->nb; b++) {
        int count = b < model->nb && cr__moves(model, b) ? first[b] : 0;
        sum += count;
        first[b] = sum;
    }
    for (int i = cache->pair_count - 1; i >= 0; i--) {
        int a = cache->pairs[i].body_a, b = cache->pairs[i].body_b;
        if (cr__moves(model, a)) cache->pair_of[--first[a]] = i;
        if (cr__moves(model, b)) cache->pair_of[--first[b]] = i;
    }
    return CR_OK;
}

// times that stand for pairs of the old list, under their new places
static crStatus keep_times(crStep* step, const crNear* old, int old_count) {
    crStepCache* cache = step->cache;
    size_t mark = cr_arena_mark(&step->scratch);
    double* was = cr_arena_alloc(&step->scratch, (size_t)(old_count + 1) * sizeof *was);
    void* when = cache->when;
    crStatus status = cr__step_grow(&step->allocator, &when, &cache->when_capacity, old_count,
                                    cache->pair_count, sizeof *cache->when);
    cache->when = when;
    if (status != CR_OK || was == NULL) return CR_ERR_MEMORY;
    if (old_count > 0) memcpy(was, cache->when, (size_t)old_count * sizeof *was);
    for (int i = 0, j = 0; i < cache->pair_count; i++) {
        const crNear* p = &cache->pairs[i];
        while (j < old_count && (old[j].shape_a < p->shape_a ||
                                 (old[j].shape_a == p->shape_a && old[j].shape_b < p->shape_b))) {
            j++;
        }
        bool same = j < old_count && old[j].shape_a == p->shape_a && old[j].shape_b == p->shape_b;
        cache->when[i] = same ? was[j] : INFINITY;
        if (same) {
            cache->pairs[i].alarms = old[j].alarms;
            cache->pairs[i].exact = old[j].exact;
            cache->pairs[i].clear = old[j].clear;
        }
    }
    cr_arena_release(&step->scratch, mark);
    cache->reheap = true;
    return CR_OK;
}

static bool single(const crModel* model, int body) {
    return model->bodies[body].single || !cr__moves(model, body);
}

static bool is_packable(const crStep* step, int surface, int a, int b) {
    const crSurface* s = &step->cache->surfaces[surface]->at_rest.surface;
    bool round = s->vertex_count == 0 && isfinite(s->mu) && (isnan(s->mu2) || s->mu2 == s->mu) &&
                 s->mu_spin == 0.0 && s->mu_roll == 0.0;
    return round && single(step->model, a) && single(step->model, b);
}

// whether two shapes that move in parallel planes are apart across them, and so for ever
static bool pass_by(const crStep* step, const crBodyShape* a, const crBodyShape* b) {
    crVec3 axis = cr__step_common_plane(step, a->body, b->body);
    if (!(cr_dot(axis, axis) > 0.0)) return false;
    // turned so that the axis is x
    crPose turn = {cr_vec3(0, 0, 0), cr_quat_conj(cr__rotation_of(cr_frame(axis)))};
    const crPose* pose = step->dynamics.pose;
    crBounds of_a = cr_shape_bounds(&a->shape, cr__pose_mul(turn, pose[a->body]));
    crBounds of_b = cr_shape_bounds(&b->shape, cr__pose_mul(turn, pose[b->body]));
    double delta = 2.0 * step->settings.deadband * cr__step_pair_size(step, a->body, b->body);
    return of_a.lo.x - of_b.hi.x > delta || of_b.lo.x - of_a.hi.x > delta;
}

static crStatus list_pairs(crStep* step) {
    crStepCache* cache = step->cache;
    const crModel* model = step->model;
    const crPair* found;
    // a list that failed half way has fewer times than pairs
    int count, old_count = cache->pair_count;
    if (old_count > cache->when_capacity) old_count = cache->when_capacity;
    size_t mark = cr_arena_mark(&step->scratch);
    crNear* old = cr_arena_alloc(&step->scratch, (size_t)(old_count + 1) * sizeof *old);
    if (old == NULL) return CR_ERR_MEMORY;
    if (old_count > 0) memcpy(old, cache->pairs, (size_t)old_count * sizeof *old);
    crStatus status = cr_broad_pairs(step->broad, &found, &count);
    void* pairs = cache->pairs;
    if (status == CR_OK) {
        status = cr__step_grow(&step->allocator, &pairs, &cache->pair_capacity, old_count, count,
                               sizeof *cache->pairs);
        cache->pairs = pairs;
    }
    if (status != CR_OK) return status;
    cache->pair_count = 0;
    cache->lists++;
    for (int i = 0; i < count; i++) {
        const crBodyShape* a = &model->shapes[found[i].a];
        const crBodyShape* b = &model->shapes[found[i].b];
        if (!cr__meet_but_for_loops(model, found[i].a, found[i].b) || tied(step, a->body, b->body)) continue;
        if (cache->planes && pass_by(step, a, b)) continue;
        int surface = cr__step_surface(step, a->material, b->material);
        if (surface < 0) return (crStatus)surface;
        crNear near = {.shape_a = found[i].a, .shape_b = found[i].b, .body_a = a->body, .body_b = b->body};
        near.surface = surface;
        near.packable = is_packable(step, surface, a->body, b->body);
        near.size = cr__step_pair_size(step, a->body, b->body);
        near.clear = -INFINITY;
        cache->pairs[cache->pair_count++] = near;
    }
    status = keep_times(step, old, old_count);
    cr_arena_release(&step->scratch, mark);
    return status == CR_OK ? index_pairs(step) : status;
}

crStatus cr__step_near(crStep* step, crError* error) {
    crStepCache* cache = step->cache;
    const crModel* model = step->model;
    crStatus status = CR_OK;
    for (int s = 0; s < model->shape_count && !cache->spread && status == CR_OK; s++) {
        status = set_box(step, s, error);
    }
    if (cache->spread && status == CR_OK) status = set_part(step, error);
    // margins of what sleeps may have changed
    bool sleepers = step->certificate.asleep > 0 && step->part == cache->whole && cache->spread;
    for (int b = 1; b < model->nb && sleepers && status == CR_OK; b++) {
        if (step->sleep[b].island != 0) status = set_boxes(step, b, error);
    }
    if (status != CR_OK) return status;
    cache->spread = true;
    if (cache->listed) return CR_OK;
    status = list_pairs(step);
    cache->listed = status == CR_OK;
    if (status == CR_ERR_LIMIT)
        return cr_error_set(error, status, "pairs", "pairs: too many bodies are piled into each other");
    return status == CR_OK ? CR_OK : cr_error_set(error, status, "pairs", "%s", cr_status_text(status));
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

int* cr__step_pairs_of_part(crStep* step, bool cross, int* count) {
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
