// few.h - packed solve for a few contacts of one free body with bodies that do not move.
//
// The solve makes the operations of packed_build.c and packed.c in their order, so it has the same bits, but
// without groups and arrays: one lane of packed_slot.h and packed_sweep.h, one island, units of up to four
// contacts one after another. It uses no memory but the caller's slots. A solve (crFew) may stop between any
// two sweeps and continue, here or side by side with others in few_lanes.c.
// Fails: returns false if sweeps ran out, or if the kinds of units differ.
#ifndef CAROM_RELAX_FEW_H
#define CAROM_RELAX_FEW_H

// One lane of one double. This header must be included before all others that use lanes.
#ifndef CAROM_NO_VECTOR
#define CAROM_NO_VECTOR
#endif
#define CR_LANES 1
#include "model/single.h"
#include "relax/few_run.h"
#include "relax/packed_slot.h"
#include "relax/packed_sweep.h"

#if defined(__GNUC__)
#define CR_FEW       static inline __attribute__((always_inline))
#define CR_FEW_APART static __attribute__((noinline))
#else
#define CR_FEW       static inline
#define CR_FEW_APART static
#endif

// Returns the kind of the unit of contacts first to first + 3.
CR_FEW crKind cr__few_kind(const crFew* few, int first) {
    if (!few->body->round) return CR_KIND_ANY;
    bool ball = true;
    for (int i = first; i < few->count && i < first + CR_UNIT_CONTACTS; i++) {
        const crPackedContact* c = &few->contact[i];
        ball = ball && is_along(c->normal, cr_sub(c->point, few->body->origin)) && is_along(c->normal, c->E);
    }
    return ball ? CR_KIND_BALL : CR_KIND_ROUND;
}

CR_FEW void cr__few_pack(const crFew* few, int i) {
    double in[IN_COUNT * CR_LANES], Rb[9 * CR_LANES], Ra[9 * CR_LANES], sign = 1.0;
    const crPackedContact* c = &few->contact[i];
    double* slot = few->slot + i * CR_FEW_STRIDE;
    read_contact(c, few->body->origin, NULL, in);
    for (int k = 0; k < 9; k++) {
        Rb[k * CR_LANES] = few->body->root.m[k / 3][k % 3];
        Ra[k * CR_LANES] = 0.0;
    }
    crGroup g = {.kind = few->kind, .two = false};
    pack_slot(&g, few->share, 0.0, &sign, Rb, Ra, in, slot);
}

// Recomputes z from z_free and the impulses.
CR_FEW void cr__few_apply(crFew* few) {
    crGroup g = {.kind = few->kind};
    memcpy(few->z, few->z_free, sizeof few->z);
    Pair pair = {.sb = few->share};
    const int at = 0;
    row_gather(few->z, &at, &pair.vb, &pair.wb);
    for (int i = 0; i < few->count; i++) {
        apply_slot(&g, few->slot + i * CR_FEW_STRIDE, &pair);
    }
    row_scatter(few->z, &at, 1, pair.vb, pair.wb);
}

// Scales impulses that would create energy to those of least energy along them.
CR_FEW void cr__few_limit(crFew* few) {
    double linear = 0.0, square = 0.0, work = 0.0;
    for (int k = 0; k < 6; k++) {
        double dz = few->z[k] - few->z_free[k];
        linear += few->z_free[k] * dz;
        square += dz * dz;
    }
    for (int i = 0; i < few->count; i++) {
        const double* slot = few->slot + i * CR_FEW_STRIDE;
        crVec3 P = read3(slot + CR_AT_P * CR_LANES);
        work += few->kind == CR_KIND_BALL
                    ? slot[CR_AT_BIAS * CR_LANES] * cr_dot(read3(slot + CR_AT_N * CR_LANES), P)
                    : cr_dot(read3(slot + CR_AT_E * CR_LANES), P);
        // packed.c sums unit by unit
        bool ends = (i + 1) % CR_UNIT_CONTACTS == 0 || i + 1 == few->count;
        if (ends) linear += work;
        if (ends) work = 0.0;
    }
    if (!(linear + 0.5 * square > 0.0 && square > 0.0)) return;
    double scale = fmax(0.0, -linear / square);
    for (int i = 0; i < few->count; i++) {
        double* P = few->slot + i * CR_FEW_STRIDE + CR_AT_P * CR_LANES;
        for (int k = 0; k < 3; k++) {
            P[k * CR_LANES] *= scale;
        }
    }
    cr__few_apply(few);
}

