// clusters.h - groups of points that lie apart from each other; how many is for the points to say.
#ifndef CAROM_FIT_CLUSTERS_H
#define CAROM_FIT_CLUSTERS_H

#include "carom/base.h"

#define CR_CLUSTER_POINTS 2000  // looked at closely; the others join their nearest

// label[i] from 0 of each of count points with dim numbers each (count*dim); the largest cluster is 0. Every
// point belongs to one; where none stand out all are one. *clusters is their number. Fails: memory.
crStatus cr_clusters(const double* points, int count, int dim, int* label, int* clusters, crError* error);

#endif
