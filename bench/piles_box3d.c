// piles_box3d.c - a scene in Box3D as its own samples run it: 4 sub-steps, contact settings as they come, single
// precision. Half-spaces are large boxes, for it has none. Bodies never sleep. A process can hold 128 of its worlds.
#include <box3d/box3d.h>
#include <box3d/collision.h>
#include <stdlib.h>

#include "piles.h"

#define SUB_STEPS 4
#define WORLDS    100
#define WIDE      200.0F  // half width of what stands for a half-space, m
#define THICK     2.0F

static int worlds;

typedef struct Box3d {
    b3WorldId world;
    b3BodyId* bodies;
    int count;
    float dt;
} Box3d;

static b3Vec3 vector(crVec3 v) { return (b3Vec3){(float)v.x, (float)v.y, (float)v.z}; }
static b3Quat rotation(crQuat q) {
    return b3NormalizeQuat((b3Quat){{(float)q.x, (float)q.y, (float)q.z}, (float)q.w});
}
static b3Pos position(crVec3 v) { return b3ToPos(vector(v)); }

static void add_hull(b3BodyId body, const b3ShapeDef* def, const crShape* shape) {
    b3Vec3 points[B3_MAX_HULL_VERTICES];
    int count = 0;
    const crVec3* vertices = cr_hull_vertices(shape->data.hull, &count);
    for (int i = 0; i < count && i < B3_MAX_HULL_VERTICES; i++) {
        points[i] = vector(cr_pose_point(shape->pose, vertices[i]));
    }
    b3HullData* hull = b3CreateHull(points, count, count);
    b3CreateHullShape(body, def, hull);
    b3DestroyHull(hull);
}

static void add_shape(b3BodyId body, const b3ShapeDef* def, const crShape* shape) {
    crVec3 size = shape->size;
    if (shape->kind == CR_SHAPE_SPHERE) {
        b3Sphere sphere = {vector(shape->pose.p), (float)size.x};
        b3CreateSphereShape(body, def, &sphere);
    } else if (shape->kind == CR_SHAPE_CAPSULE) {
        b3Capsule capsule = {vector(cr_pose_point(shape->pose, cr_vec3(0, 0, -size.z))),
                             vector(cr_pose_point(shape->pose, cr_vec3(0, 0, size.z))), (float)size.x};
        b3CreateCapsuleShape(body, def, &capsule);
    } else if (shape->kind == CR_SHAPE_BOX) {
        b3Transform pose = {vector(shape->pose.p), rotation(shape->pose.q)};
        b3BoxHull box = b3MakeTransformedBoxHull((float)size.x, (float)size.y, (float)size.z, pose);
        b3CreateHullShape(body, def, &box.base);
    } else {
        add_hull(body, def, shape);
    }
}

static b3ShapeDef shape_def(const PilesScene* scene) {
    b3ShapeDef def = b3DefaultShapeDef();
    def.baseMaterial.friction = (float)scene->mu;
    def.baseMaterial.restitution = (float)scene->e;
    return def;
}

static b3BodyId add_body(const Box3d* b, const PilesScene* scene, const PilesBody* body) {
    static const b3BodyType types[] = {b3_dynamicBody, b3_staticBody, b3_kinematicBody};
    b3BodyDef def = b3DefaultBodyDef();
    def.type = types[body->role];
    def.position = position(body->pose.p);
    def.rotation = rotation(body->pose.q);
    def.linearVelocity = vector(body->v);
    def.angularVelocity = vector(body->omega);
    def.enableSleep = false;
    b3BodyId id = b3CreateBody(b->world, &def);
    b3ShapeDef shape = shape_def(scene);
    add_shape(id, &shape, &body->shape);
    if (body->role == PILES_FREE) {
        b3MassData mass = {.mass = (float)body->mass};
        mass.inertia.cx.x = (float)body->inertia.x;
        mass.inertia.cy.y = (float)body->inertia.y;
        mass.inertia.cz.z = (float)body->inertia.z;
        b3Body_SetMassData(id, mass);
    }
    return id;
}

static void add_plane(const Box3d* b, const PilesScene* scene, const PilesPlane* plane) {
    b3BodyDef def = b3DefaultBodyDef();
    def.position = position(cr_scale(plane->offset - THICK, plane->normal));
    def.rotation = rotation(piles_upright(plane->normal));
    b3BodyId id = b3CreateBody(b->world, &def);
    b3ShapeDef shape = shape_def(scene);
    b3BoxHull box = b3MakeBoxHull(WIDE, WIDE, THICK);
    b3CreateHullShape(id, &shape, &box.base);
}

