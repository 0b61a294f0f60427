// scene_forces.c - forces and torques on bodies, and along joints: constants, tables over time, expressions.
//
// Each of force, torque and along has one or three parts. A part is a number or an expression; or all parts come from
// a table [[t, x, y, z], ...], straight between its rows, the first and last value outside. Expressions know t (the
// middle of the step) and, at its beginning, x, y, z and vx, vy, vz of the point where the force acts; along knows
// t and q, v of the joint.
// Fails: a field is refused by path; an expression with the character; bodies that forces do not move.
#include <string.h>

#include "carom/dynamics.h"
#include "io/expression.h"
#include "io/fields.h"
#include "io/scene_parts.h"

#define MOST_FORCES 20000
#define MOST_ROWS   100000

typedef struct Part {
    bool written;  // true if it is an expression, false if a number
    double number;
    crExpression expression;
} Part;

// a value over time, of one part or three
typedef struct Value {
    bool given;
    int parts;
    Part part[3];
    int rows;       // of a table, 0 where there is none
    double* table;  // time and parts of each row (rows, 1 + parts)
} Value;

typedef struct Force {
    Value force, torque, along;
} Force;

static const char* const point_names[] = {"t", "x", "y", "z", "vx", "vy", "vz", NULL};
static const char* const joint_names[] = {"t", "q", "v", NULL};

// the last row that is not after time; -1 where all are
static int find_row(const Value* value, double time) {
    int low = 0, high = value->rows, width = 1 + value->parts;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (value->table[middle * width] <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1;
}

static void from_table(const Value* value, double time, double* out) {
    int width = 1 + value->parts, row = find_row(value, time);
    const double* a = value->table + (row < 0 ? 0 : row) * width;
    bool between = row >= 0 && row + 1 < value->rows;
    double share = between ? (time - a[0]) / (a[width] - a[0]) : 0.0;
    for (int k = 0; k < value->parts; k++) {
        out[k] = between ? a[1 + k] + share * (a[width + 1 + k] - a[1 + k]) : a[1 + k];
    }
}

static void evaluate(const Value* value, const double* variables, double* out) {
    if (value->rows > 0) from_table(value, variables[0], out);
    for (int k = 0; k < value->parts && value->rows == 0; k++) {
        const Part* part = &value->part[k];
        out[k] = part->written ? cr__expression_value(&part->expression, variables) : part->number;
    }
}

static void load_forces(void* ctx, const crLoadAt* at, crLoadValue* out) {
    const Force* f = ctx;
    crVec3 p = at->point, u = at->velocity;
    double of_point[] = {at->time, p.x, p.y, p.z, u.x, u.y, u.z}, force[3] = {0}, torque[3] = {0};
    if (f->force.given) evaluate(&f->force, of_point, force);
    if (f->torque.given) evaluate(&f->torque, of_point, torque);
    out->force = cr_vec3(force[0], force[1], force[2]);
    out->moment = cr_vec3(torque[0], torque[1], torque[2]);
    if (f->along.given) evaluate(&f->along, (double[]){at->time, at->q[0], at->v[0]}, &out->along);
}

static void read_part(const crPlace* place, crScene* scene, const char* name, const crJson* item,
                      const char* const* names, Part* part) {
    crError error = {0};
    if (item->type == CR_JSON_NUMBER) {
        part->number = item->number;
    } else if (item->type != CR_JSON_STRING) {
        cr_place_refuse(place, item, CR_ERR_TYPE, name, "must be a number or an expression, is %s",
                        cr_json_type_name(item->type));
    } else if (cr__expression_read(item->text, names, &scene->arena, &part->expression, &error) != CR_OK) {
        cr_place_refuse(place, item, error.status, name, "%s", error.message);
    } else {
        part->written = true;
    }
}

static void read_row_forces(const crPlace* table, const crJson* row, Value* value) {
    int width = 1 + value->parts, count = 0;
    double* to = value->table + value->rows * width;
    crError error = {0};
    if (cr_field_numbers(row, "table", width, width, to, &count, &error) != CR_OK) {
        cr_place_refuse(table, row, error.status, "table", "row %d must have %d numbers, the time first",
                        value->rows, width);
    } else if (value->rows > 0 && !(to[0] > to[-width])) {
        cr_place_refuse(table, row, CR_ERR_RANGE, "table", "row %d: its time %g must be after %g",
                        value->rows, to[0], to[-width]);
    } else {
        value->rows++;
    }
}

static void read_table_forces(const crPlace* place, crScene* scene, const char* name, Value* value) {
    static const char* const fields[] = {"table", "comment", NULL};
    crPlace inner;
    if (!cr_place_into(place, name, &inner)) return;
    cr_place_known(&inner, fields);
    cr_place_need(&inner, "table", "rows of a time and its values");
    const crJson* list = cr_place_list(&inner, "table", MOST_ROWS);
    if (list == NULL) return;
    if (list->count == 0) {
        cr_place_refuse(&inner, list, CR_ERR_SIZE, "table", "must have a row");
        return;
    }
    value->table =
        cr_arena_alloc(&scene->arena, (size_t)list->count * (size_t)(1 + value->parts) * sizeof(double));
    if (value->table == NULL) {
        cr__place_memory(place);
        return;
    }
    for (const crJson* row = list->child; row != NULL && cr_place_ok(&inner); row = row->next) {
        read_row_forces(&inner, row, value);
    }
}

static void read_value_forces(const crPlace* place, crScene* scene, const char* name, int parts,
                              const char* const* names, Value* value) {
    const crJson* given = cr_place_get(place, name);
    if (given == NULL) return;
    *value = (Value){.given = true, .parts = parts};
    if (given->type == CR_JSON_OBJECT) {
        read_table_forces(place, scene, name, value);
    } else if (parts == 1) {
        read_part(place, scene, name, given, names, &value->part[0]);
    } else if (given->type != CR_JSON_ARRAY || given->count != parts) {
        cr_place_refuse(place, given, CR_ERR_SIZE, name,
                        "must be a list of 3 numbers or expressions, or an object with a table");
    } else {
        int k = 0;
        for (const crJson* item = given->child; item != NULL && cr_place_ok(place); item = item->next) {
            read_part(place, scene, name, item, names, &value->part[k++]);
        }
    }
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
    read_value_forces(place, scene, "force", 3, point_names, &force->force);
    read_value_forces(place, scene, "torque", 3, point_names, &force->torque);
    read_value_forces(place, scene, "along", 1, joint_names, &force->along);
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
