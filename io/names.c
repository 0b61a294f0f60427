// names.c - the nearest name by the number of slips (optimal string alignment distance).
//
// d[i][j] = least number of insertions, deletions, replacements and swaps of neighbours that turn the first i
// letters of one into the first j of the other; case is ignored. Fails: names longer than 31 letters are
// never near.
#include "io/names.h"

#include <stddef.h>
#include <string.h>

#define LONGEST 31

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c; }

static int least(int a, int b) { return a < b ? a : b; }

static int distance(const char* a, const char* b) {
    int rows = (int)strlen(a);
    int columns = (int)strlen(b);
    int d[LONGEST + 1][LONGEST + 1];
    for (int i = 0; i <= rows; i++) {
        for (int j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int same = lower(a[i - 1]) == lower(b[j - 1]);
            d[i][j] = least(d[i - 1][j - 1] + !same, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[rows][columns];
}

const char* cr_name_nearest(const char* typed, const char* (*name_at)(const void* ctx, int index),
                            const void* ctx) {
    size_t length = strlen(typed);
    if (length == 0 || length > LONGEST) return NULL;
    const char* best = NULL;
    int allowed = length < 6 ? 1 : (int)(length / 3);
    for (int i = 0;; i++) {
        const char* name = name_at(ctx, i);
        if (name == NULL) return best;
        if (strlen(name) > LONGEST) continue;
        int slips = distance(typed, name);
        // a single letter is near only to itself in the other case
        if (slips <= allowed && slips < (int)length) {
            best = name;
            allowed = slips - 1;
        }
    }
}

static const char* at_index(const void* ctx, int index) { return ((const char* const*)ctx)[index]; }

const char* cr_name_nearest_of(const char* typed, const char* const* names) {
    return cr_name_nearest(typed, at_index, names);
}

const char* cr_name_law(const void* ctx, int index) {
    (void)ctx;
    const crLawInfo* info = cr_law_info(index);
    return info != NULL ? info->name : NULL;
}

void cr_joint_names(const char* names[CR_JOINT_KINDS + 1]) {
    for (int i = 0; i <= CR_JOINT_KINDS; i++) {
        names[i] = i < CR_JOINT_KINDS ? cr_joint_info((crJoint)i)->name : NULL;
    }
}

const char* cr_name_rule(const void* ctx, int index) {
    (void)ctx;
    const crRuleInfo* info = cr_rule_info(index);
    return info != NULL ? info->name : NULL;
}

const char* cr_name_solver(const void* ctx, int index) {
    (void)ctx;
    return cr_solver_name(index);
}
