// model.c - a model's life: create, loops, names, the final check.
//
// The arrays stay in topological order because a body's parent must already be there; nothing is ever
// removed. Fails: the first refusal stays in model->error and every later call returns it, so that building
// code may be checked once, at its end.
#include <string.h>

#include "base/argument.h"
#include "model/spatial.h"
#include "model/store.h"

static bool has_name_model(const void* ctx, int body, const void* name) {
    const char* own = ((const crModel*)ctx)->bodies[body].name;
    return own != NULL && strcmp(own, name) == 0;
}

bool cr__body_reserve_name(crModel* model) {
    return cr__index_reserve(&model->memory->body_names, &model->allocator);
}

void cr__body_add_name(crModel* model, int body) {
    const char* name = model->bodies[body].name;
    cr__index_add(&model->memory->body_names, cr_hash(CR_HASH_SEED, name, strlen(name)), has_name_model,
                  model, name, body);
}

static bool add_world(crModel* model) {
    model->bodies = cr__store_reserve(model, STORE_BODIES, NULL, 1, sizeof(crBody));
    model->top = cr__store_reserve(model, STORE_TOPS, NULL, 1, sizeof(int));
    if (model->bodies == NULL || model->top == NULL) return false;
    model->top[0] = -1;
    model->bodies[0] =
        (crBody){.name = "world", .last = -1, .pose = cr_pose_identity(), .axes = cr_quat_identity()};
    model->nb = 1;
    if (!cr__body_reserve_name(model)) return false;
    cr__body_add_name(model, CR_WORLD);
    crMaterial plain = cr_material();
    return cr_model_add_material(model, &plain) == 0;
}

crModel* cr_model_create(const crAllocator* allocator) {
    if (cr__check_allocator(allocator, NULL) != CR_OK) return NULL;
    crAllocator a = allocator != NULL ? *allocator : cr_allocator_libc();
    crModel* model = a.alloc(a.ctx, sizeof *model);
    struct crModelMemory* memory = model != NULL ? a.alloc(a.ctx, sizeof *memory) : NULL;
    if (memory == NULL) {
        if (model != NULL) a.free(a.ctx, model, sizeof *model);
        return NULL;
    }
    *memory = (struct crModelMemory){0};
    *model = (crModel){.allocator = a, .memory = memory, .gravity = {0.0, 0.0, -9.81}};
    if (!add_world(model)) {
        cr_model_destroy(model);
        return NULL;
    }
    return model;
}

void cr_model_destroy(crModel* model) {
    if (model == NULL || model->memory == NULL) return;
    crAllocator a = model->allocator;
    cr__store_free(model);
    a.free(a.ctx, model->memory, sizeof *model->memory);
    a.free(a.ctx, model, sizeof *model);
}

int cr_model_find_body(const crModel* model, const char* name) {
    if (model == NULL || model->memory == NULL || name == NULL) return CR_ERR_ARGUMENT;
    uint64_t hash = cr_hash(CR_HASH_SEED, name, strlen(name));
    int body = cr__index_find(&model->memory->body_names, hash, has_name_model, model, name);
    return body >= 0 ? body : CR_ERR_NAME;
}

crLoop cr_loop(crLoopKind kind, int a, int b) {
    crPose here = cr_pose_identity();
    return (crLoop){
        .kind = kind, .a = a, .b = b, .pose_a = here, .pose_b = here, .length = 1.0, .coef = {0.0, 1.0}};
}

crStatus cr__pose_check(crPose* pose, const char* field, crError* error) {
    crQuat q = pose->q;
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!cr_vec3_finite(pose->p) || !isfinite(length)) {
        return cr_error_set(error, CR_ERR_FINITE, field, "%s: must be finite", field);
    }
    if (!(fabs(length - 1.0) <= 1e-6)) {
        return cr_error_set(error, CR_ERR_UNIT, field, "%s: must have a unit quaternion, length %g", field,
                            length);
    }
    pose->q = cr_quat_normalize(q);
    return CR_OK;
}

