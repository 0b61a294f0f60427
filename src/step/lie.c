// lie.c - islands at rest are not computed.
//
// A step leaves an island at rest as it was (lie_down.c), so later steps leave the island out: it lies. A
// lying island gets up, i.e. is computed again, as soon as a contact within the margins joins it to an awake
// body, or the user writes its q, v or forces (world.c). It takes part in no stage. Its contacts keep their
// impulses, which are audited against v = 0 each time the set of lying contacts changes. States, forces and
// certificates have the same bits as in a world that computes every island in every step.
// Fails: CR_ERR_MEMORY.
#include "step/lie.h"

#include <string.h>

#include "base/room.h"
#include "model/spatial.h"
#include "resolve/kinds.h"
#include "step/audit.h"
#include "step/clocks.h"

static bool bounces(const crSurface* s, bool reads_et) {
    return s->e != 0.0 || s->e_of_speed != NULL || s->by_impact != NULL || (reads_et && s->et != 0.0);
}

// true if model and settings allow islands to lie
static bool may_lie(const crStep* step) {
    const crModel* model = step->model;
    const crStepSettings* s = &step->settings;
    bool reads_et, alike = cr__step_solves_alike(s, &reads_et);
    bool may = alike && s->method == CR_METHOD_CONE && s->sleep_time <= 0.0 &&
               s->solver.solve == cr__solver(&cr__solver_auto, NULL).solve && !step->plan->pulls &&
               step->plan->given_count == 0 && model->nu == 0 && model->load_count == 0;
    for (int i = 0; i < model->material_count && may; i++) {
        may = !bounces(&model->materials[i].surface, reads_et);
    }
    for (int i = 0; i < model->pair_count && may; i++) {
        may = !bounces(&model->pairs[i].surface, reads_et);
    }
    return may;
}

crStatus cr__lie_create(const crStep* step, crArena* store, crStepLying* lying) {
    lying->island = cr__zeros(store, step->model->nb, sizeof(int));
    lying->may = may_lie(step);
    return lying->island != NULL ? CR_OK : CR_ERR_MEMORY;
}

static bool lies(const crStepLying* lying, int body) { return lying->island[body] != 0; }

// Drops the contacts of islands that got up.
static void drop_contacts(const crStep* step, crStepLying* lying) {
    int kept = 0;
    for (int i = 0; i < lying->contact_count; i++) {
        const crStepContact* c = &lying->contacts[i];
        if (lies(lying, cr__step_mover(step, c->body_a, c->body_b))) lying->contacts[kept++] = *c;
    }
    lying->contact_count = kept;
    lying->audited = false;
}

void cr__lie_end(crStepLying* lying, int nb) {
    if (lying->count == 0) return;
    memset(lying->island, 0, (size_t)nb * sizeof *lying->island);
    lying->count = lying->contact_count = 0;
    lying->audited = false;
}

void cr__lie_end_marked(const crStep* step, crStepLying* lying) {
    for (int b = 1; b < step->model->nb; b++) {
        int island = lying->island[b];
        if (island == 0 || step->work.mark[island] == 0) continue;
        lying->island[b] = 0;
        lying->count--;
    }
    memset(step->work.mark, 0, (size_t)step->model->nb * sizeof *step->work.mark);
    drop_contacts(step, lying);
}

// If one of two bodies lies and the other moves and is awake, marks the lying one's island and returns true.
static bool mark_met(const crStep* step, int a, int b) {
    bool lies_a = lies(&step->rest.lying, a), lies_b = lies(&step->rest.lying, b);
    if (lies_a == lies_b || !cr__moves(step->model, lies_a ? b : a)) return false;
    step->work.mark[step->rest.lying.island[lies_a ? a : b]] = 1;
    return true;
}

void cr__lie_look(const crStep* step, crStepLying* lying) {
    const crPairs* pairs = step->pairs;
    bool any = false;
    for (int i = 0; i < pairs->count && lying->count > 0; i++) {
        const crNear* near = &pairs->near[i];
        if (lies(lying, near->body_a) == lies(lying, near->body_b)) continue;
        if (!cr__pairs_boxes_apart(pairs, near)) any = mark_met(step, near->body_a, near->body_b) || any;
    }
    if (any) cr__lie_end_marked(step, lying);
}

// the lying bodies, written to `bodies` (lying.count)
static crPart list_lying(const crStep* step, int* bodies) {
    crPart part = {bodies, 0};
    for (int b = 1; b < step->model->nb && part.count < step->rest.lying.count; b++) {
        if (lies(&step->rest.lying, b)) bodies[part.count++] = b;
    }
    return part;
}

