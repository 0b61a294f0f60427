// Actuators and sensors of a world: forces by their definition, closed forms of servos, work, limits, names, snapshots,
// and balances of momentum.
#include "carom/dynamics.h"
#include "carom/robot.h"
#include "sample.h"
#include "test.h"

typedef struct Rig {
    crModel* model;
    crWorld* world;
} Rig;

static crShape ball(double r) { return cr_shape_sphere(r); }

// a hinge about y that carries a point-like ball at distance 1, without gravity: inertia m about the hinge
static crBodyDef pendulum(const char* name, double mass) {
    crBodyDef def = cr_body_def();
    def.name = name;
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.mass = mass;
    def.com = cr_vec3(0, 0, -1);
    return def;
}

static Rig rig(crModel* model, double dt) {
    Rig r = {.model = model};
    crError error = {0};
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.dt = dt;
    test_check(cr_model_check(model, &error) == CR_OK && cr_world_create(&def, &r.world, &error) == CR_OK,
               __FILE__, __LINE__, "%s", error.message);
    return r;
}

static void drop(Rig* r) {
    cr_world_destroy(r->world);
    cr_model_destroy(r->model);
}

static crModel* hinge_model(double mass) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    crBodyDef def = pendulum("arm", mass);
    def.joint_name = "shoulder";
    cr_model_add_body(model, &def);
    return model;
}

// f = (g0 + g1 l + g2 l') ctrl + b0 + b1 l + b2 l' within limits, gear f along each of two joints
TEST(force_by_definition) {
    crRandom seed = sample_seed(3);
    for (int n = 0; n < test_samples(3000); n++) {
        crModel* model = cr_model_create(NULL);
        crBodyDef def = pendulum("a", 1.0);
        cr_model_add_body(model, &def);
        def = pendulum("b", 2.0);
        def.parent = 1;
        cr_model_add_body(model, &def);
        crActuator a = cr_actuator_motor(0);
        a.name = "cord";
        a.dof_count = 2;
        a.dof[1] = 1;
        for (int k = 0; k < 3; k++) {
            a.gain[k] = sample_uniform(&seed, -2, 2);
            a.bias[k] = sample_uniform(&seed, -2, 2);
        }
        a.gear[0] = sample_uniform(&seed, -2, 2);
        a.gear[1] = sample_uniform(&seed, -2, 2);
        a.force_lower = -3.0;
        a.force_upper = 2.0;
        CHECK(cr_model_add_actuator(model, &a) == 0);
        crArena arena;
        crState state;
        crDynamics d;
        cr_arena_create(&arena, NULL, 0);
        cr_state_create(model, &arena, &state);
        cr_dynamics_create(model, &arena, &d);
        double with[2], without[2];
        for (int k = 0; k < 2; k++) {
            state.q[k] = sample_uniform(&seed, -1, 1);
            state.v[k] = sample_uniform(&seed, -1, 1);
        }
        state.ctrl[0] = sample_uniform(&seed, -1, 1);
        cr_model_kinematics(model, &state, &d);
        cr_model_forces(model, &state, &d, with);
        double l = a.gear[0] * state.q[0] + a.gear[1] * state.q[1];
        double u = a.gear[0] * state.v[0] + a.gear[1] * state.v[1];
        double f = (a.gain[0] + a.gain[1] * l + a.gain[2] * u) * state.ctrl[0] + a.bias[0] + a.bias[1] * l +
                   a.bias[2] * u;
        f = fmin(2.0, fmax(-3.0, f));
        // the same model without it
        crModel* bare = cr_model_create(NULL);
        def = pendulum("a", 1.0);
        cr_model_add_body(bare, &def);
        def = pendulum("b", 2.0);
        def.parent = 1;
        cr_model_add_body(bare, &def);
        crDynamics e;
        cr_dynamics_create(bare, &arena, &e);
        cr_model_kinematics(bare, &state, &e);
        cr_model_forces(bare, &state, &e, without);
        for (int k = 0; k < 2; k++) {
            CHECK_NEAR(with[k] - without[k], a.gear[k] * f, 1e-12 * (1.0 + fabs(with[k])));
        }
        cr_arena_destroy(&arena);
        cr_model_destroy(bare);
        cr_model_destroy(model);
    }
}

