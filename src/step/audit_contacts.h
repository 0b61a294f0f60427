// audit_contacts.h - working data of the audit of one contact solve, shared by the files of its stages.
//
//   audit_contacts.c   order of the stages, outcome
//   audit_witness.c    witness of contacts with a disc of friction
//   audit_general.c    witness and defect of contacts with other friction
//   audit_ties.c       witness and defect of loops and joints
//   audit_momentum.c   velocities by the witness, compared with the velocities of the state
//   audit_figures.c    worst figures of contacts
#ifndef CAROM_STEP_AUDIT_CONTACTS_H
#define CAROM_STEP_AUDIT_CONTACTS_H

#include "problem/witness.h"
#include "step/audit.h"

#define CR_AUDIT_CHUNK 256      // contacts or bodies per task
#define CR_AUDIT_EPS   0x1p-52  // rounding unit of a double
#define CR_AUDIT_ROWS  6        // rows of a contact, at most

// state of a contact in the audit
typedef enum crAuditHold {
    CR_AUDIT_OUT,      // the contact is not judged by this solve
    CR_AUDIT_OPEN,     // without impulse: it must not close
    CR_AUDIT_HELD,     // with an impulse: sticking, slipping or without friction
    CR_AUDIT_GENERAL,  // with other friction than a disc
} crAuditHold;

// figures of a contact that are kept for judging it once more
typedef struct crAuditSeen {
    double eta2;   // defect at the velocities of the state, squared, m^2/s^2
    double speed;  // normal velocity with bias, m/s
    double given;  // |u_free| + |bias|, for the rounding floor, m/s
    int island;    // -1: none
    crAuditHold hold;
} crAuditSeen;

// figures of a contact that enter sums
typedef struct crAuditContact {
    crAuditSeen seen;
    crVec3 P;      // witness impulse on b, N s
    double work;   // work of its impulse, J
    double terms;  // sum of the absolute terms of that work, J
    double want;   // velocity that the laws want changed, m/s; negative if it is not in the solve
} crAuditContact;

// A body in the audit; all figures are 0 if v does not move it.
typedef struct crAuditBody {
    crVec3 com;
    crVec3 P, T;    // witness impulse of its contacts and the moment about com, if it is single
    double pull;    // sum of |P| over its contacts, N s
    double linear;  // trace of 1/m, 1/kg
    double pliant;  // s^2: trace of its share of W at its farthest point, 1/kg; s A is this times the pull
    double off;     // difference of its velocity from that of the witness, m/s; 0 if it is rounding
    int island;     // -1: no contact, loop or joint acts on it
    int v;          // its first velocity
    bool tree;      // true if it moves and is not single
} crAuditBody;

// Sums and worst figures of an island.
typedef struct crAuditIsland {
    double scale;          // largest velocity that the laws want changed, m/s
    double energy, terms;  // work of its contacts, sum of the absolute terms, J
    double eta2;           // largest defect, squared, m^2/s^2
    double far;            // largest ratio of a defect to the deadband, squared, 1/s^2
    double given, pulled;  // largest `given` of contacts, largest s A of bodies, for the floor, m/s
} crAuditIsland;

// contact with other friction than a disc: rows n, t1, t2, spin, roll
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

// worst figures of the contacts
typedef struct crAuditWorst {
    double eta2, share2;  // eta squared; eta over the scale of its island, squared
    double floor, noise;  // rounding floor; floor over the scale
    double far;           // eta h over the size of the contact's bodies, squared
    double permits, approach, cone, complementarity;
    double dissipation2;  // dissipation squared
    double momentum;
    double seen;  // 0 if all numbers are finite
} crAuditWorst;

typedef struct crContactAudit {
    crStep* step;
    double h;
    const bool *takes, *passes;
    const crVec3 *u_free, *u;  // velocities of the contacts by v_free and by the state's v (contact_count)
    crAuditBody* body;         // (nb)
    crAuditContact* contact;   // all contacts with threads, else the contacts of a chunk
    int first;                 // index of the contact that `contact` begins with
    crAuditSeen* seen;         // (contact_count)
    int general_count;
    crAuditGeneral* general;
    double* v;  // velocities of the witness (nv); NULL: no trees, loops or rows of joints
    int island_count;
    crAuditIsland* island;  // entry 0 is for contacts of no island (island_count + 1)
    bool again;             // true if some body is off: its contacts are judged one by one
    int* across;            // contacts between islands, which are judged one by one (across_count)
    int across_count;
    double* tie_p;        // witness of rows of loops and joints (rows.count); NULL: no such rows
    crHeld* tie_held;     // (rows.count)
    double* tie_weight;   // diagonal of W (rows.count)
    crAuditWorst* worst;  // worst figures of each chunk
} crContactAudit;

static inline double cr__audit_larger(double a, double b) { return a > b ? a : b; }
static inline double cr__audit_size1(crVec3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

// Trace of a body's share of W at a point, as if the body were free.
double cr__audit_mobility(const crContactAudit* a, int body, crVec3 point);

// Makes the witness of contacts begin to end - 1; ctx: crContactAudit.
void cr__audit_witness(void* ctx, int begin, int end);
// Makes the witness of contacts with other friction. CR_ERR_MEMORY.
crStatus cr__audit_generals(crContactAudit* a);
void cr__audit_judge_generals(crContactAudit* a, crAuditWorst* worst);

// Makes the witness of loops and joints at the velocities of the state. CR_ERR_MEMORY.
crStatus cr__audit_ties(crContactAudit* a);
void cr__audit_tie_impulses(const crContactAudit* a, double* g);
void cr__audit_tie_scales(crContactAudit* a);
void cr__audit_judge_ties(const crContactAudit* a, crAuditWorst* worst);

// Sums the witness of contacts begin to end - 1 over bodies and islands, except contacts with other friction.
void cr__audit_gather(crContactAudit* a, int begin, int end);
// Sums the witness of contacts with other friction, and compares the velocities by the witness with the
// state's. CR_ERR_MEMORY.
crStatus cr__audit_momentum(crContactAudit* a);

// Judges islands by their figures, then single contacts that these do not cover.
void cr__audit_judge(crContactAudit* a, crAuditWorst* worst);
double cr__audit_floor(const crContactAudit* a, int contact);
double cr__audit_scale(const crContactAudit* a, int contact);
// Adds a squared defect and its floor to the worst figures; size: size of the bodies over h, 0: unknown.
void cr__audit_count(double eta2, double floor, double scale, double size, crAuditWorst* worst);
// Adds worst figures to others.
void cr__audit_worse(const crAuditWorst* from, crAuditWorst* to);

#endif
