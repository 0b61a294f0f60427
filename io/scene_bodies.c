// scene_bodies.c - bodies of a scene and their shapes.
//
// pos and quat place a body in its parent's frame with its joint at rest; a joint may be anchored at
// another point of the body. carom's own body frame is that of the joint, so shapes, centre of mass and
// children move by -anchor. mass alone takes centre and inertia from the shapes, scaled; without mass,
// density does. A body that is repeated stands at every point of a lattice, numbered from 1 behind its name.
// Fails: a field is refused by path; fields that a joint does not have are unknown.
#include <string.h>

#include "carom/dynamics.h"
#include "io/fields.h"
#include "io/names.h"
#include "io/scene_parts.h"

#define MOST_PARTS 1000  // shapes of one body
#define NAME       64

#define COMMON                                                                                        \
    "name", "joint", "parent", "pos", "mass", "inertia", "com", "shapes", "visuals", "gravity_scale", \
        "linear_drag", "angular_drag", "repeat", "comment"
#define ALONG "limits", "stiffness", "rest", "damping", "friction", "motor", "armature", "actuator_range"
static const char* const fixed_fields[] = {COMMON, "quat", NULL};
// of a joint with one velocity, which has its own names for its coordinate and rate
#define ALONG_FIELDS COMMON, ALONG, "quat", "anchor", "axis", "joint_name"
static const char* const planar_fields[] = {COMMON, "angle", "vel", "omega", "joint_name", NULL};
static const char* const ball_fields[] = {COMMON,     "quat",       "anchor",  "omega",
                                          "limits",   "stiffness",  "damping", "friction",
                                          "armature", "joint_name", NULL};
static const char* const free_fields[] = {COMMON, "quat", "vel", "omega", "joint_name", NULL};
static const char* const* const fields_of[CR_JOINT_KINDS] = {[CR_JOINT_FIXED] = fixed_fields,
                                                             [CR_JOINT_PLANAR] = planar_fields,
                                                             [CR_JOINT_BALL] = ball_fields,
                                                             [CR_JOINT_FREE] = free_fields};

static void known_fields(const crPlace* place, crJoint joint) {
    const crJointInfo* info = cr_joint_info(joint);
    const char* const along[] = {ALONG_FIELDS, info->coordinate, info->rate, NULL};
    cr_place_known(place, info->nv == 1 ? along : fields_of[joint]);
}

// copies of a body: count[i] of them along step[i]
typedef struct Lattice {
    int count[3];
    crVec3 step[3];
    int total;
    bool given;
} Lattice;

// a body while it is read
typedef struct Reading {
    crVec3 shift;  // of this copy
    int copy;      // its number, 0 where the body is not repeated
    const crSceneDrives* drives;
    crBodyDef def;
    crVec3 anchor;
    double q[7], v[6];
    int shape_count;
    crShape* shapes;         // (MOST_PARTS)
    int* materials;          // (MOST_PARTS)
    uint64_t (*filters)[2];  // group and mask (MOST_PARTS)
    unsigned* colors;        // (MOST_PARTS)
} Reading;

static Lattice read_lattice(const crPlace* place) {
    static const char* const fields[] = {"count", "step", "comment", NULL};
    Lattice lattice = {.count = {1, 1, 1}, .total = 1};
    const crJson* list = cr_place_list(place, "repeat", 3);
    int index = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(place);
         item = item->next, index++) {
        crPlace along = cr_place_item(place, "repeat", item, index);
        cr_place_known(&along, fields);
        cr_place_need(&along, "count", "how many there are along the step");
        cr_place_need(&along, "step", "the way from one to the next");
        cr_place_whole(&along, "count", 1, CR_SCENE_MAX_BODIES, &lattice.count[index]);
        cr_place_vector(&along, "step", &lattice.step[index]);
        // at most 20000^2 before it is refused
        lattice.total *= lattice.count[index];
        lattice.given = true;
        if (lattice.total > CR_SCENE_MAX_BODIES) {
            cr_place_refuse(place, item, CR_ERR_LIMIT, "repeat", "makes more than %d bodies",
                            CR_SCENE_MAX_BODIES);
        }
    }
    return lattice;
}

