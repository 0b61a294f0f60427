// record.c - the operations of a step, as the step shows its problems.
//
// Each contact solve and each impact is shown by crStepCalls.posed with the stages of the world as they are then: the part
// that moves, its contacts, the instant. Bodies whose own instant is earlier flew there without contacts; so did those
// that no problem brought to the end of the step.
// Fails: CR_ERR_MEMORY; what the step says. Steps that operations do not describe (loops, drag of contacts, loads, methods
// other than cone, an advance that was taken back) are recorded as not known.
#include <string.h>

#include "base/argument.h"
#include "carom/forms.h"
#include "model/pull.h"
#include "step/clocks.h"
#include "wrt/change.h"
#include "wrt/tape.h"

#define SAME 1e-13  // of dt: instants that are one

static void* take(crTape* tape, size_t count, size_t size) {
    void* memory = cr_arena_alloc(&tape->memory, (count + 1) * size);
    if (memory != NULL) memset(memory, 0, (count + 1) * size);
    return memory;
}

static crStatus out_of_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "tape", "tape: out of memory");
}

// An array in the arena that is full is copied to one twice as large.
static void* grown(crTape* tape, void* old, int count, int* capacity, size_t size) {
    if (count < *capacity) return old;
    int larger = 2 * *capacity + 8;
    void* made = take(tape, (size_t)larger, size);
    if (made != NULL && count > 0) memcpy(made, old, (size_t)count * size);
    if (made != NULL) *capacity = larger;
    return made;
}

// The instant at t, a new one where there is none yet; -1: no memory.
static int instant(crTape* tape, double t) {
    for (int i = 0; i < tape->time_count; i++) {
        if (fabs(tape->times[i].t - t) <= SAME * tape->dt) return i;
    }
    crTapeTime* times = grown(tape, tape->times, tape->time_count, &tape->time_capacity, sizeof *tape->times);
    if (times == NULL) return -1;
    tape->times = times;
    times[tape->time_count] = (crTapeTime){.t = t, .op = -1};
    return tape->time_count++;
}

static crTapeOp* add_op(crTape* tape) {
    crTapeOp* ops = grown(tape, tape->ops, tape->count, &tape->capacity, sizeof *tape->ops);
    if (ops == NULL) return NULL;
    tape->ops = ops;
    ops[tape->count] = (crTapeOp){0};
    return &ops[tape->count++];
}

// Bodies of `from` whose instant is `at` (-1: any), with all that time moves.
static bool copy_part(crTape* tape, const int* bodies, int count, int at, crTapeOp* op) {
    const crModel* model = tape->eval.model;
    op->part.bodies = take(tape, (size_t)count, sizeof(int));
    op->airborne = take(tape, (size_t)count, sizeof(bool));
    if (op->part.bodies == NULL || op->airborne == NULL) return false;
    for (int k = 0; k < count; k++) {
        int b = bodies[k];
        if (at >= 0 && cr__moves(model, b) && tape->clock[b] != at) continue;
        op->airborne[op->part.count] = true;
        op->part.bodies[op->part.count++] = b;
    }
    return true;
}

// Those of the bodies that are at an earlier instant fly to `to`, one operation for each instant that they come from.
static bool fly_to(crTape* tape, const int* bodies, int count, int to) {
    const crModel* model = tape->eval.model;
    for (int k = 0; k < count; k++) {
        int b = bodies[k], at = tape->clock[b];
        if (!cr__moves(model, b) || at == to) continue;
        if (tape->times[at].t > tape->times[to].t) cr__tape_unknown(tape, "a move was taken back");
        crTapeOp* op = add_op(tape);
        if (op == NULL || !copy_part(tape, bodies, count, at, op)) return false;
        op->begin = at;
        op->end = to;
        for (int i = 0; i < op->part.count; i++) {
            tape->clock[op->part.bodies[i]] = to;
        }
    }
    return true;
}

