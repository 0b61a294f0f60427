// batch_lane.c - one working world that steps the worlds of a batch one after another, from their records.
//
// Nothing that a world keeps beside its record changes a bit of its future, so a lane may step one world after
// another. Where numbers of the model vary, the lane has its own bodies, materials and shapes and makes its world anew for each.
// The same code runs on the host and on a device.
// Fails: CR_ERR_MEMORY, CR_ERR_LIMIT where there is no room; the world's record is then that of the steps made.
#include "world/lone_walk.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "model/spatial.h"
#include "relax/few_lanes.h"
#include "world/batch.h"

void cr__lane_destroy(crBatchLane* lane) {
    crAllocator* a = &lane->allocator;
    cr_world_destroy(lane->world);
    if (lane->bodies != NULL) a->free(a->ctx, lane->bodies, (size_t)lane->model.nb * sizeof *lane->bodies);
    if (lane->materials != NULL)
        a->free(a->ctx, lane->materials, (size_t)lane->model.material_count * sizeof *lane->materials);
    if (lane->shapes != NULL)
        a->free(a->ctx, lane->shapes, (size_t)(lane->model.shape_count + 1) * sizeof *lane->shapes);
    lane->world = NULL;
    lane->bodies = NULL;
    lane->materials = NULL;
    lane->shapes = NULL;
}

static crStatus own_model(crBatchLane* lane, const crModel* model) {
    crAllocator* a = &lane->allocator;
    lane->model = *model;
    if (lane->bodies == NULL) lane->bodies = a->alloc(a->ctx, (size_t)model->nb * sizeof *lane->bodies);
    if (lane->materials == NULL)
        lane->materials = a->alloc(a->ctx, (size_t)model->material_count * sizeof *lane->materials);
    if (lane->shapes == NULL)
        lane->shapes = a->alloc(a->ctx, (size_t)(model->shape_count + 1) * sizeof *lane->shapes);
    if (lane->bodies == NULL || lane->materials == NULL || lane->shapes == NULL) return CR_ERR_MEMORY;
    lane->model.bodies = lane->bodies;
    lane->model.materials = lane->materials;
    lane->model.shapes = lane->shapes;
    return CR_OK;
}

static void set_mass(crBody* body, double mass) {
    double s = mass / body->mass;
    crSym3 I = body->inertia;
    crMass scaled = {mass, body->com, {s * I.xx, s * I.xy, s * I.xz, s * I.yy, s * I.yz, s * I.zz}};
    cr__body_set_mass(body, &scaled);
}

static const crModel* model_of(const crBatchJob* job, int i) {
    return job->models != NULL ? job->models[i] : job->model;
}

void cr__lane_vary(crBatchLane* lane, const crBatchJob* job, int i) {
    const crModel* model = model_of(job, i);
    memcpy(lane->bodies, model->bodies, (size_t)model->nb * sizeof *lane->bodies);
    memcpy(lane->materials, model->materials, (size_t)model->material_count * sizeof *lane->materials);
    if (model->shape_count > 0)
        memcpy(lane->shapes, model->shapes, (size_t)model->shape_count * sizeof *lane->shapes);
    for (int k = 0; k < job->varied_count; k++) {
        int at = job->varied[k].index;
        double x = job->values[(size_t)k * job->stride + (size_t)i];
        switch (job->varied[k].what) {
        case CR_VARY_MASS:
            set_mass(&lane->bodies[at], x);
            break;
        case CR_VARY_MU:
            lane->materials[at].surface.mu = lane->materials[at].surface.mu2 = x;
            break;
        case CR_VARY_E:
            lane->materials[at].surface.e = x;
            break;
        case CR_VARY_SIZE:
            lane->shapes[at].shape.size = cr_scale(x, lane->shapes[at].shape.size);
            break;
        }
    }
}

static crStatus make_world(crBatchLane* lane, const crBatchJob* job, const crModel* model) {
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step = job->settings;
    def.allocator = &lane->allocator;
    def.scratch = lane->scratch;
    crStatus status = cr_world_create(&def, &lane->world, NULL);
    if (status == CR_OK) cr__lone_prepare(lane->world, &lane->lone);
    return status;
}

static crStatus prepare(crBatchLane* lane, const crBatchJob* job, int i) {
    bool own = job->varied_count > 0 || job->models != NULL;
    if (!own && lane->world != NULL) return CR_OK;
    cr_world_destroy(lane->world);
    lane->world = NULL;
    if (job->varied_count == 0) return make_world(lane, job, model_of(job, i));
    crStatus status = own_model(lane, model_of(job, i));
    if (status != CR_OK) return status;
    cr__lane_vary(lane, job, i);
    return make_world(lane, job, &lane->model);
}

