// position_general.c - the position pass with loops, limits and trees: a problem for each island.
//
//     contact   0 <= W p + gap + delta/2 _|_ p >= 0        limit   0 <= W p + gap _|_ p >= 0
//     loop      W p + gap = 0 (one with a range: as a limit)
//
// dq = M^-1 J^T p is the shortest move in the metric of M. It is made for islands with an error above the
// tolerance, and repeated at the new poses. Islands are solved by Newton's method of the contact solve
// (relax/units.h). If one is too large for it or not solved, body space (relax/relax.h) solves all. Overlaps
// of earlier rounds stay in the problem as body-fixed points, since a push at one end of a body turns its
// other end in.
// A move changes M of a tree, and its kinetic energy at the same v: v of a tree without motors is scaled to the
// energy before where that would grow.
// Fails: CR_ERR_MEMORY. Errors left after ROUNDS are in the certificate.
#include <string.h>

#include "model/rows.h"
#include "model/spatial.h"
#include "relax/relax.h"
#include "relax/units.h"
#include "step/exact.h"
#include "step/position.h"

#define ROUNDS     20     // limit of moves
#define LOOP_TOL   1e-10  // tolerance of loops, m or rad
#define LIMIT_TOL  1e-10  // least tolerance of joints' limits, m or rad
#define LIMIT_BAND 1e-3   // tolerance of limits, share of the deadband setting
#define SOLVED     1e-6   // tolerance of a solve, share of the largest gap; later rounds correct the rest

// overlap of an earlier round, with its frame: columns n, t1, t2
typedef struct Kept {
    crApart at;
    crMat3 frame;
    const struct Kept* next;
} Kept;

typedef struct Pass {
    const Kept* kept;
    crRows rows;
    crBlock* blocks;
    int block_count;
    double* b;
    double* p;
    crJointRow* info;
    int capacity;       // room for rows
    double contact;     // deepest overlap beyond the deadband, m
    double overlap;     // deepest overlap, m
    double loop;        // largest error of a loop, m or rad
    double limit;       // largest error of a joint's limit, m or rad
    crIslands islands;  // islands joined by the contacts found
    bool* open;         // true for islands with an error above the tolerance (islands.count)
    bool only_open;     // true while rows are made of open islands alone
    int* bodies;        // bodies of open islands (nb)
} Pass;

static double limit_tol(const crStepSettings* settings) {
    return fmax(LIMIT_TOL, LIMIT_BAND * settings->deadband);
}

// island of a body, -1: none, or islands are not made yet
static int island_of(const Pass* pass, int body) {
    return pass->islands.of_body != NULL ? pass->islands.of_body[body] : -1;
}

static void mark_island(const Pass* pass, int island) {
    if (island >= 0 && pass->open != NULL) pass->open[island] = true;
}

// true if rows of an island are wanted
static bool wanted(const Pass* pass, int island) {
    return !pass->only_open || (island >= 0 && pass->open[island]);
}

// island of the first of two bodies that has one
static int island_of_two(const Pass* pass, int a, int b) {
    int island = island_of(pass, a);
    return island >= 0 ? island : island_of(pass, b);
}

// Adds a normal row for each contact of open islands. Fails as cr_rows_add_point.
static crStatus add_near(const crStep* step, Pass* pass) {
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!wanted(pass, cr__island_of_contact(step, &pass->islands, c))) continue;
        crMat3 F = cr__step_frame(step, c);
        int row = cr_rows_add_point(step->model, &step->dynamics, c->body_a, c->body_b, c->point.point, &F, 1,
                                    &pass->rows);
        if (row < 0) return (crStatus)row;
        pass->blocks[pass->block_count++] = cr_block(CR_BLOCK_UNILATERAL, row, 1);
        pass->b[row] = c->point.gap + 0.5 * c->delta;
    }
    return CR_OK;
}

// Adds a row for each overlap of earlier rounds, except those between bodies that are in different islands
// now.
static crStatus add_kept(const crModel* model, const crDynamics* d, Pass* pass) {
    for (const Kept* k = pass->kept; k != NULL; k = k->next) {
        int a = k->at.body_a, b = k->at.body_b;
        bool apart = cr__moves(model, a) && cr__moves(model, b) && island_of(pass, a) != island_of(pass, b);
        if (apart || !wanted(pass, island_of_two(pass, a, b))) continue;
        crVec3 point;
        double gap = cr__apart_gap(d->pose, &k->at, &point);
        int row = cr_rows_add_point(model, d, a, b, point, &k->frame, 1, &pass->rows);
        if (row < 0) return (crStatus)row;
        pass->blocks[pass->block_count++] = cr_block(CR_BLOCK_UNILATERAL, row, 1);
        pass->b[row] = gap + 0.5 * k->at.delta;
    }
    return CR_OK;
}

