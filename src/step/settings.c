// settings.c - settings of a step: defaults, and the check of every field.
//
// Fails: CR_ERR_RANGE, CR_ERR_FINITE, CR_ERR_NAME or CR_ERR_ARGUMENT, with the field, its value and its
// range.
#include "carom/stages.h"
#include "resolve/kinds.h"

crStepSettings cr_step_settings(void) {
    return (crStepSettings){
        .method = CR_METHOD_CONE,
        .dt = 1.0 / 240.0,
        .level = CR_LEVEL_POSITION,
        .directions = 8,
        .theta = 0.5,
        .activation = 0.5,
        .rule = cr__rule(&cr__rule_poisson, NULL),
        .law = cr__law(&cr__law_chatterjee_ruina, NULL),
        .solver = cr__solver(&cr__solver_auto, NULL),
        .shift = 1e-5,
        .measure = 60,
        .quality = CR_QUALITY_ACCURATE,
        .threads = 1,
        .threshold = 0.01,
        .cluster = 1e-6,
        .position_tol = 0.1,
        .impact_limit = 10000,
        .bound = 1e6,
        .sleep_speed = 0.005,
    };
}

double cr_step_tol(const crStepSettings* settings) {
    if (settings == NULL) return (double)NAN;
    if (settings->tol > 0.0) return settings->tol;
    if (settings->method != CR_METHOD_CONE) return 1e-8;
    return settings->quality == CR_QUALITY_FAST       ? 1e-4
           : settings->quality == CR_QUALITY_ACCURATE ? 1e-6
                                                      : 1e-8;
}

const char* cr_method_name(crMethod method) {
    static const char* const names[] = {"cone", "lcp", "moreau", "event"};
    return (unsigned)method < sizeof names / sizeof names[0] ? names[method] : NULL;
}

const char* cr_quality_name(crQuality quality) {
    static const char* const names[] = {"fast", "accurate", "certified"};
    return (unsigned)quality < sizeof names / sizeof names[0] ? names[quality] : NULL;
}

static crStatus check_number(const char* field, double value, double least, double most, crError* error) {
    if (value >= least && value <= most && isfinite(value)) return CR_OK;
    return cr_error_set(error, isfinite(value) ? CR_ERR_RANGE : CR_ERR_FINITE, field,
                        "%s: is %g, must be in [%g, %g]", field, value, least, most);
}

static crStatus check_choices(const crStepSettings* s, crError* error) {
    if (cr_method_name(s->method) == NULL) {
        return cr_error_set(error, CR_ERR_NAME, "method", "method: there is none with number %d",
                            (int)s->method);
    }
    if (cr_quality_name(s->quality) == NULL) {
        return cr_error_set(error, CR_ERR_NAME, "quality", "quality: there is none with number %d",
                            (int)s->quality);
    }
    if (s->threads < 1 || s->threads > 256) {
        return cr_error_set(error, CR_ERR_RANGE, "threads", "threads: is %d, must be in [1, 256]",
                            s->threads);
    }
    bool known = (unsigned)s->level <= CR_LEVEL_VELOCITY && (unsigned)s->toi <= CR_TOI_ADVANCE &&
                 (unsigned)s->restitution <= CR_LCP_POISSON && (unsigned)s->locate <= CR_LOCATE_NONE;
    if (!known) {
        return cr_error_set(error, CR_ERR_NAME, "level", "level, toi, restitution or locate: no such choice");
    }
    if (s->rule.resolve == NULL || s->law.apply == NULL || s->solver.solve == NULL) {
        return cr_error_set(error, CR_ERR_ARGUMENT, "rule",
                            "rule, law and solver: each must have a function");
    }
    if (s->directions < 3 || s->impact_limit < 1) {
        return cr_error_set(error, CR_ERR_RANGE, "directions",
                            "directions: is %d, must be >= 3; impact_limit: is %d, must be >= 1",
                            s->directions, s->impact_limit);
    }
    return CR_OK;
}

crStatus cr_step_settings_check(const crStepSettings* s, crError* error) {
    if (s == NULL) return cr_error_set(error, CR_ERR_ARGUMENT, "settings", "settings: must be given");
    crStatus status = check_choices(s, error);
    if (status == CR_OK) status = check_number("dt", s->dt, 1e-12, 1e6, error);
    if (status == CR_OK) status = check_number("error", s->error, s->error == 0.0 ? 0.0 : 1e-15, 1e6, error);
    if (status == CR_OK) status = check_number("theta", s->theta, 0.0, 1.0, error);
    if (status == CR_OK) status = check_number("activation", s->activation, 0.0, 2.0, error);
    if (status == CR_OK) status = check_number("tol", s->tol, s->tol == 0.0 ? 0.0 : 1e-15, 1.0, error);
    if (status == CR_OK) status = check_number("shift", s->shift, 0.0, 1.0, error);
    if (status == CR_OK) status = check_number("measure", s->measure, 0.0, 1e9, error);
    if (status == CR_OK) status = check_number("threshold", s->threshold, 0.0, 1e6, error);
    if (status == CR_OK) status = check_number("cluster", s->cluster, 0.0, 1e6, error);
    if (status == CR_OK)
        status = check_number("deadband", s->deadband, s->deadband == 0.0 ? 0.0 : 1e-12, 0.1, error);
    if (status == CR_OK) status = check_number("position_tol", s->position_tol, 1e-6, 1.0, error);
    if (status == CR_OK) status = check_number("bound", s->bound, 1e-3, 1e100, error);
    if (status == CR_OK) status = check_number("sleep_time", s->sleep_time, 0.0, 1e6, error);
    if (status == CR_OK) status = check_number("sleep_speed", s->sleep_speed, 0.0, 1e6, error);
    return status;
}

bool cr__step_solves_alike(const crStepSettings* s, bool* reads_et) {
    const crRuleParams* params = s->rule.params;
    crRule newton = cr__rule(&cr__rule_newton, NULL), poisson = cr__rule(&cr__rule_poisson, NULL);
    *reads_et = s->rule.resolve == newton.resolve;
    bool known = *reads_et || s->rule.resolve == poisson.resolve;
    return known && (params == NULL || params->directions == 0);
}
