// words.c - names of laws, rules, solvers, methods, joints and shapes, as words of a dictionary for libFuzzer.
#include <stdio.h>

#include "carom/carom.h"

static void put_word(const char* name) { printf("\"\\\"%s\\\"\"\n", name); }

int main(void) {
    for (int i = 0; i < cr_law_count(); i++) {
        put_word(cr_law_info(i)->name);
    }
    for (int i = 0; i < cr_rule_count(); i++) {
        put_word(cr_rule_info(i)->name);
    }
    for (int i = 0; i < cr_solver_count(); i++) {
        put_word(cr_solver_name(i));
    }
    for (int i = 0; cr_method_name((crMethod)i) != NULL; i++) {
        put_word(cr_method_name((crMethod)i));
    }
    for (int i = 0; i < CR_JOINT_KINDS; i++) {
        put_word(cr_joint_info((crJoint)i)->name);
    }
    for (int i = 0; i < CR_SHAPE_KINDS; i++) {
        put_word(cr_shape_info((crShapeKind)i)->name);
    }
    return 0;
}
