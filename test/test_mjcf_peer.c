// MJCF as MuJoCo's own library reads it: masses, inertias, poses, M and the accelerations of random states
// without constraints. Files the library does not read are counted.
#include "test.h"

#include <unistd.h>

#include "data.h"
#include "sample.h"

static const char* const files[] = {"car",
                                    "collision_box__boxbox_bad0",
                                    "collision_box__boxbox_bad1",
                                    "collision_box__boxbox_deep",
                                    "collision_box__boxbox_duplicate",
                                    "collision_primitive__sphere_cylinder",
                                    "collision_primitive__spheres_cylinders",
                                    "core_constraint__dofless_contact",
                                    "core_constraint__dofless_tendon_frictional",
                                    "core_constraint__dofless_tendon_limited",
                                    "core_constraint__dofless_tendon_limitedmargin",
                                    "core_constraint__dofless_weld",
                                    "core_constraint__jdotv_connect_2d",
                                    "core_constraint__jdotv_connect_3d",
                                    "core_constraint__jdotv_weld_3d",
                                    "core_constraint__joint_limited_bilateral_margin",
                                    "core_constraint__soft_weld",
                                    "core_constraint__surfacevel_conveyor",
                                    "core_constraint__surfacevel_turntable",
                                    "core_constraint__tendon_limited_bilateral_margin",
                                    "dominos",
                                    "humanoid",
                                    "island__abacus",
                                    "island__humanoid",
                                    "island__island_efc",
                                    "island__tendon_wrap",
                                    "newton_cradle",
                                    "slider_crank",
                                    "solver__humanoid",
                                    "solver__model"};
enum { FILES = sizeof files / sizeof files[0] };

#ifdef CAROM_TEST_MUJOCO

#include "mujoco_pair.h"

static void quiet(const char* message) { (void)message; }

typedef struct Both {
    const char* file;
    MujocoPair pair;
    const mjModel* m;
    mjData* d;
    crScene* scene;
    crArena arena;
    crState state;
    crDynamics dynamics;
} Both;

static crVec3 vec(const mjtNum* x) { return cr_vec3(x[0], x[1], x[2]); }
static crQuat quat(const mjtNum* x) { return (crQuat){x[0], x[1], x[2], x[3]}; }

static void near(const Both* t, const char* what, double a, double b, double scale) {
    // they keep the vertices of meshes in single precision
    double tol = t->m->nmesh > 0 ? 1e-6 : 1e-9;
    test_check(fabs(a - b) <= tol * fmax(1.0, scale), __FILE__, __LINE__, "%s: %s: %.17g, theirs %.17g",
               t->file, what, a, b);
}

static void near_vec(const Both* t, const char* what, crVec3 a, crVec3 b, double scale) {
    near(t, what, cr_norm(cr_sub(a, b)), 0.0, scale);
}

// where the frame of a body of theirs lies in our body's frame
static crVec3 anchor(const mjModel* m, int body) {
    int count = m->body_jntnum[body];
    int last = m->body_jntadr[body] + count - 1;
    if (count == 0 || m->jnt_type[last] == mjJNT_FREE) return cr_vec3(0, 0, 0);
    return vec(m->jnt_pos + 3 * last);
}

static void compare_masses(const Both* t) {
    for (int b = 1; b < t->m->nbody; b++) {
        const crBody* ours = &t->scene->model->bodies[t->pair.body[b]];
        const mjtNum* I = t->m->body_inertia + 3 * b;
        near(t, "mass", ours->mass, t->m->body_mass[b], t->m->body_mass[b]);
        if (ours->mass == 0.0) continue;
        near_vec(t, "centre", cr_add(ours->com, anchor(t->m, b)), vec(t->m->body_ipos + 3 * b), 1.0);
        crMat3 R = cr_quat_matrix(quat(t->m->body_iquat + 4 * b));
        crMat3 mine = cr_sym3_full(ours->inertia);
        for (int i = 0; i < 9; i++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) {
                sum += R.m[i / 3][k] * I[k] * R.m[i % 3][k];
            }
            near(t, "inertia", mine.m[i / 3][i % 3], sum, I[0] + I[1] + I[2]);
        }
    }
}

