// scene_ties.c - constraints between bodies, and bodies that move as they are told.
//
// A constraint is a loop of the model: connect (points coincide), weld (frames as they are at q = 0 of their
// fields coincide), distance, or joint (one hinge or slider follows another); with range the last two only
// keep within it. A drive gives a fixed body a motion of its own, p(t) = pos + velocity t + amplitude sin(2
// pi frequency t + phase),      q(t) = exp(omega t) quat; or, with `surface`, to its surface alone: the body stands, and what
// touches it is carried along by velocity + omega x r, as by a belt or a turntable. Fails: a field is refused by path; names of nothing,
// and drives of bodies that are not fixed to the world.
#include <stdlib.h>
#include <string.h>

#include "io/fields.h"
#include "io/scene_parts.h"

#define MOST_TIES 20000

static const char* const drive_fields[] = {"body",  "velocity", "omega",   "amplitude", "frequency",
                                           "phase", "surface",  "comment", NULL};

typedef struct Motion {
    crPose pose;
    crVec3 velocity, amplitude, omega;
    double rate, phase;  // rad/s, rad
    bool surface;        // true if only the surface moves
} Motion;

static void drive(void* ctx, double time, crDriven* out) {
    const Motion* m = ctx;
    if (m->surface) {
        *out = (crDriven){.pose = m->pose, .velocity = m->velocity, .omega = m->omega};
        return;
    }
    double s = 0.0;
    double c = 0.0;
    cr_sincos(m->rate * time + m->phase, &s, &c);
    out->pose.p = cr_madd(cr_madd(m->pose.p, time, m->velocity), s, m->amplitude);
    out->pose.q = cr_quat_mul(cr_quat_axis_angle(m->omega, cr_norm(m->omega) * time), m->pose.q);
    out->velocity = cr_madd(m->velocity, m->rate * c, m->amplitude);
    out->omega = m->omega;
    out->acceleration = cr_scale(-m->rate * m->rate * s, m->amplitude);
}

static void read_drive(const crPlace* place, crScene* scene, crBodyDef* def) {
    Motion* m = cr_arena_alloc(&scene->arena, sizeof *m);
    if (m == NULL) {
        cr__place_memory(place);
        return;
    }
    *m = (Motion){.pose = def->pose};
    double frequency = 0.0;
    cr_place_vector(place, "velocity", &m->velocity);
    cr_place_vector(place, "omega", &m->omega);
    cr_place_vector(place, "amplitude", &m->amplitude);
    cr_place_number(place, "frequency", CR_NOT_NEGATIVE, &frequency);
    cr_place_number(place, "phase", CR_ANY, &m->phase);
    cr_place_bool(place, "surface", &m->surface);
    if (m->surface && cr_place_get(place, "amplitude") != NULL)
        cr_place_refuse(place, cr_place_get(place, "amplitude"), CR_ERR_FIELD, "amplitude",
                        "cannot be given together with surface, which has velocity and omega alone");
    m->rate = 2.0 * CR_PI * frequency;
    def->joint = CR_JOINT_DRIVEN;
    def->drive = drive;
    def->drive_ctx = m;
}

static int by_body(const void* left, const void* right) {
    const crSceneDrive* a = left;
    const crSceneDrive* b = right;
    int order = strcmp(a->body, b->body);
    return order != 0 ? order : a->index < b->index ? -1 : a->index > b->index;
}

crSceneDrives cr__scene_drives(const crPlace* root, crScene* scene) {
    const crJson* list = cr_place_list(root, "drive", MOST_TIES);
    crSceneDrives drives = {0};
    if (list == NULL) return drives;
    drives.list = cr_arena_alloc(&scene->arena, ((size_t)list->count + 1) * sizeof *drives.list);
    if (drives.list == NULL) {
        cr__place_memory(root);
        return drives;
    }
    int index = 0;
    for (const crJson* item = list->child; item != NULL && cr_place_ok(root); item = item->next) {
        crPlace place = cr_place_item(root, "drive", item, index);
        const char* name = NULL;
        cr_place_text(&place, "body", &name);
        if (name != NULL) drives.list[drives.count++] = (crSceneDrive){name, item, index};
        index++;
    }
    qsort(drives.list, (size_t)drives.count, sizeof *drives.list, by_body);
    return drives;
}

