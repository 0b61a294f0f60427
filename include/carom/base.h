// base.h - what every part of carom shares: status codes, error details, memory, log, hash, angles.
//
// Three kinds of trouble are kept apart. Misuse and resources come back as a negative crStatus, with the
// field and the allowed range in an optional crError. What the mathematics says (no solution, energy created)
// is part of a result. Bugs stop at CR_ASSERT. The library never prints, never exits and has no globals.
//
// Every public function checks its arguments: NULL where something must be given, an index out of range, a
// zeroed struct where a made one is needed. A function that returns a status refuses with CR_ERR_ARGUMENT or
// another negative one and the argument's name in crError.field. Others return what their type has for
// nothing: NULL, false, 0 (a negative crStatus where the result is an index), NaN for a double, zeros for a
// struct; one without a result does nothing. Pointers that may be NULL are named as such, or are crError,
// crAllocator and parameters of laws, rules and solvers. What a pointer points to must be as large as said.
#ifndef CAROM_BASE_H
#define CAROM_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CR_VERSION_MAJOR 0
#define CR_VERSION_MINOR 2
#define CR_VERSION_PATCH 0

// Bumped whenever a result changes in its bits on purpose; CHANGELOG.md says why under "Numerics".
#define CR_NUMERICS_REVISION 13

#if defined(_WIN32) || !defined(__GNUC__)
#define CR_API
#define CR_PRINTF(text, first)
#else
#define CR_API                 __attribute__((visibility("default")))
#define CR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif

// Every status once: X(enumerator suffix, code, name for machines, text for people).
#define CR_STATUS_MAP(X)                                                                                 \
    X(OK, 0, "ok", "no error")                                                                           \
    X(ERR_MEMORY, -1, "memory", "out of memory")                                                         \
    X(ERR_ARGUMENT, -2, "argument", "a pointer or a count that must be given is missing or wrong")       \
    X(ERR_FINITE, -3, "not-finite", "a number is NaN or infinite where it must not be")                  \
    X(ERR_RANGE, -4, "out-of-range", "a value is outside the allowed range")                             \
    X(ERR_SYMMETRY, -5, "not-symmetric", "a matrix that must be symmetric is not")                       \
    X(ERR_DEFINITE, -6, "not-positive", "a matrix that must be positive (semi)definite is not")          \
    X(ERR_UNIT, -7, "not-unit", "a direction must have length one, or a frame must be orthonormal")      \
    X(ERR_PLANAR, -8, "not-planar", "this is defined for planar contacts only")                          \
    X(ERR_DIAGONAL, -9, "not-diagonal", "this is defined only where W is diagonal in the contact frame") \
    X(ERR_REGION, -10, "outside-region", "the parameters lead outside the permissible region")           \
    X(ERR_NAME, -11, "unknown-name", "no such name")                                                     \
    X(ERR_FIELD, -12, "unknown-field", "a field that is not known here")                                 \
    X(ERR_MISSING, -13, "missing-field", "a field that must be given is missing")                        \
    X(ERR_TYPE, -14, "wrong-type", "a value of the wrong type")                                          \
    X(ERR_SIZE, -15, "wrong-size", "a vector, matrix or list of the wrong size")                         \
    X(ERR_SYNTAX, -16, "syntax", "the text is not well formed")                                          \
    X(ERR_LIMIT, -17, "limit", "too long, too deep or too many")                                         \
    X(ERR_FILE, -18, "file", "a file cannot be read or written")

typedef enum crStatus {
#define CR_STATUS_ENUM(suffix, code, name, text) CR_##suffix = (code),
    CR_STATUS_MAP(CR_STATUS_ENUM)
#undef CR_STATUS_ENUM
} crStatus;

CR_API const char* cr_status_name(crStatus status);  // for machines, e.g. "not-symmetric"
CR_API const char* cr_status_text(crStatus status);  // for people, e.g. "out of memory"

// Where and why a call was refused. Optional everywhere: pass NULL to get the status alone.
typedef struct crError {
    crStatus status;
    int line;           // 1-based, 0 where there is no text input
    int column;         // 1-based, in bytes
    char field[48];     // name of the offending field, "" where there is none
    char message[208];  // names the field, the value and what is allowed
} crError;

// Fills error (if not NULL) and returns status, so a refusal is one line.
CR_API crStatus cr_error_set(crError* error, crStatus status, const char* field, const char* format, ...)
    CR_PRINTF(4, 5);
