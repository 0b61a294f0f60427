// mechanism.c - second-order step of mechanisms: trees joined by equality loops and held by nothing else.
//
// The contact solve keeps loops with the rows of the beginning of the step, which loses energy to first order
// in h. Mechanisms are moved again from the beginning of the step by RATTLE (Andersen 1983): an impulse J^T p
// at the beginning such that the loops hold at the end, the free motion of each tree (half a kick, flow, half
// a kick: trees.c), and an impulse at the end such that the velocities keep the loops. The scheme is
// symmetric in time. A step in which a body turns by more than TURN is cut into equal parts. If gravity alone
// acts, v is scaled to the energy of the beginning, as flow.c does for one tree. The contact solve's result
// is kept with contacts, exceeded limits, motors, dry friction, a force callback, driven bases, more than
// ROWS rows, or without convergence.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "linalg/semidefinite.h"
#include "model/actuate.h"
#include "model/rows.h"
#include "step/forest.h"
#include "step/step.h"

enum { LOOP_FORCES = 6 };  // places of a loop in tie_force, see ties.c

#define ROWS   60     // limit of rows of a mechanism
#define TURN   0.03   // limit of the rotation of a body in one part of a step, rad
#define PARTS  16     // limit of parts of a step
#define ROUNDS 30     // limit of iterations for the impulse at the beginning
#define CLOSED 1e-12  // tolerance of loops, m or rad
#define FAIR   1e-9   // tolerance of loops if iterations no longer halve the error, m or rad
#define FAR    0.05   // limit of the change of energy by the scaling, share of the kinetic energy
#define SOFT   0.05   // h damping + h^2 stiffness over M up to which springs are explicit

typedef struct Mechanism {
    crStep* step;
    crPart part;       // bodies of the mechanism
    const int* loops;  // equality loops (loop_count)
    int loop_count;
    crRows rows;
    double implicit;                     // h if springs and dampers are implicit in M, else 0
    int n;                               // number of rows
    double *W, *work;                    // pseudo-inverse of W (n n), (2 n n)
    double *u, *p;                       // (n)
    double *q, *v;                       // state at the beginning of a part of the step (nq, nv)
    double *q_solved, *v_solved;         // state by the contact solve (nq, nv)
    double *kick, *k, *c, *y, *fq, *fv;  // (nv), fq (nq)
} Mechanism;

static bool equality(const crLoop* loop) { return !cr_loop_ranges(loop); }

static bool free_of_rows(const crModel* model, const crBody* body) {
    for (int j = body->v; j < body->v + body->nv; j++) {
        if (cr_model_dof(model, j)->motor_force > 0.0 || cr_model_dof(model, j)->friction > 0.0) return false;
    }
    return true;
}

// true if nothing but loops holds the body
static bool floats(const crStep* step, int b) {
    const crBody* body = &step->model->bodies[b];
    return step->airborne[b] && body->base == CR_WORLD && step->rest.sleep[b].island == 0 &&
           free_of_rows(step->model, body) && !step->model->bodies[body->root].deep;
}

static bool within_limits(const crModel* model, crPart part, const double* q) {
    for (int n = 0; n < part.count; n++) {
        const crBody* body = &model->bodies[part.bodies[n]];
        for (int j = 0; j < body->nv && body->nq == body->nv; j++) {
            const crDof* dof = cr_model_dof(model, body->v + j);
            if (q[body->q + j] < dof->lower || q[body->q + j] > dof->upper) return false;
        }
        if (body->joint == CR_JOINT_BALL && cr_model_dof(model, body->v)->upper < INFINITY) return false;
    }
    return true;
}

static crStatus look_at_loops(Mechanism* m) {
    crStep* step = m->step;
    cr__part_kinematics(step->model, m->part, &step->state, &step->dynamics);
    return cr__part_mass_factor(step->model, m->part, m->implicit, &step->dynamics);
}