// overlap of a contact beyond the tolerance, m
static double overlap_beyond(const crStepSettings* settings, const crStepContact* c) {
    return -c->point.gap - (1.0 + settings->position_tol) * c->delta;
}

// Puts the overlaps of this round in front of the list of kept ones. CR_ERR_MEMORY.
static crStatus remember_overlaps(const crStep* step, crArena* arena, const Kept** first) {
    const crPose* pose = step->dynamics.pose;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!(overlap_beyond(&step->settings, c) > 0.0)) continue;
        Kept* kept = cr_arena_alloc(arena, sizeof *kept);
        if (kept == NULL) return CR_ERR_MEMORY;
        const crStepPoint* p = &c->point;
        *kept = (Kept){.frame = cr__step_frame(step, c), .next = *first};
        kept->at = cr__apart_at(pose, c->body_a, c->body_b, p->point, p->normal, p->gap, c->delta);
        *first = kept;
    }
    return CR_OK;
}

static crStatus pass_loops(const crModel* model, const crDynamics* d, Pass* pass) {
    for (int i = 0; i < model->loop_count; i++) {
        int of = island_of_two(pass, model->loops[i].a, model->loops[i].b), before = pass->rows.count;
        if (!wanted(pass, of)) continue;
        int first = cr_rows_add_loop(model, d, i, &pass->rows);
        if (first < 0) return (crStatus)first;
        bool range = cr_loop_ranges(&model->loops[i]);
        pass->blocks[pass->block_count++] =
            cr_block(range ? CR_BLOCK_UNILATERAL : CR_BLOCK_EQUALITY, before, pass->rows.count - before);
        for (int r = before; r < pass->rows.count; r++) {
            double error = range ? -pass->rows.gap[r] : fabs(pass->rows.gap[r]);
            pass->b[r] = pass->rows.gap[r];
            // no fmax: its choice between 0 and -0 depends on the machine
            if (error > pass->loop) pass->loop = error;
            if (error > LOOP_TOL) mark_island(pass, of);
        }
    }
    return CR_OK;
}

// Adds rows of limits and marks islands with an error. Motors and dry friction do not act on positions.
static crStatus pass_limits(const crModel* model, const crStepSettings* settings, const crState* state,
                            crPart part, Pass* pass) {
    int limits = cr__part_add_limits(model, part, state, LIMIT_TOL, pass->capacity, pass->info, &pass->rows);
    if (limits < 0) return (crStatus)limits;
    for (int i = 0; i < limits; i++) {
        int row = pass->info[i].row;
        double gap = pass->b[row] = pass->rows.gap[row];
        pass->blocks[pass->block_count++] = cr_block(CR_BLOCK_UNILATERAL, row, 1);
        pass->limit = fmax(pass->limit, -gap);
        if (-gap > limit_tol(settings))
            mark_island(pass, island_of(pass, model->velocity.body[pass->info[i].dof]));
    }
    return CR_OK;
}

static crStatus make_pass(crArena* arena, int rows, int entries, Pass* pass) {
    pass->capacity = rows;
    if (!CR_ROOMS(arena, CR_ROOM(pass->blocks, rows + 1), CR_ROOM(pass->b, rows + 1),
                  CR_ZERO(pass->p, rows + 1), CR_ROOM(pass->info, rows + 1)))
        return CR_ERR_MEMORY;
    return cr_rows_create(arena, rows, entries, &pass->rows);
}

// Finds islands and all their errors, and marks the open islands. CR_ERR_MEMORY.
static crStatus find_rows(const crStep* step, crPart part, crArena* arena, Pass* pass) {
    const crModel* model = step->model;
    bool* all;
    if (!CR_ROOMS(arena, CR_ROOM(all, step->contacts.count + 1), CR_ROOM(pass->bodies, model->nb)))
        return CR_ERR_MEMORY;
    memset(all, 1, (size_t)step->contacts.count + 1);
    crStatus status = cr__step_islands(step, all, arena, &pass->islands);
    if (status != CR_OK) return status;
    if (!CR_ROOMS(arena, CR_ZERO(pass->open, pass->islands.count + 1))) return CR_ERR_MEMORY;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        double depth = overlap_beyond(&step->settings, c);
        pass->contact = fmax(pass->contact, depth);
        pass->overlap = fmax(pass->overlap, -c->point.gap);
        if (depth > 0.0) mark_island(pass, cr__island_of_contact(step, &pass->islands, c));
    }
    int rows, entries, vertices;
    cr__step_row_sizes(step->plan, &step->contacts, NULL, &rows, &entries, &vertices);
    for (const Kept* k = pass->kept; k != NULL; k = k->next) {
        rows++;
        entries += cr__depth(model, k->at.body_a) + cr__depth(model, k->at.body_b);
    }
    status = make_pass(arena, rows, entries, pass);
    if (status == CR_OK) status = pass_loops(step->model, &step->dynamics, pass);
    return status == CR_OK ? pass_limits(step->model, &step->settings, &step->state, part, pass) : status;
}