// names stand in headers of tables, so they hold nothing that ends a cell
static void read_body_name(const crPlace* place, const crScene* scene, int copy, char given[NAME],
                           crBodyDef* def) {
    const char* name = NULL;
    cr_place_text(place, "name", &name);
    if (name != NULL && copy > 0 && strlen(name) >= NAME - 6) {
        cr_place_refuse(place, cr_place_get(place, "name"), CR_ERR_NAME, "name",
                        "must leave room for the number of a copy: at most %d characters", NAME - 7);
    }
    if (name == NULL) {
        snprintf(given, NAME, "body%d", scene->model->nb);
    } else if (strlen(name) == 0 || strlen(name) >= NAME || strpbrk(name, " ,;\"'\t\r\n.") != NULL ||
               strcmp(name, "world") == 0) {
        cr_place_refuse(place, cr_place_get(place, "name"), CR_ERR_NAME, "name",
                        "must be 1 to %d characters without space , ; . or quotes, and not \"world\"",
                        NAME - 1);
    } else {
        snprintf(given, NAME, copy > 0 ? "%.57s%d" : "%.63s", name, copy);
    }
    if (cr_place_ok(place) && cr_model_find_body(scene->model, given) >= 0) {
        cr_place_refuse(place, cr_place_get(place, "name"), CR_ERR_NAME, "name",
                        "a body is called \"%.40s\" already", given);
    }
    def->name = given;
}

// a name of the joint's own, numbered like that of the body
static void read_joint_name(const crPlace* place, int copy, char given[NAME], crBodyDef* def) {
    const char* name = NULL;
    cr_place_text(place, "joint_name", &name);
    if (name == NULL) return;
    size_t most = copy > 0 ? NAME - 7 : NAME - 1;
    if (strlen(name) == 0 || strlen(name) > most || strpbrk(name, " ,;\"'\t\r\n.") != NULL) {
        cr_place_refuse(place, cr_place_get(place, "joint_name"), CR_ERR_NAME, "joint_name",
                        "must be 1 to %d characters without space , ; . or quotes", (int)most);
        return;
    }
    snprintf(given, NAME, copy > 0 ? "%.57s%d" : "%.63s", name, copy);
    def->joint_name = given;
}

// two numbers, or three
static void read_planar_vector(const crPlace* place, const char* name, double v[3]) {
    const crJson* value = cr_place_get(place, name);
    if (value == NULL) return;
    int count = 0;
    crError error = {0};
    if (cr_field_numbers(value, name, 2, 3, v, &count, &error) != CR_OK) cr_place_blame(place, name, &error);
}

static void read_planar(const crPlace* place, Reading* r) {
    double pos[3] = {0};
    double vel[3] = {0};
    read_planar_vector(place, "pos", pos);
    read_planar_vector(place, "vel", vel);
    pos[0] += r->shift.x;
    pos[1] += r->shift.y;
    pos[2] += r->shift.z;
    if (vel[2] != 0.0) {
        cr_place_refuse(place, cr_place_get(place, "vel"), CR_ERR_RANGE, "vel",
                        "leaves the plane: a planar body moves along x and y");
    }
    r->q[0] = pos[0];
    r->q[1] = pos[1];
    r->def.pose.p.z = pos[2];
    r->v[0] = vel[0];
    r->v[1] = vel[1];
    cr_place_number(place, "angle", CR_ANY, &r->q[2]);
    cr_place_number(place, "omega", CR_ANY, &r->v[2]);
}

static void read_limits(const crPlace* place, crDof* dof) {
    const crJson* limits = cr_place_get(place, "limits");
    if (limits == NULL) return;
    double both[2] = {0};
    int count = 0;
    crError error = {0};
    if (cr_field_numbers(limits, "limits", 2, 2, both, &count, &error) != CR_OK) {
        cr_place_blame(place, "limits", &error);
    } else if (both[0] > both[1]) {
        cr_place_refuse(place, limits, CR_ERR_RANGE, "limits", "the lower one must come first");
    } else {
        dof->lower = both[0];
        dof->upper = both[1];
    }
}

