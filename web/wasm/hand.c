// hand.c - bodies pulled and pushed, and controls moved, while a scene runs; and the record of it.
//
// A hand is a load of the model: the step asks for its force once, at its beginning, and holds it. The spring is as
// stiff as the mass at the point allows: m omega^2 with critical damping, m = 1/|W|, so that it is stable at any
// step. What acted in each step is kept as rows of a table; as `forces` and `ctrl` of the scene they give the same bits.
// Fails: memory; more rows than a scene may have end the hold and the record says so.
#include "hand.h"

#include <math.h>
#include <stdlib.h>

#include "audit_json.h"
#include "carom/dynamics.h"
#include "carom/robot.h"
#include "carom/stages.h"
#include "stream.h"

#define QUICK 0.3  // omega of the spring times the step, at most

static void idle(void* ctx, const crLoadAt* at, crLoadValue* out) {
    (void)ctx;
    (void)at;
    (void)out;
}

static crVec3 spring(const PageHand* hand, const crLoadAt* at) {
    crVec3 way = cr_sub(hand->target, at->point);
    double length = cr_norm(way);
    if (length > hand->reach) way = cr_scale(hand->reach / length, way);
    return cr_sub(cr_scale(hand->stiffness, way), cr_scale(hand->damping, at->velocity));
}

static void pull(void* ctx, const crLoadAt* at, crLoadValue* out) {
    PageHand* hand = ctx;
    PageScene* s = hand->scene;
    crVec3 force = hand->holding ? spring(hand, at) : cr_vec3(0.0, 0.0, 0.0);
    force = cr_add(force, cr_scale(1.0 / s->h, hand->impulse));
    if (!cr_vec3_finite(force)) force = cr_vec3(0.0, 0.0, 0.0);
    hand->impulse = cr_vec3(0.0, 0.0, 0.0);
    double begin = cr_world_state(s->world)->time;
    const double row[3] = {force.x, force.y, force.z}, none[3] = {0.0, 0.0, 0.0};
    bool acts = row[0] != 0.0 || row[1] != 0.0 || row[2] != 0.0;
    bool kept = hand->table.count > 0 || !acts || table_follow(&hand->table, begin, begin, none);
    if (kept && (acts || hand->table.count > 0)) kept = table_follow(&hand->table, begin, at->time, row);
    if (!kept) {
        s->lost = true;
        hand->holding = false;
        force = cr_vec3(0.0, 0.0, 0.0);
    }
    hand->at = at->point;
    hand->force = force;
    out->force = force;
}

bool hands_prepare(PageScene* s) {
    crModel* model = s->scene.model;
    s->controls = calloc((size_t)model->nu + 1, sizeof *s->controls);
    s->sensed = calloc((size_t)model->nsensor + 1, sizeof *s->sensed);
    for (int i = 0; s->controls != NULL && i < model->nu; i++) {
        s->controls[i] = (PageControl){.table.width = 2, .steered = INFINITY};
    }
    int body = 1;
    while (body < model->nb && model->bodies[body].last < 0) {
        body++;
    }
    if (body < model->nb && model->load_count == 0) {
        crLoad load = cr_load(body);
        load.function = idle;
        if (cr_model_add_load(model, &load) < 0) return false;
    }
    return s->controls != NULL && s->sensed != NULL;
}

void hands_follow(PageScene* s, double begin, double middle) {
    const crState* state = cr_world_state(s->world);
    for (int i = 0; i < s->scene.model->nu; i++) {
        if (!table_follow(&s->controls[i].table, begin, middle, &state->ctrl[i])) s->lost = true;
    }
}

