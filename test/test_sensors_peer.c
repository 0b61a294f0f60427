// Sensors, bias forces, mass matrix, Jacobians and inverse dynamics against libmujoco at random states without contacts,
// to 1e-9.
#include <unistd.h>

#include "carom/dynamics.h"
#include "sample.h"
#include "test.h"

#ifdef CAROM_TEST_MUJOCO

#include "mujoco_pair.h"

static const char* const model_text =
    "<mujoco><compiler angle='radian' autolimits='true'/><option><flag "
    "contact='disable'/></option><worldbody>"
    "<geom name='wall' type='plane' size='0 0 1' pos='0 0 -9'/><site name='fixed_site' pos='.1 .2 .3' "
    "euler='.1 .2 .3'/>"
    "<body name='base' pos='0 0 1'><freejoint name='root'/><geom name='shell' type='box' size='.2 .1 .05' "
    "pos='.03 .02 .01'/>"
    "<site name='imu' pos='.05 -.02 .04' euler='.3 -.5 .7'/>"
    "<body name='arm' pos='.2 0 .05' euler='0 .4 0'><joint name='shoulder' axis='0 1 .2' damping='.3' "
    "stiffness='2' "
    "armature='.02' ref='.1'/><geom name='bone' type='capsule' size='.04 .2' pos='0 .05 .2'/><site "
    "name='elbow_site' pos='0 "
    ".01 .4' euler='1 .5 .2'/>"
    "<body name='hand' pos='0 0 .4'><joint name='wrist' type='ball' damping='.1'/><geom size='.07' pos='.05 "
    "0 .1'/>"
    "<site name='palm' pos='.01 .02 .03' quat='1 2 3 4'/>"
    "<body name='tip' pos='.1 0 0'><geom size='.03'/><site name='nail' pos='0 .03 0'/></body></body></body>"
    "<body name='leg' pos='-.2 0 0'><joint name='rail' type='slide' axis='1 0 1' frictionloss='0'/><joint "
    "name='hip' "
    "axis='0 0 1' pos='.02 0 0'/><geom type='cylinder' size='.03 .15' pos='0 .1 0'/><site name='foot' pos='0 "
    ".2 0'/></body>"
    "</body></worldbody><tendon><fixed name='both'><joint joint='shoulder' coef='.5'/><joint joint='hip' "
    "coef='-1'/></fixed>"
    "</tendon><actuator><motor name='pull' joint='hip' gear='3'/><general name='hold' joint='shoulder' "
    "gainprm='20' biastype='affine' biasprm='0 -20 -1.5'/>"
    "<position name='cord' tendon='both' kp='4' forcerange='-1 1'/></actuator><sensor>"
    "<jointpos name='s0' joint='rail'/><jointvel name='s1' joint='hip'/><actuatorpos name='s2' "
    "actuator='cord'/>"
    "<actuatorvel name='s3' actuator='cord'/><actuatorfrc name='s4' actuator='cord'/><actuatorfrc name='s5' "
    "actuator='hold'/>"
    "<framepos name='s6' objtype='site' objname='palm'/><framequat name='s7' objtype='site' objname='palm'/>"
    "<framelinvel name='s8' objtype='site' objname='nail'/><frameangvel name='s9' objtype='xbody' "
    "objname='hand'/>"
    "<framepos name='s10' objtype='geom' objname='bone'/><framepos name='s11' objtype='body' objname='leg'/>"
    "<framelinvel name='s12' objtype='body' objname='leg'/><velocimeter name='s13' site='foot'/><gyro "
    "name='s14' site='imu'/>"
    "<accelerometer name='s15' site='imu'/><accelerometer name='s16' site='palm'/><accelerometer name='s17' "
    "site='fixed_site'/><force name='s18' site='elbow_site'/><torque name='s19' site='elbow_site'/><force "
    "name='s20' "
    "site='nail'/><torque name='s21' site='palm'/><force name='s22' site='imu'/><rangefinder name='s23' "
    "site='foot'/>"
    "<accelerometer name='s24' site='foot'/><torque name='s25' site='foot'/></sensor></mujoco>";

static crVec3 vec(const mjtNum* x) { return cr_vec3(x[0], x[1], x[2]); }

static void random_state(MujocoPair* t, crRandom* seed, crState* state) {
    for (int i = 0; i < t->m->nq; i++) {
        t->d->qpos[i] = sample_uniform(seed, -1.0, 1.0);
    }
    for (int j = 0; j < t->m->njnt; j++) {
        mjtNum* q = t->d->qpos + t->m->jnt_qposadr[j];
        if (t->m->jnt_type[j] == mjJNT_FREE) mju_normalize4(q + 3);
        if (t->m->jnt_type[j] == mjJNT_BALL) mju_normalize4(q);
    }
    for (int i = 0; i < t->m->nv; i++) {
        t->d->qvel[i] = sample_uniform(seed, -2.0, 2.0);
    }
    for (int i = 0; i < t->m->nu; i++) {
        t->d->ctrl[i] = sample_uniform(seed, -1.0, 1.0);
    }
    mujoco_pair_state(t, t->d, state);
}

