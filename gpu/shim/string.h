// string.h - what the library uses of <string.h>, for the device.
#ifndef CAROM_SHIM_STRING_H
#define CAROM_SHIM_STRING_H

#include <stddef.h>

void* memcpy(void* restrict to, const void* restrict from, size_t size);
void* memmove(void* to, const void* from, size_t size);
void* memset(void* to, int value, size_t size);
int memcmp(const void* a, const void* b, size_t size);
void* memchr(const void* in, int value, size_t size);
int strcmp(const char* a, const char* b);
size_t strlen(const char* text);

#endif
