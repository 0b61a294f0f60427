// body.c - adding a body: every field checked, its place in the arrays of coordinates and velocities.
//
// Velocities form a tree of their own: each has one parent (the velocity before it in its joint, or the last
// one of the nearest moving ancestor), and row i of M has entries for i and its ancestors alone (Featherstone
// 2008, 6.4). Fails: each field by name, with the body's number; the refusal sticks to the model.
#include <string.h>

#include "model/deep.h"
#include "model/joint.h"
#include "model/store.h"

crBodyDef cr_body_def(void) {
    crBodyDef def = {.joint = CR_JOINT_FIXED, .axis = {0.0, 0.0, 1.0}, .mass = NAN, .gravity_scale = 1.0};
    def.pose = cr_pose_identity();
    for (int j = 0; j < 6; j++) {
        def.dof[j].lower = -INFINITY;
        def.dof[j].upper = INFINITY;
    }
    return def;
}

static crStatus refuse(crModel* model, crStatus status, const char* field, const char* what, double value) {
    return cr_error_set(&model->error, status, field, "body %d: %s %s, got %g", model->nb, field, what,
                        value);
}

static crStatus check_dof(crModel* model, crJoint joint, int j, const crDof* dof) {
    const double values[] = {dof->stiffness, dof->damping, dof->friction, dof->armature, dof->motor_force};
    const char* names[] = {"stiffness", "damping", "friction", "armature", "motor_force"};
    bool any = false;
    for (int i = 0; i < 5; i++) {
        bool infinite = i == 4 && isinf(values[i]);
        if (!(values[i] >= 0.0) || (!isfinite(values[i]) && !infinite)) {
            return refuse(model, CR_ERR_RANGE, names[i], "must be >= 0", values[i]);
        }
        any = any || values[i] > 0.0;
    }
    if (!isfinite(dof->rest)) return refuse(model, CR_ERR_FINITE, "rest", "must be finite", dof->rest);
    if (!isfinite(dof->motor_speed)) {
        return refuse(model, CR_ERR_FINITE, "motor_speed", "must be finite", dof->motor_speed);
    }
    if (!(dof->lower < dof->upper))
        return refuse(model, CR_ERR_RANGE, "upper", "must be > lower", dof->upper);
    bool forced = dof->force_lower != 0.0 || dof->force_upper != 0.0;
    if (forced &&
        !(dof->force_lower <= 0.0 && dof->force_upper >= 0.0 && dof->force_lower < dof->force_upper))
        return refuse(model, CR_ERR_RANGE, "force_upper", "must be >= 0 and force_lower <= 0",
                      dof->force_upper);
    bool limited = dof->lower > -INFINITY || dof->upper < INFINITY;
    if (joint == CR_JOINT_FREE && (any || limited)) {
        return refuse(model, CR_ERR_RANGE, "dof",
                      "of a free joint takes no spring, damper, motor, friction, armature or limit", j);
    }
    if (joint != CR_JOINT_BALL) return CR_OK;
    if (dof->rest != 0.0) return refuse(model, CR_ERR_RANGE, "rest", "of a ball must be 0", dof->rest);
    bool angle = dof->upper > 0.0 && (dof->upper <= CR_PI || isinf(dof->upper));
    if (dof->lower > -INFINITY || !angle || (j > 0 && limited)) {
        return refuse(model, CR_ERR_RANGE, "upper", "of a ball: only dof[0].upper may be limited, to (0, pi]",
                      dof->upper);
    }
    return CR_OK;
}

static crStatus check_joint(crModel* model, crBodyDef* def) {
    if ((unsigned)def->joint >= CR_JOINT_KINDS) {
        return refuse(model, CR_ERR_RANGE, "joint", "is not a joint", (double)def->joint);
    }
    if (def->parent < 0 || def->parent >= model->nb) {
        return refuse(model, CR_ERR_RANGE, "parent", "must be a body that is already there", def->parent);
    }
    if (cr__joints[def->joint].rooted && def->parent != CR_WORLD) {
        return refuse(model, CR_ERR_RANGE, "parent", "of a free or driven body must be the world",
                      def->parent);
    }
    if (def->joint == CR_JOINT_DRIVEN && def->drive == NULL) {
        return cr_error_set(&model->error, CR_ERR_MISSING, "drive", "body %d: drive must be given",
                            model->nb);
    }
    for (int j = 0; j < cr__joints[def->joint].info.nv; j++) {
        crStatus status = check_dof(model, def->joint, j, &def->dof[j]);
        if (status != CR_OK) return status;
    }
    if (!cr__joints[def->joint].info.axis) return CR_OK;
    double length = cr_norm(def->axis);
    if (!isfinite(length)) return refuse(model, CR_ERR_FINITE, "axis", "must be finite, length", length);
    if (!(length > 0.0)) return refuse(model, CR_ERR_UNIT, "axis", "must not be zero, length", length);
    def->axis = cr_vec3(def->axis.x / length, def->axis.y / length, def->axis.z / length);
    return CR_OK;
}

