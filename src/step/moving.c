// moving.c - moving islands: one packing, eight short steps, positions in the same loop (packed_substeps.c).
//
// In quality fast, an island of more than ROWS rows (TREE_ROWS with trees) moves if more than one in SHARE of
// its contacts may act in the step and is faster than SPEED; up to FEW rows, whose converged solve is cheap and
// comes to rest sooner, faster than QUICK. Other islands are calm: the converged solve handles a few fast bodies
// in a heap at rest. Short steps solve a finer problem than that of the whole step,
// so they have a certificate of their own: impulses are in their cones, v+ = v_free + M^-1 J^T P, and no
// energy is created. Energy is enforced: corrections of positions lift bodies by no more than contacts
// dissipated, and impulses that would still create energy are scaled down together with the displacement they
// gave. Trees take part by rows (moving_trees.c); moving_run.c moves both.
// Fails: CR_ERR_MEMORY.
#include "step/moving.h"

#include <string.h>

#include "step/audit.h"
#include "step/forest.h"
#include "step/moving_trees.h"
#include "step/step.h"

// Rows of an island with contacts or bodies that short steps cannot take.
#define GENERAL (INT32_MIN / 4)

#define LOCATED    64      // bodies of an island up to which impacts are located in time
#define ROWS       24      // rows up to which an island stays calm: two bodies on faces
#define TREE_ROWS  12      // rows up to which one with trees stays calm, in models without actuators
#define SHARE      400     // contacts per fast contact of a moving island, at most
#define SPEED      0.0003  // normal speed of a fast contact, m/s
#define FEW        600     // rows of an island up to which its contacts have to be faster
#define QUICK      0.001   // their normal speed, m/s
#define TREE_SPEED 1e-5    // the same for contacts of trees, whose converged solves are expensive, m/s

// true if a contact may close in the step by v or by v_free, gravity added (bodies may be carried)
static bool acts(const crStep* step, const crStepContact* c) {
    double close = (c->point.gap - c->delta) / step->free.h - step->free.h * cr_norm(step->model->gravity);
    if (close <= -c->speed) return true;
    return close <= -cr_dot(cr__step_contact_velocity(step, step->free.v, c), c->point.normal);
}

#define CHUNK 256  // contacts per task

// facts of a contact that islands add up
typedef struct Note {
    int body;      // the body that its rows count for
    bool fast;     // true if it is fast
    bool takes;    // true if short steps can take it
    bool bounces;  // true if it may bounce
} Note;

typedef struct Notes {
    const crStep* step;
    Note* note;  // (contact_count)
} Notes;

static void take_notes(void* ctx, int begin, int end) {
    const Notes* notes = ctx;
    const crStep* step = notes->step;
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts.list[i];
        bool fast = fabs(c->speed) > (c->packable ? SPEED : TREE_SPEED);
        notes->note[i] = (Note){cr__step_mover(step, c->body_a, c->body_b), fast,
                                cr__moving_takes_contact(step, c), c->bounces};
    }
}

static bool contact_ends(const void* ctx, int i, int* a, int* b) {
    const crStep* step = ctx;
    const crStepContact* c = &step->contacts.list[i];
    *a = step->model->top[c->body_a];
    *b = step->model->top[c->body_b];
    // contacts of a pair are side by side
    bool again = i > 0 && c[-1].body_a == c->body_a && c[-1].body_b == c->body_b;
    return *a >= 0 && *b >= 0 && !again;
}

// islands of all contacts: the root of each body, and figures of each island at its root (nb)
typedef struct Islands {
    int* root;
    int* rows;  // GENERAL: short steps cannot take some of them
    int* bodies;
    int* fast;      // contacts that may act in the step and are fast
    bool* bounces;  // true if a contact may bounce
    bool* trees;    // true if some bodies are of trees
} Islands;

