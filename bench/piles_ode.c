// piles_ode.c - a scene in ODE as it comes: quickstep with 20 iterations, friction as a pyramid whose size
// follows the normal force, at most four points a pair. Bodies never sleep. Its thread pool serves the step.
#include <ode/ode.h>
#include <stdlib.h>

#include "piles.h"

#define POINTS 4

typedef struct Ode {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID* bodies;
    dThreadingImplementationID threading;
    dThreadingThreadPoolID pool;
    int count;
    double mu, e, dt;
    const PilesBody* scene_bodies;
} Ode;

static bool moves(dBodyID body) { return body != NULL && !dBodyIsKinematic(body); }

static void near_pair(void* data, dGeomID a, dGeomID b) {
    Ode* o = data;
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (!moves(body_a) && !moves(body_b)) return;
    if (body_a != NULL && body_b != NULL && dAreConnectedExcluding(body_a, body_b, dJointTypeContact)) return;
    dContactGeom geom[POINTS];
    int n = dCollide(a, b, POINTS, geom, sizeof *geom);
    for (int i = 0; i < n; i++) {
        dContact contact = {.geom = geom[i]};
        contact.surface.mode = dContactApprox1;
        contact.surface.mu = o->mu;
        if (o->e > 0.0) contact.surface.mode |= dContactBounce;
        contact.surface.bounce = o->e;
        dJointAttach(dJointCreateContact(o->world, o->contacts, &contact), body_a, body_b);
    }
}

static dGeomID make_geom(const Ode* o, const crShape* s) {
    crVec3 size = s->size;
    switch (s->kind) {
    case CR_SHAPE_BOX:
        return dCreateBox(o->space, 2.0 * size.x, 2.0 * size.y, 2.0 * size.z);
    case CR_SHAPE_CAPSULE:
        return dCreateCapsule(o->space, size.x, 2.0 * size.z);
    case CR_SHAPE_CYLINDER:
        return dCreateCylinder(o->space, size.x, 2.0 * size.z);
    default:
        return dCreateSphere(o->space, size.x);
    }
}

static void add_body(Ode* o, const PilesBody* body, int i) {
    dGeomID geom = make_geom(o, &body->shape);
    const dQuaternion q = {body->pose.q.w, body->pose.q.x, body->pose.q.y, body->pose.q.z};
    if (body->role == PILES_FIXED) {
        dGeomSetPosition(geom, body->pose.p.x, body->pose.p.y, body->pose.p.z);
        dGeomSetQuaternion(geom, q);
        return;
    }
    dBodyID b = dBodyCreate(o->world);
    dMass mass;
    dMassSetParameters(&mass, body->mass, 0, 0, 0, body->inertia.x, body->inertia.y, body->inertia.z, 0, 0,
                       0);
    dBodySetMass(b, &mass);
    dBodySetPosition(b, body->pose.p.x, body->pose.p.y, body->pose.p.z);
    dBodySetQuaternion(b, q);
    dBodySetLinearVel(b, body->v.x, body->v.y, body->v.z);
    dBodySetAngularVel(b, body->omega.x, body->omega.y, body->omega.z);
    if (body->role == PILES_DRIVEN) dBodySetKinematic(b);
    dGeomSetBody(geom, b);
    o->bodies[i] = b;
}

static void add_joint(Ode* o, const PilesJoint* j) {
    dJointID joint = j->ball ? dJointCreateBall(o->world, 0) : dJointCreateHinge(o->world, 0);
    dJointAttach(joint, o->bodies[j->b], j->a < 0 ? NULL : o->bodies[j->a]);
    if (j->ball) {
        dJointSetBallAnchor(joint, j->point.x, j->point.y, j->point.z);
        return;
    }
    dJointSetHingeAnchor(joint, j->point.x, j->point.y, j->point.z);
    dJointSetHingeAxis(joint, j->axis.x, j->axis.y, j->axis.z);
}