crStatus cr__lie_keep_near(crStep* step, crError* error) {
    crStepLying* lying = &step->rest.lying;
    if (lying->count == 0) return CR_OK;
    size_t mark = cr_arena_mark(&step->scratch);
    int* bodies;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(bodies, lying->count))) return cr__step_memory(error);
    crPart part = list_lying(step, bodies);
    for (int k = 0; k < part.count; k++) {
        step->pairs->margin[bodies[k]] = cr__step_margin(step, step->free.h, bodies[k]);
    }
    // A query between two steps poses bodies by q before the check normalizes it: the last bits may differ.
    cr__part_kinematics(step->model, part, &step->state, &step->dynamics);
    crStatus status = CR_OK;
    if (lying->fresh) status = cr__pairs_move(step->pairs, NULL, part, &step->dynamics, error);
    lying->fresh = false;
    cr_arena_release(&step->scratch, mark);
    return status;
}

bool cr__lie_touched(const crStep* step, crStepLying* lying) {
    bool any = false;
    if (lying->count == 0) return false;
    for (int i = 0; i < step->contacts.count; i++) {
        any = mark_met(step, step->contacts.list[i].body_a, step->contacts.list[i].body_b) || any;
    }
    if (any) cr__lie_end_marked(step, lying);
    return any;
}

// input of the contact audit for the lying islands
typedef struct Kept {
    bool* takes;            // (contact_count)
    crVec3 *u_free, *u;     // (contact_count)
    int *islands, *bodies;  // (nb)
    int island_count, body_count;
} Kept;

static crStatus kept_create(crArena* arena, int count, int nb, Kept* kept) {
    *kept = (Kept){0};
    bool ok = CR_ROOMS(arena, CR_ROOM(kept->takes, count), CR_ROOM(kept->u_free, count),
                       CR_ROOM(kept->u, count), CR_ROOM(kept->islands, nb), CR_ROOM(kept->bodies, nb));
    return ok ? CR_OK : CR_ERR_MEMORY;
}

// u_free is that of the step that found the island at rest; u follows from v = 0.
static void fill(const crStep* step, Kept* kept) {
    const crStepLying* lying = &step->rest.lying;
    for (int b = 0; b < step->model->nb; b++) {
        kept->islands[b] = -1;
    }
    for (int b = 1; b < step->model->nb; b++) {
        int island = lying->island[b];
        if (island == 0) continue;
        if (kept->islands[island] < 0) kept->islands[island] = kept->island_count++;
        kept->islands[b] = kept->islands[island];
        kept->bodies[kept->body_count++] = b;
    }
    for (int i = 0; i < lying->contact_count; i++) {
        const crStepContact* c = &lying->contacts[i];
        kept->takes[i] = c->takes;
        kept->u[i] = cr__step_contact_velocity(step, step->state.v, c);
        kept->u_free[i] = cr__step_contact_velocity(step, step->free.v, c);
    }
}

// Audits the lying contacts alone.
static crStatus audit_lying(crStep* step, double h) {
    crStepLying* lying = &step->rest.lying;
    size_t mark = cr_arena_mark(&step->scratch);
    Kept kept;
    crStatus status = kept_create(&step->scratch, lying->contact_count + 1, step->model->nb, &kept);
    if (status == CR_OK) {
        fill(step, &kept);
        crStep view = *step;
        crClocks clocks = *step->clocks;
        clocks.closed = true;
        view.clocks = &clocks;
        view.part = view.awake = (crStepPart){.count = kept.body_count, .bodies = kept.bodies};
        view.contacts.list = lying->contacts;
        view.contacts.count = lying->contact_count;
        view.posed = (crStepPosed){0};
        view.certificate = (crCertificate){.outcome = CR_OUTCOME_SOLVED, .contacts = lying->contact_count};
        status = cr__audit_contacts(&view, h, kept.takes, NULL, kept.u_free, kept.u, kept.islands,
                                    kept.island_count);
        lying->certificate = view.certificate;
        step->scratch = view.scratch;
    }
    for (int i = 0; i < lying->contact_count && status == CR_OK; i++) {
        const crStepContact* c = &lying->contacts[i];
        lying->certificate.rows += CR_LIE_ROWS * kept.takes[i];
        lying->certificate.penetration = fmax(lying->certificate.penetration, -c->point.gap);
    }
    lying->audited = status == CR_OK;
    cr_arena_release(&step->scratch, mark);
    return status;
}

void cr__lie_show(const crStepLying* lying, crStepContacts* contacts) {
    if (contacts->count > 0 || lying->contact_count == 0) return;
    contacts->list = lying->contacts;
    contacts->count = lying->contact_count;
}

crStatus cr__lie_certify(crStep* step, double h) {
    if (step->rest.lying.count == 0) return CR_OK;
    crStatus status = step->rest.lying.audited ? CR_OK : audit_lying(step, h);
    if (status == CR_OK) cr__audit_add(&step->certificate, &step->rest.lying.certificate);
    return status;
}
