// world_scene.h - small scenes for the tests of steps and worlds.
#ifndef CAROM_TEST_WORLD_SCENE_H
#define CAROM_TEST_WORLD_SCENE_H

#include "test.h"

// A material with friction and restitution; returns its index.
static inline int scene_material(crModel* model, double mu, double e) {
    crMaterial material = cr_material();
    material.surface.mu = mu;
    material.surface.mu2 = mu;
    material.surface.e = e;
    return cr_model_add_material(model, &material);
}

static inline void scene_ground(crModel* model, crVec3 normal, int material) {
    crShape ground = cr_shape_halfspace(normal, 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, material);
}

// A free body of one shape at p, of the given mass (NAN: by density).
static inline int scene_free(crModel* model, crShape shape, crVec3 p, double mass, int material) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = p;
    if (isfinite(mass)) {
        crMass one = cr_mass_of_shape(&shape, 1.0);
        double scale = mass / one.mass;
        def.mass = mass;
        def.com = one.com;
        crSym3 I = one.inertia;
        def.inertia =
            (crSym3){scale * I.xx, scale * I.xy, scale * I.xz, scale * I.yy, scale * I.yz, scale * I.zz};
    }
    int body = cr_model_add_body(model, &def);
    cr_model_add_shape(model, body, &shape, material);
    return body;
}

// A ball of mass 1 on a slider along x at x.
static inline int scene_bead(crModel* model, double radius, double x, int material) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_SLIDER;
    def.axis = cr_vec3(1, 0, 0);
    def.pose.p.x = x;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.1};
    int body = cr_model_add_body(model, &def);
    crShape ball = cr_shape_sphere(radius);
    cr_model_add_shape(model, body, &ball, material);
    return body;
}

static inline crWorld* scene_world(const crModel* model, const crStepSettings* settings) {
    crWorldDef def = cr_world_def();
    def.model = model;
    if (settings != NULL) def.step = *settings;
    crWorld* world = NULL;
    crError error = {0};
    crStatus status = cr_world_create(&def, &world, &error);
    if (status != CR_OK) printf("  world: %s\n", error.message);
    CHECK_STATUS(status, CR_OK);
    return world;
}

static inline double scene_total(crWorld* world) {
    crEnergy energy = cr_world_energy(world);
    return energy.kinetic + energy.potential;
}

#endif
