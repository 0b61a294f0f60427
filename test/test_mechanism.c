// Trees closed by loops: energy over a second, the time a four-bar takes by its closed form, order of convergence,
// momentum of one that floats, and what the method leaves to the contact solve.
#include "sample.h"
#include "test.h"

typedef struct Rig {
    crModel* model;
    crWorld* world;
} Rig;

static crBodyDef bar(int parent, double x, double length, double mass) {
    crBodyDef def = cr_body_def();
    def.parent = parent;
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.pose.p = cr_vec3(x, 0, 0);
    def.mass = mass;
    def.com = cr_vec3(0.5 * length, 0, 0);
    double I = mass * length * length / 12.0;
    def.inertia = (crSym3){.xx = 1e-4, .yy = I, .zz = I};
    return def;
}

// puts the world at q, v with the loops closed
static void begin(Rig* r, double dt, const double* q, const double* v) {
    crWorldDef def = cr_world_def();
    def.model = r->model;
    def.step.dt = dt;
    crError error = {0};
    test_check(cr_world_create(&def, &r->world, &error) == CR_OK, __FILE__, __LINE__, "%s", error.message);
    crState* state = cr_world_state(r->world);
    memcpy(state->q, q, (size_t)r->model->nq * sizeof *q);
    memcpy(state->v, v, (size_t)r->model->nv * sizeof *v);
    crArena arena;
    crDynamics d;
    cr_arena_create(&arena, NULL, 0);
    cr_dynamics_create(r->model, &arena, &d);
    test_check(cr_model_close_loops(r->model, 1e-13, &arena, &d, state, &error) == CR_OK, __FILE__, __LINE__,
               "%s", error.message);
    cr_arena_destroy(&arena);
}

static void drop(Rig* r) {
    cr_world_destroy(r->world);
    cr_model_destroy(r->model);
}

static double total(crWorld* world) {
    crEnergy e = cr_world_energy(world);
    return e.kinetic + e.potential;
}

// largest change of energy over a second, of the kinetic energy at the start
static double drift(Rig* r, int steps) {
    double start = total(r->world), T = cr_world_energy(r->world).kinetic, worst = 0.0;
    crTally tally = {0};
    for (int i = 0; i < steps; i++) {
        CHECK_STATUS(cr_world_step(r->world, NULL), CR_OK);
        cr_tally_add(&tally, cr_world_certificate(r->world));
        worst = fmax(worst, fabs(total(r->world) - start) / T);
        CHECK(cr_world_certificate(r->world)->loop_error < 1e-9);
    }
    CHECK(cr_tally_holds(&tally, 1e-6) == CR_TRUTH_YES);
    return worst;
}

// crank .2, coupler .5, rocker .4 on a ground of .5
static Rig four_bar(double g, double dt, double speed, double stiffness) {
    Rig r = {.model = cr_model_create(NULL)};
    r.model->gravity = cr_vec3(0, 0, -g);
    crBodyDef def = bar(0, 0.0, 0.2, 1.0);
    def.dof[0].stiffness = stiffness;
    int crank = cr_model_add_body(r.model, &def);
    def = bar(crank, 0.2, 0.5, 1.0);
    int coupler = cr_model_add_body(r.model, &def);
    def = bar(0, 0.5, 0.4, 1.0);
    int rocker = cr_model_add_body(r.model, &def);
    crLoop loop = cr_loop(CR_LOOP_CONNECT, coupler, rocker);
    loop.pose_a.p = cr_vec3(0.5, 0, 0);
    loop.pose_b.p = cr_vec3(0.4, 0, 0);
    cr_model_add_loop(r.model, &loop);
    begin(&r, dt, (const double[]){-1.2, 0.6, -1.4}, (const double[]){speed, 0.0, 0.0});
    return r;
}

TEST(energy_of_four_bar) {
    // .03 rad a step at 10 rad/s
    for (int g = 0; g < 2; g++) {
        Rig r = four_bar(9.81 * g, 0.003, 10.0, 0.0);
        double worst = drift(&r, 333);
        test_check(worst < 1e-10, __FILE__, __LINE__, "energy changed by %g", worst);
        drop(&r);
    }
}

