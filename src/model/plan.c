// plan.c - what a model determines before anything moves: sizes, planes, free falls, lists by body.
//
// A body moves in a plane if it stands on nothing but planar joints and parallel hinges. The acceleration by gravity
// of bodies that fly on their own (free, planar about their centre, slider) is constant, so that their flight is exact.
// Fails: CR_ERR_MEMORY.
#include "model/plan.h"

#include <string.h>

#include "base/room.h"
#include "model/pull.h"

#define MODERATE 1e40

static bool make_plan(const crModel* model, const crDynamics* d, crArena* arena, crPlan* plan) {
    int nb = model->nb;
    *plan = (crPlan){.model = model};
    return CR_ROOMS(arena, CR_ZERO(plan->size, nb), CR_ZERO(plan->thin, nb), CR_ZERO(plan->plane, d->tree_nb),
                    CR_ZERO(plan->fall, model->nv), CR_ZERO(plan->shape.first, nb + 1),
                    CR_ZERO(plan->shape.list, model->shape_count),
                    CR_ZERO(plan->shape.body, model->shape_count), CR_ZERO(plan->tie.first, nb + 1),
                    CR_ZERO(plan->tie.list, 2 * model->loop_count), CR_ZERO(plan->given, nb));
}

// counts of each to where each begins; filling from the back then keeps the order
static void to_ends(int* first, int count) {
    for (int i = 0, sum = 0; i <= count; i++) {
        sum += i < count ? first[i] : 0;
        first[i] = sum;
    }
}

static void list_shapes(crPlan* plan) {
    const crModel* model = plan->model;
    int* first = plan->shape.first;
    for (int s = 0; s < model->shape_count; s++) {
        plan->shape.body[s] = model->shapes[s].body;
        first[plan->shape.body[s]]++;
    }
    to_ends(first, model->nb);
    for (int s = model->shape_count - 1; s >= 0; s--) {
        plan->shape.list[--first[plan->shape.body[s]]] = s;
    }
}

static void list_ties(crPlan* plan) {
    const crModel* model = plan->model;
    int *first = plan->tie.first, rows, entries;
    for (int i = 0; i < model->loop_count; i++) {
        first[model->loops[i].a]++;
        first[model->loops[i].b]++;
    }
    to_ends(first, model->nb);
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        plan->tie.list[--first[loop->a]] = i;
        plan->tie.list[--first[loop->b]] = i;
    }
    cr_model_loop_sizes(model, &plan->tie.rows, &plan->tie.entries);
    cr_model_joint_sizes(model, &rows, &entries);
    plan->tie.rows += rows;
    plan->tie.entries += entries;
}

// half of the least thickness; a surface without thickness is passed by what is thick
static double half_thickness(const crShape* shape) {
    crShape own = *shape;
    own.pose = (crPose){{0, 0, 0}, {1, 0, 0, 0}};
    crBounds box = cr_shape_bounds(&own, own.pose);
    crVec3 half = cr_scale(0.5, cr_sub(box.hi, box.lo));
    double least = fmin(half.x, fmin(half.y, half.z));
    return least > 0.0 ? least : (double)INFINITY;
}

static void find_sizes(crPlan* plan) {
    const crModel* model = plan->model;
    for (int b = 0; b < model->nb; b++) {
        plan->thin[b] = (double)INFINITY;
    }
    for (int s = 0; s < model->shape_count; s++) {
        const crBodyShape* shape = &model->shapes[s];
        int b = shape->body;
        plan->thin[b] = fmin(plan->thin[b], half_thickness(&shape->shape));
        if (!cr__moves(model, b)) continue;
        plan->size[b] = fmax(plan->size[b], cr_shape_reach(&shape->shape, model->bodies[b].com));
    }
}

static bool parallel(crVec3 a, crVec3 b) { return cr_norm(cr_cross(a, b)) <= 1e-12; }

