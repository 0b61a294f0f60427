// motion_gauss.c - Gauss-Newton for the misfit of tosses.
//
// Along a toss the derivatives X of the state by the parameters go on with the steps, X+ = J X + J_param (carom/wrt.h). At a
// sample r is the difference of the pose (position over length, rotation vector) over the scale, and the misfit
// r^2/(s + r^2), s the square of how much the scale is widened, has the weight s/(s + r^2)^2 in
//     (sum w J^T J + lambda D) dx = -sum w J^T r
// (iteratively reweighted least squares; Levenberg's and Marquardt's lambda). A step whose verdict is none ends the derivatives of
// its toss: later samples count in the misfit alone. So do those of a toss whose derivatives grew beyond GROWN.
// Standard errors: the information A of the result with the spread of its tosses' own gradients (A^-1 B A^-1).
// Fails: see motion_gauss.h.
#include "fit/motion_gauss.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dynamics.h"
#include "carom/wrt.h"
#include "fit/damped.h"
#include "fit/motion_parts.h"

#define BUDGET  30
#define SMALL   1e-6  // step in the cube at which a search ends
#define FLAT    1e-6  // of the misfit: less progress ends a search
#define DAMPING 1e-3
#define EARLY   0.4   // of a toss
#define FEW     6     // passes at a wide scale
#define COARSE  0.01  // step in the cube at which these end
#define LOST    0.3   // misfit of a descent that may have ended far off
#define SCAN    6     // places across the range of a parameter that no sample depends on
#define LOOKS   2
#define PROBE   1e-6  // of a value: how coefficients of pairs follow it
#define GROWN   30.0  // m or rad by a whole range: the motion has become chaotic

typedef struct Normal {
    double A[CR_SEARCH_DIM][CR_SEARCH_DIM];
    double g[CR_SEARCH_DIM];
    double B[CR_SEARCH_DIM][CR_SEARCH_DIM];  // sum over tosses of their own g g^T
    double misfit;
    int blind;
    double* own;  // g and A of each toss, or NULL
} Normal;

// one set of values: the scene, its derivatives, and a state
typedef struct Pass {
    const crMotionGauss* of;
    crScene scene;
    crWrt* wrt;
    crArena arena;
    crState state;
    int pairs;       // parameters of the crWrt
    double* follow;  // how much each follows each parameter, by place (pairs*dim)
    double *X, *d, *next;
    crDynamics dynamics;
} Pass;

typedef struct Coefficient {
    const char* name;
    crWrtParamKind kind;
    size_t place;  // in crSurface
} Coefficient;
static const Coefficient coefficients[] = {{"mu", CR_WRT_MU, offsetof(crSurface, mu)},
                                           {"e", CR_WRT_E, offsetof(crSurface, e)},
                                           {"et", CR_WRT_ET, offsetof(crSurface, et)},
                                           {"mu_spin", CR_WRT_MU_SPIN, offsetof(crSurface, mu_spin)},
                                           {"mu_roll", CR_WRT_MU_ROLL, offsetof(crSurface, mu_roll)}};

// NULL: none of them
static const Coefficient* coefficient_named(const char* name) {
    for (size_t i = 0; i < sizeof coefficients / sizeof coefficients[0]; i++) {
        if (strcmp(coefficients[i].name, name) == 0) return &coefficients[i];
    }
    return NULL;
}

bool cr_motion_gauss_can(const crMotionModel* m) {
    for (int i = 0; i < m->param_count; i++) {
        const crMotionParam* p = &m->params[i];
        if (p->path[0] != '\0' || coefficient_named(p->name) == NULL) return false;
    }
    crScene scene = {0};
    bool free = cr__motion_scene(m, NULL, &scene, NULL) == CR_OK &&
                scene.model->bodies[m->body].joint == CR_JOINT_FREE;
    cr_scene_free(&scene);
    return free && !m->tosses->planar;
}

