// names.h - "did you mean": the nearest of a list of names, and the lists of laws, rules, solvers and joints.
#ifndef CAROM_IO_NAMES_H
#define CAROM_IO_NAMES_H

#include "carom/model.h"
#include "carom/resolve.h"

// The name nearest to `typed`, or NULL where none is near: at most one slip (a letter missing, added, wrong,
// or two swapped) for every three letters, at least one. ctx is passed to name_at, which returns NULL after
// the last.
const char* cr_name_nearest(const char* typed, const char* (*name_at)(const void* ctx, int index),
                            const void* ctx);

// The same over an array of strings that ends with NULL.
const char* cr_name_nearest_of(const char* typed, const char* const* names);

// Catalogues as such lists; ctx is not used.
const char* cr_name_law(const void* ctx, int index);
const char* cr_name_rule(const void* ctx, int index);
const char* cr_name_solver(const void* ctx, int index);

void cr_joint_names(const char* names[CR_JOINT_KINDS + 1]);  // by crJoint, NULL after the last

#endif