static void use_threads(Ode* o, int threads) {
    o->threading = dThreadingAllocateMultiThreadedImplementation();
    if (o->threading == NULL) return;
    o->pool = dThreadingAllocateThreadPool((unsigned)threads, 0, dAllocateFlagBasicData, NULL);
    dThreadingThreadPoolServeMultiThreadedImplementation(o->pool, o->threading);
    dWorldSetStepThreadingImplementation(o->world, dThreadingImplementationGetFunctions(o->threading),
                                         o->threading);
}

static void* create(const PilesEngine* engine, const PilesScene* scene, int threads) {
    (void)engine;
    Ode* o = calloc(1, sizeof *o);
    if (o == NULL) return NULL;
    // counted inside ODE: closing is left to the end of the process
    dInitODE2(0);
    o->bodies = calloc((size_t)scene->body_count, sizeof(dBodyID));
    if (o->bodies == NULL) {
        free(o);
        return NULL;
    }
    o->count = scene->body_count;
    o->mu = scene->mu;
    o->e = scene->e;
    o->scene_bodies = scene->bodies;
    o->dt = scene->dt;
    o->world = dWorldCreate();
    o->space = dHashSpaceCreate(0);
    o->contacts = dJointGroupCreate(0);
    dWorldSetGravity(o->world, 0, 0, -scene->gravity);
    if (threads > 1) use_threads(o, threads);
    for (int i = 0; i < scene->body_count; i++) {
        add_body(o, &scene->bodies[i], i);
    }
    for (int i = 0; i < scene->plane_count; i++) {
        crVec3 n = scene->planes[i].normal;
        dCreatePlane(o->space, n.x, n.y, n.z, scene->planes[i].offset);
    }
    for (int i = 0; i < scene->joint_count; i++) {
        add_joint(o, &scene->joints[i]);
    }
    return o;
}

static bool step(void* self) {
    Ode* o = self;
    dSpaceCollide(o->space, o, near_pair);
    int fine = dWorldQuickStep(o->world, o->dt);
    dJointGroupEmpty(o->contacts);
    return fine != 0;
}

static void read_motion(void* self, PilesMotion* motion) {
    Ode* o = self;
    for (int i = 0; i < o->count; i++) {
        if (o->bodies[i] == NULL) {
            motion[i] = (PilesMotion){.pose = o->scene_bodies[i].pose};
            continue;
        }
        const dReal* p = dBodyGetPosition(o->bodies[i]);
        const dReal* q = dBodyGetQuaternion(o->bodies[i]);
        const dReal* v = dBodyGetLinearVel(o->bodies[i]);
        const dReal* w = dBodyGetAngularVel(o->bodies[i]);
        motion[i].pose.p = cr_vec3(p[0], p[1], p[2]);
        motion[i].pose.q = cr_quat_normalize((crQuat){q[0], q[1], q[2], q[3]});
        motion[i].v = cr_vec3(v[0], v[1], v[2]);
        motion[i].omega = cr_vec3(w[0], w[1], w[2]);
    }
}

static void destroy(void* self) {
    Ode* o = self;
    dJointGroupDestroy(o->contacts);
    dSpaceDestroy(o->space);
    if (o->threading != NULL) {
        dThreadingImplementationShutdownProcessing(o->threading);
        dThreadingFreeThreadPool(o->pool);
        dWorldSetStepThreadingImplementation(o->world, NULL, NULL);
        dThreadingFreeImplementation(o->threading);
    }
    dWorldDestroy(o->world);
    free(o->bodies);
    free(o);
}

const PilesEngine piles_ode = {
    "ode",
    "Debian's libode, double precision, quickstep with 20 iterations",
    17,
    1U << CR_SHAPE_SPHERE | 1U << CR_SHAPE_CAPSULE | 1U << CR_SHAPE_BOX | 1U << CR_SHAPE_CYLINDER,
    64,
    0,
    create,
    step,
    read_motion,
    NULL,
    destroy};
