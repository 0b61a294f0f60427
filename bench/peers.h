// peers.h - the LCP solvers of others, as plain functions. Each file is built only where its library is
// found.
#ifndef CAROM_BENCH_PEERS_H
#define CAROM_BENCH_PEERS_H

// z >= 0, w = M z + q >= 0, z.w = 0; M symmetric, by rows (n*n). Return whether they say it is solved.
int peer_siconos_lemke(int n, const double* M, const double* q, double* z);
int peer_dart_dantzig(int n, const double* M, const double* q, double* z);

#endif
