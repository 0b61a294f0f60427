// jitter.c - random values around those of a scene: fields before it is read, classes after.
//
// Draws are made in a fixed order (jitters as given; bodies, shapes, materials, pairs as they stand), so that
// a stream of random numbers means one scene. A draw outside the range of mu or e is drawn again; for a field
// of the file its range is the reader's business. Overlap that a position brings is left to the world.
// Fails: see jitter.h.
#include "fit/jitter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/forms.h"
#include "fit/random.h"
#include "io/json_set.h"
#include "io/names.h"

#define TRIES 1000

static const char* const classes[] = {"position", "velocity", "angle", "spin", "gap", "mu", "e", NULL};

static crJitterKind kind_of(const char* name) {
    int kind = 0;
    while (classes[kind] != NULL && strcmp(name, classes[kind]) != 0) {
        kind++;
    }
    return (crJitterKind)kind;
}

static crStatus parse_size(const char* text, crJitter* jitter, crError* error) {
    const char* number = text;
    jitter->uniform = strncmp(text, "uniform:", 8) == 0;
    if (jitter->uniform || strncmp(text, "normal:", 7) == 0) number = strchr(text, ':') + 1;
    char* end = NULL;
    jitter->size = strtod(number, &end);
    jitter->relative = end != number && *end == '%';
    if (end == number || end[jitter->relative] != '\0')
        return cr_error_set(error, CR_ERR_SYNTAX, jitter->name,
                            "%s: '%.40s' must be a number, NUMBER%%, normal:NUMBER or uniform:NUMBER",
                            jitter->name, text);
    if (!isfinite(jitter->size))
        return cr_error_set(error, CR_ERR_FINITE, jitter->name, "%s is '%.40s', must be a finite number >= 0",
                            jitter->name, text);
    if (jitter->size < 0.0)
        return cr_error_set(error, CR_ERR_RANGE, jitter->name, "%s is '%.40s', must be >= 0", jitter->name,
                            text);
    if (jitter->relative && jitter->kind < CR_JITTER_MU)
        return cr_error_set(error, CR_ERR_RANGE, jitter->name,
                            "%s is '%.40s': percent of what? only mu, e and fields take it", jitter->name,
                            text);
    if (jitter->relative) jitter->size /= 100.0;
    return CR_OK;
}

crStatus cr_jitter_parse(const char* text, crJitter* jitter, crError* error) {
    *jitter = (crJitter){0};
    const char* equals = strchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : 0;
    if (length == 0)
        return cr_error_set(error, CR_ERR_SYNTAX, "jitter",
                            "'%.60s' must be NAME=SIZE, such as position=1e-4", text);
    if (length >= CR_JITTER_NAME)
        return cr_error_set(error, CR_ERR_LIMIT, "jitter", "'%.60s...' is too long, at most %d characters",
                            text, CR_JITTER_NAME - 1);
    memcpy(jitter->name, text, length);
    jitter->kind = kind_of(jitter->name);
    return parse_size(equals + 1, jitter, error);
}

static bool all_numbers(const crJson* value) {
    if (value->type == CR_JSON_NUMBER) return true;
    if (value->type != CR_JSON_ARRAY || value->count == 0) return false;
    for (const crJson* child = value->child; child != NULL; child = child->next) {
        if (!all_numbers(child)) return false;
    }
    return true;
}

static crStatus check_field(const crJitter* jitter, const crJson* root, crError* error) {
    const crJson* value = NULL;
    crStatus status = cr_json_at(root, jitter->name, &value, error);
    if (status != CR_OK && strpbrk(jitter->name, ".[") == NULL) {
        const char* near = cr_name_nearest_of(jitter->name, classes);
        return cr_error_set(
            error, CR_ERR_FIELD, jitter->name,
            "'%s' is no class and no field of the scene; classes are position, velocity, angle, "
            "spin, gap, mu, e%s%s%s",
            jitter->name, near != NULL ? "; did you mean " : "", near != NULL ? near : "",
            near != NULL ? "?" : "; bodies.NAME.vel is a field");
    }
    if (status != CR_OK) return status;
    if (all_numbers(value)) return CR_OK;
    return cr_error_set(error, CR_ERR_TYPE, jitter->name,
                        "\"%s\" is %s, must be a number or a list of numbers", jitter->name,
                        cr_json_type_name(value->type));
}

static bool moves_by(crJoint joint, crJitterKind kind) {
    bool turns = joint == CR_JOINT_HINGE || joint == CR_JOINT_BALL;
    bool both = joint == CR_JOINT_FREE || joint == CR_JOINT_PLANAR;
    bool place = kind == CR_JITTER_POSITION || kind == CR_JITTER_VELOCITY;
    return both || (place ? joint == CR_JOINT_SLIDER : turns);
}