static void compare_poses(const Both* t) {
    for (int b = 1; b < t->m->nbody; b++) {
        crPose pose = t->dynamics.pose[t->pair.body[b]];
        crVec3 p = cr_sub(pose.p, cr_quat_rotate(pose.q, anchor(t->m, b)));
        near_vec(t, "position", p, vec(t->d->xpos + 3 * b), 1.0);
        crMat3 R = cr_quat_matrix(pose.q);
        for (int i = 0; i < 9; i++) {
            near(t, "rotation", R.m[i / 3][i % 3], t->d->xmat[9 * b + i], 1.0);
        }
    }
}

// which geoms may touch, by the rules of their documentation (Collision detection) on their own numbers
static bool may_touch(const mjModel* m, int a, int b) {
    int wa = m->body_weldid[m->geom_bodyid[a]], wb = m->body_weldid[m->geom_bodyid[b]];
    int pa = m->body_weldid[m->body_parentid[wa]], pb = m->body_weldid[m->body_parentid[wb]];
    if (wa == wb || (wa != 0 && wb != 0 && (pa == wb || pb == wa))) return false;
    int low = m->geom_bodyid[a] < m->geom_bodyid[b] ? m->geom_bodyid[a] : m->geom_bodyid[b];
    int high = m->geom_bodyid[a] + m->geom_bodyid[b] - low;
    for (int i = 0; i < m->nexclude; i++) {
        if (m->exclude_signature[i] == ((low + 1) << 16) + high + 1) return false;
    }
    if (m->opt.disableflags & mjDSBL_CONTACT) return false;
    return (m->geom_contype[a] & m->geom_conaffinity[b]) != 0 ||
           (m->geom_contype[b] & m->geom_conaffinity[a]) != 0;
}

static int explicit_pair(const mjModel* m, int a, int b) {
    for (int i = 0; i < m->npair; i++) {
        bool same = m->pair_geom1[i] == a && m->pair_geom2[i] == b;
        if (same || (m->pair_geom1[i] == b && m->pair_geom2[i] == a)) return i;
    }
    return -1;
}

static double friction(const mjModel* m, int a, int b) {
    int pair = explicit_pair(m, a, b);
    if (pair >= 0) return m->pair_dim[pair] > 1 ? m->pair_friction[5 * pair] : 0.0;
    int pa = m->geom_priority[a], pb = m->geom_priority[b];
    int first = pa > pb ? a : b;
    double mu =
        pa != pb ? m->geom_friction[3 * first] : fmax(m->geom_friction[3 * a], m->geom_friction[3 * b]);
    int da = m->geom_condim[a], db = m->geom_condim[b];
    int condim = pa != pb ? m->geom_condim[first] : da > db ? da : db;
    return condim > 1 ? mu : 0.0;
}

// geoms stand in the same order; tendons have none
static void compare_contacts(const Both* t) {
    const crModel* model = t->scene->model;
    if (!CHECK(model->shape_count == t->m->ngeom)) return;
    for (int a = 0; a < t->m->ngeom; a++) {
        for (int b = 0; b < a; b++) {
            bool still =
                t->m->body_weldid[t->m->geom_bodyid[a]] == 0 && t->m->body_weldid[t->m->geom_bodyid[b]] == 0;
            if (still) continue;
            bool touch = may_touch(t->m, a, b) || explicit_pair(t->m, a, b) >= 0;
            test_check(cr_model_meet(model, a, b) == touch, __FILE__, __LINE__, "%s: geoms %d and %d",
                       t->file, a, b);
            crContactSurface s;
            crStatus status =
                cr_model_surface(model, model->shapes[a].material, model->shapes[b].material, 0.0, &s);
            if (CHECK(status == CR_OK) && touch) near(t, "mu", s.surface.mu, friction(t->m, a, b), 1.0);
        }
    }
}

