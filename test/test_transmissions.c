// Tendons, and actuators along tendons, sites and slider-cranks: lengths, rates, forces and accelerations against libmujoco to
// 1e-9; rates against differences of lengths; steps against backward Euler's closed form; momentum and energy.
#include <unistd.h>

#include "carom/carom.h"
#include "carom/dynamics.h"
#include "sample.h"
#include "test.h"

#ifdef CAROM_TEST_MUJOCO

#include "mujoco_pair.h"

// Every kind of length, along and across trees. libmujoco 2.2.2 gives a moment to what carries both a site and its reference,
// which later versions do not, and turns the frames of sites the wrong way round for lengths of rotation: sites with references
// share no joint here, and those of rotations have the axes of their bodies.
static const char* const model_text =
    "<mujoco><compiler angle='radian' autolimits='true'/><option><flag "
    "contact='disable'/></option><worldbody><site name='hook' pos='.1 -.4 1.5' euler='.2 .3 -.5'/><site "
    "name='k1' pos='.2 .1 0'/><body name='base' pos='0 0 1'><freejoint name='root'/><geom type='box' "
    "size='.2 .1 .05'/><site name='b0' pos='.1 .05 .05' euler='.3 .1 .2'/><site name='b1' pos='-.1 .05 "
    "0'/><body name='arm' pos='.2 0 .05' euler='0 .4 0'><joint name='shoulder' axis='0 1 .2' "
    "damping='.3' armature='.02'/><geom type='capsule' size='.04 .2' pos='0 .05 .2'/><site name='a0' "
    "pos='0 .02 .3' euler='1 .5 .2'/><site name='a1' pos='0 .02 .2'/><body name='hand' pos='0 0 "
    ".4'><joint name='wrist' type='ball'/><geom size='.07' pos='.05 0 .1'/><site name='h0' pos='.01 .1 "
    ".13' quat='1 2 3 4'/></body></body><body name='leg' pos='-.2 0 0'><joint name='rail' type='slide' "
    "axis='1 0 1'/><joint name='hip' axis='0 0 1' pos='.02 0 0' ref='.3' springref='.3'/><geom "
    "type='cylinder' "
    "size='.03 .15' pos='0 .1 0'/><site name='l0' pos='0 .2 .1' euler='.7 0 .4'/></body></body><body "
    "name='ball' pos='.5 .5 1'><freejoint/><geom size='.1' pos='.02 0 .03'/><site name='s0' pos='.1 0 0' "
    "euler='.1 .9 .2'/><site name='s1' pos='0 .1 0'/></body><body name='crank' pos='1 0 0'><joint "
    "name='turn' axis='0 .1 1'/><geom type='capsule' size='.02' fromto='0 0 0 .2 0 0'/><site name='pin' "
    "pos='.2 0 .01'/><body pos='.2 0 0'><joint name='fold' axis='0 0 1'/><geom size='.05'/><site "
    "name='guide' pos='.1 .2 0' euler='1.2 .1 .3'/></body></body></worldbody><tendon><spatial "
    "name='line' stiffness='30' damping='2' springlength='.4'><site site='b0'/><site "
    "site='a0'/></spatial><spatial name='across' stiffness='7' springlength='.6'><site site='h0'/><site "
    "site='s0'/></spatial><spatial name='long' damping='3'><site site='hook'/><site site='b1'/><site "
    "site='a0'/><site site='h0'/><site site='l0'/></spatial><spatial name='falls' stiffness='11'><site "
    "site='hook'/><site site='s0'/><pulley divisor='2'/><site site='b0'/><site site='l0'/><site "
    "site='a0'/><pulley divisor='3'/><site site='hook'/><site site='pin'/></spatial><fixed name='sum' "
    "stiffness='5' damping='.4' springlength='.1'><joint joint='shoulder' coef='.5'/><joint joint='hip' "
    "coef='-1'/><joint joint='turn' coef='2'/></fixed><spatial name='plain'><site site='hook'/><site "
    "site='h0'/></spatial></tendon><actuator><motor name='pull' tendon='plain' gear='3'/><general "
    "name='servo' tendon='long' gear='.5' gainprm='40' biastype='affine' biasprm='0 -40 -2'/><velocity "
    "name='brake' tendon='falls' kv='3' forcerange='-2 2'/><motor name='jet' site='s0' gear='1 2 3 .4 .5 "
    ".6'/><motor name='thrust' site='h0' gear='0 0 2 0 0 1'/><position name='place' site='h0' "
    "refsite='hook' gear='1 -2 .5 0 0 0' kp='9'/><general name='turnto' site='a1' refsite='k1' gear='0 0 "
    "0 1 .5 -1' biastype='affine' gainprm='4' biasprm='.1 -4 -.5'/><position name='other' site='s1' "
    "refsite='a1' gear='.3 .2 1 .1 .2 .3' kp='6'/><position name='out' cranksite='pin' slidersite='hook' "
    "cranklength='2.5' kp='30' gear='.7'/><general name='in' cranksite='b0' slidersite='guide' "
    "cranklength='4' gainprm='20' biastype='affine' biasprm='.2 -20 -1'/><position name='short' "
    "cranksite='pin' slidersite='l0' cranklength='.05' kp='20'/></actuator>";
