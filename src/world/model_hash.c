// model_hash.c - what a snapshot is bound to: the hash of a model, and of the settings of its steps.
//
// Every number of the model that the motion depends on is hashed, field by field: gravity, bodies, joints,
// materials and their pairs, shapes with their vertices and heights, loops, filters, actuators, tendons. Names are not. A drive, a
// restitution function and a rule, law or solver are known by their being there and by their names: what the
// user's own functions do cannot be hashed. The number of threads does not change a result and is left out.
#include <string.h>

#include "base/bytes.h"
#include "carom/forms.h"
#include "carom/resolve.h"
#include "model/pull.h"
#include "world/world.h"

// every NaN has the same bytes
static void number(crBytes* out, double x) {
    if (isnan(x)) {
        cr__put_u64(out, UINT64_C(0x7ff8000000000000));
    } else {
        cr__put_double(out, x);
    }
}

static void numbers(crBytes* out, const double* x, int count) {
    cr__put_int(out, count);
    for (int i = 0; i < count; i++) {
        number(out, x[i]);
    }
}

static void vector(crBytes* out, crVec3 x) { numbers(out, (double[]){x.x, x.y, x.z}, 3); }

static void pose(crBytes* out, crPose x) {
    vector(out, x.p);
    numbers(out, (double[]){x.q.w, x.q.x, x.q.y, x.q.z}, 4);
}

static void text(crBytes* out, const char* x) {
    size_t length = x != NULL ? strlen(x) : 0;
    cr__put_u64(out, length);
    out->hash = cr_hash(out->hash, x, length);
}

static void body(crBytes* out, const crBody* b) {
    cr__put_int(out, b->parent);
    cr__put_int(out, (int)b->joint);
    pose(out, b->pose);
    vector(out, b->axis);
    vector(out, b->com);
    numbers(out,
            (double[]){b->mass, b->inertia.xx, b->inertia.xy, b->inertia.xz, b->inertia.yy, b->inertia.yz,
                       b->inertia.zz, b->gravity_scale, b->linear_drag, b->angular_drag},
            10);
    cr__put_int(out, b->drive != NULL);
}

static void dof(crBytes* out, const crDof* d) {
    numbers(out,
            (double[]){d->lower, d->upper, d->stiffness, d->rest, d->damping, d->friction, d->motor_force,
                       d->armature},
            8);
    if (d->force_lower < d->force_upper) numbers(out, (double[]){d->force_lower, d->force_upper}, 2);
}

static void curve(crBytes* out, const crCurve* c) {
    bool table = c != NULL && c->function == NULL;
    cr__put_int(out, c == NULL ? 0 : table ? 1 : 2);
    if (!table) return;
    cr__put_int(out, (int)c->by[0]);
    cr__put_int(out, c->rows);
    numbers(out, c->x, c->rows);
    if (c->columns > 1) {
        cr__put_int(out, (int)c->by[1]);
        numbers(out, c->y, c->columns);
    }
    numbers(out, c->value, c->rows * c->columns);
}

// nothing where no coefficient depends on the impact
static void by_impact(crBytes* out, const crByImpact* by) {
    if (by == NULL) return;
    curve(out, by->e);
    curve(out, by->et);
    curve(out, by->mu);
}

static void surface(crBytes* out, const crSurface* s) {
    numbers(out,
            (double[]){s->mu, isnan(s->mu2) ? s->mu : s->mu2, s->e, s->et, s->mu_spin, s->mu_roll, s->viscous,
                       s->mu_stribeck, s->speed_stribeck},
            9);
    vector(out, s->axis);
    for (int i = 0; i < s->vertex_count; i++) {
        numbers(out, s->vertices[i], 2);
    }
    by_impact(out, s->by_impact);
    if (s->law != NULL) text(out, s->law->name);
    const crRestitution* r = s->e_of_speed;
    bool table = r != NULL && r->function == NULL;
    cr__put_int(out, r == NULL ? 0 : table ? 1 : 2);
    if (!table) return;
    numbers(out, r->speed, r->count);
    numbers(out, r->e, r->count);
}

static void hull(crBytes* out, const crHull* h) {
    int count = 0;
    const crVec3* vertices = cr_hull_vertices(h, &count);
    cr__put_int(out, count);
    for (int i = 0; i < count; i++) {
        vector(out, vertices[i]);
    }
    const int* loop;
    for (int f = 0; (loop = cr_hull_face(h, f, &count)) != NULL; f++) {
        cr__put_int(out, count);
        for (int i = 0; i < count; i++) {
            cr__put_int(out, loop[i]);
        }
    }
}

static void mesh(crBytes* out, const crMeshDef m) {
    cr__put_int(out, m.vertex_count);
    for (int i = 0; i < m.vertex_count; i++) {
        vector(out, m.vertices[i]);
    }
    cr__put_int(out, m.triangle_count);
    for (int i = 0; i < m.triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            cr__put_int(out, m.triangles[i][k]);
        }
    }
}

static void field(crBytes* out, const crHeightFieldDef f) {
    cr__put_int(out, f.nx);
    numbers(out, (double[]){f.dx, f.dy}, 2);
    numbers(out, f.z, f.nx * f.ny);
}

