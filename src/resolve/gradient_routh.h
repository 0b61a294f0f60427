// gradient_routh.h - Routh's path in numbers that carry their derivatives (see gradient_routh.c).
#ifndef CAROM_RESOLVE_GRADIENT_ROUTH_H
#define CAROM_RESOLVE_GRADIENT_ROUTH_H

#include "gradient.h"
#include "routh.h"

typedef struct cr__RouthPath {
    const cr__DualContact* d;
    cr__Piece* out;
    cr__Dual P[3], V[3];  // now
    cr__Dual speed;       // |V_t|, during slip
    cr__Dual work, work_c, goal;
    bool restituting;
    bool ended;
    bool jam;     // Vn crossed zero more than once
    int piece;    // piece asked for, or CR__OWN_PIECE
    bool halted;  // slip is cut off here: the piece asked for stops it before the event that came
    bool failed;
} cr__RouthPath;

// The series of one step along curved slip: t in units of 1/Q, up to an event.
void cr__routh_slip_step(cr__RouthPath* p, double Q, double t, crRouthEvent event);
// What the ending waits for: Pn, Vn or work.
cr__Dual cr__routh_waited(const cr__RouthPath* p);
// Pieces of the path: when sticking begins, whether it slips again, whether it jams.
enum { FIRST = 0, MIDDLE = 1, NEVER = 2, LEAVES = 4, JAMS = 8 };
// A switch to another piece where g is zero.
void cr__routh_gauge(cr__RouthPath* p, crSwitch which, int other, cr__Dual g);
// The surface on which an extremum of Vn is zero.
void cr__routh_jam_gauge(cr__RouthPath* p, cr__Dual Vn);

#endif
