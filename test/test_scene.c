// Scenes: values read as they stand, every refusal by field, line and column, values set by path.
#include "scene_text.h"

#include "io/json_set.h"

TEST(defaults) {
    crScene scene;
    if (!good("{\"carom\":1}", &scene)) return;
    crStepSettings usual = cr_step_settings();
    CHECK(scene.model->nb == 1 && scene.model->nv == 0 && scene.comment == NULL && scene.overlap_count == 0);
    CHECK_VEC(scene.model->gravity, cr_vec3(0.0, 0.0, -9.81), 0.0);
    CHECK(scene.step.method == usual.method && scene.step.dt == usual.dt && scene.step.tol == usual.tol);
    CHECK(scene.duration == 1.0 && scene.every == 1);
    CHECK_TEXT(scene.step.solver.name, "auto");
    cr_scene_free(&scene);
    cr_scene_free(&scene);
}

TEST(settings) {
    crScene scene;
    if (!good("{\"carom\":1,\"comment\":\"c\",\"gravity\":[1,2,3],\"step\":{\"method\":\"lcp\",\"dt\":0.25,"
              "\"level\":\"velocity\",\"fixed_point\":true,\"directions\":16,\"restitution\":\"poisson\","
              "\"theta\":0.75,"
              "\"toi\":\"advance\",\"duration\":7,\"deadband\":1e-5,\"bound\":50,\"sleep_time\":0.5,"
              "\"sleep_speed\":0.25},\"impact\":{\"rule\":\"sequence\","
              "\"law\":\"routh\",\"threshold\":0.5,\"cluster\":0.125,\"limit\":77},"
              "\"solver\":{\"name\":\"lemke\",\"tol\":1e-3},\"record\":{\"every\":9}}",
              &scene))
        return;
    const crStepSettings* s = &scene.step;
    CHECK_TEXT(scene.comment, "c");
    CHECK_VEC(scene.model->gravity, cr_vec3(1.0, 2.0, 3.0), 0.0);
    CHECK(s->method == CR_METHOD_LCP && s->dt == 0.25 && s->level == CR_LEVEL_VELOCITY && s->fixed_point);
    CHECK(s->directions == 16 && s->restitution == CR_LCP_POISSON && s->theta == 0.75 &&
          s->toi == CR_TOI_ADVANCE);
    CHECK(scene.duration == 7.0 && s->deadband == 1e-5 && s->threshold == 0.5 && s->cluster == 0.125);
    CHECK(s->bound == 50.0 && s->sleep_time == 0.5 && s->sleep_speed == 0.25);
    CHECK(s->impact_limit == 77 && s->tol == 1e-3 && scene.every == 9);
    CHECK_TEXT(s->rule.name, "sequence");
    CHECK_TEXT(s->law.name, "routh");
    CHECK_TEXT(s->solver.name, "lemke");
    cr_scene_free(&scene);
}

TEST(materials_and_pairs) {
    crScene scene;
    if (!good("{\"carom\":1,\"materials\":{\"a\":{\"mu\":0.25,\"e\":0.5,\"et\":-0.5,\"density\":3},"
              "\"b\":{\"mu\":\"inf\",\"e\":[[0,1],[2,0.5]],\"mu_spin\":0.1,\"mu_roll\":0.2,\"viscous\":4,"
              "\"mu_stribeck\":0.3,\"speed_stribeck\":0.01},\"c\":{\"mu\":0.1,\"mu2\":0.2,\"axis\":[0,2,0]}},"
              "\"pairs\":[{\"materials\":[\"a\",\"b\"],\"mu\":0.75}]}",
              &scene))
        return;
    const crModel* m = scene.model;
    CHECK(m->material_count == 4 && m->pair_count == 1);
    CHECK(m->materials[1].surface.mu == 0.25 && m->materials[1].surface.mu2 == 0.25 &&
          m->materials[1].density == 3.0);
    CHECK(m->materials[1].surface.e == 0.5 && m->materials[1].surface.et == -0.5);
    CHECK(isinf(m->materials[2].surface.mu) && m->materials[2].surface.mu_roll == 0.2);
    CHECK_NEAR(cr_restitution_at(m->materials[2].surface.e_of_speed, 1.0), 0.75, 1e-15);
    CHECK_VEC(m->materials[3].surface.axis, cr_vec3(0.0, 1.0, 0.0), 0.0);
    // what a pair does not say is the combination of its two: e is the smaller at rest
    CHECK(m->pairs[0].surface.mu == 0.75 && m->pairs[0].surface.mu2 == 0.75 && m->pairs[0].surface.e == 0.5);
    cr_scene_free(&scene);
}