// true if springs and dampers are slow against h; implicit ones would damp to first order
static bool soft(const Mechanism* m, double h) {
    const crModel* model = m->step->model;
    const crDynamics* d = &m->step->dynamics;
    for (int n = 0; n < m->part.count; n++) {
        const crBody* body = &model->bodies[m->part.bodies[n]];
        for (int j = body->v; j < body->v + body->nv && !body->single; j++) {
            if (cr__dof_slope(model, d, h, j) >
                SOFT * d->mass.M[model->velocity.row[j] + model->velocity.depth[j]])
                return false;
        }
    }
    return true;
}

static crStatus mechanism_rows(Mechanism* m) {
    m->rows.count = m->rows.entries = 0;
    for (int i = 0; i < m->loop_count; i++) {
        int first = cr_rows_add_loop(m->step->model, &m->step->dynamics, m->loops[i], &m->rows);
        if (first < 0) return (crStatus)first;
    }
    return CR_OK;
}

// Computes W^+ at the present pose. CR_ERR_MEMORY.
static crStatus invert(Mechanism* m) {
    crStep* step = m->step;
    size_t mark = cr_arena_mark(&step->scratch);
    crRows H;
    crStatus status = mechanism_rows(m);
    if (status == CR_OK) status = cr_rows_half(step->model, &step->dynamics, &m->rows, &step->scratch, &H);
    if (status == CR_OK) {
        cr_rows_W(&H, m->W);
        cr__pseudo_inverse(m->W, m->n, m->work);
    }
    cr_arena_release(&step->scratch, mark);
    return status;
}

// p -= W^+ x scale
static void counter(const Mechanism* m, const double* x, double scale, double* p) {
    for (int i = 0; i < m->n; i++) {
        double sum = 0.0;
        for (int j = 0; j < m->n; j++) {
            sum += m->W[i * m->n + j] * x[j];
        }
        p[i] -= scale * sum;
    }
}

// v += M^-1 J^T p, with rows and factor of the present pose
static void push_by_rows(Mechanism* m, const double* p, double* v) {
    crStep* step = m->step;
    double* dv = m->y;
    cr__part_clear(step->model, m->part, dv);
    cr_rows_add_impulse(&m->rows, p, dv);
    cr__part_mass_solve(step->model, m->part, &step->dynamics, dv);
    cr__part_add(step->model, m->part, v, dv, v);
}

// Adds half the velocity change by the forces tau = k + c over h to v; c of single bodies is zero.
static void half_kick(Mechanism* m, double h, const double* k, const double* c) {
    crStep* step = m->step;
    const crModel* model = step->model;
    cr__part_add(model, m->part, k, c, m->kick);
    cr__part_smooth_velocity(model, m->part, &step->state, m->kick, h, &step->dynamics, m->y);
    cr__part_mean(model, m->part, step->state.v, m->y, step->state.v);
}

// Moves each tree freely over h; k and c become those at the end. Fails as the factor of M.
static crStatus flow(Mechanism* m, double h) {
    crStep* step = m->step;
    const crModel* model = step->model;
    crDynamics* d = &step->dynamics;
    crStatus status = CR_OK;
    for (int n = 0; n < m->part.count && status == CR_OK;) {
        int first = n, root = model->bodies[m->part.bodies[n]].root;
        while (n < m->part.count && model->bodies[m->part.bodies[n]].root == root) {
            n++;
        }
        crPart tree = {m->part.bodies + first, n - first};
        if (model->bodies[root].single) {
            cr__part_integrate(model, tree, h, &step->state);
            cr__part_kinematics(model, tree, &step->state, d);
            status = cr__part_mass_factor(model, tree, m->implicit, d);
            if (status == CR_OK) cr__part_forces(model, tree, &step->state, d, m->k, m->c);
            continue;
        }
        status = cr__tree_flow(model, tree, h, &step->state, d, (crFlowWork){m->c, m->k, m->y, m->fq, m->fv});
    }
    return status;
}