static bool islands_create(crArena* arena, int nb, Islands* islands) {
    return CR_ROOMS(arena, CR_ROOM(islands->root, nb), CR_ROOM(islands->rows, nb),
                    CR_ROOM(islands->bodies, nb), CR_ROOM(islands->fast, nb), CR_ROOM(islands->bounces, nb),
                    CR_ROOM(islands->trees, nb));
}

// Joins the bodies of contacts and loops. reach: islands of cr__step_reachable, as in cr__step_move_islands.
// These are the same islands, unless a user's force joins more or trees sleep. CR_ERR_MEMORY.
static crStatus join_contacts(const crStep* step, const int* reach, crArena* arena, int* root) {
    const crModel* model = step->model;
    bool all = step->plan->first_single <= 1 || step->part.count == model->nb - 1;
    if (reach[CR_WORLD] >= 0 && step->calls.force == NULL && all) {
        memcpy(root, reach, (size_t)model->nb * sizeof *root);
        return CR_OK;
    }
    cr__forest_begin(root, model->nb);
    for (int k = 0; k < step->part.loop_count; k++) {
        const crLoop* loop = &model->loops[step->part.loops[k]];
        cr__forest_join_trees(model, root, loop->a, loop->b);
    }
    return cr__forest_join_all(step->own.tasks, arena, step->contacts.count, contact_ends, step, model->nb,
                               root);
}

// Counts each contact at one of its bodies.
static void count_contacts(const crStep* step, const Note* note, const Islands* islands) {
    for (int b = 0; b < step->model->nb; b++) {
        islands->rows[b] = islands->bodies[b] = islands->fast[b] = 0;
        islands->bounces[b] = islands->trees[b] = false;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        int b = note[i].body, *rows = &islands->rows[b];
        *rows = note[i].takes && *rows >= 0 ? *rows + 3 : GENERAL;
        islands->bounces[b] = islands->bounces[b] || note[i].bounces;
    }
}

// true if enough contacts of an island are fast
static bool is_fast(const Islands* islands, int root) {
    return SHARE * islands->fast[root] * 3 > islands->rows[root];
}

// Counts fast contacts that may act in the step, of each island until they are enough.
static void count_fast(const crStep* step, const Note* note, const Islands* islands) {
    for (int i = 0; i < step->contacts.count; i++) {
        if (!note[i].fast) continue;
        int root = islands->root[note[i].body];
        const crStepContact* c = &step->contacts.list[i];
        if (islands->rows[root] <= FEW && c->packable && fabs(c->speed) <= QUICK) continue;
        if (!is_fast(islands, root)) islands->fast[root] += acts(step, c);
    }
}

// Sets moving[b] for bodies of moving islands. Returns true if there are any. Small islands that may bounce
// stay calm: their impacts are located in time.
static bool find_moving(const crStep* step, const Note* note, const Islands* islands, bool* moving) {
    const crModel* model = step->model;
    crLocate locate = step->settings.locate;
    bool any = false;
    memset(moving, 0, (size_t)model->nb * sizeof *moving);
    for (int b = model->nb - 1; b > 0; b--) {
        if (!cr__moves(model, b)) continue;
        int root = islands->root[b] = cr__forest_find(islands->root, model->bodies[b].root);
        bool tree = !model->bodies[b].single;
        bool looped = step->plan->tie.first[b] < step->plan->tie.first[b + 1];
        if (looped || (tree && !cr__moving_takes(step, b))) islands->rows[b] = GENERAL;
        islands->trees[root] = islands->trees[root] || tree;
        islands->bodies[root]++;
        if (root == b) continue;
        islands->rows[root] = islands->rows[root] < 0 || islands->rows[b] < 0
                                  ? GENERAL
                                  : islands->rows[root] + islands->rows[b];
        islands->bounces[root] = islands->bounces[root] || islands->bounces[b];
    }
    count_fast(step, note, islands);
    for (int b = 1; b < model->nb; b++) {
        if (!cr__moves(model, b)) continue;
        int root = islands->root[b];
        bool few = islands->bodies[root] <= LOCATED, bounces = islands->bounces[root];
        bool located = bounces && (locate == CR_LOCATE_ALL || (locate == CR_LOCATE_SMALL && few));
        int least = islands->trees[root] && model->nu == 0 ? TREE_ROWS : ROWS;
        bool large = islands->rows[root] > (bounces && locate == CR_LOCATE_NONE ? 0 : least);
        moving[b] = is_fast(islands, root) && large && !located;
        any = any || moving[b];
    }
    return any;
}

