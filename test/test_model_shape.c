// test_model_shape.c - mass, centre and inertia of shapes against integration by slices, polyhedra against
// closed forms, and shapes on bodies.
#include "model_sample.h"

// half-axes of the elliptic section of a round shape at z
static void section(const crShape* s, double z, double* a, double* b) {
    double r = s->size.x, half = s->size.z, t;
    switch (s->kind) {
    case CR_SHAPE_SPHERE:
        *a = *b = sqrt(fmax(0.0, r * r - z * z));
        break;
    case CR_SHAPE_CAPSULE:
        t = fmax(0.0, fabs(z) - half);
        *a = *b = sqrt(fmax(0.0, r * r - t * t));
        break;
    case CR_SHAPE_CYLINDER:
        *a = *b = r;
        break;
    case CR_SHAPE_CONE:
        *a = *b = r * (half - z) / (2.0 * half);
        break;
    default:
        t = sqrt(fmax(0.0, 1.0 - z * z / (half * half)));
        *a = s->size.x * t;
        *b = s->size.y * t;
    }
}

// Slices from z0 to z1 by Gauss's three points, exact here: everything is of fourth degree in z. Sums are
// volume, z, xx, yy, zz.
static void slices(const crShape* s, double z0, double z1, double sums[5]) {
    const double at[3] = {-sqrt(0.6), 0.0, sqrt(0.6)}, weight[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    for (int i = 0; i < 3; i++) {
        double z = 0.5 * (z0 + z1) + 0.5 * (z1 - z0) * at[i], a, b;
        section(s, z, &a, &b);
        double area = CR_PI * a * b;
        double terms[5] = {area, area * z, 0.25 * area * a * a, 0.25 * area * b * b, area * z * z};
        for (int k = 0; k < 5; k++) {
            sums[k] += 0.5 * (z1 - z0) * weight[i] * terms[k];
        }
    }
}

TEST(round_shapes_by_slices) {
    const crShape shapes[] = {cr_shape_sphere(0.7),       cr_shape_capsule(0.3, 0.9),
                              cr_shape_capsule(0.8, 0.1), cr_shape_cylinder(0.4, 0.6),
                              cr_shape_cone(0.5, 0.8),    cr_shape_ellipsoid(0.3, 0.5, 0.9)};
    double worst = 0.0;
    for (int i = 0; i < 6; i++) {
        const crShape* s = &shapes[i];
        double half = s->size.z, r = s->size.x, m[5] = {0};
        if (s->kind == CR_SHAPE_CAPSULE) {
            slices(s, -half - r, -half, m);
            slices(s, -half, half, m);
            slices(s, half, half + r, m);
        } else {
            double top = s->kind == CR_SHAPE_SPHERE ? r : half;
            slices(s, -top, top, m);
        }
        double density = 3.0, z = m[1] / m[0], zz = m[4] - m[0] * z * z;
        crMass mass = cr_mass_of_shape(s, density);
        double errors[] = {mass.mass / (density * m[0]) - 1.0,
                           mass.com.z - z,
                           mass.inertia.xx / (density * (m[3] + zz)) - 1.0,
                           mass.inertia.yy / (density * (m[2] + zz)) - 1.0,
                           mass.inertia.zz / (density * (m[2] + m[3])) - 1.0,
                           mass.inertia.xy,
                           mass.inertia.xz,
                           mass.inertia.yz,
                           mass.com.x,
                           mass.com.y};
        for (int k = 0; k < 10; k++) {
            worst = fmax(worst, fabs(errors[k]));
        }
    }
    printf("  worst %.2g\n", worst);
    CHECK(worst < 1e-14);
}

// A box three ways: closed form, hull, closed mesh; each moved and turned.
TEST(polyhedra) {
    crRandom random = sample_seed(41);
    double worst = 0.0;
    for (int n = test_samples(3000); n > 0; n--) {
        crVec3 half =
            cr_vec3(sample_log(&random, 0.1, 2), sample_log(&random, 0.1, 2), sample_log(&random, 0.1, 2));
        crPose place = sample_place(&random, 2.0);
        crVec3 corners[4] = {
            {-half.x, -half.y, 0}, {half.x, -half.y, 0}, {half.x, half.y, 0}, {-half.x, half.y, 0}};
        crHull* hull = NULL;
        CHECK_STATUS(cr_hull_create_prism(corners, 4, half.z, NULL, &hull, NULL), CR_OK);
        // the mesh has the place in its vertices, the others in their pose
        crVec3 vertices[8];
        for (int i = 0; i < 8; i++) {
            crVec3 x = cr_vec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
            vertices[i] = cr_pose_point(place, x);
        }
        const int triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                      {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
        crMeshDef def = {8, vertices, 12, triangles};
        crMesh* mesh = NULL;
        CHECK_STATUS(cr_mesh_create(&def, NULL, &mesh, NULL), CR_OK);
        crShape shapes[3] = {cr_shape_box(half.x, half.y, half.z), cr_shape_hull(hull), cr_shape_mesh(mesh)};
        shapes[0].pose = shapes[1].pose = place;
        crMass m[3];
        for (int i = 0; i < 3; i++) {
            m[i] = cr_mass_of_shape(&shapes[i], 1.7);
        }
        CHECK_NEAR(m[0].mass, 1.7 * 8.0 * half.x * half.y * half.z, 1e-14 * m[0].mass);
        CHECK_VEC(m[0].com, place.p, 1e-14);
        double size = cr_sym3_trace(m[0].inertia);
        // turned back, the inertia is diagonal with (m/3) of the sums of squares
        crSym3 own = cr_sym3_in_frame(m[0].inertia, cr_quat_matrix(place.q));
        CHECK_NEAR(own.xx, m[0].mass / 3.0 * (half.y * half.y + half.z * half.z), 1e-13 * size);
        CHECK_NEAR(own.zz, m[0].mass / 3.0 * (half.x * half.x + half.y * half.y), 1e-13 * size);
        CHECK_NEAR(own.xy, 0.0, 1e-13 * size);
        for (int i = 1; i < 3; i++) {
            worst = fmax(worst, fabs(m[i].mass / m[0].mass - 1.0));
            worst = fmax(worst, cr_norm(cr_sub(m[i].com, m[0].com)));
            const double* a = &m[i].inertia.xx;
            const double* b = &m[0].inertia.xx;
            for (int k = 0; k < 6; k++) {
                worst = fmax(worst, fabs(a[k] - b[k]) / size);
            }
        }
        cr_hull_destroy(hull);
        cr_mesh_destroy(mesh);
    }
    printf("  box, hull and mesh agree to %.2g\n", worst);
    CHECK(worst < 1e-12);
}

TEST(compounds_and_bodies_add_their_parts) {
    // a dumb-bell as a compound, and as three shapes on one body
    crShape parts[3] = {cr_shape_sphere(0.2), cr_shape_cylinder(0.05, 0.4), cr_shape_sphere(0.1)};
    parts[0].pose.p.z = -0.4;
    parts[2].pose.p = cr_vec3(0.1, 0, 0.4);
    crCompound* compound = NULL;
    CHECK_STATUS(cr_compound_create(parts, 3, NULL, &compound, NULL), CR_OK);
    crShape whole = cr_shape_compound(compound);
    crModel* model = cr_model_create(NULL);
    crMaterial steel = cr_material();
    steel.density = 7800.0;
    int material = cr_model_add_material(model, &steel);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    int a = cr_model_add_body(model, &def), b = cr_model_add_body(model, &def);
    CHECK(cr_model_add_shape(model, a, &whole, material) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(cr_model_add_shape(model, b, &parts[i], material) == i + 1);
    }
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    const crBody* x = &model->bodies[a];
    const crBody* y = &model->bodies[b];
    double ball = CR_PI * 4.0 / 3.0 * (0.008 + 0.001), rod = CR_PI * 0.0025 * 0.8;
    CHECK_NEAR(x->mass, 7800.0 * (ball + rod), 1e-12);
    CHECK_NEAR(x->mass, y->mass, 1e-13);
    CHECK_VEC(x->com, y->com, 1e-15);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(x->principal[k], y->principal[k], 1e-13);
    }
    // principal moments and axes rebuild the inertia
    crSym3 D = {.xx = x->principal[0], .yy = x->principal[1], .zz = x->principal[2]};
    crSym3 I = cr_sym3_in_frame(D, cr_quat_matrix(cr_quat_conj(x->axes)));
    CHECK_NEAR(I.xx, x->inertia.xx, 1e-14);
    CHECK_NEAR(I.xz, x->inertia.xz, 1e-14);
    CHECK_NEAR(I.yz, x->inertia.yz, 1e-14);
    cr_model_destroy(model);
    cr_compound_destroy(compound);
}

// A given mass is kept; bodies that do not move take any shape and no mass.
TEST(given_masses_are_kept) {
    crModel* model = cr_model_create(NULL);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0), ball = cr_shape_sphere(0.05);
    CHECK(cr_model_add_shape(model, CR_WORLD, &ground, 0) == 0);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = 2.0;
    def.inertia = (crSym3){.xx = 1, .yy = 1, .zz = 1};
    int body = cr_model_add_body(model, &def);
    CHECK(cr_model_add_shape(model, body, &ball, 0) == 1);
    CHECK_NEAR(model->bodies[body].mass, 2.0, 0.0);
    CHECK_NEAR(model->bodies[0].mass, 0.0, 0.0);
    crBodyDef driven = cr_body_def();
    driven.joint = CR_JOINT_DRIVEN;
    driven.drive = sample_drive;
    int belt = cr_model_add_body(model, &driven);
    CHECK(cr_model_add_shape(model, belt, &ground, 0) == 2);
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    cr_model_destroy(model);
}

