// audit_contacts.c - the audit of one contact solve of the cone method, island by island.
//
// Witness impulses P^ are made of the contacts' impulses (see problem/witness.c: open, stick or slip, here with
// vectors instead of rows), velocities v^ = v_free + M^-1 J^T P^ follow from them through the factor of M, and
// the laws are checked at v^ and at the state's own v: eta is the distance of J v^ + b, or of J v + b, to what the laws allow beside P^. Bias, friction and
// directions come from the contacts and their surfaces. Whatever velocities the solver left in the state are
// compared with v^: the momentum figure.
// W_ii is taken of the bodies as if they were free, which is the larger: it decides only which witness is made.
// Rounding floors as in problem/audit.c, 16 eps (|u_free| + |b| + s_a A_a + s_b A_b), A the sum of s |P| over the
// contacts of a body, s = sqrt(trace of its share of W).
// Fails: CR_ERR_MEMORY. What is not finite makes every figure infinite.
#include <string.h>

#include "base/tasks.h"
#include "model/spatial.h"
#include "problem/witness.h"
#include "step/audit.h"
#include "step/cache.h"
#include "step/forest.h"

#define CHUNK 256  // contacts that one thread takes at a time
#define EPS   0x1p-52
#define ROWS  6  // of a contact at most

// what was decided about a contact
typedef enum Hold { OUT, OPEN, STICK, SLIP, FREE, GENERAL } Hold;

typedef struct Witness {
    crVec3 P;  // on b
    crVec3 d;  // slip: the direction friction pushes in
    Hold hold;
    double b;      // bias of the normal velocity, m/s
    double s_a, s_b;  // sqrt of the traces of both bodies' shares of W
    crVec3 u_free, u;  // velocities of b against a by v_free and by the state's v
} Witness;

// contacts with other friction than a disc: rows n, t1, t2, spin, roll
typedef struct General {
    int contact;
    crBlock block;
    double weight[ROWS];
    crHeld held[ROWS];
    double p[ROWS];
    crMat3 frame;
} General;

// worst figures of a chunk
typedef struct Worst {
    crAudit audit;
    double far;   // h (eta + floor) over the contact's size
    double seen;  // 0 where everything is a number
} Worst;

typedef struct Audit {
    crStep* step;
    double h;
    const bool *takes, *passes;
    Witness* witness;  // (contact_count)
    int general_count;
    General* general;
    double* pull;     // A of each body (nb)
    double* v;        // v^ (nv)
    int* root;        // island of each body: its first (nb)
    double* scale;    // of each island, at its root (nb)
    double* energy;   // likewise: work of its contacts, J (nb)
    double* tie_p;    // witness of rows of loops and joints (rows.count)
    crHeld* tie_held; // (rows.count)
    Worst* worst;     // of each chunk
} Audit;

static double larger(double a, double b) { return a > b ? a : b; }

// trace of a free body's share of W at a point
static double mobility(const crStep* step, int body, crVec3 point) {
    const crBody* own = &step->model->bodies[body];
    if (!cr__moves(step->model, body) || !(own->mass > 0.0)) return 0.0;
    crVec3 r = cr_sub(point, step->dynamics.com[body]);
    double square = cr_dot(r, r);
    if (own->single) {
        crSym3 inverse = step->dynamics.inverse[body];
        return 3.0 / own->mass + square * (inverse.xx + inverse.yy + inverse.zz) - cr_sym3_quad(inverse, r);
    }
    double least = own->principal[0];
    return 3.0 / own->mass + (least > 0.0 ? 2.0 * square / least : 0.0);
}

static crVec3 relative(const crStep* step, const double* v, const crStepContact* c) {
    return cr_sub(cr__step_point_velocity(step, v, c->body_b, c->point.point),
                  cr__step_point_velocity(step, v, c->body_a, c->point.point));
}

