// scan.h - words and numbers of a text with their line and column, and Siconos' way of writing matrices.
#ifndef CAROM_IO_SCAN_H
#define CAROM_IO_SCAN_H

#include "carom/carom.h"

#define CR_SCAN_WORD 64

typedef struct crScan {
    const char* text;
    size_t size;
    size_t at;
    int line, column;            // of text[at], 1-based
    int word_line, word_column;  // of the last word
    char word[CR_SCAN_WORD];     // last word, cut at CR_SCAN_WORD - 1 bytes
    bool half;                   // true if the last matrix was stored as one triangle, and mirrored
} crScan;

crScan cr__scan(const char* text, size_t size);
void cr__scan_step(crScan* scan);                             // over one byte; not at the end of the text
bool cr__scan_word(crScan* scan);                             // false at the end of the text
bool cr__scan_as_number(const crScan* scan, double* number);  // the last word, whole, as a number

// A refusal at the last word.
crStatus cr__scan_error(const crScan* scan, crError* error, crStatus status, const char* field,
                        const char* message);

// The next word as a finite number, as a whole number within lo..hi, or as `count` finite numbers.
crStatus cr__scan_number(crScan* scan, const char* field, double* number, crError* error);
crStatus cr__scan_int(crScan* scan, const char* field, int lo, int hi, int* number, crError* error);
crStatus cr__scan_numbers(crScan* scan, const char* field, size_t count, double* numbers, crError* error);

// Refuses counts of numbers that the rest of the text cannot hold.
crStatus cr__scan_room(const crScan* scan, const char* field, size_t count, crError* error);

// A matrix as Siconos writes it: storage kind, size, then dense by columns (kind 0), blocks by columns (kind 1) or
// what CSparse prints (kind 2, by cr__scan_csparse, which fills a matrix whose sizes are set).
crStatus cr__scan_siconos_matrix(crScan* scan, crArena* arena, crMatrix* matrix, crError* error);
crStatus cr__scan_csparse(crScan* scan, crArena* arena, crMatrix* matrix, crError* error);

#endif
