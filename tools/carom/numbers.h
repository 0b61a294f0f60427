// numbers.h - how tables print numbers.
//
// Numbers of one kind share their number of decimals, and a power of ten where they are very large or small,
// so that columns line up and rows can be compared. Full precision is in --json.
#ifndef CAROM_NUMBERS_H
#define CAROM_NUMBERS_H

#include <stdio.h>

#define WIDTH 100  // columns of a table
#define GREEN "\033[32m"
#define RED   "\033[31m"
#define AMBER "\033[33m"
#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

// How the numbers of one kind are printed.
typedef struct Style {
    int power;     // printed is value / 10^power
    double scale;  // 10^-power
    int decimals;
    int width;
} Style;

// The style that shows `digits` digits of the largest of the values.
Style style_of(const double* values, int count, int digits);
void put_number(FILE* file, const Style* style, double value);

// A heading over `columns` columns, with the power of ten the numbers are in.
void put_heading(FILE* file, const char* label, const char* unit, const Style* style, int columns);

// The word for a number of things: noun(1, "body", "bodies") is "body".
static inline const char* noun(long count, const char* one, const char* many) {
    return count == 1 ? one : many;
}

#endif
