// store.h - memory of a model: arrays that grow, and copies that live as long as it does.
#ifndef CAROM_MODEL_STORE_H
#define CAROM_MODEL_STORE_H

#include "carom/dynamics.h"
#include "model/index.h"

// Kinds of names that are found by index.
typedef enum crNameKind {
    CR_NAME_JOINT,
    CR_NAME_ACTUATOR,
    CR_NAME_SITE,
    CR_NAME_SENSOR,
    CR_NAME_TENDON,
    CR_NAMES
} crNameKind;

typedef enum crStoreArray {
    STORE_BODIES,
    STORE_DOFS,
    STORE_DOF_AT,
    STORE_DOF_BODY,
    STORE_DOF_PARENT,
    STORE_DOF_DEPTH,
    STORE_ROW,
    STORE_Q0,
    STORE_MATERIALS,
    STORE_PAIRS,
    STORE_SHAPES,
    STORE_LOOPS,
    STORE_EXCLUSIONS,
    STORE_DOF_ACTUATOR,
    STORE_ACTUATORS,
    STORE_SITES,
    STORE_SENSORS,
    STORE_LOADS,
    STORE_TENDONS,
    STORE_TOPS,
    STORE_ARRAYS
} crStoreArray;

struct crModelMemory {
    int free_dof;                // one more than the place of the last dof of a free joint, 0: there is none
    size_t bytes[STORE_ARRAYS];  // allocated for each array
    struct crStoreBlock* blocks;
    crIndex body_names, material_names;
    crIndex names[CR_NAMES];  // of joints, actuators, sites, sensors, tendons
    crIndex pairs;            // of materials
    crIndex loops;            // by all they say
    crIndex tied;             // loops whose bodies do not meet, by their bodies
    crIndex exclusions;       // by their bodies
};

// Two numbers in either order, as a key.
typedef struct crCouple {
    int a, b;  // a <= b
} crCouple;
crCouple cr__couple(int a, int b);
uint64_t cr__couple_hash(const crCouple* couple);

// The array with room for `count` items of `size` bytes, what it held kept; NULL (and the array untouched)
// when memory is out. Assign the result at once.
void* cr__store_reserve(crModel* model, crStoreArray which, void* array, int count, size_t size);
// A copy that the model owns; NULL when memory is out.
void* cr__store_copy(crModel* model, const void* bytes, size_t size);
void cr__store_free(crModel* model);

// Sticks to the model and comes back as the status.
crStatus cr__store_full(crModel* model);

// Names of bodies: room for one more, then the name of a body that has one.
bool cr__body_reserve_name(crModel* model);
void cr__body_add_name(crModel* model, int body);
// Names of joints, actuators, sites, sensors and tendons. Refuses a name that is taken (CR_ERR_NAME), else copies it
// into *name and reserves room for cr__name_add; NULL is no name.
crStatus cr__name_keep(crModel* model, crNameKind kind, const char** name);
void cr__name_add(crModel* model, crNameKind kind, int item);                // after the item has its name
int cr__name_find(const crModel* model, crNameKind kind, const char* name);  // CR_ERR_NAME
// Bodies that a loop keeps from meeting: room for one more, then the loop.
bool cr__reserve_tied(crModel* model);
void cr__add_tied(crModel* model, int loop);

#endif
