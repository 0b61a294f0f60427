// plan.h - what the stages of a step want to know of a model beforehand. plan.c writes it once; it stands as long as
// the model.
#ifndef CAROM_MODEL_PLAN_H
#define CAROM_MODEL_PLAN_H

#include "model/spatial.h"

// The shapes of each body: list[first[b]] and on.
typedef struct crPlanShapes {
    int* first;  // (nb + 1)
    int* list;   // (shape_count)
    int* body;   // body of each shape (shape_count)
} crPlanShapes;

// The loops of each body: list[first[b]] and on.
typedef struct crPlanTies {
    int* first;  // (nb + 1)
    int* list;
    int rows, entries;  // room for rows of all loops and joints
} crPlanTies;

typedef struct crPlan {
    const crModel* model;
    double*
        size;  // of each body: farthest point of its shapes from its centre of mass, 0 where v does not move it, m (nb)
    double* thin;   // half of the least thickness of each body's shapes, m (nb)
    crVec3* plane;  // normal of the plane a body moves in, zero where there is none (first_single)
    bool planes;    // some body moves in a plane
    bool pulls;     // forces act along tendons or at sites
    bool loaded;    // they do, or the model has loads
    bool
        steady;  // forces change with q, v and controls alone: no drives, loads, motors, tendons, activations, schedules
    bool ranged;       // all loops are ranges
    bool moderate;     // no number of the model is so large that energies may overflow
    double mass_root;  // root of a power of two near the largest mass that v moves, kg^(1/2)
    double* fall;      // constant acceleration by gravity along each velocity of bodies that fly freely (nv)
    bool falls_alike;  // all single bodies fall by `falls`
    crVec3 falls;
    bool
        meets_all;  // every two shapes of two bodies may meet but for where they are: no filter, exclusion, loop or tree
    crPlanShapes shape;
    crPlanTies tie;
    int* given;  // bodies that v does not move but time does, ascending (given_count)
    int given_count;
    int first_single;  // this body and all after it are single
    int tree_nv;       // velocities of the bodies before it
    int*
        first_tree;  // trees by their roots: tree_bodies[first_tree[b]] and on; none on driven bodies, and none of
                     // those whose flight is known (first_single + 1)
    int* tree_bodies;
} crPlan;

// d: of the model at its reference position. The arena keeps the arrays. CR_ERR_MEMORY.
crStatus cr__plan_create(const crModel* model, const crDynamics* d, crArena* arena, crPlan* plan);

// Normal of the plane that a body moves in, zero where there is none.
static inline crVec3 cr__plan_plane(const crPlan* plan, int b) {
    return b < plan->first_single ? plan->plane[b] : cr_vec3(0, 0, 0);
}
// Normal of the planes that two bodies move in, zero where there is none.
crVec3 cr__plan_common_plane(const crPlan* plan, int body_a, int body_b);
// Length by which tolerances of a contact are scaled: size of the smaller body that moves, m.
static inline double cr__plan_pair_size(const crPlan* plan, int body_a, int body_b) {
    double a = plan->size[body_a], b = plan->size[body_b];
    return (a < b && a > 0.0) || b == 0.0 ? a : b;
}
// Width of a body: the least thickness of its shapes, or its size if that is less (a ball's radius), m; 0 where v does not
// move it. Overlap of bodies in motion is measured by it (CR_MOVED_DEEP).
static inline double cr__plan_width(const crPlan* plan, int b) {
    double thick = 2.0 * plan->thin[b];
    return thick < plan->size[b] ? thick : plan->size[b];
}
// Width of the narrower body of a contact that moves, m.
static inline double cr__plan_pair_width(const crPlan* plan, int body_a, int body_b) {
    double a = cr__plan_width(plan, body_a), b = cr__plan_width(plan, body_b);
    return (a < b && a > 0.0) || b == 0.0 ? a : b;
}
// The tree whose root is b; of other bodies it is empty.
static inline crPart cr__plan_tree(const crPlan* plan, int b) {
    if (b >= plan->first_single) return (crPart){NULL, 0};
    int from = plan->first_tree[b];
    return (crPart){plan->tree_bodies + from, plan->first_tree[b + 1] - from};
}

// Acceleration of a free body in the air along a velocity by gravity and by the applied force, which a step holds. (A force
// that a user writes where nothing else pushes is left out: wrt/ has no derivative of it.)
static inline double cr__plan_fall(const crPlan* plan, const double* force, int j) {
    if (!plan->loaded || force[j] == 0.0) return plan->fall[j];
    const crBody* body = &plan->model->bodies[plan->model->velocity.body[j]];
    return body->single && j < body->v + 3 ? plan->fall[j] + force[j] / body->mass : plan->fall[j];
}

#endif