static void values_at(const crMotionGauss* g, const double* x, double* values) {
    for (int i = 0; i < g->model->param_count; i++) {
        values[i] = cr_motion_param_value(&g->model->params[i], x[i]);
    }
}

// value by place
static double stretch(const crMotionParam* p, double x) {
    double h = 1e-6, lo = fmax(0.0, x - h), hi = fmin(1.0 - 1e-9, x + h);
    return (cr_motion_param_value(p, hi) - cr_motion_param_value(p, lo)) / (hi - lo);
}

static crStatus no_memory_gauss(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "fit", "fit: out of memory");
}

static double coefficient(const crModel* model, const Coefficient* of, int a, int b) {
    crContactSurface s;
    double x = 0.0;
    if (cr_model_surface(model, a, b, 0.0, &s) == CR_OK)
        memcpy(&x, (const char*)&s.surface + of->place, sizeof x);
    return x;
}

// parameters of pairs of materials, and how they follow those of the scene
static crStatus follow_params(Pass* p, const double* x, crError* error) {
    const crMotionModel* m = p->of->model;
    int dim = m->param_count, n = p->scene.model->material_count, all = dim * n * n;
    crWrtParam* params = cr_arena_alloc(&p->arena, ((size_t)all + 1) * sizeof *params);
    p->follow = cr_arena_alloc(&p->arena, ((size_t)all * (size_t)dim + 1) * sizeof(double));
    if (params == NULL || p->follow == NULL) return no_memory_gauss(error);
    for (int k = 0; k < dim; k++) {
        double values[CR_MOTION_PARAMS], by;
        values_at(p->of, x, values);
        by = PROBE * (1.0 + fabs(values[k]));
        if (values[k] + by > m->params[k].hi) by = -by;
        values[k] += by;
        crScene other = {0};
        crStatus status = cr__motion_scene(m, values, &other, error);
        if (status != CR_OK) return status;
        for (int a = 0; a < n; a++) {
            for (int b = a; b < n; b++) {
                const Coefficient* of = coefficient_named(m->params[k].name);
                double rate =
                    (coefficient(other.model, of, a, b) - coefficient(p->scene.model, of, a, b)) / by;
                if (rate == 0.0) continue;
                for (int i = 0; i < dim; i++) {
                    p->follow[p->pairs * dim + i] = i == k ? rate * stretch(&m->params[k], x[k]) : 0.0;
                }
                params[p->pairs++] = (crWrtParam){of->kind, a, b};
            }
        }
        cr_scene_free(&other);
    }
    return cr_wrt_params(p->wrt, p->pairs, params, error);
}

static void pass_destroy(Pass* p) {
    cr_wrt_destroy(p->wrt);
    cr_arena_destroy(&p->arena);
    cr_scene_free(&p->scene);
}

static crStatus pass_create(Pass* p, const crMotionGauss* g, const double* x, crError* error) {
    double values[CR_MOTION_PARAMS];
    *p = (Pass){.of = g};
    values_at(g, x, values);
    if (cr_arena_create(&p->arena, NULL, 0) != CR_OK) return no_memory_gauss(error);
    crStatus status = cr__motion_scene(g->model, values, &p->scene, error);
    crWorldDef def = cr_world_def();
    def.model = p->scene.model;
    def.step = p->scene.step;
    if (status == CR_OK) status = cr_wrt_create(&def, &p->wrt, error);
    if (status == CR_OK) status = follow_params(p, x, error);
    if (status != CR_OK) return status;
    size_t nv = (size_t)p->scene.model->nv, dim = (size_t)g->model->param_count;
    status = cr_state_create(p->scene.model, &p->arena, &p->state);
    if (status == CR_OK) status = cr_dynamics_create(p->scene.model, &p->arena, &p->dynamics);
    p->X = cr_arena_alloc(&p->arena, (2 * nv * dim + 1) * sizeof(double));
    p->next = cr_arena_alloc(&p->arena, (2 * nv + 1) * sizeof(double));
    p->d = cr_arena_alloc(&p->arena, (3 * nv + (size_t)p->pairs + 1) * sizeof(double));
    bool good = status == CR_OK && p->X != NULL && p->next != NULL && p->d != NULL;
    return good ? CR_OK : no_memory_gauss(error);
}