// random q and v of theirs, and the same of ours
static void random_state(Both* t, crRandom* seed) {
    for (int j = 0; j < t->m->njnt; j++) {
        mjtNum* q = t->d->qpos + t->m->jnt_qposadr[j];
        mjtNum* v = t->d->qvel + t->m->jnt_dofadr[j];
        int type = t->m->jnt_type[j];
        int nv = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1;
        for (int k = 0; k < nv; k++) {
            v[k] = sample_uniform(seed, -1.0, 1.0);
        }
        if (type == mjJNT_HINGE || type == mjJNT_SLIDE) {
            q[0] = t->m->qpos0[t->m->jnt_qposadr[j]] + sample_uniform(seed, -1.0, 1.0);
            continue;
        }
        mjtNum* rotation = type == mjJNT_FREE ? q + 3 : q;
        for (int k = 0; k < 4; k++) {
            rotation[k] = sample_uniform(seed, -1.0, 1.0);
        }
        mju_normalize4(rotation);
        for (int k = 0; k < 3 && type == mjJNT_FREE; k++) {
            q[k] = sample_uniform(seed, -1.0, 1.0);
        }
    }
    for (int i = 0; i < t->m->nu; i++) {
        double low = t->m->actuator_ctrllimited[i] ? t->m->actuator_ctrlrange[2 * i] : -2.0;
        double high = t->m->actuator_ctrllimited[i] ? t->m->actuator_ctrlrange[2 * i + 1] : 2.0;
        t->d->ctrl[i] = sample_uniform(seed, low, high);
    }
    mujoco_pair_state(&t->pair, t->d, &t->state);
}

// our accelerations without constraints, the gyroscopic moment of single bodies added
static void accelerate(Both* t, double* a) {
    const crModel* model = t->scene->model;
    cr_model_kinematics(model, &t->state, &t->dynamics);
    CHECK_STATUS(cr_model_mass_factor(model, 0.0, &t->dynamics), CR_OK);
    cr_model_forces(model, &t->state, &t->dynamics, a);
    for (int i = 1; i < model->nb; i++) {
        if (!model->bodies[i].single) continue;
        double* k = a + model->bodies[i].v + 3;
        const double* v = t->state.v + model->bodies[i].v + 3;
        crVec3 omega = vec(v);
        crVec3 moment = cr_cross(cr_sym3_mul(t->dynamics.inertia[i], omega), omega);
        k[0] += moment.x;
        k[1] += moment.y;
        k[2] += moment.z;
    }
    cr_model_mass_solve(model, &t->dynamics, a);
}

static void compare_accelerations(const Both* t, const double* a) {
    double scale = 0.0;
    for (int i = 0; i < t->m->nv; i++) {
        scale = fmax(scale, fabs(t->d->qacc_smooth[i]));
    }
    for (int j = 0; j < t->m->njnt; j++) {
        const mjtNum* theirs = t->d->qacc_smooth + t->m->jnt_dofadr[j];
        const crBody* ours = &t->scene->model->bodies[t->pair.joint[j]];
        const double* own = a + ours->v;
        int type = t->m->jnt_type[j];
        if (type == mjJNT_HINGE || type == mjJNT_SLIDE) {
            near(t, "acceleration", own[0], theirs[0], scale);
            continue;
        }
        bool free = type == mjJNT_FREE;
        crQuat R = quat(t->d->qpos + t->m->jnt_qposadr[j] + (free ? 3 : 0));
        crVec3 alpha = cr_quat_rotate(R, vec(free ? theirs + 3 : theirs));
        near_vec(t, "angular acceleration", vec(free ? own + 3 : own), alpha, scale);
        if (!free) continue;
        crVec3 omega = vec(t->state.v + ours->v + 3);
        crVec3 r = cr_quat_rotate(R, ours->com);
        crVec3 com = cr_add(vec(theirs), cr_add(cr_cross(alpha, r), cr_cross(omega, cr_cross(omega, r))));
        near_vec(t, "acceleration of the centre", vec(own), com, scale);
    }
}

