// trajectory_write.c - a trajectory to a file by the writers of `carom run --out`.
//
// Those record a world as it is, so a world of bodies with the same names and joints, 1 kg each, is put
// through the recorded states. Rows, events and the text of the scene come out as they were; the hash of the
// scene is 0, so that carom refuses to resume what it cannot. Fails: by the writer (extension, file), memory.
#include "binding.h"
#include "io/trajectory.h"

static crModel* stand_in(const crRecording* r) {
    crModel* model = cr_model_create(NULL);
    for (int i = 0; i < r->body_count && model != NULL; i++) {
        crBodyDef def = cr_body_def();
        def.name = r->bodies[i].name[0] != '\0' ? r->bodies[i].name : NULL;
        // a driven body has no numbers, like a fixed one
        def.joint = r->bodies[i].joint == CR_JOINT_DRIVEN ? CR_JOINT_FIXED : r->bodies[i].joint;
        def.mass = 1.0;
        def.inertia = (crSym3){.xx = 1.0, .yy = 1.0, .zz = 1.0};
        cr_model_add_body(model, &def);
    }
    return model;
}

static crStatus write_rows(const crRecording* r, crWorld* world, crTrajectory* file, crError* error) {
    crStatus status = CR_OK;
    crState* state = cr_world_state(world);
    size_t event = 0;
    for (size_t i = 0; i < r->count && status == CR_OK; i++) {
        crRecord record = {0};
        for (; event < r->event_count && r->events[event].time <= r->time[i] && status == CR_OK; event++) {
            status = cr_trajectory_event(file, &r->events[event], error);
        }
        state->time = r->time[i];
        memcpy(state->q, r->q + i * (size_t)r->nq, (size_t)r->nq * sizeof(double));
        memcpy(state->v, r->v + i * (size_t)r->nv, (size_t)r->nv * sizeof(double));
        if (r->energy != NULL) record.energy = (crEnergy){r->energy[2 * i], r->energy[2 * i + 1]};
        if (r->certificate != NULL) {
            record.residual = r->certificate[3 * i];
            record.penetration = r->certificate[3 * i + 1];
            record.contacts = (int)r->certificate[3 * i + 2];
        }
        if (status == CR_OK) status = cr_trajectory_write(file, &record, error);
    }
    for (; event < r->event_count && status == CR_OK; event++) {
        status = cr_trajectory_event(file, &r->events[event], error);
    }
    return status;
}

crStatus py_recording_write(const crRecording* r, const char* path, crError* error) {
    crModel* model = stand_in(r);
    if (model == NULL) return cr_error_set(error, CR_ERR_MEMORY, "out", "out: out of memory");
    crWorldDef def = cr_world_def();
    def.model = model;
    crWorld* world = NULL;
    crTrajectory* file = NULL;
    crStatus status = cr_world_create(&def, &world, error);
    if (status == CR_OK) status = cr_trajectory_create(path, world, 0, &file, error);
    if (status == CR_OK && r->scene != NULL) status = cr_trajectory_scene(file, r->scene, error);
    if (status == CR_OK) status = write_rows(r, world, file, error);
    crStatus closed = cr_trajectory_close(file, status == CR_OK ? error : NULL);
    cr_world_destroy(world);
    cr_model_destroy(model);
    return status != CR_OK ? status : closed;
}