// actuator_range: limits of the sum of all actuators along a velocity
static void read_actuator_range(const crPlace* place, crDof* dof) {
    const crJson* range = cr_place_get(place, "actuator_range");
    if (range == NULL) return;
    double both[2] = {0};
    int count = 0;
    crError error = {0};
    if (cr_field_numbers(range, "actuator_range", 2, 2, both, &count, &error) != CR_OK) {
        cr_place_blame(place, "actuator_range", &error);
    } else if (!(both[0] <= 0.0 && both[1] >= 0.0 && both[0] < both[1])) {
        cr_place_refuse(place, range, CR_ERR_RANGE, "actuator_range",
                        "is %g to %g, must be from at most 0 to at least 0", both[0], both[1]);
    } else {
        dof->force_lower = both[0];
        dof->force_upper = both[1];
    }
}

// what acts along the velocity of a joint that has one
static void read_along(const crPlace* place, crDof* dof) {
    static const char* const motor_fields[] = {"speed", "force", NULL};
    read_limits(place, dof);
    cr_place_number(place, "stiffness", CR_NOT_NEGATIVE, &dof->stiffness);
    cr_place_number(place, "rest", CR_ANY, &dof->rest);
    cr_place_number(place, "damping", CR_NOT_NEGATIVE, &dof->damping);
    cr_place_number(place, "friction", CR_NOT_NEGATIVE, &dof->friction);
    cr_place_number(place, "armature", CR_NOT_NEGATIVE, &dof->armature);
    read_actuator_range(place, dof);
    crPlace motor;
    if (!cr_place_into(place, "motor", &motor)) return;
    cr_place_known(&motor, motor_fields);
    cr_place_need(&motor, "speed", "the speed it aims at");
    cr_place_need(&motor, "force", "its largest force or moment, may be \"inf\"");
    cr_place_number(&motor, "speed", CR_ANY, &dof->motor_speed);
    cr_place_limit(&motor, "force", CR_NOT_NEGATIVE, &dof->motor_force);
}

// the same about all three axes of a ball; its limit is one of the whole angle
static void read_ball(const crPlace* place, crDof dof[3]) {
    read_limits(place, &dof[0]);
    if (cr_place_get(place, "limits") != NULL && dof[0].lower != 0.0) {
        cr_place_refuse(place, cr_place_get(place, "limits"), CR_ERR_RANGE, "limits",
                        "of a ball must be [0, angle]: the whole angle of rotation");
    }
    dof[0].lower = -INFINITY;
    cr_place_number(place, "stiffness", CR_NOT_NEGATIVE, &dof[0].stiffness);
    cr_place_number(place, "damping", CR_NOT_NEGATIVE, &dof[0].damping);
    cr_place_number(place, "friction", CR_NOT_NEGATIVE, &dof[0].friction);
    cr_place_number(place, "armature", CR_NOT_NEGATIVE, &dof[0].armature);
    dof[1] = dof[2] = dof[0];
    dof[1].upper = dof[2].upper = INFINITY;
}

