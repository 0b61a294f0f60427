// info_control.c - what a scene can be driven and measured by: one line each, or JSON.
#include "info_control.h"
#include "carom/dynamics.h"

#include <stdio.h>

#include "command.h"
#include "io/json.h"

static const char* joint_name(const crModel* model, int dof) {
    const crBody* body = &model->bodies[model->dof_body[dof]];
    return body->joint_name != NULL ? body->joint_name : body->name;
}

static const char* or_none(const char* name) { return name != NULL ? name : "-"; }

static const char* object_name(const crModel* model, const crSensor* s) {
    if (s->kind == CR_SENSOR_ENERGY) return "";
    if (s->kind <= CR_SENSOR_JOINT_FORCE) return joint_name(model, model->bodies[s->object].v);
    if (s->kind <= CR_SENSOR_ACTUATOR_FORCE) return or_none(model->actuators[s->object].name);
    return or_none(model->sites[s->object].name);
}

static void print_range(const char* what, double low, double high) {
    if (low > -INFINITY || high < INFINITY) printf(", %s %g to %g", what, low, high);
}

void info_control_text(const crScene* scene) {
    const crModel* model = scene->model;
    if (model->nu + model->site_count + model->sensor_count + scene->key_count == 0) return;
    putchar('\n');
    for (int i = 0; i < model->nu; i++) {
        const crActuator* a = &model->actuators[i];
        fputs("actuator ", stdout);
        print_plain(stdout, or_none(a->name));
        fputs(" on", stdout);
        for (int k = 0; k < a->dof_count; k++) {
            putchar(' ');
            print_plain(stdout, joint_name(model, a->dof[k]));
        }
        print_range("ctrl", a->ctrl_lower, a->ctrl_upper);
        print_range("force", a->force_lower, a->force_upper);
        static const char* const kinds[] = {"", "integrator", "filter", "exact filter"};
        if (a->activation != CR_ACTIVATION_NONE) printf(", %s", kinds[a->activation]);
        if (a->activation > CR_ACTIVATION_INTEGRATOR) printf(" of %g s", a->time_constant);
        putchar('\n');
    }
    for (int i = 0; i < model->site_count; i++) {
        fputs("site ", stdout);
        print_plain(stdout, or_none(model->sites[i].name));
        fputs(" on ", stdout);
        print_plain(stdout, or_none(model->bodies[model->sites[i].body].name));
        putchar('\n');
    }
    for (int i = 0; i < model->sensor_count; i++) {
        const crSensor* s = &model->sensors[i];
        fputs("sensor ", stdout);
        print_plain(stdout, or_none(s->name));
        printf(": %s ", cr_sensor_kind_name(s->kind));
        print_plain(stdout, object_name(model, s));
        printf(" (%d)\n", s->count);
    }
    for (int i = 0; i < scene->key_count; i++) {
        fputs("keyframe ", stdout);
        print_plain(stdout, scene->keys[i].name);
        putchar('\n');
    }
}

static void begin_item(int index, const char* name) {
    fputs(index > 0 ? ", {\"name\": " : "{\"name\": ", stdout);
    cr_json_write_string(stdout, or_none(name));
}

static void member(const char* key, const char* text) {
    printf(", \"%s\": ", key);
    cr_json_write_string(stdout, text);
}

void info_control_json(const crScene* scene) {
    const crModel* model = scene->model;
    fputs("  \"actuators\": [", stdout);
    for (int i = 0; i < model->nu; i++) {
        const crActuator* a = &model->actuators[i];
        begin_item(i, a->name);
        fputs(", \"joints\": [", stdout);
        for (int k = 0; k < a->dof_count; k++) {
            if (k > 0) fputs(", ", stdout);
            cr_json_write_string(stdout, joint_name(model, a->dof[k]));
        }
        fputs("]}", stdout);
    }
    fputs("],\n  \"sites\": [", stdout);
    for (int i = 0; i < model->site_count; i++) {
        begin_item(i, model->sites[i].name);
        member("body", or_none(model->bodies[model->sites[i].body].name));
        putchar('}');
    }
    fputs("],\n  \"sensors\": [", stdout);
    for (int i = 0; i < model->sensor_count; i++) {
        const crSensor* s = &model->sensors[i];
        begin_item(i, s->name);
        member("type", cr_sensor_kind_name(s->kind));
        member("of", object_name(model, s));
        printf(", \"first\": %d, \"count\": %d}", s->first, s->count);
    }
    fputs("],\n  \"keyframes\": [", stdout);
    for (int i = 0; i < scene->key_count; i++) {
        if (i > 0) fputs(", ", stdout);
        cr_json_write_string(stdout, scene->keys[i].name);
    }
    fputs("],\n", stdout);
}
