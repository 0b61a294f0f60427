// seats.c - the seat of each contact: the gap at which a solve holds it.
//
// The bias is b = (gap - seat)/h above the seat, else 0. The seat is the deadband, or the contact's own gap
// if it carried load in the last step and has hardly opened since (cr__step_band). A face is rigid: the gaps
// of four points on it have three degrees of freedom. If only some of its points were held at their own gaps,
// the biases would ask for a motion that the face cannot make; impulses would grow against each other from
// sweep to sweep, and the tolerance would be reached late or never. The points of a face are therefore held
// at their own gaps only if all of them touch. In fast each point is treated alone.
#include "step/step.h"

#define POINTS 3  // points of a face from which on their seats are chosen together

// true if two contacts are points of one face
static bool same_face(const crStepContact* c, const crStepContact* d) {
    const crStepPoint *p = &c->point, *q = &d->point;
    return c->shape_a == d->shape_a && c->shape_b == d->shape_b && p->child_a == q->child_a &&
           p->child_b == q->child_b && p->normal.x == q->normal.x && p->normal.y == q->normal.y &&
           p->normal.z == q->normal.z;
}

void cr__step_seats(const crStep* step, crStepContacts* contacts) {
    bool faces = step->settings.quality != CR_QUALITY_FAST;
    int cursor = contacts->count > 0 ? cr__step_warm_from(step, &contacts->list[0]) : 0;
    for (int i = 0, end; i < contacts->count; i = end) {
        bool whole = true;
        for (end = i; end < contacts->count; end++) {
            crStepContact* c = &contacts->list[end];
            if (end > i && !(faces && same_face(&contacts->list[i], c))) break;
            bool touches = c->point.gap <= c->delta || c->point.gap <= cr__step_band(step, c, &cursor);
            c->seat = touches && c->point.gap > c->delta ? c->point.gap : c->delta;
            whole = whole && touches;
        }
        for (int k = i; k < end && end - i >= POINTS && !whole; k++) {
            contacts->list[k].seat = contacts->list[k].delta;
        }
    }
}
