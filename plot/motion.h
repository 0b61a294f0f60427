// motion.h - what bodies did over time, gathered while a world runs or read from a file, and its charts.
//
// A log has bounded memory: when it is full every second record goes, the worst certificate of a pair stays,
// and the last state is always there.
#ifndef CAROM_PLOT_MOTION_H
#define CAROM_PLOT_MOTION_H

#include "carom/dynamics.h"
#include "io/recording.h"
#include "io/trajectory.h"
#include "plot/sheet.h"

#define CR_MOTION_BODIES 12     // shown in a chart unless others are named; more would be a carpet
#define CR_MOTION_EVENTS 20000  // kept; more are counted

// Columns of a row before the coordinates and velocities.
enum {
    CR_MOTION_TIME,
    CR_MOTION_KINETIC,
    CR_MOTION_POTENTIAL,
    CR_MOTION_RESIDUAL,
    CR_MOTION_PENETRATION,
    CR_MOTION_CONTACTS,
    CR_MOTION_STATE
};

typedef struct crMotionLog {
    const crModel* model;  // NULL: of a file whose scene is not known
    int body_count;        // without the world
    crRecordedBody* bodies;
    int nq, nv;
    bool has_energy, has_certificate, has_events;
    int channel_count;             // controls and sensors, of files
    crRecordedChannel* channels;   // (channel_count)
    size_t columns;                // CR_MOTION_STATE + nq + nv + channel_count
    size_t count, capacity, most;  // rows
    double* rows;                  // (count*columns)
    size_t seen, stride;           // records offered, and how many make a row
    bool provisional;              // the last row gives way to the next record
    size_t event_count, event_capacity, event_total;
    crEvent* events;  // (event_count)
} crMotionLog;

crStatus cr_motion_create(crMotionLog* log, const crModel* model);
void cr_motion_destroy(crMotionLog* log);  // accepts a zeroed log
crStatus cr_motion_add(crMotionLog* log, const crState* state, const crRecord* record);
crStatus cr_motion_event(crMotionLog* log, const crEvent* event);
// From a file, between two times. With a model, which must have the file's bodies; NULL: coordinates as they
// stand. Fails: memory, wrong-size (other bodies), missing-field (no record in that time).
crStatus cr_motion_load(crMotionLog* log, const crRecording* recording, const crModel* model, double from,
                        double to, crError* error);

// The model at a row.
typedef struct crPlayer {
    const crMotionLog* log;
    crArena arena;
    crState state;
    crDynamics d;
} crPlayer;

crStatus cr_player_create(crPlayer* player, const crMotionLog* log);  // needs a model
void cr_player_destroy(crPlayer* player);
void cr_player_at(crPlayer* player, size_t row);              // d.pose, d.com and velocities
crVec3 cr_player_velocity(const crPlayer* player, int body);  // of the centre of mass
size_t cr_motion_row(const crMotionLog* log, double time);    // the last row not after time

// Energy over time, and below it every coordinate that changes; .svg, .png or .pdf.
crStatus cr_motion_plot(const crMotionLog* log, const char* path, const char* title, crError* error);

#endif
