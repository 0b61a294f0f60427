// peer_siconos.c - Lemke's method of Siconos' numerics.
#include "peers.h"

#include <siconos/numerics/LCP_Solvers.h>
#include <siconos/numerics/LinearComplementarityProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/lcp_cst.h>
#include <stdlib.h>

int peer_siconos_lemke(int n, const double* M, const double* q, double* z) {
    LinearComplementarityProblem problem = {.size = n, .q = (double*)q};
    problem.M = NM_create_from_data(NM_DENSE, n, n, (void*)M);
    SolverOptions* options = solver_options_create(SICONOS_LCP_LEMKE);
    double* w = calloc((size_t)n, sizeof(double));
    options->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
    int info = 1;
    lcp_lexicolemke(&problem, z, w, &info, options);
    free(w);
    solver_options_delete(options);
    free(options);
    free(problem.M->internalData);
    free(problem.M);
    return info == 0;
}
