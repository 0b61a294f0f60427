// audit_general.c - audit of contacts with other friction than a disc: polygons, ellipses, spin, rolling.
//
// Rows are n, t1, t2, spin, roll in the contact's frame; witness and defect are those of problem/witness.c.
// Fails: CR_ERR_MEMORY.
#include "model/spatial.h"
#include "step/audit_contacts.h"
#include "step/step.h"

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

// velocities of a contact's rows at the state's v, bias included
static void velocity(const crContactAudit* a, const crAuditGeneral* g, double* w) {
    const crStep* step = a->step;
    const crStepContact* c = &step->contacts.list[g->contact];
    crVec3 u = cr_madd(a->u[g->contact], g->bias, c->point.normal);
    crVec3 omega = cr_sub(cr__step_twist(step, step->state.v, c->body_b).omega,
                          cr__step_twist(step, step->state.v, c->body_a).omega);
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

static double turn_mobility(const crModel* model, int body) {
    double least = model->bodies[body].principal[0];
    return cr__moves(model, body) && least > 0.0 ? 1.0 / least : 0.0;
}

static void make_general(const crContactAudit* a, crAuditGeneral* g, double (*vertices)[2]) {
    const crStep* step = a->step;
    const crStepContact* c = &step->contacts.list[g->contact];
    const crSurface* s = &c->surface->surface;
    double w[CR_AUDIT_ROWS], p[CR_AUDIT_ROWS] = {0};
    double lambda =
        cr__audit_mobility(a, c->body_a, c->point.point) + cr__audit_mobility(a, c->body_b, c->point.point);
    int linear = c->planar ? 2 : 3;
    g->block = block_of(c);
    g->frame = cr__step_frame(step, c);
    g->bias = a->seen[g->contact].speed - cr_dot(c->point.normal, a->u[g->contact]);
    for (int k = 0; k < g->block.count; k++) {
        bool moment = k >= linear;
        g->weight[k] = moment ? turn_mobility(step->model, c->body_a) + turn_mobility(step->model, c->body_b)
                              : lambda / 3.0;
        p[k] = moment ? (c->row >= 0 ? step->posed.p[c->row + k] : 0.0)
                      : cr_dot(cr_mat3_column(g->frame, k), c->impulse);
    }
    crProblem polygon = {.vertices = (const double(*)[2])vertices};
    for (int k = 0; k < g->block.vertex_count; k++) {
        vertices[k][0] = c->surface->polygon_scale * s->vertices[k][0];
        vertices[k][1] = c->surface->polygon_scale * s->vertices[k][1];
    }
    velocity(a, g, w);
    cr__witness_make(&polygon, &g->block, g->weight, p, w, g->p, g->held);
    for (int k = 0; k < linear; k++) {
        g->P = cr_madd(g->P, g->p[k], cr_mat3_column(g->frame, k));
    }
    if (g->block.spin) g->T = cr_scale(g->p[linear++], cr_mat3_column(g->frame, 0));
    if (g->block.roll) {
        g->T = cr_madd(g->T, g->p[linear], cr_mat3_column(g->frame, 1));
        g->T = cr_madd(g->T, g->p[linear + 1], cr_mat3_column(g->frame, 2));
    }
}

crStatus cr__audit_generals(crContactAudit* a) {
    int count = 0, most = 1;
    for (int i = 0; i < a->step->contacts.count; i++) {
        if (a->seen[i].hold != CR_AUDIT_GENERAL) continue;
        int corners = a->step->contacts.list[i].surface->surface.vertex_count;
        most = corners > most ? corners : most;
        count++;
    }
    if (count == 0) return CR_OK;
    double(*vertices)[2];
    if (!CR_ROOMS(&a->step->scratch, CR_ROOM(a->general, count), CR_ROOM(vertices, most)))
        return CR_ERR_MEMORY;
    for (int i = 0; i < a->step->contacts.count; i++) {
        if (a->seen[i].hold != CR_AUDIT_GENERAL) continue;
        crAuditGeneral* g = &a->general[a->general_count++];
        *g = (crAuditGeneral){.contact = i};
        make_general(a, g, vertices);
    }
    return CR_OK;
}

void cr__audit_judge_generals(crContactAudit* a, crAuditWorst* worst) {
    const crStep* step = a->step;
    for (int i = 0; i < a->general_count; i++) {
        const crAuditGeneral* g = &a->general[i];
        const crStepContact* c = &step->contacts.list[g->contact];
        double w[CR_AUDIT_ROWS], floor[CR_AUDIT_ROWS];
        velocity(a, g, w);
        for (int k = 0; k < g->block.count; k++) {
            floor[k] = cr__audit_floor(a, g->contact);
        }
        crDefect defect = cr__witness_defect(&g->block, g->weight, g->held, w, floor);
        double eta = sqrt(defect.square) + a->body[c->body_a].off + a->body[c->body_b].off;
        worst->permits = cr__audit_larger(worst->permits, defect.permits);
        worst->dissipation2 = cr__audit_larger(worst->dissipation2, defect.square - w[0] * w[0]);
        cr__audit_count(eta * eta, sqrt(defect.floor), cr__audit_scale(a, g->contact),
                        c->delta / (step->settings.deadband * a->h), worst);
    }
}
