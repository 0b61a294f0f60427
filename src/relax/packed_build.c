// packed_build.c - sorts contacts into groups: units of one pair, colours, and the numbers of each lane.
//
//     K = -[r] R^T,   D = (s_a^2 + s_b^2) 1 + K_a K_a^T + K_b K_b^T
//     w = n^T D n,   c = T^T D n / w,   S = T^T D T - w c c^T      (T = t1, t2; see packed_visit.h)
//     balls:      rho = r.n / sqrt(I),   w = s_a^2 + s_b^2,   w_t = w + rho_a^2 + rho_b^2
//
// Units get colours in the order of contacts. Within a colour they are sorted by kind, by the number of
// moving bodies and by the number of contacts, so the lanes of a group are alike. Unused lanes repeat the
// first one with body place 0. A body that does not move is no vertex of the colouring; the other body is
// then b, and signs change if it is a of the contact.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "base/room.h"
#include "model/single.h"
#include "relax/packed_slot.h"
#include "relax/units.h"

#define KINDS   ((CR_KIND_BALL + 1) * 2 * CR_UNIT_CONTACTS)  // buckets per colour
#define BUCKETS ((CR_COLOURS + 1) * KINDS)
#define GROUPS  32   // groups per task
#define BODIES  256  // bodies per task
#define CHUNK   512  // contacts per task

// contacts first to first + count - 1 of one pair of shapes
typedef struct Unit {
    int first, count;
    int a, b;  // places of the bodies in z; a = 0 if only one moves
    crKind kind;
    int bucket;
} Unit;

typedef struct Build {
    const crInertias* of;
    crPacked* packed;
    const int* island;  // of each body
    const double* v;
    double* share;  // 1/sqrt(m) of each packed body (bodies)
    bool* round;    // true for packed bodies with three equal moments of inertia (bodies)
    Unit* unit;     // each unit at the index of its first contact (count)
} Build;

static int body_at(const crPacked* p, int place) { return p->body[place / CR_BODY_STRIDE - 1]; }

// Gives a body the next place if it moves and has none yet.
static void number_body(Build* build, int body) {
    crPacked* p = build->packed;
    if (p->place[body] != 0 || !cr__moves(build->of->model, body)) return;
    p->body[p->bodies] = body;
    p->body_island[p->bodies++] = build->island[body];
    p->place[body] = CR_BODY_STRIDE * p->bodies;
}

// Sets z to M^(1/2) v of a single body.
static void coordinates(const crInertias* of, int body, const double* v, double* z) {
    const crBody* b = &of->model->bodies[body];
    single_coordinates(b->mass, &of->d->root[body], &of->d->inertia[body], v + b->v, z);
    z[6] = z[7] = 0.0;
}

typedef struct Coordinates {
    const crPacked* packed;
    const crInertias* of;
    const double* v;
    double* z;
} Coordinates;

static void coordinates_range(void* ctx, int begin, int end) {
    const Coordinates* c = ctx;
    for (int i = begin; i < end; i++) {
        coordinates(c->of, c->packed->body[i], c->v, c->z + CR_BODY_STRIDE * (i + 1));
    }
}

void cr__packed_coordinates(const crPacked* p, const crInertias* of, const double* v, double* z) {
    memset(z, 0, CR_BODY_STRIDE * sizeof *z);
    cr__tasks_for(of->tasks, p->bodies, BODIES, coordinates_range, &(Coordinates){p, of, v, z});
}

// Sets z_free and share of the packed bodies begin to end - 1.
static void fill_bodies(void* ctx, int begin, int end) {
    const Build* build = ctx;
    for (int i = begin; i < end; i++) {
        int body = build->packed->body[i];
        coordinates(build->of, body, build->v, build->packed->z_free + CR_BODY_STRIDE * (i + 1));
        build->share[i] = 1.0 / sqrt(build->of->model->bodies[body].mass);
        build->round[i] = cr__single_round(&build->of->model->bodies[body]);
    }
}

