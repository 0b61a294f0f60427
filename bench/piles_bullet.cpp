// piles_bullet.cpp - a scene in Bullet as it comes: sequential impulses, 10 iterations, split impulse, single
// precision and no threads (as Debian builds it). Bodies never sleep. Friction of a pair is a product in
// Bullet, so each body has the root; restitution likewise. Driven bodies are put where they belong before each step.
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <memory>
#include <vector>

#include "peer_bullet_shape.h"
#include "piles.h"

namespace {

btVector3 vector(crVec3 v) { return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)); }
btQuaternion rotation(crQuat q) {
    return btQuaternion(btScalar(q.x), btScalar(q.y), btScalar(q.z), btScalar(q.w));
}
crVec3 vector(const btVector3& v) { return cr_vec3(v.x(), v.y(), v.z()); }

// pools of the size of the scene, so that thousands of small worlds fit into memory
btDefaultCollisionConstructionInfo pools(const PilesScene* scene) {
    btDefaultCollisionConstructionInfo info;
    info.m_defaultMaxPersistentManifoldPoolSize = 16 * scene->body_count;
    info.m_defaultMaxCollisionAlgorithmPoolSize = 16 * scene->body_count;
    return info;
}

struct Bullet {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher;
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;  // the scene's bodies first, then its half-spaces
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
    PilesScene scene;  // its arrays are the caller's
    int count;
    double dt, time = 0.0;

    explicit Bullet(const PilesScene* what)
        : configuration(pools(what)), dispatcher(&configuration),
          world(&dispatcher, &broadphase, &solver, &configuration), scene(*what), count(what->body_count),
          dt(what->dt) {
        world.setGravity(btVector3(0, 0, btScalar(-what->gravity)));
    }
    ~Bullet() {
        for (auto& joint : joints)
            world.removeConstraint(joint.get());
        for (auto& body : bodies)
            world.removeRigidBody(body.get());
    }
};

// a shape whose middle is off the centre of mass becomes a compound of one
btCollisionShape* make_shape(Bullet* b, const crShape* shape) {
    btCollisionShape* s = peer_bullet_shape(shape);
    b->shapes.emplace_back(s);
    if (cr_norm(shape->pose.p) == 0.0) return s;
    btCompoundShape* compound = new btCompoundShape();
    compound->addChildShape(btTransform(rotation(shape->pose.q), vector(shape->pose.p)), s);
    b->shapes.emplace_back(compound);
    return compound;
}

btRigidBody* add(Bullet* b, double mass, btVector3 inertia, btCollisionShape* shape, crPose pose) {
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, inertia);
    info.m_startWorldTransform = btTransform(rotation(pose.q), vector(pose.p));
    info.m_friction = btScalar(std::sqrt(b->scene.mu));
    info.m_restitution = btScalar(std::sqrt(b->scene.e));
    btRigidBody* body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    b->bodies.emplace_back(body);
    return body;
}

void add_body(Bullet* b, const PilesBody* body) {
    bool free = body->role == PILES_FREE;
    btRigidBody* added = add(b, free ? body->mass : 0.0, free ? vector(body->inertia) : btVector3(0, 0, 0),
                             make_shape(b, &body->shape), body->pose);
    if (body->role == PILES_DRIVEN)
        added->setCollisionFlags(added->getCollisionFlags() | btCollisionObject::CF_KINEMATIC_OBJECT);
    if (free) {
        added->setLinearVelocity(vector(body->v));
        added->setAngularVelocity(vector(body->omega));
    }
    b->world.addRigidBody(added);
}

btTypedConstraint* make_hinge(Bullet* b, const PilesJoint* h) {
    crPose child = b->scene.bodies[h->b].pose;
    btVector3 pivot = vector(cr_pose_point_inverse(child, h->point));
    btVector3 axis = vector(cr_quat_rotate(cr_quat_conj(child.q), h->axis));
    if (h->a < 0) return new btHingeConstraint(*b->bodies[size_t(h->b)], pivot, axis);
    crPose parent = b->scene.bodies[h->a].pose;
    return new btHingeConstraint(*b->bodies[size_t(h->b)], *b->bodies[size_t(h->a)], pivot,
                                 vector(cr_pose_point_inverse(parent, h->point)), axis,
                                 vector(cr_quat_rotate(cr_quat_conj(parent.q), h->axis)));
}

btTypedConstraint* make_ball(Bullet* b, const PilesJoint* joint) {
    btVector3 pivot = vector(cr_pose_point_inverse(b->scene.bodies[joint->b].pose, joint->point));
    if (joint->a < 0) return new btPoint2PointConstraint(*b->bodies[size_t(joint->b)], pivot);
    crPose parent = b->scene.bodies[joint->a].pose;
    return new btPoint2PointConstraint(*b->bodies[size_t(joint->b)], *b->bodies[size_t(joint->a)], pivot,
                                       vector(cr_pose_point_inverse(parent, joint->point)));
}

void* create(const PilesEngine*, const PilesScene* scene, int) {
    Bullet* b = new Bullet(scene);
    for (int i = 0; i < scene->body_count; i++) {
        add_body(b, &scene->bodies[i]);
    }
    for (int i = 0; i < scene->plane_count; i++) {
        const PilesPlane* plane = &scene->planes[i];
        btCollisionShape* shape = new btStaticPlaneShape(vector(plane->normal), btScalar(plane->offset));
        b->shapes.emplace_back(shape);
        b->world.addRigidBody(add(b, 0.0, btVector3(0, 0, 0), shape, cr_pose_identity()));
    }
    for (int i = 0; i < scene->joint_count; i++) {
        const PilesJoint* joint = &scene->joints[i];
        b->joints.emplace_back(joint->ball ? make_ball(b, joint) : make_hinge(b, joint));
        b->world.addConstraint(b->joints.back().get(), true);
    }
    return b;
}

bool step(void* self) {
    Bullet* b = static_cast<Bullet*>(self);
    b->time += b->dt;
    for (int i = 0; i < b->count; i++) {
        const PilesBody* body = &b->scene.bodies[i];
        if (body->role != PILES_DRIVEN) continue;
        b->bodies[size_t(i)]->setWorldTransform(
            btTransform(rotation(piles_turned(body, b->time)), vector(body->pose.p)));
    }
    b->world.stepSimulation(btScalar(b->dt), 0);
    return true;
}

void read_motion(void* self, PilesMotion* motion) {
    Bullet* b = static_cast<Bullet*>(self);
    for (int i = 0; i < b->count; i++) {
        const btRigidBody* body = b->bodies[size_t(i)].get();
        btQuaternion q = body->getWorldTransform().getRotation();
        motion[i].pose.p = vector(body->getWorldTransform().getOrigin());
        // single precision leaves it unit to 1e-7; the geometry wants better
        motion[i].pose.q = cr_quat_normalize(crQuat{q.w(), q.x(), q.y(), q.z()});
        motion[i].v = vector(body->getLinearVelocity());
        motion[i].omega = vector(body->getAngularVelocity());
    }
}

void destroy(void* self) { delete static_cast<Bullet*>(self); }

}  // namespace

extern "C" const PilesEngine piles_bullet = {
    "bullet",
    "Debian's libbullet, single precision, 10 iterations, split impulse",
    9,
    1U << CR_SHAPE_SPHERE | 1U << CR_SHAPE_CAPSULE | 1U << CR_SHAPE_BOX | 1U << CR_SHAPE_CYLINDER |
        1U << CR_SHAPE_CONE | 1U << CR_SHAPE_HULL,
    1,
    0,
    create,
    step,
    read_motion,
    nullptr,
    destroy};
