// test_model_build.c - building a model: every refusal by name, the failure that sticks, materials and their
// combination, memory.
#include "model_sample.h"

static crBodyDef hinge_def(void) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 1, .yy = 1, .zz = 1};
    return def;
}

// adding def to a fresh model is refused with this status and field
static void refuse_body(const crBodyDef* def, crStatus status, const char* field) {
    crModel* model = cr_model_create(NULL);
    crBodyDef first = hinge_def();
    first.name = "first";
    CHECK(cr_model_add_body(model, &first) == 1);
    CHECK_STATUS((crStatus)cr_model_add_body(model, def), status);
    CHECK_TEXT(model->error.field, field);
    CHECK(strstr(model->error.message, field) != NULL);
    // the refusal stays, and nothing was added
    crError error;
    CHECK_STATUS((crStatus)cr_model_add_body(model, &first), status);
    CHECK_STATUS(cr_model_check(model, &error), status);
    CHECK_TEXT(error.field, field);
    CHECK(model->nb == 2 && model->nv == 1);
    cr_model_destroy(model);
}

#define REFUSE(change, status, field)     \
    do {                                  \
        crBodyDef def = hinge_def();      \
        change;                           \
        refuse_body(&def, status, field); \
    } while (0)

TEST(bodies_are_refused_by_name) {
    REFUSE(def.name = "first", CR_ERR_NAME, "name");
    REFUSE(def.name = "world", CR_ERR_NAME, "name");
    REFUSE(def.joint = (crJoint)9, CR_ERR_RANGE, "joint");
    REFUSE(def.parent = 5, CR_ERR_RANGE, "parent");
    REFUSE(def.parent = -1, CR_ERR_RANGE, "parent");
    REFUSE((def.joint = CR_JOINT_FREE, def.parent = 1), CR_ERR_RANGE, "parent");
    REFUSE((def.joint = CR_JOINT_DRIVEN, def.parent = 1), CR_ERR_RANGE, "parent");
    REFUSE(def.joint = CR_JOINT_DRIVEN, CR_ERR_MISSING, "drive");
    REFUSE(def.axis = cr_vec3(0, 0, 0), CR_ERR_UNIT, "axis");
    REFUSE(def.axis = cr_vec3(0, NAN, 0), CR_ERR_FINITE, "axis");
    REFUSE(def.pose.p.x = NAN, CR_ERR_FINITE, "pose");
    REFUSE(def.pose.q.w = 2.0, CR_ERR_UNIT, "pose");
    REFUSE(def.mass = -1.0, CR_ERR_RANGE, "mass");
    REFUSE(def.mass = INFINITY, CR_ERR_FINITE, "mass");
    REFUSE(def.mass = 0.0, CR_ERR_RANGE, "mass");
    REFUSE(def.com.y = NAN, CR_ERR_FINITE, "com");
    REFUSE(def.inertia.xy = NAN, CR_ERR_FINITE, "inertia");
    REFUSE(def.inertia.xx = -1.0, CR_ERR_DEFINITE, "inertia");
    REFUSE(def.inertia.xx = 2.1, CR_ERR_REGION, "inertia");
    REFUSE(def.gravity_scale = NAN, CR_ERR_FINITE, "gravity_scale");
    REFUSE(def.linear_drag = -1.0, CR_ERR_RANGE, "linear_drag");
    REFUSE(def.angular_drag = INFINITY, CR_ERR_RANGE, "angular_drag");
    REFUSE(def.dof[0].stiffness = -1.0, CR_ERR_RANGE, "stiffness");
    REFUSE(def.dof[0].damping = NAN, CR_ERR_RANGE, "damping");
    REFUSE(def.dof[0].friction = INFINITY, CR_ERR_RANGE, "friction");
    REFUSE(def.dof[0].motor_force = -1.0, CR_ERR_RANGE, "motor_force");
    REFUSE(def.dof[0].motor_speed = INFINITY, CR_ERR_FINITE, "motor_speed");
    REFUSE(def.dof[0].rest = NAN, CR_ERR_FINITE, "rest");
    REFUSE(def.dof[0].lower = INFINITY, CR_ERR_RANGE, "upper");
    REFUSE((def.joint = CR_JOINT_FREE, def.dof[4].damping = 1.0), CR_ERR_RANGE, "dof");
    REFUSE((def.joint = CR_JOINT_FREE, def.dof[0].upper = 1.0), CR_ERR_RANGE, "dof");
    REFUSE((def.joint = CR_JOINT_BALL, def.dof[0].rest = 1.0), CR_ERR_RANGE, "rest");
    REFUSE((def.joint = CR_JOINT_BALL, def.dof[0].upper = 4.0), CR_ERR_RANGE, "upper");
    REFUSE((def.joint = CR_JOINT_BALL, def.dof[1].upper = 1.0), CR_ERR_RANGE, "upper");
    REFUSE((def.joint = CR_JOINT_BALL, def.dof[0].lower = -1.0), CR_ERR_RANGE, "upper");
}

