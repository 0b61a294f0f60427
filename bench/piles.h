// piles.h - scenes of many bodies described once, and the interface through which every engine runs them.
//
// An engine gets bodies whose origin is the centre of mass and whose axes are the principal ones,
// half-spaces and joints; it gives back poses and velocities. Overlap and energy are computed from those by
// one code (piles_measure.c), the same for all. Units: SI.
#ifndef CAROM_BENCH_PILES_H
#define CAROM_BENCH_PILES_H

#include "carom/carom.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PILES_SHAPES   ((int)CR_SHAPE_KINDS)
#define PILES_HULLS    8
#define PILES_OUTCOMES 16  // at least as many as cr_outcome_name knows

typedef enum PilesRole {
    PILES_FREE,
    PILES_FIXED,
    PILES_DRIVEN  // turns about its origin with its omega, whatever it meets
} PilesRole;

typedef struct PilesBody {
    crShape shape;
    double mass;
    crVec3 inertia;  // principal moments
    crPose pose;     // at the start
    crVec3 v;        // of the centre of mass, at the start
    crVec3 omega;    // world axes, at the start
    PilesRole role;
} PilesBody;

typedef struct PilesPlane {
    crVec3 normal;  // solid where normal.x <= offset
    double offset;
} PilesPlane;

// Body b turns about an axis (a hinge) or a point (a ball joint) on body a, or on the world where a is -1;
// a < b, at most one joint per b. The two do not collide.
typedef struct PilesJoint {
    int a, b;
    bool ball;
    crVec3 point, axis;  // world, at the start; a ball joint has no axis
} PilesJoint;

typedef struct PilesScene {
    const char* name;
    int body_count;
    PilesBody* bodies;  // (body_count)
    int plane_count;
    PilesPlane planes[6];
    int joint_count;
    PilesJoint* joints;  // (joint_count)
    double mu, e, gravity, dt;
    double seconds;  // from the start to the end of a run, simulated
    bool alone;      // every body in a world of its own
    bool stands;     // should stay where it was built: the report says how far it moved
    int hull_count;
    crHull* hulls[PILES_HULLS];  // shared by the bodies that have them
} PilesScene;

// What scenes there are, NULL past the last.
const char* piles_scene_name(int index);
const char* piles_scene_about(int index);
bool piles_scene_optional(int index);  // runs only where it is named
// false: no such name, or memory is out.
bool piles_scene_create(const char* name, uint64_t seed, PilesScene* scene);
void piles_scene_destroy(PilesScene* scene);
// A copy for an engine that has only the shapes in `has` (bits by kind). Cylinders and cones become hulls of 16
// sides where it has hulls; all else spheres of the same volume. What was replaced goes into note. Destroy it
// with piles_scene_destroy before the original.
bool piles_scene_replace(const PilesScene* scene, unsigned has, PilesScene* copy, char* note, size_t size);

// for those who build scenes
void piles_set_body(PilesBody* body, crShape shape, crVec3 at, crQuat turn);  // 1000 kg/m^3
bool piles_take_bodies(PilesScene* scene, int count);                         // zeroed; false: no memory
// for those who hand scenes to an engine
crQuat piles_upright(crVec3 n);                           // takes z to n
crQuat piles_turned(const PilesBody* body, double time);  // rotation of a driven body
// The joint that holds body b, NULL where it flies.
const PilesJoint* piles_joint_of(const PilesScene* scene, int b);

typedef struct PilesMotion {
    crPose pose;
    crVec3 v;      // of the centre of mass
    crVec3 omega;  // world axes
} PilesMotion;

// What only carom can tell of its last step.
typedef struct PilesReport {
    crOutcome outcome;
    double residual;  // backward error of its worst contact, m/s
    int contacts;
    long heap_calls;  // since create
    size_t bytes;     // held now, model and world
} PilesReport;