// Makes one sweep. Returns the largest squared velocity change; *along is its component along the momentum
// direction, as in crPackedIsland.
CR_FEW double cr__few_sweep(crFew* few, double scale, int64_t* along) {
    double most = 0.0;
    Pair pair = {.sb = few->share, .sa = 0.0};
    pair.vb = lane3(few->z[0], few->z[1], few->z[2]);
    pair.wb = lane3(few->z[3], few->z[4], few->z[5]);
    double w = pair.sb * pair.sb + pair.sa * pair.sa;
    *along = 0;
    Lanes at = {.live = -1, .beta = few->beta, .change = 0.0, .along = 0.0};
    for (int i = 0; i < few->count; i++) {
        double* slot = few->slot + i * CR_FEW_STRIDE;
        if (few->kind == CR_KIND_BALL) {
            visit_ball(&pair, false, w, &at, slot);
        } else {
            visit(&pair, few->kind == CR_KIND_ROUND, false, &at, slot);
        }
        if ((i + 1) % CR_UNIT_CONTACTS != 0 && i + 1 < few->count) continue;
        if (!(at.change <= most)) most = at.change <= (double)INFINITY ? at.change : (double)INFINITY;
        *along += cr__packed_along(at.along, scale);
        at.change = at.along = 0.0;
    }
    const double z[6] = {pair.vb.x, pair.vb.y, pair.vb.z, pair.wb.x, pair.wb.y, pair.wb.z};
    memcpy(few->z, z, sizeof z);
    return most;
}

// Makes up to `most` sweeps while the solve is open.
CR_FEW void cr__few_go_on(crFew* few, int most) {
    for (int n = 0; n < most && cr__few_is_open(few); n++) {
        int64_t along;
        double scale = cr__few_scale(few);
        double change = cr__few_sweep(few, scale, &along);
        cr__few_turn(few, change, along);
    }
}

// Starts a solve from P of the contacts and the velocities v without impulses (6). `ball` tells that the kind
// of all units is CR_KIND_BALL; if it is false, none may be. Returns false if a unit has another kind.
CR_FEW bool cr__few_begin(crFew* few, const crFewBody* body, bool ball, int count, crPackedContact* contact,
                          const double* v, double tol, int limit, double* slot) {
    *few = (crFew){.body = body, .count = count, .contact = contact, .slot = slot};
    few->kind = ball ? CR_KIND_BALL : body->round ? CR_KIND_ROUND : CR_KIND_ANY;
    few->share = 1.0 / sqrt(body->mass);
    for (int i = 0; i < count; i += CR_UNIT_CONTACTS) {
        if (cr__few_kind(few, i) != few->kind) return false;
    }
    single_coordinates(body->mass, &body->root, &body->inertia, v, few->z_free);
    for (int i = 0; i < count; i++) {
        cr__few_pack(few, i);
    }
    cr__few_apply(few);
    cr__few_limit(few);
    few->tol = tol;
    few->limit = limit;
    few->least = (double)INFINITY;
    few->momentum = 1.0;
    memcpy(few->z_before, few->z, sizeof few->z);
    return true;
}

// Sets P of the contacts to the impulses of the solve.
CR_FEW void cr__few_end(const crFew* few) {
    crGroup g = {.kind = few->kind};
    for (int i = 0; i < few->count; i++) {
        few->contact[i].P = cr__in_cone(&few->contact[i], read_P(&g, few->slot + i * CR_FEW_STRIDE));
    }
}

// cr__few_begin and cr__few_go_on for kinds other than ball, not inlined: all callers share one copy, and the
// compiler of a device gets smaller functions.
CR_FEW_APART bool cr__few_begin_apart(crFew* few, const crFewBody* body, int count, crPackedContact* contact,
                                      const double* v, double tol, int limit, double* slot) {
    return cr__few_begin(few, body, false, count, contact, v, tol, limit, slot);
}
CR_FEW_APART void cr__few_go_on_apart(crFew* few, int most) { cr__few_go_on(few, most); }

// Solves the contacts, of a ball only the first, and sets their P. Returns false and leaves P unchanged if
// sweeps ran out or kinds differ.
CR_FEW bool cr__few_solve(const crFewBody* body, bool ball, int count, crPackedContact* contact,
                          const double* v, double tol, int limit, double* slot) {
    crFew few;
    if (!(ball ? cr__few_begin(&few, body, true, 1, contact, v, tol, limit, slot)
               : cr__few_begin_apart(&few, body, count, contact, v, tol, limit, slot)))
        return false;
    if (ball) {
        cr__few_go_on(&few, limit);
    } else {
        cr__few_go_on_apart(&few, limit);
    }
    if (few.ended) cr__few_end(&few);
    return few.ended;
}

// Sets dv (6) to the change of velocity by the impulses of the contacts, of a ball by the first only.
CR_FEW void cr__few_velocity(const crBody* body, const crFewBody* at, bool ball, int count,
                             const crPackedContact* contact, double* dv) {
    crVec3 linear = cr_vec3(0, 0, 0), angular = linear;
    for (int i = 0; i < count && i < (ball ? 1 : count); i++) {
        linear = cr_add(linear, contact[i].P);
        angular = cr_add(angular, cr_cross(cr_sub(contact[i].point, at->origin), contact[i].P));
    }
    cr__store_vec(linear, dv);
    cr__store_vec(angular, dv + 3);
    cr__single_solve(body, &at->inverse, dv);
}

#endif
