// kinematics.c - q and t to poses, the velocity field of every joint axis, and what driven bodies prescribe;
// v to the velocity field of every body.
//
// A body's pose is its parent's, times `pose`, times the joint's motion (joint.c). The fields of joint axes are about
// the tree's reference point. Free bodies have it at their centre of mass, so that their linear and angular velocities
// do not mix. Fails: nothing; memory is the arena's.
#include <string.h>

#include "model/deep.h"
#include "model/joint.h"
#include "model/single.h"

// what crDynamics.known holds of a body's pose
enum { POSE_NONE, POSE_NEW, POSE_SAME };

static bool take(crArena* arena, void* at, int count, size_t size) {
    void* memory = cr_arena_alloc(arena, (size_t)count * size);
    if (memory == NULL) return false;
    memset(memory, 0, (size_t)count * size);
    memcpy(at, &memory, sizeof memory);
    return true;
}

// the world's, whatever the pose: the reference point is the centre of mass
static void free_axes(crTwist* axis) {
    for (int j = 0; j < 3; j++) {
        crVec3 unit = cr_vec3(j == 0, j == 1, j == 2);
        axis[j].v = axis[3 + j].omega = unit;
    }
}

// bodies and velocities up to the last body that is not single, and entries of M up to theirs: the rest needs no recursion
static int tree_bodies(const crModel* model, int* velocities, int* entries) {
    int bodies = 1;
    *velocities = 0;
    *entries = 1;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (body->single) continue;
        bodies = i + 1;
        *velocities = body->v + body->nv;
        for (int j = body->v; j < body->v + body->nv; j++) {
            if (model->velocity.row[j] >= 0) *entries = model->velocity.row[j] + model->velocity.depth[j] + 1;
        }
    }
    return bodies;
}

static bool has_deep(const crModel* model) {
    for (int i = 1; i < model->nb; i++) {
        if (model->bodies[i].deep) return true;
    }
    return false;
}

static void fill_paths(const crModel* model, const crBody* body, int* path) {
    for (int i = body->v; i < body->v + body->nv && model->velocity.row[i] >= 0; i++) {
        for (int j = i; j >= 0; j = model->velocity.parent[j]) {
            path[model->velocity.row[i] + model->velocity.depth[j]] = j;
        }
    }
}

crStatus cr_dynamics_create(const crModel* model, crArena* arena, crDynamics* d) {
    if (model == NULL || arena == NULL || d == NULL) return CR_ERR_ARGUMENT;
    *d = (crDynamics){0};
    int nb = model->nb, nv = model->nv, tree_nv, nM, trees = tree_bodies(model, &tree_nv, &nM);
    crDynamics made = {.nb = nb, .tree_nb = trees, .tree_nv = tree_nv};
    bool ok =
        take(arena, &made.pose, nb, sizeof(crPose)) && take(arena, &made.com, nb, sizeof(crVec3)) &&
        take(arena, &made.inertia, nb, sizeof(crSym3)) && take(arena, &made.origin, nb, sizeof(crVec3)) &&
        take(arena, &made.axis, tree_nv + 6, sizeof(crTwist)) &&
        take(arena, &made.given, trees, sizeof(crTwist)) &&
        take(arena, &made.driven, trees, sizeof(crDriven)) && take(arena, &made.mass.M, nM, sizeof(double)) &&
        take(arena, &made.mass.L, nM, sizeof(double)) && take(arena, &made.inverse, nb, sizeof(crSym3)) &&
        take(arena, &made.root, nb, sizeof(crMat3)) && take(arena, &made.twist, nb, sizeof(crTwist)) &&
        take(arena, &made.scratch.rate, trees, sizeof(crTwist)) &&
        take(arena, &made.scratch.wrench, trees, sizeof(crTwist)) &&
        take(arena, &made.scratch.load, trees, sizeof(crTwist)) &&
        take(arena, &made.scratch.composite, trees, sizeof(crInertia)) &&
        take(arena, &made.scratch.v, nv, sizeof(double)) &&
        take(arena, &made.mass.pivot, tree_nv, sizeof(double)) &&
        take(arena, &made.mass.path, nM, sizeof(int)) && take(arena, &made.known, nb, 1) &&
        take(arena, &made.q, model->nq, sizeof(double)) &&
        take(arena, &made.actuation, model->nu, sizeof(crActuation)) &&
        take(arena, &made.limit, model->nu > 0 ? nv : 0, sizeof(double));
    if (ok && has_deep(model)) {
        ok = cr__deep_create(arena, trees, &made.deep.articulated) &&
             take(arena, &made.deep.gain, nv, sizeof(crTwist)) &&
             take(arena, &made.deep.weight, nv, sizeof(double)) &&
             take(arena, &made.deep.carry, trees, sizeof(crTwist)) &&
             take(arena, &made.deep.momentum, trees, sizeof(crTwist));
    }
    if (!ok) return CR_ERR_MEMORY;
    for (int i = 0; i < nv && model->nu > 0; i++) {
        made.limit[i] = (double)NAN;
    }
    made.pose[0] = cr_pose_identity();
    free_axes(made.axis + tree_nv);
    for (int i = 1; i < trees; i++) {
        if (model->bodies[i].joint == CR_JOINT_FREE) free_axes(made.axis + model->bodies[i].v);
        if (!model->bodies[i].single) fill_paths(model, &model->bodies[i], made.mass.path);
    }
    *d = made;
    return CR_OK;
}

