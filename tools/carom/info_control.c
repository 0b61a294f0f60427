// info_control.c - what a scene can be driven and measured by: one line each, or JSON.
#include "info_control.h"
#include "carom/dynamics.h"

#include <stdio.h>

#include "command.h"
#include "io/json.h"

static const char* joint_name(const crModel* model, int dof) {
    const crBody* body = &model->bodies[model->velocity.body[dof]];
    return body->joint_name != NULL ? body->joint_name : body->name;
}

static const char* or_none(const char* name) { return name != NULL ? name : "-"; }

static const char* object_name(const crModel* model, const crSensor* s) {
    if (s->kind == CR_SENSOR_ENERGY) return "";
    if (s->kind <= CR_SENSOR_JOINT_FORCE) return joint_name(model, model->bodies[s->object].v);
    if (s->kind <= CR_SENSOR_ACTUATOR_FORCE) return or_none(model->actuators[s->object].name);
    if (s->kind <= CR_SENSOR_TENDON_VELOCITY) return or_none(model->tendons[s->object].name);
    return or_none(model->sites[s->object].name);
}

// what an actuator acts along, of those that do not act along joints
static const char* along(const crModel* model, const crActuator* a) {
    if (a->transmission == CR_ALONG_TENDON) return or_none(model->tendons[a->tendon].name);
    return or_none(model->sites[a->site].name);
}

static void print_range(const char* what, double low, double high) {
    if (low > -INFINITY || high < INFINITY) printf(", %s %g to %g", what, low, high);
}

void info_control_text(const crScene* scene) {
    const crModel* model = scene->model;
    if (model->nu + model->tendon_count + model->site_count + model->sensor_count + scene->key_count == 0)
        return;
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
        if (a->transmission != CR_ALONG_JOINTS) {
            static const char* const ways[] = {"", " tendon ", " site ", " crank at "};
            fputs(ways[a->transmission], stdout);
            print_plain(stdout, along(model, a));
        }
        print_range("ctrl", a->ctrl_lower, a->ctrl_upper);
        print_range("force", a->force_lower, a->force_upper);
        static const char* const kinds[] = {"", "integrator", "filter", "exact filter"};
        if (a->activation != CR_ACTIVATION_NONE) printf(", %s", kinds[a->activation]);
        if (a->activation > CR_ACTIVATION_INTEGRATOR) printf(" of %g s", a->time_constant);
        putchar('\n');
    }
    for (int i = 0; i < model->tendon_count; i++) {
        const crTendon* t = &model->tendons[i];
        fputs("tendon ", stdout);
        print_plain(stdout, or_none(t->name));
        fputs(t->joints ? " along" : " over", stdout);
        for (int k = 0; k < t->count; k++) {
            putchar(' ');
            print_plain(stdout,
                        t->joints ? joint_name(model, t->item[k]) : or_none(model->sites[t->item[k]].name));
        }
        if (t->stiffness > 0.0) printf(", stiffness %g", t->stiffness);
        if (t->damping > 0.0) printf(", damping %g", t->damping);
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
        putchar(']');
        if (a->transmission == CR_ALONG_TENDON) member("tendon", along(model, a));
        if (a->transmission >= CR_ALONG_SITE) member("site", along(model, a));
        putchar('}');
    }
    fputs("],\n  \"tendons\": [", stdout);
    for (int i = 0; i < model->tendon_count; i++) {
        begin_item(i, model->tendons[i].name);
        putchar('}');
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
