// motion.c - keeping what bodies did: rows of time, energy, certificate, coordinates and velocities.
//
// Memory is bounded by MOST_NUMBERS: a full log drops every second row and takes records at half the rate.
// A player puts the model into the state of a row. Fails: memory; a file and a model with other bodies.
#include "plot/motion.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NUMBERS ((size_t)8 << 20)  // 64 MB
#define MOST_ROWS    4096
#define FEWEST_ROWS  64

static crStatus prepare(crMotionLog* log, const crModel* model, int bodies, int nq, int nv) {
    *log = (crMotionLog){.model = model, .nq = nq, .nv = nv, .stride = 1};
    log->columns = CR_MOTION_STATE + (size_t)nq + (size_t)nv;
    size_t fits = MOST_NUMBERS / log->columns;
    log->most = fits > MOST_ROWS ? MOST_ROWS : fits < FEWEST_ROWS ? FEWEST_ROWS : fits;
    log->bodies = calloc((size_t)bodies + 1, sizeof *log->bodies);
    if (log->bodies == NULL) return CR_ERR_MEMORY;
    log->body_count = bodies;
    return CR_OK;
}

crStatus cr_motion_create(crMotionLog* log, const crModel* model) {
    crStatus status = prepare(log, model, model->nb - 1, model->nq, model->nv);
    log->has_energy = log->has_certificate = log->has_events = true;
    for (int i = 0; i < log->body_count && status == CR_OK; i++) {
        const crBody* b = &model->bodies[i + 1];
        log->bodies[i] = (crRecordedBody){.joint = b->joint, .q = b->q, .nq = b->nq, .v = b->v, .nv = b->nv};
        snprintf(log->bodies[i].name, CR_RECORDING_NAME, "%s", b->name != NULL ? b->name : "");
    }
    return status;
}

void cr_motion_destroy(crMotionLog* log) {
    free(log->bodies);
    free(log->channels);
    free(log->rows);
    free(log->events);
    *log = (crMotionLog){0};
}

// the worst of both stays
static void merge(double* row, const double* gone) {
    for (int c = CR_MOTION_RESIDUAL; c <= CR_MOTION_CONTACTS; c++) {
        row[c] = fmax(row[c], gone[c]);
    }
}

// every second row goes; the last one's certificate is left in carry where it goes too
static void thin(crMotionLog* log, double carry[CR_MOTION_STATE]) {
    size_t kept = 0;
    for (size_t i = 0; i < log->count; i += 2, kept++) {
        double* row = log->rows + i * log->columns;
        if (i > 0) merge(row, row - log->columns);
        memmove(log->rows + kept * log->columns, row, log->columns * sizeof(double));
    }
    if (log->count % 2 == 0)
        memcpy(carry, log->rows + (log->count - 1) * log->columns, CR_MOTION_STATE * sizeof(double));
    log->count = kept;
    log->stride *= 2;
}

static bool grow(crMotionLog* log) {
    if (log->count < log->capacity) return true;
    size_t capacity = log->capacity > 0 ? 2 * log->capacity : FEWEST_ROWS;
    if (capacity > log->most) capacity = log->most;
    double* rows = realloc(log->rows, capacity * log->columns * sizeof(double));
    if (rows == NULL) return false;
    log->rows = rows;
    log->capacity = capacity;
    return true;
}

// the place of the next row, its certificate begun with what it takes over
static double* next_row(crMotionLog* log) {
    double carry[CR_MOTION_STATE] = {0};
    if (log->provisional) {
        log->count--;
        memcpy(carry, log->rows + log->count * log->columns, sizeof carry);
    } else if (log->count == log->most) {
        thin(log, carry);
    }
    if (!grow(log)) return NULL;
    double* row = log->rows + log->count++ * log->columns;
    memset(row, 0, CR_MOTION_STATE * sizeof(double));
    merge(row, carry);
    log->provisional = log->seen++ % log->stride != 0;
    return row;
}

