// own_law.c - a law of your own: restitution that falls with approach speed, friction as Chatterjee and Ruina.
#include <stdio.h>

#include "carom/carom.h"

typedef struct Viscoelastic {
    double k;  // loss of restitution per square root of speed, (s/m)^(1/2)
} Viscoelastic;

static crStatus viscoelastic(const void* params, const crContact* contact, crHit* hit, crError* error) {
    const Viscoelastic* steel = params;
    crContact slower = *contact;
    slower.e = fmax(0.0, 1.0 - steel->k * sqrt(fmax(0.0, -contact->V.x)));
    crLaw law;
    crStatus status = cr_law_find("chatterjee-ruina", NULL, &law, error);
    return status == CR_OK ? law.apply(law.params, &slower, hit, error) : status;
}

int main(void) {
    Viscoelastic steel = {.k = 0.2};
    crLaw law = {.name = "viscoelastic", .apply = viscoelastic, .params = &steel};

    crCollision collision = cr_collision();
    collision.mu = 0.3;
    for (int i = 0; i < 4; i++) {
        double speed = 0.5 * (double)(1 << i);
        collision.V = cr_vec3(-speed, 0.1, 0.0);

        crHit hit;
        crError error;
        if (cr_law_apply(&law, &collision, &hit, &error) != CR_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        printf("approach %.1f m/s  leaves %.4f m/s  e = %.4f  energy %+.4f J  %s\n", speed, hit.V_plus.x,
               hit.V_plus.x / speed, hit.energy_change, hit.permissible ? "permissible" : "not permissible");
    }
    return 0;
}
