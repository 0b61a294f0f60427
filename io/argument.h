// argument.h - refusals of wrong arguments at the head of public functions.
#ifndef CAROM_IO_ARGUMENT_H
#define CAROM_IO_ARGUMENT_H

#include "carom/base.h"

// CR_ERR_ARGUMENT: the argument called name must be given.
static inline crStatus cr__io_missing(crError* error, const char* name) {
    return cr_error_set(error, CR_ERR_ARGUMENT, name, "%s: must be given", name);
}

#endif