static const char* const sensor_text =
    "<sensor><actuatorpos name='p0' actuator='pull'/><actuatorpos name='p1' "
    "actuator='servo'/><actuatorpos name='p2' actuator='brake'/><actuatorpos name='p3' "
    "actuator='jet'/><actuatorpos name='p5' actuator='place'/><actuatorpos name='p6' "
    "actuator='turnto'/><actuatorpos name='p8' actuator='other'/><actuatorpos name='p9' "
    "actuator='out'/><actuatorpos name='p10' actuator='in'/><actuatorpos name='p11' "
    "actuator='short'/><actuatorvel name='v0' actuator='pull'/><actuatorvel name='v1' "
    "actuator='servo'/><actuatorvel name='v2' actuator='brake'/><actuatorvel name='v3' "
    "actuator='jet'/><actuatorvel name='v4' actuator='thrust'/><actuatorvel name='v5' "
    "actuator='place'/><actuatorvel name='v6' actuator='turnto'/><actuatorvel name='v8' "
    "actuator='other'/><actuatorvel name='v9' actuator='out'/><actuatorvel name='v10' "
    "actuator='in'/><actuatorvel name='v11' actuator='short'/><actuatorfrc name='f1' "
    "actuator='servo'/><actuatorfrc name='f2' actuator='brake'/><actuatorfrc name='f8' "
    "actuator='other'/><actuatorfrc name='f6' actuator='turnto'/><actuatorfrc name='f10' "
    "actuator='in'/><tendonpos name='t0' tendon='line'/><tendonpos name='t1' tendon='across'/><tendonpos "
    "name='t2' tendon='long'/><tendonpos name='t3' tendon='falls'/><tendonvel name='t4' "
    "tendon='line'/><tendonvel name='t5' tendon='long'/><tendonvel name='t6' tendon='falls'/><tendonvel "
    "name='t7' tendon='sum'/><accelerometer name='acc' site='h0'/><accelerometer name='acc2' "
    "site='s0'/><accelerometer name='acc3' site='pin'/><accelerometer name='acc4' "
    "site='guide'/><accelerometer name='acc5' site='l0'/><force name='force' "
    "site='a0'/></sensor></mujoco>";

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

// forces divide by distances: those of sites that nearly meet are compared with that in mind
static void compare_sensors(const MujocoPair* t, const double* ours) {
    const crModel* model = t->scene.model;
    for (int i = 0; i < t->m->nsensor; i++) {
        const char* name = mj_id2name(t->m, mjOBJ_SENSOR, i);
        int own = cr_model_find_sensor(model, name);
        if (!test_check(own >= 0, __FILE__, __LINE__, "no sensor %s", name)) continue;
        const crSensor* s = &model->sensors[own];
        const mjtNum* b = t->d->sensordata + t->m->sensor_adr[i];
        double size = 1.0;
        for (int k = 0; k < s->count; k++) {
            size = fmax(size, fabs(b[k]));
        }
        for (int k = 0; k < s->count; k++) {
            test_check(fabs(ours[s->first + k] - b[k]) <= 1e-9 * size, __FILE__, __LINE__,
                       "%s (%s) %d: %.17g, theirs %.17g", name, cr_sensor_kind_name(s->kind), k,
                       ours[s->first + k], b[k]);
        }
    }
}