static double servo_at(double h, bool joint, double kp, double kv, double target, crTally* tally) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    crBodyDef def = pendulum("arm", 2.0);
    if (joint) def.dof[0] = (crDof){-INFINITY, INFINITY, .stiffness = kp, .rest = target, .damping = kv};
    cr_model_add_body(model, &def);
    crActuator a = cr_actuator_position(0, kp, kv);
    a.name = "servo";
    if (!joint) cr_model_add_actuator(model, &a);
    Rig r = rig(model, h);
    if (!joint) CHECK_STATUS(cr_world_set_ctrl(r.world, "servo", target, NULL), CR_OK);
    for (int i = 0; i < (int)(1.0 / h + 0.5); i++) {
        CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
        cr_tally_add(tally, cr_world_certificate(r.world));
    }
    double q = cr_world_state(r.world)->q[0];
    drop(&r);
    return q;
}

// m q'' = kp (ctrl - q) - kv q': the closed form of a damped oscillator. The error is of first order, so that the
// extrapolation from two steps is of second
TEST(servo_closed_form) {
    double m = 2.0, kp = 50.0, kv = 4.0, target = 0.7;
    double decay = kv / (2.0 * m), omega = sqrt(kp / m - decay * decay);
    double exact = target * (1.0 - exp(-decay) * (cos(omega) + decay / omega * sin(omega)));
    crTally tally = {0};
    double q[3], off[3];
    for (int n = 0; n < 3; n++) {
        q[n] = servo_at(0.01 / (1 << n), false, kp, kv, target, &tally);
        off[n] = q[n] - exact;
    }
    CHECK_NEAR(off[1] / off[0], 0.5, 0.05);
    CHECK_NEAR(off[2] / off[1], 0.5, 0.05);
    CHECK_NEAR(2.0 * q[2] - q[1], exact, 3e-4);
    // the spring of a joint has its energy in the balance, a servo its work: both see the same gain
    crTally servo = {0}, spring = {0};
    servo_at(0.01, false, kp, kv, target, &servo);
    servo_at(0.01, true, kp, kv, target, &spring);
    CHECK_NEAR(servo.worst.energy.gain, spring.worst.energy.gain, 1e-12 * spring.worst.energy.size);
    CHECK(servo.unknown == 0 && servo.worst.energy.work > 0.0);
}

// a servo is a spring and damper of its joint, however stiff; along two joints it settles where it must
TEST(stiff_servo_settles) {
    static const double gains[][2] = {{50.0, 4.0}, {1e4, 30.0}, {1e7, 1e3}};
    for (int n = 0; n < 3; n++) {
        crTally tally = {0};
        double spring = servo_at(0.01, true, gains[n][0], gains[n][1], 0.3, &tally);
        CHECK_NEAR(servo_at(0.01, false, gains[n][0], gains[n][1], 0.3, &tally), spring, 1e-13);
    }
    crModel* model = hinge_model(0.1);
    crBodyDef def = pendulum("fore", 0.05);
    def.parent = 1;
    def.pose.p = cr_vec3(0, 0, -1);
    cr_model_add_body(model, &def);
    crActuator a = cr_actuator_position(0, 1e7, 1e3);
    a.dof_count = 2;
    a.dof[1] = 1;
    a.gear[1] = -0.5;
    cr_model_add_actuator(model, &a);
    a = cr_actuator_position(1, 1e6, 1e2);
    cr_model_add_actuator(model, &a);
    Rig r = rig(model, 0.01);
    crState* state = cr_world_state(r.world);
    state->ctrl[0] = 0.3;
    state->ctrl[1] = -0.2;
    for (int i = 0; i < 600; i++) {
        CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
    }
    CHECK_NEAR(state->q[0], 0.3 + 0.5 * -0.2, 1e-6);
    CHECK_NEAR(state->q[1], -0.2, 1e-6);
    drop(&r);
}

// a motor at a constant torque: its work is torque times angle, and all of it is in the arm's motion
TEST(work_of_a_motor) {
    crModel* model = hinge_model(1.0);
    crActuator a = cr_actuator_motor(0);
    a.name = "drive";
    a.gear[0] = 3.0;
    cr_model_add_actuator(model, &a);
    Rig r = rig(model, 0.01);
    CHECK_STATUS(cr_world_set_ctrl(r.world, "drive", 0.5, NULL), CR_OK);
    crTally tally = {0};
    for (int i = 0; i < 100; i++) {
        CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
        cr_tally_add(&tally, cr_world_certificate(r.world));
    }
    double torque = 1.5, q = cr_world_state(r.world)->q[0];
    CHECK_NEAR(q, 0.5 * torque, 1e-12);
    CHECK_NEAR(tally.worst.energy.work, torque * q, 1e-12);
    CHECK_NEAR(tally.worst.energy.change, torque * q, 1e-12);
    CHECK(tally.worst.energy.gain <= 1e-12 && tally.unknown == 0);
    drop(&r);
}