// Whether friction of a contact depends on its motion. The pair written last counts.
static bool rubs_by_motion(const crModel* model, const crStepContact* c) {
    int a = model->shapes[c->shape_a].material, b = model->shapes[c->shape_b].material;
    for (int i = model->pair_count - 1; i >= 0; i--) {
        const crMaterialPair* p = &model->pairs[i];
        bool same = (p->a == a && p->b == b) || (p->a == b && p->b == a);
        if (same) return p->surface.by_impact != NULL && p->surface.by_impact->mu != NULL;
    }
    const crByImpact *one = model->materials[a].surface.by_impact,
                     *two = model->materials[b].surface.by_impact;
    return (one != NULL && one->mu != NULL) || (two != NULL && two->mu != NULL);
}

static bool copy_contacts(crTape* tape, const crStep* step, const crPosed* posed, crTapeOp* op) {
    const crProblem* problem = posed->problem;
    op->contacts = take(tape, (size_t)problem->block_count, sizeof *op->contacts);
    op->p = take(tape, (size_t)problem->rows, sizeof(double));
    if (op->contacts == NULL || op->p == NULL) return false;
    op->rows = problem->rows;
    memcpy(op->p, posed->p, (size_t)op->rows * sizeof *op->p);
    for (int i = 0; i < problem->block_count; i++) {
        int source = problem->blocks[i].source;
        if (source < 0) {
            if (posed->impact) cr__tape_unknown(tape, "a limit or loop takes part in an impact");
            continue;
        }
        const crStepContact* c = &step->contacts.list[source];
        const crSurface* s = &c->surface->surface;
        if (s->viscous > 0.0 || s->mu_stribeck > 0.0) cr__tape_unknown(tape, "contacts have drag");
        if (!posed->impact && rubs_by_motion(tape->eval.model, c))
            cr__tape_unknown(tape, "friction of a contact that lasts depends on its slip");
        // surfaces of some contacts live as long as the step alone
        crContactSurface* own = take(tape, 1, sizeof *own);
        if (own == NULL) return false;
        *own = *c->surface;
        op->contacts[op->contact_count].at = *c;
        op->contacts[op->contact_count].at.surface = own;
        op->contacts[op->contact_count++].open = c->point.gap > c->delta;
    }
    return true;
}

// The contact that triggered an impact: the one that closes fast. Two that close at once are an order that may switch.
static void find_trigger(crTape* tape, const crStep* step, crTapeOp* op, int at) {
    crTapeTime* time = &tape->times[at];
    int found = -1, fast = 0;
    for (int i = 0; i < op->contact_count; i++) {
        const crStepContact* c = &op->contacts[i].at;
        if (!cr__step_closes_fast(step, c)) continue;
        fast++;
        if (found < 0 || c->point.gap < op->contacts[found].at.point.gap) found = i;
    }
    if (found < 0) {
        cr__tape_unknown(tape, "an impact has no contact that closes");
        return;
    }
    const crStepContact* c = &op->contacts[found].at;
    // an impact that comes early, at the beginning of its slot, has a fixed time
    if (step->clocks->ahead > 0.0 && c->point.gap > c->delta) return;
    if (fast > 1) cr__tape_unknown(tape, "contacts close at the same instant");
    time->op = tape->count - 1;
    time->contact = found;
    time->rate = c->speed;
}

static crStatus record(void* ctx, const crPosed* posed, crError* error) {
    crTape* tape = ctx;
    if (!tape->known) return CR_OK;
    if (posed->trial) {
        cr__tape_unknown(tape, "the method is not cone");
        return CR_OK;
    }
    const crStep* step = cr_world_stages(tape->world);
    const crStepPart* part = &step->part;
    double t = step->clocks->now_at;
    int at = instant(tape, t), end = posed->impact ? at : instant(tape, t + posed->h);
    if (at < 0 || end < 0 || !fly_to(tape, part->bodies, part->count, at)) return out_of_memory(error);
    crTapeOp* op = add_op(tape);
    if (op == NULL || !copy_part(tape, part->bodies, part->count, -1, op)) return out_of_memory(error);
    op->impact = posed->impact;
    op->begin = at;
    op->end = end;
    for (int k = 0; k < op->part.count; k++) {
        op->airborne[k] = step->airborne[op->part.bodies[k]];
        tape->clock[op->part.bodies[k]] = end;
    }
    if (!copy_contacts(tape, step, posed, op)) return out_of_memory(error);
    if (posed->impact && at > 1 && tape->times[at].op < 0) find_trigger(tape, step, op, at);
    return CR_OK;
}

