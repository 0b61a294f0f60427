// test_step_balance.c - momentum of every step against the impulses it recorded, for all methods.
#include "balance.h"
#include "sample.h"
#include "step_scene.h"

static crStepSettings settings_of(crMethod method, double dt) {
    crStepSettings settings = scene_settings(method);
    settings.dt = dt;
    return settings;
}

// Balls and others that fall on the ground and on each other. A position pass turns bodies after they moved, which is
// seen where their inertia is not that of a ball: cubes for the methods that have one.
typedef enum Others { BALLS, CUBES, BOXES } Others;

static crModel* heap_model(crRandom* random, double e, Others others) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.4, e);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    for (int i = 0; i < 5; i++) {
        crShape shape = others == BALLS || i % 2 == 1 ? cr_shape_sphere(0.1)
                        : others == CUBES             ? cr_shape_box(0.1, 0.1, 0.1)
                                                      : cr_shape_box(0.1, 0.08, 0.12);
        crVec3 p = cr_vec3(sample_uniform(random, -0.1, 0.1), sample_uniform(random, -0.1, 0.1), 0.2 + 0.26 * i);
        scene_free(model, shape, p, sample_log(random, 0.1, 10), material);
    }
    return model;
}

// polygons and a disc in a vertical plane
static crModel* planar_model(crRandom* random, double e) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, -9.81, 0);
    int material = scene_material(model, 0.4, e);
    scene_ground(model, cr_vec3(0, 1, 0), material);
    for (int i = 0; i < 3; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_PLANAR;
        def.pose.p = cr_vec3(sample_uniform(random, -0.05, 0.05), 0.2 + 0.3 * i, 0);
        int body = cr_model_add_body(model, &def);
        crShape shape = i % 2 == 0 ? cr_shape_box(0.1, 0.05, 0.1) : cr_shape_sphere(0.1);
        cr_model_add_shape(model, body, &shape, material);
    }
    return model;
}

// a free body that carries two bars on hinges, one with a limit and a motor, the other tied to a ball; a pendulum
static crModel* tree_model(double e) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.4, e);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    int root = scene_free(model, cr_shape_box(0.1, 0.1, 0.05), cr_vec3(0, 0, 0.4), NAN, material);
    int bar = root;
    for (int i = 0; i < 2; i++) {
        crBodyDef def = cr_body_def();
        def.parent = root;
        def.joint = CR_JOINT_HINGE;
        def.axis = cr_vec3(0, 1, 0);
        def.pose.p = cr_vec3(i == 0 ? 0.12 : -0.12, 0, 0);
        if (i == 0) {
            def.dof[0].upper = 0.3;
            def.dof[0].lower = -0.2;
            def.dof[0].motor_force = 0.5;
        }
        def.dof[0].friction = 0.05;
        bar = cr_model_add_body(model, &def);
        crShape shape = cr_shape_capsule(0.03, 0.1);
        shape.pose.p = cr_vec3(i == 0 ? 0.05 : -0.05, 0, -0.15);
        cr_model_add_shape(model, bar, &shape, material);
    }
    int ball = scene_free(model, cr_shape_sphere(0.05), cr_vec3(-0.17, 0, 0.05), NAN, material);
    crLoop loop = cr_loop(CR_LOOP_CONNECT, bar, ball);
    loop.pose_a.p = cr_vec3(-0.05, 0, -0.3);
    loop.pose_b.p = cr_vec3(0, 0, 0.05);
    CHECK(cr_model_add_loop(model, &loop) >= 0);
    return model;
}

typedef struct Worst {
    double scheme, bodies;
    int contacts, impacts, steps;
} Worst;

