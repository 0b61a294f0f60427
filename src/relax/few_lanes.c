// few_lanes.c - solves of a few contacts of one body side by side, one world per lane.
//
// Each lane makes the operations of cr__few_go_on in their order, so its solve has the same bits. When a
// solve ends, the next one takes its lane. When few lanes are in use, the last solves are handed back
// unfinished.
// Fails: never.
#include "relax/few_lanes.h"

#include "relax/packed_sweep.h"

#define PARTS  (CR_LANES / CR_WIDTH)  // vectors per CR_LANES numbers
#define LEAST  (CR_LANES / 2 + 1)     // least lanes in use for which a sweep of all lanes pays
#define FEWEST 12                     // least sweeps, even with fewer lanes in use

typedef struct Side {
    crFew* of[CR_LANES];  // solve of each lane; NULL: none
    _Alignas(32) double slot[CR_UNIT_CONTACTS * CR_FEW_STRIDE * CR_LANES];
    _Alignas(32) int64_t has[CR_UNIT_CONTACTS * CR_LANES];  // mask of lanes that have the contact
    _Alignas(32) double z[6 * CR_LANES], share[CR_LANES], beta[CR_LANES];
    _Alignas(32) double change[CR_LANES], along[CR_LANES];
} Side;

typedef struct Work {
    crFew* const* few;
    int count;
} Work;

// Clears the slot of a contact that a lane does not have: its visit opens it and changes nothing.
static void clear_slot(Side* side, int i, int lane) {
    double* slot = side->slot + i * CR_FEW_STRIDE * CR_LANES + lane;
    for (int k = 0; k < CR_FEW_STRIDE; k++) {
        slot[k * CR_LANES] = 0.0;
    }
    slot[CR_AT_W * CR_LANES] = slot[CR_AT_S * CR_LANES] = slot[(CR_AT_S + 2) * CR_LANES] = 1.0;
}

static void put(Side* side, int lane, crFew* few) {
    int count = few != NULL ? few->count : 0;
    side->of[lane] = few;
    for (int i = 0; i < CR_UNIT_CONTACTS; i++) {
        side->has[i * CR_LANES + lane] = i < count ? -1 : 0;
        for (int k = 0; i < count && k < CR_FEW_STRIDE; k++) {
            side->slot[(i * CR_FEW_STRIDE + k) * CR_LANES + lane] = few->slot[i * CR_FEW_STRIDE + k];
        }
        if (i >= count) clear_slot(side, i, lane);
    }
    side->share[lane] = few != NULL ? few->share : 0.0;
    side->beta[lane] = few != NULL ? few->beta : 0.0;
    for (int k = 0; k < 6; k++) {
        side->z[k * CR_LANES + lane] = few != NULL ? few->z[k] : 0.0;
    }
}

// Copies impulses and directions back to the solve of a lane; turn_lane has copied the velocities.
static void take_back(Side* side, int lane) {
    const crFew* few = side->of[lane];
    for (int i = 0; few != NULL && i < few->count; i++) {
        for (int k = CR_AT_P; k < CR_AT_STEP + 3; k++) {
            few->slot[i * CR_FEW_STRIDE + k] = side->slot[(i * CR_FEW_STRIDE + k) * CR_LANES + lane];
        }
    }
}

// Makes one sweep over all lanes.
CR_LANE void sweep_lanes(Side* side, bool round, int slots) {
    crLane zero = lane_all(0.0);
    Pair pair[PARTS];
    Lanes at[PARTS];
    for (int k = 0, l = 0; k < PARTS; k++, l += CR_WIDTH) {
        pair[k] = (Pair){.sb = lane_load(side->share + l), .sa = zero};
        pair[k].vb = lane3_load(side->z + l);
        pair[k].wb = lane3_load(side->z + 3 * CR_LANES + l);
        at[k] = (Lanes){.live = lane_at_most(zero, zero), .beta = lane_load(side->beta + l)};
        at[k].change = at[k].along = zero;
    }
    for (int i = 0; i < slots; i++) {
        for (int k = 0, l = 0; k < PARTS; k++, l += CR_WIDTH) {
            crMask has = mask_load(side->has + i * CR_LANES + l);
            crLane3 v = pair[k].vb, w = pair[k].wb;
            visit(&pair[k], round, false, &at[k], side->slot + i * CR_FEW_STRIDE * CR_LANES + l);
            // lanes without the contact keep the sign of a zero
            pair[k].vb = lane3_select(has, pair[k].vb, v);
            pair[k].wb = lane3_select(has, pair[k].wb, w);
        }
    }
    for (int k = 0, l = 0; k < PARTS; k++, l += CR_WIDTH) {
        lane3_store(side->z + l, pair[k].vb);
        lane3_store(side->z + 3 * CR_LANES + l, pair[k].wb);
        lane_store(side->change + l, at[k].change);
        lane_store(side->along + l, at[k].along);
    }
}

// Passes the result of a sweep to the solve of a lane, and its extrapolated velocities back to the lane.
static void turn_lane(Side* side, int lane) {
    crFew* few = side->of[lane];
    double change = side->change[lane];
    for (int k = 0; k < 6; k++) {
        few->z[k] = side->z[k * CR_LANES + lane];
    }
    if (!(change <= (double)INFINITY)) change = (double)INFINITY;
    cr__few_turn(few, change, cr__packed_along(side->along[lane], cr__few_scale(few)));
    side->beta[lane] = few->beta;
    for (int k = 0; k < 6; k++) {
        side->z[k * CR_LANES + lane] = few->z[k];
    }
}

static int most_contacts(const Side* side) {
    int most = 0;
    for (int lane = 0; lane < CR_LANES; lane++) {
        if (side->of[lane] != NULL && side->of[lane]->count > most) most = side->of[lane]->count;
    }
    return most;
}

CR_LANE void run(const Work* work, bool round) {
    Side side;
    int next = 0, live = 0;
    for (int lane = 0; lane < CR_LANES; lane++) {
        put(&side, lane, next < work->count ? work->few[next++] : NULL);
        live += side.of[lane] != NULL;
    }
    int slots = most_contacts(&side);
    for (int made = 0; live > 0 && (next < work->count || live >= LEAST || made < FEWEST); made++) {
        sweep_lanes(&side, round, slots);
        bool changed = false;
        for (int lane = 0; lane < CR_LANES; lane++) {
            if (side.of[lane] == NULL) continue;
            turn_lane(&side, lane);
            if (cr__few_is_open(side.of[lane])) continue;
            take_back(&side, lane);
            put(&side, lane, next < work->count ? work->few[next++] : NULL);
            live -= side.of[lane] == NULL;
            changed = true;
        }
        if (changed) slots = most_contacts(&side);
    }
    for (int lane = 0; lane < CR_LANES; lane++) {
        take_back(&side, lane);
    }
}

CR_LANE void run_kind(const Work* work) {
    if (work->few[0]->kind == CR_KIND_ROUND) {
        run(work, true);
    } else {
        run(work, false);
    }
}

CR_TASKS(run_lanes, Work, (void)begin; (void)end; run_kind(work))

void cr__few_lanes(crFew* const* few, int count) {
    Work work = {few, count};
    if (count > 0) CR_BEST(run_lanes)(&work, 0, count);
}
