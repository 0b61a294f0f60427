// relax.h - solves contact problems of any size to full accuracy, island by island, by sparse factorizations
// in body space.
//
// An island goes through these stages until its backward error is at most tol times its demand, the largest
// speed that the laws ask to change:
//
//     sweeps      Gauss-Seidel, from the guess
//     level       penalties raised where the error is large, until the largest error is at most `near`
//     directions  alternating directions on Coulomb's law, one factorization
//     newton      augmented Lagrangian, Newton's method on Coulomb's law, one factorization per step
//     room        the same for gaps that give a little, until the backward error is at most `shift`
//
// The answer is the point with the smallest backward error of all stages; it lies in the cone. Each stage
// ends when its budget is spent.
// Fails: CR_ERR_MEMORY.
#ifndef CAROM_RELAX_RELAX_H
#define CAROM_RELAX_RELAX_H

#include "space.h"

#define CR_RELAX_CHEAP 5e6   // cost below which a factorization is cheap, flops
#define CR_RELAX_UNIT  2000  // cost of each unit in the rest of a Newton step, flops
#define CR_RELAX_DEAR  1e7   // cost above which a factorization is dear, flops
#define CR_RELAX_FAIR  1e8   // cost up to which a Newton step may use the budget `work`, flops

typedef struct crRelaxParams {
    double tol;      // backward error to reach, relative to the island's demand
    double floor;    // least demand used for tol and accept, m/s
    double enough;   // backward error that always counts as solved, m/s
    double near;     // goal of the level stage, m/s; if above 0, a witness may replace the answer
    int sweeps;      // most sweeps
    int level;       // most factorizations of the level stage
    int directions;  // most iterations of the alternating directions
    int newton;      // factorizations of Newton's method, extended while the error falls fast
    double work;     // least cost granted to Newton's method if a step is within CR_RELAX_FAIR, flops
    bool steady;     // true if four inner problems must be solved before a failed penalty's bound rises
    double accept;   // share of the demand up to which the guess's error is accepted; 0: only tol counts
    double shift;    // backward error that the room stage may leave, m/s
    int room;        // factorizations of the room stage; 0: no such stage
    double reach;    // share of the demand above which Newton's method is skipped if factorizations are dear
} crRelaxParams;

crRelaxParams cr__relax_params(void);

typedef enum crRelaxStage {
    CR_RELAX_GUESS,
    CR_RELAX_SWEEPS,
    CR_RELAX_LEVEL,
    CR_RELAX_DIRECTIONS,
    CR_RELAX_NEWTON,
    CR_RELAX_ROOM,
} crRelaxStage;

const char* cr__relax_stage_name(crRelaxStage stage);

typedef struct crRelaxRun {
    int islands;
    int solved;          // islands within tol
    int factorizations;  // of all islands
    double error;        // largest backward error, m/s
    double relative;     // largest backward error over its island's demand
    crRelaxStage stage;  // latest stage among the islands' answers
} crRelaxRun;

// Returns true if the problem is given by J and Minv, not by W.
bool cr__relax_takes(const crProblem* problem);

// Solves a problem given by J and Minv. p holds the guess and receives the answer (rows); run receives the
// counts and errors. Arena memory is released on return. Fails: CR_ERR_MEMORY.
crStatus cr__relax_solve(const crProblem* problem, const crRelaxParams* params, crArena* arena, double* p,
                         crRelaxRun* run);

#endif
