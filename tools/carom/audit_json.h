// audit_json.h - members of JSON objects that several verbs print.
#ifndef CAROM_AUDIT_JSON_H
#define CAROM_AUDIT_JSON_H

#include "carom/carom.h"
#include "io/json.h"

// "key":value with a comma before it unless it is the first.
void json_number(FILE* file, bool first, const char* key, double value);
void json_bool(FILE* file, bool first, const char* key, bool value);

// [x, ...]
void json_vector(FILE* file, const double* x, int count);

// The figures of an audit as members, the first without a comma.
void json_audit(FILE* file, const crAudit* audit);

#endif
