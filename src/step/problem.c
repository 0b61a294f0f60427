// problem.c - the contact problem of a step: rows of contacts, loops and joints, W = H H^T, u_free and b.
//
//     contact   0 <= u_n + b _|_ p_n >= 0, p_t in the friction set;
//               b = 0 for gap <= delta, (gap - delta)/h above
//     loop      u = 0 (the position pass removes its error of position)
//     limit     0 <= u + max(0, gap)/h _|_ p >= 0        motor, dry friction   |p| <= h force
//
// A body in the air moves by u - h a/2 (see smooth.c), so -h a_n/2 is part of b if the gap is above delta.
// A contact without friction has one row.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "step/step.h"

void cr__step_row_sizes(const crPlan* plan, const crStepContacts* contacts, const bool* takes, int* rows,
                        int* entries, int* vertices) {
    const crModel* model = plan->model;
    *vertices = 0;
    *rows = plan->tie.rows;
    *entries = plan->tie.entries;
    for (int i = 0; i < contacts->count; i++) {
        if (takes != NULL && !takes[i]) continue;
        const crStepContact* c = &contacts->list[i];
        int count = cr__step_contact_rows(c);
        *rows += count;
        *entries += count * (cr__depth(model, c->body_a) + cr__depth(model, c->body_b));
        *vertices += c->surface->surface.vertex_count;
    }
}

static crBlock contact_block(const crStepContact* c, int row, int index) {
    const crSurface* s = &c->surface->surface;
    int count = cr__step_contact_rows(c);
    crBlock block = cr_block(count == 1 ? CR_BLOCK_UNILATERAL : CR_BLOCK_CONE, row, count);
    block.mu = s->mu;
    block.mu2 = isnan(s->mu2) ? s->mu : s->mu2;
    if (c->planar) block.mu2 = block.mu;
    block.spin = s->mu_spin > 0.0;
    block.roll = s->mu_roll > 0.0;
    block.mu_spin = s->mu_spin;
    block.mu_roll = s->mu_roll;
    block.e = c->e;
    block.et = s->et;
    block.law = s->law;
    block.source = index;
    return block;
}

// Adds rows of spin (about n) and rolling (about t1, t2). Returns a negative crStatus if there is no room.
static int add_moments(const crStep* step, const crStepContact* c, crRows* rows) {
    const crSurface* s = &c->surface->surface;
    int first = 0;
    crMat3 F = cr__step_frame(step, c);
    if (s->mu_spin > 0.0) {
        first = cr_rows_add_spin(step->model, &step->dynamics, c->body_a, c->body_b, &F, 1, rows);
    }
    if (first >= 0 && s->mu_roll > 0.0) {
        crMat3 tangents = cr_mat3_columns(cr_mat3_column(F, 1), cr_mat3_column(F, 2), cr_mat3_column(F, 0));
        first = cr_rows_add_spin(step->model, &step->dynamics, c->body_a, c->body_b, &tangents, 2, rows);
    }
    return first;
}

crStatus cr__step_add_contact(const crStep* step, crStepContact* c, int index, crRows* rows, crBlock* block,
                              double (*vertices)[2], int* vertex_count) {
    const crSurface* s = &c->surface->surface;
    int count = cr__step_contact_rows(c);
    crMat3 F = cr__step_frame(step, c);
    int first = cr_rows_add_point(step->model, &step->dynamics, c->body_a, c->body_b, c->point.point, &F,
                                  cr__step_point_rows(c), rows);
    if (first < 0) return (crStatus)first;
    c->row = first;
    *block = contact_block(c, first, index);
    if (count > 1 && !c->planar && s->vertex_count > 0) {
        block->vertex = *vertex_count;
        block->vertex_count = s->vertex_count;
        for (int i = 0; i < s->vertex_count; i++, (*vertex_count)++) {
            vertices[*vertex_count][0] = c->surface->polygon_scale * s->vertices[i][0];
            vertices[*vertex_count][1] = c->surface->polygon_scale * s->vertices[i][1];
        }
    }
    int moments = count > 1 ? add_moments(step, c, rows) : 0;
    return moments < 0 ? (crStatus)moments : CR_OK;
}

