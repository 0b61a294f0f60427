// recording.h - a trajectory file read back: CSV or HDF5 by the file's extension.
//
// The columns and datasets are those of trajectory.h and docs/run.md. CSV has positions and velocities only;
// HDF5 also energy, certificates, events and, where it was written with it, the text of the scene. A last
// line of CSV without its line end is the mark of a killed run and is left out.
#ifndef CAROM_IO_RECORDING_H
#define CAROM_IO_RECORDING_H

#include "carom/carom.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CR_RECORDING_NAME     64
#define CR_RECORDING_MAX_SIZE ((size_t)1 << 31)  // bytes of one file

typedef struct crRecordedBody {
    char name[CR_RECORDING_NAME];
    crJoint joint;  // CSV cannot tell a hinge from a slider: hinge
    int q, nq;      // where its coordinates are in a row of q
    int v, nv;
} crRecordedBody;

// A control or a number of a sensor over time: "ctrl.servo", "sensor.imu.0".
#define CR_RECORDING_CHANNEL 96
typedef struct crRecordedChannel {
    char name[CR_RECORDING_CHANNEL];
} crRecordedChannel;

typedef struct crRecording {
    int body_count;
    crRecordedBody* bodies;  // (body_count) without the world
    int nq, nv;
    size_t count;         // records
    double* time;         // s, ascending (count)
    double* q;            // (count*nq)
    double* v;            // (count*nv)
    double* energy;       // kinetic, potential, J (count*2); NULL where the file has none
    double* certificate;  // residual, penetration, contacts (count*3); NULL likewise
    bool has_events;      // the file has a table of events, which may be empty
    size_t event_count;
    crEvent* events;  // impact is -1 (event_count)
    char* scene;      // JSON; NULL where the file has none
    int channel_count;
    crRecordedChannel* channels;  // (channel_count)
    double* channel;              // their numbers (count*channel_count)
} crRecording;

// Fails: unknown-name (extension, or HDF5 in a carom built without), file, syntax, missing-field, wrong-type,
// wrong-size, not-finite, limit, memory; of CSV with line and column. On failure nothing needs to be freed.
CR_API crStatus cr_recording_read(const char* path, crRecording* recording, crError* error);
CR_API void cr_recording_free(crRecording* recording);  // accepts a zeroed struct

#ifdef __cplusplus
}
#endif

#endif
