// peers.h - the solvers of others, as plain functions. Each file is built only where its library is found.
#ifndef CAROM_BENCH_PEERS_H
#define CAROM_BENCH_PEERS_H

// z >= 0, w = M z + q >= 0, z.w = 0; M symmetric, by rows (n*n). Return whether they say it is solved.
int peer_siconos_lemke(int n, const double* M, const double* q, double* z);
int peer_dart_dantzig(int n, const double* M, const double* q, double* z);

// Coulomb friction: u = W p + q, rows normal first. d = 2, 3, or 5 with rolling friction.
typedef struct PeerFriction {
    int d, contacts;
    const double* W;        // by rows (d*contacts squared)
    const double* q;        // (d*contacts)
    const double* mu;       // (contacts)
    const double* mu_roll;  // d = 5 only (contacts)
} PeerFriction;

// Siconos' solvers for this d, each with a way to keep the matrix; NULL out of range.
const char* peer_siconos_friction_name(int d, int which);
int peer_siconos_friction_dense(int d, int which);

typedef struct PeerSiconos PeerSiconos;  // problem and options, made ready once
PeerSiconos* peer_siconos_friction_create(const PeerFriction* problem, int which);
// Options anew, then timed by the caller: p holds the guess and receives the result. True where it says solved.
void peer_siconos_friction_options(PeerSiconos* peer, double tol, int max_iterations);
int peer_siconos_friction_solve(PeerSiconos* peer, double* p);

#endif
