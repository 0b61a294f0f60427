// bodies.c - W and V at a contact of two rigid bodies, or W of any mechanism.
//
// For a free body with r = point - centre of mass:  v_point = v + omega x r, and an impulse P at the point
// gives dv_point = P / mass + (I^-1 (r x P)) x r, so W = sum over both bodies of (1/mass) 1 - [r]x I^-1 [r]x.
// Fixed bodies contribute nothing to W; their motion enters V. A mechanism is asked for its response to three
// unit impulses (Chatterjee and Ruina 1998, appendix A.1).
// Fails: mass or inertia that is not positive, non-finite numbers, two fixed bodies.
#include <stdio.h>

#include "base/argument.h"
#include "carom/region.h"

crRigid cr_rigid(void) {
    crRigid body = {0};
    body.mass = 1.0;
    body.inertia.xx = body.inertia.yy = body.inertia.zz = 1.0;
    body.orientation = cr_quat_identity();
    return body;
}

crRigid cr_rigid_sphere(double mass, double radius) {
    crRigid body = cr_rigid();
    body.mass = mass;
    body.inertia.xx = body.inertia.yy = body.inertia.zz = 0.4 * mass * radius * radius;
    return body;
}

static crStatus refuse(crError* error, crStatus status, const char* body, const char* field, const char* what,
                       double value) {
    char path[16];
    snprintf(path, sizeof path, "%s.%s", body, field);
    return cr_error_set(error, status, path, "%s: %s, got %g", path, what, value);
}

static crStatus check_body(const crRigid* body, const char* name, crError* error) {
    const struct {
        const char* field;
        crVec3 value;
    } vectors[] = {{"position", body->position}, {"velocity", body->velocity}, {"omega", body->omega}};
    for (int i = 0; i < 3; i++) {
        crVec3 v = vectors[i].value;
        if (!cr_vec3_finite(v)) {
            double worst = isfinite(v.x) ? (isfinite(v.y) ? v.z : v.y) : v.x;
            return refuse(error, CR_ERR_FINITE, name, vectors[i].field, "must be finite", worst);
        }
    }
    crQuat q = body->orientation;
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(fabs(length - 1.0) <= 1e-6)) {
        return refuse(error, CR_ERR_UNIT, name, "orientation", "must be a unit quaternion, length", length);
    }
    if (body->fixed) return CR_OK;
    if (!(body->mass > 0.0 && isfinite(body->mass))) {
        return refuse(error, CR_ERR_RANGE, name, "mass", "must be > 0 and finite", body->mass);
    }
    crSym3 inverse;
    if (!cr_sym3_invert(body->inertia, &inverse) || !isfinite(cr_sym3_trace(inverse))) {
        return refuse(error, CR_ERR_DEFINITE, name, "inertia", "must be positive definite, trace",
                      cr_sym3_trace(body->inertia));
    }
    return CR_OK;
}

// I^-1 x with I in body axes
static crVec3 inverse_inertia(const crRigid* body, crVec3 x) {
    crSym3 inverse = {0};
    cr_sym3_invert(body->inertia, &inverse);
    crVec3 local = cr_quat_rotate(cr_quat_conj(body->orientation), x);
    return cr_quat_rotate(body->orientation, cr_sym3_mul(inverse, local));
}

// velocity of the body's point at r from the centre after impulse P there, minus before
static crVec3 respond(const crRigid* body, crVec3 r, crVec3 P) {
    if (body->fixed) return cr_vec3(0, 0, 0);
    return cr_madd(cr_cross(inverse_inertia(body, cr_cross(r, P)), r), 1.0 / body->mass, P);
}

crStatus cr_collision_bodies(crCollision* c, const crRigid* a, const crRigid* b, crVec3 point,
                             crError* error) {
    if (c == NULL) return cr__missing(error, "collision");
    if (a == NULL) return cr__missing(error, "a");
    if (b == NULL) return cr__missing(error, "b");
    crStatus status = check_body(a, "a", error);
    if (status == CR_OK) status = check_body(b, "b", error);
    if (status != CR_OK) return status;
    if (!cr_vec3_finite(point)) {
        return cr_error_set(error, CR_ERR_FINITE, "point", "point: every component must be finite");
    }
    if (a->fixed && b->fixed) {
        return cr_error_set(error, CR_ERR_ARGUMENT, "fixed", "fixed: at least one body must be free");
    }
    crVec3 ra = cr_sub(point, a->position);
    crVec3 rb = cr_sub(point, b->position);
    crVec3 column[3];
    for (int j = 0; j < 3; j++) {
        crVec3 unit = cr_vec3(j == 0, j == 1, j == 2);
        column[j] = cr_add(respond(a, ra, unit), respond(b, rb, unit));
    }
    c->W = cr_mat3_columns(column[0], column[1], column[2]);
    // rounding leaves the sum slightly unsymmetric
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < i; j++) {
            c->W.m[i][j] = c->W.m[j][i] = 0.5 * (c->W.m[i][j] + c->W.m[j][i]);
        }
    }
    crVec3 va = cr_add(a->velocity, cr_cross(a->omega, ra));
    crVec3 vb = cr_add(b->velocity, cr_cross(b->omega, rb));
    c->V = cr_sub(vb, va);
    c->omega = cr_sub(b->omega, a->omega);
    return CR_OK;
}

crRigid cr_rigid_after(const crRigid* body, crVec3 point, crVec3 P) {
    if (body == NULL) return (crRigid){0};
    crRigid after = *body;
    if (body->fixed) return after;
    crVec3 r = cr_sub(point, body->position);
    after.velocity = cr_madd(body->velocity, 1.0 / body->mass, P);
    after.omega = cr_add(body->omega, inverse_inertia(body, cr_cross(r, P)));
    return after;
}

crStatus cr_mechanism_W(crUnitImpulse respond_to, void* ctx, crMat3* W, crError* error) {
    if (respond_to == NULL) return cr__missing(error, "respond");
    if (W == NULL) return cr__missing(error, "W");
    crVec3 reference;
    crStatus status = respond_to(ctx, cr_vec3(0, 0, 0), &reference);
    if (status != CR_OK) return status;
    crVec3 column[3];
    for (int j = 0; j < 3; j++) {
        crVec3 velocity;
        status = respond_to(ctx, cr_vec3(j == 0, j == 1, j == 2), &velocity);
        if (status != CR_OK) return status;
        column[j] = cr_sub(velocity, reference);
        if (!cr_vec3_finite(column[j])) {
            return cr_error_set(error, CR_ERR_FINITE, "respond",
                                "respond: gave a non-finite velocity for axis %d", j);
        }
    }
    *W = cr_mat3_columns(column[0], column[1], column[2]);
    return CR_OK;
}