// Bias of a contact: 0 where it touches, else the gap beyond the deadband over h; bodies in the air move by the
// mean of v before and after gravity. cursor: into the warm starts, which widen the band of what pressed.
static double bias(const Audit* a, const crStepContact* c, int* cursor) {
    const crStep* step = a->step;
    double gap = c->point.gap;
    if (gap <= c->delta) return 0.0;
    if (c->row < 0 && a->takes[c - step->contacts] && gap <= cr__step_band(step, c, cursor)) return 0.0;
    double b = (gap - c->delta) / a->h;
    for (int side = 0; side < 2; side++) {
        int body = side == 0 ? c->body_a : c->body_b;
        if (!step->airborne[body]) continue;
        double fall = cr_dot(cr__step_fall(step, body), c->point.normal);
        b += (side == 0 ? 0.5 : -0.5) * a->h * fall;
    }
    return b;
}

static bool plain(const crSurface* s) {
    return s->vertex_count == 0 && !(s->mu_spin > 0.0) && !(s->mu_roll > 0.0) &&
           (isnan(s->mu2) || s->mu2 == s->mu);
}

static void make_plain(double mu, double lambda, crVec3 n, crVec3 P, crVec3 w, Witness* out) {
    double pn = cr_dot(n, P), wn = cr_dot(n, w), z_n = lambda > 0.0 ? pn - wn / lambda : 0.0;
    out->P = out->d = cr_vec3(0, 0, 0);
    out->hold = OPEN;
    if (!(z_n > 0.0) || !(pn > 0.0)) return;
    crVec3 pt = cr_madd(P, -pn, n), z = cr_madd(pt, -1.0 / lambda, cr_madd(w, -wn, n));
    double size2 = cr_dot(z, z), limit = mu * z_n;
    out->P = cr_scale(pn, n);
    out->hold = FREE;
    if (mu == 0.0) return;
    if (isinf(mu) || size2 <= limit * limit) {
        double friction = sqrt(cr_dot(pt, pt)), most = mu * pn;
        out->hold = STICK;
        out->P = cr_madd(out->P, friction > most ? most / friction : 1.0, pt);
    } else {
        out->hold = SLIP;
        out->d = cr_scale(1.0 / sqrt(size2), z);
        out->P = cr_madd(out->P, mu * pn, out->d);
    }
}

// distance of w from what the laws allow, squared; *noise: whether rounding of w matters
static double defect_plain(const Witness* witness, crVec3 n, crVec3 w, double floor, bool* noise) {
    double wn = cr_dot(n, w);
    crVec3 wt = cr_madd(w, -wn, n);
    double along = cr_dot(wt, witness->d);
    *noise = true;
    switch (witness->hold) {
    case STICK:
        return cr_dot(w, w);
    case FREE:
        return wn * wn;
    case SLIP: {
        crVec3 across = along < 0.0 ? cr_madd(wt, -along, witness->d) : wt;
        return wn * wn + cr_dot(across, across);
    }
    default:
        *noise = floor > wn;
        return wn < 0.0 ? wn * wn : 0.0;
    }
}

// the measures of others
static void publish(const crStepContact* c, double mu, double lambda, crVec3 w, crAudit* audit) {
    crVec3 n = c->point.normal, P = c->impulse;
    double pn = cr_dot(n, P), wn = cr_dot(n, w), limit = mu * larger(pn, 0.0);
    crVec3 pt = cr_madd(P, -pn, n), wt = cr_madd(w, -wn, n);
    crVec3 moved = cr_madd(wt, -lambda / 3.0, pt);  // against friction's wish
    double friction = sqrt(cr_dot(pt, pt)), size = sqrt(cr_dot(moved, moved)), slip = sqrt(cr_dot(wt, wt));
    if (pn > 0.0 && size > lambda / 3.0 * limit) {
        crVec3 d = cr_madd(cr_scale(lambda / 3.0, pt), lambda / 3.0 * limit / size, moved);
        slip = sqrt(cr_dot(d, d));
    }
    if (!(pn > 0.0)) slip = lambda / 3.0 * friction;
    audit->approach = larger(audit->approach, -wn);
    audit->complementarity = larger(audit->complementarity, fabs(wn * pn));
    audit->cone = larger(audit->cone, larger(-pn, friction - limit));
    audit->dissipation = larger(audit->dissipation, slip);
}