static void compare_sensors(const MujocoPair* t, const double* ours) {
    const crModel* model = t->scene.model;
    for (int i = 0; i < t->m->nsensor; i++) {
        const char* name = mj_id2name(t->m, mjOBJ_SENSOR, i);
        int own = cr_model_find_sensor(model, name);
        if (!test_check(own >= 0, __FILE__, __LINE__, "no sensor %s", name)) continue;
        const crSensor* s = &model->sensors[own];
        if (!CHECK(s->count == t->m->sensor_dim[i])) continue;
        const double* a = ours + s->first;
        const mjtNum* b = t->d->sensordata + t->m->sensor_adr[i];
        double size = 1.0, sign = 1.0;
        for (int k = 0; k < s->count; k++) {
            size = fmax(size, fabs(b[k]));
        }
        // a quaternion and its negative are one rotation
        if (s->kind == CR_SENSOR_ORIENTATION && a[0] * b[0] < 0.0) sign = -1.0;
        double shift =
            s->kind == CR_SENSOR_JOINT_POSITION ? t->m->qpos0[t->m->jnt_qposadr[t->m->sensor_objid[i]]] : 0.0;
        if (s->kind == CR_SENSOR_ACTUATOR_POSITION) shift = 0.5 * 0.1;  // coef times ref of the shoulder
        for (int k = 0; k < s->count; k++) {
            test_check(fabs(sign * a[k] + shift - b[k]) <= 1e-9 * size, __FILE__, __LINE__,
                       "%s (%s) %d: %.17g, theirs %.17g", name, cr_sensor_kind_name(s->kind), k,
                       sign * a[k] + shift, b[k]);
        }
    }
}

// entries of M and of the bias force; all joints must be hinges and slides, whose velocities are the same in both
static void compare_bias(const MujocoPair* t, const crState* state, crDynamics* d, double* work) {
    const crModel* model = t->scene.model;
    int nv = model->nv;
    double *bias = work, *M = work + nv;
    mjtNum theirs[32 * 32];
    CHECK_STATUS(cr_model_bias(model, state, d, bias), CR_OK);
    CHECK_STATUS(cr_model_mass_factor(model, 0.0, d), CR_OK);
    cr_model_mass_dense(model, d, M);
    mj_fullM(t->m, theirs, t->d->qM);
    for (int i = 0; i < nv; i++) {
        int a = model->bodies[t->joint[i]].v;
        CHECK_NEAR(bias[a], t->d->qfrc_bias[i], 1e-10 * fmax(1.0, fabs(bias[a])));
        for (int j = 0; j < nv; j++) {
            CHECK_NEAR(M[a * nv + model->bodies[t->joint[j]].v], theirs[i * nv + j], 1e-12);
        }
    }
}

// their Jacobian times their velocities, ours times ours: the velocity of the same point
static void compare_jacobian(const MujocoPair* t, const crState* state, const crDynamics* d, double* work) {
    const crModel* model = t->scene.model;
    int nv = model->nv, site = mj_name2id(t->m, mjOBJ_SITE, "palm"), own = cr_model_find_site(model, "palm");
    mjtNum jacp[3 * 32], jacr[3 * 32], v[3], w[3];
    double *linear = work, *angular = work + 3 * nv;
    mj_jacSite(t->m, t->d, jacp, jacr, site);
    mju_mulMatVec(v, jacp, t->d->qvel, 3, t->m->nv);
    mju_mulMatVec(w, jacr, t->d->qvel, 3, t->m->nv);
    CHECK_STATUS(
        cr_model_jacobian(model, d, model->sites[own].body, vec(t->d->site_xpos + 3 * site), linear, angular),
        CR_OK);
    for (int r = 0; r < 3; r++) {
        double sum[2] = {0.0, 0.0};
        for (int j = 0; j < nv; j++) {
            sum[0] += linear[r * nv + j] * state->v[j];
            sum[1] += angular[r * nv + j] * state->v[j];
        }
        CHECK_NEAR(sum[0], v[r], 1e-12);
        CHECK_NEAR(sum[1], w[r], 1e-12);
    }
}

static bool load(const char* text, MujocoPair* t) {
    char path[64], why[600] = "";
    snprintf(path, sizeof path, "sensors_%ld.xml", (long)getpid());
    FILE* file = fopen(path, "wb");
    fputs(text, file);
    fclose(file);
    bool read = mujoco_pair_load(path, (MujocoKeep){.sensors = true}, t, why, sizeof why);
    remove(path);
    return test_check(read, __FILE__, __LINE__, "%s", why);
}