// The text that cr_error_set makes: as vsnprintf, but %g writes the fewest digits that read back equal.
CR_API void cr_error_format(char* out, size_t size, const char* format, va_list args);

// Answer to a question about numbers that carry rounding errors.
typedef enum crTruth { CR_TRUTH_NO, CR_TRUTH_YES, CR_TRUTH_UNSURE } crTruth;

CR_API const char* cr_truth_name(crTruth truth);  // "no", "yes", "cannot tell"
// Whether a value that is known to within +-floor is at most limit. NaN and infinite values are not.
static inline crTruth cr_truth_at_most(double value, double floor, double limit) {
    if (value + floor <= limit) return CR_TRUTH_YES;
    // comparisons with NaN are false
    return value - floor <= limit ? CR_TRUTH_UNSURE : CR_TRUTH_NO;
}
// Yes if both are yes, no if one is no.
static inline crTruth cr_truth_and(crTruth a, crTruth b) {
    if (a == CR_TRUTH_NO || b == CR_TRUTH_NO) return CR_TRUTH_NO;
    return a == CR_TRUTH_YES && b == CR_TRUTH_YES ? CR_TRUTH_YES : CR_TRUTH_UNSURE;
}

// Memory. Sizes are passed to free so that an allocator needs no headers of its own.
typedef struct crAllocator {
    void* (*alloc)(void* ctx, size_t size);
    void (*free)(void* ctx, void* memory, size_t size);
    void* ctx;
} crAllocator;

CR_API crAllocator cr_allocator_libc(void);

// Scratch memory with mark and release. Blocks never move while marked; what overflowed the main block during
// a step is merged into a larger one by cr_arena_reset, so a steady state makes no heap calls. A block that is
// too large by a quarter for the last 100 resets is made smaller at the 170th, the 340th, the 680th and so on.
typedef struct crArena {
    crAllocator allocator;
    unsigned char* block;  // main block (capacity bytes)
    size_t capacity;       // bytes
    size_t used;           // bytes in use, overflow included
    size_t peak;           // largest used since create, or of the resets that count for making it smaller
    int resets;            // since create
    int spare;             // resets that may find it too small before it is made larger
    bool over;             // it was, since the last reset
    struct crArenaSpill* spill;  // blocks taken when the main one was full, newest first
} crArena;

CR_API crStatus cr_arena_create(crArena* arena, const crAllocator* allocator, size_t capacity);
CR_API void cr_arena_destroy(crArena* arena);               // accepts a zeroed arena
CR_API void* cr_arena_alloc(crArena* arena, size_t size);   // 64-byte aligned; NULL when memory is out
CR_API size_t cr_arena_mark(const crArena* arena);          // pass to release
CR_API void cr_arena_release(crArena* arena, size_t mark);  // frees everything allocated since the mark
CR_API crStatus cr_arena_reset(crArena* arena);             // release all and grow to the peak

// Log: one callback per owner; the default NULL is silence.
typedef enum crLogLevel { CR_LOG_INFO, CR_LOG_WARNING, CR_LOG_ERROR } crLogLevel;
typedef struct crLog {
    void (*write)(void* ctx, crLogLevel level, const char* message);
    void* ctx;
} crLog;
CR_API void cr_log(const crLog* log, crLogLevel level, const char* format, ...) CR_PRINTF(3, 4);

// 64-bit FNV-1a over bytes; chain calls by passing the previous hash, start with CR_HASH_SEED.
#define CR_HASH_SEED UINT64_C(0xcbf29ce484222325)
CR_API uint64_t cr_hash(uint64_t hash, const void* bytes, size_t size);

// Trigonometry made of + - * / alone: the same bits on every compiler and optimisation level, within 1 ulp.
// Arguments of any finite size; NaN and infinity give NaN.
CR_API void cr_sincos(double angle, double* sine, double* cosine);
static inline double cr_sin(double angle) {
    double sine, cosine;
    cr_sincos(angle, &sine, &cosine);
    return sine;
}
static inline double cr_cos(double angle) {
    double sine, cosine;
    cr_sincos(angle, &sine, &cosine);
    return cosine;
}
CR_API double cr_atan2(double y, double x);  // radians in [-pi, pi]

#define CR_PI 3.14159265358979323846

// Assertions catch bugs in carom, not misuse. Define CR_ASSERT before including to replace it.
#ifndef CR_ASSERT
#ifdef CAROM_ASSERTS
#define CR_ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define CR_ASSERT(condition) ((void)0)
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