// true if both bodies of a contact have moving[b] == marked; bodies that v does not move count as either
static bool is_among(const crModel* model, const crStepContact* c, const bool* moving, bool marked) {
    bool a = !cr__moves(model, c->body_a) || moving[c->body_a] == marked;
    bool b = !cr__moves(model, c->body_b) || moving[c->body_b] == marked;
    return a && b;
}

// search for contacts of moving bodies
typedef struct Sorting {
    const crStep* step;
    const crStepContact* contacts;
    const bool* moving;
    bool* among;  // true for each contact of moving bodies
} Sorting;

static void find_among(void* ctx, int begin, int end) {
    const Sorting* sorting = ctx;
    for (int i = begin; i < end; i++) {
        sorting->among[i] = is_among(sorting->step->model, &sorting->contacts[i], sorting->moving, true);
    }
}

// Sorts contacts of moving bodies to the front; order is kept on both sides. Sets *count to their number.
// CR_ERR_MEMORY.
static crStatus sort_moving(const crStep* step, crStepContact* contacts, const bool* moving, crArena* arena,
                            int* count) {
    int among = 0, all = *count, rest = 0;
    size_t mark = cr_arena_mark(arena);
    Sorting sorting = {step, contacts, moving, cr_arena_alloc(arena, (size_t)all + 1)};
    if (sorting.among == NULL) return CR_ERR_MEMORY;
    cr__tasks_for(step->own.tasks, all, CHUNK, find_among, &sorting);
    for (int i = 0; i < all; i++) {
        among += sorting.among[i];
    }
    *count = among;
    if (among == all) return CR_OK;
    crStepContact* behind = cr_arena_alloc(arena, (size_t)(all - among) * sizeof *behind);
    if (behind == NULL) return CR_ERR_MEMORY;
    for (int i = 0, k = 0; i < all; i++) {
        if (sorting.among[i]) {
            if (i > k) contacts[k] = contacts[i];
            k++;
        } else {
            behind[rest++] = contacts[i];
        }
    }
    memcpy(contacts + among, behind, (size_t)rest * sizeof *behind);
    cr_arena_release(arena, mark);
    return CR_OK;
}

// Merges two sorted lists into `to`, with impulses 0. Contacts of moving bodies are left out,
// and so are those between moving and other bodies. CR_ERR_MEMORY.
static crStatus list_others(const crModel* model, const crStepContacts* a, const crStepContacts* b,
                            const bool* moving, crArena* arena, crStepContacts* to) {
    to->count = 0;
    if (!CR_ROOMS(arena, CR_ROOM(to->list, a->count + b->count + 1))) return CR_ERR_MEMORY;
    for (int i = 0, k = 0; i + k < a->count + b->count;) {
        bool first = k == b->count || (i < a->count && cr__step_pair_first(&a->list[i], &b->list[k]));
        const crStepContact* c = first ? &a->list[i++] : &b->list[k++];
        if (!is_among(model, c, moving, false)) continue;
        to->list[to->count] = *c;
        to->list[to->count++].impulse = cr_vec3(0, 0, 0);
    }
    return CR_OK;
}

