// peer_siconos_friction.c - the friction solvers of Siconos' numerics, with its own defaults but for tolerance
// and iterations. Matrices are handed over in the storage each solver works on, so that nothing is converted
// while it is timed; what it caches from one solve to the next is kept.
#include "peers.h"

#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/NumericsVerbose.h>
#include <siconos/numerics/RollingFrictionContactProblem.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/SparseBlockMatrix.h>
#include <stdlib.h>
#include <string.h>

typedef struct Candidate {
    int d;
    int id;
    NM_types storage;
    const char* name;
} Candidate;

static const Candidate candidates[] = {
    {2, SICONOS_FRICTION_2D_NSGS, NM_DENSE, "nsgs"},
    {2, SICONOS_FRICTION_2D_NSGS, NM_SPARSE_BLOCK, "nsgs blocks"},
    {2, SICONOS_FRICTION_2D_CPG, NM_DENSE, "cpg"},
    {2, SICONOS_FRICTION_2D_LEMKE, NM_DENSE, "lemke"},
    {3, SICONOS_FRICTION_3D_NSGS, NM_DENSE, "nsgs"},
    {3, SICONOS_FRICTION_3D_NSGS, NM_SPARSE_BLOCK, "nsgs blocks"},
    {3, SICONOS_FRICTION_3D_NSN_AC, NM_DENSE, "newton"},
    {3, SICONOS_FRICTION_3D_NSN_AC, NM_SPARSE, "newton sparse"},
    {3, SICONOS_FRICTION_3D_ADMM, NM_SPARSE, "admm"},
    {5, SICONOS_ROLLING_FRICTION_3D_NSGS, NM_DENSE, "nsgs"},
    {5, SICONOS_ROLLING_FRICTION_3D_NSGS, NM_SPARSE_BLOCK, "nsgs blocks"},
    {5, SICONOS_ROLLING_FRICTION_3D_ADMM, NM_SPARSE, "admm"},
};

struct PeerSiconos {
    const Candidate* candidate;
    FrictionContactProblem friction;
    RollingFrictionContactProblem rolling;
    SolverOptions* options;
    double* velocity;
};

static const Candidate* find(int d, int which) {
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if (candidates[i].d == d && which-- == 0) return &candidates[i];
    }
    return NULL;
}

const char* peer_siconos_friction_name(int d, int which) {
    const Candidate* candidate = find(d, which);
    return candidate != NULL ? candidate->name : NULL;
}

int peer_siconos_friction_dense(int d, int which) {
    const Candidate* candidate = find(d, which);
    return candidate != NULL && candidate->storage == NM_DENSE;
}

// dense is by columns; the block form is made from the sparse one
static NumericsMatrix* make_matrix(const PeerFriction* problem, NM_types storage) {
    int n = problem->d * problem->contacts;
    NumericsMatrix* M = NM_create(storage == NM_DENSE ? NM_DENSE : NM_SPARSE, n, n);
    if (storage != NM_DENSE) NM_triplet_alloc(M, (CS_INT)n * n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double value = problem->W[(size_t)i * (size_t)n + (size_t)j];
            if (storage == NM_DENSE) {
                M->matrix0[(size_t)j * (size_t)n + (size_t)i] = value;
            } else if (value != 0.0) {
                NM_entry(M, i, j, value);
            }
        }
    }
    if (storage != NM_SPARSE_BLOCK) return M;
    SparseBlockStructuredMatrix* blocks = SBM_new();
    SBM_from_csparse(problem->d, NM_csc(M), blocks);
    return NM_new_SBM(n, n, blocks);
}

static double* copy(const double* from, int n) {
    double* to = malloc((size_t)n * sizeof *to);
    memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

PeerSiconos* peer_siconos_friction_create(const PeerFriction* problem, int which) {
    PeerSiconos* peer = calloc(1, sizeof *peer);
    int n = problem->d * problem->contacts;
    numerics_set_verbose(0);
    peer->candidate = find(problem->d, which);
    FrictionContactProblem* f = &peer->friction;
    f->dimension = problem->d;
    f->numberOfContacts = problem->contacts;
    f->M = make_matrix(problem, peer->candidate->storage);
    f->q = copy(problem->q, n);
    f->mu = copy(problem->mu, problem->contacts);
    RollingFrictionContactProblem* r = &peer->rolling;
    r->dimension = f->dimension;
    r->numberOfContacts = f->numberOfContacts;
    r->M = f->M;
    r->q = f->q;
    r->mu = f->mu;
    if (problem->d == 5) r->mu_r = copy(problem->mu_roll, problem->contacts);
    peer->velocity = calloc((size_t)n, sizeof(double));
    return peer;
}

void peer_siconos_friction_options(PeerSiconos* peer, double tol, int max_iterations) {
    if (peer->options != NULL) {
        solver_options_delete(peer->options);
        free(peer->options);
    }
    peer->options = solver_options_create(peer->candidate->id);
    peer->options->dparam[SICONOS_DPARAM_TOL] = tol;
    peer->options->iparam[SICONOS_IPARAM_MAX_ITER] = max_iterations;
    memset(peer->velocity, 0,
           (size_t)(peer->friction.dimension * peer->friction.numberOfContacts) * sizeof(double));
}

int peer_siconos_friction_solve(PeerSiconos* peer, double* p) {
    if (peer->candidate->d == 2) return fc2d_driver(&peer->friction, p, peer->velocity, peer->options) == 0;
    if (peer->candidate->d == 3) return fc3d_driver(&peer->friction, p, peer->velocity, peer->options) == 0;
    return rolling_fc3d_driver(&peer->rolling, p, peer->velocity, peer->options) == 0;
}
