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
    int* body;   // ours, of each body of theirs
    int* joint;  // our body, of each joint of theirs
} MujocoPair;

typedef struct MujocoKeep {
    bool equalities;
    const char* key;  // keyframe that ours starts from; NULL: keyframes are not kept
} MujocoKeep;

// Both read a copy without sensors, attributes of versions after 2.2.2, and what is not to be kept. Actuators that
// carom does not have are switched off in theirs. false: why says who refused what.
bool mujoco_pair_load(const char* path, MujocoKeep keep, MujocoPair* pair, char* why, size_t size);
void mujoco_pair_free(MujocoPair* pair);

// Our q and v of what their data say.
void mujoco_pair_state(const MujocoPair* pair, const mjData* d, crState* state);

#endif
