// motion_search.h - batches of simulated tosses, and searches made of them; what motion_fit.c is built on.
#ifndef CAROM_FIT_MOTION_SEARCH_H
#define CAROM_FIT_MOTION_SEARCH_H

#include "fit/bowl.h"
#include "fit/motion_fit.h"
#include "fit/motion_parts.h"

#define CR_MOTION_LEVELS    3   // scales of the misfit
#define CR_MOTION_EXPECTED  8   // rounds of a search, usually
#define CR_MOTION_ROUNDS    6   // boxes of points, at most
#define CR_MOTION_RESAMPLES 60  // that a box is closed by

// What a simulated toss brings back.
enum {
    CR_RUN_POSITION,
    CR_RUN_ROTATION,
    CR_RUN_COARSE,  // misfits, from the widest scale to the one that counts
    CR_RUN_MISFIT = CR_RUN_COARSE + 2,
    CR_RUN_PENETRATION,
    CR_RUN_CREATED,
    CR_RUN_GAIN,
    CR_RUN_STEPS,
    CR_RUN_UNSOLVED,
    CR_RUN_IMPERMISSIBLE,
    CR_RUN_BROKEN,
    CR_RUN_SIZE
};

// One fit under way.
typedef struct crMotionWork {
    const crMotionModel* model;
    const crMotionOptions* options;
    crMotionFit* out;
    int dim, tosses;
    int points;  // of a round
    int stage;
    int done;      // simulated in earlier stages
    int expected;  // in all
    // Whether many samples of the tosses have no derivative, as those after chaos: descents then end anywhere, and a search
    // narrows the whole cube instead. Found by the first search by derivatives.
    bool probed, rough;
    crMotionWorlds worlds;
} crMotionWork;

// Points at which the loss is known, for some tosses.
typedef struct crMotionPool {
    int count, room;
    double* x;       // (room*dim)
    double* misfit;  // of each toss at each scale; only tosses that a search uses (room*tosses*LEVELS)
} crMotionPool;

// A search over some tosses.
typedef struct crMotionSearch {
    crMotionWork* fit;
    crMotionPool pool;
    int count;
    const int* in;  // tosses (count)
    double lo[CR_SEARCH_DIM], hi[CR_SEARCH_DIM];
    double x[CR_SEARCH_DIM];  // where the loss is least
    int used;                 // of these, by the quadratic
    double* used_x;           // (room*dim)
    int* used_at;             // in the pool (room)
    double* f;                // (room)
    int level;                // the scale that is looked at
    // Of a search by derivatives that saw all samples: gradient and information of each toss at x (2*count*(dim+dim^2)), and
    // standard errors of value and place. The quadratic of the minimum is then known without a box of points.
    bool smooth;
    double* own;
    double se[CR_SEARCH_DIM], place[CR_SEARCH_DIM];
    int rounds;
} crMotionSearch;

crStatus cr__motion_no_memory(crError* error);
void cr__motion_values(const crMotionWork* work, const double* x, double* values);
int cr__motion_random(uint64_t* state, int count);  // 0 to count - 1

// Results of the tosses `in` at points x (points*count*CR_RUN_SIZE), to free.
crStatus cr__motion_batch(crMotionWork* work, const double* x, int points, const int* in, int count,
                          double** results, crError* error);

crStatus cr__motion_search_create(crMotionSearch* search, crMotionWork* work, const int* in, int count,
                                  crError* error);
void cr__motion_search_destroy(crMotionSearch* search);
// Simulates the next `points` points of the pool, whose places are there already.
crStatus cr__motion_add(crMotionSearch* search, int points, crError* error);
// Mean misfit at a point; weight NULL: every toss of the search once, else as often as it says (count).
double cr__motion_mean_at(const crMotionSearch* search, int point, const unsigned short* weight);
// x moves from the best points of the pool to a least misfit (motion_descend.c).
crStatus cr__motion_descend(crMotionSearch* search, crError* error);
// Of a rough search: a few steps by derivatives from x. deeper: x moved, since the misfit there is less by more than twice the
// standard error of the difference (motion_descend.c).
crStatus cr__motion_deepen(crMotionSearch* search, bool* deeper, crError* error);
// Of the points p and q of the pool: whether the misfit at p is less by more than twice the standard error of the difference.
bool cr__motion_is_less(const crMotionSearch* search, int p, int q);
// From points that are in the pool already, or from none.
crStatus cr__motion_search(crMotionSearch* search, crError* error);
// Minima over resampled tosses by the last quadratic (resamples*dim).
crStatus cr__motion_resample(const crMotionSearch* search, int resamples, double* minima, crError* error);
// The middle 95 % of parameter i of such minima; sorted is work (resamples).
void cr__motion_middle(const double* minima, int resamples, int dim, int i, double* sorted, double* lo,
                       double* hi);

#endif
