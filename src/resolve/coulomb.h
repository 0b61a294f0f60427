// coulomb.h - one stage of an impact with Coulomb friction against the slip that is left at its end.
//
// Eliminating the normal row leaves the tangential impulse r = P_t alone:
//
//     u_t = q + S r,   Pn = c0 - omega.r,   |r| <= mu Pn,   u_t = -lambda r,  lambda >= 0 (0 inside the cone)
//
// Closing stage (the normal velocity reaches a given value): S = Wtt - w w^T/Wnn, omega = w/Wnn, w = Wtn.
// Pressed stage (the normal impulse is given): S = Wtt, omega = 0, c0 = Pn.
// Where W is singular S may be: a direction e with S e = 0 to rounding is blocked, and so is q along it if V is
// in the range of W. Then the sticking impulses form a line, and the one of least |r| in the cone is taken.
// Shared by whittaker, smith, anitescu-potra and pfeiffer-glocker.
#ifndef CAROM_RESOLVE_COULOMB_H
#define CAROM_RESOLVE_COULOMB_H

#include "law.h"

// Infinite friction is the limit of the closed half-space Pn >= 0; with this finite value Pn stays positive
// and everything else is as in the limit to rounding.
#define CR__MU_INFINITE 0x1p53

#define CR__MAX_SOLUTIONS 8

typedef struct cr__Stage {
    double mu;
    double c0;             // normal impulse without friction, N s
    double omega_y;        // what a tangential impulse takes from the normal one
    double omega_z;        //
    double Syy, Syz, Szz;  // 1/kg
    double Stol;           // eigenvalues of S up to this are rounding, 1/kg
    double qy, qz;         // slip left by c0 alone, m/s
    double qtol;           // part of q along a blocked direction that counts as none, m/s
} cr__Stage;

typedef struct cr__Solution {
    crVec3 P;       // N s
    double uy, uz;  // slip at the end of the stage, m/s
    bool sticks;
} cr__Solution;

// The stage that starts from slip (Vy, Vz) and changes the normal velocity by -Un >= 0. Needs Wnn > 0.
cr__Stage cr__stage_closing(const crContact* c, double Un, double Vy, double Vz);
// The stage that starts from slip (Vy, Vz) and has the normal impulse Pn.
cr__Stage cr__stage_pressed(const crContact* c, double Pn, double Vy, double Vz);

// All solutions in order of rising Pn, at most three; the sticking one, if there is one, is the last. c0 = 0
// is read as the limit from above, so P = 0 is among the solutions only if it is the limit of one.
// 0: none (only where S is singular).
int cr__coulomb_circle(const cr__Stage* stage, cr__Solution out[CR__MAX_SOLUTIONS]);

// The same with the cone's section replaced by a regular polygon of k >= 3 corners, the first along t1.
// Beyond CR__MAX_SOLUTIONS those of largest Pn are dropped.
int cr__coulomb_polygon(const cr__Stage* stage, int k, cr__Solution out[CR__MAX_SOLUTIONS]);

// The rule where there are several: stick if that is one of them, otherwise the smallest Pn.
static inline const cr__Solution* cr__choose(const cr__Solution* all, int count) {
    return all[count - 1].sticks ? &all[count - 1] : &all[0];
}

#endif
