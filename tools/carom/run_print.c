// run_print.c - the closing summary of `carom run`, for people and as JSON.
#include <math.h>

#include "command.h"
#include "io/json.h"
#include "numbers.h"
#include "run.h"
#include "stream.h"

static double total(crEnergy e) { return e.kinetic + e.potential; }

// the table's numbers carry the digits a reader can use; --json has them all
void table_run(FILE* file, const Run* run, bool color) {
    const Tally* t = &run->tally;
    const crStepSettings* s = &run->scene.step;
    print_plain(file, run->path);
    fprintf(file, ": %d bodies, %d shapes, %d degrees of freedom\n", run->scene.model->nb - 1,
            run->scene.model->shape_count, run->scene.model->nv);
    fprintf(file, "method %s, dt %.6g s, rule %s, law %s, solver %s to %.1e\n", cr_method_name(s->method),
            s->dt, s->rule.name, s->law.name, s->solver.name, cr_step_tol(s));
    fprintf(file, "time         %.6g s in %d steps, %.3g s of computing%s\n", run->time, t->steps,
            run->seconds, run->interrupted ? ", interrupted" : "");
    if (run->resumed) fprintf(file, "resumed      at %.6g s\n", run->resumed_at);
    fprintf(file, "contacts     %d at most, %d impacts, %d events\n", t->contacts, t->impacts, t->events);
    bool good = t->unsolved == 0 && run->status == CR_OK;
    fprintf(file, "certificate  %s", color ? (good ? GREEN : RED) : "");
    if (t->unsolved == 0) {
        fputs("every step solved", file);
    } else {
        fprintf(file, "%d of %d steps not solved", t->unsolved, t->steps);
    }
    fprintf(file, "%s, residual %.1e worst, %.1e mean\n", color ? PLAIN : "", t->residual, t->mean_residual);
    fprintf(file, "             overlap %.1e m, approach %.1e m/s, loops %.1e\n", t->penetration, t->approach,
            t->loop_error);
    if (t->impermissible > 0 || t->energy_created > 0.0) {
        fprintf(file, "             %d impacts outside the permissible region, energy created %.3g J\n",
                t->impermissible, t->energy_created);
    }
    fprintf(file, "energy       %.6g J at the start, %.6g J at the end, change %+.3g J\n", total(run->start),
            total(run->end), total(run->end) - total(run->start));
}

static void member(FILE* file, const char* name, double value) {
    fprintf(file, ",\"%s\":", name);
    cr_json_write_number(file, value);
}

static void json_certificate(FILE* file, const Tally* t) {
    fprintf(file, ",\"certificate\":{\"unsolved_steps\":%d", t->unsolved);
    member(file, "worst_residual", t->residual);
    member(file, "mean_residual", t->mean_residual);
    member(file, "approach", t->approach);
    member(file, "cone", t->cone);
    member(file, "dissipation", t->dissipation);
    member(file, "complementarity", t->complementarity);
    member(file, "penetration", t->penetration);
    member(file, "loop_error", t->loop_error);
    member(file, "energy_created", t->energy_created);
    fprintf(file, ",\"impermissible\":%d}", t->impermissible);
}

static void json_energy(FILE* file, const Run* run) {
    fputs(",\"energy\":{\"start\":", file);
    cr_json_write_number(file, total(run->start));
    member(file, "end", total(run->end));
    member(file, "change", total(run->end) - total(run->start));
    member(file, "kinetic", run->end.kinetic);
    member(file, "potential", run->end.potential);
    putc('}', file);
}

// coordinates and velocities of each body at the end
static void json_bodies(FILE* file, const Run* run) {
    const crModel* model = run->scene.model;
    const crState* state = cr_world_state(run->world);
    fputs(",\"bodies\":{", file);
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (i > 1) putc(',', file);
        cr_json_write_string(file, body->name);
        fputs(":{", file);
        for (const crColumn* c = cr_trajectory_columns(body->joint); c->name != NULL; c++) {
            if (c != cr_trajectory_columns(body->joint)) putc(',', file);
            fprintf(file, "\"%s\":", c->name);
            cr_json_write_number(file,
                                 c->velocity ? state->v[body->v + c->index] : state->q[body->q + c->index]);
        }
        putc('}', file);
    }
    putc('}', file);
}

static void json_overlaps(FILE* file, const crScene* scene) {
    fputs(",\"overlaps\":[", file);
    for (int i = 0; i < scene->overlap_count && i < CR_SCENE_OVERLAPS; i++) {
        char name[CR_SCENE_NAME];
        fputs(i > 0 ? ",{\"a\":" : "{\"a\":", file);
        cr_scene_shape_name(scene, scene->overlaps[i].shape_a, name);
        cr_json_write_string(file, name);
        fputs(",\"b\":", file);
        cr_scene_shape_name(scene, scene->overlaps[i].shape_b, name);
        cr_json_write_string(file, name);
        member(file, "depth", scene->overlaps[i].depth);
        putc('}', file);
    }
    putc(']', file);
}

void json_run_members(FILE* file, const Run* run) {
    const crStepSettings* s = &run->scene.step;
    fputs("\"scene\":", file);
    cr_json_write_string(file, run->path);
    fprintf(file, ",\"method\":\"%s\",\"rule\":\"%s\",\"law\":\"%s\",\"solver\":\"%s\"",
            cr_method_name(s->method), s->rule.name, s->law.name, s->solver.name);
    member(file, "dt", s->dt);
    member(file, "tol", cr_step_tol(s));
    member(file, "duration", run->scene.duration);
    member(file, "time", run->time);
    if (run->resumed) member(file, "resumed_at", run->resumed_at);
    fprintf(file, ",\"steps\":%d,\"contacts\":%d,\"impacts\":%d,\"events\":%d", run->tally.steps,
            run->tally.contacts, run->tally.impacts, run->tally.events);
    json_certificate(file, &run->tally);
    json_energy(file, run);
    json_bodies(file, run);
    json_overlaps(file, &run->scene);
    fprintf(file, ",\"hash\":\"%016llx\"", (unsigned long long)cr_world_hash(run->world));
    fprintf(file, ",\"interrupted\":%s", run->interrupted ? "true" : "false");
    member(file, "wall_time", run->seconds);
    if (run->status != CR_OK) {
        putc(',', file);
        json_error_member(file, &run->error);
    }
}

void json_run(FILE* file, const Run* run) {
    putc('{', file);
    json_run_members(file, run);
    fputs("}\n", file);
}
