// packed_sweep.h - visit of one contact per lane in a sweep, for packed_sweep.c and few.h.
#ifndef CAROM_RELAX_PACKED_SWEEP_H
#define CAROM_RELAX_PACKED_SWEEP_H

#include "model/spatial.h"
#include "relax/packed_visit.h"

#define NEWTON_STEPS 30  // most Newton steps for the slip of a contact

// state of a sweep in each lane
typedef struct Lanes {
    crMask live;           // set if the lane's island is being solved
    crLane beta;           // momentum share; 0 if the lane is not live
    crLane change, along;  // as in crPacked
} Lanes;

// Returns the impulse that a visit starts from: the last one extrapolated by momentum.
CR_LANE crLane3 impulse_at(const Lanes* at, const double* slot) {
    return lane3_madd(lane3_load(slot + CR_AT_P * CR_LANES), at->beta,
                      lane3_load(slot + CR_AT_STEP * CR_LANES));
}

// Stores `next` as the impulse, updates direction, change and along, and returns the change from P.
CR_LANE crLane3 take(Lanes* at, crLane w, crLane3 P, crLane3 next, double* slot) {
    crLane3 d = lane3_load(slot + CR_AT_STEP * CR_LANES);
    // lanes that have ended keep their bits, including the sign of a zero
    if (mask_any(~at->live)) next = lane3_select(at->live, next, lane3_load(slot + CR_AT_P * CR_LANES));
    crLane3 dP = lane3_sub(next, P);
    lane3_store(slot + CR_AT_P * CR_LANES, next);
    lane3_store(slot + CR_AT_STEP * CR_LANES, lane3_madd(dP, at->beta, d));
    at->along = at->along + w * lane3_dot(dP, d);
    at->change = lane_max(at->change, w * w * lane3_dot(dP, dP));
    return dP;
}

CR_LANE void visit_ball(Pair* pair, bool two, crLane w, Lanes* at, double* slot) {
    const double* rho = slot + CR_AT_RHO * CR_LANES;
    crLane3 n = lane3_load(slot + CR_AT_N * CR_LANES), g = passing(pair, two);
    crLane3 turn = lane3_scale(lane_load(rho), pair->wb);
    if (two) turn = lane3_madd(turn, lane_load(rho + CR_LANES), pair->wa);
    crLane3 P = impulse_at(at, slot);
    crLane3 next = solve_ball(slot, n, lane_all(1.0) / w, lane_load(slot + CR_AT_BIAS * CR_LANES), g,
                              lane3_cross(turn, n), P);
    crLane3 dP = take(at, w, P, next, slot), dL = lane3_cross(n, dP);
    push(pair, two, dP);
    pair->wb = lane3_madd(pair->wb, lane_load(rho), dL);
    if (two) pair->wa = lane3_madd(pair->wa, lane_load(rho + CR_LANES), dL);
}

CR_LANE void visit(Pair* pair, bool round, bool two, Lanes* at, double* slot) {
    Place place = place_of(round, slot);
    crLane3 u = lane3_add(lane3_load(slot + CR_AT_E * CR_LANES), velocity_at(&place, round, two, pair));
    crLane3 p = impulse_at(at, slot);
    crLane3 dp =
        take(at, lane_load(slot + CR_AT_W * CR_LANES), p, solve_contact(slot, NEWTON_STEPS, u, p), slot);
    push_at(&place, round, two, dp, pair);
}

// Adds the impulse of a slot and its moment to both bodies.
CR_LANE void apply_slot(const crGroup* g, const double* slot, Pair* pair) {
    bool round = g->kind == CR_KIND_ROUND;
    crLane3 P = lane3_load(slot + CR_AT_P * CR_LANES);
    if (g->kind == CR_KIND_BALL) {
        const double* rho = slot + CR_AT_RHO * CR_LANES;
        crLane3 turn = lane3_cross(lane3_load(slot + CR_AT_N * CR_LANES), P);
        push(pair, g->two, P);
        pair->wb = lane3_add(pair->wb, lane3_scale(lane_load(rho), turn));
        if (g->two) pair->wa = lane3_add(pair->wa, lane3_scale(lane_load(rho + CR_LANES), turn));
        return;
    }
    Place at = place_of(round, slot);
    P = lane3_madd(lane3_madd(lane3_scale(P.x, at.n), P.y, at.t1), P.z, lane3_cross(at.n, at.t1));
    push(pair, g->two, P);
    pair->wb = lane3_add(pair->wb, turned_back(round, at.Kb, P));
    if (g->two) pair->wa = lane3_add(pair->wa, turned_back(round, at.Ka, P));
}

static inline crVec3 read3(const double* at) { return cr_vec3(at[0], at[CR_LANES], at[2 * CR_LANES]); }

// Returns the impulse of one lane's contact in world axes.
static inline crVec3 read_P(const crGroup* g, const double* slot) {
    crVec3 P = read3(slot + CR_AT_P * CR_LANES), n = read3(slot + CR_AT_N * CR_LANES);
    if (g->kind == CR_KIND_BALL) return P;
    crVec3 t1 = cr_vec3(slot[CR_AT_T * CR_LANES], slot[(CR_AT_T + 1) * CR_LANES], 0.0);
    return cr_madd(cr_madd(cr_scale(P.x, n), P.y, t1), P.z, cr_cross(n, t1));
}

#endif
