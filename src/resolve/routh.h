// routh.h - the parts of Routh's process that its files share (see law_routh.c for the equations).
#ifndef CAROM_RESOLVE_ROUTH_H
#define CAROM_RESOLVE_ROUTH_H

#include "carom/resolve.h"

#define CR_ROUTH_INFINITE_MU 0x1p60  // stands for infinity

// What V.x and the goal did: V.x came to zero from below in compression or from above in restitution, or
// the goal is met.
typedef enum crRouthEvent { CR_ROUTH_NONE, CR_ROUTH_TURN, CR_ROUTH_END } crRouthEvent;

// The process: what is given, where it is, and what it waits for.
typedef struct crRouth {
    crContact c;       // mu finite
    crEnding ending;   // which restitution
    double tol;        // relative truncation error of a step along curved slip
    bool curved;       // integrate straight slip too, so that one method can be tried against the other
    crVec3 P;          // impulse so far; P.x is what drives the process, N s
    crVec3 V;          // velocity now; integrated by itself, so V_t keeps its digits on the way to zero, m/s
    double work;       // of the normal impulse, in restitution since its beginning, J
    double work_c;     // of the normal impulse up to the end of compression, J
    double goal;       // value of P.x, V.x or work (by ending) at which restitution is over
    bool restituting;  // V.x has come up to zero and not gone below it again
    bool ended;        // the answer is P
    bool jam;          // V.x was falling at some time
    int steps;         // taken along curved slip
    crVec3* points;    // NULL, or where to write the path (capacity)
    int capacity;
    int count;     // points written
    int per_step;  // points per step along curved slip
    int stride;    // steps per point, where there are more steps than room
    // NULL, or called before each step along curved slip: its length t in units of 1/Q, and the event at its end
    void (*watch)(void* ctx, double Q, double t, crRouthEvent event);
    void* watch_ctx;
} crRouth;

// Normal speed that is rounding: a share of the velocities that Vn is the sum of.
static inline double cr__routh_rest(const crRouth* r) {
    return 1e-12 * (cr_norm(r->c.V) + r->c.W.xx * r->P.x);
}

// Ready at P = 0 with the default tolerance.
void cr__routh_start(crRouth* r, const crContact* c, crEnding ending);
// To the end: r->ended, or false there because V.x never reaches what the ending asks for.
void cr__routh_follow(crRouth* r);

// Direction (1, uy, uz) of the path from V_t = 0 on. Returns true where it sticks, false where slip starts again.
bool cr__routh_from_rest(const crSym3* W, double mu, double* uy, double* uz);

// A straight piece: dP = (1, uy, uz) dPn and dVn = rate dPn, for dPn = length (may be INFINITY) or to the
// end, which it looks for in closed form. Leaves V_t alone.
void cr__routh_straight(crRouth* r, double length, double rate, double uy, double uz);
// Slip from V_t != 0 to the end or until V_t = 0; true where it is the latter.
bool cr__routh_slip(crRouth* r);

void cr__routh_pass(crRouth* r, crRouthEvent event);

// Write P to the path, if there is one; when it is full the last point is replaced.
void cr__routh_record(crRouth* r, crVec3 P);

#endif