TEST(bodies) {
    crScene scene;
    if (!good(
            "{\"carom\":1,\"bodies\":["
            "{\"name\":\"f\",\"pos\":[1,2,3],\"quat\":[0,0,0,2],\"vel\":[4,5,6],\"omega\":[7,8,9],\"mass\":2,"
            "\"inertia\":[1,1.5,2],\"com\":[0.5,0,0],\"gravity_scale\":0.5,\"linear_drag\":0.1,\"angular_"
            "drag\":0.2},"
            "{\"name\":\"p\",\"joint\":\"planar\",\"pos\":[1,2,3],\"angle\":0.5,\"vel\":[4,5],\"omega\":6,"
            "\"mass\":1,"
            "\"inertia\":0.25},"
            "{\"name\":\"h\",\"joint\":\"hinge\",\"parent\":\"p\",\"pos\":[1,0,0],\"anchor\":[0,0.5,0],"
            "\"axis\":[0,0,3],"
            "\"angle\":0.125,\"omega\":2,\"mass\":1,\"inertia\":1,\"limits\":[-1,2],\"stiffness\":3,\"rest\":"
            "0.5,"
            "\"damping\":4,\"friction\":5,\"motor\":{\"speed\":6,\"force\":\"inf\"}},"
            "{\"name\":\"s\",\"joint\":\"slider\",\"parent\":\"h\",\"axis\":[1,0,0],\"shift\":0.25,\"vel\":3,"
            "\"mass\":1},"
            "{\"name\":\"b\",\"joint\":\"ball\",\"quat\":[0.6,0.8,0,0],\"omega\":[1,2,3],\"mass\":1,"
            "\"inertia\":1},"
            "{\"joint\":\"fixed\",\"pos\":[9,9,9]}]}",
            &scene))
        return;
    const crModel* m = scene.model;
    const double q[] = {1, 2, 3, 0, 0, 0, 1, 1, 2, 0.5, 0.125, 0.25, 0.6, 0.8, 0, 0};
    const double v[] = {4, 5, 6, 7, 8, 9, 4, 5, 6, 2, 3, 1, 2, 3};
    CHECK(m->nb == 7 && m->nq == 16 && m->nv == 14);
    for (int i = 0; i < 16; i++) {
        CHECK_NEAR(scene.q[i], q[i], 1e-16);
    }
    for (int i = 0; i < 14; i++) {
        CHECK(scene.v[i] == v[i]);
    }
    CHECK(m->bodies[1].mass == 2.0 && m->bodies[1].inertia.yy == 1.5 && m->bodies[1].com.x == 0.5);
    CHECK(m->bodies[1].gravity_scale == 0.5 && m->bodies[1].linear_drag == 0.1 &&
          m->bodies[1].angular_drag == 0.2);
    CHECK(m->bodies[2].pose.p.z == 3.0);
    // a joint's frame is at its anchor: the body is shifted back in it, and so are its children
    CHECK_VEC(m->bodies[3].pose.p, cr_vec3(1.0, 0.5, 0.0), 0.0);
    CHECK_VEC(m->bodies[3].com, cr_vec3(0.0, -0.5, 0.0), 0.0);
    CHECK_VEC(m->bodies[4].pose.p, cr_vec3(0.0, -0.5, 0.0), 0.0);
    const crDof* dof = cr_model_dof(m, m->bodies[3].v);
    CHECK(dof->lower == -1.0 && dof->upper == 2.0 && dof->stiffness == 3.0 && dof->rest == 0.5 &&
          dof->damping == 4.0);
    CHECK(dof->friction == 5.0 && dof->motor_speed == 6.0 && isinf(dof->motor_force));
    CHECK_TEXT(m->bodies[6].name, "body6");
    cr_scene_free(&scene);
}

