// contact_solve.c - the contact solve over h: choose contacts that may press, solve by islands, apply.
//
// Contacts that will be impacts take no part. An open contact takes part once a solution makes it overlap.
// Fails: as its stages do. Overlaps that a solution still makes after ROUNDS are left to the position pass.
#include <string.h>

#include "base/tasks.h"
#include "resolve/kinds.h"
#include "step/audit.h"
#include "step/clocks.h"
#include "step/lie.h"
#include "step/posed.h"

#define ROUNDS 50   // rounds of adding contacts; a chain in flight needs one for each body
#define CHUNK  512  // contacts per task
#define SLACK  0.5  // share of a contact's velocity that a later round may turn towards closing

typedef struct Look {
    const crStep* step;
    crVec3* u;
} Look;

static void look_range(void* ctx, int begin, int end) {
    const crStep* step = ((const Look*)ctx)->step;
    crVec3* u = ((const Look*)ctx)->u;
    for (int i = begin; i < end; i++) {
        u[i] = cr__step_relative_velocity(&step->dynamics, &step->contacts.list[i]);
    }
}

// Finds the velocity of each contact if bodies move by v. CR_ERR_MEMORY.
static crStatus look(crStep* step, double* v, crVec3* u) {
    crStatus status = cr__step_velocity(step, v);
    cr__tasks_for(step->own.tasks, step->contacts.count, CHUNK, look_range, &(Look){step, u});
    return status;
}

// true if a contact between two carried bodies may close once other contacts press
static bool may_close(const crStep* step, const crStepContact* c, double h, crVec3 u_free) {
    if (step->airborne[c->body_a] || step->airborne[c->body_b]) return false;
    double speed = cr_norm(u_free) + fabs(c->speed) + h * cr_norm(step->model->gravity);
    return c->point.gap - c->delta <= h * speed;
}

// Marks the bodies of a contact as carried and reached. A body that lands softly then ends at rest on the
// surface, not half a fall below it.
static void take(const crModel* model, const crStepContact* c, bool* airborne, bool* reached) {
    airborne[c->body_a] = airborne[c->body_b] = false;
    reached[c->body_a] = cr__moves(model, c->body_a);
    reached[c->body_b] = cr__moves(model, c->body_b);
}

// contacts of the part that take part in the solve over h
typedef struct Choice {
    double h;
    bool plastic;   // true if contacts that close fast take part too
    bool* takes;    // true if the contact takes part (contact_count)
    bool* fresh;    // true if the last choice added it (contact_count)
    bool* reached;  // true for bodies of fresh contacts (nb)
    int* added;     // contacts that the last choice added, by task
} Choice;

// arguments of the tasks that choose contacts
typedef struct Looks {
    const crStep* step;
    const crVec3* u;
    Choice* choice;
    bool first;  // true before the first solve
    bool ahead;  // true if contacts that nearly overlap are added too
    bool faces;  // true if the seats of a face's contacts are chosen together (seats.c)
} Looks;

// true if a contact that closes by the end of h at velocity u is left to an impact or to free flight
static bool passes(const crStep* step, const crStepContact* c, crVec3 u, const Choice* choice) {
    if (choice->plastic || !cr__step_meets_fast(step, c)) return false;
    if (!step->clocks->catches) return true;
    crVec3 fall = cr_sub(cr__step_fall(step, c->body_b), cr__step_fall(step, c->body_a));
    double speed = cr_dot(cr_madd(u, -0.5 * choice->h, fall), c->point.normal);
    return speed >= 0.0 || c->point.gap - c->delta + choice->h * speed > 0.0;
}

// Adds contacts with narrow gaps at reached bodies; later rounds would add them one by one.
static void add_narrow(void* ctx, int begin, int end) {
    const Looks* looks = ctx;
    const crStep* step = looks->step;
    Choice* choice = looks->choice;
    int added = 0;
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (choice->takes[i] || !(choice->reached[c->body_a] || choice->reached[c->body_b])) continue;
        if (!may_close(step, c, choice->h, looks->u[i])) continue;
        choice->takes[i] = choice->fresh[i] = choice->plastic || !cr__step_meets_fast(step, c);
        added += choice->takes[i];
    }
    choice->added[begin / CHUNK] = added;
}

// Correction of a normal velocity for airborne bodies, which move by the mean of v before and after gravity.
static double in_flight(const crStep* step, const crStepContact* c, double h) {
    double speed = 0.0;
    if (step->airborne[c->body_a]) speed += 0.5 * h * cr_dot(cr__step_fall(step, c->body_a), c->point.normal);
    if (step->airborne[c->body_b]) speed -= 0.5 * h * cr_dot(cr__step_fall(step, c->body_b), c->point.normal);
    return speed;
}