void hands_cut(PageScene* s, double time) {
    for (int i = 0; i < s->hand_count; i++) {
        table_cut(&s->hands[i]->table, time);
        s->hands[i]->impulse = cr_vec3(0.0, 0.0, 0.0);
        s->hands[i]->holding = false;
    }
    for (int i = 0; i < s->scene.model->nu; i++) {
        PageControl* control = &s->controls[i];
        table_cut(&control->table, time);
        if (control->steered < time || isinf(control->steered)) continue;
        control->steered = INFINITY;
        s->scene.model->actuators[i].schedule = control->schedule;
    }
}

void hands_free(PageScene* s) {
    for (int i = 0; i < s->hand_count; i++) {
        free(s->hands[i]->table.rows);
        free(s->hands[i]);
    }
    for (int i = 0; s->controls != NULL && i < s->scene.model->nu; i++) {
        free(s->controls[i].table.rows);
    }
    free(s->hands);
    free(s->controls);
    free(s->sensed);
}

// largest row sum of W = J M^-1 J^T at a point: no less than its largest eigenvalue; 0 where nothing moves
static double inverse_mass(const PageScene* s, int body, crVec3 point) {
    const crModel* model = s->scene.model;
    crArena arena;
    crDynamics d = {0};
    double most = 0.0;
    cr_arena_create(&arena, NULL, 0);
    size_t nv = (size_t)model->nv;
    double* J = cr_arena_alloc(&arena, 3 * nv * sizeof(double));
    double* x = cr_arena_alloc(&arena, nv * sizeof(double));
    if (J != NULL && x != NULL && cr_dynamics_create(model, &arena, &d) == CR_OK) {
        cr_model_kinematics(model, cr_world_state(s->world), &d);
        if (cr_model_mass_factor(model, 0.0, &d) == CR_OK &&
            cr_model_jacobian(model, &d, body, point, J, NULL) == CR_OK) {
            for (size_t row = 0; row < 3; row++) {
                memcpy(x, J + row * nv, nv * sizeof(double));
                cr_model_mass_solve(model, &d, x);
                double sum = 0.0;
                for (size_t k = 0; k < 3; k++) {
                    double w = 0.0;
                    for (size_t i = 0; i < nv; i++) {
                        w += J[k * nv + i] * x[i];
                    }
                    sum += fabs(w);
                }
                most = fmax(most, sum);
            }
        }
    }
    cr_arena_destroy(&arena);
    return most;
}

static PageHand* new_hand(PageScene* s, int body, crVec3 at) {
    PageHand** hands = realloc(s->hands, ((size_t)s->hand_count + 1) * sizeof *hands);
    if (hands == NULL) return NULL;
    s->hands = hands;
    PageHand* hand = calloc(1, sizeof *hand);
    if (hand == NULL) return NULL;
    crPose pose = cr_world_pose(s->world, body);
    crVec3 local = cr_pose_point_inverse(pose, at);
    *hand = (PageHand){.scene = s, .body = body, .at = at, .target = at, .table.width = 4};
    // the scene's own point first, so that reading it gives the same bits
    hand->own = cr_add(local, s->scene.anchors[body]);
    hand->point = cr_sub(hand->own, s->scene.anchors[body]);
    crLoad load = cr_load(body);
    load.central = false;
    load.point = hand->point;
    load.function = pull;
    load.ctx = hand;
    if (cr_model_add_load(s->scene.model, &load) < 0) {
        s->scene.model->error = (crError){0};
        free(hand);
        return NULL;
    }
    s->hands[s->hand_count++] = hand;
    return hand;
}

static PageHand* hand_at(PageScene* s, int index) {
    return index >= 0 && index < s->hand_count ? s->hands[index] : NULL;
}

int carom_hand_grip(PageScene* s, int body, double x, double y, double z, double size) {
    if (body < 1 || body >= s->scene.model->nb || s->scene.model->bodies[body].last < 0) return -1;
    crVec3 at = cr_vec3(x, y, z);
    double w = inverse_mass(s, body, at);
    PageHand* hand = w > 0.0 && isfinite(w) ? new_hand(s, body, at) : NULL;
    if (hand == NULL) return -1;
    double gravity = fmax(cr_norm(s->scene.model->gravity), 1.0);
    double omega = fmin(sqrt(gravity / (0.05 * size)), QUICK / s->scene.step.dt);
    hand->stiffness = omega * omega / w;
    hand->damping = 2.0 * omega / w;
    hand->reach = size;
    hand->holding = true;
    return s->hand_count - 1;
}

