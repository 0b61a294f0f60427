// MJCF as MuJoCo's own library reads it: masses, inertias, poses, M and the accelerations of random states
// without constraints. Both read a copy without sensors, keyframes, equalities and attributes of later
// versions that do not act on what is compared; files the library does not read even so are counted.
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "data.h"
#include "io/import.h"
#include "io/scene.h"
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

#include <mujoco/mujoco.h>

#define NAME 128

static void quiet(const char* message) { (void)message; }

typedef struct Both {
    const char* file;
    mjModel* m;
    mjData* d;
    crScene scene;
    crArena arena;
    crState state;
    crDynamics dynamics;
    int* body;   // ours, of each body of theirs
    int* joint;  // our body, of each joint of theirs
} Both;

// as the importer calls them
static void body_name(const mjModel* m, int body, char name[NAME]) {
    const char* own = mj_id2name(m, mjOBJ_BODY, body);
    if (own != NULL && *own != '\0') {
        snprintf(name, NAME, "%s", own);
    } else {
        snprintf(name, NAME, "body%d", body);
    }
    for (char* c = name; *c != '\0'; c++) {
        if (strchr(" ,;.\"'", *c) != NULL) *c = '_';
    }
}

static bool map_names(Both* t) {
    for (int b = 1; b < t->m->nbody; b++) {
        char name[NAME];
        body_name(t->m, b, name);
        t->body[b] = cr_model_find_body(t->scene.model, name);
        int count = t->m->body_jntnum[b];
        for (int k = 0; k < count; k++) {
            int j = t->m->body_jntadr[b] + k;
            char link[2 * NAME];
            const char* own = mj_id2name(t->m, mjOBJ_JOINT, j);
            if (k == count - 1) {
                snprintf(link, sizeof link, "%s", name);
            } else if (own != NULL) {
                snprintf(link, sizeof link, "%s_%s", name, own);
            } else {
                snprintf(link, sizeof link, "%s_joint%d", name, k);
            }
            t->joint[j] = cr_model_find_body(t->scene.model, link);
            if (!test_check(t->joint[j] > 0, __FILE__, __LINE__, "%s: no body %s", t->file, link))
                return false;
        }
        if (!test_check(t->body[b] > 0, __FILE__, __LINE__, "%s: no body %s", t->file, name)) return false;
    }
    return true;
}

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
        const crBody* ours = &t->scene.model->bodies[t->body[b]];
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
        crPose pose = t->dynamics.pose[t->body[b]];
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

