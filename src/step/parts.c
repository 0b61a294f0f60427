// parts.c - parts: the bodies that a stage works on, all awake bodies or some groups of them.
//
// A part holds whole trees, all driven bodies, and the loops of its bodies.
#include "step/clocks.h"

void cr__step_mark_part(const crStep* step, int value) {
    for (int k = 0; k < step->part.count; k++) {
        step->work.mark[step->part.bodies[k]] = value;
    }
}

crStepPart cr__step_list_awake(const crStep* step, crStepPart* awake) {
    const crModel* model = step->model;
    awake->count = awake->loop_count = 0;
    // no body sleeps where none may
    bool all = step->rest.lying.count == 0 && !(step->settings.sleep_time > 0.0);
    for (int b = 1; b < model->nb; b++) {
        if (all || !cr__step_idle(step, b)) awake->bodies[awake->count++] = b;
    }
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        bool idle = cr__step_idle(step, loop->a) || cr__step_idle(step, loop->b);
        if (!idle) awake->loops[awake->loop_count++] = i;
    }
    return *awake;
}

// Merges the driven bodies into the first `listed` bodies of work.list; both ascend. Returns the new number.
static int merge_given(const crPlan* plan, int listed, int* list) {
    int given = plan->given_count, total = listed + given;
    for (int at = total - 1; given > 0; at--) {
        bool last = listed == 0 || list[listed - 1] < plan->given[given - 1];
        list[at] = last ? plan->given[--given] : list[--listed];
    }
    return total;
}

// The part of the first `count` bodies of work.list, which ascend, with driven bodies and loops.
static crStepPart complete_part(const crStep* step, int count) {
    const crModel* model = step->model;
    int loops = 0;
    for (int k = 0; k < count; k++) {
        int b = step->work.list[k];
        for (int i = step->plan->tie.first[b]; i < step->plan->tie.first[b + 1]; i++) {
            const crLoop* loop = &model->loops[step->plan->tie.list[i]];
            // a loop between two moving bodies is listed at its first body
            if (b == loop->a || !cr__moves(model, loop->a))
                step->work.loops[loops++] = step->plan->tie.list[i];
        }
    }
    count = merge_given(step->plan, count, step->work.list);
    cr__sort(step->work.loops, loops);
    return (crStepPart){count, step->work.list, loops, step->work.loops};
}

crStepPart cr__step_part_groups(const crStep* step, const int* bodies, int count) {
    int listed = 0;
    for (int k = 0; k < count; k++) {
        for (int b = bodies[k]; step->work.mark[b] == 0; b = step->clocks->groups.next[b]) {
            step->work.mark[b] = 1;
            step->work.list[listed++] = b;
        }
    }
    for (int k = 0; k < listed; k++) {
        step->work.mark[step->work.list[k]] = 0;
    }
    cr__sort(step->work.list, listed);
    return complete_part(step, listed);
}

crStepPart cr__step_part_of(const crStep* step, const bool* in, bool value) {
    int listed = 0;
    for (int k = 0; k < step->awake.count; k++) {
        int b = step->awake.bodies[k];
        if (cr__moves(step->model, b) && in[b] == value) step->work.list[listed++] = b;
    }
    return complete_part(step, listed);
}

crStepPart cr__step_leave_out(const crModel* model, const bool* out, crStepPart* awake) {
    int bodies = 0, loops = 0;
    for (int k = 0; k < awake->count; k++) {
        int b = awake->bodies[k];
        if (!cr__moves(model, b) || !out[b]) awake->bodies[bodies++] = b;
    }
    for (int k = 0; k < awake->loop_count; k++) {
        const crLoop* loop = &model->loops[awake->loops[k]];
        if (!out[loop->a] && !out[loop->b]) awake->loops[loops++] = awake->loops[k];
    }
    awake->count = bodies;
    awake->loop_count = loops;
    return *awake;
}
