// mass.c - mass, centre and inertia of parts put together, and whether a body can have them.
//
// Parallel axes: I about c is the sum of I_i + m_i (|r|^2 1 - r r^T), r = c_i - c. A body's principal moments
// obey I1 + I2 >= I3 (each is an integral of squared distances to an axis). Fails: cr_mass_check names what
// is wrong; rounding of 1e-9 of the largest moment is let through.
#include "base/argument.h"
#include "model/spatial.h"

#define INERTIA_TOL 1e-9

crMass cr_mass_add(crMass a, crMass b) {
    double mass = a.mass + b.mass;
    if (!(mass > 0.0)) return (crMass){0};
    crVec3 com = cr_madd(cr_scale(a.mass / mass, a.com), b.mass / mass, b.com);
    crSym3 inertia = cr_sym3_add(cr_sym3_add(a.inertia, cr__point_inertia(a.mass, cr_sub(a.com, com))),
                                 cr_sym3_add(b.inertia, cr__point_inertia(b.mass, cr_sub(b.com, com))));
    return (crMass){mass, com, inertia};
}

crMass cr_mass_moved(crMass a, crPose pose) {
    return (crMass){a.mass, cr_pose_point(pose, a.com), cr__sym3_rotate(pose.q, a.inertia)};
}

crStatus cr_mass_check(const crMass* mass, crError* error) {
    if (mass == NULL) return cr__missing(error, "mass");
    crSym3 I = mass->inertia;
    double sum = fabs(I.xx) + fabs(I.xy) + fabs(I.xz) + fabs(I.yy) + fabs(I.yz) + fabs(I.zz);
    if (!isfinite(mass->mass)) return cr_error_set(error, CR_ERR_FINITE, "mass", "mass: must be finite");
    if (!cr_vec3_finite(mass->com)) return cr_error_set(error, CR_ERR_FINITE, "com", "com: must be finite");
    if (!isfinite(sum)) return cr_error_set(error, CR_ERR_FINITE, "inertia", "inertia: must be finite");
    if (mass->mass < 0.0) {
        return cr_error_set(error, CR_ERR_RANGE, "mass", "mass: must be >= 0, got %g", mass->mass);
    }
    double moment[3];
    crMat3 axes;
    cr_sym3_eigen(I, moment, &axes);
    if (moment[0] < -INERTIA_TOL * moment[2] || moment[2] < 0.0) {
        return cr_error_set(error, CR_ERR_DEFINITE, "inertia",
                            "inertia: principal moments must be >= 0, got %.6g, %.6g, %.6g", moment[0],
                            moment[1], moment[2]);
    }
    if (moment[0] + moment[1] < (1.0 - INERTIA_TOL) * moment[2]) {
        return cr_error_set(
            error, CR_ERR_REGION, "inertia",
            "inertia: no body has principal moments %.6g, %.6g, %.6g: the largest must not exceed the "
            "sum of the other two",
            moment[0], moment[1], moment[2]);
    }
    if (mass->mass == 0.0 && moment[2] > 0.0) {
        return cr_error_set(error, CR_ERR_RANGE, "mass", "mass: must be > 0 where there is inertia");
    }
    return CR_OK;
}