// Adds contacts that touch and do not open, and contacts that are closed by the end of h at velocities u.
static void add_closing(void* ctx, int begin, int end) {
    const Looks* looks = ctx;
    const crStep* step = looks->step;
    Choice* choice = looks->choice;
    int added = 0, cursor = looks->faces ? cr__step_warm_from(step, &step->contacts.list[begin]) : 0;
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts.list[i];
        choice->fresh[i] = false;
        if (choice->takes[i]) continue;
        // the mean velocity in flight counts if it closes faster
        double speed = cr_dot(looks->u[i], c->point.normal), flight = in_flight(step, c, choice->h);
        if (flight < 0.0) speed += flight;
        // Contacts that a solve nearly closes are added too, to save rounds. Airborne bodies are left out: no
        // other contact turns them.
        bool flies = step->airborne[c->body_a] || step->airborne[c->body_b];
        if (looks->ahead && !flies) speed -= SLACK * cr_norm(looks->u[i]);
        bool closes = c->point.gap - c->delta + choice->h * speed <= 0.0;
        // a seat is within the band; in fast every contact within its band has one
        bool within = c->point.gap <= c->seat;
        if (!within && looks->faces) within = c->point.gap <= cr__step_band(step, c, &cursor);
        bool touching = within && c->speed < c->fast;
        if (looks->first && !closes) closes = may_close(step, c, choice->h, looks->u[i]);
        bool takes = touching || (closes && !passes(step, c, looks->u[i], choice));
        choice->takes[i] = choice->fresh[i] = takes;
        added += takes;
    }
    choice->added[begin / CHUNK] = added;
}

static int add_by(crTaskFn add, Looks* looks) {
    int count = looks->step->contacts.count, added = 0;
    cr__tasks_for(looks->step->own.tasks, count, CHUNK, add, looks);
    for (int i = 0; i * CHUNK < count; i++) {
        added += looks->choice->added[i];
    }
    return added;
}

// Adds contacts that may press at velocities u, and their bodies are airborne no more. Returns their number.
static int choose(const crStep* step, const crVec3* u, bool first, bool* airborne, Choice* choice) {
    bool faces = step->settings.quality != CR_QUALITY_FAST;
    Looks looks = {step, u, choice, first, !first && faces, faces};
    for (int k = 0; k < step->part.count; k++) {
        choice->reached[step->part.bodies[k]] = false;
    }
    int added = add_by(add_closing, &looks);
    if (added == 0) return 0;
    for (int i = 0; i < step->contacts.count; i++) {
        if (choice->fresh[i]) take(step->model, &step->contacts.list[i], airborne, choice->reached);
    }
    return added + add_by(add_narrow, &looks);
}

// sums before a solve, restored if another round follows
typedef struct Books {
    crCertificate certificate;
    double* drive;  // work of driven bodies (nb)
} Books;

static crStatus open_books(const crStep* step, crArena* arena, Books* books) {
    books->certificate = step->certificate;
    if (!CR_ROOMS(arena, CR_ROOM(books->drive, step->model->nb))) return CR_ERR_MEMORY;
    memcpy(books->drive, step->audited.drive, (size_t)step->model->nb * sizeof *books->drive);
    return CR_OK;
}

// Solves all contacts as one problem, by the solver that the user named.
static crStatus solve_named(crStep* step, double h, const bool* takes, const Books* books, crError* error) {
    step->certificate = books->certificate;
    memcpy(step->audited.drive, books->drive, (size_t)step->model->nb * sizeof *books->drive);
    crStatus status = cr_step_problem_build(step, h, takes, error);
    if (status == CR_OK) status = cr_step_solve(step, error);
    if (status == CR_OK) status = cr_step_apply(step, error);
    return status;
}

static crStatus choice_create(const crStepContacts* contacts, int nb, crArena* arena, Choice* choice) {
    int count = contacts->count + 1;
    if (!CR_ROOMS(arena, CR_ZERO(choice->takes, count), CR_ROOM(choice->fresh, count),
                  CR_ROOM(choice->reached, nb), CR_ROOM(choice->added, count / CHUNK + 1)))
        return CR_ERR_MEMORY;
    // bodies that v does not move are never reached
    for (int i = 0; i < contacts->count; i++) {
        choice->reached[contacts->list[i].body_a] = choice->reached[contacts->list[i].body_b] = false;
    }
    return CR_OK;
}

// Audits the solve. Contacts that are left to an impact or to free flight are not judged.
static crStatus audit(crStep* step, const crVec3* u_free, const crVec3* u, const crIslands* islands,
                      const Choice* choice) {
    bool* passing;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(passing, step->contacts.count + 1))) return CR_ERR_MEMORY;
    for (int i = 0; i < step->contacts.count; i++) {
        step->contacts.list[i].takes = choice->takes[i];
        passing[i] = !choice->takes[i] && passes(step, &step->contacts.list[i], u[i], choice);
    }
    return cr__audit_contacts(step, choice->h, choice->takes, passing, u_free, u, islands->of_body,
                              islands->count);
}