static double friction(const mjModel* m, int a, int b) {
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
    const crModel* model = t->scene.model;
    if (!CHECK(model->shape_count == t->m->ngeom)) return;
    for (int a = 0; a < t->m->ngeom; a++) {
        for (int b = 0; b < a; b++) {
            bool still =
                t->m->body_weldid[t->m->geom_bodyid[a]] == 0 && t->m->body_weldid[t->m->geom_bodyid[b]] == 0;
            if (still) continue;
            bool touch = may_touch(t->m, a, b);
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
    crState* s = &t->state;
    for (int j = 0; j < t->m->njnt; j++) {
        mjtNum* q = t->d->qpos + t->m->jnt_qposadr[j];
        mjtNum* v = t->d->qvel + t->m->jnt_dofadr[j];
        const crBody* ours = &t->scene.model->bodies[t->joint[j]];
        double* oq = s->q + ours->q;
        double* ov = s->v + ours->v;
        int type = t->m->jnt_type[j];
        int nv = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1;
        for (int k = 0; k < nv; k++) {
            v[k] = sample_uniform(seed, -1.0, 1.0);
        }
        if (type == mjJNT_HINGE || type == mjJNT_SLIDE) {
            q[0] = t->m->qpos0[t->m->jnt_qposadr[j]] + sample_uniform(seed, -1.0, 1.0);
            oq[0] = q[0] - t->m->qpos0[t->m->jnt_qposadr[j]];
            ov[0] = v[0];
            continue;
        }
        mjtNum* rotation = type == mjJNT_FREE ? q + 3 : q;
        for (int k = 0; k < 4; k++) {
            rotation[k] = sample_uniform(seed, -1.0, 1.0);
        }
        mju_normalize4(rotation);
        crQuat R = quat(rotation);
        memcpy(type == mjJNT_FREE ? oq + 3 : oq, rotation, 4 * sizeof(double));
        crVec3 omega = cr_quat_rotate(R, vec(type == mjJNT_FREE ? v + 3 : v));
        memcpy(type == mjJNT_FREE ? ov + 3 : ov, &omega, sizeof omega);
        if (type != mjJNT_FREE) continue;
        for (int k = 0; k < 3; k++) {
            oq[k] = q[k] = sample_uniform(seed, -1.0, 1.0);
        }
        crVec3 com = cr_add(vec(v), cr_cross(omega, cr_quat_rotate(R, ours->com)));
        memcpy(ov, &com, sizeof com);
    }
}

// our accelerations without constraints, the gyroscopic moment of single bodies added
static void accelerate(Both* t, double* a) {
    const crModel* model = t->scene.model;
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
        const crBody* ours = &t->scene.model->bodies[t->joint[j]];
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

static void compare_dynamics(Both* t) {
    double* a = cr_arena_alloc(&t->arena, ((size_t)t->scene.model->nv + 1) * sizeof *a);
    crRandom seed = sample_seed(7);
    int count = test_samples(600) / 20;
    for (int i = 0; i < count && a != NULL; i++) {
        random_state(t, &seed);
        mj_forward(t->m, t->d);
        accelerate(t, a);
        compare_poses(t);
        compare_accelerations(t, a);
    }
}

// an actuator or tendon that carom does not have must not act in theirs
static bool acts_otherwise(const crImport* import) {
    for (int i = 0; i < import->note_count; i++) {
        const crNote* note = &import->notes[i];
        if (note->level == CR_NOTE_UNSUPPORTED && strstr(note->text, "does not act on a joint") != NULL)
            return true;
    }
    return false;
}

static bool load_ours(Both* t, const char* path) {
    crImport import;
    crError error = {0};
    crStatus status = cr_import_file(path, NULL, &import, &error);
    if (status == CR_OK) {
        status = cr_scene_read(import.scene.root, &t->scene, &error);
        if (acts_otherwise(&import)) t->m->opt.disableflags |= mjDSBL_ACTUATION;
        cr_import_free(&import);
    }
    return test_check(status == CR_OK, __FILE__, __LINE__, "%s:%d:%d: %s", path, error.line, error.column,
                      error.message);
}

static void compare(const char* file, const char* path, mjModel* m) {
    Both t = {.file = file, .m = m, .d = mj_makeData(m)};
    t.body = calloc((size_t)m->nbody + 1, sizeof(int));
    t.joint = calloc((size_t)m->njnt + 1, sizeof(int));
    cr_arena_create(&t.arena, NULL, 0);
    if (load_ours(&t, path)) {
        CHECK(t.scene.model->nv == m->nv);
        CHECK_STATUS(cr_state_create(t.scene.model, &t.arena, &t.state), CR_OK);
        CHECK_STATUS(cr_dynamics_create(t.scene.model, &t.arena, &t.dynamics), CR_OK);
        CHECK_VEC(t.scene.model->gravity,
                  m->opt.disableflags & mjDSBL_GRAVITY ? cr_vec3(0, 0, 0) : vec(m->opt.gravity), 0.0);
        CHECK(t.scene.step.dt == m->opt.timestep);
        if (map_names(&t)) {
            compare_masses(&t);
            compare_contacts(&t);
            compare_dynamics(&t);
        }
        cr_scene_free(&t.scene);
    }
    cr_arena_destroy(&t.arena);
    free(t.body);
    free(t.joint);
    mj_deleteData(t.d);
}

// a copy of the file without attributes of later versions, in the present folder
static void strip(const char* path, const char* to) {
    static const char* const later[] = {"island",           "sleep",    "sleep_tolerance", "memory",
                                        "actuatorfrcrange", "realtime", "surfacevel"};
    static const char* const sections[] = {"sensor", "keyframe", "equality"};
    static char text[1 << 20];
    FILE* file = fopen(path, "rb");
    size_t size = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL) fclose(file);
    text[size] = '\0';
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        char head[64];
        snprintf(head, sizeof head, " %s=\"", later[i]);
        for (char* at = strstr(text, head); at != NULL; at = strstr(at, head)) {
            char* end = strchr(at + strlen(head), '"');
            if (end == NULL) break;
            memmove(at, end + 1, strlen(end + 1) + 1);
        }
    }
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        char head[64], tail[64];
        snprintf(head, sizeof head, "<%s>", sections[i]);
        snprintf(tail, sizeof tail, "</%s>", sections[i]);
        char* at = strstr(text, head);
        char* end = at != NULL ? strstr(at, tail) : NULL;
        if (end != NULL) memmove(at, end + strlen(tail), strlen(end + strlen(tail)) + 1);
    }
    // their default for meshes counts folded parts twice
    char* root = strstr(text, "<mujoco");
    char* inside = root != NULL ? strchr(root, '>') : NULL;
    file = fopen(to, "wb");
    if (file == NULL) return;
    if (inside != NULL) {
        fwrite(text, 1, (size_t)(inside + 1 - text), file);
        fputs("<compiler exactmeshinertia=\"true\"/>", file);
        fputs(inside + 1, file);
    }
    fclose(file);
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
        char path[64], copy[64], why[512] = "";
        snprintf(path, sizeof path, "mjcf_made_%ld.xml", (long)getpid());
        snprintf(copy, sizeof copy, "mjcf_peer_%ld.xml", (long)getpid());
        FILE* file = fopen(path, "wb");
        fputs(made[i], file);
        fclose(file);
        strip(path, copy);
        mjModel* m = mj_loadXML(copy, NULL, why, sizeof why);
        if (test_check(m != NULL, __FILE__, __LINE__, "model %zu: %s", i, why)) {
            compare("made", copy, m);
            mj_deleteModel(m);
        }
        remove(path);
        remove(copy);
    }
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
        char why[512] = "";
        char copy[64];
        snprintf(copy, sizeof copy, "mjcf_peer_%ld.xml", (long)getpid());
        strip(path, copy);
        path = copy;
        mjModel* m = mj_loadXML(path, NULL, why, sizeof why);
        if (m == NULL) {
            why[strcspn(why, "\n")] = '\0';
            printf("  not read by libmujoco %s: %s: %s\n", mj_versionString(), files[i], why);
            remove(copy);
            continue;
        }
        compare(files[i], path, m);
        remove(copy);
        mj_deleteModel(m);
        compared++;
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