static bool load(MujocoPair* t) {
    char path[64], why[600] = "";
    snprintf(path, sizeof path, "transmissions_%ld.xml", (long)getpid());
    FILE* file = fopen(path, "wb");
    fputs(model_text, file);
    fputs(sensor_text, file);
    fclose(file);
    bool read = mujoco_pair_load(path, (MujocoKeep){.sensors = true}, t, why, sizeof why);
    remove(path);
    return test_check(read, __FILE__, __LINE__, "%s", why);
}

TEST(forces_as_theirs) {
    MujocoPair t;
    if (!load(&t)) return;
    const crModel* model = t.scene.model;
    crArena arena;
    crState state;
    crDynamics d;
    CHECK(model->nu == 11 && model->tendon_count == 6);
    cr_arena_create(&arena, NULL, 0);
    CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(model, &arena, &d), CR_OK);
    double* out = cr_arena_alloc(&arena, (size_t)model->nsensor * sizeof *out);
    double* work = cr_arena_alloc(&arena, 2 * (size_t)model->nv * sizeof *work);
    crRandom seed = sample_seed(31);
    for (int i = 0; i < test_samples(3000); i++) {
        random_state(&t, &seed, &state);
        mj_forward(t.m, t.d);
        CHECK_STATUS(cr_model_sense(model, &state, &d, out), CR_OK);
        compare_sensors(&t, out);
        crEnergy energy = cr_model_energy(model, &state, &d);
        // inverse dynamics of forward dynamics: the generalized forces of the actuators
        CHECK_STATUS(cr_model_acceleration(model, &state, &d, work), CR_OK);
        CHECK_STATUS(cr_model_inverse_dynamics(model, &state, work, &d, work + model->nv), CR_OK);
        for (int j = 0; j < t.m->njnt; j++) {
            if (t.m->jnt_type[j] != mjJNT_HINGE && t.m->jnt_type[j] != mjJNT_SLIDE) continue;
            double theirs = t.d->qfrc_actuator[t.m->jnt_dofadr[j]];
            CHECK_NEAR(work[model->nv + model->bodies[t.joint[j]].v], theirs, 1e-9 * fmax(1.0, fabs(theirs)));
        }
        CHECK(isfinite(energy.potential));
    }
    cr_arena_destroy(&arena);
    mujoco_pair_free(&t);
}

#else
TEST(forces_as_theirs) { test_skip("libmujoco is not there"); }
#endif

// two boxes in free space, a site off the centre of each, and a tendon between the sites
typedef struct Pair {
    crModel* model;
    crWorld* world;
    int tendon;
} Pair;

static int add_box(crModel* model, double x, double half, crVec3 site) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = cr_vec3(x, 0, 0);
    int body = cr_model_add_body(model, &def);
    crShape box = cr_shape_box(half, 0.7 * half, 0.4 * half);
    cr_model_add_shape(model, body, &box, 0);
    crSite s = {.body = body, .volume = cr_shape_sphere(0.01)};
    s.volume.pose.p = site;
    return cr_model_add_site(model, &s);
}

static Pair make_pair(crVec3 off, double stiffness, double damping, double rest, double dt, crVec3 gravity) {
    Pair p = {.model = cr_model_create(NULL)};
    crError error = {0};
    p.model->gravity = gravity;
    crTendon t = {.count = 2, .coef = {1.0}, .stiffness = stiffness, .damping = damping};
    t.rest_lower = t.rest_upper = rest;
    t.item[0] = add_box(p.model, 0.0, 0.1, off);
    t.item[1] = add_box(p.model, 1.0, 0.2, off);
    cr_model_exclude(p.model, 1, 2);
    p.tendon = cr_model_add_tendon(p.model, &t);
    CHECK(p.tendon == 0);
    crWorldDef def = cr_world_def();
    def.model = p.model;
    def.step.dt = dt;
    CHECK_STATUS(cr_world_create(&def, &p.world, &error), CR_OK);
    return p;
}