static crStatus add_row(crMotionLog* log, double time, const double head[5], const double* q,
                        const double* v) {
    double* row = next_row(log);
    if (row == NULL) return CR_ERR_MEMORY;
    double given[CR_MOTION_STATE] = {0};
    memcpy(given + CR_MOTION_KINETIC, head, 5 * sizeof(double));
    merge(row, given);
    row[CR_MOTION_TIME] = time;
    row[CR_MOTION_KINETIC] = head[0];
    row[CR_MOTION_POTENTIAL] = head[1];
    if (log->nq > 0) memcpy(row + CR_MOTION_STATE, q, (size_t)log->nq * sizeof(double));
    if (log->nv > 0) memcpy(row + CR_MOTION_STATE + log->nq, v, (size_t)log->nv * sizeof(double));
    return CR_OK;
}

crStatus cr_motion_add(crMotionLog* log, const crState* state, const crRecord* record) {
    const double head[5] = {record->energy.kinetic, record->energy.potential, record->residual,
                            record->penetration, record->contacts};
    return log->bodies != NULL ? add_row(log, state->time, head, state->q, state->v) : CR_ERR_MEMORY;
}

crStatus cr_motion_event(crMotionLog* log, const crEvent* event) {
    if (log->event_total++ >= CR_MOTION_EVENTS) return CR_OK;
    if (log->event_count == log->event_capacity) {
        size_t capacity = log->event_capacity > 0 ? 2 * log->event_capacity : 64;
        crEvent* events = realloc(log->events, capacity * sizeof *events);
        if (events == NULL) return CR_ERR_MEMORY;
        log->events = events;
        log->event_capacity = capacity;
    }
    log->events[log->event_count++] = *event;
    return CR_OK;
}

// the file's bodies are the model's; those without coordinates are not in CSV
static crStatus match(const crRecording* r, const crModel* model, crError* error) {
    int at = 0;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (at < r->body_count && strcmp(r->bodies[at].name, body->name) == 0 &&
            r->bodies[at].nq == body->nq && r->bodies[at].nv == body->nv) {
            at++;
        } else if (body->nq > 0) {
            return cr_error_set(
                error, CR_ERR_SIZE, "bodies",
                "bodies: the file has no body \"%.40s\" with %d coordinates where the scene has one",
                body->name, body->nq);
        }
    }
    if (at < r->body_count)
        return cr_error_set(error, CR_ERR_SIZE, "bodies", "bodies: the scene has no body \"%.40s\"",
                            r->bodies[at].name);
    return CR_OK;
}

// energy of a file that has none, from the model
static crStatus add_energies(crMotionLog* log) {
    crPlayer player;
    crStatus status = cr_player_create(&player, log);
    for (size_t i = 0; i < log->count && status == CR_OK; i++) {
        cr_player_at(&player, i);
        crEnergy energy = cr_model_energy(log->model, &player.state, &player.d);
        log->rows[i * log->columns + CR_MOTION_KINETIC] = energy.kinetic;
        log->rows[i * log->columns + CR_MOTION_POTENTIAL] = energy.potential;
    }
    log->has_energy = status == CR_OK;
    if (status == CR_OK) cr_player_destroy(&player);
    return status;
}

static crStatus load_rows(crMotionLog* log, const crRecording* r, double from, double to) {
    crStatus status = CR_OK;
    // times are sums of steps, with their rounding
    double slack = 1e-9 * fabs(r->time[r->count - 1] - r->time[0]);
    from -= slack;
    to += slack;
    for (size_t i = 0; i < r->count && status == CR_OK; i++) {
        if (r->time[i] < from || r->time[i] > to) continue;
        double head[5] = {0};
        if (r->energy != NULL) memcpy(head, r->energy + 2 * i, 2 * sizeof(double));
        if (r->certificate != NULL) memcpy(head + 2, r->certificate + 3 * i, 3 * sizeof(double));
        status = add_row(log, r->time[i], head, r->q + i * (size_t)r->nq, r->v + i * (size_t)r->nv);
        size_t channels = (size_t)log->channel_count;
        if (status == CR_OK && channels > 0)
            memcpy(log->rows + log->count * log->columns - channels, r->channel + i * channels,
                   channels * sizeof(double));
    }
    for (size_t i = 0; i < r->event_count && status == CR_OK; i++) {
        if (r->events[i].time >= from && r->events[i].time <= to)
            status = cr_motion_event(log, &r->events[i]);
    }
    return status;
}