static void put(double* to, crVec3 x) {
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

static void put_quat(double* to, crQuat x) {
    to[0] = x.w;
    put(to + 1, cr_vec3(x.x, x.y, x.z));
}

static void read_free(const crPlace* place, Reading* r) {
    crVec3 vel = {0};
    crVec3 omega = {0};
    cr_place_vector(place, "vel", &vel);
    cr_place_vector(place, "omega", &omega);
    put(r->q, r->def.pose.p);
    put_quat(r->q + 3, r->def.pose.q);
    put(r->v, vel);
    put(r->v + 3, omega);
}

static void read_joint_bodies(const crPlace* place, Reading* r) {
    crBodyDef* def = &r->def;
    if (def->joint == CR_JOINT_PLANAR) {
        read_planar(place, r);
        return;
    }
    cr_place_vector(place, "pos", &def->pose.p);
    def->pose.p = cr_add(def->pose.p, r->shift);
    cr_place_quat(place, "quat", &def->pose.q);
    cr_place_vector(place, "anchor", &r->anchor);
    cr_place_direction(place, "axis", &def->axis);
    if (def->joint == CR_JOINT_FREE) read_free(place, r);
    // the joint's frame is at the anchor
    def->pose.p = cr_pose_point(def->pose, r->anchor);
    const crJointInfo* info = cr_joint_info(def->joint);
    if (info->nv == 1) {
        cr_place_number(place, info->coordinate, CR_ANY, &r->q[0]);
        cr_place_number(place, info->rate, CR_ANY, &r->v[0]);
        read_along(place, &def->dof[0]);
    } else if (def->joint == CR_JOINT_BALL) {
        crVec3 omega = {0};
        cr_place_vector(place, "omega", &omega);
        put(r->v, omega);
        put_quat(r->q, def->pose.q);
        def->pose.q = cr_quat_identity();
        read_ball(place, def->dof);
    }
}

static void read_shapes(const crPlace* place, crScene* scene, Reading* r) {
    const crJson* list = cr_place_list(place, "shapes", MOST_PARTS);
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(place);
         item = item->next) {
        crPlace part = cr_place_item(place, "shapes", item, r->shape_count);
        cr__scene_shape(&part, scene, &r->shapes[r->shape_count]);
        r->materials[r->shape_count] = cr__scene_material(&part, scene);
        uint64_t* filter = r->filters[r->shape_count];
        filter[0] = 1;
        filter[1] = UINT64_MAX;
        cr__scene_filter(&part, &filter[0], &filter[1]);
        r->colors[r->shape_count] = 0;
        cr__scene_color(&part, "color", &r->colors[r->shape_count]);
        bool moving = r->def.joint != CR_JOINT_FIXED;
        crError error = {0};
        if (cr_place_ok(&part) && cr_shape_check(&r->shapes[r->shape_count], moving, &error) != CR_OK)
            cr_place_blame(&part, "type", &error);
        r->shape_count++;
    }
}

// a number for all axes, three for x, y and z, or a matrix
static void read_inertia_bodies(const crPlace* place, crSym3* inertia) {
    const crJson* value = cr_place_get(place, "inertia");
    if (value == NULL) return;
    crError error = {0};
    crVec3 d = {0};
    crStatus status = CR_OK;
    if (value->type == CR_JSON_NUMBER) {
        *inertia = (crSym3){.xx = value->number, .yy = value->number, .zz = value->number};
    } else if (value->type == CR_JSON_ARRAY && value->child != NULL && value->child->type == CR_JSON_ARRAY) {
        status = cr_field_symmetric(value, "inertia", 3, inertia, &error);
    } else {
        status = cr_field_vector(value, "inertia", 3, &d, &error);
        *inertia = (crSym3){.xx = d.x, .yy = d.y, .zz = d.z};
    }
    if (status != CR_OK) cr_place_blame(place, "inertia", &error);
}

// of the shapes, as if their mass were `mass`
static crMass scaled_mass(const Reading* r, double mass, const crModel* model) {
    crMass sum = {0};
    for (int i = 0; i < r->shape_count; i++) {
        double density = model->materials[r->materials[i]].density;
        sum = cr_mass_add(sum, cr_mass_of_shape(&r->shapes[i], density));
    }
    double s = sum.mass > 0.0 ? mass / sum.mass : 0.0;
    crSym3 I = sum.inertia;
    return (crMass){mass, sum.com, {s * I.xx, s * I.xy, s * I.xz, s * I.yy, s * I.yz, s * I.zz}};
}

// Counts a body that states its inertia but not the centre it is about, if the shapes' centre is not the origin.
static void note_centre(const crPlace* place, crScene* scene, const crMass* mass, crVec3 anchor) {
    if (cr_place_get(place, "inertia") == NULL || cr_place_get(place, "com") != NULL) return;
    double size2 = (mass->inertia.xx + mass->inertia.yy + mass->inertia.zz) / mass->mass;
    if (!(cr_dot(mass->com, mass->com) > 1e-12 * size2)) return;
    if (scene->centre_count == 0) {
        scene->centre_body = scene->model->nb;
        scene->centre_anchor = anchor;
    }
    scene->centre_count++;
}

