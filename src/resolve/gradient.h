// gradient.h - what the files of the gradient share (see gradient.c for the way it is found).
#ifndef CAROM_RESOLVE_GRADIENT_H
#define CAROM_RESOLVE_GRADIENT_H

#include "gradient_dual.h"
#include "resolve/kinds.h"

#define CR__MAX_GAUGES 12

// One side of a switching surface: value > 0 here, 0 on the surface.
typedef struct cr__Gauge {
    crSwitch which;
    int other;     // piece beyond the surface
    double value;  // with its derivatives by the inputs of the contact
    double by[CR__CLOSED_INPUTS];
} cr__Gauge;

// A closed law in one of its pieces, in the contact frame.
typedef struct cr__Piece {
    crVec3 P;
    crVec3 by[CR__CLOSED_INPUTS];
    bool differenced[CR__CLOSED_INPUTS];  // true for an input whose derivative only differences give
    int gauges;
    cr__Gauge gauge[CR__MAX_GAUGES];
} cr__Piece;

#define CR__OWN_PIECE (-1)  // the piece that the law is in

// A contact as duals, each field an input of its own.
typedef struct cr__DualContact {
    cr__Dual xx, xy, xz, yy, yz, zz;
    cr__Dual V[3];
    cr__Dual mu, e, et, nu, mu2, mu3, eta2;
    crEnding ending;
    int directions;
    crContact c;  // the same as numbers
} cr__DualContact;

// Derivative of a closed law as if it were in the piece asked for. false: the law's equations are singular.
typedef bool (*cr__PieceFn)(const cr__DualContact* d, int piece, cr__Piece* out);

// D that ends the slip beside the normal impulse -Un/Wnn and leaves that normal velocity alone (P_II - P_I for
// Un = Vn), through the Schur complement as in law_chatterjee_ruina.c.
void cr__stopping_slip(const cr__DualContact* d, cr__Dual Un, cr__Dual D[3]);

// Any law with mu = 0: newton; what friction would do is left to differences.
bool cr__piece_frictionless(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_newton(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_bilinear(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_chatterjee_ruina(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_brach(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_whittaker(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_smith(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_anitescu_potra(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_pfeiffer_glocker(const cr__DualContact* d, int piece, cr__Piece* out);

bool cr__piece_routh(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_compliant(const cr__DualContact* d, int piece, cr__Piece* out);
bool cr__piece_polygon(const cr__DualContact* d, int piece, cr__Piece* out);

// Derivatives of the unknowns of a law's equations.
typedef struct cr__Unknowns {
    double by[CR__UNKNOWNS][CR__CLOSED_INPUTS];
} cr__Unknowns;
// X = -(dF/dx)^-1 dF/dinput for n equations F = 0. false: dF/dx is singular.
bool cr__solve_unknowns(int n, const cr__Dual* F, cr__Unknowns* X);
// V + W P
void cr__velocity_after(const cr__DualContact* d, const cr__Dual P[3], cr__Dual u[3]);
// Writes P, its derivatives and a gauge into a piece. X is NULL where there are no unknowns.
void cr__piece_impulse(cr__Piece* out, const cr__Dual P[3], const cr__Unknowns* X);
void cr__piece_gauge(cr__Piece* out, crSwitch which, int other, const cr__Dual* g, const cr__Unknowns* X);

// What a gradient is taken of.
typedef struct cr__Point {
    const crLaw* law;
    const crCollision* collision;
    crContact contact;
    crMat3 frame;
    bool flat;   // planar, and W blocks t2: only changes within the plane count
    double tol;  // relative distance from which on a switch does not count
} cr__Point;

// The collision with input k, one of W, V, n, mu, e and et, changed by h.
void cr__point_shift(const cr__Point* p, int k, double h, crCollision* out);
// Change of W per unit of input k, and of the vector whose inputs begin with first (V or n); zero for others.
crMat3 cr__point_dW(const cr__Point* p, int k);
crVec3 cr__point_dvector(const cr__Point* p, int k, int first);

// What input k does in the contact frame: to the contact's own inputs, and to the frame (dF = F T). slope is that
// of e over the approach speed.
typedef struct cr__Change {
    double by[CR__CLOSED_INPUTS];
    double a, b, spin;
} cr__Change;
cr__Change cr__point_change(const cr__Point* p, int k, double slope);
crVec3 cr__turned(const cr__Change* t, crVec3 x);  // T x

// The contact as duals; one that separates is taken at n.V = 0.
cr__DualContact cr__point_contact(const cr__Point* p);

// By how much an input changes if it changes by all of itself.
double cr__point_scale(const cr__Point* p, int k);
const crLawParams* cr__point_params(const cr__Point* p, crLawParams* defaults);

// The gradient by differences of the law (gradient_difference.c). reads says which inputs are tried.
void cr__gradient_difference(const cr__Point* p, crGradient* out);
// The same for input k alone.
void cr__gradient_difference_by(const cr__Point* p, int k, crGradient* out);
// The gradient of a closed law (gradient_sides.c). Returns false, with out unchanged, where the law's equations are
// singular.
bool cr__gradient_closed(const cr__Point* p, cr__PieceFn piece, crGradient* out);
// Verdict none: every derivative by an input that the law reads is NaN.
void cr__gradient_none(crGradient* out);

#endif