// Moves from the beginning of a part with the impulse p: kick, flow, kick. Rows and gaps become those at the
// end.
static crStatus shoot(Mechanism* m, double h) {
    crStep* step = m->step;
    cr__part_copy_state(step->model, m->part, m->q, m->v, step->state.q, step->state.v);
    crStatus status = look_at_loops(m);
    if (status == CR_OK) status = mechanism_rows(m);
    if (status != CR_OK) return status;
    cr__part_forces(step->model, m->part, &step->state, &step->dynamics, m->k, m->c);
    push_by_rows(m, m->p, step->state.v);
    half_kick(m, h, m->k, m->c);
    status = flow(m, h);
    if (status != CR_OK) return status;
    half_kick(m, h, m->k, m->c);
    return mechanism_rows(m);
}

// Makes one part of the step. Returns false if it does not converge or *status is a failure.
static bool advance_part(Mechanism* m, double h, crStatus* status) {
    crStep* step = m->step;
    cr__part_copy_state(step->model, m->part, step->state.q, step->state.v, m->q, m->v);
    memset(m->p, 0, (size_t)m->n * sizeof *m->p);
    m->implicit = 0.0;
    *status = look_at_loops(m);
    if (*status == CR_OK && !soft(m, h)) {
        m->implicit = h;
        *status = look_at_loops(m);
    }
    if (*status == CR_OK) *status = invert(m);
    double gap = INFINITY, least = INFINITY;
    for (int i = 0; i < ROUNDS && *status == CR_OK; i++) {
        *status = shoot(m, h);
        if (*status != CR_OK) return false;
        gap = cr__rows_worst_gap(&m->rows);
        if (gap <= CLOSED || !isfinite(gap)) break;
        if (gap <= FAIR && !(gap < 0.5 * least)) break;
        least = fmin(least, gap);
        counter(m, m->rows.gap, 1.0 / h, m->p);
    }
    if (*status != CR_OK || !(gap <= FAIR)) return false;
    // impulse at the end, such that velocities keep the loops
    *status = invert(m);
    if (*status != CR_OK) return false;
    cr_rows_velocity(&m->rows, step->state.v, m->u);
    memset(m->p, 0, (size_t)m->n * sizeof *m->p);
    counter(m, m->u, 1.0, m->p);
    push_by_rows(m, m->p, step->state.v);
    return true;
}

// true if the mechanism is tied to a body that v does not move: its momentum is not kept
static bool grounded(const Mechanism* m) {
    const crModel* model = m->step->model;
    for (int n = 0; n < m->part.count; n++) {
        const crBody* body = &model->bodies[m->part.bodies[n]];
        if (body->root == m->part.bodies[n] && body->joint != CR_JOINT_FREE) return true;
    }
    for (int i = 0; i < m->loop_count; i++) {
        const crLoop* loop = &model->loops[m->loops[i]];
        if (!cr__moves(model, loop->a) || !cr__moves(model, loop->b)) return true;
    }
    return false;
}

// true if gravity alone acts and energy, but not momentum, is kept
static bool conserves(const Mechanism* m) {
    const crStep* step = m->step;
    const crModel* model = step->model;
    if (!grounded(m)) return false;
    for (int n = 0; n < m->part.count; n++) {
        const crBody* body = &model->bodies[m->part.bodies[n]];
        if (body->linear_drag > 0.0 || body->angular_drag > 0.0) return false;
        for (int j = body->v; j < body->v + body->nv; j++) {
            const crDof* dof = cr_model_dof(model, j);
            if (dof->stiffness > 0.0 || dof->damping > 0.0 || model->velocity.actuator[j] >= 0 ||
                step->state.force[j] != 0.0)
                return false;
        }
    }
    return true;
}

static void scale(Mechanism* m, crEnergy before) {
    crStep* step = m->step;
    cr__part_kinematics(step->model, m->part, &step->state, &step->dynamics);
    crEnergy after = cr__part_energy(step->model, m->part, &step->state, &step->dynamics);
    double want = before.kinetic + before.potential - after.potential;
    if (!(after.kinetic > 0.0) || !(fabs(want / after.kinetic - 1.0) <= FAR)) return;
    cr__part_scale(step->model, m->part, sqrt(want / after.kinetic), step->state.v);
}

