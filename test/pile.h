// pile.h - contact problems of rigid bodies for the solver tests: towers, walls, heaps of spheres, in
// operator form.
#ifndef CAROM_TEST_PILE_H
#define CAROM_TEST_PILE_H

#include "carom/carom.h"
#include "sample.h"

typedef enum crPileKind {
    PILE_TOWER,  // boxes on top of each other, four contact points each: redundant
    PILE_WALL,   // bricks in bond, each on two others
    PILE_HEAP,   // spheres in a loose lattice, all that touch, floor below
    PILE_JAM,    // spheres pressed between two walls that do not move
    PILE_KINDS
} crPileKind;

typedef enum crPileFriction {
    PILE_DISC,     // one mu
    PILE_MIXED,    // discs, some with mu = 0, some large
    PILE_ELLIPSE,  // two coefficients
    PILE_POLYGON,  // five to nine vertices
    PILE_ROLLING,  // with spin and rolling rows
    PILE_NONE,     // unilateral rows only
    PILE_FRICTIONS
} crPileFriction;

typedef struct crPileDef {
    crPileKind kind;
    crPileFriction friction;
    int bodies;
    double mass_ratio;  // heaviest over lightest, >= 1
    double motion;      // random velocity added, m/s
    bool joints;        // every fourth pair of neighbours also held by a ball joint (three equality rows)
} crPileDef;

// The problem's arrays are allocated from the arena. J and Minv are by rows; M and v are given.
crProblem pile_build(const crPileDef* def, crRandom* random, crArena* arena);

#endif