// lengths of tendons, from the gaps of the loops that stand for their limits
static void compare_tendons(Both* t) {
    const crModel* model = t->scene->model;
    int loop = 0;
    for (int i = 0; i < t->m->ntendon; i++) {
        int first = t->m->tendon_adr[i];
        bool joints = t->m->wrap_type[first] == mjWRAP_JOINT;
        bool sites = t->m->wrap_type[first] == mjWRAP_SITE && t->m->wrap_type[first + 1] == mjWRAP_SITE;
        bool moves = joints || t->m->body_weldid[t->m->site_bodyid[t->m->wrap_objid[first]]] !=
                                   t->m->body_weldid[t->m->site_bodyid[t->m->wrap_objid[first + 1]]];
        if (!t->m->tendon_limited[i] || t->m->tendon_num[i] != 2 || !(joints || sites) || !moves) continue;
        crRows rows;
        size_t mark = cr_arena_mark(&t->arena);
        CHECK_STATUS(cr_rows_create(&t->arena, 1, 2 * model->nv, &rows), CR_OK);
        if (!CHECK(loop < model->loop_count && cr_rows_add_loop(model, &t->dynamics, loop++, &rows) == 0))
            return;
        double length = t->d->ten_length[i], scale = joints ? fabs(t->m->wrap_prm[first]) : 1.0;
        double gap = fmin(length - t->m->tendon_range[2 * i], t->m->tendon_range[2 * i + 1] - length);
        near(t, "tendon", scale * rows.gap[0], gap, 1.0);
        cr_arena_release(&t->arena, mark);
    }
    CHECK(loop == model->loop_count);
}

static void compare_dynamics(Both* t) {
    double* a = cr_arena_alloc(&t->arena, ((size_t)t->scene->model->nv + 1) * sizeof *a);
    crRandom seed = sample_seed(7);
    int count = test_samples(600) / 20;
    for (int i = 0; i < count && a != NULL; i++) {
        random_state(t, &seed);
        mj_forward(t->m, t->d);
        accelerate(t, a);
        compare_poses(t);
        compare_accelerations(t, a);
        compare_tendons(t);
    }
}