static crStatus check_coupling(const crModel* model, const crLoop* loop, crError* error) {
    int body[2] = {loop->a, loop->b};
    for (int i = 0; i < 2; i++) {
        crJoint joint = model->bodies[body[i]].joint;
        if (cr_joint_info(joint)->nv == 1 || (i == 1 && body[i] == CR_WORLD)) continue;
        return cr_error_set(error, CR_ERR_ARGUMENT, i == 0 ? "a" : "b",
                            "%s: body %d must have a hinge or a slider to be coupled", i == 0 ? "a" : "b",
                            body[i]);
    }
    for (int k = 0; k < 5; k++) {
        if (!isfinite(loop->coef[k]))
            return cr_error_set(error, CR_ERR_FINITE, "coef", "coef[%d]: must be finite, got %g", k,
                                loop->coef[k]);
    }
    return CR_OK;
}

static crStatus check_range(const crLoop* loop, crError* error) {
    if (loop->lower == 0.0 && loop->upper == 0.0) return CR_OK;
    bool one_row = loop->kind == CR_LOOP_DISTANCE || loop->kind == CR_LOOP_JOINT;
    if (!one_row)
        return cr_error_set(error, CR_ERR_ARGUMENT, "lower", "lower: only a distance or a joint has a range");
    bool ends = loop->lower > -INFINITY || loop->upper < INFINITY;
    bool distance = loop->kind != CR_LOOP_DISTANCE || (loop->lower >= 0.0 && loop->upper > 0.0);
    if (loop->lower < loop->upper && ends && distance) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, "lower",
                        "lower: is %g, upper %g; must be less%s, and one of them finite", loop->lower,
                        loop->upper, loop->kind == CR_LOOP_DISTANCE ? ", not negative" : "");
}

static crStatus check_loop(const crModel* model, crLoop* loop, crError* error) {
    if ((unsigned)loop->kind > CR_LOOP_JOINT) {
        return cr_error_set(error, CR_ERR_RANGE, "kind", "kind: no such loop, got %d", (int)loop->kind);
    }
    int body[2] = {loop->a, loop->b};
    for (int i = 0; i < 2; i++) {
        if (body[i] < 0 || body[i] >= model->nb) {
            return cr_error_set(error, CR_ERR_RANGE, i == 0 ? "a" : "b",
                                "%s: must be a body, 0 to %d, got %d", i == 0 ? "a" : "b", model->nb - 1,
                                body[i]);
        }
    }
    if (loop->a == loop->b)
        return cr_error_set(error, CR_ERR_RANGE, "b", "b: must not be the same body as a");
    if (model->bodies[loop->a].last < 0 && model->bodies[loop->b].last < 0) {
        return cr_error_set(error, CR_ERR_ARGUMENT, "b", "b: neither of the bodies %d and %d can move",
                            loop->a, loop->b);
    }
    crStatus status = check_range(loop, error);
    if (status != CR_OK) return status;
    if (loop->kind == CR_LOOP_JOINT) return check_coupling(model, loop, error);
    status = cr__pose_check(&loop->pose_a, "pose_a", error);
    if (status == CR_OK) status = cr__pose_check(&loop->pose_b, "pose_b", error);
    if (status == CR_OK && loop->kind == CR_LOOP_DISTANCE && !cr_loop_ranges(loop) &&
        !(loop->length > 0.0 && isfinite(loop->length))) {
        return cr_error_set(error, CR_ERR_RANGE, "length", "length: must be > 0, got %g", loop->length);
    }
    return status;
}

static uint64_t pose_hash(uint64_t hash, const crPose* pose) {
    const double values[] = {pose->p.x, pose->p.y, pose->p.z, pose->q.w, pose->q.x, pose->q.y, pose->q.z};
    return cr_hash(hash, values, sizeof values);
}

static uint64_t loop_hash(const crLoop* loop) {
    const int whole[] = {(int)loop->kind, loop->a, loop->b};
    const double ends[] = {loop->length, loop->lower, loop->upper};
    uint64_t hash = cr_hash(CR_HASH_SEED, whole, sizeof whole);
    hash = pose_hash(pose_hash(hash, &loop->pose_a), &loop->pose_b);
    return cr_hash(cr_hash(hash, loop->coef, sizeof loop->coef), ends, sizeof ends);
}

