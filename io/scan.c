// scan.c - reading numbers from a text that may be cut off, hostile or not text at all.
//
// Words are separated by bytes up to and including the space. Counts are compared with what is left of the
// text (two bytes per number at least), so memory stays within a small multiple of the text's size. Fails:
// each refusal names the field, the word found and where it stands.
#include "io/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

crScan cr__scan(const char* text, size_t size) {
    return (crScan){.text = text, .size = size, .line = 1, .column = 1, .word_line = 1, .word_column = 1};
}

void cr__scan_step(crScan* scan) {
    if (scan->text[scan->at] == '\n') {
        scan->line++;
        scan->column = 1;
    } else {
        scan->column++;
    }
    scan->at++;
}

static bool is_space(char c) { return (unsigned char)c <= ' '; }

bool cr__scan_word(crScan* scan) {
    while (scan->at < scan->size && is_space(scan->text[scan->at])) {
        cr__scan_step(scan);
    }
    scan->word_line = scan->line;
    scan->word_column = scan->column;
    size_t length = 0;
    while (scan->at < scan->size && !is_space(scan->text[scan->at])) {
        if (length + 1 < sizeof scan->word) scan->word[length++] = scan->text[scan->at];
        cr__scan_step(scan);
    }
    scan->word[length] = '\0';
    return length > 0;
}

bool cr__scan_as_number(const crScan* scan, double* number) {
    if (scan->word[0] == '\0' || strlen(scan->word) + 1 >= sizeof scan->word) return false;
    char* end = NULL;
    *number = strtod(scan->word, &end);
    return *end == '\0';
}

crStatus cr__scan_error(const crScan* scan, crError* error, crStatus status, const char* field,
                        const char* message) {
    cr_error_set(error, status, field, "%s: %s", field, message);
    if (error != NULL) {
        error->line = scan->word_line;
        error->column = scan->word_column;
    }
    return status;
}

static crStatus missing_scan(const crScan* scan, const char* field, crError* error) {
    return cr__scan_error(scan, error, CR_ERR_MISSING, field, "the text ends where a number must be");
}

crStatus cr__scan_number(crScan* scan, const char* field, double* number, crError* error) {
    char message[128];
    if (!cr__scan_word(scan)) return missing_scan(scan, field, error);
    if (!cr__scan_as_number(scan, number)) {
        snprintf(message, sizeof message, "\"%s\" is not a number", scan->word);
        return cr__scan_error(scan, error, CR_ERR_SYNTAX, field, message);
    }
    if (!isfinite(*number)) {
        return cr__scan_error(scan, error, CR_ERR_FINITE, field, "must be a finite number");
    }
    return CR_OK;
}

crStatus cr__scan_int(crScan* scan, const char* field, int lo, int hi, int* number, crError* error) {
    char message[128];
    double value;
    crStatus status = cr__scan_number(scan, field, &value, error);
    if (status != CR_OK) return status;
    if (!(value >= lo && value <= hi) || value != floor(value)) {
        snprintf(message, sizeof message, "is %s, must be a whole number from %d to %d", scan->word, lo, hi);
        return cr__scan_error(scan, error, CR_ERR_RANGE, field, message);
    }
    *number = (int)value;
    return CR_OK;
}

crStatus cr__scan_numbers(crScan* scan, const char* field, size_t count, double* numbers, crError* error) {
    for (size_t i = 0; i < count; i++) {
        crStatus status = cr__scan_number(scan, field, &numbers[i], error);
        if (status != CR_OK) return status;
    }
    return CR_OK;
}

crStatus cr__scan_room(const crScan* scan, const char* field, size_t count, crError* error) {
    char message[128];
    if (count <= (scan->size - scan->at + 1) / 2) return CR_OK;
    snprintf(message, sizeof message, "%zu numbers cannot be in the %zu bytes that follow", count,
             scan->size - scan->at);
    return cr__scan_error(scan, error, CR_ERR_SIZE, field, message);
}
