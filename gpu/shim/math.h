// math.h - what the library uses of <math.h>, for the device: exact operations, by builtins.
#ifndef CAROM_SHIM_MATH_H
#define CAROM_SHIM_MATH_H

#define INFINITY (__builtin_inff())
#define NAN      (__builtin_nanf(""))
#define HUGE_VAL (__builtin_inf())

#define isfinite(x) (__builtin_fabs((double)(x)) < __builtin_inf())
#define isinf(x)    (__builtin_fabs((double)(x)) == __builtin_inf())
#define isnan(x)    ((double)(x) != (double)(x))
#define signbit(x)  (__builtin_copysign(1.0, (double)(x)) < 0.0)

static inline double fabs(double x) { return __builtin_fabs(x); }
static inline double sqrt(double x) { return __builtin_sqrt(x); }
static inline float sqrtf(float x) { return __builtin_sqrtf(x); }
static inline double floor(double x) { return __builtin_floor(x); }
static inline double ceil(double x) { return __builtin_ceil(x); }
static inline double copysign(double x, double y) { return __builtin_copysign(x, y); }
static inline double fmax(double a, double b) { return a >= b || b != b ? a : b; }
static inline double fmin(double a, double b) { return a <= b || b != b ? a : b; }
double frexp(double x, int* exponent);
double ldexp(double x, int exponent);

#endif
