// argument.h - refusals of wrong arguments at the head of public functions.
#ifndef CAROM_BASE_ARGUMENT_H
#define CAROM_BASE_ARGUMENT_H

#include "carom/base.h"

// CR_ERR_ARGUMENT: the argument called name must be given.
crStatus cr__missing(crError* error, const char* name);
// CR_ERR_ARGUMENT where an allocator is given that lacks a function.
crStatus cr__check_allocator(const crAllocator* allocator, crError* error);

#endif
