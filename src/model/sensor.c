// sensor.c - sites and sensors of a model: checks, names, and the place of each sensor among all numbers.
//
// Fails: CR_ERR_RANGE, CR_ERR_FINITE, CR_ERR_NAME with the field's name; the refusal sticks to the model.
#include <string.h>

#include "carom/dynamics.h"
#include "model/spatial.h"
#include "model/store.h"

static const char* const names[CR_SENSOR_KINDS] = {"joint_position",
                                                   "joint_velocity",
                                                   "joint_force",
                                                   "actuator_position",
                                                   "actuator_velocity",
                                                   "actuator_force",
                                                   "tendon_position",
                                                   "tendon_velocity",
                                                   "position",
                                                   "orientation",
                                                   "velocity",
                                                   "angular_velocity",
                                                   "velocimeter",
                                                   "gyro",
                                                   "accelerometer",
                                                   "force",
                                                   "torque",
                                                   "touch",
                                                   "range",
                                                   "energy"};

const char* cr_sensor_kind_name(crSensorKind kind) {
    return (unsigned)kind < CR_SENSOR_KINDS ? names[kind] : NULL;
}

int cr_model_add_site(crModel* model, const crSite* site) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    if (site == NULL) return cr_error_set(&model->error, CR_ERR_ARGUMENT, "site", "site: is NULL");
    crSite own = *site;
    if (own.body < 0 || own.body >= model->nb)
        return cr_error_set(&model->error, CR_ERR_RANGE, "body", "site %d: body must be 0 to %d, got %d",
                            model->site_count, model->nb - 1, own.body);
    if (own.volume.kind > CR_SHAPE_ELLIPSOID || own.volume.kind == CR_SHAPE_CONE)
        return cr_error_set(&model->error, CR_ERR_RANGE, "volume",
                            "site %d: volume must be a sphere, capsule, box, cylinder or ellipsoid",
                            model->site_count);
    crStatus status = cr_shape_check(&own.volume, true, &model->error);
    if (status == CR_OK) status = cr__pose_check(&own.volume.pose, "volume.pose", &model->error);
    if (status == CR_OK) status = cr__name_keep(model, CR_NAME_SITE, &own.name);
    if (status != CR_OK) return status;
    crSite* all = cr__store_reserve(model, STORE_SITES, model->sites, model->site_count + 1, sizeof *all);
    if (all == NULL) return cr__store_full(model);
    model->sites = all;
    all[model->site_count++] = own;
    cr__name_add(model, CR_NAME_SITE, model->site_count - 1);
    return model->site_count - 1;
}

int cr_model_find_site(const crModel* model, const char* name) {
    if (model == NULL || model->memory == NULL || name == NULL) return CR_ERR_ARGUMENT;
    return cr__name_find(model, CR_NAME_SITE, name);
}

// Numbers of a sensor whose object is checked.
static int count_of(const crModel* model, const crSensor* s) {
    switch (s->kind) {
    case CR_SENSOR_JOINT_POSITION:
        return model->bodies[s->object].nq;
    case CR_SENSOR_JOINT_VELOCITY:
    case CR_SENSOR_JOINT_FORCE:
        return model->bodies[s->object].nv;
    case CR_SENSOR_ORIENTATION:
        return 4;
    case CR_SENSOR_ENERGY:
        return 2;
    case CR_SENSOR_ACTUATOR_POSITION:
    case CR_SENSOR_ACTUATOR_VELOCITY:
    case CR_SENSOR_ACTUATOR_FORCE:
    case CR_SENSOR_TENDON_POSITION:
    case CR_SENSOR_TENDON_VELOCITY:
    case CR_SENSOR_TOUCH:
    case CR_SENSOR_RANGE:
        return 1;
    default:
        return 3;
    }
}

static crStatus check_object(crModel* model, const crSensor* s) {
    bool joint = s->kind <= CR_SENSOR_JOINT_FORCE;
    bool actuator = s->kind >= CR_SENSOR_ACTUATOR_POSITION && s->kind <= CR_SENSOR_ACTUATOR_FORCE;
    bool tendon = s->kind == CR_SENSOR_TENDON_POSITION || s->kind == CR_SENSOR_TENDON_VELOCITY;
    int count = joint ? model->nb : actuator ? model->nu : tendon ? model->tendon_count : model->site_count;
    const char* what = joint ? "body with a joint" : actuator ? "actuator" : tendon ? "tendon" : "site";
    bool moves = !joint || (s->object > 0 && s->object < count && model->bodies[s->object].nv > 0);
    bool ok = s->kind == CR_SENSOR_ENERGY || (s->object >= 0 && s->object < count && moves);
    if (ok) return CR_OK;
    return cr_error_set(&model->error, CR_ERR_RANGE, "object", "sensor %d (%s): object must be a %s, got %d",
                        model->sensor_count, names[s->kind], what, s->object);
}

static crStatus check_sensor(crModel* model, const crSensor* s) {
    if ((unsigned)s->kind >= CR_SENSOR_KINDS)
        return cr_error_set(&model->error, CR_ERR_RANGE, "kind", "sensor %d: kind: no such sensor, got %d",
                            model->sensor_count, (int)s->kind);
    crStatus status = check_object(model, s);
    if (status != CR_OK) return status;
    const double values[] = {s->noise, s->cutoff};
    const char* const fields[] = {"noise", "cutoff"};
    for (int i = 0; i < 2; i++) {
        if (values[i] >= 0.0 && isfinite(values[i])) continue;
        return cr_error_set(&model->error, CR_ERR_RANGE, fields[i], "sensor %d: %s must be >= 0, got %g",
                            model->sensor_count, fields[i], values[i]);
    }
    return CR_OK;
}

int cr_model_add_sensor(crModel* model, const crSensor* sensor) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    if (sensor == NULL) return cr_error_set(&model->error, CR_ERR_ARGUMENT, "sensor", "sensor: is NULL");
    crSensor own = *sensor;
    crStatus status = check_sensor(model, &own);
    if (status == CR_OK) status = cr__name_keep(model, CR_NAME_SENSOR, &own.name);
    if (status != CR_OK) return status;
    crSensor* all =
        cr__store_reserve(model, STORE_SENSORS, model->sensors, model->sensor_count + 1, sizeof *all);
    if (all == NULL) return cr__store_full(model);
    model->sensors = all;
    own.first = model->nsensor;
    own.count = count_of(model, &own);
    model->nsensor += own.count;
    all[model->sensor_count++] = own;
    cr__name_add(model, CR_NAME_SENSOR, model->sensor_count - 1);
    return model->sensor_count - 1;
}

int cr_model_find_sensor(const crModel* model, const char* name) {
    if (model == NULL || model->memory == NULL || name == NULL) return CR_ERR_ARGUMENT;
    return cr__name_find(model, CR_NAME_SENSOR, name);
}
