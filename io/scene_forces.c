// scene_forces.c - forces and torques on bodies, and along joints: constants, tables over time, expressions.
//
// Each of force, torque and along is a value over time (scene_value.c). Expressions know t (the
// middle of the step) and, at its beginning, x, y, z and vx, vy, vz of the point where the force acts; along knows
// t and q, v of the joint.
// Fails: a field is refused by path; an expression with the character; bodies that forces do not move.
#include <string.h>

#include "carom/dynamics.h"
#include "io/scene_value.h"

#define MOST_FORCES 20000

typedef struct Force {
    crSceneValue force, torque, along;
} Force;

static const char* const point_names[] = {"t", "x", "y", "z", "vx", "vy", "vz", NULL};
static const char* const joint_names[] = {"t", "q", "v", NULL};

static void load_forces(void* ctx, const crLoadAt* at, crLoadValue* out) {
    const Force* f = ctx;
    crVec3 p = at->point, u = at->velocity;
    double of_point[] = {at->time, p.x, p.y, p.z, u.x, u.y, u.z}, force[3] = {0}, torque[3] = {0};
    if (f->force.given) cr__scene_value(&f->force, of_point, force);
    if (f->torque.given) cr__scene_value(&f->torque, of_point, torque);
    out->force = cr_vec3(force[0], force[1], force[2]);
    out->moment = cr_vec3(torque[0], torque[1], torque[2]);
    if (f->along.given) cr__scene_value(&f->along, (double[]){at->time, at->q[0], at->v[0]}, &out->along);
}

static void check_body(const crPlace* place, const crScene* scene, int index, const Force* force) {
    const crJson* name = cr_place_get(place, "body");
    if (!cr_place_ok(place)) return;
    const crBody* body = &scene->model->bodies[index];
    if (index == CR_WORLD || body->last < 0) {
        cr_place_refuse(place, name, CR_ERR_NAME, "body", "\"%.40s\" does not move by forces: it is %s",
                        index == CR_WORLD ? "world" : body->name,
                        index == CR_WORLD ? "the world" : "fixed or driven");
    } else if (force->along.given && body->nv != 1) {
        cr_place_refuse(place, cr_place_get(place, "along"), CR_ERR_FIELD, "along",
                        "is for a body on a hinge or slider");
    } else if (!force->along.given && !force->force.given && !force->torque.given) {
        cr_place_refuse(place, place->object, CR_ERR_MISSING, "force", "give force, torque or along");
    }
}

static void read_force_forces(const crPlace* place, crScene* scene, const crVec3* anchors) {
    static const char* const fields[] = {"body",  "force", "torque",  "along",
                                         "point", "frame", "comment", NULL};
    static const char* const frames[] = {"world", "body", NULL};
    cr_place_known(place, fields);
    cr_place_need(place, "body", "the name of a body that moves");
    Force* force = cr_arena_alloc(&scene->arena, sizeof *force);
    if (force == NULL) {
        cr__place_memory(place);
        return;
    }
    *force = (Force){0};
    const crJson* name = cr_place_get(place, "body");
    crLoad made = cr_load(name != NULL ? cr__scene_body(place, name, "body", scene) : 0);
    cr__scene_read_value(place, scene, "force", 3, point_names, &force->force);
    cr__scene_read_value(place, scene, "torque", 3, point_names, &force->torque);
    cr__scene_read_value(place, scene, "along", 1, joint_names, &force->along);
    int frame = 0;
    cr_place_choice(place, "frame", frames, &frame);
    made.turns = frame == 1;
    made.central = cr_place_get(place, "point") == NULL;
    cr_place_vector(place, "point", &made.point);
    check_body(place, scene, made.body, force);
    if (!cr_place_ok(place)) return;
    made.point = made.central ? made.point : cr_sub(made.point, anchors[made.body]);
    made.function = load_forces;
    made.ctx = force;
    if (cr_model_add_load(scene->model, &made) < 0) cr_place_blame(place, "body", &scene->model->error);
}

void cr__scene_forces(const crPlace* root, crScene* scene, const crVec3* anchors) {
    const crJson* list = cr_place_list(root, "forces", MOST_FORCES);
    int index = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(root);
         item = item->next) {
        crPlace place = cr_place_item(root, "forces", item, index++);
        if (cr_place_ok(&place)) read_force_forces(&place, scene, anchors);
    }
}
