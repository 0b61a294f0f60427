// first_model.c - a hinged rod hangs over a floor and a ball is thrown at it: every blow and the final certificate.
#include <stdio.h>

#include "carom/carom.h"

int main(void) {
    crModel* model = cr_model_create(NULL);
    crMaterial steel = cr_material();
    steel.density = 7800.0;
    steel.surface.mu = 0.3;
    steel.surface.e = 0.8;
    int material = cr_model_add_material(model, &steel);

    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, material);

    crBodyDef rod = cr_body_def();
    rod.name = "rod";
    rod.joint = CR_JOINT_HINGE;
    rod.axis = cr_vec3(0, 1, 0);
    rod.pose.p.z = 1.0;
    int rod_body = cr_model_add_body(model, &rod);
    crShape bar = cr_shape_box(0.02, 0.02, 0.40);
    bar.pose.p.z = -0.40;
    cr_model_add_shape(model, rod_body, &bar, material);

    crBodyDef ball = cr_body_def();
    ball.name = "ball";
    ball.joint = CR_JOINT_FREE;
    ball.pose.p = cr_vec3(-1.0, 0.0, 0.8);
    int ball_body = cr_model_add_body(model, &ball);
    crShape sphere = cr_shape_sphere(0.05);
    cr_model_add_shape(model, ball_body, &sphere, material);

    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.dt = 1e-3;

    crError error = {0};
    crWorld* world = NULL;
    crStatus status = cr_rule_find("poisson", NULL, &def.step.rule, &error);
    if (status == CR_OK) status = cr_world_create(&def, &world, &error);
    if (status == CR_OK) cr_world_state(world)->v[1] = 4.0;  // dof 0 is the hinge, dofs 1 to 6 the ball

    int outside = 0;
    while (status == CR_OK && cr_world_state(world)->time < 2.0) {
        status = cr_world_step(world, &error);
        crEvents events = cr_world_events(world);
        for (int i = 0; i < events.count; i++) {
            const crEvent* hit = &events.events[i];
            if (hit->approach < 0.1) continue;
            printf("t = %.4f s  shapes %d and %d meet at %.3f m/s, %.3f J lost\n", hit->time, hit->shape_a,
                   hit->shape_b, hit->approach, -hit->energy_change);
        }
        outside += cr_world_certificate(world)->impermissible;
    }

    if (status != CR_OK) fprintf(stderr, "carom: %s\n", error.message);
    if (status == CR_OK) printf("%s\n", outside == 0 ? "every impact permissible" : "some not permissible");
    cr_world_destroy(world);
    cr_model_destroy(model);
    return status != CR_OK;
}