static void witness_chunk(void* ctx, int begin, int end) {
    const Audit* a = ctx;
    const crStep* step = a->step;
    Worst* worst = &a->worst[begin / CHUNK];
    int cursor = cr__step_warm_from(step, &step->contacts[begin]);
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts[i];
        Witness* out = &a->witness[i];
        crVec3 n = c->point.normal;
        out->hold = OUT;
        if (!a->takes[i] && a->passes != NULL && a->passes[i]) continue;
        double mu = c->surface->surface.mu;
        double share_a = mobility(step, c->body_a, c->point.point);
        double share_b = mobility(step, c->body_b, c->point.point), lambda = share_a + share_b;
        out->b = bias(a, c, &cursor);
        out->s_a = sqrt(share_a);
        out->s_b = sqrt(share_b);
        out->u_free = relative(step, step->v_free, c);
        out->u = relative(step, step->state.v, c);
        crVec3 w = cr_madd(out->u, out->b, n);
        if (!a->takes[i]) {
            out->P = out->d = cr_vec3(0, 0, 0);
            out->hold = OPEN;
        } else if (plain(&c->surface->surface)) {
            make_plain(mu, lambda, n, c->impulse, w, out);
        } else {
            out->hold = GENERAL;
        }
        if (a->takes[i]) publish(c, isinf(mu) ? 1e300 : mu, lambda, w, &worst->audit);
        worst->seen += 0.0 * (cr_dot(w, w) + cr_dot(c->impulse, c->impulse) + lambda);
    }
}

// general contacts

static crBlock block_of(const crStepContact* c) {
    const crSurface* s = &c->surface->surface;
    int tangents = c->planar ? 1 : 2;
    crBlock block = cr_block(CR_BLOCK_CONE, 0, 1 + tangents);
    block.mu = s->mu;
    block.mu2 = isnan(s->mu2) || c->planar ? s->mu : s->mu2;
    block.spin = s->mu_spin > 0.0;
    block.roll = s->mu_roll > 0.0;
    block.mu_spin = s->mu_spin;
    block.mu_roll = s->mu_roll;
    block.count += (block.spin ? 1 : 0) + (block.roll ? 2 : 0);
    block.vertex_count = c->planar ? 0 : s->vertex_count;
    return block;
}

static crVec3 turning(const crStep* step, const double* v, const crStepContact* c) {
    return cr_sub(cr__step_twist(step, v, c->body_b).omega, cr__step_twist(step, v, c->body_a).omega);
}

// velocities of the rows of a general contact by v, bias included
static void general_velocity(const Audit* a, const General* g, const double* v, double* w) {
    const crStepContact* c = &a->step->contacts[g->contact];
    crVec3 u = cr_madd(relative(a->step, v, c), a->witness[g->contact].b, c->point.normal);
    crVec3 omega = turning(a->step, v, c);
    int at = c->planar ? 2 : 3;
    for (int k = 0; k < at; k++) {
        w[k] = cr_dot(cr_mat3_column(g->frame, k), u);
    }
    if (g->block.spin) w[at++] = cr_dot(cr_mat3_column(g->frame, 0), omega);
    if (g->block.roll) {
        w[at++] = cr_dot(cr_mat3_column(g->frame, 1), omega);
        w[at++] = cr_dot(cr_mat3_column(g->frame, 2), omega);
    }
}

static double turn_mobility(const crStep* step, int body) {
    double least = step->model->bodies[body].principal[0];
    return cr__moves(step->model, body) && least > 0.0 ? 1.0 / least : 0.0;
}