// which of its sizes make a moving shape smaller all around: bits of x, y and z, 0 for others
static unsigned sizes_of(const crModel* model, int shape) {
    if (model->bodies[model->shapes[shape].body].nv == 0) return 0;
    crShapeKind kind = model->shapes[shape].shape.kind;
    switch (cr_shape_info(kind)->sizes) {
    case 1:
        return 1;
    case 2:
        // a capsule's caps are beyond its half length, a cone's slope moves with both
        return kind == CR_SHAPE_CAPSULE ? 1 : kind == CR_SHAPE_CYLINDER ? 1 + 4 : 0;
    case 3:
        return 1 + 2 + 4;
    default:
        return 0;
    }
}

static crStatus check_state(const crJitter* jitter, const crModel* model, crError* error) {
    bool place = jitter->kind == CR_JITTER_POSITION || jitter->kind == CR_JITTER_ANGLE;
    if (place && model->loop_count > 0)
        return cr_error_set(error, CR_ERR_ARGUMENT, jitter->name,
                            "%s: bodies that constraints tie cannot move on their own; jitter fields such as "
                            "bodies.NAME.angle, and the constraints are closed again",
                            jitter->name);
    for (int i = 1; i < model->nb; i++) {
        if (moves_by(model->bodies[i].joint, jitter->kind)) return CR_OK;
    }
    return cr_error_set(error, CR_ERR_MISSING, jitter->name, "%s: no body of the scene has one that is free",
                        jitter->name);
}

static crStatus check_surface(const crJitter* jitter, const crModel* model, crError* error) {
    bool e = jitter->kind == CR_JITTER_E;
    for (int i = 0; i < model->material_count; i++) {
        const crSurface* s = &model->materials[i].surface;
        const crByImpact* by = s->by_impact;
        bool depends = e ? s->e_of_speed != NULL || (by != NULL && by->e != NULL)
                         : jitter->kind == CR_JITTER_MU && by != NULL && by->mu != NULL;
        if (!depends) continue;
        return cr_error_set(error, CR_ERR_ARGUMENT, jitter->name,
                            "%s: that of material '%.40s' depends on the impact; jitter its table as a field",
                            e ? "e" : "mu", model->materials[i].name);
    }
    return CR_OK;
}

crStatus cr_jitter_check(const crJitter* jitter, const crJson* root, const crScene* scene, crError* error) {
    const crModel* model = scene->model;
    if (jitter->kind == CR_JITTER_FIELD) return check_field(jitter, root, error);
    if (jitter->kind >= CR_JITTER_MU) return check_surface(jitter, model, error);
    if (jitter->kind != CR_JITTER_GAP) return check_state(jitter, model, error);
    for (int i = 0; i < model->shape_count; i++) {
        if (sizes_of(model, i) != 0) return CR_OK;
    }
    return cr_error_set(error, CR_ERR_MISSING, "gap",
                        "gap: no moving body has a sphere, capsule, cylinder, box or ellipsoid to shrink");
}

static double draw(const crJitter* jitter, uint64_t* random) {
    return jitter->size *
           (jitter->uniform ? 2.0 * cr__random_uniform(random) - 1.0 : cr__random_normal(random));
}

static void jitter_numbers(const crJitter* jitter, crJson* value, uint64_t* random) {
    if (value->type == CR_JSON_NUMBER)
        value->number += (jitter->relative ? value->number : 1.0) * draw(jitter, random);
    for (const crJson* child = value->child; child != NULL; child = child->next) {
        // the tree is the sample's own
        jitter_numbers(jitter, (crJson*)child, random);
    }
}

static void add(const crJitter* jitter, double* values, int count, uint64_t* random) {
    for (int i = 0; i < count; i++) {
        values[i] += draw(jitter, random);
    }
}

// turned by a small rotation about each axis of the world, or of the joint
static void turn(const crJitter* jitter, double* quat, uint64_t* random) {
    crVec3 angle = cr_vec3(0, 0, 0);
    angle.x = draw(jitter, random);
    angle.y = draw(jitter, random);
    angle.z = draw(jitter, random);
    crQuat q =
        cr_quat_mul(cr_quat_axis_angle(angle, cr_norm(angle)), (crQuat){quat[0], quat[1], quat[2], quat[3]});
    quat[0] = q.w;
    quat[1] = q.x;
    quat[2] = q.y;
    quat[3] = q.z;
}

static void jitter_body(const crJitter* jitter, const crBody* body, crScene* scene, uint64_t* random) {
    if (!moves_by(body->joint, jitter->kind)) return;
    double* q = scene->q + body->q;
    double* v = scene->v + body->v;
    bool space = body->joint == CR_JOINT_FREE;
    bool plane = body->joint == CR_JOINT_PLANAR;
    int places = space ? 3 : plane ? 2 : 1;
    switch (jitter->kind) {
    case CR_JITTER_POSITION:
        add(jitter, q, places, random);
        break;
    case CR_JITTER_VELOCITY:
        add(jitter, v, places, random);
        break;
    case CR_JITTER_SPIN:
        if (space)
            add(jitter, v + 3, 3, random);
        else
            add(jitter, plane ? v + 2 : v, body->joint == CR_JOINT_BALL ? 3 : 1, random);
        break;
    default:
        if (space || body->joint == CR_JOINT_BALL)
            turn(jitter, space ? q + 3 : q, random);
        else
            add(jitter, plane ? q + 2 : q, 1, random);
    }
}