void carom_hand_pull(PageScene* s, int index, double x, double y, double z) {
    PageHand* hand = hand_at(s, index);
    if (hand != NULL) hand->target = cr_vec3(x, y, z);
}

void carom_hand_release(PageScene* s, int index) {
    PageHand* hand = hand_at(s, index);
    if (hand != NULL) hand->holding = false;
}

int carom_hand_push(PageScene* s, int body, double x, double y, double z, double px, double py, double pz) {
    if (body < 1 || body >= s->scene.model->nb || s->scene.model->bodies[body].last < 0) return -1;
    PageHand* hand = new_hand(s, body, cr_vec3(x, y, z));
    if (hand == NULL) return -1;
    hand->impulse = cr_vec3(px, py, pz);
    return s->hand_count - 1;
}

double* carom_hand_look(PageScene* s, int index) {
    PageHand* hand = hand_at(s, index);
    if (hand == NULL) return NULL;
    crVec3 at = cr_pose_point(cr_world_pose(s->world, hand->body), hand->point);
    const double row[9] = {at.x,          at.y,           at.z,           hand->force.x, hand->force.y,
                           hand->force.z, hand->target.x, hand->target.y, hand->target.z};
    memcpy(s->hand, row, sizeof row);
    return s->hand;
}

int carom_scene_control(PageScene* s, int index, double value) {
    if (index < 0 || index >= s->scene.model->nu) return (int)CR_ERR_ARGUMENT;
    crActuator* a = &s->scene.model->actuators[index];
    crStatus status = cr_world_set_ctrl(s->world, a->name, value, &s->error);
    if (status != CR_OK) return (int)status;
    PageControl* control = &s->controls[index];
    if (isinf(control->steered)) {
        control->steered = cr_world_state(s->world)->time;
        control->schedule = a->schedule;
    }
    a->schedule = NULL;  // from now on it is the hand's
    return 0;
}

double* carom_scene_controls(PageScene* s) { return cr_world_state(s->world)->ctrl; }

double* carom_scene_sense(PageScene* s) {
    return cr_world_sense(s->world, s->sensed, &s->error) == CR_OK ? s->sensed : NULL;
}

char* carom_scene_record(PageScene* s) {
    char* out = NULL;
    size_t length = 0;
    FILE* file = open_memstream(&out, &length);
    if (file == NULL) return NULL;
    fprintf(file, "{\"lost\":%s,\"steps\":%.17g,\"time\":%.17g,\"forces\":[", s->lost ? "true" : "false",
            s->made, cr_world_state(s->world)->time);
    bool any = false;
    for (int i = 0; i < s->hand_count; i++) {
        const PageHand* hand = s->hands[i];
        if (hand->table.count == 0) continue;
        fprintf(file, "%s{\"body\":%d,\"point\":[%.17g,%.17g,%.17g],\"table\":", any ? "," : "", hand->body,
                hand->own.x, hand->own.y, hand->own.z);
        any = true;
        table_write(file, &hand->table);
        putc('}', file);
    }
    fputs("],\"controls\":[", file);
    any = false;
    for (int i = 0; i < s->scene.model->nu; i++) {
        const PageControl* control = &s->controls[i];
        if (isinf(control->steered) || control->table.count == 0) continue;
        fprintf(file, "%s{\"actuator\":%d,\"table\":", any ? "," : "", i);
        any = true;
        table_write(file, &control->table);
        putc('}', file);
    }
    fputs("]}", file);
    fclose(file);
    return out;
}
