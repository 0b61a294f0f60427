// position.c - the position pass: overlap deeper than the deadband is removed along normals; v of free bodies stays.
//
// Each round finds the shortest move dq in the metric of M with gap + J_n dq >= -delta/2 at every near
// contact: 0 <= W p + gap + delta/2 _|_ p >= 0, dq = M^-1 J^T p, by packed sweeps over the islands with an
// overlap deeper than the deadband (by position_tol of it). Rounds are repeated at the new poses until no
// overlap is too deep. A contact is near up to twice the deadband, and up to twice the deepest overlap,
// because a body pushed out of one contact turns into others. Contacts of earlier rounds are kept as
// body-fixed points, because a body may otherwise roll from one contact to the other and back for many
// rounds. The velocity solve has no position biases, which would contradict each other at sticking contacts.
// Fails: CR_ERR_MEMORY. The certificate states the overlap that is left after ROUNDS or VISITS. Islands with
// trees, loops or limits that do not hold go to position_general.c.
#include "step/position.h"

#include <string.h>

#include "model/spatial.h"
#include "relax/packed_solve.h"
#include "step/audit.h"
#include "step/forest.h"
#include "step/islands.h"
#include "step/push.h"

#define ROUNDS        20         // rounds of a pass
#define COARSE        6          // rounds of a coarse pass
#define COARSE_SWEEPS 40         // sweeps of a round of a coarse pass
#define KEEP          8          // rounds whose contacts are kept
#define SWEEPS        400        // sweeps of a round: an unfinished round throws bodies about
#define VISITS        (1 << 15)  // visits of contacts by the sweeps of a pass, per body
#define LEAST         (1 << 23)  // visits that a pass may make at least
#define CROWD \
    32  // contacts per body above which bodies are piled into each other: visits are shared among rounds
#define FEW    4096  // contacts up to which there is no crowd
#define ASTRAY 4     // bodies per astray body if only astray bodies are collided anew, at least

// contacts of earlier rounds, in blocks that are allocated one per round as few passes need them all
typedef struct Memory {
    int count, capacity;  // contacts in all blocks
    int block_count, room;
    crApart* blocks[KEEP];  // (room each)
} Memory;

// Keeps the contacts of islands with an overlap that is too deep, drops all others. Returns their number;
// `parent` becomes the root of each body.
static int keep_violated(const crPush* pass, int* parent, bool* deep) {
    const crModel* model = pass->step->model;
    cr__forest_begin(parent, model->nb);
    memset(deep, 0, (size_t)model->nb * sizeof *deep);
    for (int i = 0; i < pass->count; i++) {
        const crPackedContact* c = &pass->near[i].at;
        if (!cr__moves(model, c->body_a) || !cr__moves(model, c->body_b)) continue;
        cr__forest_join(parent, c->body_a, c->body_b);
    }
    double slack = 1.0 + cr__push_tol(pass);
    for (int i = 0; i < pass->count; i++) {
        const crPushContact* near = &pass->near[i];
        int body = cr__moves(model, near->at.body_b) ? near->at.body_b : near->at.body_a;
        if (near->of != NULL && -near->gap > slack * near->delta) deep[cr__forest_find(parent, body)] = true;
    }
    int kept = 0;
    for (int i = 0; i < pass->count; i++) {
        const crPushContact* near = &pass->near[i];
        int body = cr__moves(model, near->at.body_b) ? near->at.body_b : near->at.body_a;
        if (deep[cr__forest_find(parent, body)]) pass->near[kept++] = *near;
    }
    for (int i = 0; i < model->nb; i++) {
        parent[i] = cr__forest_find(parent, i);
    }
    return kept;
}

// Sweeps of a round over `count` contacts; 0 if the pass has used up its visits. In a crowd a round gets half
// of the visits that are left.
static int ration(int count, int bodies, int64_t* visits) {
    bool crowd = count > FEW && count > CROWD * bodies;
    if (crowd && *visits > LEAST / 2) *visits = LEAST / 2;
    int64_t sweeps = (crowd ? *visits / 2 : *visits) / (count > 0 ? count : 1);
    if (sweeps > SWEEPS) sweeps = SWEEPS;
    *visits -= sweeps * count;
    return (int)sweeps;
}

