// piles_mujoco.c - a scene in MuJoCo: the model is written as its XML; CG solver, elliptic friction cones,
// all other settings as they come. MuJoCo has no restitution and one thread per step. Warnings (a contact
// buffer too small, a bad state) count as giving up: 2.2 cannot hold the contacts of 1000 boxes. Driven bodies are
// hinges of great inertia whose speed is set before each step.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "piles.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
#define VERSION    TEXT(mjVERSION_HEADER)

typedef struct Mujoco {
    mjModel* model;
    mjData* data;
    const PilesBody* bodies;
    int* ids;  // of the scene's bodies (count)
    int count;
} Mujoco;

static void write_geom(FILE* xml, const crShape* s) {
    crVec3 p = s->pose.p, size = s->size;
    fprintf(xml, "<geom pos='%.17g %.17g %.17g' ", p.x, p.y, p.z);
    switch (s->kind) {
    case CR_SHAPE_SPHERE:
        fprintf(xml, "type='sphere' size='%.17g'", size.x);
        break;
    case CR_SHAPE_BOX:
        fprintf(xml, "type='box' size='%.17g %.17g %.17g'", size.x, size.y, size.z);
        break;
    case CR_SHAPE_ELLIPSOID:
        fprintf(xml, "type='ellipsoid' size='%.17g %.17g %.17g'", size.x, size.y, size.z);
        break;
    case CR_SHAPE_CAPSULE:
        fprintf(xml, "type='capsule' size='%.17g %.17g'", size.x, size.z);
        break;
    case CR_SHAPE_CYLINDER:
        fprintf(xml, "type='cylinder' size='%.17g %.17g'", size.x, size.z);
        break;
    default:
        fprintf(xml, "type='mesh' mesh='hull'");
        break;
    }
    fprintf(xml, "/>\n");
}

static void write_hull(FILE* xml, const PilesScene* scene) {
    const crHull* hull = NULL;
    for (int i = 0; i < scene->body_count && hull == NULL; i++) {
        if (scene->bodies[i].shape.kind == CR_SHAPE_HULL) hull = scene->bodies[i].shape.data.hull;
    }
    if (hull == NULL) return;
    int count = 0;
    const crVec3* v = cr_hull_vertices(hull, &count);
    fprintf(xml, "<asset><mesh name='hull' vertex='");
    for (int i = 0; i < count; i++) {
        fprintf(xml, "%.17g %.17g %.17g ", v[i].x, v[i].y, v[i].z);
    }
    fprintf(xml, "'/></asset>\n");
}

static void write_joint(FILE* xml, const PilesScene* scene, int i) {
    const PilesBody* body = &scene->bodies[i];
    const PilesJoint* joint = piles_joint_of(scene, i);
    crQuat back = cr_quat_conj(body->pose.q);
    if (body->role == PILES_DRIVEN) {
        crVec3 axis = cr_quat_rotate(back, body->omega);
        fprintf(xml, "<joint type='hinge' axis='%.17g %.17g %.17g' armature='1e9'/>", axis.x, axis.y, axis.z);
    } else if (joint != NULL) {
        crVec3 at = cr_pose_point_inverse(body->pose, joint->point);
        crVec3 axis = joint->ball ? cr_vec3(0, 0, 1) : cr_quat_rotate(back, joint->axis);
        fprintf(xml, "<joint type='%s' pos='%.17g %.17g %.17g' axis='%.17g %.17g %.17g'/>",
                joint->ball ? "ball" : "hinge", at.x, at.y, at.z, axis.x, axis.y, axis.z);
    } else if (body->role == PILES_FREE) {
        fprintf(xml, "<freejoint/>");
    }
}

// bodies that hang on this one follow inside it, so poses are relative to `parent`
static void write_body(FILE* xml, const PilesScene* scene, int i, crPose parent) {
    const PilesBody* body = &scene->bodies[i];
    crPose pose = cr_pose_mul(cr_pose_inverse(parent), body->pose);
    fprintf(xml, "<body name='b%d' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>", i, pose.p.x,
            pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z);
    fprintf(xml, "<inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>", body->mass,
            body->inertia.x, body->inertia.y, body->inertia.z);
    write_joint(xml, scene, i);
    write_geom(xml, &body->shape);
    for (int k = 0; k < scene->joint_count; k++) {
        if (scene->joints[k].a == i) write_body(xml, scene, scene->joints[k].b, body->pose);
    }
    fprintf(xml, "</body>\n");
}

#if mjVERSION_HEADER >= 300
static void write_size(FILE* xml, const PilesScene* scene) {
    double bytes = fmin(4e9, 1e8 + 2e5 * scene->body_count);
    fprintf(xml, "<size memory='%.0fM'/>\n", bytes / 1e6);
}
#else
// its buffer may not exceed 2 GB and holds matrices of njmax^2 and njmax nv: 12 x^2 + 24 nv x bytes
static void write_size(FILE* xml, const PilesScene* scene) {
    double nv = 6.0 * (scene->body_count - scene->joint_count) + 3.0 * scene->joint_count;
    double most = (sqrt(576.0 * nv * nv + 48.0 * 2.1e9) - 24.0 * nv) / 24.0;
    int rows = (int)fmin(36.0 * scene->body_count + 200.0, most);
    fprintf(xml, "<size njmax='%d' nconmax='%d'/>\n", rows, rows / 3);
}
#endif

