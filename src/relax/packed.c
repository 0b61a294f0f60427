// packed.c - sweeps over packed contacts until each island is solved to its tolerance.
//
// Gauss-Seidel with momentum: after a sweep from p to p + dp, d = beta d + dp and the next sweep starts from
// p + dp + beta' d, with Nesterov's beta. The momentum restarts if a sweep goes against d (O'Donoghue and
// Candes 2015) or changes velocities by four times the least change since the last restart. z is linear in
// the impulses, so it is extrapolated by the same share. Wedged bodies need impulses of many times their
// weight, which plain sweeps build up in equal portions; momentum needs the square root of as many sweeps,
// and conjugate gradients (Silcowitz, Niebe and Erleben 2010) keep restarting. Each island has its own beta,
// tolerance and end, so its bits do not depend on the other islands.
// Warm start impulses that would create energy, and those of an island that ran out of sweeps, are scaled to
// the minimum of p.(u_free + b) + p.W p / 2 along them.
// Fails: CR_ERR_MEMORY; an island that ran out of sweeps has `solved` false.
#include <string.h>

#include "base/room.h"
#include "relax/lanes.h"
#include "relax/units.h"

#define BODIES 256  // bodies per task
#define GROUPS 128  // groups per task

// Result of the last sweep in adjacent lanes of one island. Neither sum nor maximum depends on the order.
typedef struct Tally {
    int island;
    int64_t along;    // as in crPackedIsland
    uint64_t change;  // bits of crPackedIsland.change: they ascend with it, and a NaN is the largest
} Tally;

typedef struct Run {
    crPacked* packed;
    crPackedIsland* island;
    int count;
    int open_count;
    int* open;      // islands that were live in the last sweep (open_count)
    double* beta;   // momentum share of each island (count)
    double* keep;   // beta of the previous sweep (count)
    Tally* tally;   // tallies of each chunk of groups, from its first lane on (lanes)
    int* tallies;   // of each chunk: number of tallies, or of live groups (chunks)
    double* parts;  // work: two numbers per body, or one per contact
} Run;

static void body_energies(void* ctx, int begin, int end) {
    const Run* run = ctx;
    const crPacked* p = run->packed;
    for (int i = begin; i < end; i++) {
        const double* z = p->z + CR_BODY_STRIDE * (i + 1);
        const double* z_free = p->z_free + CR_BODY_STRIDE * (i + 1);
        double linear = 0.0, square = 0.0;
        for (int k = 0; k < CR_BODY_STRIDE; k++) {
            double dz = z[k] - z_free[k];
            linear += z_free[k] * dz;
            square += dz * dz;
        }
        run->parts[2 * i] = linear;
        run->parts[2 * i + 1] = square;
    }
}

// Finds the sum of P.E over the contacts of each unit, J, at its first contact. Units stay apart, since their grouping
// depends on other islands.
CR_LANE void lane_energies(const Run* run, int begin, int end) {
    for (int i = begin; i < end; i++) {
        const crGroup* g = &run->packed->group[i];
        for (int l = 0; l < g->lanes; l += CR_WIDTH) {
            const double* slot = run->packed->hot + g->hot + 2 * CR_LANES + l;
            crLane sum = lane_all(0.0);
            for (int k = 0; k < g->slots; k++, slot += CR_LANES * g->places) {
                crLane3 P = lane3_load(slot + CR_AT_P * CR_LANES);
                bool ball = g->kind == CR_KIND_BALL;
                crLane3 along = lane3_load(slot + (ball ? CR_AT_N : CR_AT_E) * CR_LANES);
                crLane work = lane3_dot(along, P);
                if (ball) work = lane_load(slot + CR_AT_BIAS * CR_LANES) * work;
                sum = sum + work;
            }
            _Alignas(32) double own[CR_WIDTH];
            lane_store(own, sum);
            for (int m = 0; m < CR_WIDTH && l + m < g->lanes; m++) {
                run->parts[g->contact[l + m]] = own[m];
            }
        }
    }
}

CR_TASKS(energies, Run, lane_energies(work, begin, end))

static int island_of(const crPacked* p, const crPackedContact* c) {
    int place = p->place[c->body_b] > 0 ? p->place[c->body_b] : p->place[c->body_a];
    return p->body_island[place / CR_BODY_STRIDE - 1];
}

