// mujoco_pair.h - one MJCF file read by libmujoco and by carom, and the same state in both.
#ifndef CAROM_TEST_MUJOCO_PAIR_H
#define CAROM_TEST_MUJOCO_PAIR_H

#include <mujoco/mujoco.h>

#include "carom/carom.h"
#include "io/scene.h"

typedef struct MujocoPair {
    mjModel* m;
    mjData* d;
    crScene scene;
    int* body;      // ours, of each body of theirs
    int* joint;     // our body, of each joint of theirs
    int* actuator;  // ours, of each of theirs; -1: carom has none, and theirs is switched off
} MujocoPair;

typedef struct MujocoKeep {
    bool equalities;
    bool sensors;
    const char* key;  // keyframe that ours starts from; NULL: keyframes are not kept
} MujocoKeep;

// Both read a copy without sensors, attributes of versions after 2.2.2, and what is not to be kept. Actuators that
// carom does not have give no force in theirs. false: why says who refused what.
bool mujoco_pair_load(const char* path, MujocoKeep keep, MujocoPair* pair, char* why, size_t size);
void mujoco_pair_free(MujocoPair* pair);

// Our q, v, ctrl and act of what their data say.
void mujoco_pair_state(const MujocoPair* pair, const mjData* d, crState* state);

#endif