// Makes the identity, which is Minv of a problem whose J is H. CR_ERR_MEMORY.
static crStatus make_identity(crArena* arena, int nv, crMatrix* Minv) {
    int* start;
    double* value;
    if (!CR_ROOMS(arena, CR_ROOM(start, nv + 1), CR_ROOM(value, nv))) return CR_ERR_MEMORY;
    for (int i = 0; i < nv; i++) {
        start[i] = i;
        value[i] = 1.0;
    }
    start[nv] = nv;
    // row i has one entry, the i-th, in column i
    *Minv = (crMatrix){nv, nv, start, start, value};
    return CR_OK;
}

crStatus cr__step_pose_problem(const crStep* step, crArena* arena, const crRows* rows, const double* v,
                               crRows* H, crProblem* problem) {
    crStatus status = cr_rows_half(step->model, &step->dynamics, rows, arena, H);
    double* u = cr_arena_alloc(arena, (size_t)rows->count * sizeof(double));
    if (status != CR_OK || u == NULL) return CR_ERR_MEMORY;
    cr_rows_velocity(rows, v, u);
    problem->rows = rows->count;
    problem->u_free = u;
    problem->J = (crMatrix){H->count, problem->nv, H->start, H->col, H->value};
    return make_identity(arena, problem->nv, &problem->Minv);
}

// b of an open contact, with half the normal acceleration of bodies in the air, m/s
static double open_bias(const crStep* step, const crStepContact* c, const crRows* rows, double h) {
    double b = (c->point.gap - c->delta) / h;
    for (int i = rows->start[c->row]; i < rows->start[c->row + 1]; i++) {
        int j = rows->col[i];
        if (step->airborne[step->model->velocity.body[j]])
            b -= 0.5 * h * rows->value[i] * cr__plan_fall(step->plan, step->state.force, j);
    }
    return b;
}

static crStatus add_loops(const crStep* step, double h, crStepPosed* posed, crBlock* blocks, int* count) {
    for (int k = 0; k < step->part.loop_count; k++) {
        int before = posed->rows.count;
        int first = cr_rows_add_loop(step->model, &step->dynamics, step->part.loops[k], &posed->rows);
        if (first < 0) return (crStatus)first;
        bool range = cr_loop_ranges(&step->model->loops[step->part.loops[k]]);
        blocks[*count] =
            cr_block(range ? CR_BLOCK_UNILATERAL : CR_BLOCK_EQUALITY, before, posed->rows.count - before);
        if (range) posed->b[before] = fmax(0.0, posed->rows.gap[before]) / h;
        cr__step_tie_loop(step->ties.of_row, step->part.loops[k], before, posed->rows.count - before);
        blocks[(*count)++].source = -1 - step->part.loops[k];
    }
    return CR_OK;
}

static crStatus add_joints(const crStep* step, double h, crJointRow* info, int capacity, crStepPosed* posed,
                           crBlock* blocks, int* count) {
    double fastest = 0.0;
    for (int k = 0; k < step->part.count; k++) {
        const crBody* body = &step->model->bodies[step->part.bodies[k]];
        for (int j = body->v; j < body->v + body->nv; j++) {
            fastest = fmax(fastest, fmax(fabs(step->state.v[j]), fabs(step->free.v[j])));
        }
    }
    double margin = step->settings.deadband + 2.0 * h * fastest;
    int joints = cr__part_add_joints(step->model, cr__step_part(step), &step->state, margin, capacity, info,
                                     &posed->rows);
    if (joints < 0) return (crStatus)joints;
    for (int i = 0; i < joints; i++) {
        bool limit = info[i].kind == CR_ROW_LIMIT;
        crBlock block = cr_block(limit ? CR_BLOCK_UNILATERAL : CR_BLOCK_BOX, info[i].row, 1);
        if (!limit) {
            block.lo = -h * info[i].limit;
            block.hi = h * info[i].limit;
        }
        block.source = -1 - step->model->loop_count - i;
        blocks[(*count)++] = block;
        cr__step_tie_joint(step->model, &step->ties, &posed->rows, &info[i]);
        if (limit) posed->b[info[i].row] = fmax(0.0, posed->rows.gap[info[i].row]) / h;
    }
    return CR_OK;
}