crStatus cr__tape_create(crTape* tape, crWorld* world, crModel* model, crError* error) {
    const crStep* step = cr_world_stages(world);
    *tape = (crTape){.world = world, .model = model, .dt = step->settings.dt};
    crStatus status = cr_arena_create(&tape->memory, &step->own.allocator, 0);
    if (status != CR_OK) return out_of_memory(error);
    crStepSettings settings = step->settings;
    settings.threads = 1;
    status = cr_step_create(model, &settings, &step->own.allocator, &tape->eval, error);
    if (status == CR_OK) status = cr_step_create(model, &settings, &step->own.allocator, &tape->other, error);
    if (status != CR_OK) return status;
    tape->other.calls.force = step->calls.force;
    tape->other.calls.force_ctx = step->calls.force_ctx;
    tape->eval.calls.force = step->calls.force;
    tape->eval.calls.force_ctx = step->calls.force_ctx;
    return CR_OK;
}

void cr__tape_destroy(crTape* tape) {
    cr_step_destroy(&tape->eval);
    cr_step_destroy(&tape->other);
    cr_arena_destroy(&tape->memory);
}

static crStatus begin(crTape* tape, const crState* from, crError* error) {
    const crModel* model = tape->eval.model;
    crStatus status = cr_arena_reset(&tape->memory);
    tape->count = tape->capacity = tape->time_count = tape->time_capacity = 0;
    tape->ops = NULL;
    tape->times = NULL;
    tape->known = true;
    tape->edge = false;
    tape->side = 0;
    tape->nodes_left = CR_TAPE_NODES;
    tape->why = NULL;
    tape->pass = (crTapePass){0};
    tape->verdict = (crWrtVerdict){.verdict = CR_SMOOTH, .distance = INFINITY};
    if (status == CR_OK) status = cr_state_create(model, &tape->memory, &tape->start);
    tape->clock = take(tape, (size_t)model->nb, sizeof(int));
    if (status != CR_OK || tape->clock == NULL) return out_of_memory(error);
    cr__change_copy(model, from, &tape->start);
    if (instant(tape, 0.0) != 0 || instant(tape, tape->dt) != 1) return out_of_memory(error);
    if (cr_world_stages(tape->world)->settings.method != CR_METHOD_CONE)
        cr__tape_unknown(tape, "the method is not cone");
    if (model->loop_count > 0) cr__tape_unknown(tape, "the model has loops");
    if (model->load_count > 0) cr__tape_unknown(tape, "the model has loads");
    if (cr__model_pulls(model)) cr__tape_unknown(tape, "forces act along tendons or sites");
    for (int i = 0; i < model->nu; i++) {
        if (model->actuators[i].schedule != NULL) cr__tape_unknown(tape, "controls have a schedule");
    }
    return CR_OK;
}

crStatus cr__tape_record(crTape* tape, const crState* from, crError* error) {
    crStep* step = cr_world_stages(tape->world);
    const crModel* model = tape->eval.model;
    crStatus status = begin(tape, from, error);
    if (status != CR_OK) return status;
    cr__change_copy(model, from, &step->state);
    step->calls.posed = record;
    step->calls.posed_ctx = tape;
    status = cr_world_step(tape->world, error);
    step->calls.posed = NULL;
    if (status != CR_OK || !tape->known) return status;
    int* all = take(tape, (size_t)model->nb, sizeof(int));
    if (all == NULL) return out_of_memory(error);
    for (int b = 1; b < model->nb; b++) {
        all[b - 1] = b;
    }
    if (!fly_to(tape, all, model->nb - 1, 1)) return out_of_memory(error);
    if (step->certificate.truncated) cr__tape_unknown(tape, "the step was cut off");
    return cr__tape_prepare(tape, error);
}