// false: libmujoco does not read it
static bool compare(const char* file, const char* path, char* why, size_t size) {
    Both t = {.file = file};
    if (!mujoco_pair_load(path, (MujocoKeep){0}, &t.pair, why, size)) return false;
    t.m = t.pair.m;
    t.d = t.pair.d;
    t.scene = &t.pair.scene;
    cr_arena_create(&t.arena, NULL, 0);
    CHECK(t.scene->model->nv == t.m->nv);
    CHECK_STATUS(cr_state_create(t.scene->model, &t.arena, &t.state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(t.scene->model, &t.arena, &t.dynamics), CR_OK);
    CHECK_VEC(t.scene->model->gravity,
              t.m->opt.disableflags & mjDSBL_GRAVITY ? cr_vec3(0, 0, 0) : vec(t.m->opt.gravity), 0.0);
    CHECK(t.scene->step.dt == t.m->opt.timestep);
    compare_masses(&t);
    compare_contacts(&t);
    compare_dynamics(&t);
    cr_arena_destroy(&t.arena);
    mujoco_pair_free(&t.pair);
    return true;
}

// what the files do not use
static const char* const made[] = {
    // orientations, chains of joints with references, rotors, springs of balls, given inertias (full ones are
    // diagonal: their eigenvectors are good to 1e-7 only)
    "<mujoco><compiler angle='radian' eulerseq='zYx'/><option gravity='1 -2 -3' timestep='0.004'/>"
    "<default><joint armature='0.3' damping='0.7'/><geom density='700'/>"
    "<default class='a'><joint stiffness='11' springref='0.4'/><default class='b'><joint damping='2'/>"
    "<geom type='box' size='.1 .2 .3'/></default></default></default>"
    "<worldbody><body name='one' pos='1 2 3' axisangle='1 2 3 0.7' childclass='a'>"
    "<joint name='p' type='slide' axis='1 1 0' ref='0.3'/><joint name='q' axis='0 1 2' pos='.1 .2 .3' "
    "ref='-0.2'/>"
    "<joint name='r' type='ball' pos='.3 0 .1'/><geom class='b' euler='.3 .4 .5' pos='.1 .1 .1'/>"
    "<body name='two' xyaxes='1 1 0 0 1 1' pos='0 0 1'><joint name='s' class='b' axis='1 0 0'/>"
    "<inertial pos='.1 .2 .3' mass='2' euler='.1 .2 .3' diaginertia='.3 .4 .5'/>"
    "<geom type='ellipsoid' size='.1 .2 .3'/>"
    "<body name='three' zaxis='1 2 3'><geom type='cylinder' fromto='0 0 0 1 1 1' size='.1' mass='3'/>"
    "<body name='four' pos='.2 .1 0'><joint name='t' type='ball'/>"
    "<inertial pos='0 .1 0' mass='1.5' fullinertia='.5 .6 .7 0 0 0'/></body></body></body></body>"
    "</worldbody><actuator><position joint='s' kp='7' gear='3'/><velocity joint='p' kv='2' "
    "gear='2'/>"
    "<general joint='q' gear='2' gainprm='3' biastype='affine' biasprm='.5 -4 -1'/></actuator>"
    "</mujoco>",
    // free bodies with children, bounds and scale of masses, groups of geoms that weigh nothing
    "<mujoco><compiler boundmass='0.5' boundinertia='0.02' balanceinertia='true' settotalmass='9'"
    " inertiagrouprange='0 2' eulerseq='XYZ'/>"
    "<worldbody><body name='base' pos='1 0 0' euler='10 20 30'><freejoint/><geom size='.1'/>"
    "<geom size='.3' group='3' pos='1 1 1'/>"
    "<body name='arm' pos='.1 .2 .3' quat='1 2 3 4'><joint axis='1 2 3' stiffness='3' springref='20' "
    "armature='.1'/>"
    "<geom type='capsule' size='.1 .2'/><inertial pos='0 0 0' mass='1' diaginertia='1 2 4'/></body></body>"
    "<body name='still' pos='0 0 2' euler='0 45 0'><geom type='box' size='.1 .1 .1'/>"
    "<body name='swing' pos='0 1 0'><joint type='hinge' axis='1 0 0'/><geom size='.05' pos='0 0 "
    "1'/></body></body>"
    "<body name='dust'><freejoint/><geom size='.001'/></body></worldbody></mujoco>",
    // tendons along one and two joints, and straight; springs of theirs and of actuators on them
    "<mujoco><compiler autolimits='true'/><default><tendon limited='true' range='.01 "
    "9'/></default><worldbody>"
    "<site name='o' pos='1 0 0'/>"
    "<body name='a' pos='0 0 1'><joint name='x' type='slide' axis='1 2 0' ref='.3'/><geom size='.1'/>"
    "<site name='p' pos='.1 .2 .3'/>"
    "<body name='b' pos='0 .5 0'><joint name='y' axis='0 1 1' ref='20'/><geom size='.1' pos='.1 0 0'/>"
    "<body name='c' pos='0 .5 0'><joint name='z' pos='.1 .1 .1'/><geom size='.1'/><site name='q' pos='0 0 "
    ".2'/>"
    "</body></body></body></worldbody><tendon>"
    "<fixed name='one' limited='false' stiffness='3' damping='2' springlength='.25'><joint joint='x' "
    "coef='-2'/></fixed>"
    "<fixed name='two'><joint joint='z' coef='-.5'/><joint joint='y' coef='.25'/></fixed>"
    "<spatial><site site='o'/><site site='q'/></spatial><spatial><site site='p'/><site site='q'/></spatial>"
    "<fixed limited='false' stiffness='4'><joint joint='y' coef='3'/></fixed></tendon>"
    "<actuator><damper joint='y' kv='2' ctrlrange='0 1'/><position tendon='one' kp='5' gear='.5'/><motor "
    "tendon='one'/><motor site='p' gear='1 0 0 0 0 "
    "0'/><position tendon='two' kp='5' gear='2' forcerange='-1.5 1.2'/><general joint='z' "
    "gaintype='affine' gainprm='1 2 3' biastype='affine' biasprm='1 -2 -3'/><velocity tendon='two' kv='.2'/>"
    "<general joint='z' dyntype='filter' dynprm='.1' gainprm='2' biastype='affine' biasprm='0 -3 -1'/>"
    "<cylinder joint='y' area='.1'/><intvelocity joint='y' kp='2' "
    "actrange='-1 1'/></actuator></mujoco>",
    // pairs of geoms: whatever contype says, with friction of their own or of the geoms; a field of heights
    "<mujoco><asset><hfield name='h' nrow='3' ncol='4' size='1 2 .5 .1'/></asset><worldbody>"
    "<geom type='hfield' hfield='h' friction='.3'/><geom name='floor' type='plane' size='1 1 1' contype='0'/>"
    "<body name='a' pos='0 0 2'><freejoint/><geom name='ga' size='.1' contype='0' conaffinity='0' "
    "friction='.7'/></body>"
    "<body name='b' pos='0 1 2'><freejoint/><geom name='gb' size='.1' contype='2' friction='.2' "
    "condim='1'/></body>"
    "<body name='c' pos='1 1 2'><freejoint/><geom name='gc' size='.1' priority='1' friction='.1'/></body>"
    "</worldbody><contact><pair geom1='ga' geom2='gb' friction='.45 .45'/><pair geom1='ga' geom2='floor'/>"
    "<pair geom1='gb' geom2='gc' condim='1'/></contact></mujoco>",
    // meshes: a tetrahedron and a box with faces, scaled and moved
    "<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' scale='1 2 3'/>"
    "<mesh name='f' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 3 0 3 2 1 2 3' refpos='.1 .2 .3'"
    " refquat='1 1 0 0'/></asset><worldbody>"
    "<body name='a'><freejoint/><geom type='mesh' mesh='m' pos='.1 .2 .3' euler='10 20 30'/></body>"
    "<body name='b' pos='3 0 0'><joint/><geom type='mesh' mesh='f' euler='10 20 30' density='500'/></body>"
    "</worldbody></mujoco>"};

TEST(made_models) {
    mju_user_warning = quiet;
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        char path[64], why[600] = "";
        snprintf(path, sizeof path, "mjcf_made_%ld.xml", (long)getpid());
        FILE* file = fopen(path, "wb");
        fputs(made[i], file);
        fclose(file);
        bool read = compare("made", path, why, sizeof why);
        test_check(read, __FILE__, __LINE__, "model %zu: %s", i, why);
        remove(path);
    }
}

