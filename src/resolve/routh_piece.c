// routh_piece.c - straight pieces of Routh's path and the three endings.
//
// Along a piece with dP_t = u dPn and dVn = rho dPn everything is a polynomial in x = Pn - Pn0:
//     Vn = Vn0 + rho x,   work = work0 + Vn0 x + rho x^2 / 2.
// Compression is over where Vn comes up to zero, restitution where
//     poisson: Pn = (1+e) Pn_c,   newton: Vn = -e Vn(0),   energetic: work - work_c = -e^2 work_c,
// subscript c meaning the end of compression. Where Vn falls below zero before that, compression has not
// ended: the next crossing replaces this one, so Vn+ >= 0 whatever friction does.
// Fails: a piece that goes on for ever without the event is left where it started, not ended.
#include "resolve/routh.h"

void cr__routh_record(crRouth* r, crVec3 P) {
    if (r->capacity == 0) return;
    // an event at the end of a step is the same point twice, but for rounding
    bool same = r->count > 1 && P.x <= r->points[r->count - 1].x;
    if (same || r->count == r->capacity) r->count--;
    r->points[r->count++] = P;
}

// Compression is over, as far as one can tell now.
static void restitute_routh_piece(crRouth* r) {
    double e = r->c.e;
    double now = 0.0;
    r->restituting = true;
    // counted from here, or a small e^2 would drown in the rounding of the work before
    r->work_c = r->work;
    r->work = 0.0;
    switch (r->ending) {
    case CR_ENDING_POISSON:
        now = r->P.x;
        r->goal = (1.0 + e) * r->P.x;
        break;
    case CR_ENDING_NEWTON:
        r->goal = -e * r->c.V.x;
        break;
    case CR_ENDING_ENERGETIC:
    case CR_ENDINGS:
        r->goal = -e * e * r->work_c;
        break;
    }
    r->ended = now >= r->goal;
}

void cr__routh_pass(crRouth* r, crRouthEvent event) {
    if (event == CR_ROUTH_NONE) return;
    cr__routh_record(r, r->P);
    if (event == CR_ROUTH_END) {
        r->ended = true;
        return;
    }
    r->V.x = 0.0;
    if (r->restituting) {
        r->restituting = false;
        r->work += r->work_c;
    } else {
        restitute_routh_piece(r);
    }
}

// How much Pn is needed to reach the goal if Vn goes on like this; INFINITY where it does not get there.
static double to_goal_routh_piece(const crRouth* r, double rate) {
    double Vn = r->V.x;
    if (r->ending == CR_ENDING_POISSON) return fmax(0.0, r->goal - r->P.x);
    if (r->ending == CR_ENDING_NEWTON)
        return rate > 0.0 ? fmax(0.0, (r->goal - Vn) / rate) : (double)INFINITY;
    double missing = r->goal - r->work;
    if (!(missing > 0.0)) return 0.0;
    double square = Vn * Vn + 2.0 * rate * missing;
    return square >= 0.0 ? 2.0 * missing / (Vn + sqrt(square)) : (double)INFINITY;
}

// How much Pn is needed for Vn to cross zero upwards in compression, downwards in restitution; in the latter
// it is enough if Vn is zero to rounding after length.
static double to_turn(const crRouth* r, double length, double rate) {
    if (r->restituting) {
        bool falls = rate < 0.0 && !(r->V.x + rate * length >= -cr__routh_rest(r));
        return falls ? fmax(0.0, r->V.x / -rate) : (double)INFINITY;
    }
    if (r->V.x >= 0.0 && rate >= 0.0) return 0.0;
    return rate > 0.0 ? -r->V.x / rate : (double)INFINITY;
}

void cr__routh_straight(crRouth* r, double length, double rate, double uy, double uz) {
    while (!r->ended) {
        double turn = to_turn(r, length, rate);
        double goal = r->restituting ? to_goal_routh_piece(r, rate) : (double)INFINITY;
        double x = fmin(length, fmin(turn, goal));
        if (!isfinite(x)) return;
        if (x > 0.0 && rate < 0.0) r->jam = true;
        r->work += x * (r->V.x + 0.5 * rate * x);
        r->V.x += rate * x;
        r->P = cr_madd(r->P, x, cr_vec3(1.0, uy, uz));
        length -= x;
        if (goal > x && turn > x) break;
        cr__routh_pass(r, goal <= x ? CR_ROUTH_END : CR_ROUTH_TURN);
    }
    if (!r->ended) cr__routh_record(r, r->P);
}