int cr__batch_goal(const crBatchJob* job, int i) {
    int goal = 0;
    if (job->path.samples == 0) return job->steps;
    for (int k = 0; k < job->path.samples; k++) {
        goal += job->path.steps[(size_t)i * (size_t)job->path.samples + (size_t)k];
    }
    return goal;
}

// Where a world is on its path: the steps before sample `at`, one of all samples, and how many of them are left.
typedef struct OnPath {
    size_t at, end;
    int left;
} OnPath;

static OnPath on_path(const crBatchJob* job, int i, int made) {
    size_t samples = (size_t)job->path.samples;
    OnPath p = {(size_t)i * samples, ((size_t)i + 1) * samples, 0};
    while (p.at < p.end && made >= job->path.steps[p.at]) {
        made -= job->path.steps[p.at++];
    }
    if (p.at < p.end) p.left = job->path.steps[p.at] - made;
    return p;
}

// after a step to q: the sample that it ends is written
static void pass(const crBatchJob* job, const double* q, OnPath* p) {
    size_t nq = (size_t)job->model->nq;
    if (--p->left > 0) return;
    if (job->path.q != NULL) memcpy(job->path.q + p->at * nq, q, nq * sizeof(double));
    do {
        p->at++;
    } while (p->at < p->end && job->path.steps[p->at] == 0);
    if (p->at < p->end) p->left = job->path.steps[p->at];
}

// The steps of a world under way.
typedef struct Run {
    const crBatchJob* job;
    int world, made, until;
    OnPath place;
    crBatchResult result;
} Run;

// length of the next step; dt: what scales thresholds
static double next_length(const Run* run, double* dt) {
    const crBatchPath* path = &run->job->path;
    double h = path->samples > 0 ? path->h[run->place.at] : run->job->h;
    if (path->as_dt) *dt = h;
    return h;
}

static void note_step(Run* run, const crCertificate* c, const double* q) {
    const crBatchJob* job = run->job;
    crBatchResult* r = &run->result;
    cr_tally_add(&r->tally, c);
    r->created = fmax(r->created, c->energy.created);
    r->rise = fmax(r->rise, r->tally.worst.energy.change);
    if (job->path.samples > 0) pass(job, q, &run->place);
    run->made++;
}

// steps of a lone body, as long as they are plain
static crStatus run_lone(Run* run, crBatchLane* lane) {
    crLoneState s;
    crCertificate c;
    int made = run->made;
    if (!cr__lone_fits(&lane->lone, lane->world)) return CR_OK;
    cr__lone_take(lane->world, &s);
    while (run->made < run->until &&
           cr__lone_step(&lane->lone, lane->world->step.model, next_length(run, &s.dt), &s, &c)) {
        note_step(run, &c, s.q);
    }
    return run->made > made ? cr__lone_give(&s, lane->world) : CR_OK;
}

static crStatus step_once(Run* run, crBatchLane* lane, double h) {
    const crStep* step = &lane->world->step;
    crStatus status = cr__world_step_by(lane->world, h, NULL);
    if (status != CR_OK) return status;
    if (run->job->logs != NULL) cr__hits_add(run->job, run->world, lane->world);
    note_step(run, &step->certificate, step->state.q);
    return CR_OK;
}

// Short steps go in loops of their own: neighbouring threads of a device meet again where they take the stages.
static crStatus run_steps(Run* run, crBatchLane* lane) {
    double* dt = &lane->world->step.settings.dt;
    crStatus status = CR_OK;
    int whole = run->job->whole > 0 ? run->job->whole : INT_MAX;
    for (int n = 0; status == CR_OK && run->made < run->until; n++) {
        if (!run->job->apart) status = run_lone(run, lane);
        while (status == CR_OK && run->made < run->until &&
               cr__world_still(lane->world, next_length(run, dt))) {
            status = step_once(run, lane, next_length(run, dt));
        }
        if (status != CR_OK || run->made == run->until || n == whole) break;
        status = step_once(run, lane, next_length(run, dt));
    }
    return status;
}

static Run begin_run(const crBatchJob* job, int i) {
    if (job->fresh) job->results[i] = (crBatchResult){0};
    if (job->fresh) job->made[i] = 0;
    if (job->fresh && job->logs != NULL) job->logs[i] = (crHitLog){.time = -1.0};
    Run run = {.job = job,
               .world = i,
               .made = job->made[i],
               .until = cr__batch_goal(job, i),
               .result = job->results[i]};
    if (job->most > 0 && run.until - run.made > job->most) run.until = run.made + job->most;
    if (run.made < run.until) run.place = on_path(job, i, run.made);
    return run;
}

