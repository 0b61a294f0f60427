// packed_sweep.c - one sweep of block Gauss-Seidel over packed contacts, each solved by packed_visit.h.
//
// The impulse of a contact is extrapolated by its momentum (packed.c) when it is visited; z was extrapolated
// before the sweep.
// Fails: a lane whose Newton steps run out keeps its last direction of slip; the sweep's change shows it.
#include "relax/packed_sweep.h"

#include <string.h>

#include "relax/units.h"

#define CHUNK  3072  // numbers in `hot` per task of a sweep
#define GROUPS 128   // groups per task of reading the results

CR_LANE void sweep_group(const crPacked* p, const crGroup* g, crKind kind, bool two, int slots, int l) {
    double* hot = p->hot + g->hot + l;
    size_t index = (size_t)(g - p->group) * CR_LANES + (size_t)l;
    int lanes = g->lanes - l, stride = CR_LANES * g->places;
    crLane zero = lane_all(0.0);
    Pair pair = {.sb = lane_load(hot), .sa = lane_load(hot + CR_LANES)};
    row_gather(p->z, g->b + l, &pair.vb, &pair.wb);
    if (two) row_gather(p->z, g->a + l, &pair.va, &pair.wa);
    Lanes at = {.live = mask_load(p->live + index), .change = zero, .along = zero};
    at.beta = lane_select(at.live, lane_gather(p->beta, g->island + l), zero);
    crLane w = pair.sb * pair.sb + pair.sa * pair.sa;
    double* slot = hot + 2 * CR_LANES;
    for (int k = 0; k < slots; k++) {
        if (kind == CR_KIND_BALL) {
            visit_ball(&pair, two, w, &at, slot);
        } else {
            visit(&pair, kind == CR_KIND_ROUND, two, &at, slot);
        }
        slot += stride;
    }
    row_scatter(p->z, g->b + l, lanes, pair.vb, pair.wb);
    if (two) row_scatter(p->z, g->a + l, lanes, pair.va, pair.wa);
    lane_store(p->change + index, at.change);
    lane_store(p->along + index, at.along);
}

// Kinds are passed as constants, so that the compiler specializes the code of each.
CR_LANE void sweep_range(const crPackedSweep* sweep, int begin, int end) {
    const crPacked* p = sweep->packed;
    for (int i = sweep->first + begin; i < sweep->first + end; i++) {
        const crGroup* g = &p->group[p->swept.group[i]];
        if (!g->live) continue;
        for (int l = 0; l < g->lanes; l += CR_WIDTH) {
            if (g->kind == CR_KIND_BALL && g->two && g->slots == 1) {
                sweep_group(p, g, CR_KIND_BALL, true, 1, l);
            } else if (g->kind == CR_KIND_BALL) {
                sweep_group(p, g, CR_KIND_BALL, g->two, g->slots, l);
            } else if (g->kind == CR_KIND_ROUND) {
                sweep_group(p, g, CR_KIND_ROUND, g->two, g->slots, l);
            } else {
                sweep_group(p, g, CR_KIND_ANY, g->two, g->slots, l);
            }
        }
    }
}

CR_TASKS(sweep, crPackedSweep, sweep_range(work, begin, end))

// Calls fn for the groups from start[colour] to start[colour + 1] - 1, one colour after another, so that each body
// meets its units in one order for any number of threads. They are some of all groups of the colour.
static void sweep_colours(crPacked* p, const int* start, crTaskFn fn) {
    crPackedSweep sweep = {p, 0};
    for (int colour = 0; colour < p->colours; colour++) {
        sweep.first = start[colour];
        int all = p->colour_start[colour], count = p->colour_start[colour + 1] - all;
        size_t size = p->group[all + count].hot - p->group[all].hot;
        int chunk = 1 + (int)(CHUNK * (size_t)count / (size + 1));
        // units of the last colour may share bodies: one thread
        crTasks* tasks = colour < CR_COLOURS ? p->tasks : NULL;
        cr__tasks_for(tasks, start[colour + 1] - start[colour], chunk, fn, &sweep);
    }
}

void cr__packed_sweep(crPacked* p) {
    sweep_colours(p, p->swept.start, CR_BEST(sweep));
    cr__units_sweep(p->units, p->z, p->tasks);
}

CR_LANE void apply_range(const crPackedSweep* sweep, int begin, int end) {
    const crPacked* p = sweep->packed;
    for (int i = sweep->first + begin; i < sweep->first + end; i++) {
        const crGroup* g = &p->group[i];
        for (int l = 0; l < g->lanes; l += CR_WIDTH) {
            const double* hot = p->hot + g->hot + l;
            Pair pair = {.sb = lane_load(hot), .sa = lane_load(hot + CR_LANES)};
            row_gather(p->z, g->b + l, &pair.vb, &pair.wb);
            if (g->two) row_gather(p->z, g->a + l, &pair.va, &pair.wa);
            for (int k = 0; k < g->slots; k++) {
                apply_slot(g, hot + CR_LANES * (2 + k * g->places), &pair);
            }
            row_scatter(p->z, g->b + l, g->lanes - l, pair.vb, pair.wb);
            if (g->two) row_scatter(p->z, g->a + l, g->lanes - l, pair.va, pair.wa);
        }
    }
}

CR_TASKS(apply, crPackedSweep, apply_range(work, begin, end))

void cr__packed_apply(crPacked* p) {
    memcpy(p->z, p->z_free, CR_BODY_STRIDE * (size_t)(p->bodies + 1) * sizeof(double));
    sweep_colours(p, p->colour_start, CR_BEST(apply));
    cr__units_apply(p->units, p->z);
}

typedef struct Results {
    const crPacked* packed;
    const crPackedIsland* island;
} Results;

static void read_range(void* ctx, int begin, int end) {
    const crPacked* p = ((const Results*)ctx)->packed;
    const crPackedIsland* island = ((const Results*)ctx)->island;
    for (int i = begin; i < end; i++) {
        const crGroup* g = &p->group[i];
        const double* hot = p->hot + g->hot;
        for (int l = 0; l < g->lanes; l++) {
            double sb = hot[l], sa = hot[CR_LANES + l];
            bool swept = island[g->island[l]].sweeps > 0;
            for (int k = 0; k < g->slots; k++) {
                const double* slot = hot + CR_LANES * (2 + k * g->places) + l;
                crPackedContact* c = &p->contact[g->contact[l] + k];
                // the rotation to world axes may leave the cone by rounding
                if (swept) c->P = cr__in_cone(c, read_P(g, slot));
                c->w = g->kind == CR_KIND_BALL ? sb * sb + sa * sa : slot[CR_AT_W * CR_LANES];
            }
        }
    }
}

void cr__packed_results(crPacked* p, const crPackedIsland* island) {
    cr__tasks_for(p->tasks, p->group_count, GROUPS, read_range, &(Results){p, island});
}