static void read_mass_bodies(const crPlace* place, crScene* scene, Reading* r) {
    static const char* const needs_mass[] = {"inertia", "com"};
    const crJson* value = cr_place_get(place, "mass");
    for (int i = 0; i < 2; i++) {
        const crJson* other = cr_place_get(place, needs_mass[i]);
        if (other == NULL || value != NULL) continue;
        cr_place_refuse(place, other, CR_ERR_FIELD, needs_mass[i],
                        "goes with mass; without mass everything comes from the shapes and their densities");
    }
    if (value == NULL) return;
    double given = 0.0;
    cr_place_number(place, "mass", CR_NOT_NEGATIVE, &given);
    crMass mass = scaled_mass(r, given, scene->model);
    cr_place_vector(place, "com", &mass.com);
    read_inertia_bodies(place, &mass.inertia);
    crError error = {0};
    if (cr_place_ok(place) && cr_mass_check(&mass, &error) != CR_OK) {
        cr_place_blame(place, strcmp(error.field, "mass") == 0 ? "mass" : "inertia", &error);
    }
    if (cr_place_ok(place)) note_centre(place, scene, &mass, r->anchor);
    r->def.mass = mass.mass;
    r->def.com = cr_sub(mass.com, r->anchor);
    r->def.inertia = mass.inertia;
}

static void read_parent(const crPlace* place, const crScene* scene, const crVec3* anchors, crBodyDef* def) {
    const crJson* name = cr_place_get(place, "parent");
    if (name == NULL) return;
    def->parent = cr__scene_body(place, name, "parent", scene);
    if (def->parent != CR_WORLD && def->joint == CR_JOINT_FREE) {
        cr_place_refuse(place, name, CR_ERR_RANGE, "parent", "a free body's parent is the world");
    }
    // pos is in the frame the parent was described in
    if (cr_place_ok(place)) def->pose.p = cr_sub(def->pose.p, anchors[def->parent]);
}

static void add_body_bodies(const crPlace* place, crScene* scene, Reading* r) {
    int body = cr_model_add_body(scene->model, &r->def);
    if (body < 0) {
        const char* dot = strrchr(scene->model->error.field, '.');
        cr_place_blame(place, dot != NULL ? dot + 1 : scene->model->error.field, &scene->model->error);
        return;
    }
    for (int i = 0; i < r->shape_count && cr_place_ok(place); i++) {
        r->shapes[i].pose.p = cr_sub(r->shapes[i].pose.p, r->anchor);
        int shape = cr_model_add_shape(scene->model, body, &r->shapes[i], r->materials[i]);
        if (shape < 0 ||
            cr_model_set_filter(scene->model, shape, r->filters[i][0], r->filters[i][1]) != CR_OK)
            cr_place_blame(place, "shapes", &scene->model->error);
        else
            scene->model->shapes[shape].color = r->colors[i];
    }
    cr__scene_visuals(place, scene, body, r->anchor);
    const crBody* made = &scene->model->bodies[body];
    memcpy(scene->q + made->q, r->q, (size_t)made->nq * sizeof(double));
    memcpy(scene->v + made->v, r->v, (size_t)made->nv * sizeof(double));
}

