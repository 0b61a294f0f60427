// lie.c - islands at rest are not computed.
//
// An island is all bodies that contacts within their margins join. Where a step began with v = 0 and left its q, v and
// forces as they were (rest.c), the next step would do the same, so it is not made: the island lies. It gets up, and is
// computed again, as soon as a contact within the margins joins it to a body that does not lie, or the user writes its q, v
// or forces (world.c). What lies has no part in any stage, but its contacts with their impulses are kept, and audited
// whenever they change. No bit of q, v and forces differs from those of a world in which nothing may lie.
// Only free bodies lie, where no contact may be an impact and no coefficient depends on one.
// Fails: CR_ERR_MEMORY.
#include "step/lie.h"

#include <string.h>

#include "base/room.h"
#include "step/audit.h"
#include "step/clocks.h"

static bool lies(const crStep* step, int body) { return step->rest.lying.island[body] != 0; }

// contacts of what has got up are no longer kept
static void drop_contacts(crStep* step) {
    crStepLying* lying = &step->rest.lying;
    int kept = 0;
    for (int i = 0; i < lying->contact_count; i++) {
        const crStepContact* c = &lying->contacts[i];
        if (lies(step, cr__step_mover(step, c->body_a, c->body_b))) lying->contacts[kept++] = *c;
    }
    lying->contact_count = kept;
    lying->audited = false;
}

void cr__lie_end(crStep* step) {
    crStepLying* lying = &step->rest.lying;
    if (lying->count == 0) return;
    memset(lying->island, 0, (size_t)step->model->nb * sizeof *lying->island);
    lying->count = lying->contact_count = 0;
    lying->audited = false;
}

void cr__lie_end_marked(crStep* step) {
    crStepLying* lying = &step->rest.lying;
    for (int b = 1; b < step->model->nb; b++) {
        int island = lying->island[b];
        if (island == 0 || step->work.mark[island] == 0) continue;
        lying->island[b] = 0;
        lying->count--;
    }
    memset(step->work.mark, 0, (size_t)step->model->nb * sizeof *step->work.mark);
    drop_contacts(step);
}

// marks the island of the one of two bodies that lies where the other is awake
static bool mark_met(crStep* step, int a, int b) {
    bool lies_a = lies(step, a), lies_b = lies(step, b);
    if (lies_a == lies_b || !cr__moves(step->model, lies_a ? b : a)) return false;
    step->work.mark[step->rest.lying.island[lies_a ? a : b]] = 1;
    return true;
}

void cr__lie_look(crStep* step) {
    const crPairs* pairs = step->pairs;
    bool any = false;
    for (int i = 0; i < pairs->count && step->rest.lying.count > 0; i++) {
        const crNear* near = &pairs->near[i];
        if (lies(step, near->body_a) == lies(step, near->body_b)) continue;
        if (!cr__pairs_boxes_apart(pairs, near)) any = mark_met(step, near->body_a, near->body_b) || any;
    }
    if (any) cr__lie_end_marked(step);
}

crStatus cr__lie_keep_near(crStep* step, crError* error) {
    crStepLying* lying = &step->rest.lying;
    if (lying->count == 0) return CR_OK;
    size_t mark = cr_arena_mark(&step->scratch);
    int* bodies = cr_arena_alloc(&step->scratch, (size_t)lying->count * sizeof *bodies);
    if (bodies == NULL) return cr__step_memory(error);
    crPart part = {bodies, 0};
    for (int b = 1; b < step->model->nb; b++) {
        if (!lies(step, b)) continue;
        bodies[part.count++] = b;
        step->pairs->margin[b] = cr__step_margin(step, step->free.h, b);
    }
    crStatus status = CR_OK;
    if (lying->fresh) status = cr__pairs_move(step->pairs, NULL, part, &step->dynamics, error);
    lying->fresh = false;
    cr_arena_release(&step->scratch, mark);
    return status;
}

bool cr__lie_touched(crStep* step) {
    bool any = false;
    if (step->rest.lying.count == 0) return false;
    if (!step->clocks->plastic || step->pairs->by_impact) {
        cr__lie_end(step);
        return true;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        any = mark_met(step, step->contacts.list[i].body_a, step->contacts.list[i].body_b) || any;
    }
    if (any) cr__lie_end_marked(step);
    return any;
}