static crPose body_pose(const crBody* body, const crPose* parent, const double* q, crDriven* driven) {
    if (body->joint == CR_JOINT_FREE) {
        return (crPose){cr__load_vec(q), cr_quat_normalize(cr__load_quat(q + 3))};
    }
    if (body->joint == CR_JOINT_DRIVEN) {
        driven->pose.q = cr_quat_normalize(driven->pose.q);
        return driven->pose;
    }
    if (body->nv == 0) return cr__pose_mul(*parent, body->pose);
    return cr__pose_mul(cr_pose_mul(*parent, body->pose), cr__joint(body)->pose(body, q));
}

// whether a body is where the last call left it: its carrier is, and its q; what that call computed holds
static bool stands(const crBody* body, int i, const double* q, crDynamics* d) {
    bool same = d->known[i] != POSE_NONE && body->joint != CR_JOINT_DRIVEN &&
                (body->parent == CR_WORLD || d->known[body->parent] == POSE_SAME);
    for (int j = 0; j < body->nq && same; j++) {
        same = memcmp(d->q + body->q + j, q + j, sizeof *q) == 0;
    }
    d->known[i] = same ? POSE_SAME : POSE_NEW;
    return same;
}

void cr__part_kinematics(const crModel* model, crPart part, const crState* state, crDynamics* d) {
    d->time = state->time;
    for (int k = 0; k < part.count; k++) {
        int i = cr__part_body(part, k);
        const crBody* body = &model->bodies[i];
        const crPose* parent = &d->pose[body->parent];
        if (body->single) {
            cr__single_kinematics(body, i, state->q + body->q, d);
            continue;
        }
        if (stands(body, i, state->q + body->q, d)) continue;
        if (body->joint == CR_JOINT_DRIVEN) {
            d->driven[i] = (crDriven){.pose = body->pose};
            body->drive(body->drive_ctx, state->time, &d->driven[i]);
        }
        for (int j = body->q; j < body->q + body->nq; j++) {
            d->q[j] = state->q[j];
        }
        d->pose[i] = body_pose(body, parent, state->q + body->q, &d->driven[i]);
        d->com[i] = cr_pose_point(d->pose[i], body->com);
        if (body->mass > 0.0) d->inertia[i] = cr__sym3_rotate(d->pose[i].q, body->inertia);
        crVec3 own = body->joint == CR_JOINT_FREE ? d->com[i] : d->pose[i].p;
        d->origin[i] = body->root == i ? own : d->origin[body->root];
        if (body->nv > 0)
            cr__joint(body)->axes(body, &d->pose[i], parent->q, d->origin[i], d->axis + body->v);
        const crDriven* base = &d->driven[body->base];
        crVec3 arm = cr_sub(d->origin[i], d->pose[body->base].p);
        d->given[i] = cr__twist(base->omega, cr_add(base->velocity, cr_cross(base->omega, arm)));
    }
}

void cr_model_kinematics(const crModel* model, const crState* state, crDynamics* d) {
    if (!cr__dynamics_fits(model, d) || !cr__state_fits(model, state)) return;
    cr__part_kinematics(model, cr__all(model), state, d);
}

void cr__part_velocity(const crModel* model, crPart part, const double* v, crDynamics* d) {
    for (int k = 0; k < part.count; k++) {
        int i = cr__part_body(part, k);
        const crBody* body = &model->bodies[i];
        if (body->single) {
            d->twist[i] = cr__single_twist(v + body->v);
            continue;
        }
        crTwist twist = cr__moves(model, body->parent) ? d->twist[body->parent] : d->given[i];
        for (int j = body->v; j < body->v + body->nv; j++) {
            twist = cr__twist_madd(twist, v[j], d->axis[j]);
        }
        d->twist[i] = twist;
    }
}

void cr_model_velocity(const crModel* model, const double* v, crDynamics* d) {
    if (!cr__dynamics_fits(model, d) || (model->nv > 0 && v == NULL)) return;
    cr__part_velocity(model, cr__all(model), v, d);
}

crVec3 cr_model_point_velocity(const crDynamics* d, int body, crVec3 point) {
    if (d == NULL || body < 0 || body >= d->nb) return (crVec3){0};
    return cr__point_velocity(d, body, point);
}
