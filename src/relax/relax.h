// relax.h - contact problems of any size to full accuracy, island by island, by sparse factorizations in body
// space.
//
// An island goes through these stages until its backward error is within tol times its demand (the largest
// speed that the laws ask to change):
//
//     sweeps      Gauss-Seidel, from the guess
//     level       the largest error brought down, where that may come near and no more: weighted steps
//     directions  alternating directions on Coulomb's law, one factorization
//     newton      augmented Lagrangian, Newton's method on Coulomb's law, one factorization per step
//     convex      Coulomb's cone with the slip frozen: s = mu |u_t| is added to the normal velocity, an interior
//                 point method and a polish. It has an answer whenever the rows can be met at all, and that
//                 answer is exact for the bias b' = b + s - mu |u_t|.
//
// The answer is the point with the smallest backward error that any stage has seen; it lies in the cone. A
// stage that has spent its budget hands on; nothing runs without limit.
#ifndef CAROM_RELAX_RELAX_H
#define CAROM_RELAX_RELAX_H

#include "space.h"

#define CR_RELAX_CHEAP 5e6   // work of a factorization that is cheap: multiplications and additions,
#define CR_RELAX_UNIT  2000  // of each unit in all other parts of a step
#define CR_RELAX_DEAR  1e7   // and of one that is dear
#define CR_RELAX_FAIR  1e8   // all parts of a Newton step that `work` counts

typedef struct crRelaxParams {
    double tol;      // backward error to reach, relative to the island's demand
    double floor;    // smallest demand that counts, m/s
    double enough;   // backward error that will do in any case, m/s
    double near;     // backward error that the level stage is to reach, m/s
    int sweeps;      // at most
    int level;       // factorizations to come near
    int directions;  // iterations
    int newton;      // factorizations; as many again while they pay
    double work;  // more of them where a step costs no more than CR_RELAX_FAIR: multiplications and additions
    bool steady;  // a penalty that failed is tried again only after four inner problems that did not
    int interior;   // factorizations of the interior point method
    int polish;     // factorizations of the convex polish
    double accept;  // a guess whose error is at most this share of the demand stays as it is; 0: tol
    double reach;   // share of the demand up to which Newton's method is tried where factorizations are dear
} crRelaxParams;

crRelaxParams cr__relax_params(void);

typedef enum crRelaxStage {
    CR_RELAX_GUESS,
    CR_RELAX_SWEEPS,
    CR_RELAX_LEVEL,
    CR_RELAX_DIRECTIONS,
    CR_RELAX_NEWTON,
    CR_RELAX_CONVEX,
} crRelaxStage;

const char* cr__relax_stage_name(crRelaxStage stage);

typedef struct crRelaxRun {
    int islands;
    int solved;          // islands within tol
    int convex;          // islands whose answer is that of the convex stage
    int factorizations;  // of all islands
    double error;        // largest backward error, m/s
    double relative;     // largest backward error over its island's demand
    double shift;        // largest |s - mu |u_t|| among convex answers, m/s
    crRelaxStage stage;  // latest stage that gave an answer
} crRelaxRun;

// Whether the problem is given by J and Minv.
bool cr__relax_takes(const crProblem* problem);

// Needs J and Minv. p holds the guess and receives the answer (rows). Memory comes from the arena and is
// given back.
crStatus cr__relax_solve(const crProblem* problem, const crRelaxParams* params, crArena* arena, double* p,
                         crRelaxRun* run);

#endif
