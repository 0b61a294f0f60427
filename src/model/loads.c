// loads.c - forces and moments on bodies, and along their joints, as functions of time and motion.
//
// A load is a force F at a point x of a body and a moment M, in world axes or in the body's, or a force along a hinge
// or slider: f_j += axis_j . (M + (x - o) x F, F) for every velocity j on the way from the world to the body.
// Fails: CR_ERR_ARGUMENT, CR_ERR_FINITE by field; cr_model_add_loads names the body whose load is not a number.
#include "base/argument.h"
#include "carom/dynamics.h"
#include "model/spatial.h"
#include "model/store.h"

crLoad cr_load(int body) { return (crLoad){.body = body, .central = true}; }

static crStatus check_load(const crModel* model, const crLoad* load, crError* error) {
    if (load->body <= CR_WORLD || load->body >= model->nb)
        return cr_error_set(error, CR_ERR_ARGUMENT, "load.body", "load.body: is %d, must be 1 to %d",
                            load->body, model->nb - 1);
    if (model->bodies[load->body].last < 0)
        return cr_error_set(error, CR_ERR_ARGUMENT, "load.body", "load.body: body %d does not move by forces",
                            load->body);
    if (load->function == NULL)
        return cr_error_set(error, CR_ERR_MISSING, "load.function", "load.function: must be given");
    if (!cr_vec3_finite(load->point))
        return cr_error_set(error, CR_ERR_FINITE, "load.point", "load.point: must be finite");
    return CR_OK;
}

int cr_model_add_load(crModel* model, const crLoad* load) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    if (load == NULL) return cr_error_set(&model->error, CR_ERR_ARGUMENT, "load", "load: is NULL");
    crStatus status = check_load(model, load, &model->error);
    if (status != CR_OK) return status;
    crLoad* loads =
        cr__store_reserve(model, STORE_LOADS, model->loads, model->load_count + 1, sizeof(crLoad));
    if (loads == NULL) return cr__store_full(model);
    model->loads = loads;
    loads[model->load_count] = *load;
    return model->load_count++;
}

static crStatus refuse(const crModel* model, int body, const char* what, crStatus status, crError* error) {
    const char* name = model->bodies[body].name;
    return cr_error_set(error, status, "load", "load: on body %d%s%s: %s", body, name != NULL ? " " : "",
                        name != NULL ? name : "", what);
}

static crStatus add_load(const crModel* model, const crState* state, double time, const crDynamics* d,
                         const crLoad* load, double* force, crError* error) {
    const crBody* body = &model->bodies[load->body];
    crPose pose = d->pose[load->body];
    crVec3 point = load->central ? d->com[load->body] : cr_pose_point(pose, load->point);
    crLoadAt at = {.time = time,
                   .point = point,
                   .velocity = cr__point_velocity(d, load->body, point),
                   .q = state->q + body->q,
                   .v = state->v + body->v};
    crLoadValue f = {0};
    load->function(load->ctx, &at, &f);
    if (!cr_vec3_finite(f.force) || !cr_vec3_finite(f.moment) || !isfinite(f.along))
        return refuse(model, load->body, "is not a finite number", CR_ERR_FINITE, error);
    if (load->turns) {
        f.force = cr_quat_rotate(pose.q, f.force);
        f.moment = cr_quat_rotate(pose.q, f.moment);
    }
    cr_model_add_force(model, d, load->body, point, f.force, f.moment, force);
    if (f.along == 0.0) return CR_OK;
    if (body->nv != 1)
        return refuse(model, load->body, "a force along a joint needs a hinge or slider", CR_ERR_ARGUMENT,
                      error);
    force[body->v] += f.along;
    return CR_OK;
}

crStatus cr_model_add_loads(const crModel* model, const crState* state, double time, const crDynamics* d,
                            double* force, crError* error) {
    if (model == NULL) return cr__missing(error, "model");
    if (!cr__dynamics_fits(model, d)) return cr__missing(error, "d");
    if (!cr__state_fits(model, state)) return cr__missing(error, "state");
    if (force == NULL) return cr__missing(error, "force");
    crStatus status = CR_OK;
    for (int i = 0; i < model->load_count && status == CR_OK; i++) {
        status = add_load(model, state, time, d, &model->loads[i], force, error);
    }
    return status;
}
