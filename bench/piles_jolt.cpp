// piles_jolt.cpp - a scene in Jolt as it comes: 10 velocity and 2 position iterations, one collision step an update,
// slop and speculative distance of 0.02 m, single precision. Bodies never sleep. Convex radius: 0.05 m, or half of a
// box's or cylinder's smallest half edge where that is less.
#include <Jolt/Jolt.h>

#include <Jolt/Core/Factory.h>
#include <Jolt/Core/JobSystemSingleThreaded.h>
#include <Jolt/Core/JobSystemThreadPool.h>
#include <Jolt/Core/TempAllocator.h>
#include <Jolt/Physics/Body/BodyCreationSettings.h>
#include <Jolt/Physics/Collision/GroupFilterTable.h>
#include <Jolt/Physics/Collision/Shape/BoxShape.h>
#include <Jolt/Physics/Collision/Shape/CapsuleShape.h>
#include <Jolt/Physics/Collision/Shape/ConvexHullShape.h>
#include <Jolt/Physics/Collision/Shape/CylinderShape.h>
#include <Jolt/Physics/Collision/Shape/PlaneShape.h>
#include <Jolt/Physics/Collision/Shape/RotatedTranslatedShape.h>
#include <Jolt/Physics/Collision/Shape/SphereShape.h>
#include <Jolt/Physics/Constraints/HingeConstraint.h>
#include <Jolt/Physics/Constraints/PointConstraint.h>
#include <Jolt/Physics/PhysicsSystem.h>
#include <Jolt/RegisterTypes.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "piles.h"

namespace {

using namespace JPH;

enum : ObjectLayer { STILL, MOVING };

struct BroadLayers final : BroadPhaseLayerInterface {
    uint GetNumBroadPhaseLayers() const override { return 2; }
    BroadPhaseLayer GetBroadPhaseLayer(ObjectLayer layer) const override {
        return BroadPhaseLayer(BroadPhaseLayer::Type(layer));
    }
#if defined(JPH_EXTERNAL_PROFILE) || defined(JPH_PROFILE_ENABLED)
    const char* GetBroadPhaseLayerName(BroadPhaseLayer) const override { return ""; }
#endif
};

struct LayerPairs final : ObjectLayerPairFilter {
    bool ShouldCollide(ObjectLayer a, ObjectLayer b) const override { return a == MOVING || b == MOVING; }
};

struct LayerAndBroad final : ObjectVsBroadPhaseLayerFilter {
    bool ShouldCollide(ObjectLayer a, BroadPhaseLayer b) const override {
        return a == MOVING || b == BroadPhaseLayer(MOVING);
    }
};

struct World {
    BroadLayers broad_layers;
    LayerPairs layer_pairs;
    LayerAndBroad layer_and_broad;
    TempAllocatorImplWithMallocFallback scratch;
    std::unique_ptr<JobSystem> jobs;
    PhysicsSystem system;
    std::vector<Body*> bodies;
    float dt;