// A world of one body under way.
typedef struct Alone {
    Run run;
    crLoneState s;
    crLoneWalk walk;
    crCertificate c;
    crLonePhase phase;
    int from;    // steps that were made before
    bool works;  // has steps to make, as far as they are plain
} Alone;

static bool take_alone(const crBatchJob* job, int i, crLoneState* s) {
    crRecord record = {job->words + i, job->stride};
    *s = (crLoneState){.dt = job->settings.dt};
    return cr__record_take(&job->layout, record, s) && s->warm_count <= job->layout.warm_room;
}

static void begin_alone(Alone* a, const crBatchJob* job, int i) {
    a->run = begin_run(job, i);
    a->from = a->run.made;
    a->works = take_alone(job, i, &a->s) && a->run.made < a->run.until;
    a->phase = a->works ? CR_LONE_MADE : CR_LONE_LEFT;
}

// the next step begins
static void start_alone(Alone* a) {
    const crBatchJob* job = a->run.job;
    a->phase = cr__lone_start(&job->lone, job->model, next_length(&a->run, &a->s.dt), &a->s, &a->walk, &a->c);
}

// after each phase: a step that was made counts
static void note_alone(Alone* a) {
    if (a->phase == CR_LONE_MADE) note_step(&a->run, &a->c, a->s.q);
    a->works = a->phase == CR_LONE_WAITS || (a->phase == CR_LONE_MADE && a->run.made < a->run.until);
}

static crTurn end_alone(const Run* run, const crLoneState* s, int from) {
    const crBatchJob* job = run->job;
    crRecord record = {job->words + run->world, job->stride};
    if (run->made > from) cr__record_give(&job->layout, record, s);
    job->made[run->world] = run->made;
    job->results[run->world] = run->result;
    return run->made >= run->until ? CR_TURN_OVER : CR_TURN_DEVICE;
}

crTurn cr__lane_lone(const crBatchJob* job, int i) {
    Run run = begin_run(job, i);
    crLoneState s;
    crCertificate c;
    int from = run.made;
    if (run.made >= run.until) return CR_TURN_OVER;
    if (!take_alone(job, i, &s)) return CR_TURN_DEVICE;
    while (run.made < run.until && cr__lone_step(&job->lone, job->model, next_length(&run, &s.dt), &s, &c)) {
        note_step(&run, &c, s.q);
    }
    return end_alone(&run, &s, from);
}

// steps of a world as far as its next sweeps
static void walk_on(Alone* a) {
    while (a->works && (a->phase == CR_LONE_MADE || !cr__few_is_open(&a->walk.solve.few))) {
        if (a->phase == CR_LONE_MADE) {
            start_alone(a);
        } else {
            a->phase = cr__lone_finish(&a->walk, &a->c);
        }
        note_alone(a);
    }
}

void cr__lane_lones(const crBatchJob* job, const int* list, int count) {
    Alone a[CR_LONE_WORLDS];
    crFew* open[CR_LONE_WORLDS];
    int waiting = 1;
    for (int k = 0; k < count; k++) {
        begin_alone(&a[k], job, list[k]);
    }
    while (waiting > 0) {
        waiting = 0;
        for (int k = 0; k < count; k++) {
            walk_on(&a[k]);
            if (a[k].phase == CR_LONE_WAITS) open[waiting++] = &a[k].walk.solve.few;
        }
        cr__few_lanes(open, waiting);
    }
    for (int k = 0; k < count; k++) {
        end_alone(&a[k].run, &a[k].s, a[k].from);
    }
}

crStatus cr__lane_run(crBatchLane* lane, const crBatchJob* job, int i) {
    crRecord record = {job->words + i, job->stride};
    crBatchResult* result = &job->results[i];
    Run run = begin_run(job, i);
    if (run.made >= run.until) return CR_OK;
    crHitLog log = job->logs != NULL ? job->logs[i] : (crHitLog){0};
    crStatus status = prepare(lane, job, i);
    if (status == CR_OK) status = cr__record_load(&job->layout, record, lane->world);
    if (status != CR_OK) return status;
    // a world of another structure than the records
    bool fits = lane->world->step.ties.count == job->layout.tie_count;
    status = fits ? run_steps(&run, lane) : CR_ERR_SIZE;
    lane->world->step.settings.dt = job->settings.dt;
    // a record that is too small keeps the world as it was when the lane took it
    crStatus stored = cr__record_store(&job->layout, record, lane->world);
    if (stored != CR_OK && job->logs != NULL) job->logs[i] = log;
    if (stored != CR_OK) return stored;
    job->made[i] = run.made;
    *result = run.result;
    if (status == CR_ERR_MEMORY) return status;
    result->status = status;
    return CR_OK;
}
