// peer_dart.cpp - Dantzig's method of ODE as DART keeps it; it wants rows padded to multiples of four.
#include <dart/external/odelcpsolver/lcp.h>

#include <cmath>
#include <vector>

extern "C" {
#include "peers.h"
}

int peer_dart_dantzig(int n, const double* M, const double* q, double* z) {
    const int stride = n > 1 ? ((n - 1) | 3) + 1 : 1;
    std::vector<double> A(static_cast<size_t>(n) * stride, 0.0), b(n), w(n), lo(n, 0.0), hi(n, INFINITY);
    std::vector<int> index(n, -1);
    for (int i = 0; i < n; i++) {
        b[i] = -q[i];
        for (int j = 0; j < n; j++) {
            A[static_cast<size_t>(i) * stride + j] = M[static_cast<size_t>(i) * n + j];
        }
    }
    return dart::external::ode::dSolveLCP(n, A.data(), z, b.data(), w.data(), 0, lo.data(), hi.data(),
                                          index.data());
}
