// feasible.h - the tree of velocities of the feasible rule (rule_feasible.c) and the choice among its outcomes.
#ifndef CAROM_RESOLVE_FEASIBLE_H
#define CAROM_RESOLVE_FEASIBLE_H

#include "resolve/impact.h"

typedef struct crTree {
    crImpact impact;
    int k;         // surfaces
    double* W;     // of the normals (k*k)
    int budget;    // nodes that may branch
    int room;      // nodes there is memory for
    int count;     // nodes so far, in the order they were found
    double* p;     // impulses (room*k)
    double* u;     // normal velocities (room*k)
    int* first;    // first surface on the way (room)
    int* depth;    // reflections on the way (room)
    int* parent;   // node before the last reflection (room)
    int* surface;  // of the last reflection (room)
    int* since;    // depth at which the way last jumped to a limit (room)
    int* head;     // first node of each hash cell, -1: none (cells)
    int* next;     // next node of the same cell (room)
    int cells;     // a power of two
    int* outcome;  // nodes that are valid (outcomes)
    bool* ended;   // the node is an outcome (room)
    double* away;  // squared distance of each outcome from the velocity before (outcomes)
    int outcomes;
    double* result;  // (k)
} crTree;

static inline double* node_p(const crTree* t, int node) { return t->p + (size_t)node * (size_t)t->k; }
static inline double* node_u(const crTree* t, int node) { return t->u + (size_t)node * (size_t)t->k; }

// The impulses to return, in t->result: the nearest outcome, or what pick asks for. Fills unique, chosen and the tie.
crStatus cr__feasible_pick(crTree* t, crRuleReport* report, crError* error);

#endif
