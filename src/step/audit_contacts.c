// audit_contacts.c - the audit of one contact solve of the cone method, island by island.
//
// Witness impulses P^ are made of the contacts' impulses (see problem/witness.c: open, stick or slip, here with
// vectors instead of rows), and velocities v^ = v_free + M^-1 J^T P^ follow from them through the factor of M. The
// laws are checked at the state's own v: the distance of J v + b to what they allow beside P^. By how much v differs
// from v^ is the momentum figure; the distance at v^ is no more than the two together, which is eta. Bias, friction
// and directions come from the contacts and their surfaces.
// W_ii is taken of the bodies as if they were free, which is the larger: it decides only which witness is made.
// Rounding floors as in problem/audit.c, 16 eps (|u_free| + |b| + s_a A_a + s_b A_b), A the sum of s |P| over the
// contacts of a body, s = sqrt(trace of its share of W) at its farthest point.
// Fails: CR_ERR_MEMORY. What is not finite makes every figure infinite.
#include <string.h>

#include "base/tasks.h"
#include "model/spatial.h"
#include "problem/witness.h"
#include "step/audit.h"
#include "step/cache.h"

#define CHUNK 256  // contacts that one thread takes at a time
#define EPS   0x1p-52
#define ROWS  6  // of a contact at most

// what was decided about a contact
typedef enum Hold { OUT, OPEN, STICK, SLIP, FREE, GENERAL } Hold;

typedef struct Witness {
    crVec3 P;       // on b
    double b;       // bias of the normal velocity, m/s
    double lambda;  // trace of W at the contact, bodies taken as free, 1/kg
    double eta2;    // defect at the state's velocities, squared
    Hold hold;
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
    double eta2, share2;  // eta squared, and over the scale of its island squared
    double floor, noise;  // rounding floor, and over the scale
    double far;           // eta h over the contact's size, squared
    double permits, approach, cone, complementarity;
    double dissipation2;  // squared
    double momentum;
    double seen;  // 0 where everything is a number
} Worst;

typedef struct Audit {
    crStep* step;
    double h;
    const bool *takes, *passes;
    const crVec3 *u_free, *u;  // velocities of the contacts by v_free and by the state's v (contact_count)
    const int* island;         // of each body, -1: no contact, loop or joint acts on it (nb)
    Witness* witness;          // (contact_count)
    int general_count;
    General* general;
    double* pliant;  // s of each body, at any of its points at most (nb)
    double* pull;    // A of each body (nb)
    double* v;       // v^ (nv)
    double*
        off;  // by how much the state's velocity of each body differs from v^, m/s; 0 within rounding (nb)
    int island_count;
    double* scale;     // of each island (island_count)
    double* energy;    // likewise: work of its contacts, J (island_count)
    double* terms;     // likewise: sizes of the terms of that work, J (island_count)
    double* tie_p;     // witness of rows of loops and joints (rows.count)
    crHeld* tie_held;  // (rows.count)
    Worst* worst;      // of each chunk
} Audit;

static double larger(double a, double b) { return a > b ? a : b; }