static crStatus jitter_gaps(const crJitter* jitter, crModel* model, uint64_t* random, crError* error) {
    for (int i = 0; i < model->shape_count; i++) {
        unsigned sizes = sizes_of(model, i);
        if (sizes == 0) continue;
        crVec3* size = &model->shapes[i].shape.size;
        double* each[] = {&size->x, &size->y, &size->z};
        double less = fabs(draw(jitter, random));
        for (int k = 0; k < 3; k++) {
            if ((sizes & (1u << k)) == 0) continue;
            if (!(less < *each[k]))
                return cr_error_set(error, CR_ERR_RANGE, "gap",
                                    "gap: %.3g m is more than the size %.3g m of '%.40s'", less, *each[k],
                                    model->bodies[model->shapes[i].body].name);
            *each[k] -= less;
        }
    }
    return CR_OK;
}

static crStatus draw_within(const crJitter* jitter, double most, double* value, uint64_t* random,
                            crError* error) {
    if (isinf(*value)) return CR_OK;
    for (int i = 0; i < TRIES; i++) {
        double drawn = *value + (jitter->relative ? *value : 1.0) * draw(jitter, random);
        if (!(drawn >= 0.0 && drawn <= most)) continue;
        *value = drawn;
        return CR_OK;
    }
    return cr_error_set(error, CR_ERR_RANGE, jitter->name, "%s: no draw around %.6g lies from 0 to %.6g",
                        jitter->name, *value, most);
}

static crStatus jitter_surface(const crJitter* jitter, crSurface* surface, uint64_t* random, crError* error) {
    if (jitter->kind == CR_JITTER_E)
        return draw_within(jitter, fmax(1.0, surface->e), &surface->e, random, error);
    double before = surface->mu;
    crStatus status = draw_within(jitter, INFINITY, &surface->mu, random, error);
    // an ellipse keeps its shape
    if (surface->mu2 == before)
        surface->mu2 = surface->mu;
    else if (before > 0.0 && isfinite(before))
        surface->mu2 *= surface->mu / before;
    return status;
}

static crStatus jitter_class(const crJitter* jitter, crScene* scene, uint64_t* random, crError* error) {
    crModel* model = scene->model;
    if (jitter->kind == CR_JITTER_GAP) return jitter_gaps(jitter, model, random, error);
    for (int i = 1; jitter->kind < CR_JITTER_GAP && i < model->nb; i++) {
        jitter_body(jitter, &model->bodies[i], scene, random);
    }
    crStatus status = CR_OK;
    if (jitter->kind < CR_JITTER_MU) return status;
    for (int i = 0; i < model->material_count && status == CR_OK; i++) {
        status = jitter_surface(jitter, &model->materials[i].surface, random, error);
    }
    for (int i = 0; i < model->pair_count && status == CR_OK; i++) {
        status = jitter_surface(jitter, &model->pairs[i].surface, random, error);
    }
    return status;
}

// the tree read again, with its fields drawn
static crStatus read_fields(const crJitter* jitters, int count, const char* text, uint64_t* random,
                            crScene* scene, crError* error) {
    crJsonDoc doc;
    crStatus status = cr_json_parse(text, strlen(text), 1, &doc, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < count && status == CR_OK; i++) {
        const crJson* value = NULL;
        if (jitters[i].kind != CR_JITTER_FIELD) continue;
        status = cr_json_at(doc.root, jitters[i].name, &value, error);
        if (status == CR_OK) jitter_numbers(&jitters[i], (crJson*)value, random);
    }
    if (status == CR_OK) status = cr_scene_read(doc.root, scene, error);
    cr_json_free(&doc);
    return status;
}

crStatus cr_jitter_scene(const crJitter* jitters, int count, const crJson* root, const char* text,
                         uint64_t* random, crScene* scene, crError* error) {
    bool fields = false;
    for (int i = 0; i < count; i++) {
        fields = fields || jitters[i].kind == CR_JITTER_FIELD;
    }
    crStatus status =
        fields ? read_fields(jitters, count, text, random, scene, error) : cr_scene_read(root, scene, error);
    if (status != CR_OK) return status;
    bool moved = false;
    for (int i = 0; i < count && status == CR_OK; i++) {
        moved = moved || jitters[i].kind == CR_JITTER_POSITION || jitters[i].kind == CR_JITTER_ANGLE;
        if (jitters[i].kind != CR_JITTER_FIELD) status = jitter_class(&jitters[i], scene, random, error);
    }
    if (status == CR_OK && moved && cr_scene_overlaps(scene) != CR_OK)
        status = cr_error_set(error, CR_ERR_MEMORY, "jitter", "jitter: out of memory");
    if (status != CR_OK) cr_scene_free(scene);
    return status;
}