// mass alone keeps the shapes' centre and proportions; density makes it all
TEST(masses) {
    crScene scene;
    if (!good("{\"carom\":1,\"materials\":{\"m\":{\"density\":3}},\"bodies\":["
              "{\"mass\":5,\"shapes\":[{\"type\":\"box\",\"half\":[1,2,3],\"pos\":[0,0,4]}]},"
              "{\"pos\":[99,0,0],\"shapes\":[{\"type\":\"box\",\"half\":[1,2,3],\"material\":\"m\"}]}]}",
              &scene))
        return;
    const crBody* given = &scene.model->bodies[1];
    const crBody* dense = &scene.model->bodies[2];
    CHECK_NEAR(given->mass, 5.0, 0.0);
    CHECK_VEC(given->com, cr_vec3(0.0, 0.0, 4.0), 1e-15);
    CHECK_NEAR(given->inertia.xx, 5.0 / 3.0 * (4.0 + 9.0), 1e-13);
    CHECK_NEAR(dense->mass, 3.0 * 48.0, 1e-12);
    CHECK_NEAR(dense->inertia.zz, 144.0 / 3.0 * (1.0 + 4.0), 1e-12);
    cr_scene_free(&scene);
}

TEST(shapes) {
    crScene scene;
    if (!good(
            "{\"carom\":1,\"static\":[{\"type\":\"sphere\",\"r\":1,\"pos\":[1,2,3]},"
            "{\"type\":\"capsule\",\"r\":1,\"half\":2,\"axis\":\"x\"},{\"type\":\"box\",\"half\":[1,2,3]},"
            "{\"type\":\"cylinder\",\"r\":1,\"half\":2,\"axis\":\"y\"},{\"type\":\"cone\",\"r\":1,\"half\":2}"
            ","
            "{\"type\":\"ellipsoid\",\"radii\":[1,2,3]},{\"type\":\"halfspace\",\"n\":[0,0,2],\"offset\":3},"
            "{\"type\":\"prism\",\"points\":[[0,0],[1,0],[0,1]],\"half\":1},"
            "{\"type\":\"mesh\",\"vertices\":[[0,0,0],[1,0,0],[0,1,0]],\"triangles\":[[0,1,2]]},"
            "{\"type\":\"heightfield\",\"nx\":2,\"ny\":2,\"dx\":1,\"dy\":1,\"z\":[0,0,0,1]}]}",
            &scene))
        return;
    const crBodyShape* s = scene.model->shapes;
    CHECK(scene.model->shape_count == 10);
    CHECK(s[0].shape.size.x == 1.0 && s[0].shape.pose.p.z == 3.0);
    // local z lies along the axis named
    CHECK_VEC(cr_quat_rotate(s[1].shape.pose.q, cr_vec3(0, 0, 1)), cr_vec3(1, 0, 0), 1e-15);
    CHECK_VEC(cr_quat_rotate(s[3].shape.pose.q, cr_vec3(0, 0, 1)), cr_vec3(0, 1, 0), 1e-15);
    CHECK(s[6].shape.size.z == 1.0 && s[6].shape.offset == 3.0);
    CHECK(s[7].shape.kind == CR_SHAPE_HULL && s[8].shape.kind == CR_SHAPE_MESH);
    CHECK(s[9].shape.kind == CR_SHAPE_HEIGHTFIELD);
    cr_scene_free(&scene);
}