// Numbers the bodies of the contacts, the single bodies that rows reach, and trees; sets z_free and z.
// CR_ERR_MEMORY.
static crStatus number_bodies(Build* build) {
    crPacked* p = build->packed;
    const crModel* model = build->of->model;
    crArena* arena = build->of->arena;
    size_t most = (size_t)(model->nb < 2 * p->count ? model->nb : 2 * p->count) + 1;
    if (p->units != NULL) most = (size_t)(model->nb + p->units->places) + 1;
    if (!CR_ROOMS(arena, CR_ZERO(p->place, model->nb), CR_ROOM(p->body, most), CR_ROOM(p->body_island, most),
                  CR_ROOM(build->share, most), CR_ROOM(build->round, most),
                  CR_ROOM(p->z, CR_BODY_STRIDE * most), CR_ROOM(p->z_free, CR_BODY_STRIDE * most)))
        return CR_ERR_MEMORY;
    memset(p->z_free, 0, CR_BODY_STRIDE * sizeof(double));
    for (int i = 0; i < p->count; i++) {
        if (i > 0 && cr__packed_same_pair(&p->contact[i - 1], &p->contact[i])) continue;
        number_body(build, p->contact[i].body_a);
        number_body(build, p->contact[i].body_b);
    }
    for (int i = 0; p->units != NULL && i < p->units->count; i++) {
        const crRowUnit* unit = &p->units->unit[i];
        for (int k = 0; k < unit->width; k++) {
            int body = model->velocity.body[unit->col[k]];
            if (model->bodies[body].single) number_body(build, body);
        }
    }
    cr__tasks_for(p->tasks, p->bodies, BODIES, fill_bodies, build);
    crStatus status = CR_OK;
    if (p->units != NULL) status = cr__units_place(build->of, build->island, build->v, p->units, p);
    cr__tasks_copy(p->tasks, p->z, p->z_free, CR_BODY_STRIDE * (size_t)(p->bodies + 1));
    return status;
}

static bool is_round(const Build* build, int place) { return build->round[place / CR_BODY_STRIDE - 1]; }

// Returns the kind of a unit whose contacts and places are set.
static crKind kind_of(const Build* build, const Unit* unit) {
    const crPacked* p = build->packed;
    if (!is_round(build, unit->b) || (unit->a > 0 && !is_round(build, unit->a))) return CR_KIND_ANY;
    const crVec3* origin = build->of->d->origin;
    crVec3 b = origin[body_at(p, unit->b)], a = unit->a > 0 ? origin[body_at(p, unit->a)] : b;
    for (int i = unit->first; i < unit->first + unit->count; i++) {
        const crPackedContact* c = &p->contact[i];
        if (!is_along(c->normal, cr_sub(c->point, b)) || !is_along(c->normal, cr_sub(c->point, a)) ||
            !is_along(c->normal, c->E)) {
            return CR_KIND_ROUND;
        }
    }
    return CR_KIND_BALL;
}

// Cuts the pairs whose first contact is among begin to end - 1 into units.
static void cut_range(void* ctx, int begin, int end) {
    const Build* build = ctx;
    const crPacked* p = build->packed;
    const crPackedContact* c = p->contact;
    int i = begin;
    while (i > 0 && i < end && cr__packed_same_pair(&c[i - 1], &c[i])) {
        i++;
    }
    for (int next = i; i < end; i = next) {
        while (next < p->count && cr__packed_same_pair(&c[i], &c[next])) {
            next++;
        }
        for (int k = i; k < next; k += CR_UNIT_CONTACTS) {
            int count = next - k < CR_UNIT_CONTACTS ? next - k : CR_UNIT_CONTACTS;
            Unit unit = {.first = k, .count = count, .a = p->place[c[k].body_a], .b = p->place[c[k].body_b]};
            if (unit.b == 0) {
                unit.b = unit.a;
                unit.a = 0;
            }
            unit.kind = kind_of(build, &unit);
            build->unit[k] = unit;
        }
    }
}

// Gives units their colours and buckets, in the order of contacts.
static void colour_units(const Build* build, uint64_t* used) {
    crPacked* p = build->packed;
    for (int i = 0; i < p->count; i += build->unit[i].count) {
        Unit* unit = &build->unit[i];
        int colour = cr__colour(used, unit->a / CR_BODY_STRIDE - 1, unit->b / CR_BODY_STRIDE - 1);
        if (colour >= p->colours) p->colours = colour + 1;
        unit->bucket =
            colour * KINDS + (2 * (int)unit->kind + (unit->a > 0)) * CR_UNIT_CONTACTS + unit->count - 1;
    }
}

