// snapshot_check.c - whether the numbers of a snapshot can be a state of this model.
//
// The hash of a snapshot tells damage from health; anyone can recompute it. So that no snapshot, forged or
// not, leads a step out of its arrays, every number is checked for itself: numbers are finite, quaternions
// unit, indices of shapes, pieces and bodies exist, contact forces are sorted as contacts are, and bodies that
// sleep together are whole trees with the loops between them.
// Fails: CR_ERR_FINITE, CR_ERR_UNIT or CR_ERR_RANGE with the field's name and index.
#include <stdio.h>

#include "model/spatial.h"
#include "world/snapshot.h"

static crStatus refuse(crError* error, crStatus status, const char* list, int index, const char* member,
                       double value, const char* allowed) {
    char field[48];
    snprintf(field, sizeof field, "%s[%d].%s", list, index, member);
    return cr_error_set(error, status, field, "%s: is %g, must be %s", field, value, allowed);
}

static crStatus check_state(const crWorld* world, const crSnapshot* s, crError* error) {
    const crModel* model = world->step.model;
    crStatus status = cr__state_check_values(model, &s->state, error);
    for (int i = 0; i < world->step.ties.count && status == CR_OK; i++) {
        if (!isfinite(s->tie_force[i])) {
            status = cr_error_set(error, CR_ERR_FINITE, "tie_force", "tie_force[%d]: is %g, must be finite",
                                  i, s->tie_force[i]);
        }
    }
    return status;
}

// how many children a shape's contacts can name
static int pieces(const crShape* shape) {
    int count = 1;
    if (shape->kind == CR_SHAPE_MESH) count = cr_mesh_def(shape->data.mesh).triangle_count;
    if (shape->kind == CR_SHAPE_COMPOUND) cr_compound_children(shape->data.compound, &count);
    if (shape->kind == CR_SHAPE_HEIGHTFIELD) {
        crHeightFieldDef field = cr_heightfield_def(shape->data.field);
        count = 2 * (field.nx - 1) * (field.ny - 1);
    }
    return count;
}

static crStatus check_warm(const crModel* model, const crSnapshot* s, int i, crError* error) {
    const crWarm* w = &s->warm[i];
    const int shapes[2] = {w->shape_a, w->shape_b}, children[2] = {w->child_a, w->child_b};
    const char* const names[2] = {"shape_a", "shape_b"};
    const char* const child_names[2] = {"child_a", "child_b"};
    for (int k = 0; k < 2; k++) {
        if (shapes[k] < 0 || shapes[k] >= model->shape_count || (k == 1 && shapes[1] <= shapes[0])) {
            return refuse(error, CR_ERR_RANGE, "warm", i, names[k], shapes[k],
                          k == 0 ? "the index of a shape" : "the index of a shape after shape_a");
        }
        if (children[k] < 0 || children[k] >= pieces(&model->shapes[shapes[k]].shape)) {
            return refuse(error, CR_ERR_RANGE, "warm", i, child_names[k], children[k],
                          "the index of a piece of its shape");
        }
    }
    if (!cr_vec3_finite(w->force)) {
        return refuse(error, CR_ERR_FINITE, "warm", i, "force", w->force.x + w->force.y + w->force.z,
                      "finite");
    }
    if (i > 0 && cr__warm_order(&s->warm[i - 1], w) > 0) {
        return refuse(error, CR_ERR_RANGE, "warm", i, "shape_a", w->shape_a,
                      "sorted by shapes, children and features");
    }
    return CR_OK;
}

static crStatus check_sleep(const crModel* model, const crSnapshot* s, int b, crError* error) {
    const crSleep* own = &s->sleep[b];
    if (!(own->slow >= 0.0) || !isfinite(own->slow)) {
        return refuse(error, CR_ERR_RANGE, "sleep", b, "slow", own->slow, ">= 0 and finite");
    }
    if (!(own->overlap >= 0.0) || !isfinite(own->overlap)) {
        return refuse(error, CR_ERR_RANGE, "sleep", b, "overlap", own->overlap, ">= 0 and finite");
    }
    bool moves = cr__moves(model, b);
    bool awake = own->island == 0;
    if (!awake &&
        !(moves && own->island > 0 && own->island <= b && s->sleep[own->island].island == own->island)) {
        return refuse(error, CR_ERR_RANGE, "sleep", b, "island", own->island,
                      "0, or the first body that sleeps with it");
    }
    if (moves && own->island != s->sleep[model->bodies[b].root].island) {
        return refuse(error, CR_ERR_RANGE, "sleep", b, "island", own->island, "that of its tree");
    }
    bool carried = own->carrier > 0 && own->carrier < model->nb && !cr__moves(model, own->carrier) &&
                   model->bodies[own->carrier].base != CR_WORLD;
    if (own->carrier != 0 && !carried) {
        return refuse(error, CR_ERR_RANGE, "sleep", b, "carrier", own->carrier, "0, or a driven body");
    }
    return CR_OK;
}

static crStatus check_sleep_of_loop(const crModel* model, const crSnapshot* s, int i, crError* error) {
    int a = model->loops[i].a, b = model->loops[i].b;
    if (!cr__moves(model, a) || !cr__moves(model, b) || s->sleep[a].island == s->sleep[b].island)
        return CR_OK;
    return refuse(error, CR_ERR_RANGE, "sleep", b, "island", s->sleep[b].island,
                  "that of the body it is tied to");
}

crStatus cr__snapshot_check(const crWorld* world, const crSnapshot* snapshot, crError* error) {
    const crModel* model = world->step.model;
    crStatus status = check_state(world, snapshot, error);
    for (int i = 0; i < snapshot->warm_count && status == CR_OK; i++) {
        status = check_warm(model, snapshot, i, error);
    }
    if (snapshot->sleep == NULL) return status;
    for (int b = 0; b < model->nb && status == CR_OK; b++) {
        status = check_sleep(model, snapshot, b, error);
    }
    for (int i = 0; i < model->loop_count && status == CR_OK; i++) {
        status = check_sleep_of_loop(model, snapshot, i, error);
    }
    return status;
}