// X goes on over a step; false: there are no derivatives from here on
static bool carry_on(Pass* p) {
    size_t nv = (size_t)p->scene.model->nv;
    int dim = p->of->model->param_count;
    for (int k = 0; k < dim; k++) {
        double* x = p->X + 2 * nv * (size_t)k;
        crWrtVerdict verdict;
        memset(p->d, 0, (3 * nv + (size_t)p->pairs) * sizeof *p->d);
        memcpy(p->d, x, 2 * nv * sizeof *x);
        for (int i = 0; i < p->pairs; i++) {
            p->d[3 * nv + (size_t)i] = p->follow[i * dim + k];
        }
        if (cr_wrt_apply(p->wrt, &p->state, p->d, NULL, p->next, &verdict, NULL) != CR_OK) return false;
        if (verdict.verdict == CR_NO_DERIVATIVE) return false;
        memcpy(x, p->next, 2 * nv * sizeof *x);
        for (size_t i = 0; i < nv; i++) {
            if (!(fabs(x[i]) < GROWN)) return false;
        }
    }
    return true;
}

// a sample against the state: r (6) and its derivatives (6 by dim)
static void add_sample(Pass* p, const crTossSample* s, bool known, double share, Normal* n) {
    const crMotionModel* m = p->of->model;
    const crModel* model = p->scene.model;
    const crBody* body = &model->bodies[m->body];
    size_t nv = (size_t)model->nv;
    cr_model_kinematics(model, &p->state, &p->dynamics);
    crPose pose = p->dynamics.pose[m->body];
    crVec3 off = cr_sub(pose.p, s->pose.p);
    crQuat turn = cr_quat_mul(pose.q, cr_quat_conj(s->pose.q));
    double sine = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    double angle = cr_rotation_between(pose.q, s->pose.q), over = sine > 1e-12 ? angle / sine : 2.0;
    if (turn.w < 0.0) over = -over;
    double r[6] = {off.x / m->length, off.y / m->length, off.z / m->length,
                   over * turn.x,     over * turn.y,     over * turn.z};
    double far = 0.0, wide = p->of->wide * p->of->wide;
    for (int i = 0; i < 6; i++) {
        r[i] /= m->scale;
        far += r[i] * r[i];
    }
    n->misfit += share * far / (wide + far);
    n->blind += !known;
    if (!known) return;
    double w = share * wide / ((wide + far) * (wide + far)), J[6][CR_SEARCH_DIM];
    crVec3 arm = cr_quat_rotate(pose.q, body->com);
    for (int k = 0; k < m->param_count; k++) {
        const double* x = p->X + 2 * nv * (size_t)k + body->v;
        crVec3 theta = cr_vec3(x[3], x[4], x[5]),
               shift = cr_sub(cr_vec3(x[0], x[1], x[2]), cr_cross(theta, arm));
        const double row[6] = {
            shift.x / m->length, shift.y / m->length, shift.z / m->length, theta.x, theta.y, theta.z};
        for (int i = 0; i < 6; i++) {
            J[i][k] = row[i] / m->scale;
        }
    }
    for (int a = 0; a < m->param_count; a++) {
        for (int i = 0; i < 6; i++) {
            n->g[a] += w * J[i][a] * r[i];
            for (int b = 0; b < m->param_count; b++) {
                n->A[a][b] += w * J[i][a] * J[i][b];
            }
        }
    }
}