// Makes the rows of all open islands.
static crStatus open_rows(const crStep* step, Pass* pass) {
    pass->rows.count = pass->rows.entries = 0;
    pass->block_count = 0;
    pass->only_open = true;
    crPart part = {pass->bodies, 0};
    for (int b = 1; b < step->model->nb; b++) {
        if (wanted(pass, pass->islands.of_body[b])) pass->bodies[part.count++] = b;
    }
    crStatus status = add_near(step, pass);
    if (status == CR_OK) status = add_kept(step->model, &step->dynamics, pass);
    if (status == CR_OK) status = pass_loops(step->model, &step->dynamics, pass);
    if (status == CR_OK) status = pass_limits(step->model, &step->settings, &step->state, part, pass);
    // rows are displacements: velocities prescribed by drives do not count
    memset(pass->rows.w_hat, 0, (size_t)pass->rows.count * sizeof(double));
    return status;
}

// Solves islands one by one by Newton's method. *solved: true if all are solved.
static crStatus solve_rows(const crInertias* of, const crProblem* problem, const double* rest, Pass* pass,
                           bool* solved) {
    const crIslands* islands = &pass->islands;
    int *order, *first;
    crUnits units;
    crPacked packed;
    crStatus status = cr__step_sort_blocks(of->model, of->arena, problem, islands, &order, &first);
    if (status == CR_OK)
        status = cr__units_create(of, problem, pass->rows.w_hat, pass->p, islands->of_body, islands->count,
                                  order, first, &units);
    if (status == CR_OK) status = cr__packed_create(of, islands->of_body, rest, 0, NULL, &units, &packed);
    double largest = 0.0, change;
    for (int r = 0; r < problem->rows; r++) {
        largest = fmax(largest, fabs(problem->b[r]));
    }
    *solved = true;
    for (int i = 0; i < islands->count && status == CR_OK; i++) {
        if (first[i] < first[i + 1])
            *solved = cr__units_newton(&units, i, SOLVED * largest, packed.z, &change) && *solved;
    }
    return status;
}

// Writes J^T p of the shortest move of all open islands to dq.
static crStatus push_open(const crStep* step, const crInertias* of, const double* rest, Pass* pass,
                          double* dq) {
    crRows H;
    crProblem problem = {.nv = step->model->nv};
    bool solved = false;
    crStatus status = open_rows(step, pass);
    if (status == CR_OK && pass->rows.count == 0) return CR_OK;
    problem.blocks = pass->blocks;
    problem.block_count = pass->block_count;
    if (status == CR_OK) status = cr__step_pose_problem(step, of->arena, &pass->rows, rest, &H, &problem);
    if (status != CR_OK) return status;
    problem.b = pass->b;
    status = solve_rows(of, &problem, rest, pass, &solved);
    if (status == CR_OK && !solved) {
        crRelaxParams params = cr__relax_params();
        crRelaxRun run;
        params.tol = cr_step_tol(&step->settings);
        status = cr__relax_solve(&problem, &params, of->arena, pass->p, &run);
    }
    if (status == CR_OK) cr_rows_add_impulse(&pass->rows, pass->p, dq);
    return status;
}

static crStatus move_bodies(crStep* step, Pass* pass, crError* error) {
    const crModel* model = step->model;
    double *dq, *rest;
    if (!CR_ROOMS(&step->scratch, CR_ZERO(dq, model->nv), CR_ZERO(rest, model->nv)))
        return cr__step_memory(error);
    const crInertias of = cr__step_inertias(step, &step->scratch);
    size_t mark = cr_arena_mark(&step->scratch);
    crStatus status = cr_model_mass_factor(model, 0.0, &step->dynamics);
    if (status == CR_OK) status = push_open(step, &of, rest, pass, dq);
    if (status != CR_OK) return cr_error_set(error, status, "position", "%s", cr_status_text(status));
    cr_arena_release(&step->scratch, mark);
    cr_model_mass_solve(model, &step->dynamics, dq);
    cr__advance(model, 1.0, dq, step->state.q);
    return CR_OK;
}

