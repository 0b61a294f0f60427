// seats.c - the gap at which each contact of a solve is held, its seat: b = (gap - seat)/h above it, else 0.
//
// The seat is the deadband, and of what pressed and has hardly opened since its own gap (cr__step_band). A face is rigid:
// four of its points have three gaps to choose. Where some were held where they are and others not, they would ask for a
// motion that no face can make: impulses pile up against each other sweep by sweep, and a tolerance is reached late or not
// at all. So a face is held where it is as a whole, or not at all. In fast each point is by itself.
#include "step/step.h"

#define POINTS 3  // of one face, from which on they may contradict each other

// whether two contacts, one after the other in the list, are points of one face
static bool same_face(const crStepContact* c, const crStepContact* d) {
    const crStepPoint *p = &c->point, *q = &d->point;
    return c->shape_a == d->shape_a && c->shape_b == d->shape_b && p->child_a == q->child_a &&
           p->child_b == q->child_b && p->normal.x == q->normal.x && p->normal.y == q->normal.y &&
           p->normal.z == q->normal.z;
}

void cr__step_seats(crStep* step) {
    bool faces = step->settings.quality != CR_QUALITY_FAST;
    int cursor = step->contacts.count > 0 ? cr__step_warm_from(step, &step->contacts.list[0]) : 0;
    for (int i = 0, end; i < step->contacts.count; i = end) {
        bool whole = true;
        for (end = i; end < step->contacts.count; end++) {
            crStepContact* c = &step->contacts.list[end];
            if (end > i && !(faces && same_face(&step->contacts.list[i], c))) break;
            bool touches = c->point.gap <= cr__step_band(step, c, &cursor);
            c->seat = touches && c->point.gap > c->delta ? c->point.gap : c->delta;
            whole = whole && touches;
        }
        for (int k = i; k < end && end - i >= POINTS && !whole; k++) {
            step->contacts.list[k].seat = step->contacts.list[k].delta;
        }
    }
}