static void read_body_bodies(const crPlace* root, const crPlace* place, crScene* scene, crVec3* anchors,
                             Reading* r) {
    const char* joints[CR_JOINT_KINDS + 1];
    int count = 0;
    *r = (Reading){.def = cr_body_def(),
                   .shift = r->shift,
                   .copy = r->copy,
                   .drives = r->drives,
                   .shapes = r->shapes,
                   .materials = r->materials,
                   .filters = r->filters,
                   .colors = r->colors};
    int joint = CR_JOINT_FREE;
    char name[NAME], joint_name[NAME];
    crJoint kinds[CR_JOINT_KINDS];
    // driven bodies are made of "drives"
    for (int i = 0; i < CR_JOINT_KINDS; i++) {
        if (i == CR_JOINT_DRIVEN) continue;
        kinds[count] = (crJoint)i;
        joints[count++] = cr_joint_info((crJoint)i)->name;
    }
    joints[count] = NULL;
    if (cr_place_get(place, "joint") != NULL) {
        cr_place_choice(place, "joint", joints, &joint);
        joint = (int)kinds[joint];
    }
    known_fields(place, (crJoint)joint);
    r->def.joint = (crJoint)joint;
    read_body_name(place, scene, r->copy, name, &r->def);
    read_joint_name(place, r->copy, joint_name, &r->def);
    read_joint_bodies(place, r);
    read_parent(place, scene, anchors, &r->def);
    read_shapes(place, scene, r);
    read_mass_bodies(place, scene, r);
    cr_place_number(place, "gravity_scale", CR_ANY, &r->def.gravity_scale);
    cr_place_number(place, "linear_drag", CR_NOT_NEGATIVE, &r->def.linear_drag);
    cr_place_number(place, "angular_drag", CR_NOT_NEGATIVE, &r->def.angular_drag);
    if (cr_place_ok(place)) cr__scene_drive(root, scene, r->drives, &r->def);
    if (!cr_place_ok(place)) return;
    anchors[scene->model->nb] = r->anchor;
    add_body_bodies(place, scene, r);
}

static void read_copies(const crPlace* root, const crPlace* place, crScene* scene, crVec3* anchors,
                        Reading* r) {
    Lattice lattice = read_lattice(place);
    for (int i = 0; i < lattice.total && cr_place_ok(place); i++) {
        int at[3] = {i % lattice.count[0], i / lattice.count[0] % lattice.count[1],
                     i / lattice.count[0] / lattice.count[1]};
        r->copy = lattice.given ? i + 1 : 0;
        r->shift = cr_vec3(0.0, 0.0, 0.0);
        for (int k = 0; k < 3; k++) {
            r->shift = cr_madd(r->shift, at[k], lattice.step[k]);
        }
        read_body_bodies(root, place, scene, anchors, r);
    }
}

// how many bodies there will be, copies counted
static size_t count_bodies(const crPlace* root, const crJson* list) {
    int total = 0, index = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(root);
         item = item->next) {
        crPlace place = cr_place_item(root, "bodies", item, index++);
        Lattice lattice = {.total = 0};
        if (cr_place_ok(&place)) lattice = read_lattice(&place);
        total += lattice.total;
        if (total > CR_SCENE_MAX_BODIES) {
            cr_place_refuse(root, item, CR_ERR_LIMIT, "bodies", "are more than %d", CR_SCENE_MAX_BODIES);
        }
    }
    return (size_t)total;
}

void cr__scene_bodies(const crPlace* root, crScene* scene, crVec3** anchors) {
    const crJson* list = cr_place_list(root, "bodies", CR_SCENE_MAX_BODIES);
    size_t count = count_bodies(root, list);
    // no joint has more than seven coordinates or six velocities
    scene->q = cr_arena_alloc(&scene->arena, (7 * count + 1) * sizeof(double));
    scene->v = cr_arena_alloc(&scene->arena, (6 * count + 1) * sizeof(double));
    *anchors = cr_arena_alloc(&scene->arena, (count + 1) * sizeof(crVec3));
    crSceneDrives drives = cr__scene_drives(root, scene);
    Reading reading = {.drives = &drives,
                       .shapes = cr_arena_alloc(&scene->arena, MOST_PARTS * sizeof(crShape)),
                       .materials = cr_arena_alloc(&scene->arena, MOST_PARTS * sizeof(int)),
                       .filters = cr_arena_alloc(&scene->arena, MOST_PARTS * sizeof(uint64_t[2])),
                       .colors = cr_arena_alloc(&scene->arena, MOST_PARTS * sizeof(unsigned))};
    if (scene->q == NULL || scene->v == NULL || *anchors == NULL || reading.shapes == NULL ||
        reading.materials == NULL || reading.filters == NULL || reading.colors == NULL) {
        cr__place_memory(root);
        return;
    }
    (*anchors)[0] = cr_vec3(0.0, 0.0, 0.0);
    int index = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(root);
         item = item->next) {
        crPlace place = cr_place_item(root, "bodies", item, index++);
        if (cr_place_ok(&place)) read_copies(root, &place, scene, *anchors, &reading);
    }
}
