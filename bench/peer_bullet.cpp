// peer_bullet.cpp - one pair of shapes through Bullet's dispatcher, with the algorithm it chooses and no
// margin added to what has none. Bullet works in single precision as Debian builds it.
#include "peer_bullet_shape.h"

extern "C" {
#include "peer_bullet.h"
}

// one for all pairs: it holds pools for thousands of them
static btCollisionDispatcher& dispatcher() {
    static btDefaultCollisionConfiguration configuration;
    static btCollisionDispatcher shared(&configuration);
    return shared;
}

struct PeerBullet {
    btCollisionShape* shapes[2] = {nullptr, nullptr};
    btCollisionObject objects[2];
    btCollisionAlgorithm* algorithm = nullptr;
};

static btVector3 vector(crVec3 v) { return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)); }

btCollisionShape* peer_bullet_shape(const crShape* s) {
    const btScalar r = btScalar(s->size.x), h = btScalar(s->size.z);
    switch (s->kind) {
    case CR_SHAPE_SPHERE:
        return new btSphereShape(r);
    case CR_SHAPE_CAPSULE:
        return new btCapsuleShapeZ(r, 2 * h);
    case CR_SHAPE_BOX:
        return new btBoxShape(vector(s->size));
    case CR_SHAPE_CYLINDER:
        return new btCylinderShapeZ(btVector3(r, r, h));
    case CR_SHAPE_CONE:
        return new btConeShapeZ(r, 2 * h);
    case CR_SHAPE_HULL: {
        int count = 0;
        const crVec3* p = cr_hull_vertices(s->data.hull, &count);
        btConvexHullShape* hull = new btConvexHullShape();
        for (int i = 0; i < count; i++)
            hull->addPoint(vector(p[i]), i + 1 == count);
        hull->initializePolyhedralFeatures();
        return hull;
    }
    default:
        return nullptr;
    }
}

static btTransform transform(crPose pose) {
    return btTransform(
        btQuaternion(btScalar(pose.q.x), btScalar(pose.q.y), btScalar(pose.q.z), btScalar(pose.q.w)),
        vector(pose.p));
}

PeerBullet* peer_bullet_create(const crShape* a, crPose pa, const crShape* b, crPose pb) {
    PeerBullet* pair = new PeerBullet;
    pair->shapes[0] = peer_bullet_shape(a);
    pair->shapes[1] = peer_bullet_shape(b);
    if (pair->shapes[0] == nullptr || pair->shapes[1] == nullptr) {
        peer_bullet_destroy(pair);
        return nullptr;
    }
    for (int i = 0; i < 2; i++) {
        pair->objects[i].setCollisionShape(pair->shapes[i]);
        pair->objects[i].setWorldTransform(transform(i == 0 ? pa : pb));
    }
    btCollisionObjectWrapper wa(nullptr, pair->shapes[0], &pair->objects[0],
                                pair->objects[0].getWorldTransform(), -1, -1);
    btCollisionObjectWrapper wb(nullptr, pair->shapes[1], &pair->objects[1],
                                pair->objects[1].getWorldTransform(), -1, -1);
    pair->algorithm = dispatcher().findAlgorithm(&wa, &wb, nullptr, BT_CONTACT_POINT_ALGORITHMS);
    return pair;
}

void peer_bullet_destroy(PeerBullet* pair) {
    if (pair == nullptr) return;
    if (pair->algorithm != nullptr) {
        pair->algorithm->~btCollisionAlgorithm();
        dispatcher().freeCollisionAlgorithm(pair->algorithm);
    }
    delete pair->shapes[0];
    delete pair->shapes[1];
    delete pair;
}

double peer_bullet_run(PeerBullet* pair) {
    btCollisionObjectWrapper wa(nullptr, pair->shapes[0], &pair->objects[0],
                                pair->objects[0].getWorldTransform(), -1, -1);
    btCollisionObjectWrapper wb(nullptr, pair->shapes[1], &pair->objects[1],
                                pair->objects[1].getWorldTransform(), -1, -1);
    btManifoldResult result(&wa, &wb);
    btDispatcherInfo info;
    pair->algorithm->processCollision(&wa, &wb, info, &result);
    double least = 0;
    btManifoldArray manifolds;
    pair->algorithm->getAllContactManifolds(manifolds);
    for (int m = 0; m < manifolds.size(); m++) {
        for (int i = 0; i < manifolds[m]->getNumContacts(); i++)
            least = btMin(least, double(manifolds[m]->getContactPoint(i).getDistance()));
        // from scratch each time, as the others are
        manifolds[m]->clearManifold();
    }
    return least;
}
