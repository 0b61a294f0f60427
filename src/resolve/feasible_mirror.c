// feasible_mirror.c - permutations of surfaces under which an impact looks the same.
//
// A permutation m is one where W[m(i)][m(j)] = W[i][j], u[m(i)] = u[i] and e likewise, to rounding. An outcome's image is then an
// outcome, and a branch and its image need not both be followed. All are found by putting surfaces in place one after the other
// and taking back what does not fit. Holds: a list of all permutations, or of the identity and one that undoes itself, is a
// group, so an image of an image is an image. Fails: a search that takes more than TRIALS comparisons leaves the identity.
#include "resolve/feasible.h"

#include <string.h>

#define SAME   1e-12   // of the speed before, or of sqrt(W_ii W_jj)
#define TRIALS 200000  // rows compared at most

static bool alike(const crTree* t, int i, int j) {
    const double *u = t->node.u, *W = t->W;
    size_t k = (size_t)t->k, a = (size_t)i, b = (size_t)j;
    return fabs(u[a] - u[b]) <= SAME * t->impact.speed && surface_e(t, i) == surface_e(t, j) &&
           fabs(W[a * k + a] - W[b * k + b]) <= SAME * W[a * k + a];
}

// whether surface `at` may go to `to` where those before it went
static bool fits(const crTree* t, const int* map, int at, int to) {
    size_t k = (size_t)t->k, a = (size_t)at, b = (size_t)to;
    if (!alike(t, at, to)) return false;
    for (size_t j = 0; j < a; j++) {
        size_t c = (size_t)map[j];
        if (c == b) return false;
        double scale = sqrt(fmax(0.0, t->W[a * k + a] * t->W[j * k + j]));
        if (!(fabs(t->W[a * k + j] - t->W[b * k + c]) <= SAME * scale)) return false;
    }
    return true;
}

static bool undoes_itself(const int* map, int k) {
    for (int i = 0; i < k; i++) {
        if (map[map[i]] != i) return false;
    }
    return true;
}

// Fills t->mirror after the identity, which comes first of itself: places are tried in their order. Returns how many there
// are, CR_MIRRORS + 1 where more; -1 where the search was given up. *own: the first that undoes itself, or -1.
static int list_mirrors(crTree* t, int* map, int* own) {
    int k = t->k, found = 0, at = 0, trials = 0;
    *own = -1;
    map[0] = -1;
    while (at >= 0) {
        int to = map[at] + 1;
        while (to < k && !fits(t, map, at, to)) {
            to++;
            if (++trials > TRIALS) return -1;
        }
        if (to == k) {
            at--;
            continue;
        }
        map[at] = to;
        if (at + 1 < k) {
            map[++at] = -1;
            continue;
        }
        if (found == CR_MIRRORS) return CR_MIRRORS + 1;
        memcpy(t->mirror + (size_t)found * (size_t)k, map, (size_t)k * sizeof *map);
        if (*own < 0 && found > 0 && undoes_itself(map, k)) *own = found;
        found++;
    }
    return found;
}

// multiples of the golden ratio, less their whole part: weights in [1, 2) without a pattern
static void weigh(crTree* t) {
    for (int i = 0; i < t->k; i++) {
        int least = i;
        for (int m = 1; m < t->mirrors; m++) {
            int image = t->mirror[m * t->k + i];
            least = image < least ? image : least;
        }
        double golden = 0.6180339887498949 * (least + 1);
        t->hash.weight[i] = 1.0 + (golden - floor(golden));
    }
}

crStatus cr__mirrors_find(crTree* t, crError* error) {
    size_t k = (size_t)(t->k > 0 ? t->k : 1);
    t->mirror = cr_arena_alloc(t->impact.arena, CR_MIRRORS * k * sizeof(int));
    t->hash.weight = cr_arena_alloc(t->impact.arena, k * sizeof(double));
    int* map = cr_arena_alloc(t->impact.arena, k * sizeof(int));
    if (t->mirror == NULL || t->hash.weight == NULL || map == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    }
    int own = -1, found = t->k > 0 ? list_mirrors(t, map, &own) : 1;
    t->mirrors = found >= 1 && found <= CR_MIRRORS ? found : 1;
    if (found > CR_MIRRORS && own > 0) {
        memcpy(t->mirror + k, t->mirror + (size_t)own * k, k * sizeof(int));
        t->mirrors = 2;
    }
    for (int i = 0; i < t->k; i++) {
        t->mirror[i] = i;
    }
    weigh(t);
    return CR_OK;
}
