// two_stage.c - compression and expansion, each with Coulomb friction against the slip at its end.
//
// Compression is a closing stage with Un = Vn; Vn = 0 is the limit Vn -> 0-. After it Vn' = 0 and, where it
// sticks, V_t' = 0 by definition: these are passed on as exact zeros, not as rounding noise of V + W P1.
// Expansion either keeps Pn2 = e Pn1 (a pressed stage, one solution, accepted if Vn+ >= 0), or has Vn+ = 0
// with Pn2 > e Pn1 (a closing stage with Un = 0). Sticking in the second kind would be P2 = P_II - P1, in the
// cone only if P_II is, and then compression has stuck already: the smallest Pn2 follows the rule.
// Source: Anitescu and Potra 1997; Pfeiffer and Glocker 1996. Fails: count 0 (singular W).
#include "two_stage.h"

#define REST_TOL 1e-12  // of the terms of Vn+: below this it is zero

static int solve_two_stage(const cr__Stage* stage, int directions, cr__Solution out[CR__MAX_SOLUTIONS]) {
    return directions == 0 ? cr__coulomb_circle(stage, out) : cr__coulomb_polygon(stage, directions, out);
}

// Where W has rank one and V is in its range, compression ends at rest by many impulses. Slip keeps its
// direction d all the way there, so the one that Coulomb's friction gives is Pn (1, -mu d).
static void follow_slip_two_stage(const crContact* c, const cr__Stage* stage, cr__Solution* s) {
    double slip = sqrt(c->V.y * c->V.y + c->V.z * c->V.z);
    bool rank_one = !(stage->Syy + stage->Szz > stage->Stol);
    if (!rank_one || !s->sticks || !(slip > stage->qtol)) return;
    double y = -stage->mu * c->V.y / slip;
    double z = -stage->mu * c->V.z / slip;
    double rate = 1.0 + stage->omega_y * y + stage->omega_z * z;
    // slip and approach end together, so friction along w presses the bodies apart: rate >= 1
    if (rate > 0.0) s->P = cr_scale(stage->c0 / rate, cr_vec3(1.0, y, z));
}

int cr__compress(const crContact* c, int directions, cr__Solution out[CR__MAX_SOLUTIONS]) {
    cr__Stage stage = cr__stage_closing(c, c->V.x, c->V.y, c->V.z);
    int count = solve_two_stage(&stage, directions, out);
    if (count > 0) follow_slip_two_stage(c, &stage, &out[count - 1]);
    return count;
}

// Pn2 = e Pn1 without further approach.
static bool expand_freely(const crContact* c, int directions, double Pn, const cr__Solution* first,
                          crVec3* P2) {
    if (!(Pn > 0.0)) {
        *P2 = cr_vec3(0, 0, 0);
        return true;
    }
    cr__Solution all[CR__MAX_SOLUTIONS];
    cr__Stage stage = cr__stage_pressed(c, Pn, first->uy, first->uz);
    int count = solve_two_stage(&stage, directions, all);
    if (count == 0) return false;
    *P2 = cr_vec3(Pn, cr__choose(all, count)->P.y, cr__choose(all, count)->P.z);
    double ny = c->W.xy * P2->y;
    double nz = c->W.xz * P2->z;
    return c->W.xx * Pn + ny + nz >= -REST_TOL * (c->W.xx * Pn + fabs(ny) + fabs(nz));
}

int cr__expand(const crContact* c, int directions, const cr__Solution* first, crVec3* P2) {
    double least = c->e * first->P.x;
    int found = expand_freely(c, directions, least, first, P2) ? 1 : 0;
    if (first->uy == 0.0 && first->uz == 0.0) return found;
    cr__Solution all[CR__MAX_SOLUTIONS];
    cr__Stage stage = cr__stage_closing(c, 0.0, first->uy, first->uz);
    int count = solve_two_stage(&stage, directions, all);
    for (int i = 0; i < count; i++) {
        if (!(all[i].P.x > (1.0 + REST_TOL) * least)) continue;
        if (found == 0) *P2 = all[i].P;
        found++;
    }
    return found;
}
