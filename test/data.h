// data.h - where the tests find problems that others wrote; they are not part of this tree.
#ifndef CAROM_TEST_DATA_H
#define CAROM_TEST_DATA_H

#include <stddef.h>

// Path of a file below CAROM_DATA, or below ../shared/data beside the sources; NULL where it is not there.
const char* test_data(const char* relative, char* buffer, size_t size);

#endif
