// stdlib.h - nothing of <stdlib.h> is there on the device; the names stand for declarations.
#ifndef CAROM_SHIM_STDLIB_H
#define CAROM_SHIM_STDLIB_H

#include <stddef.h>

void* malloc(size_t size);
void free(void* memory);

#endif