// where the joint is in a body's frame, its axis along z
static b3Transform frame(crPose body, const PilesJoint* joint) {
    crQuat turn = joint->ball ? cr_quat_identity() : piles_upright(joint->axis);
    return (b3Transform){vector(cr_pose_point_inverse(body, joint->point)),
                         rotation(cr_quat_mul(cr_quat_conj(body.q), turn))};
}

static void add_joint(const Box3d* b, const PilesScene* scene, const PilesJoint* joint) {
    b3BodyDef ground = b3DefaultBodyDef();
    b3JointDef base = joint->ball ? b3DefaultSphericalJointDef().base : b3DefaultRevoluteJointDef().base;
    base.bodyIdA = joint->a >= 0 ? b->bodies[joint->a] : b3CreateBody(b->world, &ground);
    base.bodyIdB = b->bodies[joint->b];
    base.localFrameA = frame(joint->a >= 0 ? scene->bodies[joint->a].pose : cr_pose_identity(), joint);
    base.localFrameB = frame(scene->bodies[joint->b].pose, joint);
    base.collideConnected = false;
    if (joint->ball) {
        b3SphericalJointDef def = b3DefaultSphericalJointDef();
        def.base = base;
        b3CreateSphericalJoint(b->world, &def);
    } else {
        b3RevoluteJointDef def = b3DefaultRevoluteJointDef();
        def.base = base;
        b3CreateRevoluteJoint(b->world, &def);
    }
}

static void destroy(void* self) {
    Box3d* b = self;
    if (b3World_IsValid(b->world)) b3DestroyWorld(b->world);
    worlds--;
    free(b->bodies);
    free(b);
}

static void* create(const PilesEngine* engine, const PilesScene* scene, int threads) {
    (void)engine;
    if (worlds == WORLDS) return NULL;
    Box3d* b = calloc(1, sizeof *b);
    b3BodyId* bodies = calloc((size_t)scene->body_count, sizeof *bodies);
    if (b == NULL || bodies == NULL) {
        free(b);
        free(bodies);
        return NULL;
    }
    worlds++;
    b3WorldDef def = b3DefaultWorldDef();
    def.gravity = (b3Vec3){0.0F, 0.0F, (float)-scene->gravity};
    def.enableSleep = false;
    def.workerCount = (uint32_t)threads;
    b->world = b3CreateWorld(&def);
    b->bodies = bodies;
    b->count = scene->body_count;
    b->dt = (float)scene->dt;
    for (int i = 0; i < scene->plane_count; i++) {
        add_plane(b, scene, &scene->planes[i]);
    }
    for (int i = 0; i < scene->body_count; i++) {
        bodies[i] = add_body(b, scene, &scene->bodies[i]);
    }
    for (int i = 0; i < scene->joint_count; i++) {
        add_joint(b, scene, &scene->joints[i]);
    }
    return b;
}

static bool step(void* self) {
    Box3d* b = self;
    b3World_Step(b->world, b->dt, SUB_STEPS);
    return true;
}

static void read_motion(void* self, PilesMotion* motion) {
    Box3d* b = self;
    for (int i = 0; i < b->count; i++) {
        b3Vec3 p = b3ToVec3(b3Body_GetPosition(b->bodies[i]));
        b3Quat q = b3Body_GetRotation(b->bodies[i]);
        b3Vec3 v = b3Body_GetLinearVelocity(b->bodies[i]), w = b3Body_GetAngularVelocity(b->bodies[i]);
        motion[i].pose.p = cr_vec3(p.x, p.y, p.z);
        motion[i].pose.q = cr_quat_normalize((crQuat){q.s, q.v.x, q.v.y, q.v.z});
        motion[i].v = cr_vec3(v.x, v.y, v.z);
        motion[i].omega = cr_vec3(w.x, w.y, w.z);
    }
}

const PilesEngine piles_box3d = {
    "box3d",     "the checkout named, single precision, 4 sub-steps",
    9,           1U << CR_SHAPE_SPHERE | 1U << CR_SHAPE_CAPSULE | 1U << CR_SHAPE_BOX | 1U << CR_SHAPE_HULL,
    32,          0,
    create,      step,
    read_motion, NULL,
    destroy};
