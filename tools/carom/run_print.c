// run_print.c - the closing summary of `carom run`, for people and as JSON.
#include <math.h>

#include "command.h"
#include "io/json.h"
#include "numbers.h"
#include "run.h"
#include "stream.h"

static double total(crEnergy e) { return e.kinetic + e.potential; }

static const char* separator(int* count) { return (*count)++ == 0 ? "" : ", "; }

// how the steps ended: solved, near, bounded, cannot tell, not solved
static void put_outcomes(FILE* file, const crTally* t) {
    int parts = 0;
    if (t->solved == t->steps) {
        fputs(t->steps > 0 ? "every step solved" : "no step was made", file);
        return;
    }
    if (t->failed == 0 && t->unsure == 0)
        fputs(t->bounded > 0  ? "every step keeps its bounds: "
              : t->solved > 0 ? "every step solved or near: "
                              : "",
              file);
    if (t->failed > 0) fprintf(file, "%s%d of %d steps not solved", separator(&parts), t->failed, t->steps);
    if (t->unsure > 0) fprintf(file, "%s%d cannot tell", separator(&parts), t->unsure);
    if (t->bounded > 0) fprintf(file, "%s%d bounded", separator(&parts), t->bounded);
    if (t->near > 0) fprintf(file, "%s%d near", separator(&parts), t->near);
    if (t->solved > 0) fprintf(file, "%s%d solved", separator(&parts), t->solved);
}

static void put_certificate(FILE* file, const Run* run, bool color) {
    const crTally* t = &run->tally;
    const crCertificate* w = &t->worst;
    bool good = t->failed == 0 && run->status == CR_OK;
    fprintf(file, "certificate  %s", color ? (good ? GREEN : RED) : "");
    put_outcomes(file, t);
    fprintf(file, "%s, residual %.1e worst, %.1e median\n", color ? PLAIN : "", w->residual,
            median_of(&run->residuals));
    fprintf(file, "             exact for gaps that differ by at most %.1e m (%.1e m/s)\n", w->distance,
            w->eta);
    fprintf(file, "             overlap %.1e m", w->penetration);
    if (t->measured > 0)
        fprintf(file, " (measured %.1e m, %d %s)", w->overlap, t->measured,
                noun(t->measured, "step", "steps"));
    fprintf(file, ", loops %.1e\n", w->loop_error);
    if (run->scene.step.error > 0.0)
        fprintf(file, "             error of time %.1e m, summed over parts of at most %.1e m\n",
                w->time_error, run->scene.step.error);
    if (w->crossings > 0 || w->crossings_unsure > 0) {
        fprintf(file, "             %s%d %s passed through each other%s, of %d cannot tell\n",
                color ? RED : "", w->crossings, noun(w->crossings, "pair", "pairs"), color ? PLAIN : "",
                w->crossings_unsure);
    }
    if (w->impermissible > 0 || w->impacts_unsure > 0) {
        fprintf(file, "             %d %s outside the permissible region, of %d cannot tell\n",
                w->impermissible, noun(w->impermissible, "impact", "impacts"), w->impacts_unsure);
    }
}

static void put_energy(FILE* file, const crTally* t) {
    const crCertificate* w = &t->worst;
    if (w->energy.work != 0.0)
        fprintf(file, "             work of motors, forces and driven bodies %+.3g J\n", w->energy.work);
    if (w->energy.created > 1e-15 * w->energy.size) {
        fprintf(file, "             created by impacts and contacts %.3g J\n", w->energy.created);
    }
    if (w->energy.gain > 1e-15 * w->energy.size) {
        fprintf(file, "             gained without work in some steps, together %.3g J\n", w->energy.gain);
    }
    if (t->unknown > 0)
        fprintf(file, "             work of your own forces is not known in %d %s\n", t->unknown,
                noun(t->unknown, "step", "steps"));
}

