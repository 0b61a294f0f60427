// audit_merge.c - certificates from the worst figures of solves and steps; work of driven bodies.
#include "step/audit.h"

// rank of an outcome, from 0 (best) to 4 (worst)
static int rank(crOutcome outcome) {
    switch (outcome) {
    case CR_OUTCOME_SOLVED:
        return 0;
    case CR_OUTCOME_NEAR:
        return 1;
    case CR_OUTCOME_BOUNDED:
        return 2;
    case CR_OUTCOME_UNSURE:
        return 3;
    default:
        return 4;
    }
}

void cr__audit_outcome(crCertificate* c, crOutcome outcome) {
    if (rank(outcome) >= rank(c->outcome)) c->outcome = outcome;
}

// the larger number; NaN counts as less. The result of fmax for 0 and -0 would depend on the compiler
static double worse(double all, double one) { return one > all || isnan(all) ? one : all; }

// Keeps the worst of each figure.
static void merge_figures(crCertificate* c, const crCertificate* other) {
    c->residual = worse(c->residual, other->residual);
    c->eta = worse(c->eta, other->eta);
    c->distance = worse(c->distance, other->distance);
    c->floor = worse(c->floor, other->floor);
    c->momentum = worse(c->momentum, other->momentum);
    c->laws.approach = worse(c->laws.approach, other->laws.approach);
    c->laws.cone = worse(c->laws.cone, other->laws.cone);
    c->laws.dissipation = worse(c->laws.dissipation, other->laws.dissipation);
    c->laws.complementarity = worse(c->laws.complementarity, other->laws.complementarity);
    c->penetration = worse(c->penetration, other->penetration);
}

void cr__audit_merge(crCertificate* c, const crAudit* audit, crOutcome outcome) {
    crCertificate one = {.residual = audit->residual,
                         .eta = audit->eta,
                         .distance = audit->distance,
                         .floor = audit->floor,
                         .momentum = audit->momentum,
                         .laws = audit->laws};
    merge_figures(c, &one);
    cr__audit_outcome(c, outcome);
    c->solves++;
}

void cr__audit_add(crCertificate* c, const crCertificate* other) {
    merge_figures(c, other);
    cr__audit_outcome(c, other->outcome);
    if (c->solves == 0) c->solves = other->solves;
    c->contacts += other->contacts;
    c->rows += other->rows;
    c->energy.created += other->energy.created;
}

void cr__audit_drive(const crModel* model, const crDynamics* d, double* drive, int body_a, int body_b,
                     crVec3 point, crVec3 P) {
    for (int side = 0; side < 2; side++) {
        int driven = side == 0 ? body_a : body_b, body = side == 0 ? body_b : body_a;
        if (cr__moves(model, driven) || !cr__moves(model, body)) continue;
        crVec3 u = cr__twist_at(d->given[driven], cr_sub(point, d->origin[driven]));
        drive[body] += (side == 0 ? 1.0 : -1.0) * cr_dot(P, u);
    }
}

void cr__audit_drives(const crPlan* plan, const crDynamics* d, const crStepContacts* contacts,
                      double* drive) {
    for (int i = 0; plan->given_count > 0 && i < contacts->count; i++) {
        const crStepContact* c = &contacts->list[i];
        cr__audit_drive(plan->model, d, drive, c->body_a, c->body_b, c->point.point, c->impulse);
    }
}

void cr_tally_add(crTally* tally, const crCertificate* c) {
    if (tally == NULL || c == NULL) return;
    crCertificate* w = &tally->worst;
    int place = c->truncated ? 4 : rank(c->outcome);
    tally->steps++;
    tally->solved += place == 0;
    tally->near += place == 1;
    tally->bounded += place == 2;
    tally->unsure += place == 3;
    tally->failed += place == 4;
    cr__audit_outcome(w, c->outcome);
    w->contacts = c->contacts > w->contacts ? c->contacts : w->contacts;
    w->rows = c->rows > w->rows ? c->rows : w->rows;
    w->impacts += c->impacts;
    if (c->solves == 0) tally->idle++;
    if (c->solves > 0) {
        tally->mean_residual += (c->residual - tally->mean_residual) / (double)(tally->steps - tally->idle);
    }
    w->solves += c->solves;
    merge_figures(w, c);
    if (tally->measured == 0) w->overlap = (double)NAN;
    if (!isnan(c->overlap)) w->overlap = worse(w->overlap, c->overlap);
    tally->measured += !isnan(c->overlap);
    w->crossings += c->crossings;
    w->crossings_unsure += c->crossings_unsure;
    w->loop_error = worse(w->loop_error, c->loop_error);
    w->time_error += c->time_error;
    w->energy.change += c->energy.change;
    w->energy.created += c->energy.created;
    w->energy.size = worse(w->energy.size, c->energy.size);
    if (isnan(c->energy.gain)) {
        tally->unknown++;
    } else {
        w->energy.work += c->energy.work;
        w->energy.gain += c->energy.gain;
    }
    w->impermissible += c->impermissible;
    w->impacts_unsure += c->impacts_unsure;
    w->truncated = w->truncated || c->truncated;
    w->asleep = c->asleep > w->asleep ? c->asleep : w->asleep;
    w->escaped = c->escaped > w->escaped ? c->escaped : w->escaped;
    if (w->escapee == 0) w->escapee = c->escapee;
}

crTruth cr_certificate_holds(const crCertificate* c, double overlap) {
    if (c == NULL) return CR_TRUTH_NO;
    double energy = CR_ENERGY_TOL * c->energy.size;
    bool fails = rank(c->outcome) == 4 || c->crossings > 0 || c->impermissible > 0 || c->truncated ||
                 c->escaped > 0 || c->energy.created > energy || c->energy.gain > energy ||
                 !(c->penetration <= overlap);
    bool unsure = c->outcome == CR_OUTCOME_UNSURE || c->crossings_unsure > 0 || c->impacts_unsure > 0 ||
                  isnan(c->energy.gain);
    return fails ? CR_TRUTH_NO : unsure ? CR_TRUTH_UNSURE : CR_TRUTH_YES;
}

crTruth cr_tally_holds(const crTally* tally, double overlap) {
    if (tally == NULL) return CR_TRUTH_NO;
    crTruth holds = cr_certificate_holds(&tally->worst, overlap);
    return tally->unknown > 0 ? cr_truth_and(holds, CR_TRUTH_UNSURE) : holds;
}