TEST(energy_of_slider_crank) {
    Rig r = {.model = cr_model_create(NULL)};
    crBodyDef def = bar(0, 0.0, 0.1, 0.5);
    int crank = cr_model_add_body(r.model, &def);
    def = bar(crank, 0.1, 0.3, 0.4);
    int rod = cr_model_add_body(r.model, &def);
    def = bar(0, 0.0, 0.0, 2.0);
    def.joint = CR_JOINT_SLIDER;
    def.axis = cr_vec3(1, 0, 0);
    def.com = cr_vec3(0, 0, 0);
    def.inertia = (crSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01};
    int piston = cr_model_add_body(r.model, &def);
    crLoop loop = cr_loop(CR_LOOP_CONNECT, rod, piston);
    loop.pose_a.p = cr_vec3(0.3, 0, 0);
    cr_model_add_loop(r.model, &loop);
    begin(&r, 0.003, (const double[]){-0.9, 1.2, 0.35}, (const double[]){10.0, 0.0, 0.0});
    double worst = drift(&r, 333);
    test_check(worst < 1e-10, __FILE__, __LINE__, "energy changed by %g", worst);
    drop(&r);
}

// a platform on six legs, each a ball joint on the ground and a slider, tied to the platform: a free body
TEST(energy_of_stewart_platform) {
    Rig r = {.model = cr_model_create(NULL)};
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = cr_vec3(0, 0, 1);
    def.mass = 3.0;
    def.inertia = (crSym3){.xx = 0.1, .yy = 0.12, .zz = 0.2};
    int plate = cr_model_add_body(r.model, &def);
    double q[7 + 6 * 5] = {0, 0, 1, 1, 0, 0, 0}, v[6 + 6 * 4] = {0.1, 0.2, 0.1, 0.5, -0.4, 1.0};
    for (int leg = 0; leg < 6; leg++) {
        double low = CR_PI / 3.0 * leg, high = CR_PI / 3.0 * (leg + (leg % 2 == 0 ? 0.6 : -0.6));
        crVec3 foot = cr_vec3(0.5 * cos(low), 0.5 * sin(low), 0.0),
               head = cr_vec3(0.3 * cos(high), 0.3 * sin(high), 0.0);
        crVec3 along = cr_sub(cr_add(head, cr_vec3(0, 0, 1)), foot);
        double length = cr_norm(along), angle = acos(along.z / length);
        crVec3 axis = cr_cross(cr_vec3(0, 0, 1), along);
        def = cr_body_def();
        def.joint = CR_JOINT_BALL;
        def.pose.p = foot;
        def.mass = 0.3;
        def.com = cr_vec3(0, 0, 0.3);
        def.inertia = (crSym3){.xx = 0.01, .yy = 0.01, .zz = 0.001};
        int low_leg = cr_model_add_body(r.model, &def);
        def = cr_body_def();
        def.joint = CR_JOINT_SLIDER;
        def.parent = low_leg;
        def.axis = cr_vec3(0, 0, 1);
        def.mass = 0.2;
        def.inertia = (crSym3){.xx = 0.005, .yy = 0.005, .zz = 0.0005};
        int high_leg = cr_model_add_body(r.model, &def);
        crLoop loop = cr_loop(CR_LOOP_CONNECT, high_leg, plate);
        loop.pose_b.p = head;
        cr_model_add_loop(r.model, &loop);
        crQuat turn = cr_quat_axis_angle(axis, angle);
        memcpy(q + 7 + 5 * leg, (const double[]){turn.w, turn.x, turn.y, turn.z, length}, 5 * sizeof *q);
    }
    begin(&r, 0.01, q, v);
    double worst = drift(&r, 60);
    test_check(worst < 1e-10, __FILE__, __LINE__, "energy changed by %g", worst);
    drop(&r);
}

