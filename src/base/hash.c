// hash.c - FNV-1a, 64 bits (Fowler, Noll and Vo): one byte at a time, so the same on every machine.
#include "carom/base.h"

uint64_t cr_hash(uint64_t hash, const void* bytes, size_t size) {
    const unsigned char* b = bytes;
    for (size_t i = 0; b != NULL && i < size; i++) {
        hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}