// Continues islands that sweeps left unsolved and that no contact was added to. *added grows by the contacts
// that their solution makes overlap. In the last round the contacts added last are left out.
static crStatus finish(crStep* step, bool last, Choice* choice, crIslandSolve* solve, crVec3* u, int* added,
                       crError* error) {
    bool *fresh, *takes, changed = false;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(fresh, step->contacts.count + 1),
                  CR_ROOM(takes, step->contacts.count + 1)))
        return cr__step_memory(error);
    for (int i = 0; i < step->contacts.count; i++) {
        fresh[i] = choice->fresh[i];
        takes[i] = choice->takes[i] && !fresh[i];
    }
    crStatus status =
        cr__step_finish_islands(step, choice->h, takes, last ? NULL : fresh, solve, &changed, error);
    if (status != CR_OK || !changed) return status;
    if (look(step, step->state.v, u) != CR_OK) return cr__step_memory(error);
    *added += choose(step, u, false, step->airborne, choice);
    for (int i = 0; i < step->contacts.count; i++) {
        choice->fresh[i] = choice->fresh[i] || fresh[i];
    }
    return CR_OK;
}

// Frees what the sweeps needed, unless rows of the problem are among it; u moves down. CR_ERR_MEMORY.
static crStatus forget_sweeps(crStep* step, const crIslandSolve* solve, crVec3** u) {
    if (solve->posed || step->posed.rows.count > 0) return CR_OK;
    size_t bytes = (size_t)(step->contacts.count + 1) * sizeof **u;
    crSunk kept = {*u, bytes, bytes};
    crStatus status = cr__sink(&step->scratch, solve->mark, &kept, 1);
    *u = kept.array;
    return status;
}

// Solves and applies, and adds contacts until the solution makes none overlap.
crStatus cr__step_contact_solve(crStep* step, double h, bool plastic, const int* roots, crError* error) {
    int count = step->contacts.count + 1;
    crVec3 *u_free, *u = NULL;
    Choice choice = {.h = h, .plastic = plastic};
    crIslandSolve solve = {0};
    if (!CR_ROOMS(&step->scratch, CR_ROOM(u_free, count), CR_ROOM(solve.open, step->model->nb)) ||
        choice_create(&step->contacts, step->model->nb, &step->scratch, &choice) != CR_OK)
        return cr__step_memory(error);
    bool named = step->settings.solver.solve != cr__solver(&cr__solver_auto, NULL).solve;
    crStatus status = cr_step_drag(step, h, error);
    if (status != CR_OK) return status;
    if (look(step, step->free.v, u_free) != CR_OK) return cr__step_memory(error);
    cr__step_close_all(step, &solve);
    Books books = {0};
    if (named && open_books(step, &step->scratch, &books) != CR_OK) return cr__step_memory(error);
    cr__step_seats(step, &step->contacts);
    int added = choose(step, u_free, true, step->airborne, &choice);
    for (int round = 0; round < ROUNDS && (round == 0 || added > 0); round++) {
        size_t mark = cr_arena_mark(&step->scratch);
        const bool* fresh = round > 0 ? choice.fresh : NULL;
        status = named ? solve_named(step, h, choice.takes, &books, error)
                       : cr__step_solve_islands(step, h, choice.takes, fresh, u_free, &solve, error);
        if (status != CR_OK) return status;
        // sweeps gave back about as much
        if (!CR_ROOMS(&step->scratch, CR_ROOM(u, count))) return cr__step_memory(error);
        if (look(step, step->state.v, u) != CR_OK) return cr__step_memory(error);
        added = choose(step, u, false, step->airborne, &choice);
        bool last = added == 0 || round + 1 == ROUNDS;
        if (!named && last) {
            status = finish(step, round + 1 == ROUNDS, &choice, &solve, u, &added, error);
            if (status != CR_OK) return status;
            last = added == 0 || round + 1 == ROUNDS;
        }
        if (last) {
            status = named ? cr__step_show_problem(step, h, false, error)
                           : cr__step_show_islands(step, h, choice.takes, choice.fresh, &solve, error);
            if (status != CR_OK) return status;
        }
        if (!last) cr_arena_release(&step->scratch, mark);
    }
    if (named) return status;
    if (forget_sweeps(step, &solve, &u) != CR_OK) return cr__step_memory(error);
    // contacts that were added after the last round are not in the solve
    for (int i = 0; i < step->contacts.count && added > 0; i++) {
        choice.takes[i] = choice.takes[i] && !choice.fresh[i];
    }
    if (cr__step_settle(step, &solve, step->state.v) && look(step, step->state.v, u) != CR_OK)
        return cr__step_memory(error);
    if (roots != NULL) status = cr__lie_down(step, roots, &(crLieSolve){choice.takes, u_free, u});
    if (status != CR_OK) return cr__step_memory(error);
    status = audit(step, u_free, u, &solve.islands, &choice);
    return status == CR_OK && cr__step_keep(step) == CR_OK ? CR_OK : cr__step_memory(error);
}