static void make_general(const Audit* a, General* g, double (*vertices)[2]) {
    const crStep* step = a->step;
    const crStepContact* c = &step->contacts[g->contact];
    Witness* out = &a->witness[g->contact];
    const crSurface* s = &c->surface->surface;
    double w[ROWS], p[ROWS] = {0};
    g->block = block_of(c);
    g->frame = cr__step_frame(step, c);
    int linear = c->planar ? 2 : 3;
    double lambda = out->s_a * out->s_a + out->s_b * out->s_b;
    for (int k = 0; k < g->block.count; k++) {
        bool moment = k >= linear;
        g->weight[k] = moment ? turn_mobility(step, c->body_a) + turn_mobility(step, c->body_b) : lambda / 3.0;
        p[k] = moment ? (c->row >= 0 ? step->p[c->row + k] : 0.0)
                      : cr_dot(cr_mat3_column(g->frame, k), c->impulse);
    }
    crProblem polygon = {.vertices = (const double(*)[2])vertices};
    for (int k = 0; k < g->block.vertex_count; k++) {
        vertices[k][0] = c->surface->polygon_scale * s->vertices[k][0];
        vertices[k][1] = c->surface->polygon_scale * s->vertices[k][1];
    }
    general_velocity(a, g, step->state.v, w);
    cr__witness_make(&polygon, &g->block, g->weight, p, w, g->p, g->held);
    out->P = cr_vec3(0, 0, 0);
    for (int k = 0; k < linear; k++) {
        out->P = cr_madd(out->P, g->p[k], cr_mat3_column(g->frame, k));
    }
}

static crVec3 general_moment(const Audit* a, const General* g) {
    int at = a->step->contacts[g->contact].planar ? 2 : 3;
    crVec3 moment = cr_vec3(0, 0, 0);
    if (g->block.spin) moment = cr_scale(g->p[at++], cr_mat3_column(g->frame, 0));
    if (g->block.roll) {
        moment = cr_madd(moment, g->p[at], cr_mat3_column(g->frame, 1));
        moment = cr_madd(moment, g->p[at + 1], cr_mat3_column(g->frame, 2));
    }
    return moment;
}

static crStatus make_generals(Audit* a) {
    int count = 0, most = 1;
    for (int i = 0; i < a->step->contact_count; i++) {
        if (a->witness[i].hold != GENERAL) continue;
        int corners = a->step->contacts[i].surface->surface.vertex_count;
        most = corners > most ? corners : most;
        count++;
    }
    if (count == 0) return CR_OK;
    a->general = cr_arena_alloc(&a->step->scratch, (size_t)count * sizeof *a->general);
    double(*vertices)[2] = cr_arena_alloc(&a->step->scratch, (size_t)most * sizeof *vertices);
    if (a->general == NULL || vertices == NULL) return CR_ERR_MEMORY;
    for (int i = 0; i < a->step->contact_count; i++) {
        if (a->witness[i].hold != GENERAL) continue;
        General* g = &a->general[a->general_count++];
        *g = (General){.contact = i};
        make_general(a, g, vertices);
    }
    return CR_OK;
}

// v^ = v_free + M^-1 J^T P^

static void add_impulse(const crStep* step, int body, crVec3 point, crVec3 P, crVec3 moment, double* g) {
    if (!cr__moves(step->model, body)) return;
    const crBody* own = &step->model->bodies[body];
    if (!own->single) {
        cr_model_add_force(step->model, &step->dynamics, body, point, P, moment, g);
        return;
    }
    double* at = g + own->v;
    crVec3 r = cr_sub(point, step->dynamics.origin[body]);
    cr__store_vec(cr_add(cr__load_vec(at), P), at);
    cr__store_vec(cr_add(cr__load_vec(at + 3), cr_add(cr_cross(r, P), moment)), at + 3);
}

static bool is_tie(const crBlock* block) { return block->source < 0; }

// witness of loops and joints at the velocities of the state
static crStatus make_ties(Audit* a) {
    const crStep* step = a->step;
    const crProblem* problem = &step->problem;
    int rows = step->rows.count;
    if (rows == 0) return CR_OK;
    a->tie_p = cr_arena_alloc(&a->step->scratch, (size_t)rows * sizeof *a->tie_p);
    a->tie_held = cr_arena_alloc(&a->step->scratch, (size_t)rows * sizeof *a->tie_held);
    double* w = cr_arena_alloc(&a->step->scratch, 2 * (size_t)rows * sizeof *w);
    if (a->tie_p == NULL || a->tie_held == NULL || w == NULL) return CR_ERR_MEMORY;
    double* weight = w + rows;
    cr_rows_velocity(&step->rows, step->state.v, w);
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        int r = block->row;
        if (!is_tie(block)) continue;
        for (int k = r; k < r + block->count; k++) {
            w[k] += step->b[k];
            weight[k] = 0.0;
            for (int e = step->H.start[k]; e < step->H.start[k + 1]; e++) {
                weight[k] += step->H.value[e] * step->H.value[e];
            }
        }
        cr__witness_make(problem, block, weight + r, step->p + r, w + r, a->tie_p + r, a->tie_held + r);
    }
    return CR_OK;
}