static crStatus factor_masses(const crModel* model, crPart part, crDynamics* d, void* ctx) {
    (void)ctx;
    return cr__part_mass_factor(model, part, 0.0, d);
}

// impulses of a round, and the positions that they move
typedef struct Move {
    double *p, *q;
} Move;

// Moves the bodies of a part by M^-1 p.
static crStatus move_out(const crModel* model, crPart part, crDynamics* d, void* ctx) {
    const Move* move = ctx;
    cr__part_mass_solve(model, part, d, move->p);
    cr__part_advance(model, part, 1.0, move->p, move->q);
    return CR_OK;
}

static crStatus find_poses(const crModel* model, crPart part, crDynamics* d, void* state) {
    cr__part_kinematics(model, part, state, d);
    return CR_OK;
}

// Lists the bodies that a round may move: all trees, and the bodies of its contacts. CR_ERR_MEMORY.
static crStatus list_movers(const crPlan* plan, crArena* arena, int count, const crPackedContact* contact,
                            crPart* movers) {
    const crModel* model = plan->model;
    bool* in;
    int* bodies;
    if (!CR_ROOMS(arena, CR_ZERO(in, model->nb), CR_ROOM(bodies, model->nb))) return CR_ERR_MEMORY;
    *movers = (crPart){bodies, 0};
    for (int i = 0; i < count; i++) {
        in[contact[i].body_a] = in[contact[i].body_b] = true;
    }
    for (int b = 1; b < model->nb; b++) {
        if (b < plan->first_single || (in[b] && cr__moves(model, b))) bodies[movers->count++] = b;
    }
    return CR_OK;
}

// Numbers the islands of the first `count` contacts in the order of their roots, which it replaces. Returns
// their number. CR_ERR_MEMORY: -1.
static int number_pushed(const crPush* pass, int count, const crPackedContact* contact, int* island_of_body) {
    crStep* step = pass->step;
    int nb = step->model->nb, islands = 0, *number;
    if (!CR_ROOMS(&step->scratch, CR_ZERO(number, nb))) return -1;
    for (int i = 0; i < count; i++) {
        const crPackedContact* c = &contact[i];
        number[island_of_body[cr__step_mover(step, c->body_a, c->body_b)]] = 1;
    }
    for (int b = 0; b < nb; b++) {
        number[b] = number[b] != 0 ? islands++ : -1;
    }
    for (int b = 0; b < nb; b++) {
        island_of_body[b] = number[island_of_body[b]];
    }
    return islands;
}

// Notes which trees a round pushed apart.
static void note_pushes(const crModel* model, int count, const crPackedContact* contact,
                        crStepAudited* audited) {
    for (int i = 0; i < count; i++) {
        const crPackedContact* c = &contact[i];
        if (cr_dot(c->P, c->normal) > 0.0) cr__audit_join_push(model, c->body_a, c->body_b, audited);
    }
}

// Packs the first `count` contacts in the memory of the contacts of the pass, which are lost; w becomes their deadband.
static crPackedContact* pack_near(crPush* pass, int count) {
    crPackedContact* contact = (crPackedContact*)(void*)pass->near;
    for (int i = 0; i < count; i++) {
        // a packed contact is shorter than a contact of the pass: it overwrites none that is still unread
        crPushContact near = pass->near[i];
        near.at.E = cr_scale(near.gap + 0.5 * near.delta, near.at.normal);
        near.at.w = near.delta;
        contact[i] = near.at;
    }
    pass->count = pass->capacity = 0;
    return contact;
}