// at its limit a servo is a constant force
TEST(force_limit) {
    crModel* model = hinge_model(1.0);
    crActuator a = cr_actuator_position(0, 1000.0, 0.0);
    a.force_lower = -2.0;
    a.force_upper = 2.0;
    cr_model_add_actuator(model, &a);
    Rig r = rig(model, 0.01);
    cr_world_state(r.world)->ctrl[0] = 10.0;
    CHECK_STATUS(cr_world_run(r.world, 1.0, NULL), CR_OK);
    CHECK_NEAR(cr_world_state(r.world)->v[0], 2.0, 1e-12);
    drop(&r);
}

TEST(named_errors) {
    crModel* model = hinge_model(1.0);
    crActuator a = cr_actuator_motor(0);
    a.name = "drive";
    a.ctrl_lower = -1.0;
    a.ctrl_upper = 1.0;
    cr_model_add_actuator(model, &a);
    Rig r = rig(model, 0.01);
    crError error = {0};
    CHECK_STATUS(cr_world_set_ctrl(r.world, "drvie", 0.5, &error), CR_ERR_NAME);
    CHECK_STATUS(cr_world_set_ctrl(r.world, "drive", NAN, &error), CR_ERR_FINITE);
    CHECK_STATUS(cr_world_set_ctrl(r.world, "drive", 1.5, &error), CR_ERR_RANGE);
    CHECK(strstr(error.message, "drive") != NULL && strstr(error.message, "-1 to 1") != NULL);
    CHECK(cr_world_state(r.world)->ctrl[0] == 0.0);
    // the array itself: the step refuses, and nothing moved
    uint64_t before = cr_world_hash(r.world);
    cr_world_state(r.world)->ctrl[0] = 2.0;
    CHECK_STATUS(cr_world_step(r.world, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "ctrl");
    cr_world_state(r.world)->ctrl[0] = NAN;
    CHECK_STATUS(cr_world_step(r.world, &error), CR_ERR_FINITE);
    CHECK(strstr(error.message, "drive") != NULL);
    cr_world_state(r.world)->ctrl[0] = 0.0;
    CHECK(cr_world_hash(r.world) == before);
    CHECK(cr_model_find_joint(model, "shoulder") == 1 && cr_model_find_joint(model, "arm") == CR_ERR_NAME);
    drop(&r);
}

#define REFUSED(change, expected, name)                             \
    do {                                                            \
        crModel* model = hinge_model(1.0);                          \
        crBodyDef other = pendulum("other", 1.0);                   \
        cr_model_add_body(model, &other);                           \
        crBodyDef loose = cr_body_def();                            \
        loose.joint = CR_JOINT_FREE;                                \
        loose.mass = 1.0;                                           \
        loose.inertia = (crSym3){.xx = 1.0, .yy = 1.0, .zz = 1.0};  \
        cr_model_add_body(model, &loose);                           \
        crActuator a = cr_actuator_motor(0);                        \
        change;                                                     \
        CHECK(cr_model_add_actuator(model, &a) == (int)(expected)); \
        CHECK_TEXT(model->error.field, name);                       \
        cr_model_destroy(model);                                    \
    } while (0)

TEST(refused_actuators) {
    REFUSED(a.dof_count = 0, CR_ERR_RANGE, "dof_count");
    REFUSED(a.dof_count = 9, CR_ERR_RANGE, "dof_count");
    REFUSED(a.dof[0] = 99, CR_ERR_RANGE, "dof");
    REFUSED((a.dof_count = 2, a.dof[1] = 0), CR_ERR_RANGE, "dof");
    REFUSED((a.dof_count = 2, a.dof[1] = 1), CR_ERR_ARGUMENT, "dof");
    REFUSED((a.dof[0] = 3, a.bias[1] = -1.0), CR_ERR_ARGUMENT, "dof");
    REFUSED((a.dof[0] = 3, a.bias[2] = -1.0), CR_ERR_ARGUMENT, "dof");
    REFUSED(a.gear[0] = NAN, CR_ERR_FINITE, "gear");
    REFUSED(a.gain[2] = INFINITY, CR_ERR_FINITE, "gain");
    REFUSED(a.bias[1] = NAN, CR_ERR_FINITE, "bias");
    REFUSED((a.ctrl_lower = 1.0, a.ctrl_upper = 0.0), CR_ERR_RANGE, "ctrl_upper");
    REFUSED((a.force_lower = 1.0, a.force_upper = 0.0), CR_ERR_RANGE, "force_upper");
    REFUSED((a.ctrl_lower = 1.0, a.ctrl_upper = 2.0), CR_ERR_RANGE, "ctrl");
    REFUSED(a.ctrl = NAN, CR_ERR_FINITE, "ctrl");
}

// a snapshot holds the control: the future is the same to the last bit, and another control is another hash
TEST(snapshot_holds_control) {
    crModel* model = hinge_model(1.0);
    crActuator a = cr_actuator_position(0, 30.0, 1.0);
    cr_model_add_actuator(model, &a);
    Rig r = rig(model, 0.01);
    crState* state = cr_world_state(r.world);
    state->ctrl[0] = 0.4;
    CHECK_STATUS(cr_world_run(r.world, 0.2, NULL), CR_OK);
    unsigned char bytes[4096];
    size_t size = cr_world_save_size(r.world);
    CHECK(size <= sizeof bytes);
    CHECK_STATUS(cr_world_save(r.world, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_run(r.world, 0.5, NULL), CR_OK);
    uint64_t hash = cr_world_hash(r.world);
    state->ctrl[0] = 0.1;
    CHECK(cr_world_hash(r.world) != hash);
    CHECK_STATUS(cr_world_reset(r.world, NULL), CR_OK);
    CHECK(state->time == 0.0 && state->q[0] == 0.0 && state->v[0] == 0.0 && state->ctrl[0] == 0.0);
    CHECK_STATUS(cr_world_load(r.world, bytes, size, NULL), CR_OK);
    CHECK(state->ctrl[0] == 0.4);
    CHECK_STATUS(cr_world_run(r.world, 0.5, NULL), CR_OK);
    CHECK(cr_world_hash(r.world) == hash);
    // a state that cannot be leaves the world as it is
    double q = NAN;
    CHECK_STATUS(cr_world_set_state(r.world, &(crState){.q = &q}, NULL), CR_ERR_FINITE);
    CHECK(cr_world_hash(r.world) == hash);
    q = 0.25;
    CHECK_STATUS(cr_world_set_state(r.world, &(crState){.time = 3.0, .q = &q}, NULL), CR_OK);
    CHECK(state->time == 3.0 && state->q[0] == 0.25 && state->v[0] == 0.0 && state->ctrl[0] == 0.0);
    drop(&r);
}

// two boxes welded one on the other fall, hit a floor and come to rest. The floor sees the weight and the whole change of
// momentum; the upper box pulls at the lower with minus its own; a site sees its side of the box only
TEST(forces_balance_momentum) {
    crModel* model = cr_model_create(NULL);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    crBodyDef def = cr_body_def();
    def.name = "low";
    def.joint = CR_JOINT_FREE;
    def.pose.p = cr_vec3(0, 0, 0.4);
    cr_model_add_body(model, &def);
    crShape box = cr_shape_box(0.2, 0.2, 0.1);
    cr_model_add_shape(model, 1, &box, 0);
    def = cr_body_def();
    def.name = "high";
    def.parent = 1;
    def.pose.p = cr_vec3(0.05, 0, 0.25);
    cr_model_add_body(model, &def);
    crShape cap = ball(0.1);
    cr_model_add_shape(model, 2, &cap, 0);
    crSite all = {.name = "all", .body = 1, .volume = cr_shape_box(1, 1, 1)};
    crSite right = {.name = "right", .body = 1, .volume = cr_shape_box(0.5, 1, 1)};
    right.volume.pose.p = cr_vec3(0.5, 0, 0);
    crSite joint = {.name = "joint", .body = 2, .volume = cr_shape_sphere(0.01)};
    joint.volume.pose.p = cr_vec3(0.01, 0.02, -0.1);
    const crSite sites[] = {all, right, joint};
    for (int i = 0; i < 3; i++) {
        CHECK(cr_model_add_site(model, &sites[i]) == i);
    }
    const crSensor sensors[] = {{.name = "touch", .kind = CR_SENSOR_TOUCH, .object = 0},
                                {.name = "half", .kind = CR_SENSOR_TOUCH, .object = 1},
                                {.name = "force", .kind = CR_SENSOR_FORCE, .object = 2},
                                {.name = "torque", .kind = CR_SENSOR_TORQUE, .object = 2},
                                {.name = "imu", .kind = CR_SENSOR_ACCELEROMETER, .object = 0}};
    for (int i = 0; i < 5; i++) {
        CHECK(cr_model_add_sensor(model, &sensors[i]) == i);
    }
    CHECK(model->nsensor == 11);
    Rig r = rig(model, 0.005);
    crState* state = cr_world_state(r.world);
    state->v[0] = 0.3;
    double out[11], mass[3] = {0.0, model->bodies[1].mass, model->bodies[2].mass};
    for (int i = 0; i < 200; i++) {
        crVec3 P[2], L[2], u[2];
        double h = 0.005;
        cr_world_momentum(r.world, cr_vec3(0, 0, 0), &P[0], &L[0]);
        u[0] = cr_model_point_velocity(&cr_world_stages(r.world)->dynamics, 1,
                                       cr_world_stages(r.world)->dynamics.com[1]);
        CHECK_STATUS(cr_world_step(r.world, NULL), CR_OK);
        cr_world_momentum(r.world, cr_vec3(0, 0, 0), &P[1], &L[1]);
        const crDynamics* d = &cr_world_stages(r.world)->dynamics;
        u[1] = cr_model_point_velocity(d, 1, d->com[1]);
        CHECK_STATUS(cr_world_sense(r.world, out, NULL), CR_OK);
        double total = mass[1] + mass[2], weight = 9.81 * total;
        double size = weight + total / h;
        CHECK_NEAR(out[0], (P[1].z - P[0].z) / h + weight, 1e-9 * size);
        // what the lower box loses beyond its weight and the floor goes through the joint, in the axes of the site
        double lower = mass[1] * (u[1].z - u[0].z) / h + mass[1] * 9.81 - out[0];
        crPose pose = d->pose[2];
        crVec3 force = cr_quat_rotate(pose.q, cr_vec3(out[2], out[3], out[4]));
        CHECK_NEAR(force.z, -lower, 1e-9 * size);
    }
    // at rest: the weight of each, the share of each side by the lever of the centre of mass, and g
    double total = mass[1] + mass[2], offset = 0.05 * mass[2] / total;
    CHECK_NEAR(out[0], 9.81 * total, 1e-6 * total);
    CHECK_NEAR(out[1], 9.81 * total * (0.2 + offset) / 0.4, 1e-4 * total);
    CHECK_NEAR(out[4], 9.81 * mass[2], 1e-6 * total);
    // about the site, which is .01 and .02 off the centre of the ball
    CHECK_NEAR(out[5], -0.02 * 9.81 * mass[2], 1e-5 * total);
    CHECK_NEAR(out[6], 0.01 * 9.81 * mass[2], 1e-5 * total);
    CHECK_NEAR(out[10], 9.81, 1e-4);
    crContactForce contacts[16];
    int count = cr_world_contacts(r.world, contacts, 16);
    double sum = 0.0;
    for (int i = 0; i < count && i < 16; i++) {
        sum += contacts[i].force.z * (contacts[i].body_b == 0 ? -1.0 : 1.0);
    }
    CHECK_NEAR(sum, out[0], 1e-9 * total);
    drop(&r);
}

// noise of a sensor: its mean and deviation, the same for the same seed, another for another
TEST(noise_by_seed) {
    crModel* model = hinge_model(1.0);
    crSensor s = {.kind = CR_SENSOR_JOINT_POSITION, .object = 1, .noise = 0.5, .seed = 1};
    cr_model_add_sensor(model, &s);
    cr_model_add_sensor(model, &s);
    s.seed = 2;
    cr_model_add_sensor(model, &s);
    Rig r = rig(model, 0.01);
    double sum = 0.0, square = 0.0, out[3], again[3];
    int count = 4000, equal = 0;
    for (int i = 0; i < count; i++) {
        cr_world_state(r.world)->time = 0.01 * i;
        CHECK_STATUS(cr_world_sense(r.world, out, NULL), CR_OK);
        CHECK_STATUS(cr_world_sense(r.world, again, NULL), CR_OK);
        equal += out[0] == again[0] && out[2] == again[2] && out[0] != out[1] && out[1] != out[2];
        sum += out[0];
        square += out[0] * out[0];
    }
    CHECK(equal == count);
    // five standard deviations of the mean and of the variance
    CHECK_NEAR(sum / count, 0.0, 5.0 * 0.5 / sqrt(count));
    CHECK_NEAR(square / count, 0.25, 5.0 * 0.25 * sqrt(2.0 / count));
    drop(&r);
}

// a servo that rests asleep wakes when its control changes
TEST(control_wakes) {
    crModel* model = hinge_model(1.0);
    crActuator a = cr_actuator_position(0, 100.0, 20.0);
    cr_model_add_actuator(model, &a);
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.sleep_time = 0.1;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    CHECK_STATUS(cr_world_run(world, 0.5, NULL), CR_OK);
    CHECK(cr_world_asleep(world, 1));
    cr_world_state(world)->ctrl[0] = 0.5;
    CHECK_STATUS(cr_world_run(world, 3.0, NULL), CR_OK);
    CHECK_NEAR(cr_world_state(world)->q[0], 0.5, 1e-2);
    cr_world_destroy(world);
    cr_model_destroy(model);
}