static int lanes_of(const crPacked* p, int bucket) { return bucket / KINDS == CR_COLOURS ? 1 : p->lanes; }

static int slot_places(crKind kind, int bodies) {
    if (kind == CR_KIND_BALL) return CR_AT_RHO + bodies;
    return CR_AT_K + bodies * (kind == CR_KIND_ROUND ? CR_K_ROUND : CR_K);
}

// Units in the order of groups. Before fill_groups, contact[0] of a group is the place of its first unit in
// `order`, and only `lanes` is set besides.
typedef struct Grouping {
    const Build* build;
    const int* order;
} Grouping;

static void group_of(const Build* build, const int* order, crGroup* g) {
    const Unit *units = build->unit, *first = &units[order[0]];
    int lanes = g->lanes;
    g->slots = first->count;
    g->two = first->a > 0;
    g->kind = first->kind;
    g->places = slot_places(g->kind, g->two ? 2 : 1);
    g->live = true;
    for (int l = 0; l < build->packed->lanes; l++) {
        const Unit* unit = &units[order[l < lanes ? l : 0]];
        g->a[l] = l < lanes ? unit->a : 0;
        g->b[l] = l < lanes ? unit->b : 0;
        g->contact[l] = unit->first;
        g->island[l] = build->island[body_at(build->packed, unit->b)];
    }
}

static void fill_groups(void* ctx, int begin, int end) {
    const Grouping* grouping = ctx;
    for (int i = begin; i < end; i++) {
        crGroup* g = &grouping->build->packed->group[i];
        group_of(grouping->build, grouping->order + g->contact[0], g);
    }
}

// Sorts units by bucket and makes groups of up to four, for short steps up to eight. CR_ERR_MEMORY.
static crStatus make_groups(Build* build) {
    const Unit* units = build->unit;
    crPacked* p = build->packed;
    crArena* arena = build->of->arena;
    int start[BUCKETS + 1];
    memset(start, 0, (size_t)(p->colours * KINDS + 1) * sizeof *start);
    int* order = cr_arena_alloc(arena, (size_t)(p->count + 1) * sizeof *order);
    for (int i = 0; i < p->count; i += units[i].count) {
        start[units[i].bucket + 1]++;
    }
    for (int k = 0; k < p->colours * KINDS; k++) {
        int lanes = lanes_of(p, k);
        p->group_count += (start[k + 1] + lanes - 1) / lanes;
        start[k + 1] += start[k];
    }
    p->group = cr_arena_alloc(arena, (size_t)(p->group_count + 1) * sizeof *p->group);
    if (order == NULL || p->group == NULL) return CR_ERR_MEMORY;
    int at[BUCKETS];
    memcpy(at, start, (size_t)(p->colours * KINDS) * sizeof *at);
    for (int i = 0; i < p->count; i += units[i].count) {
        order[at[units[i].bucket]++] = i;
    }
    int made = 0;
    for (int k = 0; k < p->colours * KINDS; k++) {
        if (k % KINDS == 0) p->colour_start[k / KINDS] = made;
        for (int i = start[k]; i < start[k + 1]; i += lanes_of(p, k)) {
            int left = start[k + 1] - i;
            p->group[made].contact[0] = i;
            p->group[made++].lanes = left < lanes_of(p, k) ? left : lanes_of(p, k);
        }
    }
    p->colour_start[p->colours] = made;
    cr__tasks_for(p->tasks, made, GROUPS, fill_groups, &(Grouping){build, order});
    return CR_OK;
}

static crStatus make_arrays(Build* build) {
    crPacked* p = build->packed;
    crArena* arena = build->of->arena;
    size_t hot = 0;
    for (int i = 0; i < p->group_count; i++) {
        crGroup* g = &p->group[i];
        g->hot = hot;
        hot += CR_LANES * (2 + (size_t)(g->slots * g->places));
    }
    p->group[p->group_count].hot = hot;
    p->hot = cr_arena_alloc(arena, hot * sizeof(double));
    return p->hot != NULL ? CR_OK : CR_ERR_MEMORY;
}

