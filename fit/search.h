// search.h - a least value in the unit cube without derivatives.
#ifndef CAROM_FIT_SEARCH_H
#define CAROM_FIT_SEARCH_H

#define CR_SEARCH_DIM 8

typedef struct crSearch {
    double (*loss)(void* ctx, const double* x);
    void* ctx;
    int dim;
    double step;  // edge of the first simplex
    double tol;   // edge of the last one
    int budget;   // evaluations
    int used;     // evaluations so far
} crSearch;

// From x (dim, in the cube) to the least value found, which is returned.
double cr__search(crSearch* search, double* x);

// Point `index` of Halton's sequence in the cube.
void cr__search_point(int index, int dim, double* x);

#endif
