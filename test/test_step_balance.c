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
        crVec3 p =
            cr_vec3(sample_uniform(random, -0.1, 0.1), sample_uniform(random, -0.1, 0.1), 0.2 + 0.26 * i);
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
            worst->scheme = fmax(worst->scheme, defect);
        }
        if (model->loop_count == 0)
            worst->bodies = fmax(worst->bodies, balance_bodies_defect(&balance, step, settings->dt));
        for (int k = 0; k < cr_step_shown(step); k++) {
            worst->contacts += cr_norm(cr_step_shown_at(step, k)->impulse) > 0.0;
        }
        worst->impacts += step->certificate.impacts;
        worst->steps++;
    }
    balance_close(&balance);
    scene_close(&scene);
}

static void report(const char* what, const Worst* w) {
    printf("%s: %d steps, %d contacts that press, %d impacts; scheme to %.1e, bodies to %.1e\n", what,
           w->steps, w->contacts, w->impacts, w->scheme, w->bodies);
}

static void heaps(const char* what, const crStepSettings* settings, Others others, double e, bool scheme) {
    crRandom random = sample_seed(5);
    Worst worst = {0};
    for (int i = 0; i < 3; i++) {
        run(heap_model(&random, e, others), settings, &random, 60, scheme, &worst);
    }
    report(what, &worst);
    CHECK(worst.contacts > 0);
    CHECK(worst.scheme < 1e-12);
    CHECK(worst.bodies < 1e-12);
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
    CHECK(worst.scheme < 1e-12);
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

static double kinetic(const crModel* model, const double* v) {
    double T = 0.0;
    for (int b = 1; b < model->nb; b++) {
        const double* w = v + model->bodies[b].v;
        double I = model->bodies[b].inertia.xx;
        T += 0.5 * model->bodies[b].mass * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        T += 0.5 * I * (w[3] * w[3] + w[4] * w[4] + w[5] * w[5]);
    }
    return T;
}

// the event between two bodies in this step; NULL where there is none
static const crEvent* event_between(const crStep* step, int a, int b) {
    for (int i = 0; i < step->events.count; i++) {
        const crEvent* e = &step->events.list[i];
        if ((e->body_a == a && e->body_b == b) || (e->body_a == b && e->body_b == a)) return e;
    }
    return NULL;
}

// a ball rolled at a row of three (Stewart and Trinkle's figure 6): one step has an event for every contact that the
// blow reaches, with impulses that account for each ball
static void cascade(crMethod method) {
    Scene scene = {.model = cr_model_create(NULL)};
    int material = scene_material(scene.model, 0.4, 0.0);
    scene_ground(scene.model, cr_vec3(0, 0, 1), material);
    for (int i = 0; i < 4; i++) {
        // moreau has no contact where there is a gap
        double gap = method == CR_METHOD_LCP ? 1e-5 : -1e-9, x = i == 0 ? -0.22 : 0.2 * i - 0.2 + gap * i;
        scene_free(scene.model, cr_shape_sphere(0.1), cr_vec3(x, 0, 0.1), 1.0, material);
    }
    crStepSettings settings = settings_of(method, 0.0025);
    settings.activation = 1.0;
    scene_open(&scene, &settings);
    Balance balance;
    balance_open(&balance, scene.model);
    scene.step.state.v[0] = 1.5;
    const crStep* step = &scene.step;
    bool met = false;
    for (int i = 0; i < 20 && !met && scene_step(&scene, settings.dt); i++) {
        met = event_between(step, 1, 2) != NULL;
        if (!met) balance_begin(&balance, &step->state);
    }
    CHECK(met);
    double fall = 0.0;
    for (int b = 1; b < 5 && met; b++) {
        const double *w = step->state.v + 6 * (b - 1), *was = balance.before.v + 6 * (b - 1);
        crVec3 P = cr_vec3(0, 0, 0);
        for (int k = 0; k < step->events.count; k++) {
            const crEvent* e = &step->events.list[k];
            CHECK(e->impact == CR_EVENT_CONTACT);
            double sign = e->body_b == b ? 1.0 : e->body_a == b ? -1.0 : 0.0;
            P = cr_madd(P, sign, e->impulse);
        }
        // every contact of the row is an event, so they are all the impulses there are
        CHECK_VEC(P, cr_vec3(w[0] - was[0], w[1] - was[1], w[2] - was[2] + 9.81 * settings.dt), 1e-14);
        fall += -9.81 * settings.dt * 0.5 * (w[2] + was[2]);
    }
    const crEvent *first = event_between(step, 1, 2), *table = event_between(step, 0, 2);
    if (met && test_check(first != NULL && table != NULL, __FILE__, __LINE__, "no event of the table")) {
        // friction lifts the ball that was thrown; the table answers for the one it presses down
        CHECK(first->impulse.z < 0.0 && table->impulse.z > 9.81 * settings.dt);
        double lost = kinetic(scene.model, step->state.v) - kinetic(scene.model, balance.before.v) - fall;
        CHECK_NEAR(first->energy_change, lost, 1e-12);
        printf("%s: %d events in the step of the blow, %.4f J lost\n", cr_method_name(method),
               step->events.count, -lost);
    }
    CHECK(method != CR_METHOD_LCP || event_between(step, 3, 4) != NULL);
    balance_close(&balance);
    scene_close(&scene);
}

TEST(a_blow_runs_through_a_row) {
    cascade(CR_METHOD_LCP);
    cascade(CR_METHOD_MOREAU);
}