// trace of a free body's share of W at a point
static inline double mobility(const crStep* step, int body, crVec3 point) {
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

// velocity of a body's point by v; of the world nothing moves
static inline crVec3 point_velocity(const crStep* step, const double* v, int body, crVec3 point) {
    const crBody* own = &step->model->bodies[body];
    if (body == CR_WORLD) return cr_vec3(0, 0, 0);
    if (!own->single) return cr__step_point_velocity(step, v, body, point);
    const double* at = v + own->v;
    crVec3 r = cr_sub(point, step->dynamics.origin[body]);
    return cr_add(cr__load_vec(at), cr_cross(cr__load_vec(at + 3), r));
}

static inline crVec3 relative(const crStep* step, const double* v, const crStepContact* c) {
    return cr_sub(point_velocity(step, v, c->body_b, c->point.point),
                  point_velocity(step, v, c->body_a, c->point.point));
}

static int contact_island(const Audit* a, const crStepContact* c) {
    return a->island[cr__moves(a->step->model, c->body_b) ? c->body_b : c->body_a];
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

// normal and tangential parts of an impulse and of the velocity with its bias
typedef struct Parts {
    double pn, wn;
    crVec3 pt, wt;
} Parts;

// The witness of a contact with a disc of friction, and how far its velocity is from what the laws allow beside it.
static void make_plain(double mu, crVec3 n, const Parts* x, Witness* out) {
    double lambda = out->lambda, z_n = lambda > 0.0 ? x->pn - x->wn / lambda : 0.0;
    out->P = cr_vec3(0, 0, 0);
    out->hold = OPEN;
    out->eta2 = x->wn < 0.0 ? x->wn * x->wn : 0.0;
    if (!(z_n > 0.0) || !(x->pn > 0.0)) return;
    crVec3 z = cr_madd(x->pt, -1.0 / lambda, x->wt);
    double size2 = cr_dot(z, z), limit = mu * z_n, slip2 = cr_dot(x->wt, x->wt);
    out->P = cr_scale(x->pn, n);
    out->hold = FREE;
    out->eta2 = x->wn * x->wn;
    if (mu == 0.0) return;
    if (isinf(mu) || size2 <= limit * limit) {
        double friction2 = cr_dot(x->pt, x->pt), most = mu * x->pn;
        bool over = friction2 > most * most;
        out->hold = STICK;
        out->P = over ? cr_madd(out->P, most / sqrt(friction2), x->pt) : cr_add(out->P, x->pt);
        out->eta2 += slip2;
    } else {
        crVec3 d = cr_scale(1.0 / sqrt(size2), z);
        double along = cr_dot(x->wt, d);
        crVec3 across = along < 0.0 ? cr_madd(x->wt, -along, d) : x->wt;
        out->hold = SLIP;
        out->P = cr_madd(out->P, mu * x->pn, d);
        out->eta2 += cr_dot(across, across);
    }
}

// friction beyond its limit, or tension
static double beyond(double mu, double pn, crVec3 pt) {
    double limit = mu * larger(pn, 0.0), friction2 = cr_dot(pt, pt);
    if (!(friction2 > limit * limit)) return -pn;
    return larger(-pn, sqrt(friction2) - limit);
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
        out->lambda = mobility(step, c->body_a, c->point.point) + mobility(step, c->body_b, c->point.point);
        out->b = bias(a, c, &cursor);
        crVec3 w = cr_madd(a->u[i], out->b, n);
        worst->seen += 0.0 * (cr_dot(w, w) + cr_dot(c->impulse, c->impulse) + out->lambda);
        Parts x = {.pn = cr_dot(n, c->impulse), .wn = cr_dot(n, w)};
        x.pt = cr_madd(c->impulse, -x.pn, n);
        x.wt = cr_madd(w, -x.wn, n);
        worst->permits = larger(worst->permits, -x.wn);
        if (!a->takes[i]) {
            out->P = cr_vec3(0, 0, 0);
            out->hold = OPEN;
            out->eta2 = x.wn < 0.0 ? x.wn * x.wn : 0.0;
            continue;
        }
        worst->approach = larger(worst->approach, -x.wn);
        worst->complementarity = larger(worst->complementarity, fabs(x.wn * x.pn));
        out->hold = GENERAL;
        if (!plain(&c->surface->surface)) continue;
        make_plain(mu, n, &x, out);
        if (out->hold != OPEN) worst->dissipation2 = larger(worst->dissipation2, out->eta2 - x.wn * x.wn);
        if (!isinf(mu)) worst->cone = larger(worst->cone, beyond(mu, x.pn, x.pt));
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
    double lambda = out->lambda;
    for (int k = 0; k < g->block.count; k++) {
        bool moment = k >= linear;
        g->weight[k] =
            moment ? turn_mobility(step, c->body_a) + turn_mobility(step, c->body_b) : lambda / 3.0;
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
    memset(a->energy, 0, ((size_t)a->island_count + 1) * sizeof *a->energy);
    memset(a->terms, 0, ((size_t)a->island_count + 1) * sizeof *a->terms);
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        const Witness* w = &a->witness[i];
        if (w->hold == OUT || w->hold == OPEN) continue;
        crVec3 moment = w->hold == GENERAL ? general_moment(a, &a->general[next++]) : none;
        double size = fabs(w->P.x) + fabs(w->P.y) + fabs(w->P.z);
        a->pull[c->body_a] += a->pliant[c->body_a] * size;
        a->pull[c->body_b] += a->pliant[c->body_b] * size;
        int island = contact_island(a, c);
        crVec3 both = cr_add(a->u_free[i], a->u[i]);
        a->energy[island] += 0.5 * cr_dot(c->impulse, both);
        a->terms[island] +=
            fabs(c->impulse.x * both.x) + fabs(c->impulse.y * both.y) + fabs(c->impulse.z * both.z);
        add_impulse(step, c->body_a, c->point.point, cr_neg(w->P), cr_neg(moment), a->v);
        add_impulse(step, c->body_b, c->point.point, w->P, moment, a->v);
    }
    add_ties(a, a->v);
    return cr__step_by_bodies(step, finish_velocity, a->v);
}

// scales of islands

static int tie_island(const Audit* a, const crBlock* block) {
    const crRows* rows = &a->step->rows;
    int first = rows->start[block->row], end = rows->start[block->row + block->count];
    return first < end ? a->island[a->step->model->dof_body[rows->col[first]]] : -1;
}

static void raise(double* scale, double value) {
    if (value > *scale) *scale = value;
}

static void find_scales(Audit* a) {
    const crStep* step = a->step;
    double rate = 1.0 / a->h;
    memset(a->scale, 0, ((size_t)a->island_count + 1) * sizeof *a->scale);
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        const Witness* w = &a->witness[i];
        if (!a->takes[i]) continue;
        double* scale = &a->scale[contact_island(a, c)];
        double free = cr_dot(c->point.normal, a->u_free[i]), closing = -(free + w->b);
        raise(scale, rate * c->delta);
        if (!(closing > 0.0)) continue;
        raise(scale, closing);
        // friction has less to change than the normal impulse
        double mu = c->surface->surface.mu;
        if (mu <= 1.0) continue;
        crVec3 slip = cr_madd(a->u_free[i], -free, c->point.normal);
        double speed = cr_norm(slip);
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

// eta2: squared
static void count_defect(double eta2, double floor, double scale, double size, Worst* worst) {
    double share2 = eta2 > 0.0 ? eta2 / (scale * scale) : eta2;
    worst->eta2 = larger(worst->eta2, eta2);
    worst->share2 = larger(worst->share2, share2);
    worst->far = larger(worst->far, size > 0.0 ? eta2 / (size * size) : 0.0);
    if (floor > 0.0) {
        worst->floor = larger(worst->floor, floor);
        worst->noise = larger(worst->noise, floor / scale);
    }
    worst->seen += 0.0 * (eta2 + floor);
}

static double size1(crVec3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

static double floor_of(const Audit* a, int i) {
    const crStepContact* c = &a->step->contacts[i];
    double pulled = a->pliant[c->body_a] * a->pull[c->body_a] + a->pliant[c->body_b] * a->pull[c->body_b];
    if (!(pulled > 0.0)) return 0.0;
    return 16.0 * EPS * (size1(a->u_free[i]) + fabs(a->witness[i].b) + pulled);
}

// size of a contact's bodies over h: gaps may change by a share of it
static double size_of(const Audit* a, const crStepContact* c) {
    return c->delta / (a->step->settings.deadband * a->h);
}

static void judge_chunk(void* ctx, int begin, int end) {
    const Audit* a = ctx;
    const crStep* step = a->step;
    Worst* worst = &a->worst[begin / CHUNK];
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts[i];
        const Witness* w = &a->witness[i];
        if (w->hold == OUT || w->hold == GENERAL) continue;
        double floor = floor_of(a, i), off = a->off[c->body_a] + a->off[c->body_b], eta2 = w->eta2;
        if (off > 0.0) {
            // at v^ an open contact closes by no more than this
            double closing = off - (cr_dot(c->point.normal, a->u[i]) + w->b);
            double eta = w->hold == OPEN ? larger(0.0, closing) : sqrt(eta2) + off;
            eta2 = eta * eta;
        }
        // an open contact that is farther from closing than rounding is exact
        if (w->hold == OPEN && eta2 == 0.0 && cr_dot(c->point.normal, a->u[i]) + w->b > floor) floor = 0.0;
        int island = contact_island(a, c);
        double scale = island >= 0 ? a->scale[island] : 0.0;
        if (!(scale > 0.0)) scale = c->delta / a->h;
        count_defect(eta2, floor, scale, size_of(a, c), worst);
    }
}

static void judge_generals(Audit* a, Worst* worst) {
    const crStep* step = a->step;
    for (int i = 0; i < a->general_count; i++) {
        const General* g = &a->general[i];
        const crStepContact* c = &step->contacts[g->contact];
        double w[ROWS], floor[ROWS];
        general_velocity(a, g, step->state.v, w);
        for (int k = 0; k < g->block.count; k++) {
            floor[k] = floor_of(a, g->contact);
        }
        crDefect defect = cr__witness_defect(&g->block, g->weight, g->held, w, floor);
        double eta = sqrt(defect.square) + a->off[c->body_a] + a->off[c->body_b];
        worst->permits = larger(worst->permits, defect.permits);
        worst->dissipation2 = larger(worst->dissipation2, defect.square - w[0] * w[0]);
        count_defect(eta * eta, sqrt(defect.floor), a->scale[contact_island(a, c)], size_of(a, c), worst);
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
        double size = step->size[step->model->dof_body[step->rows.col[step->rows.start[r]]]] / a->h;
        count_defect(defect.square, sqrt(defect.floor), a->scale[island], size, worst);
    }
    return CR_OK;
}

// what the contacts of islands created
static double created(const Audit* a) {
    double sum = 0.0;
    for (int i = 0; i < a->island_count; i++) {
        if (a->energy[i] > 16.0 * EPS * a->terms[i]) sum += a->energy[i];
    }
    return sum;
}

// v of the state against v^
static void judge_momentum(Audit* a, Worst* worst) {
    const crStep* step = a->step;
    const crModel* model = step->model;
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        if (!cr__moves(model, b)) continue;
        // no contact acts on it: v = v_free to the last bit
        double scale = a->island[b] >= 0 ? a->scale[a->island[b]] : 0.0;
        if (model->bodies[b].single &&
            memcmp(step->state.v + model->bodies[b].v, a->v + model->bodies[b].v, 6 * sizeof *a->v) == 0) {
            continue;
        }
        crTwist was = cr__step_twist(step, step->state.v, b), is = cr__step_twist(step, a->v, b);
        crVec3 turn = cr_sub(was.omega, is.omega),
               com = cr_sub(step->dynamics.com[b], step->dynamics.origin[b]);
        crVec3 off = cr_sub(cr__twist_at(was, com), cr__twist_at(is, com));
        double eta = cr_norm(off) + step->size[b] * cr_norm(turn);
        double speed =
            cr_norm(was.v) + cr_norm(is.v) + step->size[b] * (cr_norm(was.omega) + cr_norm(is.omega));
        double floor = 64.0 * EPS * (speed + a->pliant[b] * a->pull[b]);
        worst->momentum = larger(worst->momentum, eta);
        if (!(eta > floor)) continue;
        a->off[b] = eta;
        count_defect(eta * eta, floor, scale > 0.0 ? scale : speed, 0.0, worst);
    }
}

static void merge(const Worst* from, Worst* to) {
    to->eta2 = larger(from->eta2, to->eta2);
    to->share2 = larger(from->share2, to->share2);
    to->floor = larger(from->floor, to->floor);
    to->noise = larger(from->noise, to->noise);
    to->far = larger(from->far, to->far);
    to->permits = larger(from->permits, to->permits);
    to->approach = larger(from->approach, to->approach);
    to->cone = larger(from->cone, to->cone);
    to->complementarity = larger(from->complementarity, to->complementarity);
    to->dissipation2 = larger(from->dissipation2, to->dissipation2);
    to->seen += from->seen;
}

// figures of all; the residual without rounding lies between least and most
static crAudit audit_of(const Audit* a, const Worst* w) {
    double inf = (double)INFINITY, residual = sqrt(w->share2);
    crAudit audit = {
        .residual = residual, .most = residual + w->noise, .least = larger(0.0, residual - w->noise)};
    audit.eta = sqrt(w->eta2);
    audit.floor = w->floor;
    audit.distance = a->h * audit.eta;
    audit.permits = w->permits;
    audit.momentum = w->momentum;
    audit.approach = w->approach;
    audit.cone = w->cone;
    audit.complementarity = w->complementarity;
    audit.dissipation = sqrt(w->dissipation2);
    if (!(w->seen == 0.0)) audit.residual = audit.most = audit.least = audit.eta = audit.distance = inf;
    return audit;
}

static crOutcome outcome_of(const crStep* step, const crAudit* audit, const Worst* worst) {
    double tol = cr_step_tol(&step->settings);
    if (audit->most <= tol) return CR_OUTCOME_SOLVED;
    if (isfinite(audit->eta) && sqrt(worst->far) <= step->settings.shift) return CR_OUTCOME_NEAR;
    return audit->least <= tol ? CR_OUTCOME_UNSURE : CR_OUTCOME_LIMIT;
}

// s of a body at its farthest point
static void find_pliant(Audit* a) {
    const crModel* model = a->step->model;
    for (int i = 0; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        double size = a->step->size[i], least = body->principal[0];
        a->pliant[i] = 0.0;
        if (!cr__moves(model, i) || !(body->mass > 0.0)) continue;
        a->pliant[i] = sqrt(3.0 / body->mass + (least > 0.0 ? 2.0 * size * size / least : 0.0));
    }
}

static crStatus create(Audit* a) {
    const crStep* step = a->step;
    crArena* arena = &a->step->scratch;
    size_t nb = (size_t)step->model->nb, chunks = (size_t)step->contact_count / CHUNK + 2;
    a->witness = cr_arena_alloc(arena, ((size_t)step->contact_count + 1) * sizeof *a->witness);
    a->pull = cr_arena_alloc(arena, nb * sizeof *a->pull);
    a->pliant = cr_arena_alloc(arena, nb * sizeof *a->pliant);
    a->off = cr_arena_alloc(arena, nb * sizeof *a->off);
    a->v = cr_arena_alloc(arena, (size_t)(step->model->nv + 1) * sizeof *a->v);
    a->scale = cr_arena_alloc(arena, ((size_t)a->island_count + 1) * sizeof *a->scale);
    a->energy = cr_arena_alloc(arena, ((size_t)a->island_count + 1) * sizeof *a->energy);
    a->terms = cr_arena_alloc(arena, ((size_t)a->island_count + 1) * sizeof *a->terms);
    a->worst = cr_arena_alloc(arena, chunks * sizeof *a->worst);
    if (a->witness == NULL || a->pull == NULL || a->pliant == NULL || a->off == NULL || a->v == NULL ||
        a->scale == NULL || a->energy == NULL || a->terms == NULL || a->worst == NULL) {
        return CR_ERR_MEMORY;
    }
    memset(a->worst, 0, chunks * sizeof *a->worst);
    memset(a->off, 0, nb * sizeof *a->off);
    find_pliant(a);
    return CR_OK;
}

static crStatus run(Audit* a) {
    crStep* step = a->step;
    int count = step->contact_count, chunks = count / CHUNK + 1;
    crStatus status = create(a);
    if (status != CR_OK) return status;
    cr__tasks_for(step->tasks, count, CHUNK, witness_chunk, a);
    status = make_generals(a);
    if (status == CR_OK) status = make_ties(a);
    if (status == CR_OK) status = find_velocity(a);
    if (status != CR_OK) return status;
    find_scales(a);
    Worst worst = {0};
    judge_momentum(a, &worst);
    cr__tasks_for(step->tasks, count, CHUNK, judge_chunk, a);
    for (int i = 0; i < chunks; i++) {
        merge(&a->worst[i], &worst);
    }
    judge_generals(a, &worst);
    status = judge_ties(a, &worst);
    if (status != CR_OK) return status;
    crAudit audit = audit_of(a, &worst);
    step->certificate.energy_created += created(a);
    cr__audit_drives(step);
    cr__audit_merge(step, &audit, outcome_of(step, &audit, &worst));
    return CR_OK;
}

crStatus cr__audit_contacts(crStep* step, double h, const bool* takes, const bool* passes,
                            const crVec3* u_free, const crVec3* u, const int* islands, int island_count) {
    size_t mark = cr_arena_mark(&step->scratch);
    Audit a = {.step = step, .h = h, .takes = takes, .passes = passes, .u_free = u_free, .u = u};
    a.island = islands;
    a.island_count = island_count;
    crStatus status = run(&a);
    cr_arena_release(&step->scratch, mark);
    return status;
}