static void shape(crBytes* out, const crShape* s) {
    cr__put_int(out, (int)s->kind);
    pose(out, s->pose);
    vector(out, s->size);
    number(out, s->offset);
    if (s->kind == CR_SHAPE_HULL) hull(out, s->data.hull);
    if (s->kind == CR_SHAPE_MESH) mesh(out, cr_mesh_def(s->data.mesh));
    if (s->kind == CR_SHAPE_HEIGHTFIELD) field(out, cr_heightfield_def(s->data.field));
    if (s->kind != CR_SHAPE_COMPOUND) return;
    int count = 0;
    // children are convex: this ends
    const crShape* children = cr_compound_children(s->data.compound, &count);
    cr__put_int(out, count);
    for (int i = 0; i < count; i++) {
        shape(out, &children[i]);
    }
}

static void loop(crBytes* out, const crLoop* l) {
    cr__put_int(out, (int)l->kind);
    cr__put_int(out, l->a);
    cr__put_int(out, l->b);
    pose(out, l->pose_a);
    pose(out, l->pose_b);
    numbers(out, (double[]){l->length, l->lower, l->upper}, 3);
    numbers(out, l->coef, 5);
}

static void actuator(crBytes* out, const crActuator* a) {
    for (int k = 0; k < a->dof_count; k++) {
        cr__put_int(out, a->dof[k]);
    }
    numbers(out, a->gear, a->dof_count);
    if (a->transmission != CR_ALONG_JOINTS) {
        const int choices[] = {(int)a->transmission, a->tendon, a->site, a->reference};
        for (int k = 0; k < 4; k++) {
            cr__put_int(out, choices[k]);
        }
        numbers(out, a->wrench, 6);
        numbers(out, (double[]){a->gear[0], a->rod}, 2);
    }
    numbers(out, a->gain, 3);
    numbers(out, a->bias, 3);
    numbers(out, (double[]){a->ctrl_lower, a->ctrl_upper, a->force_lower, a->force_upper}, 4);
    if (a->activation == CR_ACTIVATION_NONE) return;
    cr__put_int(out, (int)a->activation);
    numbers(out, (double[]){a->time_constant, a->act_lower, a->act_upper}, 3);
    if (a->early) cr__put_int(out, 1);
}

static void tendon(crBytes* out, const crTendon* t) {
    cr__put_int(out, t->joints);
    for (int k = 0; k < t->count; k++) {
        cr__put_int(out, t->item[k]);
    }
    numbers(out, t->coef, t->count);
    numbers(out, (double[]){t->stiffness, t->damping, t->rest_lower, t->rest_upper}, 4);
}

// tendons, and where the sites are that forces act at
static void lines(crBytes* out, const crModel* model) {
    for (int i = 0; i < model->tendon_count; i++) {
        tendon(out, &model->tendons[i]);
    }
    for (int i = 0; i < model->site_count && cr__model_pulls(model); i++) {
        cr__put_int(out, model->sites[i].body);
        pose(out, model->sites[i].volume.pose);
    }
}

uint64_t cr__model_hash(const crModel* model) {
    crBytes out = {NULL, CR_HASH_SEED};
    const int counts[] = {model->nb,          model->nv,         model->material_count, model->pair_count,
                          model->shape_count, model->loop_count, model->exclusion_count};
    for (int i = 0; i < 7; i++) {
        cr__put_int(&out, counts[i]);
    }
    vector(&out, model->gravity);
    for (int i = 0; i < model->nb; i++) {
        body(&out, &model->bodies[i]);
    }
    for (int i = 0; i < model->nv; i++) {
        dof(&out, cr_model_dof(model, i));
    }
    for (int i = 0; i < model->material_count; i++) {
        surface(&out, &model->materials[i].surface);
    }
    for (int i = 0; i < model->pair_count; i++) {
        cr__put_int(&out, model->pairs[i].a);
        cr__put_int(&out, model->pairs[i].b);
        surface(&out, &model->pairs[i].surface);
    }
    for (int i = 0; i < model->shape_count; i++) {
        const crBodyShape* s = &model->shapes[i];
        shape(&out, &s->shape);
        cr__put_int(&out, s->body);
        cr__put_int(&out, s->material);
        cr__put_u64(&out, s->group);
        cr__put_u64(&out, s->mask);
    }
    for (int i = 0; i < model->loop_count; i++) {
        loop(&out, &model->loops[i]);
    }
    for (int i = 0; i < model->exclusion_count; i++) {
        cr__put_int(&out, model->exclusions[i].a);
        cr__put_int(&out, model->exclusions[i].b);
    }
    // sensors change no motion
    for (int i = 0; i < model->nu; i++) {
        actuator(&out, &model->actuators[i]);
    }
    lines(&out, model);
    for (int i = 0; i < model->load_count; i++) {
        cr__put_int(&out, model->loads[i].body);
        cr__put_int(&out, model->loads[i].central + 2 * model->loads[i].turns);
        vector(&out, model->loads[i].point);
    }
    return out.hash;
}

uint64_t cr__settings_hash(const crStepSettings* s) {
    crBytes out = {NULL, CR_HASH_SEED};
    const int choices[] = {(int)s->method,  (int)s->level,       s->fixed_point,
                           s->directions,   (int)s->restitution, (int)s->toi,
                           (int)s->quality, s->impact_limit,     (int)s->locate};
    for (int i = 0; i < 9; i++) {
        cr__put_int(&out, choices[i]);
    }
    numbers(&out,
            (double[]){s->dt, s->theta, s->activation, s->tol, s->threshold, s->cluster, s->deadband,
                       s->position_tol, s->bound, s->sleep_time, s->sleep_speed},
            11);
    if (s->error > 0.0) numbers(&out, &s->error, 1);
    text(&out, s->rule.name);
    text(&out, s->law.name);
    text(&out, s->solver.name);
    return out.hash;
}