// Sets beta to the factor by which each island's impulses are to be scaled. Returns true if one is below 1.
static bool energy_scales(Run* run) {
    crPacked* p = run->packed;
    double* linear = run->beta;
    double* square = run->keep;
    memset(linear, 0, (size_t)run->count * sizeof(double));
    memset(square, 0, (size_t)run->count * sizeof(double));
    cr__tasks_for(p->tasks, p->bodies, BODIES, body_energies, run);
    for (int i = 0; i < p->bodies; i++) {
        linear[p->body_island[i]] += run->parts[2 * i];
        square[p->body_island[i]] += run->parts[2 * i + 1];
    }
    memset(run->parts, 0, (size_t)p->count * sizeof(double));
    cr__tasks_for(p->tasks, p->group_count, GROUPS, CR_BEST(energies), run);
    for (int i = 0; i < p->count; i++) {
        if (run->parts[i] != 0.0) linear[island_of(p, &p->contact[i])] += run->parts[i];
    }
    cr__units_add_work(p->units, linear);
    bool any = false;
    for (int i = 0; i < run->count; i++) {
        bool creates = run->island[i].live && linear[i] + 0.5 * square[i] > 0.0 && square[i] > 0.0;
        run->beta[i] = creates ? fmax(0.0, -linear[i] / square[i]) : 1.0;
        any = any || creates;
    }
    return any;
}

// Scales impulses that would create energy to those of least energy along them.
static void limit_energy(Run* run) {
    crPacked* p = run->packed;
    if (!energy_scales(run)) return;
    for (int i = 0; i < p->group_count; i++) {
        const crGroup* g = &p->group[i];
        double* slot = p->hot + g->hot + 2 * CR_LANES;
        for (int k = 0; k < g->slots; k++) {
            for (int m = 0; m < 3 * CR_LANES; m++) {
                slot[CR_AT_P * CR_LANES + m] *= run->beta[g->island[m % CR_LANES]];
            }
            slot += CR_LANES * g->places;
        }
    }
    cr__units_scale(p->units, run->beta);
    cr__packed_apply(p);
}

static void tally_groups(void* ctx, int begin, int end) {
    const Run* run = ctx;
    const crPacked* p = run->packed;
    Tally* out = run->tally + begin * CR_LANES;
    Tally at = {.island = -1};
    double scale = 0.0;
    int count = 0;
    for (int k = begin; k < end; k++) {
        int i = p->swept.group[k];
        const crGroup* g = &p->group[i];
        for (int l = 0; g->live && l < g->lanes; l++) {
            if (g->island[l] != at.island) {
                if (at.island >= 0) out[count++] = at;
                at = (Tally){.island = g->island[l]};
                scale = run->island[at.island].scale;
            }
            uint64_t change;
            memcpy(&change, &p->change[i * CR_LANES + l], sizeof change);
            at.change = change > at.change ? change : at.change;
            at.along += cr__packed_along(p->along[i * CR_LANES + l], scale);
        }
    }
    if (at.island >= 0) out[count++] = at;
    run->tallies[begin / GROUPS] = count;
}

// Finds for each island the largest change of the last sweep and its component along the momentum direction,
// and whether it is solved. Returns the number of islands that go on; *ended is true if one ended.
static int judge(Run* run, bool* ended) {
    crPacked* p = run->packed;
    int open = 0;
    for (int k = 0; k < run->open_count; k++) {
        crPackedIsland* island = &run->island[run->open[k]];
        if (!island->live) continue;
        island->scale = cr__packed_scale(island->weight, island->change, island->tol);
        island->change = 0.0;
        island->along = 0;
        run->open[open++] = run->open[k];
    }
    run->open_count = open;
    int swept = p->swept.start[p->colours];
    cr__tasks_for(p->tasks, swept, GROUPS, tally_groups, run);
    for (int i = 0; i < swept; i += GROUPS) {
        for (int k = 0; k < run->tallies[i / GROUPS]; k++) {
            const Tally* tally = &run->tally[i * CR_LANES + k];
            crPackedIsland* island = &run->island[tally->island];
            double change;
            memcpy(&change, &tally->change, sizeof change);
            island->along += tally->along;
            if (!(change <= island->change))
                island->change = change <= (double)INFINITY ? change : (double)INFINITY;
        }
    }
    cr__units_judge(p->units, p->z);
    int live = 0;
    *ended = false;
    for (int k = 0; k < open; k++) {
        crPackedIsland* island = &run->island[run->open[k]];
        island->sweeps++;
        island->solved = island->change <= island->tol * island->tol;
        double end = island->aim > 0.0 ? island->aim : island->tol;
        island->live = !(island->change <= end * end) && island->sweeps < island->limit;
        if (island->live && island->late > 0.0 && island->sweeps == island->early) island->tol = island->late;
        *ended = *ended || !island->live;
        live += island->live;
    }
    return live;
}