typedef struct PilesEngine {
    const char* name;
    const char* about;  // version and settings
    int digits;         // that its numbers hold: 9 with single precision, else 17
    unsigned has;       // shapes it knows, bits by kind
    int threads_max;    // more than these it cannot use
    int variant;        // for create: carom's quality
    void* (*create)(const struct PilesEngine* engine, const PilesScene* scene,
                    int threads);  // its arrays outlive the world
    bool (*step)(void* self);      // one step of scene->dt; false: it gave up
    void (*read)(void* self, PilesMotion* motion);
    void (*report)(void* self, PilesReport* report);  // NULL: nothing to tell
    void (*destroy)(void* self);
} PilesEngine;

extern const PilesEngine piles_carom_fast, piles_carom_accurate, piles_carom_certified;
extern const PilesEngine piles_box3d, piles_jolt, piles_bullet, piles_ode, piles_mujoco;

// Writes SCENE.json and, of every step of each engine, SCENE-ENGINE.csv into a folder, for `carom audit`. false: a file
// cannot be written, an engine gave up, or the scene has more than free boxes and balls.
bool piles_record(const char* folder, const PilesScene* scene, const PilesEngine* const* engines, int count,
                  double seconds);

// Overlap over the contact points with gap < 0, and energies, of one instant.
typedef struct PilesMeasure {
    int overlaps;
    double sum, max;      // overlap, m
    double energy;        // kinetic, J
    double energy95;      // of the slowest 95 % of the bodies, J
    double potential;     // of gravity, J
    double displacement;  // largest distance of a centre from where it started, m
    int escapes;          // centres behind a half-space, far away or not finite
} PilesMeasure;
bool piles_measure(const PilesScene* scene, const PilesMotion* motion, PilesMeasure* out);

// What one engine did in one scene from one seed. NAN where it is not known. "Settled" is the last fifth of the run.
// Processor time that audits of carom's steps took since the program began (piles_audit.c), ms.
typedef struct PilesAudit {
    double ms;           // all but full geometry
    double geometry_ms;  // overlap by full geometry, in the steps that have it
    int geometries;
} PilesAudit;
PilesAudit piles_audit(void);

typedef struct PilesResult {
    const PilesEngine* engine;
    char scene[32];
    int bodies, threads, seed;
    double seconds;         // simulated
    double ms, ms_settled;  // mean per step: processor time with one thread, wall time with more
    double ms_worst;        // the slowest step
    double to_box3d,
        to_best;  // ratios of time to Box3D's and to the fastest peer's with one thread, whole run (as far as
    double settled_to_box3d;  // both came), and settled
    double settled_to_best;
    double overlap, overlap_max;  // mean over contact points with gap < 0 and over time, and the deepest, m
    double overlap_settled, overlap_max_settled;
    double energy, energy95, potential;  // at the end, J
    double rest;                         // time from which KE95 stays at most 1e-6 J, s
    double displacement;
    int escapes;
    double residual;                  // worst of all steps, m/s
    int outcomes[PILES_OUTCOMES];     // steps by outcome
    bool told;                        // outcomes, residual, heap, bytes and contacts are known
    double heap_calls;                // per settled step
    double audit;                     // share of a settled step that its audit takes, full geometry aside
    double audit_geometry;            // and with that of the steps that have it
    double bytes_per_body, contacts;  // at the end
    bool cut;                         // ended before its time, because the limit came first
    bool gave_up;
    char replaced[64];  // shapes it lacks
} PilesResult;

// Who runs with how many threads.
typedef struct PilesEntry {
    const PilesEngine* engine;
    int threads;
} PilesEntry;

typedef void (*PilesProgress)(void* ctx, double share);  // of this call, 0 to 1
// One scene, all engines in turns of a few steps. limit: seconds of processor time for each engine. false: no memory.
bool piles_run(const PilesScene* scene, int seed, double seconds, double limit, const PilesEntry* entries,
               int count, PilesProgress progress, void* ctx, PilesResult* results);

int piles_outcome_count(void);  // of the library

// Results of one scene, seed by seed, engines in the same order for each.
void piles_print_table(const PilesResult* results, int seeds, int engines);
void piles_print_json(const PilesResult* results, int count);
bool piles_append_csv(const char* path, const PilesResult* results, int count);

#ifdef __cplusplus
}
#endif

#endif