static void add_ties(const Audit* a, double* g) {
    const crStep* step = a->step;
    for (int i = 0; a->tie_p != NULL && i < step->problem.block_count; i++) {
        const crBlock* block = &step->problem.blocks[i];
        if (!is_tie(block)) continue;
        for (int r = block->row; r < block->row + block->count; r++) {
            for (int k = step->rows.start[r]; k < step->rows.start[r + 1]; k++) {
                g[step->rows.col[k]] += step->rows.value[k] * a->tie_p[r];
            }
        }
    }
}

static crStatus finish_velocity(crStep* step, crPart part, crDynamics* d, void* ctx) {
    double* v = ctx;
    cr__part_mass_solve(step->model, part, d, v);
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &step->model->bodies[cr__part_body(part, k)];
        for (int i = body->v; i < body->v + body->nv; i++) {
            v[i] += step->v_free[i];
        }
    }
    return CR_OK;
}

static crStatus find_velocity(Audit* a) {
    crStep* step = a->step;
    int next = 0;
    crVec3 none = cr_vec3(0, 0, 0);
    memset(a->v, 0, (size_t)step->model->nv * sizeof *a->v);
    memset(a->pull, 0, (size_t)step->model->nb * sizeof *a->pull);
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        const Witness* w = &a->witness[i];
        if (w->hold == OUT || w->hold == OPEN) continue;
        crVec3 moment = w->hold == GENERAL ? general_moment(a, &a->general[next++]) : none;
        double size = cr_norm(w->P);
        a->pull[c->body_a] += w->s_a * size;
        a->pull[c->body_b] += w->s_b * size;
        add_impulse(step, c->body_a, c->point.point, cr_neg(w->P), cr_neg(moment), a->v);
        add_impulse(step, c->body_b, c->point.point, w->P, moment, a->v);
    }
    add_ties(a, a->v);
    return cr__step_by_bodies(step, finish_velocity, a->v);
}

// islands and their scales

static int island_of(const Audit* a, int body) {
    return cr__forest_find(a->root, a->step->model->bodies[body].root);
}

static int contact_island(const Audit* a, const crStepContact* c) {
    return island_of(a, cr__moves(a->step->model, c->body_b) ? c->body_b : c->body_a);
}

// the same once roots are direct: nothing is written
static int flat_island(const Audit* a, const crStepContact* c) {
    const crModel* model = a->step->model;
    return a->root[model->bodies[cr__moves(model, c->body_b) ? c->body_b : c->body_a].root];
}

static int tie_island(const Audit* a, const crBlock* block) {
    const crRows* rows = &a->step->rows;
    int first = rows->start[block->row], end = rows->start[block->row + block->count];
    return first < end ? island_of(a, a->step->model->dof_body[rows->col[first]]) : -1;
}

static void find_islands(Audit* a) {
    const crStep* step = a->step;
    const crModel* model = step->model;
    for (int i = 0; i < model->nb; i++) {
        a->root[i] = i;
        a->scale[i] = a->energy[i] = 0.0;
    }
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (a->takes[i]) cr__forest_join_trees(model, a->root, c->body_a, c->body_b);
    }
    for (int k = 0; k < step->part_loop_count; k++) {
        const crLoop* loop = &model->loops[step->part_loops[k]];
        cr__forest_join_trees(model, a->root, loop->a, loop->b);
    }
}

static void raise(double* scale, double value) {
    if (value > *scale) *scale = value;
}