static crStatus run_toss(Pass* p, int index, Normal* n, crError* error) {
    const crMotionModel* m = p->of->model;
    const crToss* t = &m->tosses->tosses[index];
    const crTossSample* s = &m->tosses->samples[t->first];
    size_t nq = (size_t)p->scene.model->nq, nv = (size_t)p->scene.model->nv;
    double share = 1.0 / ((double)t->count * p->of->count);
    memcpy(p->state.q, p->scene.q, nq * sizeof(double));
    memcpy(p->state.v, p->scene.v, nv * sizeof(double));
    p->state.time = 0.0;
    memset(p->X, 0, 2 * nv * (size_t)m->param_count * sizeof *p->X);
    crStatus status = cr__motion_start(p->scene.model, m, s, &p->state);
    if (status != CR_OK) return no_memory_gauss(error);
    bool known = true, stands = false;
    int last = p->of->share > 0.0 ? (int)ceil(p->of->share * t->count) : t->count;
    add_sample(p, &s[0], known, share, n);
    for (int k = 1; k < last && status == CR_OK; k++) {
        double span = s[k].time - s[k - 1].time;
        double steps = m->substeps > 0 ? m->substeps : floor(span / p->scene.step.dt + (1.0 - 1e-6));
        steps = fmax(steps, 1.0);
        status = cr_wrt_set_dt(p->wrt, span / steps, error);
        for (int i = 0; i < (int)steps && status == CR_OK && !stands; i++) {
            known = known && carry_on(p);
            crStatus made = cr_wrt_step(p->wrt, &p->state, &p->state, NULL);
            // a step that is not solved as derivatives want it ends them; the state is not known from here on
            if (made != CR_OK) known = false;
            stands = made != CR_OK;
        }
        add_sample(p, &s[k], known, share, n);
    }
    return status;
}

static crStatus build(crMotionGauss* g, const double* x, Normal* n, crError* error) {
    Pass p;
    *n = (Normal){.own = n->own};
    crStatus status = pass_create(&p, g, x, error);
    int dim = g->model->param_count;
    for (int i = 0; i < g->count && status == CR_OK; i++) {
        Normal before = *n;
        status = run_toss(&p, g->in[i], n, error);
        double* own = n->own != NULL ? n->own + i * dim * (dim + 1) : NULL;
        for (int a = 0; a < dim; a++) {
            if (own != NULL) own[a] = n->g[a] - before.g[a];
            for (int b = 0; b < dim; b++) {
                n->B[a][b] += (n->g[a] - before.g[a]) * (n->g[b] - before.g[b]);
                if (own != NULL) own[dim + a * dim + b] = n->A[a][b] - before.A[a][b];
            }
        }
    }
    pass_destroy(&p);
    g->passes++;
    return status;
}

// A^-1 B A^-1: errors are shared within a toss, which begins where its first sample was measured
static void standard_errors(crMotionGauss* g, Normal* n) {
    int dim = g->model->param_count;
    for (int i = 0; i < dim; i++) {
        double unit[CR_SEARCH_DIM] = {0}, column[CR_SEARCH_DIM], square = 0.0;
        unit[i] = 1.0;
        bool known = g->count > dim && cr_damped_solve(dim, n->A, unit, column) && column[i] > 0.0;
        for (int a = 0; a < dim && known; a++) {
            for (int b = 0; b < dim; b++) {
                square += column[a] * n->B[a][b] * column[b];
            }
        }
        double place = known ? sqrt(square * g->count / (g->count - dim)) : (double)NAN;
        g->place[i] = place;
        g->se[i] = place < 1.0 ? place * fabs(stretch(&g->model->params[i], g->x[i])) : (double)NAN;
    }
}

