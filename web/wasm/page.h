// page.h - what the page calls: carom compiled to WebAssembly behind a few functions.
//
// Text goes in as bytes with their length and comes out as a NUL-terminated string to be given back to
// carom_free; NULL where memory is out. Arrays of a scene live until its next call. The same functions
// compile natively.
#ifndef CAROM_WEB_PAGE_H
#define CAROM_WEB_PAGE_H

#include "carom/carom.h"

#if defined(__wasm__)
#define PAGE_EXPORT(name) __attribute__((export_name(#name))) name
#else
#define PAGE_EXPORT(name) name
#endif

void* PAGE_EXPORT(carom_alloc)(size_t size);
void PAGE_EXPORT(carom_free)(void* memory);

// One line of JSON each: what `carom impact --json` and `carom resolve --json` print.
char* PAGE_EXPORT(carom_impact)(const char* text, size_t size);
char* PAGE_EXPORT(carom_resolve)(const char* text, size_t size);
// Impulse space of a collision in its contact frame: region, curves and points of all laws, Routh's path.
char* PAGE_EXPORT(carom_picture)(const char* text, size_t size);
// Version, and the names of laws, rules, methods and solvers with a line about each.
char* PAGE_EXPORT(carom_catalogue)(void);

typedef struct PageScene PageScene;

// A scene of text, with values set as `carom run --set` does it: sets is a JSON object of path to value, or
// empty. A scene that was refused has nothing but its description, which is the error. NULL: memory.
PageScene* PAGE_EXPORT(carom_scene_open)(const char* text, size_t size, const char* sets, size_t sets_size);
void PAGE_EXPORT(carom_scene_close)(PageScene* scene);  // accepts NULL
// Bodies, shapes, settings; or {"error": ...}.
char* PAGE_EXPORT(carom_scene_describe)(PageScene* scene);

// The next step of the run, the last one shorter where it must be: 1, 0 where the run is over, or a negative
// crStatus; the state is then the one before the step, and carom_scene_error says why.
int PAGE_EXPORT(carom_scene_step)(PageScene* scene);
char* PAGE_EXPORT(carom_scene_error)(PageScene* scene);
uint64_t PAGE_EXPORT(carom_scene_hash)(const PageScene* scene);

// A longer run; 0 and nothing changed where its last step was shorter than the others, else 1.
int PAGE_EXPORT(carom_scene_extend)(PageScene* scene, double duration);
// A snapshot of the world, in memory of the scene that the next one takes; NULL: memory.
void* PAGE_EXPORT(carom_scene_save)(PageScene* scene);
size_t PAGE_EXPORT(carom_scene_save_size)(const PageScene* scene);
// Back to a snapshot that was taken after `made` steps; what hands did since is forgotten. 0, or a negative crStatus.
int PAGE_EXPORT(carom_scene_load)(PageScene* scene, const void* bytes, size_t size, double made);
// q and v as they are now, in one array (nq + nv).
double* PAGE_EXPORT(carom_scene_read_state)(PageScene* scene);

// Hands. A grip holds a body at a world point by a spring to a target, which begins there; size is that of the
// scene: the spring sags by a twentieth of it under the weight of what it holds. A push gives an impulse (N s) in the next
// step. Both return the hand's index, or -1 where the body does not move by forces or memory is out.
int PAGE_EXPORT(carom_hand_grip)(PageScene* scene, int body, double x, double y, double z, double size);
void PAGE_EXPORT(carom_hand_pull)(PageScene* scene, int hand, double x, double y, double z);
void PAGE_EXPORT(carom_hand_release)(PageScene* scene, int hand);
int PAGE_EXPORT(carom_hand_push)(PageScene* scene, int body, double x, double y, double z, double px,
                                 double py, double pz);
// Point where it holds, force of the last step, target (9).
double* PAGE_EXPORT(carom_hand_look)(PageScene* scene, int hand);
// The control of an actuator, which a schedule of the scene then no longer gives: 0, or a negative crStatus, and
// carom_scene_error says why.
int PAGE_EXPORT(carom_scene_control)(PageScene* scene, int actuator, double value);
double* PAGE_EXPORT(carom_scene_controls)(PageScene* scene);  // as they are now (nu)
double* PAGE_EXPORT(carom_scene_sense)(PageScene* scene);  // numbers of all sensors (nsensor); NULL: memory
// What hands did: {"lost", "steps", "time", "forces": [{"body", "point", "table"}], "controls": [{"actuator",
// "table"}]}; as `forces` and `ctrl` of the scene they give the same bits.
char* PAGE_EXPORT(carom_scene_record)(PageScene* scene);

// The state for one who places it: q and v in one array (nq + nv), for recorded trajectories.
double* PAGE_EXPORT(carom_scene_state)(PageScene* scene);
void PAGE_EXPORT(carom_scene_place)(PageScene* scene, double time);

// After carom_scene_look: numbers (PAGE_NUMBERS), poses p and quaternion of each body (nb*7), and what acted
// in the last step: point, impulse on b and kind (0 contact, 1 impact) of each (forces*7).
enum {
    PAGE_TIME,
    PAGE_KINETIC,
    PAGE_POTENTIAL,
    PAGE_RESIDUAL,
    PAGE_PENETRATION,
    PAGE_CONTACTS,
    PAGE_IMPACTS,
    PAGE_UNSOLVED,
    PAGE_IMPERMISSIBLE,
    PAGE_CREATED,
    PAGE_STEPS,
    PAGE_EVENTS,
    PAGE_FORCES,
    PAGE_NEAR,
    PAGE_UNSURE,
    PAGE_BOUNDED,
    PAGE_ETA,
    PAGE_DISTANCE,
    PAGE_CROSSINGS,
    PAGE_CROSSINGS_UNSURE,
    PAGE_GAIN,
    PAGE_WORK,
    PAGE_IMPACTS_UNSURE,
    PAGE_NUMBERS
};
double* PAGE_EXPORT(carom_scene_look)(PageScene* scene);
double* PAGE_EXPORT(carom_scene_poses)(PageScene* scene);
double* PAGE_EXPORT(carom_scene_forces)(PageScene* scene);
// Events of the last step: time, bodies a and b, approach, energy change, point, impulse (events*11).
double* PAGE_EXPORT(carom_scene_events)(PageScene* scene);

#endif