static void find_scales(Audit* a) {
    const crStep* step = a->step;
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        const Witness* w = &a->witness[i];
        if (!a->takes[i]) continue;
        double* scale = &a->scale[contact_island(a, c)];
        double free = cr_dot(c->point.normal, w->u_free), closing = -(free + w->b);
        raise(scale, c->delta / a->h);
        if (!(closing > 0.0)) continue;
        crVec3 slip = cr_madd(w->u_free, -free, c->point.normal);
        double mu = c->surface->surface.mu, speed = cr_norm(slip);
        raise(scale, closing);
        raise(scale, speed < mu * closing ? speed : mu * closing);
    }
    for (int i = 0; a->tie_p != NULL && i < step->problem.block_count; i++) {
        const crBlock* block = &step->problem.blocks[i];
        int island = is_tie(block) ? tie_island(a, block) : -1;
        if (island < 0) continue;
        for (int r = block->row; r < block->row + block->count; r++) {
            double size = step->size[step->model->dof_body[step->rows.col[step->rows.start[block->row]]]];
            raise(&a->scale[island], step->h * cr_norm(step->model->gravity));
            raise(&a->scale[island], step->settings.deadband * size / a->h);
            if (block->kind == CR_BLOCK_EQUALITY) raise(&a->scale[island], fabs(step->problem.u_free[r]));
        }
    }
}

// figures

static double over(double x, double scale) { return x > 0.0 ? x / scale : x == 0.0 ? 0.0 : x; }

static void count_defect(double eta, double floor, double scale, double far, Worst* worst) {
    crAudit* audit = &worst->audit;
    audit->residual = larger(audit->residual, over(eta, scale));
    audit->most = larger(audit->most, over(eta + floor, scale));
    if (eta > floor) audit->least = larger(audit->least, over(eta - floor, scale));
    audit->eta = larger(audit->eta, eta);
    audit->floor = larger(audit->floor, floor);
    worst->far = larger(worst->far, far);
    worst->seen += 0.0 * (eta + floor);
}

static double floor_of(const Audit* a, const crStepContact* c, const Witness* w) {
    double pulled = w->s_a * a->pull[c->body_a] + w->s_b * a->pull[c->body_b];
    if (!(pulled > 0.0)) return 0.0;
    return 16.0 * EPS * (cr_norm(w->u_free) + fabs(w->b) + pulled);
}

// share of the contact's size that gaps must change by, rounding included
static double far_of(const Audit* a, const crStepContact* c, double eta) {
    return a->h * eta * a->step->settings.deadband / c->delta;
}

static void judge_chunk(void* ctx, int begin, int end) {
    const Audit* a = ctx;
    const crStep* step = a->step;
    Worst* worst = &a->worst[begin / CHUNK];
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts[i];
        const Witness* w = &a->witness[i];
        if (w->hold == OUT || w->hold == GENERAL) continue;
        bool noise, noise_state;
        crVec3 n = c->point.normal, at = cr_madd(relative(step, a->v, c), w->b, n);
        double floor = floor_of(a, c, w), square = defect_plain(w, n, at, floor, &noise);
        // the state's own velocities must obey the laws as well
        double eta = sqrt(larger(square, defect_plain(w, n, cr_madd(w->u, w->b, n), floor, &noise_state)));
        if (!noise && !noise_state) floor = 0.0;
        worst->audit.permits = larger(worst->audit.permits, -cr_dot(n, at));
        double scale = a->scale[flat_island(a, c)];
        if (!(scale > 0.0)) scale = c->delta / a->h;
        count_defect(eta, floor, scale, far_of(a, c, eta + floor), worst);
    }
}

static void judge_generals(Audit* a, Worst* worst) {
    const crStep* step = a->step;
    for (int i = 0; i < a->general_count; i++) {
        const General* g = &a->general[i];
        const crStepContact* c = &step->contacts[g->contact];
        double w[ROWS], floor[ROWS];
        general_velocity(a, g, a->v, w);
        for (int k = 0; k < g->block.count; k++) {
            floor[k] = floor_of(a, c, &a->witness[g->contact]);
        }
        crDefect defect = cr__witness_defect(&g->block, g->weight, g->held, w, floor);
        double eta = sqrt(defect.square), noise = sqrt(defect.floor);
        worst->audit.permits = larger(worst->audit.permits, defect.permits);
        count_defect(eta, noise, a->scale[contact_island(a, c)], far_of(a, c, eta + noise), worst);
    }
}

