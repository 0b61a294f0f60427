// law.c - applying a law: check the input, change to the contact frame, let the law speak, audit, change
// back.
//
// The audit computes V+ = V + W P, the energy change and the four margins from raw data, and names the regime
// by V+ alone; a law is believed only where it says jam or no-solution. Fails: bad fields are refused by name
// (cr_collision_contact); an impulse that is not finite is refused as the law's fault.
#include "base/argument.h"
#include "pair.h"

#define REST_TOL 1e-9  // tangential speed below this share of all speeds involved counts as none

const char* cr_regime_name(crRegime regime) {
    static const char* const names[] = {"separate", "stick", "slip", "reversal", "jam", "no-solution"};
    return (unsigned)regime < sizeof names / sizeof names[0] ? names[regime] : "unknown";
}

static crRegime regime_of(const crContact* c, crVec3 V_plus) {
    double before = c->V.y * c->V.y + c->V.z * c->V.z;
    double after = V_plus.y * V_plus.y + V_plus.z * V_plus.z;
    crVec3 change = cr_sub(V_plus, c->V);
    double none = REST_TOL * REST_TOL * (cr_dot(c->V, c->V) + cr_dot(change, change));
    if (after <= none) return CR_REGIME_STICK;
    bool reversed = (before > none) & (c->V.y * V_plus.y + c->V.z * V_plus.z < 0.0);
    return reversed ? CR_REGIME_REVERSAL : CR_REGIME_SLIP;
}

// Everything but P, and but what only the law can know.
static void audit(const crContact* c, crHit* hit) {
    crVerdict verdict = cr_impulse_verdict(c, hit->P, CR_PERMISSIBLE_TOL);
    hit->V_plus = verdict.V_plus;
    hit->energy_change = verdict.energy_change;
    hit->margins = verdict.margins;
    hit->verdict = verdict.verdict;
    hit->permissible = verdict.permissible;
    hit->creates_energy = verdict.creates_energy;
    bool known = hit->regime == CR_REGIME_SEPARATE || hit->regime == CR_REGIME_JAM ||
                 hit->regime == CR_REGIME_NO_SOLUTION;
    if (!known) hit->regime = regime_of(c, hit->V_plus);
}

// The law's impulse alone. A contact that separates gets none, whatever the law.
static crStatus impulse_of(const crLaw* law, const crContact* c, crHit* hit, crError* error) {
    *hit = (crHit){.regime = CR_REGIME_SEPARATE, .solutions = 1};
    if (c->V.x > 0.0) return CR_OK;
    hit->regime = CR_REGIME_SLIP;
    crStatus status = law->apply(law->params, c, hit, error);
    if (status != CR_OK) return status;
    if (!cr_vec3_finite(hit->P)) {
        return cr_error_set(error, CR_ERR_FINITE, "law", "law: \"%s\" gave an impulse that is not finite",
                            law->name);
    }
    return CR_OK;
}

static crStatus check_law(const crLaw* law, crError* error) {
    return law != NULL && law->apply != NULL ? CR_OK : cr__missing(error, "law");
}

crStatus cr_law_apply_contact(const crLaw* law, const crContact* c, crHit* hit, crError* error) {
    crStatus status = check_law(law, error);
    if (status == CR_OK && c == NULL) status = cr__missing(error, "contact");
    if (status == CR_OK && hit == NULL) status = cr__missing(error, "hit");
    if (status == CR_OK) status = impulse_of(law, c, hit, error);
    if (status != CR_OK) return status;
    audit(c, hit);
    return CR_OK;
}

crStatus cr_law_apply(const crLaw* law, const crCollision* collision, crHit* hit, crError* error) {
    crContact contact;
    crMat3 frame;
    crStatus status = check_law(law, error);
    if (status == CR_OK && hit == NULL) status = cr__missing(error, "hit");
    if (status == CR_OK) status = cr_collision_contact(collision, &contact, &frame, error);
    if (status == CR_OK) status = cr_law_apply_contact(law, &contact, hit, error);
    if (status != CR_OK) return status;
    hit->P = cr_mat3_mul(frame, hit->P);
    hit->V_plus = cr_mat3_mul(frame, hit->V_plus);
    return CR_OK;
}

// One row of cr_law_many.
static crStatus row_impulse(const crLaw* law, const crCollision* collision, crVec3* P) {
    crContact contact;
    crMat3 frame;
    crHit hit;
    crStatus status = cr_collision_contact(collision, &contact, &frame, NULL);
    if (status == CR_OK) status = impulse_of(law, &contact, &hit, NULL);
    *P = status == CR_OK ? cr_mat3_mul(frame, hit.P) : cr_vec3(0, 0, 0);
    return status;
}

crStatus cr_law_many(const crLaw* law, int count, const crMat3* W, const crVec3* V, const crVec3* n,
                     const double* mu, const double* e, const double* et, crVec3* P, crStatus* status) {
    crStatus first = check_law(law, NULL);
    bool given = W != NULL && V != NULL && mu != NULL && e != NULL && et != NULL && P != NULL;
    if (count < 0 || (count > 0 && !given)) {
        first = CR_ERR_ARGUMENT;
    }
    if (first != CR_OK) return first;
    bool pairs = law->apply == cr__chatterjee_ruina && n != NULL;
    crCollision collision = cr_collision();
    collision.has_frame = n == NULL;
    collision.frame = collision.W;
    for (int i = 0; i < count; i++) {
        if (pairs && i % 2 == 0 && count - i >= 2 &&
            cr__chatterjee_ruina_pair(W + i, V + i, n + i, mu + i, e + i, et + i, P + i)) {
            for (int k = i; status != NULL && k < i + 2; k++) {
                status[k] = CR_OK;
            }
            i += 1;
            continue;
        }
        collision.W = W[i];
        collision.V = V[i];
        if (n != NULL) collision.n = n[i];
        collision.mu = mu[i];
        collision.e = e[i];
        collision.et = et[i];
        crStatus row = row_impulse(law, &collision, &P[i]);
        if (status != NULL) status[i] = row;
        if (first == CR_OK) first = row;
    }
    return first;
}
