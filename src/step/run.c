// run.c - the step by the method that the settings name, and its audit.
//
// Fails: CR_ERR_NAME for an unknown method; CR_ERR_RANGE for a bad h; as the method does.
#include "step/audit.h"

static crStatus run_method(crStep* step, double h, crError* error) {
    if (!(h > 0.0) || !isfinite(h)) {
        return cr_error_set(error, CR_ERR_RANGE, "h", "h: is %g, must be finite and > 0", h);
    }
    switch (step->settings.method) {
    case CR_METHOD_CONE:
        return cr_step_cone(step, h, error);
    case CR_METHOD_LCP:
        return cr_step_lcp(step, h, error);
    case CR_METHOD_EVENT:
        return cr_step_event(step, h, error);
    case CR_METHOD_MOREAU:
        return cr_step_moreau(step, h, error);
    default:
        return cr_error_set(error, CR_ERR_NAME, "method", "method: \"%s\" is not among the steppers",
                            cr_method_name(step->settings.method));
    }
}

crStatus cr_step_run(crStep* step, double h, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    crStatus status = run_method(step, h, error);
    return status == CR_OK ? cr__audit_step(step, h, error) : status;
}