// Frees the lists of a round: packed contacts move down to the mark, and `memory`, unless NULL, behind them.
// CR_ERR_MEMORY.
static crStatus sink_packed(crArena* arena, size_t mark, crPackedContact** contact, int count,
                            Memory* memory) {
    size_t bytes = (size_t)count * sizeof **contact, room = 0, kept = 0;
    bool remembers = memory != NULL && memory->block_count > 0;
    if (remembers) room = (size_t)memory->room * sizeof(crApart);
    if (remembers) kept = (size_t)memory->count * sizeof(crApart);
    crSunk arrays[] = {{*contact, bytes, bytes}, {remembers ? memory->blocks[0] : NULL, kept, room}};
    crStatus status = cr__sink(arena, mark, arrays, remembers ? 2 : 1);
    *contact = arrays[0].array;
    if (remembers) memory->blocks[0] = arrays[1].array;
    return status;
}

// Sweeps over packed contacts, whose w is their deadband, and moves the bodies.
static crStatus push_out(const crPush* pass, int count, crPackedContact* contact, int sweeps,
                         int* island_of_body, crError* error) {
    crStep* step = pass->step;
    const crModel* model = step->model;
    crArena* arena = &step->scratch;
    int islands = number_pushed(pass, count, contact, island_of_body);
    double* dq;
    crPackedIsland* island;
    crPart movers;
    if (islands < 0 || !CR_ROOMS(arena, CR_ZERO(dq, model->nv + 1), CR_ZERO(island, islands + 1)))
        return cr__step_memory(error);
    for (int i = 0; i < count; i++) {
        crPackedContact* c = &contact[i];
        crPackedIsland* at = &island[island_of_body[cr__step_mover(step, c->body_a, c->body_b)]];
        double tol = 0.1 * cr__push_tol(pass) * c->w;
        c->w = 0.0;
        at->tol = at->live ? fmin(at->tol, tol) : tol;
        at->limit = sweeps;
        at->live = true;
    }
    crPacked packed;
    const crInertias of = cr__step_inertias(step, &step->scratch);
    if (list_movers(step->plan, arena, count, contact, &movers) != CR_OK) return cr__step_memory(error);
    crStatus status = cr__step_by_bodies(step, movers, factor_masses, NULL);
    if (status != CR_OK) return cr_error_set(error, status, "position", "%s", cr_status_text(status));
    status = cr__packed_create(&of, island_of_body, dq, count, contact, NULL, &packed);
    if (status == CR_OK) status = cr__packed_solve(&packed, island, islands, arena);
    if (status != CR_OK) return cr__step_memory(error);
    cr__packed_results(&packed, island);
    note_pushes(model, count, contact, &step->audited);
    cr__step_add_momentum(model, &step->dynamics, count, contact, dq);
    status = cr__step_by_bodies(step, movers, move_out, &(Move){dq, step->state.q});
    if (status == CR_OK) status = cr__step_by_bodies(step, movers, find_poses, &step->state);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

// margin with which a collide finds every near contact, m
static double widest(const crPlan* plan, const crStepSettings* settings, double coarse) {
    double size = 0.0;
    for (int i = 1; i < plan->model->nb; i++) {
        size = fmax(size, plan->size[i]);
    }
    return CR_PUSH_NEAR * fmax(settings->deadband, coarse) * size;
}

// Marks bodies that went farther than their margins, or that an impact hit: they may touch bodies that are
// not in the list. Returns true if there are any.
static bool find_astray(crPush* pass, bool* astray) {
    const crStep* step = pass->step;
    const crPushList* list = &pass->list[0];
    bool any = false;
    for (int i = 0; i < step->model->nb; i++) {
        bool moves = i != CR_WORLD && step->plan->size[i] > 0.0;
        astray[i] = pass->hit != NULL && pass->hit[i];
        if (astray[i] || !moves || (pass->apart != NULL && pass->apart[i])) {
            any = any || astray[i];
            continue;
        }
        double far = cr_norm(list->moved[i]) + list->swing[i] + 0.5 * pass->reach;
        astray[i] = !(far <= list->at.margin[i]);
        any = any || astray[i];
    }
    return any;
}

// Finds the poses of all bodies that do not lie, whether they are of the part or not.
static crStatus pose_others(const crStep* step, crArena* arena, crDynamics* d) {
    // all of them are of the part
    if (step->part.count + step->rest.lying.count == step->model->nb - 1) return CR_OK;
    size_t mark = cr_arena_mark(arena);
    int count = 0, *bodies;
    if (!CR_ROOMS(arena, CR_ROOM(bodies, step->model->nb))) return CR_ERR_MEMORY;
    for (int b = 1; b < step->model->nb; b++) {
        if (step->rest.lying.island[b] == 0) bodies[count++] = b;
    }
    cr__part_kinematics(step->model, (crPart){bodies, count}, &step->state, d);
    cr_arena_release(arena, mark);
    return CR_OK;
}

// Finds contacts at the present poses within the margin: of astray bodies if they are few, else of all.
static crStatus collide_anew(crStep* step, double margin, const bool* astray, crError* error) {
    int count = 0;
    for (int b = 0; astray != NULL && b < step->model->nb; b++) {
        count += astray[b];
    }
    if (astray == NULL || ASTRAY * count > step->model->nb) return cr_step_collide(step, margin, error);
    cr__step_flat_margins(step->pairs, margin);
    crStatus status =
        cr__pairs_move(step->pairs, step->own.tasks, cr__step_part(step), &step->dynamics, error);
    if (status != CR_OK) return status;
    step->part = cr__step_part_of(step, astray, true);
    status = cr__step_collide_part(step, true, error);
    step->part = step->awake;
    return status;
}

// Makes the lists of the pass at the present poses, which are known.
static crStatus begin(crPush* pass, const crPositionList* start, crError* error) {
    crStep* step = pass->step;
    bool* astray = cr_arena_alloc(&step->scratch, (size_t)step->model->nb * sizeof *astray);
    if (astray == NULL) return cr__step_memory(error);
    for (int i = 0; i < 2; i++) {
        if (cr__push_list_create(step->model, &step->scratch, &pass->list[i]) != CR_OK)
            return cr__step_memory(error);
    }
    crPushList* anew = &pass->list[start == NULL ? 0 : 1];
    if (start != NULL) {
        pass->list[0].at = *start;
        cr__push_follow(pass, &pass->list[0]);
        pass->hit = find_astray(pass, astray) ? astray : NULL;
        if (pass->hit == NULL) return CR_OK;
    }
    anew->hit = start != NULL;
    anew->anew = true;
    crStatus status = collide_anew(step, fmax(widest(step->plan, &step->settings, pass->coarse), pass->reach),
                                   start != NULL ? astray : NULL, error);
    if (status != CR_OK) return status;
    if (cr__step_position_list(step, &step->scratch, &anew->at) != CR_OK) return cr__step_memory(error);
    cr__push_follow(pass, anew);
    return CR_OK;
}

// Keeps the first `count` contacts of the pass for later rounds; pairs that only roll need none.
static void remember_contacts(const crPush* pass, int count, Memory* memory) {
    const crPose* pose = pass->step->dynamics.pose;
    int most = memory->block_count * memory->room;
    if (memory->capacity < most) most = memory->capacity;
    for (int i = 0; i < count && memory->count < most; i++) {
        const crPushContact* near = &pass->near[i];
        if (near->of == NULL || cr__push_rolls(pass->step->model, near->of)) continue;
        const crPackedContact* c = &near->at;
        memory->blocks[memory->count / memory->room][memory->count % memory->room] =
            cr__apart_at(pose, c->body_a, c->body_b, c->point, c->normal, near->gap, near->delta);
        memory->count++;
    }
}

// Adds the contacts of earlier rounds at the present poses: a curved body that is pushed out at one contact
// rolls into another, and back.
static crStatus recall(crPush* pass, const Memory* memory) {
    const crPose* pose = pass->step->dynamics.pose;
    crStatus status = cr__push_reserve(pass, memory->count);
    for (int i = 0; i < memory->count && status == CR_OK; i++) {
        const crApart* k = &memory->blocks[i / memory->room][i % memory->room];
        crPushContact near = {.delta = k->delta};
        // each is a unit of its own
        near.at = (crPackedContact){
            .body_a = k->body_a, .body_b = k->body_b, .shape_a = -1, .shape_b = i, .normal = k->normal};
        near.gap = cr__apart_gap(pose, k, &near.at.point);
        status = cr__push_put(pass, &near);
    }
    return status;
}

// Plans room for the contacts of KEEP rounds, from the number of contacts in the first one.
static void memory_begin(const crPush* pass, Memory* memory) {
    int count = 0;
    for (int i = 0; i < pass->count; i++) {
        count += !cr__push_rolls(pass->step->model, pass->near[i].of);
    }
    *memory = (Memory){.capacity = KEEP * count, .room = count + count / 4 + 1};
}

// Allocates room for the contacts of one more round. CR_ERR_MEMORY.
static crStatus memory_grow(crArena* arena, Memory* memory) {
    bool enough = memory->block_count * memory->room - memory->count >= memory->room;
    if (enough || memory->capacity == 0 || memory->block_count == KEEP) return CR_OK;
    crApart* block = cr_arena_alloc(arena, (size_t)memory->room * sizeof *block);
    memory->blocks[memory->block_count++] = block;
    return block != NULL ? CR_OK : CR_ERR_MEMORY;
}

// Frees the contacts of the first round and moves the first block in their place. CR_ERR_MEMORY.
static crStatus memory_sink(crArena* arena, size_t mark, Memory* memory) {
    if (memory->block_count == 0) {
        cr_arena_release(arena, mark);
        return CR_OK;
    }
    size_t used = (size_t)memory->count * sizeof(crApart), bytes = (size_t)memory->room * sizeof(crApart);
    crSunk block = {memory->blocks[0], used, bytes};
    crStatus status = cr__sink(arena, mark, &block, 1);
    memory->blocks[0] = block.array;
    return status;
}

// Finds overlaps and near contacts at the present poses. If an overlap is deep, *reach grows so that contacts
// which pushing it out may close are near too. locally: only bodies around a few deep pairs move.
static crStatus find_overlaps(crStep* step, const crPositionList* start, const crPush* ask, bool locally,
                              double* reach, crPush* pass, crError* error) {
    size_t mark = cr_arena_mark(&step->scratch);
    for (;;) {
        // without contacts of the beginning all pairs are collided anew
        *pass = *ask;
        pass->reach = *reach;
        crStatus status = begin(pass, start, error);
        if (status != CR_OK) return status;
        if (locally) {
            size_t most = (size_t)(pass->list[0].at.count + pass->list[1].at.count) + 1;
            if (!CR_ROOMS(&step->scratch, CR_ROOM(pass->deep, most))) return cr__step_memory(error);
        }
        if (cr__push_find(pass) != CR_OK) return cr__step_memory(error);
        if (!(pass->beyond > 0.0)) return CR_OK;
        if (!pass->far || !(pass->beyond > *reach) || pass->coarse > 0.0) {
            pass->lists = true;
            if (locally && cr__push_around(pass) != CR_OK) return cr__step_memory(error);
            pass->deep = NULL;
            return cr__push_find(pass) == CR_OK ? CR_OK : cr__step_memory(error);
        }
        *reach = CR_PUSH_REACH * pass->beyond;
        cr_arena_release(&step->scratch, mark);
    }
}

// Runs the general pass if loops or limits do not hold, or if `must` is true; *general: true if it ran.
// Bodies in `apart` are left out.
static crStatus others(crStep* step, const bool* apart, bool must, bool* general, crError* error) {
    bool holds = true;
    if (apart != NULL) step->part = cr__step_leave_out(step->model, apart, &step->awake);
    crPart part = apart != NULL ? cr__step_part(step) : cr__all(step->model);
    crStatus status = cr__step_position_others(step, part, &holds, error);
    *general = status == CR_OK && (!holds || must);
    if (*general)
        status =
            cr__step_position_general(step, part, apart, widest(step->plan, &step->settings, 0.0), error);
    if (apart != NULL) step->part = cr__step_list_awake(step, &step->awake);
    return status;
}

// Makes the rounds of a pass. Contacts that it found anew stay the step's.
static crStatus run_pass(crStep* step, const crPositionList* start, const bool* hit, const bool* apart,
                         double coarse, crError* error) {
    const crPush ask = {.step = step, .hit = start != NULL ? hit : NULL, .apart = apart, .coarse = coarse};
    int *parent, nb = step->model->nb;
    bool* deep;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(parent, nb), CR_ROOM(deep, nb))) return cr__step_memory(error);
    crStatus status = cr__step_by_bodies(step, cr__step_part(step), find_poses, &step->state);
    if (status == CR_OK) status = pose_others(step, &step->scratch, &step->dynamics);
    if (status != CR_OK) return cr__step_memory(error);
    double reach = 0.0;
    int64_t visits = (int64_t)VISITS * step->model->nb;
    if (visits < LEAST) visits = LEAST;
    Memory memory = {0};
    const size_t bottom = cr_arena_mark(&step->scratch);
    size_t mark = bottom;
    const crStepContacts listed = step->contacts;
    bool locally = step->model->nb > CR_PUSH_MANY;
    for (int round = 0; status == CR_OK;) {
        crPush pass;
        // contacts of an earlier round are gone
        step->contacts.list = listed.list;
        step->contacts.count = listed.count;
        status = find_overlaps(step, start, &ask, locally, &reach, &pass, error);
        if (status != CR_OK) break;
        step->certificate.penetration = pass.overlap;
        bool general = false;
        status = others(step, apart, pass.beyond > 0.0 && !pass.single, &general, error);
        if (status != CR_OK || general) return status;
        if (!(pass.beyond > 0.0) || round == (coarse > 0.0 ? COARSE : ROUNDS)) break;
        locally = false;
        if (pass.around != NULL) {
            int most = coarse > 0.0 ? COARSE_SWEEPS : SWEEPS;
            int count = keep_violated(&pass, parent, deep);
            crPackedContact* contact = pack_near(&pass, count);
            if (sink_packed(&step->scratch, mark, &contact, count, NULL) != CR_OK)
                return cr__step_memory(error);
            status = push_out(&pass, count, contact, most, parent, error);
            cr_arena_release(&step->scratch, mark);
            continue;
        }
        if (round++ == 0) {
            memory_begin(&pass, &memory);
            if (memory_grow(&step->scratch, &memory) != CR_OK) return cr__step_memory(error);
            mark = cr_arena_mark(&step->scratch);
        }
        if (recall(&pass, &memory) != CR_OK) return cr__step_memory(error);
        int count = keep_violated(&pass, parent, deep);
        remember_contacts(&pass, count, &memory);
        int sweeps = ration(count, step->model->nb, &visits);
        if (coarse > 0.0 && sweeps > COARSE_SWEEPS) sweeps = COARSE_SWEEPS;
        if (sweeps == 0) break;
        crPackedContact* contact = pack_near(&pass, count);
        // of the first round the lists are freed too, below its first block
        size_t from = round == 1 ? bottom : mark;
        if (sink_packed(&step->scratch, from, &contact, count, round == 1 ? &memory : NULL) != CR_OK)
            return cr__step_memory(error);
        size_t packed = cr_arena_mark(&step->scratch);
        status = push_out(&pass, count, contact, sweeps, parent, error);
        cr_arena_release(&step->scratch, round == 1 ? packed : mark);
        if (round == 1 && memory_sink(&step->scratch, bottom, &memory) != CR_OK)
            return cr__step_memory(error);
        if (memory_grow(&step->scratch, &memory) != CR_OK) return cr__step_memory(error);
        mark = cr_arena_mark(&step->scratch);
    }
    return status;
}

crStatus cr__step_position_pass(crStep* step, const crPositionList* start, const bool* hit, const bool* apart,
                                double coarse, crError* error) {
    const crStepContacts listed = step->contacts;
    size_t mark = cr_arena_mark(&step->scratch);
    crStatus status = run_pass(step, start, hit, apart, coarse, error);
    // sleep reads the contacts that were found anew
    if (status != CR_OK || start == NULL || step->settings.sleep_time > 0.0) return status;
    cr_arena_release(&step->scratch, mark);
    step->contacts.list = listed.list;
    step->contacts.count = listed.count;
    return CR_OK;
}

crStatus cr_step_position_pass(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    return run_pass(step, NULL, NULL, NULL, 0.0, error);
}