static crStatus judge_ties(Audit* a, Worst* worst) {
    crStep* step = a->step;
    int rows = step->rows.count;
    if (a->tie_p == NULL) return CR_OK;
    double* w = cr_arena_alloc(&step->scratch, (size_t)rows * sizeof *w);
    double* floor = cr_arena_alloc(&step->scratch, (size_t)rows * sizeof *floor);
    if (w == NULL || floor == NULL) return CR_ERR_MEMORY;
    cr_rows_velocity(&step->rows, a->v, w);
    for (int r = 0; r < rows; r++) {
        double sum = fabs(step->problem.u_free[r]) + fabs(step->b[r]);
        for (int k = step->rows.start[r]; k < step->rows.start[r + 1]; k++) {
            int j = step->rows.col[k];
            sum += fabs(step->rows.value[k]) * (fabs(a->v[j]) + fabs(step->v_free[j]));
        }
        w[r] += step->b[r];
        floor[r] = 64.0 * EPS * sum;
    }
    for (int i = 0; i < step->problem.block_count; i++) {
        const crBlock* block = &step->problem.blocks[i];
        int r = block->row, island = is_tie(block) ? tie_island(a, block) : -1;
        if (island < 0) continue;
        crDefect defect = cr__witness_defect(block, w + r, a->tie_held + r, w + r, floor + r);
        double eta = sqrt(defect.square), noise = sqrt(defect.floor);
        double size = step->size[step->model->dof_body[step->rows.col[step->rows.start[r]]]];
        double far = size > 0.0 ? a->h * (eta + noise) / size : 0.0;
        count_defect(eta, noise, a->scale[island], far, worst);
    }
    return CR_OK;
}

// work of the contacts of each island; what is positive was created
static double created(Audit* a) {
    const crStep* step = a->step;
    double sum = 0.0;
    for (int i = 0; i < step->contact_count; i++) {
        const Witness* w = &a->witness[i];
        if (w->hold == OUT || w->hold == OPEN) continue;
        const crStepContact* c = &step->contacts[i];
        crVec3 both = cr_add(w->u_free, w->u);
        a->energy[contact_island(a, c)] += 0.5 * cr_dot(c->impulse, both);
    }
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        if (a->energy[b] > 0.0) sum += a->energy[b];
    }
    return sum;
}

// work of driven bodies through the contacts
static void add_drive(crStep* step) {
    for (int i = 0; step->cache->given_count > 0 && i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        cr__audit_drive(step, c->body_a, c->body_b, c->point.point, c->impulse);
    }
}

// v of the state against v^
static void judge_momentum(Audit* a, Worst* worst) {
    const crStep* step = a->step;
    const crModel* model = step->model;
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        if (!cr__moves(model, b)) continue;
        double scale = a->scale[island_of(a, b)];
        // no contact acts on it: v = v_free to the last bit
        crTwist was = cr__step_twist(step, step->state.v, b), is = cr__step_twist(step, a->v, b);
        crVec3 turn = cr_sub(was.omega, is.omega), com = cr_sub(step->dynamics.com[b], step->dynamics.origin[b]);
        crVec3 off = cr_sub(cr__twist_at(was, com), cr__twist_at(is, com));
        double eta = cr_norm(off) + step->size[b] * cr_norm(turn);
        double speed = cr_norm(was.v) + cr_norm(is.v) + step->size[b] * (cr_norm(was.omega) + cr_norm(is.omega));
        double share = sqrt(mobility(step, b, step->dynamics.com[b]));
        double floor = 64.0 * EPS * (speed + share * a->pull[b]);
        worst->audit.momentum = larger(worst->audit.momentum, eta);
        if (!(eta > floor)) continue;
        count_defect(eta, floor, scale > 0.0 ? scale : speed, 0.0, worst);
    }
}

