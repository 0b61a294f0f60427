// fit_file.h - what the files of all kinds of fits have in common.
#ifndef CAROM_FIT_FIT_FILE_H
#define CAROM_FIT_FIT_FILE_H

#include "io/json.h"

// The law of this name in the list "laws"; name NULL is the first. Fails: missing-field, wrong-type,
// unknown-name.
crStatus cr__fit_find(const crJson* root, const char* name, const crJson** law, crError* error);

double cr__fit_number(const crJson* object, const char* key);  // NaN where there is none

#endif