// the first drive whose body is not before this one
static int first_drive(const crSceneDrives* drives, const char* body) {
    int low = 0, high = drives->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(drives->list[middle].body, body) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void cr__scene_drive(const crPlace* root, crScene* scene, const crSceneDrives* drives, crBodyDef* def) {
    for (int k = first_drive(drives, def->name); k < drives->count && cr_place_ok(root); k++) {
        const crSceneDrive* found = &drives->list[k];
        if (strcmp(found->body, def->name) != 0) return;
        crPlace place = cr_place_item(root, "drive", found->item, found->index);
        if (def->joint != CR_JOINT_FIXED || def->parent != CR_WORLD) {
            cr_place_refuse(&place, cr_place_get(&place, "body"), CR_ERR_NAME, "body",
                            "\"%.40s\" must be fixed to the world, and driven once", found->body);
            return;
        }
        read_drive(&place, scene, def);
    }
}

void cr__scene_check_drives(const crPlace* root, crScene* scene) {
    const crJson* list = cr_place_list(root, "drive", MOST_TIES);
    int index = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(root);
         item = item->next) {
        crPlace place = cr_place_item(root, "drive", item, index++);
        if (cr_place_ok(&place)) cr_place_known(&place, drive_fields);
        cr_place_need(&place, "body", "the name of a fixed body");
        const crJson* name = cr_place_get(&place, "body");
        int body = name != NULL ? cr__scene_body(&place, name, "body", scene) : 0;
        if (cr_place_ok(&place) && scene->model->bodies[body].joint != CR_JOINT_DRIVEN) {
            cr_place_refuse(&place, name, CR_ERR_NAME, "body", "the world cannot be driven");
        }
    }
}

// the two of a list of vectors or quaternions
static const crJson* two_of(const crPlace* place, const char* name) {
    const crJson* list = cr_place_list(place, name, 2);
    if (list == NULL || list->count == 2) return list;
    cr_place_refuse(place, list, CR_ERR_SIZE, name, "must have two entries, one per body, has %d",
                    list->count);
    return NULL;
}

static void read_points(const crPlace* place, crLoop* loop) {
    const crJson* points = two_of(place, "points");
    if (points == NULL) return;
    crError error = {0};
    if (cr_field_vector(points->child, "points", 3, &loop->pose_a.p, &error) != CR_OK ||
        cr_field_vector(points->child->next, "points", 3, &loop->pose_b.p, &error) != CR_OK)
        cr_place_blame(place, "points", &error);
}

static void read_quats(const crPlace* place, crLoop* loop) {
    const crJson* quats = two_of(place, "quats");
    const crJson* item = quats != NULL ? quats->child : NULL;
    crQuat* const to[] = {&loop->pose_a.q, &loop->pose_b.q};
    for (int i = 0; item != NULL && cr_place_ok(place); item = item->next, i++) {
        double q[4] = {0};
        int count = 0;
        crError error = {0};
        if (cr_field_numbers(item, "quats", 4, 4, q, &count, &error) != CR_OK) {
            cr_place_blame(place, "quats", &error);
            return;
        }
        double length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (!(length > 1e-100 && length < 1e100)) {
            cr_place_refuse(place, item, CR_ERR_UNIT, "quats", "must have length one: w, x, y, z");
        }
        *to[i] = cr_quat_normalize((crQuat){q[0], q[1], q[2], q[3]});
    }
}

// coefficients of the polynomial, lowest first; those not given are 0
static void read_coef(const crPlace* place, crLoop* loop) {
    const crJson* list = cr_place_get(place, "coef");
    int count = 0;
    crError error = {0};
    if (list == NULL) return;
    memset(loop->coef, 0, sizeof loop->coef);
    if (cr_field_numbers(list, "coef", 1, 5, loop->coef, &count, &error) != CR_OK)
        cr_place_blame(place, "coef", &error);
}

