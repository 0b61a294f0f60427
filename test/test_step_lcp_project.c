// test_step_lcp_project.c - the projection of Anitescu and Potra's step: overlap goes, kinetic energy stays.
#include "sample.h"
#include "step_scene.h"

// three links on hinges whose last one dips into a wall at x = wall, or nothing there; no gravity
static Scene chain(crRandom* random, bool wall, const crStepSettings* settings) {
    Scene scene = {.model = cr_model_create(NULL)};
    scene.model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(scene.model, 0.3, 0.0), parent = CR_WORLD;
    double masses[3], angles[3], rates[3];
    for (int i = 0; i < 3; i++) {
        masses[i] = sample_uniform(random, 0.2, 2.0);
        angles[i] = sample_uniform(random, -0.6, 0.6);
        rates[i] = sample_uniform(random, -2.0, 2.0);
    }
    for (int i = 0; i < 3; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_HINGE;
        def.parent = parent;
        def.pose.p.x = i > 0 ? 0.5 : 0.0;
        def.mass = masses[i];
        def.com.x = 0.25;
        def.inertia = (crSym3){.xx = 0.01, .yy = 0.03, .zz = 0.03};
        parent = cr_model_add_body(scene.model, &def);
    }
    crShape tip = cr_shape_sphere(0.02);
    tip.pose.p.x = 0.5;
    cr_model_add_shape(scene.model, parent, &tip, material);
    double x = 0.0, turned = 0.0;
    for (int i = 0; i < 3; i++) {
        turned += angles[i];
        x += 0.5 * cos(turned);
    }
    if (wall) {
        // the tip is 2 mm inside
        crShape plane = cr_shape_halfspace(cr_vec3(-1, 0, 0), -(x + 0.02 - 2e-3));
        cr_model_add_shape(scene.model, CR_WORLD, &plane, material);
    }
    scene_open(&scene, settings);
    memcpy(scene.step.state.q, angles, sizeof angles);
    memcpy(scene.step.state.v, rates, sizeof rates);
    return scene;
}

// where the tip leaves by itself the contact takes no impulse, so the step with the wall differs from the one
// without by the projection alone
TEST(projection_keeps_the_energy_of_trees) {
    crStepSettings settings = scene_settings(CR_METHOD_LCP);
    settings.level = CR_LEVEL_VELOCITY;
    double apart = 0.0, moved = 0.0, left = 0.0;
    int leaving = 0;
    for (int n = 0; n < test_samples(3000); n++) {
        crRandom random = sample_seed((uint64_t)n + 900), same = random;
        Scene open = chain(&random, false, &settings), shut = chain(&same, true, &settings);
        bool ok = scene_step(&open, 1e-3) && scene_step(&shut, 1e-3);
        bool pressed = shut.step.warm.count > 0;
        if (ok && !pressed) {
            double T = scene_energy(&open).kinetic;
            apart = fmax(apart, fabs(scene_energy(&shut).kinetic / T - 1.0));
            for (int i = 0; i < 3; i++) {
                moved = fmax(moved, fabs(open.step.state.q[i] - shut.step.state.q[i]));
            }
            left = fmax(left, shut.step.certificate.penetration);
            leaving++;
        }
        scene_close(&open);
        scene_close(&shut);
    }
    printf("projection: %d chains moved by up to %.1e rad, energy to %.1e, overlap left %.1e m\n", leaving,
           moved, apart, left);
    CHECK(leaving > test_samples(3000) / 5);
    CHECK(moved > 1e-3);
    CHECK(apart < 1e-13);
    CHECK(left < 1e-6);
}