// the hull of a cube's corners, of points inside it and on its faces, has the cube's volume and centre
TEST(hull) {
    const char* text =
        "{\"carom\":1,\"bodies\":[{\"shapes\":[{\"type\":\"hull\",\"points\":[[1,1,1],[-1,1,1],[1,-1,1],"
        "[-1,-1,1],[1,1,-1],[-1,1,-1],[1,-1,-1],[-1,-1,-1],[0,0,0],[0.25,0.5,1],[1,0,0]]}]}]}";
    crScene scene;
    crError error;
    crStatus status = read_text(text, &scene, &error);
    if (status == CR_ERR_NAME) {
        test_skip("built without Qhull");
        return;
    }
    if (!CHECK_STATUS(status, CR_OK)) return;
    int count = 0;
    cr_hull_vertices(scene.model->shapes[0].shape.data.hull, &count);
    CHECK(count == 8);
    CHECK_NEAR(scene.model->bodies[1].mass, 8000.0, 1e-9);
    CHECK_VEC(scene.model->bodies[1].com, cr_vec3(0, 0, 0), 1e-14);
    cr_scene_free(&scene);
}

TEST(drives_and_constraints) {
    crScene scene;
    if (!good("{\"carom\":1,\"bodies\":[{\"name\":\"d\",\"joint\":\"fixed\",\"pos\":[1,0,0]},"
              "{\"name\":\"m\",\"pos\":[1,0,0.5],\"mass\":1,\"inertia\":1}],"
              "\"drive\":[{\"body\":\"d\",\"velocity\":[1,0,0],\"omega\":[0,0,2],\"amplitude\":[0,0,3],"
              "\"frequency\":0.25,"
              "\"phase\":0.5}],\"constraints\":[{\"type\":\"distance\",\"bodies\":[\"d\",\"m\"],\"length\":2}"
              "]}",
              &scene))
        return;
    const crBody* d = &scene.model->bodies[1];
    CHECK(d->joint == CR_JOINT_DRIVEN && scene.model->loop_count == 1);
    double t = 0.75;
    double rate = 2.0 * CR_PI * 0.25;
    crDriven at = {.pose = d->pose};
    d->drive(d->drive_ctx, t, &at);
    CHECK_VEC(at.pose.p, cr_vec3(1.0 + t, 0.0, 3.0 * sin(rate * t + 0.5)), 1e-14);
    CHECK_VEC(at.velocity, cr_vec3(1.0, 0.0, 3.0 * rate * cos(rate * t + 0.5)), 1e-14);
    CHECK_VEC(cr_quat_rotate(at.pose.q, cr_vec3(1, 0, 0)), cr_vec3(cos(1.5), sin(1.5), 0), 1e-14);
    // an open loop is closed before anything moves: the distance to where the drive is at t = 0
    crVec3 from = {1.0, 0.0, 3.0 * sin(0.5)};
    CHECK_NEAR(cr_norm(cr_sub(cr_vec3(scene.q[0], scene.q[1], scene.q[2]), from)), 2.0, 1e-9);
    cr_scene_free(&scene);
}

TEST(overlaps) {
    crScene scene;
    const char* two = "{\"carom\":1,\"bodies\":[{\"name\":\"a\",\"shapes\":[{\"type\":\"sphere\",\"r\":1}]},"
                      "{\"name\":\"b\",\"pos\":[%s,0,0],\"shapes\":[{\"type\":\"sphere\",\"r\":1},"
                      "{\"type\":\"sphere\",\"r\":0.5,\"pos\":[3,0,0]}]}]}";
    char text[400];
    snprintf(text, sizeof text, two, "1.75");
    if (!good(text, &scene)) return;
    char name[CR_SCENE_NAME];
    CHECK(scene.overlap_count == 1);
    CHECK_NEAR(scene.overlaps[0].depth, 0.25, 1e-14);
    cr_scene_shape_name(&scene, scene.overlaps[0].shape_a, name);
    CHECK_TEXT(name, "a");
    cr_scene_shape_name(&scene, scene.overlaps[0].shape_b, name);
    CHECK_TEXT(name, "b[0]");
    cr_scene_free(&scene);
    // touching is no overlap
    snprintf(text, sizeof text, two, "2");
    if (!good(text, &scene)) return;
    CHECK(scene.overlap_count == 0);
    cr_scene_free(&scene);
}

