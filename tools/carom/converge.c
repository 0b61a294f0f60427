// converge.c - errors of a motion against a finer one, as Stewart and Trinkle measure them in their Table 1.
//
//     velocity error  integral over time of max_i |v_i - v_ref,i|, v constant on each step (its end's)
//     position error  sup over time of max_i |x_i - x_ref,i|, x straight between the ends of steps
//     variation       max_i of the total variation of v_i
//
// i runs over the degrees of freedom: positions of centres of mass, coordinates of joints, and for the
// rotations of free and ball joints the integral of omega in world axes, step by step. Fails: memory.
#include "converge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/recording.h"

#define SAME 1e-9  // share of a step within which two times are one

static size_t width(const Path* path) { return 1 + 2 * (size_t)path->nv; }
static const double* row_of(const Path* path, size_t i) { return path->rows + i * width(path); }

void path_free(Path* path) {
    free(path->rows);
    *path = (Path){0};
}

// coordinates whose derivatives are the velocities; those of rotations go on from `before`
static void coordinates(crWorld* world, double h, const double* before, double* x) {
    const crModel* model = cr_world_model(world);
    const crState* state = cr_world_state(world);
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        bool turns = cr_joint_info(body->joint)->quaternion >= 0;
        for (int i = 0; i < body->nv; i++) {
            int k = body->v + i;
            x[k] = turns ? (before != NULL ? before[k] : 0.0) + h * state->v[k] : state->q[body->q + i];
        }
        if (body->joint != CR_JOINT_FREE) continue;
        crVec3 centre = cr_pose_point(cr_world_pose(world, b), body->com);
        x[body->v] = centre.x;
        x[body->v + 1] = centre.y;
        x[body->v + 2] = centre.z;
    }
}

crStatus path_add(Path* path, crWorld* world) {
    const crState* state = cr_world_state(world);
    path->nv = cr_world_model(world)->nv;
    size_t n = (size_t)path->nv;
    if (path->count == path->capacity) {
        size_t capacity = path->capacity > 0 ? 2 * path->capacity : 256;
        double* rows = realloc(path->rows, capacity * width(path) * sizeof(double));
        if (rows == NULL) return CR_ERR_MEMORY;
        path->rows = rows;
        path->capacity = capacity;
    }
    const double* before = path->count > 0 ? row_of(path, path->count - 1) : NULL;
    double* row = path->rows + path->count++ * width(path);
    row[0] = state->time;
    if (n > 0) memcpy(row + 1, state->v, n * sizeof(double));
    double h = before != NULL ? state->time - before[0] : 0.0;
    coordinates(world, h, before != NULL ? before + 1 + n : NULL, row + 1 + n);
    return CR_OK;
}

// the recording's bodies that move are the model's, with their numbers in the same places
static crStatus check_bodies(const crRecording* r, const crModel* model, crError* error) {
    int at = 0;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (body->nq == 0) continue;
        while (at < r->body_count && r->bodies[at].nq == 0) {
            at++;
        }
        if (at == r->body_count || strcmp(r->bodies[at].name, body->name) != 0) {
            return cr_error_set(error, CR_ERR_NAME, "reference",
                                "reference: has no body \"%.60s\" where the scene has one", body->name);
        }
        at++;
    }
    if (r->nq == model->nq && r->nv == model->nv) return CR_OK;
    return cr_error_set(error, CR_ERR_SIZE, "reference",
                        "reference: has %d coordinates and %d velocities, the scene %d and %d", r->nq, r->nv,
                        model->nq, model->nv);
}

crStatus path_read(Path* path, const char* file, crWorld* world, crError* error) {
    const crModel* model = cr_world_model(world);
    crState* state = cr_world_state(world);
    crRecording r;
    crStatus status = cr_recording_read(file, &r, error);
    if (status != CR_OK) return status;
    status = check_bodies(&r, model, error);
    size_t nq = (size_t)r.nq;
    size_t nv = (size_t)r.nv;
    for (size_t i = 0; i < r.count && status == CR_OK; i++) {
        state->time = r.time[i];
        if (nq > 0) memcpy(state->q, r.q + i * nq, nq * sizeof(double));
        if (nv > 0) memcpy(state->v, r.v + i * nv, nv * sizeof(double));
        status = path_add(path, world);
        if (status != CR_OK)
            cr_error_set(error, status, "reference", "reference: %s", cr_status_text(status));
    }
    cr_recording_free(&r);
    return status;
}

// coordinate k at a time in the step that ends with row i
static double coordinate(const Path* path, size_t i, int k, double time) {
    const double* a = row_of(path, i - 1);
    const double* b = row_of(path, i);
    size_t at = 1 + (size_t)path->nv + (size_t)k;
    double share = b[0] > a[0] ? (time - a[0]) / (b[0] - a[0]) : 1.0;
    return a[at] + fmin(share, 1.0) * (b[at] - a[at]);
}

PathError path_error(const Path* path, const Path* reference) {
    PathError error = {0};
    double time = 0.0;
    for (size_t i = 1, r = 1; i < path->count && r < reference->count;) {
        const double* a = row_of(path, i);
        const double* b = row_of(reference, r);
        double next = fmin(a[0], b[0]);
        double worst = 0.0;
        for (int k = 0; k < path->nv; k++) {
            worst = fmax(worst, fabs(a[1 + k] - b[1 + k]));
            double apart = coordinate(path, i, k, next) - coordinate(reference, r, k, next);
            error.position = fmax(error.position, fabs(apart));
        }
        error.velocity += (next - time) * worst;
        time = next;
        double same = SAME * fmin(a[0] - row_of(path, i - 1)[0], b[0] - row_of(reference, r - 1)[0]);
        bool step = a[0] <= next + same;
        r += b[0] <= next + same;
        i += step;
    }
    return error;
}

double path_variation(const Path* path) {
    double most = 0.0;
    for (int k = 0; k < path->nv; k++) {
        double sum = 0.0;
        for (size_t i = 1; i < path->count; i++) {
            sum += fabs(row_of(path, i)[1 + k] - row_of(path, i - 1)[1 + k]);
        }
        most = fmax(most, sum);
    }
    return most;
}

static double order_between(const ConvergeRow* coarse, const ConvergeRow* fine) {
    double a = coarse->error.position;
    double b = fine->error.position;
    return a > 0.0 && b > 0.0 ? log(a / b) / log(coarse->dt / fine->dt) : (double)NAN;
}

void converge_orders(ConvergeRow* rows, int count, double* overall) {
    int last = count - 1;
    while (last > 0 && rows[last].reference) {
        last--;
    }
    for (int i = 0; i < count; i++) {
        rows[i].order = i > 0 && i <= last ? order_between(&rows[i - 1], &rows[i]) : (double)NAN;
    }
    *overall = last > 0 ? order_between(&rows[0], &rows[last]) : (double)NAN;
}
