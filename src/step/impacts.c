// impacts.c - impacts: a cluster of touching bodies with a contact that closes fast, resolved by the rule.
//
// Trees of bodies are joined by contacts with a gap within the cluster tolerance or the deadband, and by
// loops. A cluster with a contact that approaches faster than the threshold is one impact, with all its
// touching contacts, loops and limits that are reached: u = J v + w_hat, v+ = v + M^-1 J^T p, with M without
// springs.
// A cluster of more than FEW contacts of free bodies is resolved outwards from each contact that closes fast:
// first with the contacts of its two bodies (the contact alone if groups are too large for exact times), then
// also with contacts beyond that would close fast as a result, until no more do. A contact that closes slower
// than the threshold is no impact by definition, so the cost depends on the contacts that the impact reaches,
// and impacts that do not reach each other are separate.
// Fails: errors of the rule or law; CR_ERR_MEMORY. An impact outside the permissible region is no error: the
// certificate counts it.
#include <string.h>

#include "resolve/kinds.h"
#include "step/audit.h"
#include "step/clocks.h"
#include "step/forest.h"
#include "step/posed.h"

#define FEW 64  // contacts up to which a cluster is always taken as a whole

bool cr__step_touches(const crStep* step, const crStepContact* c) {
    double ahead = step->clocks->ahead, gap = c->point.gap;
    if (gap <= fmax(step->settings.cluster, c->delta)) return true;
    // the contact solve resolves contacts that close softly
    if (!(ahead > 0.0) || c->speed >= -c->fast) return false;
    crVec3 fall = cr_sub(cr__step_fall(step, c->body_b), cr__step_fall(step, c->body_a));
    return gap + ahead * (c->speed + 0.5 * ahead * cr_dot(fall, c->point.normal)) <= 0.0;
}

bool cr__step_closes_fast(const crStep* step, const crStepContact* c) {
    return cr__step_touches(step, c) && c->speed < -c->fast;
}

static void find_clusters(const crStep* step, int* parent) {
    const crModel* model = step->model;
    for (int k = 0; k < step->part.count; k++) {
        parent[step->part.bodies[k]] = step->part.bodies[k];
    }
    for (int k = 0; k < step->part.loop_count; k++) {
        const crLoop* loop = &model->loops[step->part.loops[k]];
        cr__forest_join_trees(model, parent, loop->a, loop->b);
    }
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (cr__step_touches(step, c)) cr__forest_join_trees(model, parent, c->body_a, c->body_b);
    }
}

typedef struct Impact {
    crPart bodies;  // bodies that take part
    int loop_count;
    int* loops;
    crRows rows, H;
    crBlock* blocks;
    int block_count;
    crProblem problem;
    double* p;
    crRuleReport report;
} Impact;

// Adds the rows of loops and of limits that are reached. Returns a negative status if the rows have no room.
static crStatus impact_joints(const crStep* step, Impact* impact, crJointRow* info, int capacity) {
    const crModel* model = step->model;
    for (int i = 0; i < impact->loop_count; i++) {
        crRows without = impact->rows;
        int before = impact->rows.count;
        int first = cr_rows_add_loop(model, &step->dynamics, impact->loops[i], &impact->rows);
        if (first < 0) return (crStatus)first;
        bool range = cr_loop_ranges(&model->loops[impact->loops[i]]);
        if (range && impact->rows.gap[before] > step->settings.deadband) {
            impact->rows = without;
            continue;
        }
        impact->blocks[impact->block_count] =
            cr_block(range ? CR_BLOCK_UNILATERAL : CR_BLOCK_EQUALITY, before, impact->rows.count - before);
        impact->blocks[impact->block_count++].source = -1;
    }
    // Motors and dry friction give no impulse in zero time.
    int limits = cr__part_add_limits(model, impact->bodies, &step->state, step->settings.deadband, capacity,
                                     info, &impact->rows);
    if (limits < 0) return (crStatus)limits;
    for (int i = 0; i < limits; i++) {
        impact->blocks[impact->block_count] = cr_block(CR_BLOCK_UNILATERAL, info[i].row, 1);
        impact->blocks[impact->block_count++].source = -1;
    }
    return CR_OK;
}

// Numbers the velocities of the bodies that take part as columns of the problem; returns their number. shift: what the
// columns of each body are beyond its velocities.
static int number_columns(const crModel* model, crPart bodies, int* shift) {
    int count = 0;
    for (int n = 0; n < bodies.count; n++) {
        const crBody* body = &model->bodies[bodies.bodies[n]];
        shift[bodies.bodies[n]] = count - body->v;
        count += body->nv;
    }
    return count;
}

