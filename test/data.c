// data.c - the lookup behind data.h.
#include "data.h"

#include <stdio.h>
#include <stdlib.h>

const char* test_data(const char* relative, char* buffer, size_t size) {
    const char* data = getenv("CAROM_DATA");
    const char* source = getenv("CAROM_SOURCE");
    if (data != NULL) {
        snprintf(buffer, size, "%s/%s", data, relative);
    } else {
        snprintf(buffer, size, "%s/../shared/data/%s", source != NULL ? source : ".", relative);
    }
    FILE* file = fopen(buffer, "rb");
    if (file == NULL) return NULL;
    fclose(file);
    return buffer;
}
