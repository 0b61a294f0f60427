// cue.c - a billiard ball struck by a level cue.
//
// The tip does not slip, so the impulse J along the cue acts at the offset (a to the left, b up) from the centre:
//     J = (1 + e) V / (1/M + 1/m + (a^2 + b^2)/I),   v = J/m,   omega = (0, b, -a) J/I,   I = 2/5 m R^2
// While it touches, the ball turns under the tip and pushes the end of the cue aside. With the end mass m_e the ball goes
// off at tan(squirt) = 5/2 c sqrt(1 - c^2) / (1 + m/m_e + 5/2 (1 - c^2)), c = a/R, away from the side struck.
// Source: Cross 2008 (Am. J. Phys. 76, 205) and Shepard 2001 for the end mass; Alciatore, technical proofs A.30, A.31.
// Fails: each field by name; an offset beyond what friction of the tip holds, sqrt(a^2 + b^2)/R > mu/sqrt(1 + mu^2), is a
// miscue.
#include "base/argument.h"
#include "carom/forms.h"
#include "carom/impulse.h"

static crStatus check(const crCue* cue, double m, double R, double V, crError* error) {
    const double values[] = {cue->mass, cue->end_mass, m, R, V};
    const char* const names[] = {"mass", "end_mass", "ball_mass", "ball_radius", "speed"};
    for (int i = 0; i < 5; i++) {
        if (!(values[i] > 0.0 && isfinite(values[i]))) {
            return cr_error_set(error, CR_ERR_RANGE, names[i], "%s: is %g, must be > 0 and finite", names[i],
                                values[i]);
        }
    }
    if (!(cue->e >= 0.0 && cue->e <= 1.0)) {
        return cr_error_set(error, CR_ERR_RANGE, "e", "e: is %g, must be from 0 to 1", cue->e);
    }
    if (!(cue->mu >= 0.0)) return cr_error_set(error, CR_ERR_RANGE, "mu", "mu: is %g, must be >= 0", cue->mu);
    return CR_OK;
}

crStatus cr_cue_strike(const crCue* cue, double m, double R, double V, double side, double height,
                       crStrike* strike, crError* error) {
    if (cue == NULL) return cr__missing(error, "cue");
    if (strike == NULL) return cr__missing(error, "strike");
    crStatus status = check(cue, m, R, V, error);
    if (status != CR_OK) return status;
    double a = side / R, b = height / R, square = a * a + b * b;
    if (!(square < 1.0)) {
        return cr_error_set(error, CR_ERR_RANGE, "side",
                            "side: the tip at (%g, %g) misses a ball of radius %g", side, height, R);
    }
    *strike = (crStrike){0};
    // the tip pushes along x; the normal of the ball is off it by asin of the offset
    strike->miscue = square > cue->mu * cue->mu * (1.0 - square);
    if (strike->miscue) return CR_OK;
    double I = 0.4 * m * R * R;
    double J = (1.0 + cue->e) * V / (1.0 / cue->mass + 1.0 / m + square * R * R / I);
    double tangent = 2.5 * a * sqrt(1.0 - a * a) / (1.0 + m / cue->end_mass + 2.5 * (1.0 - a * a));
    double speed = J / m, length = sqrt(1.0 + tangent * tangent);
    strike->impulse = J;
    strike->squirt = cr_atan2(tangent, 1.0);
    strike->velocity = cr_vec3(speed / length, -speed * tangent / length, 0.0);
    strike->omega = cr_vec3(0.0, b * R * J / I, -a * R * J / I);
    return CR_OK;
}