static void run(crModel* model, const crStepSettings* settings, crRandom* random, int steps, bool scheme,
                Worst* worst) {
    Scene scene = {.model = model};
    Balance balance;
    scene_open(&scene, settings);
    balance_open(&balance, model);
    for (int j = 0; j < model->nv; j++) {
        scene.step.state.v[j] = sample_uniform(random, -0.5, 0.5);
    }
    for (int i = 0; i < steps; i++) {
        balance_begin(&balance, &scene.step.state);
        if (!scene_step(&scene, settings->dt)) break;
        const crStep* step = &scene.step;
        bool one = step->certificate.impacts == 0;
        if (scheme && one) {
            double defect = balance_scheme_defect(&balance, step, settings->dt);
            if (defect > 1e-11) printf("  step %d: scheme %.1e\n", i, defect);
            worst->scheme = fmax(worst->scheme, defect);
        }
        double defect = balance_bodies_defect(&balance, step, settings->dt);
        if (defect > 1e-9) printf("  step %d: bodies %.1e impacts %d\n", i, defect, step->certificate.impacts);
        worst->bodies = fmax(worst->bodies, defect);
        for (int k = 0; k < step->contact_count; k++) {
            worst->contacts += cr_norm(step->contacts[k].impulse) > 0.0;
        }
        worst->impacts += step->certificate.impacts;
        worst->steps++;
    }
    balance_close(&balance);
    scene_close(&scene);
}

static void report(const char* what, const Worst* w) {
    printf("%s: %d steps, %d contacts that press, %d impacts; scheme to %.1e, bodies to %.1e\n", what, w->steps,
           w->contacts, w->impacts, w->scheme, w->bodies);
}

static void heaps(const char* what, const crStepSettings* settings, Others others, double e, bool scheme) {
    crRandom random = sample_seed(5);
    Worst worst = {0};
    for (int i = 0; i < 3; i++) {
        run(heap_model(&random, e, others), settings, &random, 60, scheme, &worst);
    }
    report(what, &worst);
    CHECK(worst.contacts > 0);
    CHECK(worst.scheme < 1e-11);
    CHECK(worst.bodies < 1e-9);
}

TEST(lcp) {
    crStepSettings settings = settings_of(CR_METHOD_LCP, 0.01);
    heaps("lcp, position", &settings, BOXES, 0.0, true);
    settings.level = CR_LEVEL_VELOCITY;
    heaps("lcp, velocity", &settings, CUBES, 0.5, true);
    settings.restitution = CR_LCP_POISSON;
    heaps("lcp, Poisson", &settings, BALLS, 0.5, true);
}

TEST(moreau) {
    crStepSettings settings = settings_of(CR_METHOD_MOREAU, 0.01);
    heaps("moreau", &settings, BOXES, 0.5, true);
    settings.activation = 1.0;
    heaps("moreau, active at q + h v", &settings, BOXES, 0.0, true);
}

TEST(cone) {
    crStepSettings settings = settings_of(CR_METHOD_CONE, 0.01);
    heaps("cone, no rebound", &settings, CUBES, 0.0, true);
    heaps("cone", &settings, CUBES, 0.5, false);
}

TEST(event) {
    crStepSettings settings = settings_of(CR_METHOD_EVENT, 0.01);
    heaps("event, no rebound", &settings, CUBES, 0.0, false);
    heaps("event", &settings, CUBES, 0.5, false);
    settings.toi = CR_TOI_ADVANCE;
    heaps("event, advance", &settings, CUBES, 0.5, false);
}

static void others(const char* what, const crStepSettings* settings, bool tree, double e) {
    crRandom random = sample_seed(6);
    Worst worst = {0};
    for (int i = 0; i < 3; i++) {
        run(tree ? tree_model(e) : planar_model(&random, e), settings, &random, 60, true, &worst);
    }
    report(what, &worst);
    CHECK(worst.contacts > 0);
    CHECK(worst.scheme < 1e-11);
}

TEST(planar_bodies) {
    crStepSettings settings = settings_of(CR_METHOD_LCP, 0.01);
    others("planar, lcp", &settings, false, 0.0);
    settings.method = CR_METHOD_MOREAU;
    others("planar, moreau", &settings, false, 0.5);
    settings.method = CR_METHOD_CONE;
    others("planar, cone", &settings, false, 0.0);
}

TEST(trees_with_joints_and_loops) {
    crStepSettings settings = settings_of(CR_METHOD_LCP, 0.005);
    others("tree, lcp", &settings, true, 0.0);
    settings.method = CR_METHOD_MOREAU;
    others("tree, moreau", &settings, true, 0.3);
}