static void mark_groups(void* ctx, int begin, int end) {
    const Run* run = ctx;
    crPacked* p = run->packed;
    int count = 0;
    for (int k = begin; k < end; k++) {
        int i = p->swept.group[k];
        crGroup* g = &p->group[i];
        if (!g->live) continue;
        g->live = false;
        for (int l = 0; l < g->lanes; l++) {
            bool live = run->island[g->island[l]].live;
            p->live[i * CR_LANES + l] = live ? -1 : 0;
            g->live = g->live || live;
        }
        count += g->live;
    }
    run->tallies[begin / GROUPS] = count;
}

// Lists all groups and bodies.
static void list_all(crPacked* p) {
    crSwept* s = &p->swept;
    memcpy(s->start, p->colour_start, (size_t)(p->colours + 1) * sizeof *s->start);
    s->bodies = p->bodies;
    for (int i = 0; i < p->group_count; i++) {
        s->group[i] = i;
    }
    for (int i = 0; i < p->bodies; i++) {
        s->body[i] = i;
    }
}

// Removes groups and bodies of islands that have ended from the lists.
static void list_live(const Run* run) {
    crPacked* p = run->packed;
    crSwept* s = &p->swept;
    int kept = 0, bodies = 0;
    for (int colour = 0, i = 0; colour < p->colours; colour++) {
        int end = s->start[colour + 1];
        s->start[colour] = kept;
        for (; i < end; i++) {
            if (p->group[s->group[i]].live) s->group[kept++] = s->group[i];
        }
    }
    s->start[p->colours] = kept;
    for (int k = 0; k < s->bodies; k++) {
        if (run->island[p->body_island[s->body[k]]].live) s->body[bodies++] = s->body[k];
    }
    s->bodies = bodies;
}

// Marks the groups of islands that go on. The lists get shorter once a quarter of their groups has ended.
static void mark_live(Run* run) {
    crPacked* p = run->packed;
    int swept = p->swept.start[p->colours], live = 0;
    cr__tasks_for(p->tasks, swept, GROUPS, mark_groups, run);
    for (int i = 0; i < swept; i += GROUPS) {
        live += run->tallies[i / GROUPS];
    }
    if (4 * live <= 3 * swept) list_live(run);
}

// Returns the largest momentum share that a sweep may use. Momentum moves impulses far, but leaves errors in
// velocities, which the last sweeps remove with less momentum.
static double most_share(const crPackedIsland* island) {
    static const struct {
        double left, share;
    } fades[] = {{0.1, 0.0}, {0.25, 0.7}, {0.5, 0.85}};
    double left = (double)(island->limit - island->sweeps);
    for (size_t k = 0; k < sizeof fades / sizeof fades[0]; k++) {
        if (left < fades[k].left * island->fade) return fades[k].share;
    }
    return 1.0;
}

// Sets the next momentum share of each island.
static void choose_ratios(Run* run) {
    for (int k = 0; k < run->open_count; k++) {
        int i = run->open[k];
        crPackedIsland* island = &run->island[i];
        run->keep[i] = run->beta[i];
        run->beta[i] = cr__packed_share(island->change, island->along, most_share(island), &island->least,
                                        &island->momentum);
    }
}

// Extrapolates z: d is its change since the previous sweep ended, momentum included, and z += beta d is the
// start of the next sweep. Impulses follow when their contact is visited.
CR_LANE void accelerate_body(double beta, double* z, double* before) {
    for (int k = 0; k < CR_BODY_STRIDE; k += CR_WIDTH) {
        crLane now = lane_load(z + k), d = now - lane_load(before + k);
        lane_store(before + k, now);
        lane_store(z + k, now + lane_all(beta) * d);
    }
}

CR_LANE void accelerate_range(const Run* run, int begin, int end) {
    const crPacked* p = run->packed;
    for (int k = begin; k < end; k++) {
        int i = p->swept.body[k], island = p->body_island[i], at = CR_BODY_STRIDE * (i + 1);
        if (!run->island[island].live) continue;
        accelerate_body(run->beta[island], p->z + at, p->z_before + at);
    }
}

CR_TASKS(accelerate, Run, accelerate_range(work, begin, end))

// Makes islands live again that ran out of sweeps, except those with rows, whose equalities must not be
// scaled. Returns true if there is one.
static bool mark_unsolved(Run* run) {
    const crUnits* units = run->packed->units;
    bool any = false;
    for (int i = 0; i < run->count; i++) {
        crPackedIsland* island = &run->island[i];
        bool rows = units != NULL && units->first[i] < units->first[i + 1];
        island->live = island->sweeps > 0 && !island->solved && !rows;
        any = any || island->live;
    }
    return any;
}

