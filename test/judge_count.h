// judge_count.h - how many random inputs the judge's tests try, and with which seeds.
//
// CAROM_SOAK asks for the full count. CAROM_PIECE=K/N with it runs the K-th of N pieces of that count, with seeds of its
// own, so that a soak can be shared by processes.
#ifndef CAROM_TEST_JUDGE_COUNT_H
#define CAROM_TEST_JUDGE_COUNT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct JudgePiece {
    int index, of;  // 0 <= index < of
} JudgePiece;

static inline JudgePiece judge_piece(void) {
    const char* text = getenv("CAROM_PIECE");
    int index = 0, of = 0;
    if (text == NULL || sscanf(text, "%d/%d", &index, &of) != 2) return (JudgePiece){0, 1};
    return index >= 1 && index <= of ? (JudgePiece){index - 1, of} : (JudgePiece){0, 1};
}

static inline int judge_count(int quick, int soak) {
    if (getenv("CAROM_SOAK") == NULL) return getenv("CAROM_FEW") != NULL ? quick / 8 : quick;
    int of = judge_piece().of;
    return (soak + of - 1) / of;
}

// the seed of the first piece is `seed` itself
static inline uint64_t judge_seed(uint64_t seed) { return seed + 1000003U * (uint64_t)judge_piece().index; }

#endif
