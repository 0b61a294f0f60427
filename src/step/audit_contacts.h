// audit_contacts.h - the working data of the audit of one contact solve, shared by the files audit_*.c of its stages.
//
//   audit_contacts.c   order of the stages, outcome
//   audit_witness.c    witness of contacts with a disc of friction
//   audit_general.c    witness and defect of contacts with other friction
//   audit_ties.c       witness and defect of loops and joints
//   audit_momentum.c   velocities that the witness gives, against those of the state
//   audit_figures.c    worst figures of contacts
#ifndef CAROM_STEP_AUDIT_CONTACTS_H
#define CAROM_STEP_AUDIT_CONTACTS_H

#include "problem/witness.h"
#include "step/audit.h"

#define CR_AUDIT_CHUNK 256  // contacts or bodies that one thread takes at a time
#define CR_AUDIT_EPS   0x1p-52
#define CR_AUDIT_ROWS  6  // of a contact at most

// what was decided about a contact
typedef enum crAuditHold {
    CR_AUDIT_OUT,      // none of this solve's
    CR_AUDIT_OPEN,     // no impulse: it must not close
    CR_AUDIT_HELD,     // an impulse: sticking, slipping or without friction
    CR_AUDIT_GENERAL,  // other friction than a disc
} crAuditHold;

// what is left of a contact for a second look
typedef struct crAuditSeen {
    double eta2;   // defect at the velocities of the state, squared
    double speed;  // normal velocity with bias, m/s
    double given;  // |u_free| + |bias|, for the rounding floor, m/s
    int island;    // -1: none
    crAuditHold hold;
} crAuditSeen;

// what a contact adds to sums
typedef struct crAuditContact {
    crAuditSeen seen;
    crVec3 P;      // witness impulse on b, N s
    double work;   // of its impulse, J
    double terms;  // sizes of the terms of that work, J
    double want;   // velocity that the laws want changed, m/s; negative where it has no part in the solve
} crAuditContact;

// A body as the contacts' passes see it, 0 in all figures where v does not move it.
typedef struct crAuditBody {
    crVec3 com;
    crVec3 P, T;    // witness impulse and its moment about com, of contacts of a single body
    double pull;    // sum of |P| over its contacts, N s
    double linear;  // trace of 1/m, 1/kg
    double pliant;  // s^2: trace of its share of W at its farthest point, 1/kg; s A is this times the pull
    double off;     // by how much its velocity differs from the witness's, m/s; 0 within rounding
    int island;     // -1: no contact, loop or joint acts on it
    int v;          // its first velocity
    bool tree;      // moves, and is not single
} crAuditBody;

// What contacts that act on each other have in common: sums and worst figures.
typedef struct crAuditIsland {
    double scale;          // largest velocity that the laws want changed, m/s
    double energy, terms;  // work of its contacts, and sizes of the terms, J
    double eta2;           // largest defect, squared
    double far;            // largest ratio of that to the deadband, squared, 1/s^2
    double given, pulled;  // largest of contacts, and s A of bodies, for the rounding floor, m/s
} crAuditIsland;

// contacts with other friction than a disc: rows n, t1, t2, spin, roll
typedef struct crAuditGeneral {
    int contact;
    double bias;
    crBlock block;
    double weight[CR_AUDIT_ROWS];
    crHeld held[CR_AUDIT_ROWS];
    double p[CR_AUDIT_ROWS];
    crMat3 frame;
    crVec3 P, T;  // witness impulse and moment on b, N s, N m s
} crAuditGeneral;

// worst figures
typedef struct crAuditWorst {
    double eta2, share2;  // eta squared, and over the scale of its island squared
    double floor, noise;  // rounding floor, and over the scale
    double far;           // eta h over the size of the contact's bodies, squared
    double permits, approach, cone, complementarity;
    double given;         // that solves have added to gaps, over h
    double dissipation2;  // squared
    double momentum;
    double seen;  // 0 where everything is a number
} crAuditWorst;

typedef struct crContactAudit {
    crStep* step;
    double h;
    const bool *takes, *passes;
    const crVec3 *u_free, *u;  // velocities of the contacts by v_free and by the state's v (contact_count)
    crAuditBody* body;         // (nb)
    crAuditContact* contact;   // of all with threads, else of a chunk
    int first;                 // contact that `contact` begins with
    crAuditSeen* seen;         // (contact_count)
    int general_count;
    crAuditGeneral* general;
    double* v;  // velocities of the witness; NULL where there are neither trees nor loops nor joints (nv)
    int island_count;
    crAuditIsland* island;  // 0: contacts of none (island_count + 1)
    bool again;             // some body's velocity is not the witness's: its contacts are judged one by one
    int* across;            // contacts between islands, likewise (across_count)
    int across_count;
    double* tie_p;        // witness of rows of loops and joints; NULL: there are none (rows.count)
    crHeld* tie_held;     // (rows.count)
    double* tie_weight;   // diagonal of W (rows.count)
    crAuditWorst* worst;  // of each chunk
} crContactAudit;

static inline double cr__audit_larger(double a, double b) { return a > b ? a : b; }
static inline double cr__audit_size1(crVec3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

// Trace of a body's share of W at a point, as if it were free.
double cr__audit_mobility(const crContactAudit* a, int body, crVec3 point);

// Witness of contacts begin to end - 1, for tasks; ctx: crContactAudit.
void cr__audit_witness(void* ctx, int begin, int end);
// Witness of contacts with other friction. CR_ERR_MEMORY.
crStatus cr__audit_generals(crContactAudit* a);
void cr__audit_judge_generals(crContactAudit* a, crAuditWorst* worst);

// Witness of loops and joints at the velocities of the state, and what they add to the scales of islands. CR_ERR_MEMORY.
crStatus cr__audit_ties(crContactAudit* a);
void cr__audit_tie_impulses(const crContactAudit* a, double* g);
void cr__audit_tie_scales(crContactAudit* a);
void cr__audit_judge_ties(const crContactAudit* a, crAuditWorst* worst);

// Sums of the witness of contacts begin to end - 1 over bodies and islands, but for those with other friction.
void cr__audit_gather(crContactAudit* a, int begin, int end);
// Those of the others, velocities that the witness gives, and by how much the state's differ. CR_ERR_MEMORY.
crStatus cr__audit_momentum(crContactAudit* a);

// Figures of islands, and of contacts that these do not tell.
void cr__audit_judge(crContactAudit* a, crAuditWorst* worst);
double cr__audit_floor(const crContactAudit* a, int contact);
double cr__audit_scale(const crContactAudit* a, int contact);
// A defect squared and its floor; size: of the bodies over h, 0: unknown.
void cr__audit_count(double eta2, double floor, double scale, double size, crAuditWorst* worst);
void cr__audit_worse(const crAuditWorst* from, crAuditWorst* to);

#endif
