// box.h - two boxes: what the search for their best axis hands to the search for contacts.
#ifndef CAROM_COLLIDE_BOX_H
#define CAROM_COLLIDE_BOX_H

#include "collide/manifold.h"

// Both boxes in A's axes and in B's.
typedef struct crBoxFrame {
    double C[3][3], D[3][3];  // B's axes in A's frame; A's axes in B's frame, the transpose
    double abs[3][3];         // |C|
    double t[3], u[3];        // from A's centre to B's, in A's frame and in B's
    double a[3], b[3];        // half edges
} crBoxFrame;

// The best axis found, as crBoxAxis has it.
typedef struct crBoxBest {
    double gap, length;  // length: of the product of unit edges
    int face, edge_a, edge_b;
    bool back;  // the normal is against the axis or the product of edges
} crBoxBest;

// box_face.c

// Contacts at a face of one box; -1: the normal leaves neither box across a face, or no corner is as near as the axis says.
int cr__box_face_contacts(const crConvex* a, const crConvex* b, const crBoxFrame* frame,
                          const crBoxBest* best, crVec3 n, double margin,
                          crContactPoint contacts[CR_MANIFOLD_MAX], crLeftOut* left_out);

// box_edge.c

// Whether the axis is across two edges that meet in one point, and surely leaves no box nearly across a face.
bool cr__box_crossing(const crBoxFrame* frame, const crBoxBest* best);
// Their nearest points in out, which has the normal, and the contact; false: one lies beyond the end of its edge.
bool cr__box_cross(const crConvex* a, const crConvex* b, const crBoxFrame* frame, const crBoxBest* best,
                   crClosest* out, crContactPoint* contact);
// The nearest points of two edges that are not nearly parallel, for any normal; false: as above, or they are.
bool cr__box_edges(const crConvex* a, const crConvex* b, const crBoxBest* best, crClosest* out);

#endif
