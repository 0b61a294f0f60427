// piles.h - scenes of many bodies described once, and the interface through which every engine runs them.
//
// An engine gets bodies whose origin is the centre of mass and whose axes are the principal ones,
// half-spaces and hinges; it gives back poses and velocities. Overlap and energy are computed from those by
// one code (piles_measure.c), the same for all. Units: SI.
#ifndef CAROM_BENCH_PILES_H
#define CAROM_BENCH_PILES_H

#include "carom/carom.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PILES_SHAPES ((int)CR_SHAPE_KINDS)

typedef struct PilesBody {
    crShape shape;
    double mass;
    crVec3 inertia;  // principal moments
    crPose pose;     // at the start
} PilesBody;

typedef struct PilesPlane {
    crVec3 normal;  // solid where normal.x <= offset
    double offset;
} PilesPlane;

// Body b turns about an axis on body a, or on the world where a is -1; a < b, at most one hinge per b.
typedef struct PilesHinge {
    int a, b;
    crVec3 point, axis;  // world, at the start
} PilesHinge;

typedef struct PilesScene {
    const char* name;
    int body_count;
    PilesBody* bodies;  // (body_count)
    int plane_count;
    PilesPlane planes[6];
    int hinge_count;
    PilesHinge* hinges;  // (hinge_count)
    double mu, e, gravity, dt;
    double settle;  // time before the measured second, s
    bool alone;     // every body in a world of its own
    bool stands;    // should stay where it was built: the report says how far it moved
    bool large;     // only carom fast and Bullet by default
    crHull* hull;   // shared by the bodies that have one
} PilesScene;

// What scenes there are, NULL past the last.
const char* piles_scene_name(int index);
// false: no such name, or memory is out.
bool piles_scene_create(const char* name, uint64_t seed, PilesScene* scene);
void piles_scene_destroy(PilesScene* scene);
// A copy in which spheres of the same volume stand for shapes that are not in `has` (bits by kind); the names
// of what was replaced go into note. Destroy it with piles_scene_destroy before the original.
bool piles_scene_replace(const PilesScene* scene, unsigned has, PilesScene* copy, char* note, size_t size);

typedef struct PilesMotion {
    crPose pose;
    crVec3 v;      // of the centre of mass
    crVec3 omega;  // world axes
} PilesMotion;

// What only carom can tell of its last step.
typedef struct PilesReport {
    double residual;  // natural maps of its worst contact, m/s
    int contacts;
    long heap_calls;  // since create
    size_t bytes;     // held now, model and world
} PilesReport;

typedef struct PilesEngine {
    const char* name;
    unsigned has;     // shapes it knows, bits by kind
    int threads_max;  // more than these it cannot use
    int variant;      // for create: carom's quality
    void* (*create)(const struct PilesEngine* engine, const PilesScene* scene, int threads);
    bool (*step)(void* self);  // one step of scene->dt; false: it gave up
    void (*read)(void* self, PilesMotion* motion);
    void (*report)(void* self, PilesReport* report);  // NULL: nothing to tell
    void (*destroy)(void* self);
} PilesEngine;

extern const PilesEngine piles_carom_fast, piles_carom_accurate, piles_carom_certified;
extern const PilesEngine piles_bullet, piles_ode, piles_mujoco;

// Writes SCENE.json and, of every step of each engine, SCENE-ENGINE.csv into a folder, for `carom audit`. false: a file
// cannot be written, an engine gave up, or the scene has more than free boxes and balls.
bool piles_record(const char* folder, const PilesScene* scene, const PilesEngine* const* engines, int count,
                  double seconds);

// Overlap over the contact points with gap < 0, and energies.
typedef struct PilesMeasure {
    int overlaps;
    double mean, max;     // overlap, m
    double energy;        // kinetic, J
    double energy95;      // of the slowest 95 % of the bodies, J
    double displacement;  // largest distance of a centre from where it started, m
    int escapes;          // centres behind a half-space, far away or not finite
} PilesMeasure;
bool piles_measure(const PilesScene* scene, const PilesMotion* motion, PilesMeasure* out);

// Processor time that audits of carom's steps took since the program began (piles_audit.c), ms.
typedef struct PilesAudit {
    double ms;           // all but full geometry
    double geometry_ms;  // overlap by full geometry, in the steps that have it
    int geometries;
} PilesAudit;
PilesAudit piles_audit(void);

// What one engine did in one scene over all seeds; medians unless said.
typedef struct PilesResult {
    const PilesEngine* engine;
    const char* scene;
    int bodies, threads, seeds;
    double ms;       // per step: processor time with one thread, wall time with more
    double wall_ms;  // per step
    double ratio;    // to Bullet's time with one thread, same scene, seed and run; NAN where it did not run
    double mean, max, energy, energy95, displacement;
    double residual;        // worst of the settled second
    double share_1e8;       // of settled steps with a residual of at most 1e-8
    double heap_calls;      // per settled step
    double bytes_per_body;  // with the contacts of a settled step
    int contacts;
    int escapes;        // sum over seeds
    double settled;     // seconds simulated before measuring
    double audit;       // share of a step that its audit takes, full geometry aside; one thread
    double geometry;    // what full geometry adds to a step that has it, share of a step
    bool cut;           // less than asked, because the time limit came first
    bool gave_up;       // in one of the seeds
    char replaced[64];  // shapes it lacks
} PilesResult;

void piles_print_table(const PilesResult* results, int count);
void piles_print_aims(const PilesResult* results, int count);
void piles_print_json(const PilesResult* results, int count);

#ifdef __cplusplus
}
#endif

#endif