static void free_pair(Pair* p) {
    cr_world_destroy(p->world);
    cr_model_destroy(p->model);
}

// x1 - x0 = l, m reduced: (1 + (h B + h^2 K)/m) u+ = u - h K (l - rest)/m, whatever K and B are
TEST(spring_by_backward_euler) {
    crRandom seed = sample_seed(32);
    for (int i = 0; i < test_samples(400); i++) {
        double h = 0.01, K = sample_log(&seed, 1.0, 1e9), B = i % 2 == 0 ? 0.0 : sample_log(&seed, 1e-2, 1e6);
        double rest = sample_uniform(&seed, 0.2, 1.5);
        Pair p = make_pair(cr_vec3(0, 0, 0), K, B, rest, h, cr_vec3(0, 0, 0));
        crState* s = cr_world_state(p.world);
        double ma = p.model->bodies[1].mass, mb = p.model->bodies[2].mass, m = ma * mb / (ma + mb);
        s->v[0] = sample_uniform(&seed, -1.0, 1.0);
        s->v[6] = sample_uniform(&seed, -1.0, 1.0);
        double u = s->v[6] - s->v[0], P = ma * s->v[0] + mb * s->v[6];
        double want = (u - h * K * (1.0 - rest) / m) / (1.0 + h * (B + h * K) / m);
        CHECK_STATUS(cr_world_step(p.world, NULL), CR_OK);
        double size = fmax(1.0, fabs(want)) + h * K / m * 1e-6;
        CHECK_NEAR(s->v[6] - s->v[0], want, 1e-9 * size);
        CHECK_NEAR(ma * s->v[0] + mb * s->v[6], P, 1e-9 * fmax(1.0, h * K));
        free_pair(&p);
    }
}

// off the centres: momentum is kept, and the certificate's balance holds at every stiffness
TEST(momentum_and_energy_are_kept) {
    const double stiffness[] = {1e2, 1e5, 1e8};
    for (int k = 0; k < 3; k++) {
        Pair p = make_pair(cr_vec3(0.05, 0.06, 0.03), stiffness[k], 0.5, 0.8, 0.004, cr_vec3(0, 0, 0));
        crState* s = cr_world_state(p.world);
        s->v[1] = 0.4;
        s->v[7] = -0.2;
        s->v[11] = 1.5;
        crVec3 P0, L0, P1, L1;
        double first = 0.0, gained = 0.0;
        for (int i = 0; i < 500; i++) {
            cr_world_momentum(p.world, cr_vec3(0, 0, 0), &P0, &L0);
            crEnergy e0 = cr_world_energy(p.world);
            CHECK_STATUS(cr_world_step(p.world, NULL), CR_OK);
            cr_world_momentum(p.world, cr_vec3(0, 0, 0), &P1, &L1);
            crEnergy e1 = cr_world_energy(p.world);
            const crCertificate* c = cr_world_certificate(p.world);
            CHECK(cr_norm(cr_sub(P1, P0)) < 1e-11);
            CHECK(cr_norm(cr_sub(L1, L0)) < 1e-11);
            gained += c->energy.gain;
            first = i == 0 ? e0.kinetic + e0.potential : first;
            CHECK(e1.kinetic + e1.potential <= first * (1.0 + 1e-3));
        }
        // of the turning bodies, whose way is the rotation of the step: of third order
        test_check(gained <= 1e-3 * first, __FILE__, __LINE__, "K %g: gained %g of %g", stiffness[k], gained,
                   first);
        free_pair(&p);
    }
}

