// What acts along the velocities of joints: as it was given, whatever stands around; free bodies share it.
#include "sample.h"
#include "test.h"

static crBodyDef hinge(double stiffness) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 1.0, .yy = 1.0, .zz = 1.0};
    def.dof[0].stiffness = stiffness;
    return def;
}

static crBodyDef flying(double rest) {
    crBodyDef def = hinge(0.0);
    def.joint = CR_JOINT_FREE;
    def.dof[2].rest = rest;
    return def;
}

TEST(each_has_its_own) {
    crModel* model = cr_model_create(NULL);
    double given[40];
    bool free[40];
    for (int i = 0; i < 40; i++) {
        free[i] = i % 3 != 0;
        // some free bodies have a number that means nothing to them, and keep it
        given[i] = free[i] ? (i % 7 == 0 ? i : 0.0) : i;
        crBodyDef def = free[i] ? flying(given[i]) : hinge(given[i]);
        CHECK(cr_model_add_body(model, &def) == i + 1);
    }
    for (int i = 0; i < 40; i++) {
        int v = model->bodies[i + 1].v;
        if (free[i]) {
            CHECK(cr_model_dof(model, v + 2)->rest == given[i]);
            for (int k = 0; k < 6; k++) {
                CHECK(k == 2 || cr_model_dof(model, v + k)->rest == 0.0);
            }
        } else {
            CHECK(cr_model_dof(model, v)->stiffness == given[i]);
        }
    }
    cr_model_destroy(model);
}

TEST(free_bodies_share_theirs) {
    crModel* model = cr_model_create(NULL);
    for (int i = 0; i < 100; i++) {
        crBodyDef def = i % 2 == 0 ? flying(0.0) : hinge(i);
        cr_model_add_body(model, &def);
    }
    CHECK(model->velocity.dof_count == 51);
    cr_model_destroy(model);
}