static void write_scene(FILE* xml, const PilesScene* scene) {
    fprintf(xml, "<mujoco><option timestep='%.17g' gravity='0 0 %.17g' solver='CG' cone='elliptic'/>\n",
            scene->dt, -scene->gravity);
    write_size(xml, scene);
    fprintf(xml, "<default><geom friction='%.17g 0 0' condim='3'/></default>\n", scene->mu);
    write_hull(xml, scene);
    fprintf(xml, "<worldbody>\n");
    for (int i = 0; i < scene->plane_count; i++) {
        crVec3 n = scene->planes[i].normal, p = cr_scale(scene->planes[i].offset, n);
        crQuat q = piles_upright(n);
        fprintf(xml,
                "<geom type='plane' size='0 0 1' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'/>\n",
                p.x, p.y, p.z, q.w, q.x, q.y, q.z);
    }
    for (int i = 0; i < scene->body_count; i++) {
        const PilesJoint* joint = piles_joint_of(scene, i);
        if (joint == NULL || joint->a < 0) write_body(xml, scene, i, cr_pose_identity());
    }
    fprintf(xml, "</worldbody></mujoco>\n");
}

static int add_file(mjVFS* files, const char* text, size_t size) {
#if mjVERSION_HEADER >= 300
    return mj_addBufferVFS(files, "scene.xml", text, (int)size);
#else
    int failed = mj_makeEmptyFileVFS(files, "scene.xml", (int)size);
    if (failed == 0) memcpy(files->filedata[mj_findFileVFS(files, "scene.xml")], text, size);
    return failed;
#endif
}

static mjModel* load(const char* text, size_t size) {
    mjVFS* files = malloc(sizeof *files);
    if (files == NULL) return NULL;
    mj_defaultVFS(files);
    mjModel* model = NULL;
    char error[500] = "";
    if (add_file(files, text, size) == 0) {
        model = mj_loadXML("scene.xml", files, error, (int)sizeof error);
    }
    if (model == NULL) fprintf(stderr, "mujoco: %s\n", error);
    mj_deleteVFS(files);
    free(files);
    return model;
}

static void destroy(void* self) {
    Mujoco* m = self;
    mj_deleteData(m->data);
    mj_deleteModel(m->model);
    free(m->ids);
    free(m);
}

// a free joint's velocities: linear in world axes, angular in the body's
static void set_velocity(Mujoco* m, int i) {
    const PilesBody* body = &m->bodies[i];
    int first = m->model->body_dofadr[m->ids[i]];
    if (body->role != PILES_FREE || m->model->body_dofnum[m->ids[i]] != 6) return;
    crVec3 omega = cr_quat_rotate(cr_quat_conj(body->pose.q), body->omega);
    const mjtNum v[] = {body->v.x, body->v.y, body->v.z, omega.x, omega.y, omega.z};
    memcpy(m->data->qvel + first, v, sizeof v);
}

// the step sees warnings in the data; nothing is printed or written to a log
static void no_message(const char* text) { (void)text; }

static void* create(const PilesEngine* engine, const PilesScene* scene, int threads) {
    (void)engine;
    (void)threads;
    mju_user_warning = no_message;
    Mujoco* m = calloc(1, sizeof *m);
    char* text = NULL;
    size_t size = 0;
    FILE* xml = open_memstream(&text, &size);
    if (m == NULL || xml == NULL) {
        free(m);
        return NULL;
    }
    write_scene(xml, scene);
    fclose(xml);
    m->count = scene->body_count;
    m->bodies = scene->bodies;
    m->ids = calloc((size_t)m->count, sizeof *m->ids);
    m->model = load(text, size);
    free(text);
    if (m->model != NULL) m->data = mj_makeData(m->model);
    if (m->data == NULL || m->ids == NULL) {
        destroy(m);
        return NULL;
    }
    for (int i = 0; i < m->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        m->ids[i] = mj_name2id(m->model, mjOBJ_BODY, name);
        set_velocity(m, i);
    }
    return m;
}

static bool step(void* self) {
    Mujoco* m = self;
    for (int i = 0; i < m->count; i++) {
        if (m->bodies[i].role != PILES_DRIVEN) continue;
        m->data->qvel[m->model->body_dofadr[m->ids[i]]] = cr_norm(m->bodies[i].omega);
    }
    mj_step(m->model, m->data);
    const mjWarningStat* w = m->data->warning;
    return w[mjWARN_CONTACTFULL].number == 0 && w[mjWARN_CNSTRFULL].number == 0 &&
           w[mjWARN_BADQPOS].number == 0 && w[mjWARN_BADQVEL].number == 0 && w[mjWARN_BADQACC].number == 0;
}

static void read_motion(void* self, PilesMotion* motion) {
    Mujoco* m = self;
    mj_kinematics(m->model, m->data);
    mj_comPos(m->model, m->data);
    mj_comVel(m->model, m->data);
    for (int i = 0; i < m->count; i++) {
        int body = m->ids[i];
        const mjtNum* p = m->data->xpos + 3 * body;
        const mjtNum* q = m->data->xquat + 4 * body;
        mjtNum v[6];
        mj_objectVelocity(m->model, m->data, mjOBJ_XBODY, body, v, 0);
        motion[i].pose.p = cr_vec3(p[0], p[1], p[2]);
        motion[i].pose.q = cr_quat_normalize((crQuat){q[0], q[1], q[2], q[3]});
        motion[i].omega = cr_vec3(v[0], v[1], v[2]);
        motion[i].v = cr_vec3(v[3], v[4], v[5]);
    }
}

const PilesEngine piles_mujoco = {"mujoco",
                                  "version " VERSION ", CG solver, elliptic cones",
                                  17,
                                  1U << CR_SHAPE_SPHERE | 1U << CR_SHAPE_CAPSULE | 1U << CR_SHAPE_BOX |
                                      1U << CR_SHAPE_CYLINDER | 1U << CR_SHAPE_ELLIPSOID |
                                      1U << CR_SHAPE_HULL,
                                  1,
                                  0,
                                  create,
                                  step,
                                  read_motion,
                                  NULL,
                                  destroy};