// centres of the three bars and their angles at a crank angle, from two circles; angles grow about -y
static void place(double crank, double* x) {
    double ax = 0.2 * cos(crank), az = -0.2 * sin(crank), dx = 0.5 - ax, dz = -az,
           D = sqrt(dx * dx + dz * dz);
    double along = (0.25 - 0.16 + D * D) / (2.0 * D), across = sqrt(0.25 - along * along);
    // the pin lies on the side of the start: above the ground
    double px = ax + along * dx / D, pz = az + along * dz / D, nx = -dz / D, nz = dx / D;
    double bx = px + across * nx, bz = pz + across * nz;
    const double all[9] = {0.5 * ax,         0.5 * az,        crank,
                           0.5 * (ax + bx),  0.5 * (az + bz), -atan2(bz - az, bx - ax),
                           0.5 * (0.5 + bx), 0.5 * bz,        -atan2(bz, bx - 0.5)};
    memcpy(x, all, sizeof all);
}

// I with T = I crank'^2 / 2
static double inertia_at(double crank) {
    double a[9], b[9], h = 1e-5, sum = 0.0;
    static const double lengths[3] = {0.2, 0.5, 0.4};
    place(crank - h, a);
    place(crank + h, b);
    for (int i = 0; i < 3; i++) {
        double u = (b[3 * i] - a[3 * i]) / (2 * h), w = (b[3 * i + 1] - a[3 * i + 1]) / (2 * h);
        double turn = b[3 * i + 2] - a[3 * i + 2];
        turn = (turn - 2.0 * CR_PI * floor(turn / (2.0 * CR_PI) + 0.5)) / (2 * h);
        sum += u * u + w * w + lengths[i] * lengths[i] / 12.0 * turn * turn;
    }
    return sum;
}

// time from one crank angle to another at a kinetic energy T, by Simpson's rule
static double time_between(double from, double to, double T) {
    int n = 4000;
    double sum = 0.0, h = (to - from) / n;
    for (int i = 0; i <= n; i++) {
        double weight = i == 0 || i == n ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        sum += weight * sqrt(inertia_at(from + i * h) / (2.0 * T));
    }
    return sum * h / 3.0;
}

TEST(time_by_closed_form) {
    double off[3];
    for (int n = 0; n < 3; n++) {
        int steps = 160 << n;
        double dt = 0.4 / steps;
        Rig r = four_bar(0.0, dt, 10.0, 0.0);
        double from = cr_world_state(r.world)->q[0], T = cr_world_energy(r.world).kinetic;
        for (int i = 0; i < steps; i++) {
            CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
        }
        double to = cr_world_state(r.world)->q[0], speed = cr_world_state(r.world)->v[0];
        CHECK_NEAR(0.5 * inertia_at(to) * speed * speed, T, 1e-6 * T);
        off[n] = fabs(time_between(from, to, T) - 0.4);
        drop(&r);
    }
    test_check(off[0] < 1e-4, __FILE__, __LINE__, "0.4 s takes %g too long", off[0]);
    test_check(off[2] < 0.3 * off[1] || off[2] < 1e-7, __FILE__, __LINE__, "errors %g %g %g", off[0], off[1],
               off[2]);
}

// with a spring nothing is scaled: the error falls with the square of h
TEST(second_order_with_a_spring) {
    double worst[3];
    for (int n = 0; n < 3; n++) {
        int steps = 400 << n;
        Rig r = four_bar(9.81, 0.4 / steps, 5.0, 2.0);
        double start = total(r.world), T = cr_world_energy(r.world).kinetic;
        worst[n] = 0.0;
        for (int i = 0; i < steps; i++) {
            CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
            worst[n] = fmax(worst[n], fabs(total(r.world) - start) / T);
        }
        drop(&r);
    }
    test_check(worst[0] < 1e-3 && worst[1] < 0.3 * worst[0] && worst[2] < 0.3 * worst[1], __FILE__, __LINE__,
               "errors %g %g %g", worst[0], worst[1], worst[2]);
}