TEST(good_edges_are_accepted) {
    // a flat plate has I1 + I2 = I3, an infinite motor is a servo, a hinge may move a point mass off its axis
    crModel* model = cr_model_create(NULL);
    crBodyDef plate = hinge_def();
    plate.inertia.zz = 2.0;
    plate.dof[0].motor_force = INFINITY;
    CHECK(cr_model_add_body(model, &plate) == 1);
    crBodyDef bob = hinge_def();
    bob.inertia = (crSym3){0};
    bob.com = cr_vec3(0, 1, 0);
    CHECK(cr_model_add_body(model, &bob) == 2);
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    cr_model_destroy(model);
}

static void refuse_loop(crLoop loop, crStatus status, const char* field) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = hinge_def();
    cr_model_add_body(model, &def);
    def.joint = CR_JOINT_FIXED;
    cr_model_add_body(model, &def);
    CHECK_STATUS((crStatus)cr_model_add_loop(model, &loop), status);
    CHECK_TEXT(model->error.field, field);
    cr_model_destroy(model);
}

TEST(loops_are_refused_by_name) {
    crLoop good = cr_loop(CR_LOOP_DISTANCE, 0, 1), bad = good;
    bad.kind = (crLoopKind)5;
    refuse_loop(bad, CR_ERR_RANGE, "kind");
    refuse_loop(cr_loop(CR_LOOP_CONNECT, 9, 1), CR_ERR_RANGE, "a");
    refuse_loop(cr_loop(CR_LOOP_CONNECT, 0, -2), CR_ERR_RANGE, "b");
    refuse_loop(cr_loop(CR_LOOP_CONNECT, 1, 1), CR_ERR_RANGE, "b");
    refuse_loop(cr_loop(CR_LOOP_CONNECT, 0, 2), CR_ERR_ARGUMENT, "b");
    bad = good;
    bad.length = 0.0;
    refuse_loop(bad, CR_ERR_RANGE, "length");
    bad = good;
    bad.pose_a.p.x = NAN;
    refuse_loop(bad, CR_ERR_FINITE, "pose_a");
    bad = good;
    bad.pose_b.q.w = 0.5;
    refuse_loop(bad, CR_ERR_UNIT, "pose_b");
}

static void refuse_material(const crMaterial* material, crStatus status, const char* field) {
    crModel* model = cr_model_create(NULL);
    CHECK_STATUS((crStatus)cr_model_add_material(model, material), status);
    CHECK_TEXT(model->error.field, field);
    CHECK_STATUS(cr_model_add_pair(model, 0, 0, &material->surface), status);
    cr_model_destroy(model);
}

#define REFUSE_MATERIAL(change, status, field) \
    do {                                       \
        crMaterial m = cr_material();          \
        crSurface* s = &m.surface;             \
        (void)s;                               \
        change;                                \
        refuse_material(&m, status, field);    \
    } while (0)