// [least, most]
static void read_range_ties(const crPlace* place, crLoop* loop) {
    const crJson* list = cr_place_get(place, "range");
    double both[2] = {0};
    int count = 0;
    crError error = {0};
    if (list == NULL) return;
    if (cr_field_numbers(list, "range", 2, 2, both, &count, &error) != CR_OK) {
        cr_place_blame(place, "range", &error);
        return;
    }
    loop->lower = both[0];
    loop->upper = both[1];
    bool distance = loop->kind == CR_LOOP_DISTANCE;
    if (!distance && loop->kind != CR_LOOP_JOINT)
        cr_place_refuse(place, list, CR_ERR_FIELD, "range", "is for distance and joint only");
    if (!(both[0] < both[1]) || (distance && both[0] < 0.0))
        cr_place_refuse(place, list, CR_ERR_RANGE, "range", "is [%g, %g], the first must be less%s", both[0],
                        both[1], distance ? " and not negative" : "");
    if (cr_place_ok(place) && cr_place_get(place, "length") != NULL)
        cr_place_refuse(place, list, CR_ERR_FIELD, "range", "stands for length: give one of them");
}

static void read_constraint(const crPlace* place, crScene* scene, const crVec3* anchors) {
    static const char* const fields[] = {"type", "bodies", "points",  "quats", "length",
                                         "coef", "range",  "comment", NULL};
    static const char* const kinds[] = {"connect", "weld", "distance", "joint", NULL};
    int kind = CR_LOOP_CONNECT;
    cr_place_known(place, fields);
    cr_place_need(place, "type", "connect, weld, distance or joint");
    cr_place_choice(place, "type", kinds, &kind);
    cr_place_need(place, "bodies", "the names of two bodies");
    const crJson* names = two_of(place, "bodies");
    if (names == NULL) return;
    int a = cr__scene_body(place, names->child, "bodies", scene);
    int b = cr__scene_body(place, names->child->next, "bodies", scene);
    if (!cr_place_ok(place)) return;
    crLoop loop = cr_loop((crLoopKind)kind, a, b);
    read_points(place, &loop);
    read_quats(place, &loop);
    loop.pose_a.p = cr_sub(loop.pose_a.p, anchors[a]);
    loop.pose_b.p = cr_sub(loop.pose_b.p, anchors[b]);
    read_range_ties(place, &loop);
    if (kind == CR_LOOP_DISTANCE && !cr_loop_ranges(&loop))
        cr_place_need(place, "length", "the distance of the two points, m, or range");
    cr_place_number(place, "length", CR_POSITIVE, &loop.length);
    if (kind == CR_LOOP_JOINT) read_coef(place, &loop);
    if (!cr_place_ok(place) || cr_model_add_loop(scene->model, &loop) >= 0) return;
    cr_place_blame(place, "bodies", &scene->model->error);
}

void cr__scene_constraints(const crPlace* root, crScene* scene, const crVec3* anchors) {
    const crJson* list = cr_place_list(root, "constraints", MOST_TIES);
    int index = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(root);
         item = item->next) {
        crPlace place = cr_place_item(root, "constraints", item, index++);
        if (cr_place_ok(&place)) read_constraint(&place, scene, anchors);
    }
}

void cr__scene_exclude(const crPlace* root, crScene* scene) {
    const crJson* list = cr_place_list(root, "exclude", MOST_TIES);
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(root);
         item = item->next) {
        if (item->type != CR_JSON_ARRAY || item->count != 2) {
            cr_place_refuse(root, item, CR_ERR_SIZE, "exclude", "each entry must be the names of two bodies");
            return;
        }
        int a = cr__scene_body(root, item->child, "exclude", scene);
        int b = cr__scene_body(root, item->child->next, "exclude", scene);
        if (cr_place_ok(root) && cr_model_exclude(scene->model, a, b) != CR_OK) cr__place_memory(root);
    }
}