// Audits moved bodies, keeps their forces, and makes the rest of the world the step's part and contacts.
static crStatus hand_over(crStep* step, crMoved* moved, crError* error) {
    const bool* moving = moved->body;
    int listed = step->contacts.count;
    moved->count = listed;
    // bodies may have been released to the calm solve
    crStatus status = sort_moving(step, moved->contacts, moving, &step->scratch, &moved->count);
    step->contacts.count = moved->count;
    if (status == CR_OK) status = cr__audit_moved(step, moved);
    if (status != CR_OK) return cr__step_memory(error);
    cr__audit_drives(step->plan, &step->dynamics, &step->contacts, step->audited.drive);
    step->part = cr__step_part_of(step, moving, true);
    if (cr__step_keep(step) != CR_OK) return cr__step_memory(error);
    const crStepContacts left = {.list = moved->near + moved->count, .count = listed - moved->count};
    const crStepContacts rest = {.list = moved->near + listed, .count = moved->near_count - listed};
    status = list_others(step->model, &left, &rest, moving, &step->scratch, &step->contacts);
    step->part = cr__step_leave_out(step->model, moving, &step->awake);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

// Keeps the poses of the beginning if a tree is to be moved: its q does not hold them. CR_ERR_MEMORY.
static crStatus keep_poses(const crPlan* plan, const crDynamics* d, crArena* arena, crMoved* moved) {
    if (!cr__moving_any_tree(plan, moved->body)) return CR_OK;
    if (!CR_ROOMS(arena, CR_ROOM(moved->pose, plan->model->nb))) return CR_ERR_MEMORY;
    memcpy(moved->pose, d->pose, (size_t)plan->model->nb * sizeof *moved->pose);
    return CR_OK;
}

crStatus cr__step_move_islands(crStep* step, double h, const int* reach, crMoved* moved, crError* error) {
    Islands islands;
    *moved = (crMoved){0};
    bool* moving = cr_arena_alloc(&step->scratch, (size_t)step->model->nb * sizeof *moving);
    if (moving == NULL || !islands_create(&step->scratch, step->model->nb, &islands))
        return cr__step_memory(error);
    size_t before = cr_arena_mark(&step->scratch);
    Notes notes = {step, cr_arena_alloc(&step->scratch, (size_t)step->contacts.count * sizeof *notes.note)};
    if (notes.note == NULL) return cr__step_memory(error);
    cr__tasks_for(step->own.tasks, step->contacts.count, CHUNK, take_notes, &notes);
    count_contacts(step, notes.note, &islands);
    if (join_contacts(step, reach, &step->scratch, islands.root) != CR_OK) return cr__step_memory(error);
    bool any = find_moving(step, notes.note, &islands, moving);
    cr_arena_release(&step->scratch, before);
    if (!any) return CR_OK;
    *moved = (crMoved){.body = moving, .near = step->contacts.list, .near_count = step->contacts.count};
    moved->contacts = step->contacts.list;
    crStatus status = sort_moving(step, step->contacts.list, moving, &step->scratch, &step->contacts.count);
    if (status != CR_OK) return cr__step_memory(error);
    if (keep_poses(step->plan, &step->dynamics, &step->scratch, moved) != CR_OK)
        return cr__step_memory(error);
    size_t mark = cr_arena_mark(&step->scratch);
    step->posed.rows = (crRows){0};
    status = cr__moving_run(step, h, islands.root, moving, error);
    // rows stay for the audit
    if (step->posed.rows.count == 0) cr_arena_release(&step->scratch, mark);
    if (status == CR_OK) status = hand_over(step, moved, error);
    step->posed.rows = (crRows){0};
    return status;
}

void cr__step_show_moved(const crMoved* moved, crStepContacts* contacts) {
    if (moved->body == NULL) return;
    // `near` has room for all contacts, and the contacts of moved bodies are in front
    if (contacts->count > 0)
        memmove(moved->near + moved->count, contacts->list, (size_t)contacts->count * sizeof *contacts->list);
    contacts->list = moved->near;
    contacts->count += moved->count;
}