// the table's numbers carry the digits a reader can use; --json has them all
void table_run(FILE* file, const Run* run, bool color) {
    const crTally* t = &run->tally;
    const crStepSettings* s = &run->scene.step;
    print_plain(file, run->path);
    fprintf(file, ": %d %s, %d %s, %d %s\n", run->scene.model->nb - 1,
            noun(run->scene.model->nb - 1, "body", "bodies"), run->scene.model->shape_count,
            noun(run->scene.model->shape_count, "shape", "shapes"), run->scene.model->nv,
            noun(run->scene.model->nv, "degree of freedom", "degrees of freedom"));
    fprintf(file, "method %s, dt %.6g s, rule %s, law %s, solver %s to %.1e\n", cr_method_name(s->method),
            s->dt, s->rule.name, s->law.name, s->solver.name, cr_step_tol(s));
    fprintf(file, "time         %.6g s in %d %s, %.3g s of computing%s\n", run->time, t->steps,
            noun(t->steps, "step", "steps"), run->seconds, run->interrupted ? ", interrupted" : "");
    if (run->resumed) fprintf(file, "resumed      at %.6g s\n", run->resumed_at);
    fprintf(file, "contacts     %d at most, %d %s, %d %s\n", t->worst.contacts, t->worst.impacts,
            noun(t->worst.impacts, "impact", "impacts"), run->events, noun(run->events, "event", "events"));
    put_certificate(file, run, color);
    fprintf(file, "energy       %.6g J at the start, %.6g J at the end, change %+.3g J\n", total(run->start),
            total(run->end), total(run->end) - total(run->start));
    put_energy(file, t);
}

static void member(FILE* file, const char* name, double value) {
    fprintf(file, ",\"%s\":", name);
    cr_json_write_number(file, value);
}

static void count(FILE* file, const char* name, int value) { fprintf(file, ",\"%s\":%d", name, value); }

static void json_certificate(FILE* file, const Run* run) {
    const crTally* t = &run->tally;
    const crCertificate* w = &t->worst;
    fprintf(file, ",\"certificate\":{\"outcome\":\"%s\"", cr_outcome_name(w->outcome));
    member(file, "tol", cr_step_tol(&run->scene.step));
    count(file, "solved_steps", t->solved);
    count(file, "near_steps", t->near);
    count(file, "bounded_steps", t->bounded);
    count(file, "unsure_steps", t->unsure);
    count(file, "unsolved_steps", t->failed);
    member(file, "worst_residual", w->residual);
    member(file, "median_residual", median_of(&run->residuals));
    member(file, "mean_residual", t->mean_residual);
    member(file, "eta", w->eta);
    member(file, "distance", w->distance);
    member(file, "floor", w->floor);
    member(file, "momentum", w->momentum);
    member(file, "approach", w->laws.approach);
    member(file, "cone", w->laws.cone);
    member(file, "dissipation", w->laws.dissipation);
    member(file, "complementarity", w->laws.complementarity);
    member(file, "penetration", w->penetration);
    member(file, "overlap", w->overlap);
    count(file, "measured_steps", t->measured);
    count(file, "crossings", w->crossings);
    count(file, "crossings_unsure", w->crossings_unsure);
    member(file, "loop_error", w->loop_error);
    member(file, "time_error", w->time_error);
    member(file, "energy_change", w->energy.change);
    member(file, "work", w->energy.work);
    member(file, "energy_created", w->energy.created);
    member(file, "energy_gain", w->energy.gain);
    member(file, "energy_size", w->energy.size);
    count(file, "energy_unknown_steps", t->unknown);
    count(file, "impermissible", w->impermissible);
    count(file, "impacts_unsure", w->impacts_unsure);
    count(file, "solves", w->solves);
    count(file, "rows", w->rows);
    count(file, "asleep", w->asleep);
    count(file, "escaped", w->escaped);
    fprintf(file, ",\"truncated\":%s}", w->truncated ? "true" : "false");
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
    member(file, "error", s->error);
    member(file, "tol", cr_step_tol(s));
    member(file, "duration", run->scene.duration);
    member(file, "time", run->time);
    if (run->resumed) member(file, "resumed_at", run->resumed_at);
    fprintf(file, ",\"steps\":%d,\"contacts\":%d,\"impacts\":%d,\"events\":%d", run->tally.steps,
            run->tally.worst.contacts, run->tally.worst.impacts, run->events);
    json_certificate(file, run);
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