static crStatus build(const crStep* step, const bool* takes, crArena* arena, Impact* impact, crError* error) {
    int rows, entries, vertex_room, vertex_count = 0;
    cr__step_row_sizes(step->plan, &step->contacts, takes, &rows, &entries, &vertex_room);
    crJointRow* info;
    double(*vertices)[2];
    if (!CR_ROOMS(arena, CR_ROOM(impact->blocks, rows + 1), CR_ZERO(impact->p, rows + 1),
                  CR_ROOM(info, rows + 1), CR_ROOM(vertices, vertex_room + 1)))
        return cr__step_memory(error);
    crStatus status = cr_rows_create(arena, rows, entries, &impact->rows);
    if (status != CR_OK) return cr__step_memory(error);
    for (int i = 0; i < step->contacts.count && status == CR_OK; i++) {
        if (!takes[i]) continue;
        status = cr__step_add_contact(step, &step->contacts.list[i], i, &impact->rows,
                                      &impact->blocks[impact->block_count++], vertices, &vertex_count);
    }
    if (status == CR_OK) status = impact_joints(step, impact, info, rows);
    if (status == CR_OK) {
        int columns = number_columns(step->model, impact->bodies, step->work.shift);
        impact->problem =
            (crProblem){.blocks = impact->blocks, .block_count = impact->block_count, .nv = columns};
        impact->problem.vertices = (const double(*)[2])vertices;
        status =
            cr__step_pose_problem(step, arena, &impact->rows, step->state.v, &impact->H, &impact->problem);
    }
    for (int i = 0; status == CR_OK && i < impact->H.entries; i++) {
        impact->H.col[i] += step->work.shift[step->model->velocity.body[impact->H.col[i]]];
    }
    return status == CR_OK ? CR_OK : cr_error_set(error, status, "impact", "%s", cr_status_text(status));
}

// Solver of the settings for a rule, with a tolerance of at most 1e-13: a loosely solved impact is not
// permissible. The solver `auto` means the rule's own. A user's solver keeps its parameters.
static crSolver rule_solver(const crStepSettings* settings, crSolverParams* exact) {
    crSolver solver = settings->solver, known = {0};
    if (solver.solve == cr__solver(&cr__solver_auto, NULL).solve) return known;
    bool ours = solver.name != NULL && cr_solver_find(solver.name, NULL, &known, NULL) == CR_OK &&
                known.solve == solver.solve;
    if (!ours) return solver;
    *exact = solver.params != NULL ? *(const crSolverParams*)solver.params : cr_solver_params();
    exact->tol = fmin(exact->tol, 1e-13);
    solver.params = exact;
    return solver;
}

static crStatus run_rule(const crStep* step, crArena* arena, Impact* impact, crError* error) {
    crSolverParams exact;
    crRule rule = step->settings.rule;
    crRuleParams params = cr_rule_params();
    params.law = step->settings.law;
    params.solver = rule_solver(&step->settings, &exact);
    params.points = cr__step_block_points(step->contacts.list, impact->blocks, impact->block_count, arena);
    if (params.points == NULL) return cr__step_memory(error);
    if (rule.params == NULL) rule.params = &params;
    return cr_rule_run(&rule, &impact->problem, arena, impact->p, &impact->report, error);
}

static void certify(crCertificate* c, const Impact* impact) {
    c->impacts++;
    cr__audit_outcome(c, impact->report.outcome);
    if (impact->report.verdict == CR_TRUTH_NO) c->impermissible++;
    if (impact->report.verdict == CR_TRUTH_UNSURE) c->impacts_unsure++;
    if (impact->report.creates_energy) {
        c->energy.created += impact->report.contact_energy;
    }
}

static void apply_impact(const crStep* step, const Impact* impact, bool* fresh, double* v) {
    const crModel* model = step->model;
    double* dv = step->dynamics.scratch.v;
    cr__part_clear(model, impact->bodies, dv);
    cr_rows_add_impulse(&impact->rows, impact->p, dv);
    cr__part_mass_solve(model, impact->bodies, &step->dynamics, dv);
    for (int n = 0; n < impact->bodies.count; n++) {
        int b = impact->bodies.bodies[n];
        const crBody* body = &model->bodies[b];
        for (int i = body->v; i < body->v + body->nv; i++) {
            fresh[b] = fresh[b] || dv[i] != 0.0;
            v[i] += dv[i];
        }
    }
}

