// drag.c - smooth tangential forces of touching contacts: viscous and Stribeck.
//
//     f = -c u_t / (1 + h c d w),   c = viscous / points + N 2 mu_stribeck / v_s / (1 + (|u_t| / v_s)^2)
//
// u_t is the slip at the beginning of the step, N the normal force of the contact in the last solve (0 if it
// carried none), w = u_t.W u_t / u_t.u_t of the contact alone, d the number of contacts with drag that act on
// its bodies. The touching points of a pair of shapes share its viscous coefficient, so the force does not
// depend on their number. The divisor makes the explicit force stable and dissipative for every h: with
// a = h c d w, |f_i W_ij f_j| is at most half of f_i W_ii f_i + f_j W_jj f_j, so h f.u + h^2 f.W f / 2 sums
// to terms h c u^2 (a / 2 - 1 - a) / (1 + a)^2 < 0. The divisor is 1 + O(h). W includes the joints' implicit
// springs and dampers.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "model/spatial.h"
#include "step/step.h"

typedef struct Drag {
    const crStepContact* contact;
    int row;     // first row of its tangents
    int count;   // number of its tangents
    int points;  // points that share the pair's viscous coefficient
} Drag;

static bool drags(const crStep* step, const crStepContact* c) {
    const crSurface* s = &c->surface->surface;
    if (!(s->viscous > 0.0) && !(s->mu_stribeck > 0.0)) return false;
    return c->point.gap <= c->delta || cr__step_warm(step, c) != NULL;
}

// Lists the contacts with drag and returns their number. Contacts of one pair are consecutive.
static int find_drags(const crStep* step, Drag* drag) {
    int count = 0, first = 0;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!drags(step, c)) continue;
        const crStepContact* before = count > 0 ? drag[count - 1].contact : NULL;
        bool same = before != NULL && cr__step_same_pair(before, c);
        if (!same) first = count;
        drag[count++] = (Drag){c, 0, 0, 0};
        for (int k = first; k < count; k++) {
            drag[k].points = count - first;
        }
    }
    return count;
}

static crStatus drag_rows(const crStep* step, crArena* arena, Drag* drag, int count, crRows* rows,
                          crRows* H) {
    crStatus status = cr_rows_create(arena, 2 * count, 2 * count * step->model->nv, rows);
    for (int i = 0; i < count && status == CR_OK; i++) {
        const crStepContact* c = drag[i].contact;
        crMat3 F = cr__step_frame(step, c);
        crMat3 tangents = cr_mat3_columns(cr_mat3_column(F, 1), cr_mat3_column(F, 2), cr_mat3_column(F, 0));
        drag[i].count = c->planar ? 1 : 2;
        drag[i].row = cr_rows_add_point(step->model, &step->dynamics, c->body_a, c->body_b, c->point.point,
                                        &tangents, drag[i].count, rows);
        if (drag[i].row < 0) status = (crStatus)drag[i].row;
    }
    return status == CR_OK ? cr_rows_half(step->model, &step->dynamics, rows, arena, H) : status;
}

// Counts the contacts that act on each tree.
static void count_roots(const crModel* model, const Drag* drag, int count, int* acting) {
    memset(acting, 0, (size_t)model->nb * sizeof *acting);
    for (int i = 0; i < count; i++) {
        int a = drag[i].contact->body_a, b = drag[i].contact->body_b;
        int ra = model->bodies[a].root, rb = model->bodies[b].root;
        if (cr__moves(model, a)) acting[ra]++;
        if (cr__moves(model, b) && !(cr__moves(model, a) && ra == rb)) acting[rb]++;
    }
}

static int coupled(const crModel* model, const Drag* drag, const int* acting) {
    int a = drag->contact->body_a, b = drag->contact->body_b;
    int ra = model->bodies[a].root, rb = model->bodies[b].root;
    if (!cr__moves(model, a)) return acting[rb];
    if (!cr__moves(model, b) || ra == rb) return acting[ra];
    return acting[ra] + acting[rb] - 1;
}

static double rate(const crStep* step, const Drag* drag, double slip) {
    const crStepContact* c = drag->contact;
    const crSurface* s = &c->surface->surface;
    const crWarm* warm = cr__step_warm(step, c);
    double N = warm != NULL ? fmax(0.0, cr_dot(warm->force, c->point.normal)) : 0.0;
    double ratio = slip / s->speed_stribeck;
    return s->viscous / drag->points + N * 2.0 * s->mu_stribeck / (s->speed_stribeck * (1.0 + ratio * ratio));
}

// |H^T u|^2 over the rows of one contact, which share their columns
static double quadratic(const crRows* H, const Drag* drag, const double* u) {
    int first = H->start[drag->row], width = H->start[drag->row + 1] - first;
    double sum = 0.0;
    for (int k = 0; k < width; k++) {
        double x = 0.0;
        for (int r = 0; r < drag->count; r++) {
            x += u[drag->row + r] * H->value[first + r * width + k];
        }
        sum += x * x;
    }
    return sum;
}

// Replaces the slips u by forces.
static void set_forces(const crStep* step, const Drag* drag, int count, const int* acting, double h,
                       const crRows* H, double* u) {
    for (int i = 0; i < count; i++) {
        double* own = u + drag[i].row;
        double slip2 = own[0] * own[0] + (drag[i].count == 2 ? own[1] * own[1] : 0.0);
        if (!(slip2 > 0.0)) continue;
        double w = quadratic(H, &drag[i], u) / slip2, c = rate(step, &drag[i], sqrt(slip2));
        double scale = -c / (1.0 + h * c * coupled(step->model, &drag[i], acting) * w);
        for (int r = 0; r < drag[i].count; r++) {
            own[r] *= scale;
        }
    }
}

crStatus cr_step_drag(crStep* step, double h, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    const crModel* model = step->model;
    size_t mark = cr_arena_mark(&step->scratch);
    int count = 0;
    for (int i = 0; i < step->contacts.count; i++) {
        count += drags(step, &step->contacts.list[i]);
    }
    if (count == 0) return CR_OK;
    Drag* drag;
    int* acting;
    double *f, *dv;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(drag, count), CR_ROOM(acting, model->nb), CR_ROOM(f, 2 * count),
                  CR_ZERO(dv, model->nv + 1)))
        return cr__step_memory(error);
    find_drags(step, drag);
    crRows rows, H;
    if (drag_rows(step, &step->scratch, drag, count, &rows, &H) != CR_OK) return cr__step_memory(error);
    count_roots(model, drag, count, acting);
    cr_rows_velocity(&rows, step->state.v, f);
    set_forces(step, drag, count, acting, h, &H, f);
    cr_rows_add_impulse(&rows, f, dv);
    for (int i = 0; i < model->nv; i++) {
        step->free.k[i] += dv[i];
    }
    cr_model_mass_solve(model, &step->dynamics, dv);
    for (int i = 0; i < model->nv; i++) {
        step->free.v[i] += h * dv[i];
    }
    cr_arena_release(&step->scratch, mark);
    return CR_OK;
}