// Takes memory that the grouping left, else the arena's. NULL: memory runs out.
static void* take_spare(crPacked* p, size_t bytes, crArena* arena) {
    if (bytes > p->spare_bytes) return cr_arena_alloc(arena, bytes);
    void* at = p->spare;
    p->spare = (char*)at + bytes;
    p->spare_bytes -= bytes;
    return at;
}

// Allocates the arrays of the packing that sweeps need. Returns false if memory runs out.
static bool make_sweeps(crPacked* p, size_t lanes, crArena* arena) {
    // of whole groups: each begins where vectors may
    p->change = take_spare(p, lanes * sizeof *p->change, arena);
    p->along = take_spare(p, lanes * sizeof *p->along, arena);
    p->live = take_spare(p, lanes * sizeof *p->live, arena);
    if (p->change == NULL || p->along == NULL || p->live == NULL) return false;
    if (!CR_ROOMS(arena, CR_ROOM(p->swept.group, p->group_count + 1), CR_ROOM(p->swept.body, p->bodies + 1),
                  CR_ROOM(p->z_before, CR_BODY_STRIDE * (size_t)(p->bodies + 1))))
        return false;
    for (size_t i = 0; i < lanes; i++) {
        p->live[i] = -1;
        p->change[i] = p->along[i] = 0.0;
    }
    return true;
}

static crStatus run_create(Run* run, crArena* arena) {
    size_t count = (size_t)run->count + 1, lanes = (size_t)(run->packed->group_count + 1) * CR_LANES;
    size_t places = 2 * (size_t)run->packed->bodies, contacts = (size_t)run->packed->count;
    if (contacts > places) places = contacts;
    size_t tallies = lanes * sizeof *run->tally, parts = places * sizeof *run->parts;
    // energies are not asked for while there are tallies
    void* both = cr_arena_alloc(arena, tallies > parts ? tallies : parts);
    run->tally = both;
    run->parts = both;
    bool ok = both != NULL &&
              CR_ROOMS(arena, CR_ROOM(run->open, count), CR_ROOM(run->beta, count), CR_ROOM(run->keep, count),
                       CR_ROOM(run->tallies, lanes / GROUPS + 1)) &&
              make_sweeps(run->packed, lanes, arena);
    return ok ? CR_OK : CR_ERR_MEMORY;
}

// Clears the momentum and finds the weight of each island.
static void begin(Run* run) {
    crPacked* p = run->packed;
    run->open_count = run->count;
    for (int i = 0; i < run->count; i++) {
        crPackedIsland* island = &run->island[i];
        run->open[i] = i;
        run->beta[i] = island->weight = 0.0;
        if (island->live) island->change = 0.0;
        island->momentum = 1.0;
        island->least = (double)INFINITY;
    }
    for (int i = 0; i < p->group_count; i++) {
        const crGroup* g = &p->group[i];
        for (int l = 0; l < g->lanes; l++) {
            double sb = p->hot[g->hot + (size_t)l], sa = p->hot[g->hot + (size_t)(CR_LANES + l)];
            double *weight = &run->island[g->island[l]].weight, own = sb * sb + sa * sa;
            if (own > *weight) *weight = own;
        }
    }
    p->beta = run->beta;
    list_all(p);
    cr__units_begin(p->units);
}

crStatus cr__packed_solve(crPacked* p, crPackedIsland* island, int count, crArena* arena) {
    Run run = {.packed = p, .island = island, .count = count};
    const size_t mark = cr_arena_mark(arena), spare_bytes = p->spare_bytes;
    void* const spare = p->spare;
    if (run_create(&run, arena) != CR_OK) return CR_ERR_MEMORY;
    if (p->group_count == 0 && p->units == NULL) return CR_OK;
    limit_energy(&run);
    begin(&run);
    mark_live(&run);
    cr__tasks_copy(p->tasks, p->z_before, p->z, CR_BODY_STRIDE * (size_t)(p->bodies + 1));
    for (int live = 1; live > 0;) {
        bool ended = false;
        cr__packed_sweep(p);
        live = judge(&run, &ended);
        if (ended) mark_live(&run);
        if (live == 0) break;
        choose_ratios(&run);
        cr__units_accelerate(p->units, run.beta, run.keep);
        cr__tasks_for(p->tasks, p->swept.bodies, BODIES, CR_BEST(accelerate), &run);
    }
    if (mark_unsolved(&run)) limit_energy(&run);
    cr_arena_release(arena, mark);
    p->spare = spare;
    p->spare_bytes = spare_bytes;
    return CR_OK;
}