// Reads R of a body; for round bodies only its first number.
static void read_body(const Build* build, crKind kind, int body, double* R) {
    const crMat3* root = &build->of->d->root[body];
    for (int k = 0; k < (kind == CR_KIND_ANY ? 9 : 1); k++) {
        R[k * CR_LANES] = root->m[k / 3][k % 3];
    }
}

CR_LANE void pack_group(const Build* build, const crGroup* g) {
    crPacked* p = build->packed;
    const crVec3* origin = build->of->d->origin;
    _Alignas(32) double in[IN_COUNT * CR_LANES], Rb[9 * CR_LANES], Ra[9 * CR_LANES], sign[CR_LANES];
    int a[CR_LANES], b[CR_LANES];
    double* hot = p->hot + g->hot;
    if (!g->two) memset(Ra, 0, sizeof Ra);
    for (int l = 0; l < CR_LANES; l++) {
        int from = l < g->lanes ? l : 0;
        b[l] = body_at(p, g->b[from]);
        a[l] = g->two ? body_at(p, g->a[from]) : -1;
        // the b of the lane may be the a of the contact
        sign[l] = p->contact[g->contact[l]].body_b == b[l] ? 1.0 : -1.0;
        hot[l] = sign[l] * build->share[g->b[from] / CR_BODY_STRIDE - 1];
        hot[CR_LANES + l] = g->two ? -build->share[g->a[from] / CR_BODY_STRIDE - 1] : 0.0;
        read_body(build, g->kind, b[l], Rb + l);
        if (g->two) read_body(build, g->kind, a[l], Ra + l);
    }
    double* slot = hot + 2 * CR_LANES;
    for (int k = 0; k < g->slots; k++) {
        for (int l = 0; l < CR_LANES; l++) {
            read_contact(&p->contact[g->contact[l] + k], origin[b[l]], a[l] >= 0 ? &origin[a[l]] : NULL,
                         in + l);
        }
        for (int l = 0; l < CR_LANES; l += CR_WIDTH) {
            crLane sb = lane_load(hot + l), sa = lane_load(hot + CR_LANES + l);
            pack_slot(g, sb, sa, sign + l, Rb + l, Ra + l, in + l, slot + l);
        }
        slot += CR_LANES * g->places;
    }
}

CR_LANE void pack_range(const Build* build, int begin, int end) {
    for (int i = begin; i < end; i++) {
        pack_group(build, &build->packed->group[i]);
    }
}

CR_TASKS(pack, Build, pack_range(work, begin, end))

static crStatus group_contacts(Build* build) {
    crPacked* p = build->packed;
    crArena* arena = build->of->arena;
    crStatus status = number_bodies(build);
    uint64_t* used;
    if (status != CR_OK || !CR_ROOMS(arena, CR_ROOM(build->unit, p->count + 1), CR_ZERO(used, p->bodies + 1)))
        return CR_ERR_MEMORY;
    cr__tasks_for(p->tasks, p->count, CHUNK, cut_range, build);
    colour_units(build, used);
    status = make_groups(build);
    // the array of units is not read any more
    p->spare = build->unit;
    p->spare_bytes = (size_t)p->count * sizeof *build->unit;
    return status;
}

crStatus cr__packed_group(const crInertias* of, const int* island_of_body, const double* v, int count,
                          crPackedContact* contact, crUnits* units, crPacked* packed) {
    *packed =
        (crPacked){.count = count, .contact = contact, .units = units, .tasks = of->tasks, .lanes = CR_GROUP};
    return group_contacts(&(Build){.of = of, .packed = packed, .island = island_of_body, .v = v});
}

crStatus cr__packed_create(const crInertias* of, const int* island_of_body, const double* v, int count,
                           crPackedContact* contact, crUnits* units, crPacked* packed) {
    *packed =
        (crPacked){.count = count, .contact = contact, .units = units, .tasks = of->tasks, .lanes = CR_LANES};
    Build build = {.of = of, .packed = packed, .island = island_of_body, .v = v};
    crStatus status = group_contacts(&build);
    if (status == CR_OK) status = make_arrays(&build);
    if (status != CR_OK) return status;
    cr__tasks_for(packed->tasks, packed->group_count, GROUPS, CR_BEST(pack), &build);
    cr__packed_apply(packed);
    return CR_OK;
}