static crStatus check_name(crModel* model, const char* name) {
    if (name == NULL || cr_model_find_body(model, name) == CR_ERR_NAME) return CR_OK;
    return cr_error_set(&model->error, CR_ERR_NAME, "name", "body %d: name \"%.64s\" is taken", model->nb,
                        name);
}

static crStatus check_def(crModel* model, crBodyDef* def) {
    crStatus status = check_name(model, def->name);
    if (status == CR_OK) status = check_joint(model, def);
    if (status == CR_OK) status = cr__pose_check(&def->pose, "pose", &model->error);
    if (status != CR_OK) return status;
    if (!isfinite(def->gravity_scale)) {
        return refuse(model, CR_ERR_FINITE, "gravity_scale", "must be finite", def->gravity_scale);
    }
    if (!(def->linear_drag >= 0.0 && isfinite(def->linear_drag))) {
        return refuse(model, CR_ERR_RANGE, "linear_drag", "must be >= 0", def->linear_drag);
    }
    if (!(def->angular_drag >= 0.0 && isfinite(def->angular_drag))) {
        return refuse(model, CR_ERR_RANGE, "angular_drag", "must be >= 0", def->angular_drag);
    }
    if (isnan(def->mass)) return CR_OK;
    crMass mass = {def->mass, def->com, def->inertia};
    return cr_mass_check(&mass, &model->error);
}

void cr__body_set_mass(crBody* body, const crMass* mass) {
    body->mass = mass->mass;
    body->com = mass->com;
    body->inertia = mass->inertia;
    crMat3 axes;
    cr_sym3_eigen(mass->inertia, body->principal, &axes);
    body->principal[0] = fmax(0.0, body->principal[0]);
    body->axes = cr__rotation_of(axes);
}

static bool reserve(crModel* model, const crBodyDef* def) {
    int nv = model->nv + cr__joints[def->joint].info.nv;
    int nq = model->nq + cr__joints[def->joint].info.nq;
    void* room = cr__store_reserve(model, STORE_BODIES, model->bodies, model->nb + 1, sizeof(crBody));
    if (room == NULL) return false;
    model->bodies = room;
    if ((room = cr__store_reserve(model, STORE_TOPS, model->top, model->nb + 1, sizeof(int))) == NULL)
        return false;
    model->top = room;
    int dofs = model->velocity.dof_count + cr__joints[def->joint].info.nv;
    if ((room = cr__store_reserve(model, STORE_DOFS, model->velocity.dofs, dofs, sizeof(crDof))) == NULL)
        return false;
    model->velocity.dofs = room;
    if ((room = cr__store_reserve(model, STORE_DOF_AT, model->velocity.dof, nv, sizeof(int))) == NULL)
        return false;
    model->velocity.dof = room;
    if ((room = cr__store_reserve(model, STORE_DOF_BODY, model->velocity.body, nv, sizeof(int))) == NULL)
        return false;
    model->velocity.body = room;
    if ((room = cr__store_reserve(model, STORE_DOF_PARENT, model->velocity.parent, nv, sizeof(int))) == NULL)
        return false;
    model->velocity.parent = room;
    if ((room = cr__store_reserve(model, STORE_DOF_DEPTH, model->velocity.depth, nv, sizeof(int))) == NULL)
        return false;
    model->velocity.depth = room;
    if ((room = cr__store_reserve(model, STORE_ROW, model->velocity.row, nv, sizeof(int))) == NULL)
        return false;
    model->velocity.row = room;
    room = cr__store_reserve(model, STORE_DOF_ACTUATOR, model->velocity.actuator, nv, sizeof(int));
    if (room == NULL) return false;
    model->velocity.actuator = room;
    if ((room = cr__store_reserve(model, STORE_Q0, model->q0, nq, sizeof(double))) == NULL) return false;
    model->q0 = room;
    return true;
}

// first coordinate values: quaternions at no rotation, a free body at its pose
static void reference(const crBodyDef* def, double* q) {
    for (int i = 0; i < cr__joints[def->joint].info.nq; i++) {
        q[i] = 0.0;
    }
    int turned = cr__joints[def->joint].info.quaternion;
    if (turned >= 0) q[turned] = 1.0;
    if (def->joint == CR_JOINT_FREE) {
        cr__store_vec(def->pose.p, q);
        cr__store_quat(def->pose.q, q + 3);
    }
}

