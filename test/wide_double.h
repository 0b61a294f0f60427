// wide_double.h - included before a source of the library: its doubles become long doubles, its names get a prefix.
#ifndef CAROM_TEST_WIDE_DOUBLE_H
#define CAROM_TEST_WIDE_DOUBLE_H

// all that the sources include of the C library, before double means something else
#include <assert.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wide_names.h"

#define double long double
#define sqrt   sqrtl
#define fabs   fabsl
#define fmax   fmaxl
#define fmin   fminl
#define floor  floorl
#define ceil   ceill
#define frexp  frexpl
#define ldexp  ldexpl

#endif