TEST(mass_and_bias_as_theirs) {
    static const char* const text =
        "<mujoco><worldbody><body name='a' pos='0 .1 1' euler='10 20 30'><joint name='x' axis='1 2 3' "
        "pos='.1 0 0'/>"
        "<joint name='y' type='slide' axis='0 1 1'/><geom type='box' size='.1 .2 .3' pos='.1 0 .1'/>"
        "<body name='b' pos='.3 0 0'><joint name='z' axis='0 1 0' armature='.3'/><geom type='capsule' "
        "size='.1 .2' "
        "euler='30 0 0'/><body name='c' pos='0 0 .4'><joint name='w' axis='1 0 1'/><geom size='.1' pos='0 .1 "
        "0'/></body></body>"
        "<body name='e' pos='-.3 0 0'><joint name='u' axis='1 1 0'/><geom size='.15' pos='.1 .1 "
        ".1'/></body></body></worldbody>"
        "</mujoco>";
    MujocoPair t;
    if (!load(text, &t)) return;
    const crModel* model = t.scene.model;
    crArena arena;
    crState state;
    crDynamics d;
    cr_arena_create(&arena, NULL, 0);
    CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(model, &arena, &d), CR_OK);
    double* work = cr_arena_alloc(&arena, (size_t)(model->nv * (model->nv + 1)) * sizeof *work);
    crRandom seed = sample_seed(12);
    for (int i = 0; i < test_samples(3000); i++) {
        random_state(&t, &seed, &state);
        mj_forward(t.m, t.d);
        compare_bias(&t, &state, &d, work);
    }
    cr_arena_destroy(&arena);
    mujoco_pair_free(&t);
}

// what all actuators together give along the joints shoulder and hip
static void add_joint_forces(const MujocoPair* t) {
    for (int j = 0; j < t->m->njnt; j++) {
        crSensor sensor = {.kind = CR_SENSOR_JOINT_FORCE, .object = t->joint[j]};
        CHECK(cr_model_add_sensor(t->scene.model, &sensor) >= 0);
    }
}

static void compare_joint_forces(const MujocoPair* t, const double* ours) {
    const crModel* model = t->scene.model;
    for (int j = 0; j < t->m->njnt; j++) {
        const crSensor* s = &model->sensors[model->sensor_count - t->m->njnt + j];
        for (int k = 0; k < s->count; k++) {
            double theirs = t->d->qfrc_actuator[t->m->jnt_dofadr[j] + k];
            CHECK_NEAR(ours[s->first + k], theirs, 1e-9 * fmax(1.0, fabs(theirs)));
        }
    }
}

TEST(sensors_as_theirs) {
    MujocoPair t;
    if (!load(model_text, &t)) return;
    add_joint_forces(&t);
    const crModel* model = t.scene.model;
    crArena arena;
    crState state;
    crDynamics d;
    cr_arena_create(&arena, NULL, 0);
    CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(model, &arena, &d), CR_OK);
    double* out = cr_arena_alloc(&arena, (size_t)model->nsensor * sizeof *out);
    double* work = cr_arena_alloc(&arena, 6 * (size_t)model->nv * sizeof *work);
    crRandom seed = sample_seed(11);
    for (int i = 0; i < test_samples(3000); i++) {
        random_state(&t, &seed, &state);
        mj_forward(t.m, t.d);
        CHECK_STATUS(cr_model_sense(model, &state, &d, out), CR_OK);
        compare_sensors(&t, out);
        compare_joint_forces(&t, out);
        cr_model_kinematics(model, &state, &d);
        compare_jacobian(&t, &state, &d, work);
        // inverse dynamics of forward dynamics: what was applied
        for (int k = 0; k < model->nv; k++) {
            state.force[k] = sample_uniform(&seed, -1.0, 1.0);
        }
        CHECK_STATUS(cr_model_acceleration(model, &state, &d, work), CR_OK);
        CHECK_STATUS(cr_model_inverse_dynamics(model, &state, work, &d, work + model->nv), CR_OK);
        for (int k = 0; k < model->nv; k++) {
            double control = 0.0;
            for (int a = 0; a < model->nu; a++) {
                const crActuator* x = &model->actuators[a];
                for (int n = 0; n < x->dof_count; n++) {
                    int theirs = 0;
                    while (t.actuator[theirs] != a) {
                        theirs++;
                    }
                    if (x->dof[n] == k) control += x->gear[n] * t.d->actuator_force[theirs];
                }
            }
            CHECK_NEAR(work[model->nv + k], state.force[k] + control, 1e-9 * fmax(1.0, fabs(control)));
        }
        memset(state.force, 0, (size_t)model->nv * sizeof(double));
    }
    cr_arena_destroy(&arena);
    mujoco_pair_free(&t);
}

#else
TEST(sensors_as_theirs) { test_skip("libmujoco is not there"); }
#endif