static bool same_dof(const crDof* a, const crDof* b) {
    return a->rest == b->rest && a->motor_speed == b->motor_speed && a->force_lower == b->force_lower &&
           a->force_upper == b->force_upper;
}

// The place of a dof, for which there is room. Those of free joints differ in few numbers, if at all: one that is like the last
// of them shares its place.
static int place_dof(crModel* model, crJoint joint, const crDof* dof) {
    int last = model->memory->free_dof - 1;
    if (joint == CR_JOINT_FREE && last >= 0 && same_dof(&model->velocity.dofs[last], dof)) return last;
    if (joint == CR_JOINT_FREE) model->memory->free_dof = model->velocity.dof_count + 1;
    model->velocity.dofs[model->velocity.dof_count] = *dof;
    return model->velocity.dof_count++;
}

static void append_dofs(crModel* model, const crBody* body, const crDof* dofs, int parent_last) {
    for (int j = 0; j < body->nv; j++) {
        int i = body->v + j;
        int parent = j == 0 ? parent_last : i - 1;
        model->velocity.dof[i] = place_dof(model, body->joint, &dofs[j]);
        model->velocity.actuator[i] = -1;
        model->velocity.body[i] = model->nb;
        model->velocity.parent[i] = parent;
        model->velocity.depth[i] = parent < 0 ? 0 : model->velocity.depth[parent] + 1;
        bool deep = model->velocity.depth[i] >= CR__DEEP;
        if (deep) model->bodies[body->root].deep = true;
        model->velocity.row[i] = deep ? -1 : model->velocity.nM;
        model->velocity.nM += deep ? 0 : model->velocity.depth[i] + 1;
    }
}

// the new body, its numbers and its mass
static crBody place(const crModel* model, const crBodyDef* def) {
    const crBody* parent = &model->bodies[def->parent];
    crBody body = {
        .name = def->name, .joint_name = def->joint_name, .parent = def->parent, .joint = def->joint};
    body.q = model->nq;
    body.nq = cr__joints[def->joint].info.nq;
    body.v = model->nv;
    body.nv = cr__joints[def->joint].info.nv;
    body.root = parent->last < 0 ? model->nb : parent->root;
    body.base = def->joint == CR_JOINT_DRIVEN ? model->nb : parent->base;
    body.last = body.nv > 0 ? body.v + body.nv - 1 : parent->last;
    body.single = def->joint == CR_JOINT_FREE;
    body.pose = def->pose;
    body.axis = def->axis;
    body.gravity_scale = def->gravity_scale;
    body.linear_drag = def->linear_drag;
    body.angular_drag = def->angular_drag;
    body.drive = def->drive;
    body.drive_ctx = def->drive_ctx;
    body.mass_given = !isnan(def->mass);
    crMass mass = {def->mass, def->com, def->inertia};
    if (!body.mass_given) mass = (crMass){0};
    cr__body_set_mass(&body, &mass);
    return body;
}

int cr_model_add_body(crModel* model, const crBodyDef* given) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    if (given == NULL) return cr_error_set(&model->error, CR_ERR_ARGUMENT, "def", "def: is NULL");
    crBodyDef def = *given;
    crStatus status = check_def(model, &def);
    if (status != CR_OK) return status;
    if (model->velocity.nM > INT32_MAX / 2) {
        return cr_error_set(&model->error, CR_ERR_LIMIT, "parent", "body %d: the tree is too deep",
                            model->nb);
    }
    if (!reserve(model, &def) || !cr__body_reserve_name(model)) return cr__store_full(model);
    if (def.name != NULL) {
        def.name = cr__store_copy(model, def.name, strlen(def.name) + 1);
        if (def.name == NULL) return cr__store_full(model);
    }
    status = cr__name_keep(model, CR_NAME_JOINT, &def.joint_name);
    if (status != CR_OK) return status;
    crBody* parent = &model->bodies[def.parent];
    crBody body = place(model, &def);
    parent->single = false;
    append_dofs(model, &body, def.dof, parent->last);
    reference(&def, model->q0 + body.q);
    model->nq += body.nq;
    model->nv += body.nv;
    model->bodies[model->nb] = body;
    model->top[model->nb] = body.last >= 0 ? body.root : -1;
    if (body.name != NULL) cr__body_add_name(model, model->nb);
    int added = model->nb++;
    cr__name_add(model, CR_NAME_JOINT, added);
    return added;
}
