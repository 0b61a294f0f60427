// bytes.h - numbers as bytes, least significant byte first: the same bytes and the same hash on every machine.
#ifndef CAROM_BASE_BYTES_H
#define CAROM_BASE_BYTES_H

#include "carom/base.h"

// Where numbers go: into memory and into a hash at once.
typedef struct crBytes {
    unsigned char* at;  // place of the next byte; NULL: the numbers are hashed only
    uint64_t hash;      // cr_hash of all bytes so far, CR_HASH_SEED at the start
} crBytes;

void cr__put_u32(crBytes* bytes, uint32_t x);
void cr__put_u64(crBytes* bytes, uint64_t x);
void cr__put_int(crBytes* bytes, int x);                           // 4 bytes, two's complement
void cr__put_double(crBytes* bytes, double x);                     // 8 bytes, IEEE 754
void cr__put_doubles(crBytes* bytes, const double* x, int count);  // x may be NULL where count is 0

// The number at *at; *at moves behind it.
uint32_t cr__get_u32(const unsigned char** at);
uint64_t cr__get_u64(const unsigned char** at);
int cr__get_int(const unsigned char** at);
double cr__get_double(const unsigned char** at);
void cr__get_doubles(const unsigned char** at, double* x, int count);

#endif
