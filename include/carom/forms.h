// forms.h - coefficients that depend on the impact, their named forms, and a ball struck by a cue. Experimental: not part of
// carom.h.
//
// Units: SI, rad.
#ifndef CAROM_FORMS_H
#define CAROM_FORMS_H

#include "carom/impulse.h"

#ifdef __cplusplus
extern "C" {
#endif

// Figures of an impact that coefficients may depend on. V is the velocity of b's contact point against a's, omega the
// angular velocity of b against a, before the impact.
typedef struct crApproach {
    double speed;  // approach speed -n.V, 0 where the points separate, m/s
    double slip;   // tangential speed |V - (n.V) n|, m/s
    double angle;  // of incidence: atan2(slip, speed), 0 is head-on, pi/2 grazing, rad
    double spin;   // |n.omega|, about the normal, rad/s; topspin and backspin are part of slip and angle
} crApproach;
typedef enum crFigure { CR_FIGURE_SPEED, CR_FIGURE_SLIP, CR_FIGURE_ANGLE, CR_FIGURE_SPIN } crFigure;

CR_API const char* cr_figure_name(crFigure figure);                         // "speed", ...; NULL for no such
CR_API crApproach cr_approach(crVec3 n, crVec3 V, crVec3 omega);            // n: unit
CR_API double cr_approach_figure(const crApproach* approach, crFigure by);  // NaN for no such

// A coefficient over one or two figures: a table (linear or bilinear between its rows, constant beyond its ends) or, where
// function is given, that function.
typedef struct crCurve {
    crFigure by[2];       // of the rows, of the columns
    int rows, columns;    // >= 1; columns 1: the second figure is not read
    const double* x;      // strictly ascending, >= 0 (rows)
    const double* y;      // strictly ascending, >= 0 (columns), NULL for one column
    const double* value;  // (rows*columns), row by row
    double (*function)(void* ctx, const crApproach* approach);
    void* ctx;
} crCurve;
CR_API double cr_curve_at(const crCurve* curve, const crApproach* approach);

// Coefficients of a surface or a collision that depend on the impact; NULL where one does not. Each is computed from the
// velocities before the impact and then is a constant of the law. A law that creates no energy for every e of 0 to 1, et of
// -1 to 1 and mu >= 0 therefore creates none with these; e above 1 is allowed and left to the audit. In a lasting contact
// mu is that of the slip at the beginning of the step.
struct crByImpact {
    const crCurve* e;   // >= 0; overrides e and e_of_speed
    const crCurve* et;  // -1 to 1
    const crCurve* mu;  // >= 0, round friction only
};

// A coefficient by a named form, as a table over one figure.
typedef enum crFormKind {
    CR_FORM_POWER,  // over speed: e0 (v/v0)^-exponent, at most `most`
    CR_FORM_VISCOELASTIC,  // over speed: spheres with Hertz's force and viscous damping (Kuwabara and Kono), e0 at v0
    CR_FORM_PLASTIC,  // over speed: elastic spheres that yield from v0 on (Johnson, Thornton); e0 is not read
    CR_FORM_SPLINE,   // over any figure: a smooth curve through the rows given, without overshoot
    CR_FORM_DECAY,    // over any figure: end + (begin - end) exp(-x/scale)
    CR_FORM_GRIP,     // et over angle: grip (1 - tan(angle)/tan(limit)) up to the limit, then 0
} crFormKind;

CR_API const char* cr_form_name(crFormKind kind);  // "power", ...; NULL for no such

typedef struct crForm {
    crFormKind kind;
    double speed;          // v0, > 0, m/s
    double e;              // e0, > 0 to 1; viscoelastic: below 1
    double exponent;       // power: 0 to 2
    double most;           // power: largest e, > 0 to 1; it is met at low speed
    int count;             // spline: rows, 2 to 16
    const double* speeds;  // spline: places, strictly ascending, >= 0 (count)
    const double* values;  // spline: -1 to 1e9 (count)
    double begin, end;     // decay: values at 0 and far away, finite
    double scale;          // decay: > 0
    double grip;           // grip: et of a ball that grips, 0 to 1
    double limit;          // grip: angle from which on the ball slides throughout, > 0 and < pi/2, rad
} crForm;

#define CR_FORM_ROWS 129
// The form as a table. Forms over speed: eight speeds per octave from v0/256 to 256 v0 (plastic: v0 to 65536 v0); splines: 8 per row; decay: 0 to 12
// scale; grip: 0 to limit. Straight between them and constant beyond: at most 2e-3 of its largest value away from it. x and
// value have room for CR_FORM_ROWS; returns the rows written, or a negative crStatus.
CR_API int cr_form_table(const crForm* form, double* x, double* value, crError* error);

// A ball at rest struck by a level cue. x is along the cue, z up; the tip meets the ball `side` to the left (y) and
// `height` above its centre.
typedef struct crCue {
    double mass;      // of the cue, > 0, kg
    double end_mass;  // of its end, which the ball pushes aside: squirt; > 0, kg
    double e;         // restitution of the tip, 0 to 1
    double mu;        // friction of the tip: more offset than it holds is a miscue
} crCue;
typedef struct crStrike {
    crVec3 velocity;  // of the ball, m/s
    crVec3 omega;     // rad/s
    double squirt;    // angle of its path from x, against the side struck, rad
    double impulse;   // along x, N s
    bool miscue;      // the tip slips off: nothing else is filled
} crStrike;
CR_API crStatus cr_cue_strike(const crCue* cue, double ball_mass, double ball_radius, double speed,
                              double side, double height, crStrike* strike, crError* error);

#ifdef __cplusplus
}
#endif

#endif