    explicit World(uint bytes) : scratch(bytes) {}
};

Vec3 vector(crVec3 v) { return Vec3(float(v.x), float(v.y), float(v.z)); }
Quat rotation(crQuat q) { return Quat(float(q.x), float(q.y), float(q.z), float(q.w)).Normalized(); }
crVec3 vector(Vec3 v) { return cr_vec3(v.GetX(), v.GetY(), v.GetZ()); }

Ref<Shape> make_hull(const crHull* hull) {
    int count = 0;
    const crVec3* vertices = cr_hull_vertices(hull, &count);
    Array<Vec3> points;
    for (int i = 0; i < count; i++)
        points.push_back(vector(vertices[i]));
    return ConvexHullShapeSettings(points).Create().Get();
}

float convex_radius(double half) { return std::min(cDefaultConvexRadius, float(0.5 * half)); }

// capsules and cylinders of Jolt lie along y
Ref<Shape> make_shape(const crShape* s) {
    crVec3 size = s->size;
    crPose pose = s->pose;
    Ref<Shape> shape;
    if (s->kind == CR_SHAPE_SPHERE) {
        shape = new SphereShape(float(size.x));
    } else if (s->kind == CR_SHAPE_BOX) {
        shape = new BoxShape(vector(size), convex_radius(std::min({size.x, size.y, size.z})));
    } else if (s->kind == CR_SHAPE_HULL) {
        shape = make_hull(s->data.hull);
    } else {
        if (s->kind == CR_SHAPE_CAPSULE)
            shape = new CapsuleShape(float(size.z), float(size.x));
        else
            shape = new CylinderShape(float(size.z), float(size.x), convex_radius(std::min(size.x, size.z)));
        pose.q = cr_quat_mul(pose.q, cr_quat_axis_angle(cr_vec3(1, 0, 0), 0.5 * CR_PI));
    }
    if (cr_norm(pose.p) == 0.0 && pose.q.w == 1.0) return shape;
    return new RotatedTranslatedShape(vector(pose.p), rotation(pose.q), shape);
}

void add(World* w, const PilesScene* scene, BodyCreationSettings settings) {
    settings.mFriction = float(scene->mu);
    settings.mRestitution = float(scene->e);
    settings.mLinearDamping = settings.mAngularDamping = 0.0f;
    settings.mAllowSleeping = false;
    BodyInterface& bodies = w->system.GetBodyInterfaceNoLock();
    Body* body = bodies.CreateBody(settings);
    bodies.AddBody(body->GetID(), settings.mMotionType == EMotionType::Static ? EActivation::DontActivate
                                                                              : EActivation::Activate);
    w->bodies.push_back(body);
}

void add_body(World* w, const PilesScene* scene, int i, GroupFilterTable* filter) {
    static const EMotionType types[] = {EMotionType::Dynamic, EMotionType::Static, EMotionType::Kinematic};
    const PilesBody* body = &scene->bodies[i];
    BodyCreationSettings settings(make_shape(&body->shape), RVec3(vector(body->pose.p)),
                                  rotation(body->pose.q), types[body->role],
                                  body->role == PILES_FIXED ? STILL : MOVING);
    if (body->role != PILES_FIXED) {
        settings.mLinearVelocity = vector(body->v);
        settings.mAngularVelocity = vector(body->omega);
        settings.mOverrideMassProperties = EOverrideMassProperties::MassAndInertiaProvided;
        settings.mMassPropertiesOverride.mMass = float(body->mass);
        settings.mMassPropertiesOverride.mInertia = Mat44::sScale(vector(body->inertia));
    }
    if (filter != nullptr)
        settings.mCollisionGroup = CollisionGroup(filter, 0, CollisionGroup::SubGroupID(i));
    add(w, scene, settings);
}

void add_joint(World* w, const PilesJoint* joint, GroupFilterTable* filter) {
    Body& a = joint->a >= 0 ? *w->bodies[size_t(joint->a)] : Body::sFixedToWorld;
    Body& b = *w->bodies[size_t(joint->b)];
    if (joint->a >= 0)
        filter->DisableCollision(CollisionGroup::SubGroupID(joint->a), CollisionGroup::SubGroupID(joint->b));
    RVec3 point(vector(joint->point));
    if (joint->ball) {
        PointConstraintSettings settings;
        settings.mPoint1 = settings.mPoint2 = point;
        w->system.AddConstraint(settings.Create(a, b));
    } else {
        HingeConstraintSettings settings;
        settings.mPoint1 = settings.mPoint2 = point;
        settings.mHingeAxis1 = settings.mHingeAxis2 = vector(joint->axis);
        settings.mNormalAxis1 = settings.mNormalAxis2 = vector(joint->axis).GetNormalizedPerpendicular();
        w->system.AddConstraint(settings.Create(a, b));
    }
}

void start_library() {
    if (Factory::sInstance != nullptr) return;
    RegisterDefaultAllocator();
    Factory::sInstance = new Factory();
    RegisterTypes();
}

void* create(const PilesEngine*, const PilesScene* scene, int threads) {
    start_library();
    uint n = uint(scene->body_count);
    World* w = new World(n > 1 ? 64U << 20 : 1U << 16);
    if (threads > 1)
        w->jobs.reset(new JobSystemThreadPool(cMaxPhysicsJobs, cMaxPhysicsBarriers, threads - 1));
    else
        w->jobs.reset(new JobSystemSingleThreaded(cMaxPhysicsJobs));
    w->dt = float(scene->dt);
    w->system.Init(n + 16, 0, 32 * n + 64, 16 * n + 64, w->broad_layers, w->layer_and_broad, w->layer_pairs);
    w->system.SetGravity(Vec3(0.0f, 0.0f, float(-scene->gravity)));
    Ref<GroupFilterTable> filter = scene->joint_count > 0 ? new GroupFilterTable(n) : nullptr;
    for (int i = 0; i < scene->body_count; i++)
        add_body(w, scene, i, filter);
    for (int i = 0; i < scene->plane_count; i++) {
        Ref<Shape> plane =
            new PlaneShape(Plane(vector(scene->planes[i].normal), float(-scene->planes[i].offset)));
        add(w, scene,
            BodyCreationSettings(plane, RVec3::sZero(), Quat::sIdentity(), EMotionType::Static, STILL));
    }
    for (int i = 0; i < scene->joint_count; i++)
        add_joint(w, &scene->joints[i], filter);
    w->bodies.resize(n);
    w->system.OptimizeBroadPhase();
    return w;
}

bool step(void* self) {
    World* w = static_cast<World*>(self);
    return w->system.Update(w->dt, 1, &w->scratch, w->jobs.get()) == EPhysicsUpdateError::None;
}

void read_motion(void* self, PilesMotion* motion) {
    World* w = static_cast<World*>(self);
    for (size_t i = 0; i < w->bodies.size(); i++) {
        const Body* body = w->bodies[i];
        Quat q = body->GetRotation();
        motion[i].pose.p = vector(Vec3(body->GetCenterOfMassPosition()));
        motion[i].pose.q = cr_quat_normalize(crQuat{q.GetW(), q.GetX(), q.GetY(), q.GetZ()});
        motion[i].v = vector(body->GetLinearVelocity());
        motion[i].omega = vector(body->GetAngularVelocity());
    }
}

void destroy(void* self) { delete static_cast<World*>(self); }

}  // namespace

extern "C" const PilesEngine piles_jolt = {
    "jolt",
    "the checkout named, single precision, 10 velocity and 2 position iterations",
    9,
    1U << CR_SHAPE_SPHERE | 1U << CR_SHAPE_CAPSULE | 1U << CR_SHAPE_BOX | 1U << CR_SHAPE_CYLINDER |
        1U << CR_SHAPE_HULL,
    64,
    0,
    create,
    step,
    read_motion,
    nullptr,
    destroy};