// an actuator between two arms of a body in free space: no momentum, whatever it does
TEST(reference_site_keeps_momentum) {
    crModel* model = cr_model_create(NULL);
    crError error = {0};
    model->gravity = cr_vec3(0, 0, 0);
    crBodyDef def = cr_body_def();
    def.mass = 1.0;
    def.inertia = (crSym3){0.02, 0, 0, 0.03, 0, 0.04};
    def.joint = CR_JOINT_FREE;
    int base = cr_model_add_body(model, &def);
    crActuator a = cr_actuator_motor(0);
    a.dof_count = 0;
    a.transmission = CR_ALONG_SITE;
    for (int side = 0; side < 2; side++) {
        def.parent = base;
        def.joint = CR_JOINT_HINGE;
        def.axis = cr_vec3(0.3, side == 0 ? 1.0 : -0.4, 0.2);
        def.pose.p = cr_vec3(side == 0 ? 0.3 : -0.3, 0.1, 0);
        def.com = cr_vec3(0, 0, 0.2);
        crSite site = {.body = cr_model_add_body(model, &def), .volume = cr_shape_sphere(0.01)};
        site.volume.pose.p = cr_vec3(0, 0.1, 0.3);
        *(side == 0 ? &a.site : &a.reference) = cr_model_add_site(model, &site);
    }
    memcpy(a.wrench, (const double[]){1.0, -2.0, 0.5, 0.2, 0.1, -0.3}, sizeof a.wrench);
    a.gain[0] = 4.0;
    a.bias[1] = -4.0;
    a.bias[2] = -0.3;
    a.ctrl = 0.7;
    CHECK(cr_model_add_actuator(model, &a) == 0);
    crWorldDef world_def = cr_world_def();
    world_def.model = model;
    world_def.step.dt = 0.01;
    crWorld* world;
    CHECK_STATUS(cr_world_create(&world_def, &world, &error), CR_OK);
    crVec3 P, L;
    double fastest = 0.0;
    for (int i = 0; i < 300; i++) {
        CHECK_STATUS(cr_world_step(world, &error), CR_OK);
        cr_world_momentum(world, cr_vec3(0, 0, 0), &P, &L);
        fastest = fmax(fastest, fabs(cr_world_state(world)->v[6]));
        CHECK(cr_norm(P) < 1e-12 && cr_norm(L) < 1e-12);
    }
    CHECK(fastest > 0.3);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a mass that hangs on a stiff line comes to rest m g/K below the slack length
TEST(hangs_where_it_should) {
    for (int k = 0; k < 3; k++) {
        double K = (const double[]){50.0, 1e4, 1e7}[k];
        crModel* model = cr_model_create(NULL);
        crError error = {0};
        crBodyDef def = cr_body_def();
        crSite hook = {.body = CR_WORLD, .volume = cr_shape_sphere(0.01)};
        hook.volume.pose.p = cr_vec3(0, 0, 2);
        crTendon t = {
            .count = 2, .coef = {1.0}, .stiffness = K, .damping = 8.0, .rest_lower = 1.0, .rest_upper = 1.0};
        t.item[0] = cr_model_add_site(model, &hook);
        def.joint = CR_JOINT_FREE;
        def.mass = 2.0;
        def.inertia = (crSym3){0.01, 0, 0, 0.01, 0, 0.01};
        def.pose.p = cr_vec3(0, 0, 1);
        hook.body = cr_model_add_body(model, &def);
        hook.volume.pose.p = cr_vec3(0, 0, 0);
        t.item[1] = cr_model_add_site(model, &hook);
        CHECK(cr_model_add_tendon(model, &t) == 0);
        crWorldDef world_def = cr_world_def();
        world_def.model = model;
        world_def.step.dt = 0.005;
        crWorld* world;
        CHECK_STATUS(cr_world_create(&world_def, &world, &error), CR_OK);
        for (int i = 0; i < 4000; i++) {
            CHECK_STATUS(cr_world_step(world, &error), CR_OK);
        }
        CHECK_NEAR(cr_world_state(world)->q[2], 1.0 - 2.0 * 9.81 / K, 1e-9);
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

// a pulley of two falls: the force on the load's site is twice that of the free end
static crModel* pulley_model(void) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_SLIDER;
    def.mass = 1.0;
    def.inertia = (crSym3){0.01, 0, 0, 0.01, 0, 0.01};
    def.pose.p = cr_vec3(0, 0, 0);
    crSite at = {.volume = cr_shape_sphere(0.01)};
    crTendon t = {.count = 4, .coef = {1.0, 0.0, 0.5, 0.0}};
    at.volume.pose.p = cr_vec3(0, 0, 3);
    t.item[0] = cr_model_add_site(model, &at);
    at.body = cr_model_add_body(model, &def);
    at.volume.pose.p = cr_vec3(0, 0, 0);
    t.item[1] = cr_model_add_site(model, &at);
    def.pose.p = cr_vec3(1, 0, 0);
    at.body = CR_WORLD;
    at.volume.pose.p = cr_vec3(1, 0, 3);
    t.item[2] = cr_model_add_site(model, &at);
    at.body = cr_model_add_body(model, &def);
    at.volume.pose.p = cr_vec3(0, 0, 0);
    t.item[3] = cr_model_add_site(model, &at);
    CHECK(cr_model_add_tendon(model, &t) == 0);
    crActuator a = cr_actuator_motor(0);
    a.dof_count = 0;
    a.transmission = CR_ALONG_TENDON;
    a.ctrl = -6.0;
    CHECK(cr_model_add_actuator(model, &a) == 0);
    return model;
}

TEST(pulley_divides) {
    crModel* model = pulley_model();
    crArena arena;
    crState state;
    crDynamics d;
    cr_arena_create(&arena, NULL, 0);
    CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(model, &arena, &d), CR_OK);
    double a[2];
    CHECK_STATUS(cr_model_acceleration(model, &state, &d, a), CR_OK);
    CHECK_NEAR(a[0], 6.0 - 9.81, 1e-12);
    CHECK_NEAR(a[1], 3.0 - 9.81, 1e-12);
    cr_arena_destroy(&arena);
    cr_model_destroy(model);
}

// a model that a single wrong number is refused by name in
static void refused_tendon(crTendon t, const char* field) {
    crModel* model = pulley_model();
    CHECK(cr_model_add_tendon(model, &t) < 0);
    test_check(strcmp(model->error.field, field) == 0, __FILE__, __LINE__, "%s: %s", field,
               model->error.message);
    cr_model_destroy(model);
}

static void refused_actuator(crActuator a, const char* field) {
    crModel* model = pulley_model();
    CHECK(cr_model_add_actuator(model, &a) < 0);
    test_check(strcmp(model->error.field, field) == 0, __FILE__, __LINE__, "%s: %s", field,
               model->error.message);
    cr_model_destroy(model);
}

TEST(refusals) {
    const crTendon good = {.count = 2, .item = {0, 1}, .coef = {1.0, 1.0}};
    crTendon t = good;
    t.count = 1;
    refused_tendon(t, "count");
    t = good;
    t.item[1] = 4;
    refused_tendon(t, "item");
    t.joints = true;
    refused_tendon(t, "item");
    t = good;
    t.coef[0] = -1.0;
    refused_tendon(t, "coef");
    t.coef[0] = NAN;
    refused_tendon(t, "coef");
    t = good;
    t.stiffness = -1.0;
    refused_tendon(t, "stiffness");
    t = good;
    t.damping = INFINITY;
    refused_tendon(t, "damping");
    t = good;
    t.rest_lower = NAN;
    refused_tendon(t, "rest_lower");
    t.rest_lower = 1.0;
    refused_tendon(t, "rest_upper");
    crActuator a = cr_actuator_motor(0);
    a.transmission = CR_ALONG_TENDON;
    refused_actuator(a, "dof_count");
    a.dof_count = 0;
    a.tendon = 1;
    refused_actuator(a, "tendon");
    a.transmission = CR_TRANSMISSIONS;
    refused_actuator(a, "transmission");
    a.transmission = CR_ALONG_SITE;
    a.site = -1;
    refused_actuator(a, "site");
    a.site = 0;
    a.reference = 9;
    refused_actuator(a, "reference");
    a.reference = -1;
    a.wrench[5] = NAN;
    refused_actuator(a, "wrench");
    a.transmission = CR_ALONG_CRANK;
    refused_actuator(a, "reference");
    a.reference = 1;
    refused_actuator(a, "rod");
}
