// expression.h - arithmetic written in a scene, such as "10 * sin(2 * pi * t)".
#ifndef CAROM_IO_EXPRESSION_H
#define CAROM_IO_EXPRESSION_H

#include "carom/carom.h"

#define CR_EXPRESSION_TEXT  1000  // characters at most
#define CR_EXPRESSION_DEPTH 32    // values waiting at once, and parentheses inside each other, at most

// A program for a stack of numbers; kept in an arena.
typedef struct crExpression {
    struct crExpressionStep* steps;
    int count;
} crExpression;

// names ends with NULL: the variables, by their place in it. Fails: CR_ERR_SYNTAX with what was expected and the
// character, counted from 1; CR_ERR_NAME; CR_ERR_LIMIT; CR_ERR_MEMORY.
crStatus cr__expression_read(const char* text, const char* const* names, crArena* arena,
                             crExpression* expression, crError* error);
// values has one number per name. The result may be NaN or infinite.
double cr__expression_value(const crExpression* expression, const double* values);

#endif