// two free bodies pinned to each other, in no field: momentum stays, energy stays to second order
TEST(floating_pair) {
    Rig r = {.model = cr_model_create(NULL)};
    r.model->gravity = cr_vec3(0, 0, 0);
    for (int i = 0; i < 2; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(i == 0 ? -0.5 : 0.5, 0, 0);
        def.mass = 1.0 + i;
        def.inertia = (crSym3){.xx = 0.1, .yy = 0.2, .zz = 0.25};
        cr_model_add_body(r.model, &def);
    }
    crLoop loop = cr_loop(CR_LOOP_CONNECT, 1, 2);
    loop.pose_a.p = cr_vec3(0.5, 0, 0);
    loop.pose_b.p = cr_vec3(-0.5, 0, 0);
    cr_model_add_loop(r.model, &loop);
    const double q[14] = {-0.5, 0, 0, 1, 0, 0, 0, 0.5, 0, 0, 1, 0, 0, 0};
    const double v[12] = {0.1, 0.2, 0.3, 1, 2, 3, -0.3, 0, 0.4, -2, 1, -1};
    begin(&r, 0.01, q, v);
    crVec3 P[2], L[2];
    cr_world_momentum(r.world, cr_vec3(0, 0, 0), &P[0], &L[0]);
    double start = total(r.world);
    for (int i = 0; i < 100; i++) {
        CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
    }
    cr_world_momentum(r.world, cr_vec3(0, 0, 0), &P[1], &L[1]);
    CHECK_VEC(P[1], P[0], 1e-11);
    CHECK_VEC(L[1], L[0], 1e-6);
    CHECK_NEAR(total(r.world), start, 1e-3 * start);
    drop(&r);
}

// a rocker that meets its limit: the contact solve has the step, the limit holds, and no energy comes from it
TEST(limit_stops_it) {
    Rig r = four_bar(0.0, 0.003, 10.0, 0.0);
    cr_world_destroy(r.world);
    r.model->velocity.dofs[r.model->velocity.dof[2]].lower = -2.0;
    begin(&r, 0.003, (const double[]){-1.2, 0.6, -1.4}, (const double[]){10.0, 0.0, 0.0});
    double start = total(r.world);
    bool met = false;
    for (int i = 0; i < 300; i++) {
        CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
        double q = cr_world_state(r.world)->q[2];
        CHECK(q > -2.0 - 1e-6);
        met = met || q < -1.99;
        CHECK(total(r.world) <= start * (1.0 + 1e-9));
    }
    CHECK(met);
    drop(&r);
}

// A light body at a distance from a free one carries two heavy ones, with dry friction in a hinge, in no field: the contact solve has
// the steps and the position pass closes the loop. What it moves changes the masses of the tree, and gives no energy.
TEST(whirling_on_a_rod) {
    double most = -1.0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        crRandom random = sample_seed(seed);
        Rig r = {.model = cr_model_create(NULL)};
        r.model->gravity = cr_vec3(0, 0, 0);
        const crJoint joints[] = {CR_JOINT_FREE, CR_JOINT_FREE, CR_JOINT_BALL, CR_JOINT_HINGE};
        const double mass[] = {1.0, 0.008, 1.7, 1.5};
        for (int i = 0; i < 4; i++) {
            crBodyDef def = cr_body_def();
            def.parent = i < 2 ? CR_WORLD : i;
            def.joint = joints[i];
            def.axis = cr_vec3(0, 1, 0);
            def.mass = mass[i];
            double I = mass[i] * (i == 0 ? 0.004 : 0.0036);
            def.inertia = (crSym3){.xx = I, .yy = I, .zz = i == 0 ? I : 0.3 * I};
            def.pose.p = i == 0 ? cr_vec3(0.5, 0.2, 0.3) : cr_vec3(0, 0, i == 1 ? 0.0 : -0.4);
            if (i == 3) def.dof[0].friction = 0.3;
            cr_model_add_body(r.model, &def);
        }
        crLoop loop = cr_loop(CR_LOOP_DISTANCE, 2, 1);
        loop.length = sqrt(0.38);
        cr_model_add_loop(r.model, &loop);
        double q[7 + 7 + 4 + 1] = {0.5, 0.2, 0.3, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0}, v[16];
        for (int i = 0; i < 16; i++) {
            v[i] = sample_uniform(&random, -1, 1) * (i % 6 < 3 ? 3.0 : 12.0);
        }
        begin(&r, 1.0 / 240.0, q, v);
        double start = total(r.world);
        for (int i = 0; i < 240; i++) {
            CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
            most = fmax(most, total(r.world) / start - 1.0);
        }
        drop(&r);
    }
    test_check(most <= 1e-6, __FILE__, __LINE__, "energy grew by %g of it", most);
}

