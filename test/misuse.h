// misuse.h - one of everything that a public function can be called with, and the wrong calls that
// scripts/misuse.py writes.
#ifndef CAROM_TEST_MISUSE_H
#define CAROM_TEST_MISUSE_H

#include <stdio.h>
#include <stdlib.h>

#include "carom/batch.h"
#include "carom/dynamics.h"
#include "carom/forms.h"
#include "carom/io/import.h"
#include "carom/io/json_set.h"
#include "carom/io/problem.h"
#include "carom/io/recording.h"
#include "carom/io/scene.h"
#include "carom/io/trajectory.h"
#include "carom/modes.h"
#include "carom/robot.h"
#include "carom/wrt.h"

#include "test.h"

#define MISUSE_COUNT 64  // more than there is of anything in the fixture

typedef struct Misuse {
    crError error;
    crAllocator allocator;
    crArena arena, other_arena;
    crLog log;
    double numbers[256], more[256], ones[4], zeros[4];
    double* number_list;
    int ints[256];
    int triangles[1024][3];
    bool bools[64];
    char bytes[4096];
    crVec3 vectors[1024], polygon[4];
    crMat3 frame, matrices[4];
    crSym3 inertia;
    crBounds bounds;
    crStatus statuses[4];
    crShape shape;
    crHullDef hull_def;
    crMeshDef mesh_def;
    crHeightFieldDef field_def;
    crHull *hull, *made_hull;
    crMesh *mesh, *made_mesh;
    crHeightField *field, *made_field;
    crCompound *compound, *made_compound;
    crBroad *broad, *made_broad;
    const crPair* pairs;
    crDistance distance;
    crContactPoint points[64];
    crPatch patch;
    crRayHit ray_hit;
    crMotion motion;
    crCollision collision;
    crContact contact;
    crRigid rigid;
    crRestitution restitution;
    crEllipsoid ellipsoid;
    crLine line;
    crSurface surface;
    crMaterial material;
    crBodyDef body_def;
    crLoop loop;
    crActuator actuator;
    crTendon tendon;
    crSite site;
    crSensor sensor;
    crContactForce contact_force;
    crLoad load;
    crContactSurface contact_surface;
    crMass mass;
    crModel* model;
    crState state, other_state;
    crDynamics dynamics, other_dynamics;
    crRows rows, half;
    crJointRow joint_rows[16];
    crBlock block;
    crProblem problem;
    crMatrix matrix, made;
    crAudit audit;
    crHit hit;
    crGradient gradient;
    crModes modes;
    crProblemChange problem_change;
    crRuleModes rule_modes;
    crRuleChange rule_change;
    crForm form;
    crApproach approach;
    crCurve curve;
    crCue cue;
    crStrike strike;
    crWrtVerdict wrt_verdict;
    crWrtParam wrt_param;
    crTimeError time_error[MISUSE_COUNT];
    crWrt *wrt, *made_wrt;
    double many[4096];
    crLaw law;
    crLawParams law_params;
    crSolver solver;
    crSolverParams solver_params;
    crReport report;
    crRuleParams rule_params;
    crRule rule;
    crRuleReport rule_report;
    crStepSettings settings;
    crEvent event;
    crCertificate certificate;
    crTally tally;
    crStep step, other_step, fresh_step;  // fresh: no stage ran
    double motion_time[2];
    crMotionData motion_data;
    crMotionLimits motion_limits;
    crMotionReport motion_report;
    crMotionStep motion_steps[2];
    crWorldDef world_def;
    crWorld *world, *made_world;
    crBackend backend;
    crBatchDef batch_def;
    crBatch *batch, *made_batch;
    crBatchResult batch_result;
    crBatchSummary batch_summary;
    crBatchPath batch_path;
    crBatchHit batch_hits[4];
    const crModel* batch_models[2];
    int batch_steps[2];
    uint64_t hash;
    FILE* file;
    crJsonDoc json;  // of a scene
    const crJson* found;
    crScene scene, other_scene;
    crImport imported;
    crImportOptions import_options;
    crProblemFile problem_file;
    crRecording recording;
    crRecord record;
    crTrajectory *trajectory, *made_trajectory;
} Misuse;

typedef struct MisuseCase {
    const char* title;
    void (*call)(Misuse* f);
} MisuseCase;

extern const MisuseCase misuse_cases[];  // ends with a NULL title
extern const int misuse_functions;       // how many there are cases of

// A check of the case that runs.
void misuse_check(bool good, const char* what);
// A refused call: negative, and the error names the argument where field is given.
void misuse_status(const Misuse* f, crStatus status, const char* field);

crStatus misuse_respond(void* ctx, crVec3 impulse, crVec3* velocity);
void misuse_format(char* out, size_t size, const char* format, ...) CR_PRINTF(3, 4);

#endif
