// first_impact.c - the cue ball rolls into an object ball at rest, half-ball hit: what does each law say?
#include <stdio.h>

#include "carom/carom.h"

int main(void) {
    // two billiard balls; the normal points from the cue ball to the object ball
    double radius = 0.028575;
    crVec3 normal = cr_vec3(sqrt(0.75), 0.5, 0.0);
    crRigid cue = cr_rigid_sphere(0.17, radius);
    crRigid object = cr_rigid_sphere(0.17, radius);
    cue.velocity = cr_vec3(2.0, 0.0, 0.0);
    cue.omega = cr_vec3(0.0, 2.0 / radius, 0.0);
    object.position = cr_scale(2.0 * radius, normal);
    crVec3 point = cr_scale(radius, normal);

    crCollision collision = cr_collision();
    crError error;
    collision.n = normal;
    collision.mu = 0.06;
    collision.e = 0.95;
    if (cr_collision_bodies(&collision, &cue, &object, point, &error) != CR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    const char* laws[] = {"newton", "chatterjee-ruina", "routh", "smith"};
    for (int i = 0; i < 4; i++) {
        crLaw law;
        crHit hit;
        crStatus status = cr_law_find(laws[i], NULL, &law, &error);
        if (status == CR_OK) status = cr_law_apply(&law, &collision, &hit, &error);
        if (status != CR_OK) {
            fprintf(stderr, "%s: %s\n", laws[i], error.message);
            return 1;
        }
        crRigid after = cr_rigid_after(&object, point, hit.P);
        printf("%-17s object ball %.4f %.4f m/s  spin %.2f rad/s  energy %+.5f J  %s\n", laws[i],
               after.velocity.x, after.velocity.y, cr_norm(after.omega), hit.energy_change,
               hit.permissible ? "permissible" : "not permissible");
    }
    return 0;
}
