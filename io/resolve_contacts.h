// resolve_contacts.h - the part of resolve.c that reads M, v, contacts and joints.
#ifndef CAROM_IO_RESOLVE_CONTACTS_H
#define CAROM_IO_RESOLVE_CONTACTS_H

#include "io/resolve.h"

// Reads M, v, contacts, joints, and e, mu and et, where they are given for all contacts at once. Fills
// resolve->problem, contact_count and params.points.
crStatus cr__read_contacts(const crJson* object, crResolve* resolve, crError* error);

#endif
