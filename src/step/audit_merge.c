// audit_merge.c - figures of single solves enter the certificate of the step: the worst counts; work of drives adds up; a tally of steps.
#include "step/audit.h"

// from best to worst
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

void cr__audit_merge(crCertificate* c, const crAudit* audit, crOutcome outcome) {
    c->solves++;
    cr__audit_outcome(c, outcome);
    c->residual = fmax(c->residual, audit->residual);
    c->eta = fmax(c->eta, audit->eta);
    c->distance = fmax(c->distance, audit->distance);
    c->floor = fmax(c->floor, audit->floor);
    c->momentum = fmax(c->momentum, audit->momentum);
    c->approach = fmax(c->approach, audit->approach);
    c->cone = fmax(c->cone, audit->cone);
    c->dissipation = fmax(c->dissipation, audit->dissipation);
    c->complementarity = fmax(c->complementarity, audit->complementarity);
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

void cr__audit_drives(crStep* step) {
    for (int i = 0; step->plan->given_count > 0 && i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        cr__audit_drive(step->model, &step->dynamics, step->audited.drive, c->body_a, c->body_b,
                        c->point.point, c->impulse);
    }
}

static double worse(double all, double one) { return one > all || isnan(all) ? one : all; }

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
    if (rank(c->outcome) >= rank(w->outcome)) w->outcome = c->outcome;
    w->contacts = c->contacts > w->contacts ? c->contacts : w->contacts;
    w->rows = c->rows > w->rows ? c->rows : w->rows;
    w->impacts += c->impacts;
    if (c->solves == 0) tally->idle++;
    if (c->solves > 0) {
        tally->mean_residual += (c->residual - tally->mean_residual) / (double)(tally->steps - tally->idle);
    }
    w->solves += c->solves;
    w->residual = worse(w->residual, c->residual);
    w->eta = worse(w->eta, c->eta);
    w->distance = worse(w->distance, c->distance);
    w->floor = worse(w->floor, c->floor);
    w->momentum = worse(w->momentum, c->momentum);
    w->approach = worse(w->approach, c->approach);
    w->cone = worse(w->cone, c->cone);
    w->dissipation = worse(w->dissipation, c->dissipation);
    w->complementarity = worse(w->complementarity, c->complementarity);
    w->penetration = worse(w->penetration, c->penetration);
    if (tally->measured == 0) w->overlap = (double)NAN;
    if (!isnan(c->overlap)) w->overlap = worse(w->overlap, c->overlap);
    tally->measured += !isnan(c->overlap);
    w->crossings += c->crossings;
    w->crossings_unsure += c->crossings_unsure;
    w->loop_error = worse(w->loop_error, c->loop_error);
    w->time_error += c->time_error;
    w->energy_change += c->energy_change;
    w->energy_created += c->energy_created;
    w->energy_size = worse(w->energy_size, c->energy_size);
    if (isnan(c->energy_gain)) {
        tally->unknown++;
    } else {
        w->work += c->work;
        w->energy_gain += c->energy_gain;
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
    double energy = CR_ENERGY_TOL * c->energy_size;
    bool fails = rank(c->outcome) == 4 || c->crossings > 0 || c->impermissible > 0 || c->truncated ||
                 c->escaped > 0 || c->energy_created > energy || c->energy_gain > energy ||
                 !(c->penetration <= overlap);
    bool unsure = c->outcome == CR_OUTCOME_UNSURE || c->crossings_unsure > 0 || c->impacts_unsure > 0 ||
                  isnan(c->energy_gain);
    return fails ? CR_TRUTH_NO : unsure ? CR_TRUTH_UNSURE : CR_TRUTH_YES;
}

crTruth cr_tally_holds(const crTally* tally, double overlap) {
    if (tally == NULL) return CR_TRUTH_NO;
    crTruth holds = cr_certificate_holds(&tally->worst, overlap);
    return tally->unknown > 0 ? cr_truth_and(holds, CR_TRUTH_UNSURE) : holds;
}