static crStatus log_events(const crStep* step, const bool* takes, const Impact* impact, double* drive,
                           crStepEvents* events) {
    crStatus status = CR_OK;
    for (int i = 0; i < step->contacts.count && status == CR_OK; i++) {
        crStepContact* c = &step->contacts.list[i];
        if (!takes[i]) continue;
        c->impulse = cr__step_row_impulse(step, c, impact->p);
        c->row = -1;
        cr__audit_drive(step->model, &step->dynamics, drive, c->body_a, c->body_b, c->point.point,
                        c->impulse);
        if (!(cr_dot(c->impulse, c->impulse) > 0.0)) continue;
        crEvent event = cr__step_event_of(step->state.time, c);
        event.energy_change = impact->report.energy_change;
        event.impact = step->certificate.impacts - 1;
        status = cr__step_event_put(&step->own.allocator, &event, events);
    }
    return status;
}

// the contacts and bodies of a cluster that take part in an impact
typedef struct Reach {
    int root;      // root of the cluster
    bool* takes;   // true for contacts that take part (contact_count)
    bool* inside;  // true for bodies that take part (nb)
    int* next;     // working memory: contacts (contact_count)
    bool whole;    // true if all of the cluster takes part
} Reach;

static bool in_cluster(const crStep* step, int* parent, const Reach* reach, int contact) {
    const crStepContact* c = &step->contacts.list[contact];
    return cr__step_touches(step, c) &&
           cr__forest_of_trees(step->model, parent, c->body_a, c->body_b) == reach->root;
}

static void take(const crStepContact* contacts, int contact, Reach* reach) {
    const crStepContact* c = &contacts[contact];
    reach->takes[contact] = true;
    reach->inside[c->body_a] = reach->inside[c->body_b] = true;
}

// Takes the whole cluster.
static void take_all(const crStep* step, int* parent, Reach* reach) {
    const crModel* model = step->model;
    reach->whole = true;
    for (int i = 0; i < step->contacts.count; i++) {
        if (in_cluster(step, parent, reach, i)) take(step->contacts.list, i, reach);
    }
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        reach->inside[b] =
            cr__moves(model, b) && cr__forest_find(parent, model->bodies[b].root) == reach->root;
    }
}

// normal velocity of a contact by the present v, which earlier impacts of this call may have changed
static double closing_speed(const crStep* step, const crStepContact* c) {
    return cr_dot(cr__step_contact_velocity(step, step->state.v, c), c->point.normal);
}

// Takes contacts of the bodies that take part: all, or only the ones that close fast. Returns true if it
// added any.
static bool take_next(const crStep* step, int* parent, bool all, Reach* reach) {
    const crModel* model = step->model;
    int found = 0;
    for (int i = 0; i < step->contacts.count && !reach->whole; i++) {
        const crStepContact* c = &step->contacts.list[i];
        bool near = (cr__moves(model, c->body_a) && reach->inside[c->body_a]) ||
                    (cr__moves(model, c->body_b) && reach->inside[c->body_b]);
        if (reach->takes[i] || !near || !in_cluster(step, parent, reach, i)) continue;
        if (all || closing_speed(step, c) < -c->fast) reach->next[found++] = i;
    }
    for (int k = 0; k < found; k++) {
        take(step->contacts.list, reach->next[k], reach);
    }
    return found > 0;
}

// true if the cluster may be taken in part: it is large, of free bodies, without loops
static bool divides(const crStep* step, int* parent, int root) {
    const crModel* model = step->model;
    int contacts = 0;
    Reach all = {.root = root};
    for (int i = 0; i < step->contacts.count; i++) {
        contacts += in_cluster(step, parent, &all, i);
    }
    int few = step->clocks->ahead > 0.0 ? 1 : FEW;
    for (int k = 0; k < step->part.count && contacts > few; k++) {
        const crBody* body = &model->bodies[step->part.bodies[k]];
        bool own = cr__moves(model, step->part.bodies[k]) && cr__forest_find(parent, body->root) == root;
        if (own && (!body->single || step->plan->tie.first[step->part.bodies[k]] <
                                         step->plan->tie.first[step->part.bodies[k] + 1]))
            return false;
    }
    return contacts > few;
}

// Lists the bodies that take part, and their loops. Returns false if out of memory.
static bool list_cluster(const crModel* model, const crStepPart* part, crArena* arena, const bool* inside,
                         Impact* impact) {
    int* bodies;
    if (!CR_ROOMS(arena, CR_ROOM(bodies, part->count + 1), CR_ROOM(impact->loops, part->loop_count + 1)))
        return false;
    for (int k = 0; k < part->count; k++) {
        int b = part->bodies[k];
        if (cr__moves(model, b) && inside[b]) bodies[impact->bodies.count++] = b;
    }
    impact->bodies.bodies = bodies;
    for (int k = 0; k < part->loop_count; k++) {
        const crLoop* loop = &model->loops[part->loops[k]];
        int b = cr__moves(model, loop->a) ? loop->a : loop->b;
        if (cr__moves(model, b) && inside[b]) impact->loops[impact->loop_count++] = part->loops[k];
    }
    return true;
}