// the start by a keyframe, as theirs
TEST(keyframes) {
    static const char text[] =
        "<mujoco><worldbody><body name='a' pos='1 2 3'><freejoint/><geom size='.1' pos='.1 0 0'/><body "
        "name='b'>"
        "<joint ref='30'/><geom size='.1'/></body></body><body name='c' pos='5 0 0'><joint type='ball'/>"
        "<geom size='.1' pos='0 .1 0'/></body></worldbody><keyframe><key name='other'/><key name='k' "
        "qpos='.1 .2 .3 .5 .5 -.5 .5 .7 0 .6 .8 0' qvel='1 2 3 4 5 6 7 8 9 10'/></keyframe></mujoco>";
    char path[64], why[600] = "";
    snprintf(path, sizeof path, "mjcf_key_%ld.xml", (long)getpid());
    FILE* file = fopen(path, "wb");
    fputs(text, file);
    fclose(file);
    MujocoPair pair;
    bool read = mujoco_pair_load(path, (MujocoKeep){.key = "k"}, &pair, why, sizeof why);
    remove(path);
    if (!test_check(read, __FILE__, __LINE__, "%s", why)) return;
    const crModel* model = pair.scene.model;
    crArena arena;
    crState state;
    cr_arena_create(&arena, NULL, 0);
    CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
    mj_resetDataKeyframe(pair.m, pair.d, mj_name2id(pair.m, mjOBJ_KEY, "k"));
    mujoco_pair_state(&pair, pair.d, &state);
    for (int i = 0; i < model->nq; i++) {
        CHECK_NEAR(pair.scene.q[i], state.q[i], 1e-12);
    }
    for (int i = 0; i < model->nv; i++) {
        CHECK_NEAR(pair.scene.v[i], state.v[i], 1e-12);
    }
    cr_arena_destroy(&arena);
    mujoco_pair_free(&pair);
}

TEST(as_mujoco_reads_them) {
    char buffer[512];
    char relative[128];
    int compared = 0;
    mju_user_warning = quiet;
    for (int i = 0; i < FILES; i++) {
        snprintf(relative, sizeof relative, "mjcf/%s.xml", files[i]);
        const char* path = test_data(relative, buffer, sizeof buffer);
        if (path == NULL) {
            test_skip("the data are not there");
            return;
        }
        char why[600] = "";
        if (compare(files[i], path, why, sizeof why)) {
            compared++;
            continue;
        }
        printf("  not compared: %s: %s\n", files[i], why);
        test_check(strncmp(why, "carom", 5) != 0, __FILE__, __LINE__, "%s: %s", files[i], why);
    }
    printf("  compared %d of %d files\n", compared, FILES);
    CHECK(compared >= 25);
}

#else

TEST(as_mujoco_reads_them) {
    (void)files;
    test_skip("no libmujoco");
}

#endif