// room for the controls and sensors of the file at the end of each row
static crStatus take_channels(crMotionLog* log, const crRecording* r) {
    if (r->channel_count == 0) return CR_OK;
    size_t count = (size_t)r->channel_count;
    log->channels = malloc(count * sizeof *log->channels);
    if (log->channels == NULL) return CR_ERR_MEMORY;
    memcpy(log->channels, r->channels, count * sizeof *log->channels);
    log->channel_count = r->channel_count;
    log->columns += count;
    return CR_OK;
}

crStatus cr_motion_load(crMotionLog* log, const crRecording* r, const crModel* model, double from, double to,
                        crError* error) {
    *log = (crMotionLog){0};
    crStatus status = model != NULL ? match(r, model, error) : CR_OK;
    if (status != CR_OK) return status;
    if (model != NULL) {
        status = cr_motion_create(log, model);
    } else {
        status = prepare(log, NULL, r->body_count, r->nq, r->nv);
        if (status == CR_OK) memcpy(log->bodies, r->bodies, (size_t)r->body_count * sizeof *r->bodies);
    }
    if (status == CR_OK) status = take_channels(log, r);
    log->has_energy = r->energy != NULL;
    log->has_certificate = r->certificate != NULL;
    log->has_events = r->has_events;
    if (status == CR_OK) status = load_rows(log, r, from, to);
    if (status == CR_OK && model != NULL && !log->has_energy) status = add_energies(log);
    if (status != CR_OK) {
        cr_error_set(error, status, "file", "file: out of memory");
    } else if (log->count == 0) {
        status = cr_error_set(error, CR_ERR_MISSING, "time",
                              "time: no record from %.6g s to %.6g s, the file has %.6g s to %.6g s", from,
                              to, r->time[0], r->time[r->count - 1]);
    }
    if (status != CR_OK) cr_motion_destroy(log);
    return status;
}

crStatus cr_player_create(crPlayer* player, const crMotionLog* log) {
    *player = (crPlayer){.log = log};
    crStatus status = cr_arena_create(&player->arena, NULL, 0);
    if (status == CR_OK) status = cr_state_create(log->model, &player->arena, &player->state);
    if (status == CR_OK) status = cr_dynamics_create(log->model, &player->arena, &player->d);
    if (status != CR_OK) cr_arena_destroy(&player->arena);
    return status;
}

void cr_player_destroy(crPlayer* player) { cr_arena_destroy(&player->arena); }

void cr_player_at(crPlayer* player, size_t row) {
    const crMotionLog* log = player->log;
    const double* x = log->rows + row * log->columns;
    player->state.time = x[CR_MOTION_TIME];
    if (log->nq > 0) memcpy(player->state.q, x + CR_MOTION_STATE, (size_t)log->nq * sizeof(double));
    if (log->nv > 0) memcpy(player->state.v, x + CR_MOTION_STATE + log->nq, (size_t)log->nv * sizeof(double));
    cr_state_check(log->model, &player->state, NULL);
    cr_model_kinematics(log->model, &player->state, &player->d);
    cr_model_velocity(log->model, player->state.v, &player->d);
}

crVec3 cr_player_velocity(const crPlayer* player, int body) {
    return cr_model_point_velocity(&player->d, body, player->d.com[body]);
}

size_t cr_motion_row(const crMotionLog* log, double time) {
    size_t row = 0;
    while (row + 1 < log->count && log->rows[(row + 1) * log->columns] <= time) {
        row++;
    }
    return row;
}
