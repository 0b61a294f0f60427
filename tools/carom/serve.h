// serve.h - one text over HTTP, to this machine only.
#ifndef CAROM_TOOL_SERVE_H
#define CAROM_TOOL_SERVE_H

#include <stdbool.h>
#include <stddef.h>

// Serves the page at / on a free port of 127.0.0.1, calls `ready` with its address, and goes on until Ctrl-C,
// SIGHUP or SIGTERM. Nothing else is answered, and no file is ever opened: there is no path to get out of.
// false: no socket. A client has `patience` seconds for its request and the answer.
bool serve_page(const char* page, size_t size, double patience, void (*ready)(const char* address));

#endif