static void refuse(int body, const crShape* shape, int material, crStatus status, const char* field) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    cr_model_add_body(model, &def);
    CHECK_STATUS((crStatus)cr_model_add_shape(model, body, shape, material), status);
    if (field != NULL) CHECK_TEXT(model->error.field, field);
    CHECK(model->shape_count == 0);
    crShape ball = cr_shape_sphere(1.0);
    CHECK_STATUS((crStatus)cr_model_add_shape(model, 0, &ball, 0), status);
    cr_model_destroy(model);
}

TEST(shapes_are_refused_by_name) {
    crShape ball = cr_shape_sphere(1.0), bad = cr_shape_sphere(-1.0);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    refuse(7, &ball, 0, CR_ERR_RANGE, "body");
    refuse(1, &ball, 3, CR_ERR_RANGE, "material");
    refuse(1, NULL, 0, CR_ERR_ARGUMENT, "shape");
    refuse(1, &bad, 0, CR_ERR_RANGE, NULL);
    // a half-space on a moving body has no mass
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    cr_model_add_body(model, &def);
    CHECK(cr_model_add_shape(model, 1, &ground, 0) < 0);
    CHECK(cr_model_check(model, NULL) < 0);
    cr_model_destroy(model);
    CHECK_STATUS((crStatus)cr_model_add_shape(NULL, 0, &ball, 0), CR_ERR_MEMORY);
}