// a four-bar that comes down on a floor: the contact solve has the steps in which it lands, nothing sinks in, and no
// energy comes from it
TEST(floor_stops_it) {
    Rig r = {.model = cr_model_create(NULL)};
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.3), tip = cr_shape_sphere(0.02);
    cr_model_add_shape(r.model, CR_WORLD, &floor, 0);
    crBodyDef def = bar(0, 0.0, 0.2, 1.0);
    int crank = cr_model_add_body(r.model, &def);
    def = bar(crank, 0.2, 0.5, 1.0);
    int coupler = cr_model_add_body(r.model, &def);
    def = bar(0, 0.5, 0.4, 1.0);
    int rocker = cr_model_add_body(r.model, &def);
    tip.pose.p = cr_vec3(0.4, 0, 0);
    cr_model_add_shape(r.model, rocker, &tip, 0);
    crLoop loop = cr_loop(CR_LOOP_CONNECT, coupler, rocker);
    loop.pose_a.p = cr_vec3(0.5, 0, 0);
    loop.pose_b.p = cr_vec3(0.4, 0, 0);
    cr_model_add_loop(r.model, &loop);
    begin(&r, 0.003, (const double[]){-1.2, 0.6, -1.4}, (const double[]){4.0, 0.0, 0.0});
    double start = total(r.world);
    int touched = 0;
    for (int i = 0; i < 600; i++) {
        CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
        double overlap = 0.0;
        CHECK_STATUS(cr_world_overlap(r.world, &overlap, NULL), CR_OK);
        test_check(overlap < 1e-6, __FILE__, __LINE__, "overlap %g in step %d", overlap, i);
        touched += cr_world_certificate(r.world)->contacts > 0;
        CHECK(total(r.world) <= start + 1e-9 * fabs(start));
    }
    CHECK(touched > 0);
    drop(&r);
}

// a pendulum pinned by a loop, whose bob a rope stops before it hangs straight: the rope is never longer than it is
TEST(rope_stops_it) {
    Rig r = {.model = cr_model_create(NULL)};
    crBodyDef def = bar(0, 0.0, 0.5, 1.0);
    int first = cr_model_add_body(r.model, &def);
    def = bar(0, 1.0, 0.5, 1.0);
    int second = cr_model_add_body(r.model, &def);
    crLoop gear = cr_loop(CR_LOOP_JOINT, first, second);

    cr_model_add_loop(r.model, &gear);
    crLoop rope = cr_loop(CR_LOOP_DISTANCE, first, CR_WORLD);
    rope.pose_a.p = cr_vec3(0.5, 0, 0);
    rope.pose_b.p = cr_vec3(0.5, 0, 0.3);
    rope.lower = 0.0;
    rope.upper = 0.4;
    cr_model_add_loop(r.model, &rope);
    begin(&r, 0.002, (const double[]){-0.1, -0.1}, (const double[]){0.0, 0.0});
    double start = total(r.world), longest = 0.0;
    for (int i = 0; i < 1000; i++) {
        CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
        crPose pose = cr_world_pose(r.world, first);
        double length = cr_norm(cr_sub(cr_pose_point(pose, rope.pose_a.p), rope.pose_b.p));
        longest = fmax(longest, length);
        CHECK(total(r.world) <= start + 1e-9);
    }
    test_check(longest < 0.4 + 1e-5 && longest > 0.399, __FILE__, __LINE__, "the rope was %g long", longest);
    drop(&r);
}