// Writes the warm start: forces of the last step in the new frames, friction as a vector of the world. again:
// impulses of the last round instead.
static void warm_start(const crStep* step, double h, bool again, int block_count, const crBlock* blocks,
                       double* p) {
    for (int i = 0; i < block_count; i++) {
        for (int r = blocks[i].row; r < blocks[i].row + blocks[i].count && blocks[i].source < 0; r++) {
            double last = h * step->ties.force[step->ties.of_row[r]];
            p[r] = blocks[i].kind == CR_BLOCK_BOX ? fmin(blocks[i].hi, fmax(blocks[i].lo, last)) : last;
        }
        if (blocks[i].source < 0) continue;
        const crStepContact* c = &step->contacts.list[blocks[i].source];
        const crWarm* warm = again ? NULL : cr__step_warm(step, c);
        if (warm == NULL && !again) continue;
        crVec3 force = again ? cr_scale(1.0 / h, c->impulse) : warm->force;
        cr__step_set_row_impulse(step, c, force, h, p);
    }
}

// Sets the speed and the shift of the problem that residuals are compared with, from the smallest deadband.
static void set_scales(const crStep* step, double h, crProblem* problem) {
    double delta = 0.0;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (c->row >= 0 && (delta == 0.0 || c->delta < delta)) delta = c->delta;
    }
    problem->h = h;
    // a short piece is judged by the whole step: deadband over a small h is no speed of the scene
    problem->rest = delta / fmax(h, step->settings.dt);
    problem->shift =
        step->settings.deadband > 0.0 ? step->settings.shift * delta / step->settings.deadband : 0.0;
}

crStatus cr_step_problem_build(crStep* step, double h, const bool* takes, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    return cr__step_pose(step, h, takes, false, error);
}

crStatus cr__step_write_rows(crStep* step, double h, const bool* takes, crError* error) {
    int rows, entries, vertex_room, count = 0, vertex_count = 0;
    crArena* arena = &step->scratch;
    cr__step_row_sizes(step->plan, &step->contacts, takes, &rows, &entries, &vertex_room);
    crBlock* blocks;
    crJointRow* info;
    double(*vertices)[2];
    if (!CR_ROOMS(arena, CR_ROOM(blocks, rows + 1), CR_ROOM(info, rows + 1),
                  CR_ROOM(vertices, vertex_room + 1), CR_ZERO(step->posed.b, rows + 1),
                  CR_ZERO(step->posed.p, rows + 1), CR_ROOM(step->ties.of_row, rows + 1)))
        return cr__step_memory(error);
    crStatus status = cr_rows_create(arena, rows, entries, &step->posed.rows);
    if (status != CR_OK) return cr__step_memory(error);
    memset(step->ties.of_row, -1, (size_t)rows * sizeof(int));
    for (int i = 0; i < step->contacts.count && status == CR_OK; i++) {
        crStepContact* c = &step->contacts.list[i];
        c->row = -1;
        if (takes != NULL && !takes[i]) continue;
        status =
            cr__step_add_contact(step, c, i, &step->posed.rows, &blocks[count++], vertices, &vertex_count);
        if (status == CR_OK && c->point.gap > c->delta)
            step->posed.b[c->row] = open_bias(step, c, &step->posed.rows, h);
    }
    if (status == CR_OK) status = add_loops(step, h, &step->posed, blocks, &count);
    if (status == CR_OK) status = add_joints(step, h, info, rows, &step->posed, blocks, &count);
    step->posed.problem = (crProblem){.blocks = blocks, .block_count = count, .nv = step->model->nv};
    step->posed.problem.vertices = (const double(*)[2])vertices;
    return status == CR_OK ? CR_OK : cr_error_set(error, status, "rows", "rows: %s", cr_status_text(status));
}

crStatus cr__step_pose(crStep* step, double h, const bool* takes, bool again, crError* error) {
    crStatus status = cr__step_write_rows(step, h, takes, error);
    if (status != CR_OK) return status;
    crProblem* problem = &step->posed.problem;
    status =
        cr__step_pose_problem(step, &step->scratch, &step->posed.rows, step->free.v, &step->posed.H, problem);
    if (status != CR_OK) return cr_error_set(error, status, "rows", "rows: %s", cr_status_text(status));
    problem->b = step->posed.b;
    set_scales(step, h, problem);
    warm_start(step, h, again, problem->block_count, problem->blocks, step->posed.p);
    if (step->posed.rows.count > step->certificate.rows) step->certificate.rows = step->posed.rows.count;
    return CR_OK;
}