static void find_planes(crPlan* plan, const crDynamics* d) {
    const crModel* model = plan->model;
    for (int i = 1; i < plan->first_single; i++) {
        const crBody* body = &model->bodies[i];
        if (body->last < 0 || body->base != CR_WORLD) continue;
        crVec3 above = plan->plane[body->parent];
        bool root = !cr__moves(model, body->parent);
        crVec3 axis = cr_vec3(0, 0, 0);
        if (body->joint == CR_JOINT_PLANAR) axis = cr__dof_axis(d, body->v + 2).omega;
        if (body->joint == CR_JOINT_HINGE) axis = cr__dof_axis(d, body->v).omega;
        if (body->joint == CR_JOINT_FIXED) axis = above;
        if (root || (cr_norm(above) > 0.0 && cr_norm(axis) > 0.0 && parallel(axis, above))) {
            plan->plane[i] = axis;
            plan->planes = plan->planes || cr_norm(axis) > 0.0;
        }
    }
}

static bool flies(const crPlan* plan, int i) {
    const crModel* model = plan->model;
    const crBody* body = &model->bodies[i];
    if (body->single) return true;
    if (plan->loaded) return false;
    bool centred = body->com.x == 0.0 && body->com.y == 0.0;
    bool joint = body->joint == CR_JOINT_SLIDER || (body->joint == CR_JOINT_PLANAR && centred);
    if (!joint || body->base != CR_WORLD || cr__moves(model, body->parent)) return false;
    for (int j = i + 1; j < model->nb; j++) {
        if (model->bodies[j].parent == i) return false;
    }
    for (int j = body->v; j < body->v + body->nv; j++) {
        const crDof* dof = cr_model_dof(model, j);
        if (model->velocity.actuator[j] >= 0 || dof->stiffness > 0.0 || dof->friction > 0.0 ||
            dof->motor_force > 0.0 || dof->armature > 0.0)
            return false;
    }
    return true;
}

static void find_falls(crPlan* plan, const crDynamics* d) {
    const crModel* model = plan->model;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        bool looped = plan->tie.first[i] < plan->tie.first[i + 1];
        if (body->last < 0 || looped || !flies(plan, i)) continue;
        crVec3 g = cr_scale(body->gravity_scale, model->gravity);
        int linear = body->nv < 2 ? body->nv : body->nv - (body->joint == CR_JOINT_FREE ? 3 : 1);
        for (int j = body->v; j < body->v + linear; j++) {
            plan->fall[j] = cr_dot(cr__dof_axis(d, j).v, g);
        }
    }
}

static void compare_falls(crPlan* plan) {
    bool any = false;
    plan->falls_alike = true;
    for (int i = plan->first_single; i < plan->model->nb; i++) {
        crVec3 fall = cr__load_vec(plan->fall + plan->model->bodies[i].v);
        if (!any) plan->falls = fall;
        any = true;
        if (memcmp(&fall, &plan->falls, sizeof fall) != 0) plan->falls_alike = false;
    }
}

static bool meets_all(const crModel* model) {
    uint64_t masks = ~UINT64_C(0), common = ~UINT64_C(0);
    for (int s = 0; s < model->shape_count; s++) {
        common &= model->shapes[s].group;
        masks &= model->shapes[s].mask;
    }
    bool all = (common & masks) != 0 || model->shape_count == 0;
    for (int b = 1; b < model->nb; b++) {
        all = all && model->bodies[b].parent == CR_WORLD;
    }
    return all && model->exclusion_count == 0 && model->loop_count == 0;
}

static double mass_root(const crModel* model) {
    double most = 0.0, root = 1.0;
    for (int b = 1; b < model->nb; b++) {
        if (cr__moves(model, b)) most = fmax(most, model->bodies[b].mass);
    }
    while (root * root < 0.25 * most && root < 1e100) {
        root *= 2.0;
    }
    while (root * root > 4.0 * most && root > 1e-100) {
        root *= 0.5;
    }
    return root;
}

static bool is_moderate(double x) { return fabs(x) <= MODERATE; }

static bool is_moderate_vec(crVec3 x) { return is_moderate(x.x) && is_moderate(x.y) && is_moderate(x.z); }