typedef struct Refusal {
    const char* text;
    crStatus status;
    const char* field;
    int line, column;
} Refusal;

static void refused(const Refusal* r) {
    crScene scene;
    crError error;
    crStatus status = read_text(r->text, &scene, &error);
    if (status == CR_OK) cr_scene_free(&scene);
    test_check(status == r->status && strcmp(error.field, r->field) == 0 && error.line == r->line &&
                   error.column == r->column && error.message[0] != '\0',
               __FILE__, __LINE__, "%s: %s at %d:%d in \"%s\" (%s), expected %s at %d:%d in \"%s\"", r->text,
               cr_status_name(status), error.line, error.column, error.field, error.message,
               cr_status_name(r->status), r->line, r->column, r->field);
}

// {"carom":1, and a part that begins in column 2 of line 2
#define S(part) "{\"carom\":1,\n " part "}"
#define B(part) S("\"bodies\":[{" part "}]")
#define H(part) S("\"static\":[{" part "}]")

TEST(refusals) {
    static const Refusal all[] = {
        {"[1]", CR_ERR_TYPE, "scene", 1, 1},
        {"{}", CR_ERR_MISSING, "carom", 1, 1},
        {"{\"carom\":2}", CR_ERR_RANGE, "carom", 1, 10},
        {S("\"gravty\":[0,0,0]"), CR_ERR_FIELD, "gravty", 2, 11},
        {S("\"gravity\":[0,0]"), CR_ERR_SIZE, "gravity", 2, 12},
        {S("\"gravity\":9.81"), CR_ERR_TYPE, "gravity", 2, 12},
        {S("\"comment\":1"), CR_ERR_TYPE, "comment", 2, 12},
        {S("\"step\":1"), CR_ERR_TYPE, "step", 2, 9},
        {S("\"step\":{\"dt\":0}"), CR_ERR_RANGE, "step.dt", 2, 15},
        {S("\"step\":{\"dt\":\"a\"}"), CR_ERR_TYPE, "step.dt", 2, 15},
        {S("\"step\":{\"d\":1}"), CR_ERR_FIELD, "step.d", 2, 14},
        {S("\"step\":{\"method\":\"euler\"}"), CR_ERR_NAME, "step.method", 2, 19},
        {S("\"step\":{\"level\":\"a\"}"), CR_ERR_NAME, "step.level", 2, 18},
        {S("\"step\":{\"toi\":\"a\"}"), CR_ERR_NAME, "step.toi", 2, 16},
        {S("\"step\":{\"restitution\":\"a\"}"), CR_ERR_NAME, "step.restitution", 2, 24},
        {S("\"step\":{\"directions\":2}"), CR_ERR_RANGE, "step.directions", 2, 23},
        {S("\"step\":{\"theta\":2}"), CR_ERR_RANGE, "step.theta", 2, 18},
        {S("\"step\":{\"fixed_point\":1}"), CR_ERR_TYPE, "step.fixed_point", 2, 24},
        {S("\"step\":{\"duration\":-1}"), CR_ERR_RANGE, "step.duration", 2, 21},
        {S("\"step\":{\"deadband\":0}"), CR_ERR_RANGE, "step.deadband", 2, 21},
        {S("\"step\":{\"bound\":0}"), CR_ERR_RANGE, "step.bound", 2, 18},
        {S("\"step\":{\"bound\":1e-4}"), CR_ERR_RANGE, "step.bound", 2, 18},
        {S("\"step\":{\"sleep_time\":-1}"), CR_ERR_RANGE, "step.sleep_time", 2, 23},
        {S("\"step\":{\"sleep_time\":1e7}"), CR_ERR_RANGE, "step.sleep_time", 2, 23},
        {S("\"step\":{\"sleep_speed\":\"a\"}"), CR_ERR_TYPE, "step.sleep_speed", 2, 24},
        {S("\"impact\":{\"rule\":\"poison\"}"), CR_ERR_NAME, "impact.rule", 2, 19},
        {S("\"impact\":{\"law\":\"x\"}"), CR_ERR_NAME, "impact.law", 2, 18},
        {S("\"impact\":{\"threshold\":-1}"), CR_ERR_RANGE, "impact.threshold", 2, 24},
        {S("\"impact\":{\"cluster\":-1}"), CR_ERR_RANGE, "impact.cluster", 2, 22},
        {S("\"impact\":{\"limit\":0.5}"), CR_ERR_RANGE, "impact.limit", 2, 20},
        {S("\"solver\":{\"name\":\"x\"}"), CR_ERR_NAME, "solver.name", 2, 19},
        {S("\"solver\":{\"tol\":1}"), CR_ERR_RANGE, "solver.tol", 2, 18},
        {S("\"record\":{\"every\":0}"), CR_ERR_RANGE, "record.every", 2, 20},
        {S("\"materials\":[]"), CR_ERR_TYPE, "materials", 2, 14},
        {S("\"materials\":{\"a\":1}"), CR_ERR_TYPE, "materials.a", 2, 19},
        {S("\"materials\":{\"a\":{\"mu\":-1}}"), CR_ERR_RANGE, "materials.a.mu", 2, 25},
        {S("\"materials\":{\"a\":{\"mu\":\"big\"}}"), CR_ERR_TYPE, "materials.a.mu", 2, 25},
        {S("\"materials\":{\"a\":{\"mu2\":1}}"), CR_ERR_MISSING, "materials.a.axis", 2, 19},
        {S("\"materials\":{\"a\":{\"e\":-1}}"), CR_ERR_RANGE, "materials.a.e", 2, 24},
        {S("\"materials\":{\"a\":{\"e\":[[1,1],[0,1]]}}"), CR_ERR_RANGE, "materials.a.e", 2, 24},
        {S("\"materials\":{\"a\":{\"e\":[1]}}"), CR_ERR_TYPE, "materials.a.e", 2, 25},
        {S("\"materials\":{\"a\":{\"et\":2}}"), CR_ERR_RANGE, "materials.a.et", 2, 25},
        {S("\"materials\":{\"a\":{\"axis\":[0,0,0]}}"), CR_ERR_UNIT, "materials.a.axis", 2, 27},
        {S("\"pairs\":[{}]"), CR_ERR_MISSING, "pairs[0].materials", 2, 11},
        {S("\"pairs\":[{\"materials\":[\"a\"]}]"), CR_ERR_SIZE, "pairs[0].materials", 2, 24},
        {S("\"materials\":{\"ab\":{}},\"pairs\":[{\"materials\":[\"ab\",\"ac\"]}]"), CR_ERR_NAME,
         "pairs[0].materials", 2, 52},
        {S("\"bodies\":{}"), CR_ERR_TYPE, "bodies", 2, 11},
        {S("\"bodies\":[1]"), CR_ERR_TYPE, "bodies[0]", 2, 12},
        {B("\"joint\":\"spring\""), CR_ERR_NAME, "bodies[0].joint", 2, 21},
        {B("\"angle\":1"), CR_ERR_FIELD, "bodies[0].angle", 2, 21},
        {B("\"name\":\"a b\""), CR_ERR_NAME, "bodies[0].name", 2, 20},
        {B("\"name\":\"world\""), CR_ERR_NAME, "bodies[0].name", 2, 20},
        {B("\"parent\":\"x\""), CR_ERR_NAME, "bodies[0].parent", 2, 22},
        {B("\"quat\":[0,0,0,0]"), CR_ERR_UNIT, "bodies[0].quat", 2, 20},
        {B("\"quat\":[0,0,0]"), CR_ERR_SIZE, "bodies[0].quat", 2, 20},
        {B("\"mass\":-1"), CR_ERR_RANGE, "bodies[0].mass", 2, 20},
        {B("\"inertia\":1"), CR_ERR_FIELD, "bodies[0].inertia", 2, 23},
        {B("\"mass\":1,\"inertia\":[1,1,3]"), CR_ERR_REGION, "bodies[0].inertia", 2, 32},
        {B("\"mass\":1,\"inertia\":[[1,0,0],[0,1,0]]"), CR_ERR_SIZE, "bodies[0].inertia", 2, 32},
        {B("\"joint\":\"planar\",\"vel\":[1,2,3]"), CR_ERR_RANGE, "bodies[0].vel", 2, 36},
        {B("\"joint\":\"planar\",\"pos\":[1]"), CR_ERR_SIZE, "bodies[0].pos", 2, 36},
        {B("\"joint\":\"hinge\",\"axis\":[0,0,0]"), CR_ERR_UNIT, "bodies[0].axis", 2, 36},
        {B("\"joint\":\"hinge\",\"limits\":[2,1]"), CR_ERR_RANGE, "bodies[0].limits", 2, 38},
        {B("\"joint\":\"hinge\",\"motor\":{\"speed\":1}"), CR_ERR_MISSING, "bodies[0].motor.force", 2, 37},
        {B("\"joint\":\"hinge\""), CR_ERR_DEFINITE, "bodies", 2, 11},
        {B("\"repeat\":1"), CR_ERR_TYPE, "bodies[0].repeat", 2, 22},
        {B("\"repeat\":[1]"), CR_ERR_TYPE, "bodies[0].repeat[0]", 2, 23},
        {B("\"repeat\":[{\"step\":[1,0,0]}]"), CR_ERR_MISSING, "bodies[0].repeat[0].count", 2, 23},
        {B("\"repeat\":[{\"count\":2}]"), CR_ERR_MISSING, "bodies[0].repeat[0].step", 2, 23},
        {B("\"repeat\":[{\"count\":0,\"step\":[1,0,0]}]"), CR_ERR_RANGE, "bodies[0].repeat[0].count", 2, 32},
        {B("\"repeat\":[{\"count\":200,\"step\":[1,0,0]},{\"count\":200,\"step\":[0,1,0]}]"), CR_ERR_LIMIT,
         "bodies[0].repeat", 2, 52},
        {B("\"shapes\":[{}]"), CR_ERR_MISSING, "bodies[0].shapes[0].type", 2, 23},
        {B("\"shapes\":[{\"type\":\"ball\"}]"), CR_ERR_NAME, "bodies[0].shapes[0].type", 2, 31},
        {B("\"shapes\":[{\"type\":\"halfspace\"}]"), CR_ERR_RANGE, "bodies[0].shapes[0].type", 2, 31},
        {H("\"type\":\"sphere\""), CR_ERR_MISSING, "static[0].r", 2, 12},
        {H("\"type\":\"sphere\",\"r\":0"), CR_ERR_RANGE, "static[0].r", 2, 33},
        {H("\"type\":\"sphere\",\"r\":1,\"half\":1"), CR_ERR_FIELD, "static[0].half", 2, 42},
        {H("\"type\":\"box\",\"half\":[1,0,1]"), CR_ERR_RANGE, "static[0].half", 2, 33},
        {H("\"type\":\"capsule\",\"r\":1,\"half\":1,\"axis\":\"w\""), CR_ERR_NAME, "static[0].axis", 2, 52},
        {H("\"type\":\"sphere\",\"r\":1,\"material\":\"x\""), CR_ERR_NAME, "static[0].material", 2, 46},
        {H("\"type\":\"prism\",\"half\":1,\"points\":[[0,0],[0,1],[1,0]]"), CR_ERR_RANGE, "static[0].points",
         2, 46},
        {H("\"type\":\"mesh\",\"vertices\":[[0,0,0],[1,0,0],[0,1,0]],\"triangles\":[[0,1,0.5]]"),
         CR_ERR_RANGE, "static[0].triangles", 2, 77},
        {H("\"type\":\"heightfield\",\"nx\":2,\"ny\":2,\"dx\":1,\"dy\":1,\"z\":[1]"), CR_ERR_SIZE,
         "static[0].z", 2, 66},
        {S("\"constraints\":[{\"type\":\"connect\",\"bodies\":[\"world\",\"x\"]}]"), CR_ERR_NAME,
         "constraints[0].bodies", 2, 53},
        {S("\"constraints\":[{\"type\":\"rope\",\"bodies\":[]}]"), CR_ERR_NAME, "constraints[0].type", 2, 25},
        {S("\"constraints\":[{\"type\":\"connect\",\"bodies\":[\"world\",\"world\"]}]"), CR_ERR_RANGE,
         "constraints[0].bodies", 2, 44},
        {S("\"drive\":[{\"body\":\"x\"}]"), CR_ERR_NAME, "drive[0].body", 2, 19},
        {S("\"drive\":[{\"body\":\"world\"}]"), CR_ERR_NAME, "drive[0].body", 2, 19},
        {S("\"drive\":[{\"bodi\":\"x\"}]"), CR_ERR_FIELD, "drive[0].bodi", 2, 19},
        {S("\"bodies\":[{\"name\":\"a\",\"mass\":1,\"inertia\":1},{\"name\":\"a\"}]"), CR_ERR_NAME,
         "bodies[1].name", 2, 54},
        {S("\"bodies\":[{\"name\":\"a\",\"mass\":1,\"inertia\":1}],\"drive\":[{\"body\":\"a\"}]"),
         CR_ERR_NAME, "drive[0].body", 2, 64},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        refused(&all[i]);
    }
}