// number of parts of the step in which no body turns by more than TURN, at most PARTS
static int parts_of(Mechanism* m, double h) {
    const crStep* step = m->step;
    double fastest = 0.0;
    for (int n = 0; n < m->part.count; n++) {
        fastest = fmax(fastest, cr_norm(step->dynamics.twist[m->part.bodies[n]].omega));
    }
    double parts = ceil(fastest * h / TURN);
    return parts < 1.0 ? 1 : parts > PARTS ? PARTS : (int)parts;
}

static crStatus move_tree(Mechanism* m, double h) {
    crStep* step = m->step;
    const crModel* model = step->model;
    cr__part_copy_state(model, m->part, step->state.q, step->state.v, m->q_solved, m->v_solved);
    cr__part_copy_state(model, m->part, step->start.q, step->start.v, step->state.q, step->state.v);
    cr__part_kinematics(model, m->part, &step->state, &step->dynamics);
    crEnergy before = cr__part_energy(model, m->part, &step->state, &step->dynamics);
    bool conserved = conserves(m);
    int parts = parts_of(m, h);
    crStatus status = CR_OK;
    bool good = true;
    for (int i = 0; i < parts && good; i++) {
        good = advance_part(m, h / parts, &status);
    }
    if (good && conserved) scale(m, before);
    good = good && within_limits(model, m->part, step->state.q);
    if (!good) cr__part_copy_state(model, m->part, m->q_solved, m->v_solved, step->state.q, step->state.v);
    cr__part_kinematics(model, m->part, &step->state, &step->dynamics);
    return status == CR_ERR_MEMORY ? status : CR_OK;
}

static crStatus make_mechanism(Mechanism* m) {
    const crModel* model = m->step->model;
    crArena* arena = &m->step->scratch;
    static const int counts[] = {3, 6, 1, 1};
    int entries = 0;
    m->n = 0;
    for (int i = 0; i < m->loop_count; i++) {
        const crLoop* loop = &model->loops[m->loops[i]];
        m->n += counts[loop->kind];
        entries += counts[loop->kind] * (cr__depth(model, loop->a) + cr__depth(model, loop->b));
    }
    if (m->n > ROWS) return CR_OK;
    int nv = model->nv, nq = model->nq;
    crStatus status = cr_rows_create(arena, m->n, entries, &m->rows);
    bool ok = CR_ROOMS(arena, CR_ROOM(m->W, m->n * m->n), CR_ROOM(m->work, 2 * m->n * m->n),
                       CR_ROOM(m->u, m->n), CR_ROOM(m->p, m->n), CR_ROOM(m->v, nv), CR_ROOM(m->v_solved, nv),
                       CR_ROOM(m->kick, nv), CR_ROOM(m->k, nv), CR_ZERO(m->c, nv), CR_ROOM(m->y, nv),
                       CR_ROOM(m->fv, nv), CR_ROOM(m->q, nq), CR_ROOM(m->q_solved, nq), CR_ROOM(m->fq, nq));
    return status == CR_OK && ok ? CR_OK : CR_ERR_MEMORY;
}

// Groups of trees joined by equality loops: lists of bodies and loops in ascending order; -1 ends a list.
typedef struct Groups {
    int* root;              // first tree of the group of each tree (nb)
    int *body, *next_body;  // first body of a group, next body in it (nb)
    int *loop, *next_loop;  // first loop of a group (nb), next loop in it (loop_count)
    bool* held;             // true if something else than loops holds the group (nb)
} Groups;

static bool make_groups(const crModel* model, crArena* arena, Groups* g) {
    int nb = model->nb;
    return CR_ROOMS(arena, CR_ROOM(g->root, nb), CR_ROOM(g->body, nb), CR_ROOM(g->next_body, nb),
                    CR_ROOM(g->loop, nb), CR_ROOM(g->next_loop, model->loop_count), CR_ROOM(g->held, nb));
}

