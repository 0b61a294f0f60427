// forms.h - restitution by named forms of speed, and a ball struck by a cue. Experimental: not part of carom.h.
//
// Units: SI, rad.
#ifndef CAROM_FORMS_H
#define CAROM_FORMS_H

#include "carom/impulse.h"

#ifdef __cplusplus
extern "C" {
#endif

// Restitution by a named form, as a table for crRestitution: never above 1, so that a law that is good for e <= 1 is.
typedef enum crFormKind {
    CR_FORM_POWER,         // e0 (v/v0)^-exponent
    CR_FORM_VISCOELASTIC,  // spheres with Hertz's force and viscous damping (Kuwabara and Kono), e0 at v0
    CR_FORM_PLASTIC,  // elastic spheres that yield from the speed v0 on (Johnson, Thornton); e0 is not read
    CR_FORM_SPLINE,   // a smooth curve through the rows given, without overshoot
} crFormKind;

CR_API const char* cr_form_name(crFormKind kind);  // "power", ...; NULL for no such

typedef struct crRestitutionForm {
    crFormKind kind;
    double speed;          // v0, > 0, m/s
    double e;              // e0, > 0 to 1; viscoelastic: below 1
    double exponent;       // power: 0 to 2
    double most;           // power: largest e, > 0 to 1; it is met at low speed
    int count;             // spline: rows, 2 to 16
    const double* speeds;  // spline: strictly ascending, >= 0 (count)
    const double* values;  // spline: 0 to 1 (count)
} crRestitutionForm;

#define CR_FORM_ROWS 129
// The form at eight speeds per octave from v0/256 to 256 v0 (splines: 8 per row), straight between them and constant
// beyond: at most 2e-3 of e away from it. speed and e have room for CR_FORM_ROWS; returns the rows written, or a negative
// crStatus.
CR_API int cr_restitution_form(const crRestitutionForm* form, double* speed, double* e, crError* error);

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