static bool holds_all(const crStepSettings* settings, const Pass* pass) {
    return !(pass->contact > 0.0) && pass->loop <= LOOP_TOL && pass->limit <= limit_tol(settings);
}

// Removes the contacts of bodies in `apart`.
static void drop_apart(crStepContacts* contacts, const bool* apart) {
    int count = 0;
    for (int i = 0; i < contacts->count; i++) {
        const crStepContact* c = &contacts->list[i];
        if (apart[c->body_a] || apart[c->body_b]) continue;
        contacts->list[count++] = *c;
    }
    contacts->count = count;
}

// Moves bodies until loops, limits and contacts hold.
static crStatus move_all(crStep* step, crPart part, const bool* apart, double near, crError* error) {
    crStatus status = CR_OK;
    const Kept* kept = NULL;
    for (int round = 0; round <= ROUNDS && status == CR_OK; round++) {
        size_t mark = cr_arena_mark(&step->scratch);
        Pass pass = {.kept = kept};
        cr_model_kinematics(step->model, &step->state, &step->dynamics);
        status = cr_step_collide(step, near, error);
        if (status == CR_OK && apart != NULL) drop_apart(&step->contacts, apart);
        if (status == CR_OK && find_rows(step, part, &step->scratch, &pass) != CR_OK)
            status = cr__step_memory(error);
        step->certificate.penetration = pass.overlap;
        step->certificate.loop_error = pass.loop;
        if (status != CR_OK) return status;
        // contacts up to this gap may become overlaps when this round's are pushed out
        near = fmax(near, 2.0 * pass.contact);
        if (holds_all(&step->settings, &pass)) return CR_OK;
        if (round == ROUNDS) return CR_OK;
        status = move_bodies(step, &pass, error);
        if (status == CR_OK && remember_overlaps(step, &step->scratch, &kept) != CR_OK)
            status = cr__step_memory(error);
        step->contacts.count = 0;
        // kept overlaps lie behind the round's other data in scratch: nothing is released if there
        // are any
        if (!(pass.contact > 0.0)) cr_arena_release(&step->scratch, mark);
    }
    return status;
}

// Measures the kinetic energy of each tree, at its root.
static void measure_trees(const crPlan* plan, const double* v, crDynamics* d, double* energy) {
    for (int b = 1; b < plan->first_single; b++) {
        crPart tree = cr__plan_tree(plan, b);
        if (tree.count > 0) energy[b] = cr__part_kinetic(plan->model, tree, v, d);
    }
}

// Scales v of trees whose kinetic energy grew.
static void limit_kinetic(const crPlan* plan, const double* before, crDynamics* d, double* now, double* v) {
    measure_trees(plan, v, d, now);
    for (int b = 1; b < plan->first_single; b++) {
        crPart tree = cr__plan_tree(plan, b);
        if (tree.count == 0 || !(now[b] > before[b]) || plan->model->bodies[b].base != CR_WORLD) continue;
        if (!cr__step_has_motor(plan->model, tree)) cr__tree_scale(plan->model, tree, before[b], now[b], v);
    }
}

crStatus cr__step_position_general(crStep* step, crPart part, const bool* apart, double near,
                                   crError* error) {
    size_t trees = (size_t)step->plan->first_single + 1;
    double *before, *now;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(before, trees), CR_ROOM(now, trees))) return cr__step_memory(error);
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    measure_trees(step->plan, step->state.v, &step->dynamics, before);
    crStatus status = move_all(step, part, apart, near, error);
    if (status == CR_OK) limit_kinetic(step->plan, before, &step->dynamics, now, step->state.v);
    return status;
}

crStatus cr__step_position_others(crStep* step, crPart part, bool* holds, crError* error) {
    size_t mark = cr_arena_mark(&step->scratch);
    int rows = step->plan->tie.rows;
    Pass pass = {0};
    *holds = true;
    if (rows == 0) return CR_OK;
    crStatus status = make_pass(&step->scratch, rows, step->plan->tie.entries, &pass);
    if (status == CR_OK) status = pass_loops(step->model, &step->dynamics, &pass);
    if (status == CR_OK) status = pass_limits(step->model, &step->settings, &step->state, part, &pass);
    cr_arena_release(&step->scratch, mark);
    if (status != CR_OK) return cr__step_memory(error);
    step->certificate.loop_error = pass.loop;
    *holds = pass.loop <= LOOP_TOL && pass.limit <= limit_tol(&step->settings);
    return CR_OK;
}
