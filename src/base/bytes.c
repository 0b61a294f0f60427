// bytes.c - numbers written and read byte by byte, so that the order of bytes in memory does not matter.
#include "base/bytes.h"

#include <string.h>

_Static_assert(sizeof(double) == 8, "a double is 8 bytes");

static void put(crBytes* bytes, uint64_t x, int size) {
    unsigned char b[8];
    for (int i = 0; i < size; i++) {
        b[i] = (unsigned char)(x >> (8 * i));
    }
    bytes->hash = cr_hash(bytes->hash, b, (size_t)size);
    if (bytes->at == NULL) return;
    memcpy(bytes->at, b, (size_t)size);
    bytes->at += size;
}

static uint64_t get(const unsigned char** at, int size) {
    uint64_t x = 0;
    for (int i = 0; i < size; i++) {
        x |= (uint64_t)(*at)[i] << (8 * i);
    }
    *at += size;
    return x;
}

void cr__put_u32(crBytes* bytes, uint32_t x) { put(bytes, x, 4); }
void cr__put_u64(crBytes* bytes, uint64_t x) { put(bytes, x, 8); }
void cr__put_int(crBytes* bytes, int x) { put(bytes, (uint32_t)x, 4); }

void cr__put_double(crBytes* bytes, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put(bytes, bits, 8);
}

void cr__put_doubles(crBytes* bytes, const double* x, int count) {
    for (int i = 0; i < count; i++) {
        cr__put_double(bytes, x[i]);
    }
}

uint32_t cr__get_u32(const unsigned char** at) { return (uint32_t)get(at, 4); }
uint64_t cr__get_u64(const unsigned char** at) { return get(at, 8); }

int cr__get_int(const unsigned char** at) {
    uint32_t bits = cr__get_u32(at);
    int32_t x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double cr__get_double(const unsigned char** at) {
    uint64_t bits = get(at, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void cr__get_doubles(const unsigned char** at, double* x, int count) {
    for (int i = 0; i < count; i++) {
        x[i] = cr__get_double(at);
    }
}
