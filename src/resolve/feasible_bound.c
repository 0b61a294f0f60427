// feasible_bound.c - how near an outcome on a branch of the feasible rule can be at best.
//
// An outcome p on a branch through a node has p >= p_node, since every reflection pushes. Its squared distance is
// |v+ - v-|_M^2 = p.W p = p.(u+ - u-) = 2 dE - 2 p.u-, dE <= 0 the change of energy. Where no surface opens before (u- <= 0)
// p.(-u-) never falls along a branch, so with a = p_node.(-u-): p.W p >= a, and >= 2 a - 2 L, L the most energy that impulses
// p >= 0 can take: that of the plastic impact p_c, L = -p_c.u-/2. No valid velocity at all is nearer than the plastic one,
// p_c.W p_c = 2 L. Holds: with e = 1 at every surface nothing is lost, and 2 a is the distance itself once a branch has
// ended. Where some surface opens before, 2 L alone is left.
#include "resolve/feasible.h"

#include <string.h>

// whether reflections keep the energy, and so does the end of a branch
static bool keeps(const crTree* t) {
    for (int i = 0; i < t->k; i++) {
        if (surface_e(t, i) != 1.0) return false;
    }
    return t->impact.params.threshold == 0.0;
}

crStatus cr__bound_begin(crTree* t, crRuleReport* report, crError* error) {
    const crImpact* impact = &t->impact;
    double* lambda = cr_arena_alloc(impact->arena, (size_t)(t->k + 1) * sizeof(double));
    if (lambda == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    crRuleReport own = *report;
    own.outcome = CR_OUTCOME_SOLVED;
    crStatus status = cr__impact_plastic(impact, impact->u, NULL, lambda, &own, error);
    if (status != CR_OK) return status;
    // a plastic impact that was not found bounds nothing
    bool found = own.outcome == CR_OUTCOME_SOLVED;
    t->sinking = found;
    t->least = 0.0;
    for (int i = 0; i < t->k && found; i++) {
        t->sinking = t->sinking && t->node.u[i] <= 0.0;
        t->least -= lambda[i] * t->node.u[i];
    }
    t->lost = keeps(t) ? 0.0 : t->least;
    return CR_OK;
}

double cr__bound_nearest(const crTree* t, int node) {
    double a = 0.0;
    for (int i = 0; i < t->k && t->sinking; i++) {
        a -= node_p(t, node)[i] * t->node.u[i];
    }
    return fmax(fmax(a, 2.0 * a - t->lost), t->least);
}

// whether a comes before b
static bool before(const crTree* t, int a, int b) {
    double x = cr__bound_nearest(t, a), y = cr__bound_nearest(t, b);
    if (x != y) return x < y;
    if (t->node.depth[a] != t->node.depth[b]) return t->node.depth[a] > t->node.depth[b];
    return a < b;
}

void cr__heap_push(const crTree* t, int* heap, int* count, int node) {
    int at = (*count)++;
    for (; at > 0 && before(t, node, heap[(at - 1) / 2]); at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = node;
}

int cr__heap_pop(const crTree* t, int* heap, int* count) {
    int top = heap[0], last = heap[--*count], at = 0;
    while (2 * at + 1 < *count) {
        int child = 2 * at + 1;
        if (child + 1 < *count && before(t, heap[child + 1], heap[child])) child++;
        if (!before(t, heap[child], last)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}
