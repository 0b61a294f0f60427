// argument.c - the texts of refused arguments.
#include "base/argument.h"

crStatus cr__missing(crError* error, const char* name) {
    return cr_error_set(error, CR_ERR_ARGUMENT, name, "%s: must be given", name);
}

crStatus cr__check_allocator(const crAllocator* a, crError* error) {
    if (a == NULL || (a->alloc != NULL && a->free != NULL)) return CR_OK;
    return cr_error_set(error, CR_ERR_ARGUMENT, "allocator", "allocator: must have both alloc and free");
}