static bool moderate_model(const crModel* model) {
    bool all = is_moderate_vec(model->gravity);
    for (int i = 1; i < model->nb; i++) {
        const crBody* b = &model->bodies[i];
        all = all && is_moderate_vec(b->com) && is_moderate_vec(b->pose.p);
        all = all && is_moderate(b->mass) && is_moderate(b->principal[2]) && is_moderate(b->gravity_scale);
    }
    for (int j = 0; j < model->nv; j++) {
        const crDof* d = cr_model_dof(model, j);
        all = all && is_moderate(d->stiffness) && is_moderate(d->rest) && is_moderate(d->armature);
    }
    return all;
}

static bool falls(const crPlan* plan, const crBody* body) {
    for (int j = body->v; j < body->v + body->nv; j++) {
        if (plan->fall[j] != 0.0) return true;
    }
    return false;
}

static bool of_a_tree(const crPlan* plan, int b) {
    const crBody* body = &plan->model->bodies[b];
    return body->last >= 0 && !body->single && body->base == CR_WORLD &&
           !falls(plan, &plan->model->bodies[body->root]);
}

static bool list_trees(crPlan* plan, crArena* arena) {
    const crModel* model = plan->model;
    int nb = plan->first_single;
    if (!CR_ROOMS(arena, CR_ZERO(plan->first_tree, nb + 1), CR_ZERO(plan->tree_bodies, nb + 1))) return false;
    int* first = plan->first_tree;
    for (int b = 1; b < nb; b++) {
        plan->tree_nv += model->bodies[b].nv;
        if (of_a_tree(plan, b)) first[model->bodies[b].root]++;
    }
    to_ends(first, nb);
    for (int b = nb - 1; b > 0; b--) {
        if (of_a_tree(plan, b)) plan->tree_bodies[--first[model->bodies[b].root]] = b;
    }
    return true;
}

static bool is_steady(const crPlan* plan) {
    const crModel* model = plan->model;
    bool steady = !plan->loaded && plan->given_count == 0 && model->na == 0;
    for (int j = 0; j < model->nv; j++) {
        steady = steady && !(cr_model_dof(model, j)->motor_force > 0.0);
    }
    for (int i = 0; i < model->nu; i++) {
        steady = steady && model->actuators[i].schedule == NULL;
    }
    return steady;
}

crStatus cr__plan_create(const crModel* model, const crDynamics* d, crArena* arena, crPlan* plan) {
    if (!make_plan(model, d, arena, plan)) return CR_ERR_MEMORY;
    list_shapes(plan);
    list_ties(plan);
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        // on a driven body, or one itself
        if (!cr__moves(model, b) && body->base != CR_WORLD) plan->given[plan->given_count++] = b;
        if (!body->single) plan->first_single = b + 1;
    }
    find_sizes(plan);
    find_planes(plan, d);
    plan->pulls = cr__model_pulls(model);
    plan->loaded = model->load_count > 0 || plan->pulls;
    plan->steady = is_steady(plan);
    plan->ranged = true;
    for (int i = 0; i < model->loop_count; i++) {
        plan->ranged = plan->ranged && cr_loop_ranges(&model->loops[i]);
    }
    find_falls(plan, d);
    compare_falls(plan);
    plan->meets_all = meets_all(model);
    plan->moderate = moderate_model(model);
    plan->mass_root = mass_root(model);
    return list_trees(plan, arena) ? CR_OK : CR_ERR_MEMORY;
}

crVec3 cr__plan_common_plane(const crPlan* plan, int a, int b) {
    crVec3 none = cr_vec3(0, 0, 0);
    if (!plan->planes) return none;
    bool moves_a = cr__moves(plan->model, a), moves_b = cr__moves(plan->model, b);
    crVec3 na = cr__plan_plane(plan, a), nb = cr__plan_plane(plan, b);
    if (moves_a && moves_b) {
        bool same = cr_norm(na) > 0.0 && cr_norm(nb) > 0.0 && cr_norm(cr_cross(na, nb)) <= 1e-12;
        return same ? na : none;
    }
    return moves_a ? na : nb;
}