TEST(materials_are_refused_by_name) {
    REFUSE_MATERIAL(m.density = -1.0, CR_ERR_RANGE, "density");
    REFUSE_MATERIAL(s->mu = -0.1, CR_ERR_RANGE, "mu");
    REFUSE_MATERIAL(s->mu = NAN, CR_ERR_RANGE, "mu");
    REFUSE_MATERIAL(s->mu2 = -0.1, CR_ERR_RANGE, "mu2");
    REFUSE_MATERIAL(s->e = -0.1, CR_ERR_RANGE, "e");
    REFUSE_MATERIAL(s->et = 1.5, CR_ERR_RANGE, "et");
    REFUSE_MATERIAL(s->mu_spin = INFINITY, CR_ERR_RANGE, "mu_spin");
    REFUSE_MATERIAL(s->mu_roll = -1.0, CR_ERR_RANGE, "mu_roll");
    REFUSE_MATERIAL(s->viscous = -1.0, CR_ERR_RANGE, "viscous");
    REFUSE_MATERIAL(s->mu_stribeck = -1.0, CR_ERR_RANGE, "mu_stribeck");
    REFUSE_MATERIAL(s->speed_stribeck = 0.0, CR_ERR_RANGE, "speed_stribeck");
    REFUSE_MATERIAL(s->axis = cr_vec3(0, 0, 0), CR_ERR_UNIT, "axis");
    const double square[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    const double clockwise[3][2] = {{1, 0}, {-1, -1}, {-1, 1}};
    const double outside[3][2] = {{1, 1}, {2, 1}, {1, 2}};
    const double star[4][2] = {{1, 0}, {0.1, 0.1}, {0, 1}, {-1, -1}};
    const double pentagram[5][2] = {{1, 0}, {-0.8, 0.6}, {0.3, -0.95}, {0.3, 0.95}, {-0.8, -0.6}};
    const double nan[3][2] = {{1, 0}, {NAN, 1}, {-1, -1}};
    REFUSE_MATERIAL((s->vertex_count = 2, s->vertices = square), CR_ERR_SIZE, "vertices");
    REFUSE_MATERIAL(s->vertex_count = 3, CR_ERR_SIZE, "vertices");
    REFUSE_MATERIAL((s->vertex_count = 3, s->vertices = clockwise), CR_ERR_RANGE, "vertices");
    REFUSE_MATERIAL((s->vertex_count = 3, s->vertices = outside), CR_ERR_RANGE, "vertices");
    REFUSE_MATERIAL((s->vertex_count = 4, s->vertices = star), CR_ERR_RANGE, "vertices");
    REFUSE_MATERIAL((s->vertex_count = 3, s->vertices = nan), CR_ERR_FINITE, "vertices");
    REFUSE_MATERIAL((s->vertex_count = 5, s->vertices = pentagram), CR_ERR_RANGE, "vertices");
    const double speeds[2] = {1.0, 0.5}, es[2] = {0.5, 0.2};
    crRestitution table = {.count = 2, .speed = speeds, .e = es}, empty = {0};
    REFUSE_MATERIAL(s->e_of_speed = &table, CR_ERR_RANGE, "e_of_speed");
    REFUSE_MATERIAL(s->e_of_speed = &empty, CR_ERR_SIZE, "e_of_speed");
    crModel* model = cr_model_create(NULL);
    crMaterial m = cr_material();
    m.name = "steel";
    CHECK(cr_model_add_material(model, &m) == 1);
    CHECK_STATUS((crStatus)cr_model_add_material(model, &m), CR_ERR_NAME);
    CHECK_TEXT(model->error.field, "name");
    cr_model_destroy(model);
    model = cr_model_create(NULL);
    CHECK_STATUS(cr_model_add_pair(model, 0, 3, &m.surface), CR_ERR_RANGE);
    CHECK_TEXT(model->error.field, "material");
    cr_model_destroy(model);
}

TEST(missing_arguments) {
    CHECK_STATUS((crStatus)cr_model_add_body(NULL, NULL), CR_ERR_MEMORY);
    CHECK_STATUS((crStatus)cr_model_add_loop(NULL, NULL), CR_ERR_MEMORY);
    CHECK_STATUS((crStatus)cr_model_add_material(NULL, NULL), CR_ERR_MEMORY);
    CHECK_STATUS(cr_model_add_pair(NULL, 0, 0, NULL), CR_ERR_MEMORY);
    CHECK_STATUS(cr_model_check(NULL, NULL), CR_ERR_MEMORY);
    CHECK_STATUS((crStatus)cr_model_find_body(NULL, "x"), CR_ERR_ARGUMENT);
    cr_model_destroy(NULL);
    crModel* model = cr_model_create(NULL);
    CHECK_STATUS((crStatus)cr_model_add_body(model, NULL), CR_ERR_ARGUMENT);
    CHECK_TEXT(model->error.field, "def");
    cr_model_destroy(model);
    CHECK_STATUS(cr_state_create(NULL, NULL, NULL), CR_ERR_ARGUMENT);
    CHECK_STATUS(cr_dynamics_create(NULL, NULL, NULL), CR_ERR_ARGUMENT);
}

TEST(massless_joints_are_found) {
    crError error;
    crModel* model = cr_model_create(NULL);
    crBodyDef def = hinge_def();
    def.mass = NAN;
    cr_model_add_body(model, &def);
    CHECK_STATUS(cr_model_check(model, &error), CR_ERR_DEFINITE);
    CHECK_TEXT(error.field, "mass");
    // what it carries will do
    crBodyDef child = hinge_def();
    child.parent = 1;
    child.joint = CR_JOINT_FIXED;
    cr_model_add_body(model, &child);
    CHECK_STATUS(cr_model_check(model, &error), CR_OK);
    // a free rod without thickness has no inertia about its axis
    crBodyDef rod = hinge_def();
    rod.joint = CR_JOINT_FREE;
    rod.inertia.xx = 0.0;
    cr_model_add_body(model, &rod);
    CHECK_STATUS(cr_model_check(model, &error), CR_ERR_DEFINITE);
    CHECK_TEXT(error.field, "inertia");
    cr_model_destroy(model);
    // a point mass on the axis of its hinge passes the check and is found by the factor
    Bench bench = {.model = cr_model_create(NULL)};
    crBodyDef bob = hinge_def();
    bob.inertia = (crSym3){0};
    cr_model_add_body(bench.model, &bob);
    bench_open(&bench);
    cr_model_kinematics(bench.model, &bench.state, &bench.d);
    CHECK_STATUS(cr_model_mass_factor(bench.model, 0.0, &bench.d), CR_ERR_DEFINITE);
    bench_close(&bench);
}

TEST(names_and_layout) {
    crModel* model = cr_model_create(NULL);
    const crJoint joints[] = {CR_JOINT_FREE, CR_JOINT_HINGE,  CR_JOINT_FIXED,
                              CR_JOINT_BALL, CR_JOINT_PLANAR, CR_JOINT_SLIDER};
    const int parents[] = {0, 1, 2, 3, 0, 5};
    char name[2] = "a";
    for (int i = 0; i < 6; i++) {
        crBodyDef def = hinge_def();
        def.joint = joints[i];
        def.parent = parents[i];
        name[0] = (char)('a' + i);
        def.name = name;
        CHECK(cr_model_add_body(model, &def) == i + 1);
    }
    CHECK(model->nq == 7 + 1 + 4 + 3 + 1 && model->nv == 6 + 1 + 3 + 3 + 1);
    CHECK(cr_model_find_body(model, "c") == 3 && cr_model_find_body(model, "world") == 0);
    CHECK_STATUS((crStatus)cr_model_find_body(model, "z"), CR_ERR_NAME);
    CHECK(!model->bodies[1].single && model->bodies[4].root == 1 && model->bodies[4].last == 9);
    CHECK(model->velocity.parent[7] == 6 && model->velocity.parent[6] == 5 &&
          model->velocity.parent[10] == -1);
    CHECK(model->velocity.depth[9] == 9 && model->bodies[6].q == 15);
    cr_model_destroy(model);
}

TEST(states_are_checked) {
    Bench bench = {.model = cr_model_create(NULL)};
    crBodyDef def = hinge_def();
    def.joint = CR_JOINT_FREE;
    cr_model_add_body(bench.model, &def);
    bench_open(&bench);
    crError error;
    bench.state.q[3] = 1.0 + 1e-8;
    CHECK_STATUS(cr_state_check(bench.model, &bench.state, &error), CR_OK);
    CHECK_NEAR(bench.state.q[3], 1.0, 0.0);
    bench.state.q[3] = 1.1;
    CHECK_STATUS(cr_state_check(bench.model, &bench.state, &error), CR_ERR_UNIT);
    bench.state.q[3] = NAN;
    CHECK_STATUS(cr_state_check(bench.model, &bench.state, &error), CR_ERR_FINITE);
    CHECK_TEXT(error.field, "q");
    bench.state.q[3] = 1.0;
    bench.state.v[2] = INFINITY;
    CHECK_STATUS(cr_state_check(bench.model, &bench.state, &error), CR_ERR_FINITE);
    CHECK_TEXT(error.field, "v");
    bench.state.v[2] = 0.0;
    bench.state.force[2] = NAN;
    CHECK_STATUS(cr_state_check(bench.model, &bench.state, &error), CR_ERR_FINITE);
    CHECK_TEXT(error.field, "force");
    bench.state.force[2] = 0.0;
    bench.state.motor_speed[2] = NAN;
    CHECK_STATUS(cr_state_check(bench.model, &bench.state, &error), CR_ERR_FINITE);
    CHECK_TEXT(error.field, "motor_speed");
    bench.state.motor_speed[2] = 0.0;
    bench.state.time = NAN;
    CHECK_STATUS(cr_state_check(bench.model, &bench.state, &error), CR_ERR_FINITE);
    CHECK_TEXT(error.field, "time");
    bench_close(&bench);
}

static double half_speed(void* ctx, double speed) {
    (void)ctx;
    return 1.0 / (1.0 + speed);
}

TEST(the_combination_rule) {
    crModel* model = cr_model_create(NULL);
    crMaterial m = cr_material();
    m.surface = (crSurface){.mu = 0.4,
                            .mu2 = NAN,
                            .axis = {1, 0, 0},
                            .e = 0.8,
                            .et = -0.5,
                            .mu_spin = 0.01,
                            .mu_roll = 0.02,
                            .viscous = 4.0,
                            .mu_stribeck = 0.1,
                            .speed_stribeck = 0.04};
    int a = cr_model_add_material(model, &m);
    m.surface.mu = 0.9;
    m.surface.e_of_speed = &(crRestitution){.function = half_speed};
    m.surface.et = 0.5;
    m.surface.mu_spin = 0.04;
    m.surface.mu_roll = 0.0;
    m.surface.speed_stribeck = 0.01;
    int b = cr_model_add_material(model, &m);
    crContactSurface c;
    CHECK_STATUS(cr_model_surface(model, a, b, 1.0, &c), CR_OK);
    CHECK_NEAR(c.surface.mu, 0.6, 1e-15);
    CHECK_NEAR(c.surface.mu2, 0.6, 1e-15);
    CHECK_NEAR(c.surface.e, 0.5, 0.0);
    CHECK_STATUS(cr_model_surface(model, a, b, 0.1, &c), CR_OK);
    CHECK_NEAR(c.surface.e, 0.8, 0.0);
    CHECK_NEAR(c.surface.et, -0.5, 0.0);
    CHECK_NEAR(c.surface.mu_spin, 0.02, 1e-15);
    CHECK_NEAR(c.surface.mu_roll, 0.0, 0.0);
    CHECK_NEAR(c.surface.viscous, 4.0, 1e-14);
    CHECK_NEAR(c.surface.speed_stribeck, 0.02, 1e-15);
    CHECK(c.axis_of == -1 && c.surface.e_of_speed == NULL);
    // 0 beats infinity
    m = cr_material();
    m.surface.mu = INFINITY;
    int rough = cr_model_add_material(model, &m);
    m.surface.mu = 0.0;
    int slick = cr_model_add_material(model, &m);
    CHECK_STATUS(cr_model_surface(model, rough, slick, 0.0, &c), CR_OK);
    CHECK_NEAR(c.surface.mu, 0.0, 0.0);
    CHECK_STATUS(cr_model_surface(model, rough, a, 0.0, &c), CR_OK);
    CHECK(isinf(c.surface.mu));
    // the table of pairs comes first, from both sides, the last one written wins
    crSurface pair = cr_material().surface;
    pair.mu = 0.1;
    pair.mu2 = 0.3;
    CHECK_STATUS(cr_model_add_pair(model, a, b, &pair), CR_OK);
    CHECK_STATUS(cr_model_surface(model, a, b, 0.0, &c), CR_OK);
    CHECK(c.surface.mu == 0.1 && c.surface.mu2 == 0.3 && c.axis_of == 0);
    CHECK_STATUS(cr_model_surface(model, b, a, 0.0, &c), CR_OK);
    CHECK(c.surface.mu == 0.1 && c.axis_of == 1);
    pair.mu = 0.7;
    CHECK_STATUS(cr_model_add_pair(model, b, a, &pair), CR_OK);
    CHECK_STATUS(cr_model_surface(model, a, b, 0.0, &c), CR_OK);
    CHECK(c.surface.mu == 0.7 && c.axis_of == 1);
    CHECK_STATUS(cr_model_surface(model, a, 99, 0.0, &c), CR_ERR_RANGE);
    CHECK_STATUS(cr_model_surface(NULL, a, b, 0.0, &c), CR_ERR_ARGUMENT);
    cr_model_destroy(model);
}

TEST(anisotropic_materials_combine) {
    crModel* model = cr_model_create(NULL);
    crMaterial wood = cr_material(), iron = cr_material(), felt = cr_material();
    wood.surface.mu = 0.9;
    wood.surface.mu2 = 0.4;
    wood.surface.axis = cr_vec3(0, 1, 0);
    iron.surface.mu = 0.1;
    double triangle[3][2] = {{0.5, 0.0}, {-0.3, 0.4}, {-0.3, -0.4}};
    felt.surface.vertex_count = 3;
    felt.surface.vertices = (const double(*)[2])triangle;
    int w = cr_model_add_material(model, &wood), i = cr_model_add_material(model, &iron);
    int f = cr_model_add_material(model, &felt);
    triangle[0][0] = 9.0;  // the model has its own copy
    crContactSurface c;
    CHECK_STATUS(cr_model_surface(model, w, i, 0.0, &c), CR_OK);
    CHECK_NEAR(c.surface.mu, 0.3, 1e-15);
    CHECK_NEAR(c.surface.mu2, 0.2, 1e-15);
    CHECK(c.axis_of == 0);
    CHECK_STATUS(cr_model_surface(model, i, w, 0.0, &c), CR_OK);
    CHECK_NEAR(c.surface.mu, 0.3, 1e-15);
    CHECK(c.axis_of == 1);
    CHECK_VEC(c.surface.axis, cr_vec3(0, 1, 0), 0.0);
    // a polygon is scaled as a whole: largest vertex 0.5, the other 0.1
    CHECK_STATUS(cr_model_surface(model, f, i, 0.0, &c), CR_OK);
    CHECK(c.surface.vertex_count == 3 && c.axis_of == 0);
    CHECK_NEAR(c.polygon_scale * c.surface.vertices[0][0], sqrt(0.05), 1e-15);
    // both: the lower index has the axes, the other counts by its mean
    CHECK_STATUS(cr_model_surface(model, f, w, 0.0, &c), CR_OK);
    CHECK(c.axis_of == 1 && c.surface.vertex_count == 0);
    CHECK_NEAR(c.surface.mu2, sqrt(0.4 * 0.5), 1e-15);
    crMat3 F = cr_surface_frame(cr_vec3(0, 0, 1), cr_vec3(0, 3, 4));
    CHECK_VEC(cr_mat3_column(F, 1), cr_vec3(0, 1, 0), 1e-15);
    CHECK_VEC(cr_mat3_column(F, 2), cr_vec3(-1, 0, 0), 1e-15);
    F = cr_surface_frame(cr_vec3(0, 0, 1), cr_vec3(0, 0, 4));
    CHECK_VEC(cr_mat3_column(F, 1), cr_vec3(1, 0, 0), 0.0);
    cr_model_destroy(model);
}

TEST(masses_add) {
    // a box cut in two parts, put together again
    crMass half = {1.0, {0, 0, 0}, {.xx = 2.0 / 12, .yy = 1.25 / 12, .zz = 1.25 / 12}};
    crPose left = {{-0.25, 0, 0}, {1, 0, 0, 0}}, right = {{0.25, 0, 0}, {1, 0, 0, 0}};
    crMass cube = cr_mass_add(cr_mass_moved(half, left), cr_mass_moved(half, right));
    CHECK_NEAR(cube.mass, 2.0, 0.0);
    CHECK_VEC(cube.com, cr_vec3(0, 0, 0), 1e-16);
    CHECK_NEAR(cube.inertia.xx, 2.0 * 2.0 / 12, 1e-15);
    CHECK_NEAR(cube.inertia.yy, 2.0 * 2.0 / 12, 1e-15);
    CHECK_NEAR(cube.inertia.zz, 2.0 * 2.0 / 12, 1e-15);
    crMass nothing = cr_mass_add((crMass){0}, (crMass){0});
    CHECK_NEAR(nothing.mass, 0.0, 0.0);
}

// memory

typedef struct Heap {
    int calls, fail_at, live;
} Heap;

static void* heap_alloc(void* ctx, size_t size) {
    Heap* heap = ctx;
    if (++heap->calls == heap->fail_at) return NULL;
    heap->live++;
    return malloc(size);
}

static void heap_free(void* ctx, void* memory, size_t size) {
    Heap* heap = ctx;
    (void)size;
    heap->live--;
    free(memory);
}

// everything that allocates, once; the status of the first failure
static crStatus build_all(Heap* heap) {
    crAllocator allocator = {heap_alloc, heap_free, heap};
    crModel* model = cr_model_create(&allocator);
    const double speeds[2] = {0.0, 1.0}, es[2] = {0.5, 0.2};
    const double square[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    crRestitution table = {.count = 2, .speed = speeds, .e = es};
    crMaterial m = cr_material();
    m.surface.e_of_speed = &table;
    m.surface.vertex_count = 4;
    m.surface.vertices = square;
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        crBodyDef def = hinge_def();
        def.name = name;
        def.parent = i;
        cr_model_add_body(model, &def);
        m.name = name;
        cr_model_add_material(model, &m);
        cr_model_add_pair(model, 0, 0, &m.surface);
        crShape ball = cr_shape_sphere(0.1);
        cr_model_add_shape(model, i, &ball, 0);
        crLoop loop = cr_loop(CR_LOOP_CONNECT, 0, i + 1);
        cr_model_add_loop(model, &loop);
    }
    crStatus status = cr_model_check(model, NULL);
    crArena arena = {0};
    crState state;
    crDynamics d;
    if (status == CR_OK) status = cr_arena_create(&arena, &allocator, 0);
    if (status == CR_OK) status = cr_state_create(model, &arena, &state);
    if (status == CR_OK) status = cr_dynamics_create(model, &arena, &d);
    if (status == CR_OK) status = cr_model_close_loops(model, 1e-9, &arena, &d, &state, NULL);
    cr_arena_destroy(&arena);
    cr_model_destroy(model);
    return status;
}

TEST(every_allocation_may_fail) {
    Heap heap = {0};
    CHECK_STATUS(build_all(&heap), CR_OK);
    int calls = heap.calls;
    CHECK(heap.live == 0);
    for (int k = 1; k <= calls; k++) {
        heap = (Heap){.fail_at = k};
        CHECK_STATUS(build_all(&heap), CR_ERR_MEMORY);
        CHECK(heap.live == 0);
    }
    printf("  %d allocations, each failed once\n", calls);
}

TEST(stages_do_not_touch_the_heap) {
    Heap heap = {0};
    crAllocator allocator = {heap_alloc, heap_free, &heap};
    crModel* model = cr_model_create(&allocator);
    const crJoint joints[] = {CR_JOINT_FREE, CR_JOINT_HINGE, CR_JOINT_BALL, CR_JOINT_PLANAR, CR_JOINT_FREE};
    for (int i = 0; i < 5; i++) {
        crBodyDef def = hinge_def();
        def.joint = joints[i];
        def.parent = i < 4 ? i : 0;
        cr_model_add_body(model, &def);
    }
    crLoop loop = cr_loop(CR_LOOP_CONNECT, 0, 2);
    cr_model_add_loop(model, &loop);
    crArena arena;
    crState state;
    crDynamics d;
    CHECK_STATUS(cr_arena_create(&arena, &allocator, 1 << 18), CR_OK);
    CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(model, &arena, &d), CR_OK);
    int before = heap.calls;
    for (int s = 0; s < 10; s++) {
        double k[32], v_free[32];
        cr_model_kinematics(model, &state, &d);
        CHECK_STATUS(cr_model_mass_factor(model, 0.01, &d), CR_OK);
        cr_model_forces(model, &state, &d, k);
        cr_model_smooth_velocity(model, &state, k, 0.01, &d, v_free);
        memcpy(state.v, v_free, (size_t)model->nv * sizeof(double));
        cr_model_integrate(model, 0.01, &state);
        CHECK_STATUS(cr_model_close_loops(model, 1e-9, &arena, &d, &state, NULL), CR_OK);
    }
    CHECK(heap.calls == before);
    cr_arena_destroy(&arena);
    cr_model_destroy(model);
    CHECK(heap.live == 0);
}
