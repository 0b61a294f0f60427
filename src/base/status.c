// status.c - names and texts of the status codes, and the one way to fill a crError.
#include <stdio.h>
#include <string.h>

#include "carom/base.h"

const char* cr_status_name(crStatus status) {
    switch (status) {
#define NAME(suffix, code, name, text) \
    case CR_##suffix:                  \
        return name;
        CR_STATUS_MAP(NAME)
#undef NAME
    }
    return "unknown";
}

const char* cr_status_text(crStatus status) {
    switch (status) {
#define TEXT(suffix, code, name, text) \
    case CR_##suffix:                  \
        return text;
        CR_STATUS_MAP(TEXT)
#undef TEXT
    }
    return "unknown status";
}

crStatus cr_error_set(crError* error, crStatus status, const char* field, const char* format, ...) {
    if (error == NULL) return status;
    error->status = status;
    error->line = 0;
    error->column = 0;
    snprintf(error->field, sizeof error->field, "%s", field != NULL ? field : "");
    error->message[0] = '\0';
    va_list args;
    va_start(args, format);
    cr_error_format(error->message, sizeof error->message, format, args);
    va_end(args);
    return status;
}

const char* cr_truth_name(crTruth truth) {
    static const char* const names[] = {"no", "yes", "cannot tell"};
    return (unsigned)truth < sizeof names / sizeof names[0] ? names[truth] : "unknown";
}