// Contacts of what lies now leave those of the step, and go among those kept, in order. CR_ERR_MEMORY.
static crStatus take_contacts(crStep* step) {
    crStepLying* lying = &step->rest.lying;
    int taken = 0, kept = 0;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        taken += lies(step, cr__step_mover(step, c->body_a, c->body_b));
    }
    void* all = lying->contacts;
    crStatus status = cr__grow(&step->own.allocator, &all, &lying->capacity, lying->contact_count,
                               lying->contact_count + taken, sizeof *lying->contacts);
    lying->contacts = all;
    if (status != CR_OK) return status;
    // from the end on: there is room behind those that are there
    int from = lying->contact_count - 1, to = lying->contact_count + taken - 1;
    lying->contact_count += taken;
    for (int i = step->contacts.count - 1; i >= 0; i--) {
        const crStepContact* c = &step->contacts.list[i];
        if (!lies(step, cr__step_mover(step, c->body_a, c->body_b))) continue;
        while (from >= 0 && !cr__step_pair_first(&lying->contacts[from], c)) {
            lying->contacts[to--] = lying->contacts[from--];
        }
        lying->contacts[to--] = *c;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        crStepContact* c = &step->contacts.list[i];
        if (!lies(step, cr__step_mover(step, c->body_a, c->body_b))) step->contacts.list[kept++] = *c;
    }
    step->contacts.count = kept;
    return CR_OK;
}

crStatus cr__lie_down(crStep* step, const int* islands, const bool* down) {
    crStepLying* lying = &step->rest.lying;
    for (int k = 0; k < step->awake.count; k++) {
        int b = step->awake.bodies[k];
        if (!cr__moves(step->model, b) || !down[islands[b]]) continue;
        lying->island[b] = islands[b];
        lying->count++;
    }
    lying->fresh = true;
    lying->audited = false;
    crStatus status = take_contacts(step);
    if (status != CR_OK) cr__lie_end(step);
    return status;
}

// inputs of the audit of contacts, of islands that lie
typedef struct Kept {
    bool *takes, *passes;   // (contact_count)
    crVec3 *u_free, *u;     // (contact_count)
    int *islands, *bodies;  // (nb)
    int island_count, body_count;
} Kept;

static crStatus kept_create(crStep* step, Kept* kept) {
    crArena* arena = &step->scratch;
    size_t count = (size_t)step->rest.lying.contact_count + 1, nb = (size_t)step->model->nb;
    *kept = (Kept){.takes = cr_arena_alloc(arena, count), .passes = cr_arena_alloc(arena, count)};
    kept->u_free = cr_arena_alloc(arena, count * sizeof *kept->u_free);
    kept->u = cr_arena_alloc(arena, count * sizeof *kept->u);
    kept->islands = cr_arena_alloc(arena, nb * sizeof *kept->islands);
    kept->bodies = cr_arena_alloc(arena, nb * sizeof *kept->bodies);
    bool ok = kept->takes != NULL && kept->passes != NULL && kept->u_free != NULL && kept->u != NULL &&
              kept->islands != NULL && kept->bodies != NULL;
    return ok ? CR_OK : CR_ERR_MEMORY;
}

// velocities without impulses are those of the last step that computed them; with impulses there are none
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
        crVec3 x = c->point.point;
        kept->takes[i] = c->takes;
        kept->passes[i] = false;
        kept->u[i] = cr_vec3(0, 0, 0);
        kept->u_free[i] = cr_sub(cr__step_point_velocity(step, step->free.v, c->body_b, x),
                                 cr__step_point_velocity(step, step->free.v, c->body_a, x));
    }
}

// the audit of contacts, over those that lie and nothing else
static crStatus audit_lying(crStep* step, double h) {
    crStepLying* lying = &step->rest.lying;
    size_t mark = cr_arena_mark(&step->scratch);
    Kept kept;
    crStatus status = kept_create(step, &kept);
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
        status = cr__audit_contacts(&view, h, kept.takes, kept.passes, kept.u_free, kept.u, kept.islands,
                                    kept.island_count);
        lying->certificate = view.certificate;
        step->scratch = view.scratch;
    }
    for (int i = 0; i < lying->contact_count && status == CR_OK; i++) {
        const crStepContact* c = &lying->contacts[i];
        lying->certificate.rows += kept.takes[i] ? cr__step_contact_rows(c) : 0;
        lying->certificate.penetration = fmax(lying->certificate.penetration, -c->point.gap);
    }
    lying->audited = status == CR_OK;
    cr_arena_release(&step->scratch, mark);
    return status;
}

void cr__lie_show(crStep* step) {
    if (step->contacts.count > 0 || step->rest.lying.contact_count == 0) return;
    step->contacts.list = step->rest.lying.contacts;
    step->contacts.count = step->rest.lying.contact_count;
}

crStatus cr__lie_certify(crStep* step, double h) {
    if (step->rest.lying.count == 0) return CR_OK;
    crStatus status = step->rest.lying.audited ? CR_OK : audit_lying(step, h);
    if (status == CR_OK) cr__audit_add(&step->certificate, &step->rest.lying.certificate);
    return status;
}