static void merge(const Worst* from, Worst* to) {
    const crAudit* f = &from->audit;
    crAudit* t = &to->audit;
    t->residual = larger(f->residual, t->residual);
    t->least = larger(f->least, t->least);
    t->most = larger(f->most, t->most);
    t->eta = larger(f->eta, t->eta);
    t->floor = larger(f->floor, t->floor);
    t->permits = larger(f->permits, t->permits);
    t->approach = larger(f->approach, t->approach);
    t->cone = larger(f->cone, t->cone);
    t->dissipation = larger(f->dissipation, t->dissipation);
    t->complementarity = larger(f->complementarity, t->complementarity);
    to->far = larger(from->far, to->far);
    to->seen += from->seen;
}

static crOutcome outcome_of(const crStep* step, const Worst* worst) {
    double tol = cr_step_tol(&step->settings);
    if (!(worst->seen == 0.0)) return CR_OUTCOME_LIMIT;
    if (worst->audit.most <= tol) return CR_OUTCOME_SOLVED;
    if (worst->far <= step->settings.shift) return CR_OUTCOME_NEAR;
    return worst->audit.least <= tol ? CR_OUTCOME_UNSURE : CR_OUTCOME_LIMIT;
}

static crStatus create(Audit* a) {
    const crStep* step = a->step;
    crArena* arena = &a->step->scratch;
    size_t nb = (size_t)step->model->nb, chunks = (size_t)step->contact_count / CHUNK + 2;
    a->witness = cr_arena_alloc(arena, ((size_t)step->contact_count + 1) * sizeof *a->witness);
    a->pull = cr_arena_alloc(arena, nb * sizeof *a->pull);
    a->v = cr_arena_alloc(arena, (size_t)(step->model->nv + 1) * sizeof *a->v);
    a->root = cr_arena_alloc(arena, nb * sizeof *a->root);
    a->scale = cr_arena_alloc(arena, nb * sizeof *a->scale);
    a->energy = cr_arena_alloc(arena, nb * sizeof *a->energy);
    a->worst = cr_arena_alloc(arena, chunks * sizeof *a->worst);
    if (a->witness == NULL || a->pull == NULL || a->v == NULL || a->root == NULL || a->scale == NULL ||
        a->energy == NULL || a->worst == NULL) {
        return CR_ERR_MEMORY;
    }
    memset(a->worst, 0, chunks * sizeof *a->worst);
    return CR_OK;
}

static crStatus run(Audit* a) {
    crStep* step = a->step;
    int count = step->contact_count, chunks = count / CHUNK + 1;
    crStatus status = create(a);
    if (status != CR_OK) return status;
    find_islands(a);
    cr__tasks_for(step->tasks, count, CHUNK, witness_chunk, a);
    status = make_generals(a);
    if (status == CR_OK) status = make_ties(a);
    if (status == CR_OK) status = find_velocity(a);
    if (status != CR_OK) return status;
    find_scales(a);
    // roots become direct, so that threads only read
    for (int i = 0; i < step->model->nb; i++) {
        a->root[i] = cr__forest_find(a->root, i);
    }
    cr__tasks_for(step->tasks, count, CHUNK, judge_chunk, a);
    Worst worst = {0};
    for (int i = 0; i < chunks; i++) {
        merge(&a->worst[i], &worst);
    }
    judge_generals(a, &worst);
    status = judge_ties(a, &worst);
    if (status != CR_OK) return status;
    judge_momentum(a, &worst);
    worst.audit.distance = a->h * worst.audit.eta;
    if (!(worst.seen == 0.0)) worst.audit.residual = worst.audit.eta = (double)INFINITY;
    step->certificate.energy_created += created(a);
    add_drive(step);
    cr__audit_merge(step, &worst.audit, outcome_of(step, &worst));
    return CR_OK;
}

crStatus cr__audit_contacts(crStep* step, double h, const bool* takes, const bool* passes) {
    size_t mark = cr_arena_mark(&step->scratch);
    Audit a = {.step = step, .h = h, .takes = takes, .passes = passes};
    crStatus status = run(&a);
    cr_arena_release(&step->scratch, mark);
    return status;
}