static void find_groups(const crStep* step, Groups* g) {
    const crModel* model = step->model;
    for (int b = 0; b < model->nb; b++) {
        g->root[b] = b;
        g->body[b] = g->loop[b] = -1;
        g->held[b] = false;
    }
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        if (equality(loop)) cr__forest_join_trees(model, g->root, loop->a, loop->b);
    }
    for (int b = model->nb - 1; b > 0; b--) {
        if (!cr__moves(model, b)) continue;
        int group = cr__forest_find(g->root, model->bodies[b].root);
        g->next_body[b] = g->body[group];
        g->body[group] = b;
        g->held[group] = g->held[group] || !floats(step, b);
    }
    for (int i = model->loop_count - 1; i >= 0; i--) {
        const crLoop* loop = &model->loops[i];
        if (!equality(loop)) continue;
        int group = cr__forest_of_trees(model, g->root, loop->a, loop->b);
        bool driven = model->bodies[loop->a].base != CR_WORLD || model->bodies[loop->b].base != CR_WORLD;
        g->next_loop[i] = g->loop[group];
        g->loop[group] = i;
        g->held[group] = g->held[group] || driven;
    }
}

static void hold_body(const crModel* model, Groups* g, int body) {
    if (cr__moves(model, body)) g->held[cr__forest_find(g->root, model->bodies[body].root)] = true;
}

// Marks groups as held by contacts with an impulse and by loops with a range and a force in this step.
static void find_held(const crModel* model, const crStepContacts* contacts, const crStepTies* ties,
                      Groups* g) {
    for (int i = 0; i < contacts->count; i++) {
        const crStepContact* c = &contacts->list[i];
        if (cr_dot(c->impulse, c->impulse) == 0.0) continue;
        hold_body(model, g, c->body_a);
        hold_body(model, g, c->body_b);
    }
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        if (equality(loop) || ties->force[(size_t)LOOP_FORCES * (size_t)i] == 0.0) continue;
        hold_body(model, g, loop->a);
        hold_body(model, g, loop->b);
    }
}

// Sorts bodies by the roots of their trees, ascending.
static void sort_by_tree(const crModel* model, int* bodies, int count) {
    for (int i = 1; i < count; i++) {
        int b = bodies[i], at = i;
        while (at > 0 && model->bodies[bodies[at - 1]].root > model->bodies[b].root) {
            bodies[at] = bodies[at - 1];
            at--;
        }
        bodies[at] = b;
    }
}

static crStatus move_group(crStep* step, const Groups* g, int group, int* bodies, int* loops, double h) {
    Mechanism m = {.step = step, .loops = loops};
    for (int b = g->body[group]; b >= 0; b = g->next_body[b]) {
        bodies[m.part.count++] = b;
    }
    for (int i = g->loop[group]; i >= 0; i = g->next_loop[i]) {
        loops[m.loop_count++] = i;
    }
    sort_by_tree(step->model, bodies, m.part.count);
    m.part.bodies = bodies;
    size_t mark = cr_arena_mark(&step->scratch);
    crStatus status = make_mechanism(&m);
    if (status == CR_OK && m.n <= ROWS) status = move_tree(&m, h);
    cr_arena_release(&step->scratch, mark);
    return status;
}

crStatus cr__step_mechanisms(crStep* step, double h, crError* error) {
    const crModel* model = step->model;
    if (model->loop_count == 0 || step->calls.force != NULL || h != step->free.h) return CR_OK;
    size_t mark = cr_arena_mark(&step->scratch);
    Groups g;
    int *bodies, *loops;
    bool ok = CR_ROOMS(&step->scratch, CR_ROOM(bodies, model->nb), CR_ROOM(loops, model->loop_count)) &&
              make_groups(model, &step->scratch, &g);
    crStatus status = ok ? CR_OK : CR_ERR_MEMORY;
    if (ok) find_groups(step, &g);
    if (ok) find_held(step->model, &step->contacts, &step->ties, &g);
    for (int b = 1; b < model->nb && status == CR_OK; b++) {
        if (g.loop[b] >= 0 && !g.held[b]) status = move_group(step, &g, b, bodies, loops, h);
    }
    cr_arena_release(&step->scratch, mark);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}
