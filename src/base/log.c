// log.c - formats a message and hands it to the owner's callback; no callback, no work.
#include <stdio.h>

#include "carom/base.h"

void cr_log(const crLog* log, crLogLevel level, const char* format, ...) {
    if (log == NULL || log->write == NULL || format == NULL) return;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    log->write(log->ctx, level, message);
}