static crStatus attempt(const crStep* step, const Reach* reach, crArena* arena, double* v, Impact* impact,
                        crError* error) {
    *impact = (Impact){0};
    if (!list_cluster(step->model, &step->part, arena, reach->inside, impact)) return cr__step_memory(error);
    crStatus status = build(step, reach->takes, arena, impact, error);
    if (status == CR_OK) status = run_rule(step, arena, impact, error);
    if (status == CR_OK) apply_impact(step, impact, step->clocks->fresh, v);
    return status;
}

static void clear(const crStep* step, Reach* reach) {
    for (int k = 0; k < step->part.count; k++) {
        reach->inside[step->part.bodies[k]] = false;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        reach->takes[i] = reach->inside[c->body_a] = reach->inside[c->body_b] = false;
    }
    reach->whole = false;
}

// Resolves the impact of one contact that closes fast.
static crStatus resolve(crStep* step, int* parent, int contact, Reach* reach, crError* error) {
    crStatus status = CR_OK;
    size_t mark = cr_arena_mark(&step->scratch);
    double* before = cr_arena_alloc(&step->scratch, (size_t)(step->model->nv + 1) * sizeof *before);
    if (before == NULL) return cr__step_memory(error);
    cr__part_copy(step->model, cr__step_part(step), step->state.v, before);
    clear(step, reach);
    if (divides(step, parent, reach->root)) {
        take(step->contacts.list, contact, reach);
        if (!(step->clocks->ahead > 0.0)) take_next(step, parent, true, reach);
    } else {
        take_all(step, parent, reach);
    }
    while (status == CR_OK) {
        Impact impact;
        size_t again = cr_arena_mark(&step->scratch);
        status = attempt(step, reach, &step->scratch, step->state.v, &impact, error);
        if (status != CR_OK) return status;
        if (!take_next(step, parent, false, reach)) {
            certify(&step->certificate, &impact);
            crShown shown = {&impact.rows, &impact.problem, impact.p, before, step->state.time, 0.0, false};
            status = cr__step_show(step, &shown, error);
            if (status != CR_OK) return status;
            status = log_events(step, reach->takes, &impact, step->audited.drive, &step->events);
            break;
        }
        cr__part_copy(step->model, cr__step_part(step), before, step->state.v);
        cr_arena_release(&step->scratch, again);
    }
    cr_arena_release(&step->scratch, mark);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

crStatus cr_step_impacts(crStep* step, int* resolved, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    if (resolved == NULL) return cr__missing(error, "resolved");
    const crModel* model = step->model;
    *resolved = 0;
    bool any = false;
    for (int i = 0; i < step->contacts.count; i++) {
        any = any || cr__step_closes_fast(step, &step->contacts.list[i]);
    }
    if (!any) return CR_OK;
    size_t nb = (size_t)model->nb, count = (size_t)step->contacts.count;
    int* parent;
    bool* done;
    Reach reach = {0};
    if (!CR_ROOMS(&step->scratch, CR_ROOM(parent, nb), CR_ROOM(reach.takes, count), CR_ROOM(reach.inside, nb),
                  CR_ROOM(reach.next, count), CR_ROOM(done, nb)))
        return cr__step_memory(error);
    crStatus status = cr__part_mass_factor(model, cr__step_part(step), 0.0, &step->dynamics);
    if (status != CR_OK) return cr_error_set(error, status, "mass", "%s", cr_status_text(status));
    find_clusters(step, parent);
    for (int k = 0; k < step->part.count; k++) {
        done[step->part.bodies[k]] = false;
    }
    for (int k = 0; k < step->contacts.count && status == CR_OK; k++) {
        const crStepContact* c = &step->contacts.list[k];
        if (!cr__step_closes_fast(step, c)) continue;
        reach.root = cr__forest_of_trees(model, parent, c->body_a, c->body_b);
        // An earlier impact may have taken the whole cluster, or resolved this contact too.
        if (done[reach.root] || !(closing_speed(step, c) < -c->fast)) continue;
        status = resolve(step, parent, k, &reach, error);
        done[reach.root] = reach.whole;
        (*resolved)++;
    }
    return status;
}
