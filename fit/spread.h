// spread.h - a scene whose values are not known exactly: many copies, each drawn anew, and what they have in
// common.
//
// Where several bodies hit at once, the outcome can depend on which pair is first by less than anyone can
// measure. What can be answered is a distribution: of outcomes, of groups of outcomes, and of the order of
// impacts, with the share of the outcomes' variance that knowing the order explains.
#ifndef CAROM_FIT_SPREAD_H
#define CAROM_FIT_SPREAD_H

#include "fit/jitter.h"
#include "fit/jobs.h"
#include "fit/worlds.h"

#define CR_SPREAD_JITTERS 32
#define CR_SPREAD_ORDER   24       // pairs kept of the order of impacts
#define CR_SPREAD_MOST    1000000  // samples

typedef enum crSpreadOf { CR_SPREAD_POSITION, CR_SPREAD_VELOCITY } crSpreadOf;

typedef struct crSpreadOptions {
    int samples;  // 2 or more
    uint64_t seed;
    int threads;
    crWorldsDevice device;
    int quality;  // crQuality in place of the scene's; -1: the scene's
    int jitter_count;
    crJitter jitters[CR_SPREAD_JITTERS];
    crSpreadOf of;  // the outcome: where the bodies' centres of mass are at the end, or how fast
    const char* checkpoint;
    uint64_t key;           // hash of the scene; what else the samples depend on is added
    struct crRanks* ranks;  // as in crJobs
    bool (*watch)(void* ctx, int done, int count);
    void* ctx;
} crSpreadOptions;

// One copy of the scene.
typedef struct crSample {
    crStatus status;       // not CR_OK: it could not be read or a step failed
    int impacts;           // pairs that hit, counted with repetition
    int unsolved;          // steps whose contact solve did not reach the tolerance
    double overlap;        // at the start, deepest, m
    double created;        // energy by an impact, most, J
    int pair_count;        // kept of the order
    const double* order;   // codes of pairs (CR_SPREAD_ORDER), -1 after the last
    const double* bodies;  // position and velocity of each body's centre of mass (nb*6)
} crSample;

typedef struct crSpread {
    int samples;       // without the scene itself
    int nb;            // bodies of the model, the world included
    int size;          // numbers of one sample
    double* results;   // the scene itself first (samples + 1, size)
    int failed;        // samples
    int first_failed;  // index from 1, 0 where none
    crError error;     // why
} crSpread;

// Runs the scene itself and its samples until scene->duration. root and text are one tree (jitter.h).
// Fails: out-of-range (samples), what cr_jitter_check and cr_jobs_run fail with; the scene itself fails.
crStatus cr_spread_run(const crJson* root, const char* text, const crScene* scene,
                       const crSpreadOptions* options, crSpread* spread, crError* error);
void cr_spread_destroy(crSpread* spread);  // accepts a zeroed struct

crSample cr_spread_sample(const crSpread* spread, int index);  // 0: the scene itself

// Two bodies that hit, a < b, and whether that was together with the pair before.
typedef struct crSpreadPair {
    int a, b;
    bool together;
} crSpreadPair;
crSpreadPair cr_spread_pair(const crSpread* spread, double code);

// what the samples have in common

typedef struct crSpreadColumn {
    int body, axis;  // axis 0 to 2
    double nominal;  // of the scene itself
    double mean, sd, q05, q50, q95;
} crSpreadColumn;

typedef struct crSpreadCluster {
    int count;
    int representative;  // sample nearest to the mean
    int order;           // the order most frequent in it
    int with_order;      // samples that have it
} crSpreadCluster;

typedef struct crSpreadOrder {
    int count;
    int example;     // a sample that has it, the first
    int cluster;     // the cluster most frequent in it
    int in_cluster;  // samples that are in it
} crSpreadOrder;

// What the first k pairs tell.
typedef struct crSpreadPrefix {
    int orders;        // different ones
    double explained;  // share of the outcomes' variance, as if by chance none were (adjusted R^2)
} crSpreadPrefix;

typedef struct crSpreadSummary {
    int used;     // samples that did not fail
    int* sample;  // their indices from 1 (used)
    int column_count;
    crSpreadColumn* columns;  // numbers that vary (column_count)
    double* values;           // outcomes (used*column_count)
    double variance;          // of all columns together
    int cluster_count;
    crSpreadCluster* clusters;
    int* cluster;               // of each used sample (used)
    double clusters_explained;  // share of variance
    int prefix_count;           // most pairs in an order, at most CR_SPREAD_ORDER
    crSpreadPrefix prefix[CR_SPREAD_ORDER + 1];
    int length;  // pairs by which orders are told apart
    int order_count;
    crSpreadOrder* orders;  // most frequent first (order_count)
    int* order;             // of each used sample (used)
    int overlapping;        // samples that began with overlap
    double overlap;         // deepest, m
    int unsolved;           // samples with a step that was not solved to the tolerance
    int creating;           // samples in which an impact created energy
    int ties;               // samples in whose order some pairs hit together
} crSpreadSummary;

// length 0: the fewest pairs that explain as much as any number that leaves ten samples per order. Fails:
// memory; argument where fewer than two samples are left.
crStatus cr_spread_summarize(const crSpread* spread, crSpreadOf of, int length, crSpreadSummary* summary,
                             crError* error);
void cr_spread_summary_destroy(crSpreadSummary* summary);  // accepts a zeroed struct

#endif