TEST(set_by_path) {
    const char* text = "{\"a\":{\"b\":1},\"list\":[{\"name\":\"x\",\"v\":[1,2]},{\"name\":\"y\"}]}";
    crJsonDoc doc;
    crError error = {0};
    if (cr_json_parse(text, strlen(text), 1, &doc, &error) != CR_OK) return;
    CHECK_STATUS(cr_json_set(&doc, "a.b", "2.5", &error), CR_OK);
    CHECK_STATUS(cr_json_set(&doc, "a.c", "event", &error), CR_OK);
    CHECK_STATUS(cr_json_set(&doc, "new.deep", "[1,{\"k\":\"t\"}]", &error), CR_OK);
    CHECK_STATUS(cr_json_set(&doc, "list.x.v[1]", "7", &error), CR_OK);
    CHECK_STATUS(cr_json_set(&doc, "list[1].w", "true", &error), CR_OK);
    CHECK_STATUS(cr_json_set(&doc, "short", "-.5", &error), CR_OK);
    CHECK(cr_json_get(doc.root, "short")->number == -0.5);
    CHECK_STATUS(cr_json_set(&doc, "file", ".x", &error), CR_OK);
    CHECK_TEXT(cr_json_get(doc.root, "file")->text, ".x");
    const crJson* a = cr_json_get(doc.root, "a");
    CHECK(cr_json_get(a, "b")->number == 2.5 && cr_json_get(a, "b")->line == 0);
    CHECK_TEXT(cr_json_get(a, "c")->text, "event");
    const crJson* deep = cr_json_get(cr_json_get(doc.root, "new"), "deep");
    CHECK(deep->count == 2 && deep->child->number == 1.0);
    CHECK_TEXT(cr_json_get(deep->child->next, "k")->text, "t");
    const crJson* x = cr_json_get(doc.root, "list")->child;
    CHECK(cr_json_get(x, "v")->child->next->number == 7.0 && cr_json_get(x, "v")->child->number == 1.0);
    CHECK(cr_json_get(x->next, "w")->type == CR_JSON_BOOL);
    static const struct {
        const char* path;
        crStatus status;
    } bad[] = {{"", CR_ERR_SYNTAX},        {"a.", CR_ERR_SYNTAX},       {"a[b]", CR_ERR_SYNTAX},
               {"a..b", CR_ERR_SYNTAX},    {"list[2]", CR_ERR_MISSING}, {"list.z", CR_ERR_MISSING},
               {"a.b.c", CR_ERR_TYPE},     {"a[0]", CR_ERR_MISSING},    {"list[-1]", CR_ERR_SYNTAX},
               {"list[0]x", CR_ERR_SYNTAX}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(cr_json_set(&doc, bad[i].path, "1", NULL), bad[i].status);
    }
    cr_json_free(&doc);
}