// Looks across the range of parameters that no sample depends on (mu, where everything sticks), at most LOOKS times; n is that of
// g->x afterwards, moved says whether it changed.
static crStatus scan_dead(crMotionGauss* g, Normal* n, double** spare, int* looks, bool* moved,
                          crError* error) {
    int dim = g->model->param_count;
    double most = 0.0;
    crStatus status = CR_OK;
    *moved = false;
    for (int i = 0; i < dim; i++) {
        most = fmax(most, n->A[i][i]);
    }
    for (int i = 0; i < dim; i++) {
        if (looks[i] >= LOOKS || n->A[i][i] > 1e-12 * most) continue;
        looks[i]++;
        double to[CR_SEARCH_DIM];
        memcpy(to, g->x, sizeof to);
        for (int k = 0; k < SCAN && status == CR_OK; k++) {
            Normal there = {.own = *spare};
            to[i] = (k + 0.5) / SCAN;
            status = build(g, to, &there, error);
            if (status != CR_OK || !(there.misfit < n->misfit * (1.0 - FLAT))) continue;
            *spare = n->own;
            *n = there;
            *moved = true;
            g->x[i] = to[i];
        }
    }
    return status;
}

crStatus cr_motion_gauss(crMotionGauss* g, crError* error) {
    int budget = g->budget > 0 ? g->budget : BUDGET, end = g->passes + budget;
    double lambda = DAMPING, to[CR_SEARCH_DIM] = {0}, small = g->small > 0.0 ? g->small : SMALL;
    size_t dim = (size_t)g->model->param_count, half = (size_t)g->count * dim * (dim + 1);
    Normal n = {.own = g->own};
    double* spare = g->own != NULL ? g->own + half : NULL;
    if (!(g->wide > 0.0)) g->wide = 1.0;
    int looks[CR_SEARCH_DIM] = {0};
    bool moved = false;
    crStatus status = build(g, g->x, &n, error);
    if (status == CR_OK && budget > 1) status = scan_dead(g, &n, &spare, looks, &moved, error);
    g->converged = g->model->param_count == 0;
    while (status == CR_OK && !g->converged && g->passes < end) {
        Normal next = n;
        next.own = spare;
        double size = cr_damped_step(g->model->param_count, n.A, n.g, lambda, g->x, to);
        if (size > small) status = build(g, to, &next, error);
        if (status != CR_OK) break;
        bool better = next.misfit < n.misfit, flat = fabs(next.misfit - n.misfit) <= FLAT * n.misfit;
        g->converged = !(size > small) || (better && flat) || lambda > 1e6;
        lambda = better ? fmax(1e-9, 0.1 * lambda) : 10.0 * lambda;
        if (better) {
            spare = n.own;
            n = next;
            memcpy(g->x, to, sizeof to);
        }
        if (!g->converged) continue;
        status = scan_dead(g, &n, &spare, looks, &moved, error);
        g->converged = !moved;
        lambda = DAMPING;
    }
    g->misfit = n.misfit;
    g->blind = n.blind;
    if (status == CR_OK) standard_errors(g, &n);
    if (g->own != NULL && n.own != g->own) memcpy(g->own, n.own, half * sizeof *g->own);
    return status;
}

static crStatus descend_at(crMotionGauss* g, double wide, crError* error) {
    g->wide = wide;
    g->budget = wide > 1.0 ? FEW : 2 * FEW;
    g->small = wide > 1.0 ? COARSE : 0.0;
    return cr_motion_gauss(g, error);
}

// the beginning of each toss first: what comes later bends more the more it is changed
crStatus cr_motion_gauss_wide(crMotionGauss* g, crError* error) {
    g->share = EARLY;
    crStatus status = descend_at(g, 25.0, error);
    g->share = 0.0;
    return status == CR_OK ? descend_at(g, 25.0, error) : status;
}

crStatus cr_motion_gauss_narrow(crMotionGauss* g, crError* error) {
    crStatus status = descend_at(g, 1.0, error);
    if (status != CR_OK || !(g->misfit > LOST)) return status;
    status = descend_at(g, 5.0, error);
    return status == CR_OK ? descend_at(g, 1.0, error) : status;
}
