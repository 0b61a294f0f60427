// device.c - what of the C library and of carom the device has in another form.
//
// Copies go by words of 8 bytes where they can. Errors have no text: a step on the device has nobody to tell it. What is
// left out of the device program (solvers for large islands that sweeps leave, other methods) answers CR_ERR_MEMORY, as memory
// that is out does: the step is undone and the host makes it.
#include "gpu/kernel.h"

#include "collide/pieces.h"
#include "relax/relax.h"
#include "resolve/infeasible.h"
#include "resolve/interior.h"
#include "resolve/kinds.h"
#include "world/world.h"

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
    if ((((uintptr_t)to | (uintptr_t)from | size) & 7u) == 0) {
        uint64_t* t = to;
        const uint64_t* f = from;
        for (size_t i = 0; i < size / 8; i++) {
            t[i] = f[i];
        }
        return to;
    }
    for (size_t i = 0; i < size; i++) {
        ((unsigned char*)to)[i] = ((const unsigned char*)from)[i];
    }
    return to;
}

void* memmove(void* to, const void* from, size_t size) {
    unsigned char* t = to;
    const unsigned char* f = from;
    for (size_t i = 0; i < size && t < f; i++) {
        t[i] = f[i];
    }
    for (size_t i = size; i > 0 && t > f; i--) {
        t[i - 1] = f[i - 1];
    }
    return to;
}

void* memset(void* to, int value, size_t size) {
    uint64_t byte = (uint64_t)(value & 0xff), word = byte * UINT64_C(0x0101010101010101);
    size_t i = 0;
    if (((uintptr_t)to & 7u) == 0) {
        for (; i < size / 8; i++) {
            ((uint64_t*)to)[i] = word;
        }
        i *= 8;
    }
    for (; i < size; i++) {
        ((unsigned char*)to)[i] = (unsigned char)byte;
    }
    return to;
}

int memcmp(const void* a, const void* b, size_t size) {
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

void* memchr(const void* in, int value, size_t size) {
    const unsigned char* x = in;
    for (size_t i = 0; i < size; i++) {
        if (x[i] == (unsigned char)value) return (void*)(uintptr_t)(x + i);
    }
    return NULL;
}

int strcmp(const char* a, const char* b) {
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

size_t strlen(const char* text) {
    size_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    return length;
}

double frexp(double x, int* exponent) {
    union {
        double x;
        uint64_t bits;
    } u = {x};
    int field = (int)(u.bits >> 52 & 0x7ff);
    *exponent = 0;
    if (x == 0.0 || field == 0x7ff) return x;
    if (field == 0) {
        double y = frexp(x * 0x1p64, exponent);
        *exponent -= 64;
        return y;
    }
    *exponent = field - 1022;
    u.bits = (u.bits & ~(UINT64_C(0x7ff) << 52)) | UINT64_C(1022) << 52;
    return u.x;
}

static double power(int exponent) {
    union {
        uint64_t bits;
        double x;
    } u = {(uint64_t)(exponent + 1023) << 52};
    return u.x;
}

double ldexp(double x, int exponent) {
    while (exponent > 1000) {
        x *= 0x1p1000;
        exponent -= 1000;
    }
    // once into the numbers below the normal ones: rounded once
    if (exponent < -1000) {
        x *= 0x1p-900;
        exponent += 900;
        while (exponent < -1000) {
            x *= 0x1p-1000;
            exponent += 1000;
        }
    }
    return x * power(exponent);
}

crStatus cr_error_set(crError* error, crStatus status, const char* field, const char* format, ...) {
    (void)error;
    (void)field;
    (void)format;
    return status;
}

const char* cr_status_text(crStatus status) {
    (void)status;
    return "";
}

void cr_log(const crLog* log, crLogLevel level, const char* format, ...) {
    (void)log;
    (void)level;
    (void)format;
}

uint64_t cr__model_hash(const crModel* model) {
    (void)model;
    return 0;
}

uint64_t cr__settings_hash(const crStepSettings* settings) {
    (void)settings;
    return 0;
}

// the host has checked the model
crStatus cr_model_check(const crModel* model, crError* error) {
    (void)model;
    (void)error;
    return CR_OK;
}

void* malloc(size_t size) {
    (void)size;
    return NULL;
}
void free(void* memory) { (void)memory; }

// What the device leaves to the host. A step that comes here is undone and made there.

static crStatus no_solver(const void* params, const crProblem* problem, crArena* arena, double* p,
                          crReport* report, crError* error) {
    (void)params;
    (void)problem;
    (void)arena;
    (void)p;
    (void)report;
    (void)error;
    return CR_ERR_MEMORY;
}

const cr__SolverKind cr__solver_pivot = {"pivot", 0, no_solver};
const cr__SolverKind cr__solver_lemke = {"lemke", 0, no_solver};
const cr__RuleKind cr__rule_newton = {.resolve = cr__kernel_no_rule};

crStatus cr__relax_solve(const crProblem* problem, const crRelaxParams* params, crArena* arena, double* p,
                         crRelaxRun* run) {
    (void)problem;
    (void)params;
    (void)arena;
    (void)p;
    (void)run;
    return CR_ERR_MEMORY;
}

crStatus cr__interior_run(const crSystem* system, double tol, int max_steps, double scale, crArena* arena,
                          double* x, crMethodRun* run) {
    (void)system;
    (void)tol;
    (void)max_steps;
    (void)scale;
    (void)arena;
    (void)x;
    (void)run;
    return CR_ERR_MEMORY;
}

crStatus cr__infeasible(const crSystem* system, double tol, crArena* arena, bool* found) {
    (void)system;
    (void)tol;
    (void)arena;
    (void)found;
    return CR_ERR_MEMORY;
}

// settings.solver is auto, and the rule one of the catalogue
crStatus cr_solver_find(const char* name, const crSolverParams* params, crSolver* solver, crError* error) {
    (void)name;
    (void)params;
    (void)solver;
    (void)error;
    return CR_ERR_NAME;
}

bool cr__rule_is_ours(const crRule* rule) {
    (void)rule;
    return true;
}

crStatus cr_step_lcp(crStep* step, double h, crError* error) {
    (void)step;
    (void)h;
    (void)error;
    return CR_ERR_MEMORY;
}

crStatus cr_step_event(crStep* step, double h, crError* error) { return cr_step_lcp(step, h, error); }
crStatus cr_step_moreau(crStep* step, double h, crError* error) { return cr_step_lcp(step, h, error); }

// shapes of many pieces are refused beforehand
void cr__pieces_in(const crShape* shape, crPose pose, crVec3 origin, const crBounds* box, crVisit visit,
                   void* ctx) {
    (void)shape;
    (void)pose;
    (void)origin;
    (void)box;
    (void)visit;
    (void)ctx;
}
