// feasible.h - the tree of velocities of the feasible rule (rule_feasible.c) and the choice among its outcomes.
#ifndef CAROM_RESOLVE_FEASIBLE_H
#define CAROM_RESOLVE_FEASIBLE_H

#include "resolve/impact.h"

#define CR_MIRRORS 24  // orders of the surfaces that look the same, at most

// Nodes of the tree in the order they were found; a node is a velocity that reflections lead to.
typedef struct crTreeNodes {
    int room;      // nodes there is memory for
    int count;     // nodes so far
    double* p;     // impulses (room*k)
    double* u;     // normal velocities (room*k)
    int* first;    // first surface on the way (room)
    int* depth;    // reflections on the way (room)
    int* parent;   // node before the last reflection (room)
    int* surface;  // of the last reflection (room)
    int* since;    // depth at which the way last jumped to a limit (room)
    bool* ended;   // the node is an outcome (room)
    bool* done;    // all its reflections are nodes (room)
} crTreeNodes;

// Nodes by their velocity.
typedef struct crTreeHash {
    int cells;       // a power of two
    int* head;       // first node of each cell, -1: none (cells)
    int* next;       // next node of the same cell (room)
    double* weight;  // of each surface; the same where a mirror takes one to the other (k)
} crTreeHash;

typedef struct crTree {
    crImpact impact;
    int k;       // surfaces
    double* W;   // of the normals (k*k)
    int budget;  // nodes that may branch in the order they were found
    int reserve;  // nodes there are after that to bring branches to an end, and as many again to look for a nearer one
    crTreeNodes node;
    crTreeHash hash;
    int* outcome;  // nodes that are valid (outcomes)
    double* away;  // squared distance of each outcome from the velocity before (outcomes)
    int outcomes;
    crOutcome verdict;  // on the search: solved, or what it is where no branch has ended
    int mirrors;        // permutations of the surfaces that change nothing, the identity first
    int* mirror;        // surface i goes to mirror[m*k + i] (mirrors*k)
    bool sinking;       // no surface opens before the impact, so p.(-u) never falls along a branch
    double least;       // squared distance that no valid velocity is nearer than
    double lost;        // twice the energy that reflections may take; 0 where they keep it
    double* result;     // (k)
} crTree;

static inline double* node_p(const crTree* t, int node) { return t->node.p + (size_t)node * (size_t)t->k; }
static inline double* node_u(const crTree* t, int node) { return t->node.u + (size_t)node * (size_t)t->k; }
static inline double surface_e(const crTree* t, int i) { return t->impact.blocks[t->impact.block[i]].e; }

// The tree with its first node, the velocity before (feasible_tree.c).
crStatus cr__tree_plant(crTree* t, crError* error);
// The reflection of `node` at surface i becomes a new node, unless it is an old one or a mirror image of one. Returns that
// node, or -1 where count has reached `most`.
int cr__tree_branch(crTree* t, int node, int i, double e, int most, crRuleReport* report);
// a.W b
double cr__tree_product(const crTree* t, const double* a, const double* b);
// Mirror images of the outcomes join them; false where there is no room for all.
bool cr__tree_mirror(crTree* t);

// Permutations of the surfaces that keep W, u and e (feasible_mirror.c). The identity alone where there are more than
// CR_MIRRORS and no one of them undoes itself.
crStatus cr__mirrors_find(crTree* t, crError* error);

// Solves the plastic impact, which all bounds compare with (feasible_bound.c).
crStatus cr__bound_begin(crTree* t, crRuleReport* report, crError* error);
// No outcome on a branch through `node` has a smaller squared distance from the velocity before.
double cr__bound_nearest(const crTree* t, int node);
// A heap of nodes: the smallest bound is on top, then the greatest depth, then the smallest index.
void cr__heap_push(const crTree* t, int* heap, int* count, int node);
int cr__heap_pop(const crTree* t, int* heap, int* count);

// The impulses to return, in t->result: the nearest outcome, or what pick asks for. Fills unique, chosen and the tie.
crStatus cr__feasible_pick(crTree* t, crRuleReport* report, crError* error);

#endif