static bool same_pose(const crPose* x, const crPose* y) {
    return x->p.x == y->p.x && x->p.y == y->p.y && x->p.z == y->p.z && x->q.w == y->q.w && x->q.x == y->q.x &&
           x->q.y == y->q.y && x->q.z == y->q.z;
}

static bool is_loop(const void* ctx, int item, const void* key) {
    const crLoop* x = &((const crModel*)ctx)->loops[item];
    const crLoop* y = key;
    return x->kind == y->kind && x->a == y->a && x->b == y->b && same_pose(&x->pose_a, &y->pose_a) &&
           same_pose(&x->pose_b, &y->pose_b) && x->length == y->length && x->lower == y->lower &&
           x->upper == y->upper && memcmp(x->coef, y->coef, sizeof x->coef) == 0;
}

int cr_model_add_loop(crModel* model, const crLoop* loop) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    if (loop == NULL) return cr_error_set(&model->error, CR_ERR_ARGUMENT, "loop", "loop: is NULL");
    crLoop own = *loop;
    crStatus status = check_loop(model, &own, &model->error);
    if (status != CR_OK) return status;
    uint64_t hash = loop_hash(&own);
    int same = cr__index_find(&model->memory->loops, hash, is_loop, model, &own);
    if (same >= 0) return same;
    crLoop* loops =
        cr__store_reserve(model, STORE_LOOPS, model->loops, model->loop_count + 1, sizeof(crLoop));
    if (loops == NULL) return cr__store_full(model);
    model->loops = loops;
    if (!cr__index_reserve(&model->memory->loops, &model->allocator) || !cr__reserve_tied(model))
        return cr__store_full(model);
    int added = model->loop_count++;
    loops[added] = own;
    cr__index_add(&model->memory->loops, hash, is_loop, model, &own, added);
    cr__add_tied(model, added);
    return added;
}

// Which bodies have mass or carry a body that has; to free. NULL when memory is out.
static bool* find_carriers(const crModel* model) {
    const crAllocator* a = &model->allocator;
    bool* carries = a->alloc(a->ctx, (size_t)model->nb * sizeof *carries);
    if (carries == NULL) return NULL;
    memset(carries, 0, (size_t)model->nb * sizeof *carries);
    // a parent comes before what it carries
    for (int i = model->nb - 1; i > 0; i--) {
        carries[i] = carries[i] || model->bodies[i].mass > 0.0;
        if (carries[i]) carries[model->bodies[i].parent] = true;
    }
    return carries;
}

static crStatus check_masses(const crModel* model, const bool* carries, crError* error) {
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        const char* name = body->name != NULL ? body->name : "";
        if (body->nv == 0) continue;
        bool rotor = body->nv == 1 && cr_model_dof(model, body->v)->armature > 0.0;
        if (!rotor && !carries[i]) {
            return cr_error_set(
                error, CR_ERR_DEFINITE, "mass",
                "mass: body %d %s moves but has no mass: give it mass or a shape with density", i, name);
        }
        if (body->single && !(body->principal[0] > 0.0)) {
            return cr_error_set(error, CR_ERR_DEFINITE, "inertia",
                                "inertia: free body %d %s needs three positive principal moments", i, name);
        }
    }
    return CR_OK;
}

crStatus cr_model_check(const crModel* model, crError* error) {
    if (model == NULL) return cr_error_set(error, CR_ERR_MEMORY, "model", "model: is NULL");
    if (model->error.status != CR_OK) {
        if (error != NULL) *error = model->error;
        return model->error.status;
    }
    if (model->memory == NULL) return cr_error_set(error, CR_ERR_ARGUMENT, "model", "model: was not created");
    bool* carries = find_carriers(model);
    if (carries == NULL) return cr_error_set(error, CR_ERR_MEMORY, "model", "model: out of memory");
    crStatus status = check_masses(model, carries, error);
    model->allocator.free(model->allocator.ctx, carries, (size_t)model->nb * sizeof *carries);
    return status;
}
