// predict_motion.c - carom predict of motions: every toss of a file simulated with fitted values, compared
// with what was measured, with a certificate.
//
// Poses go to a file in the form they were measured in. Fails: file, and what scenes and measurements are
// refused for; a file that is not whole is not left behind.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "predicting.h"
#include "progress.h"
#include "tossing.h"

double predicted_loss(const PredictedMotion* p, int toss) {
    return p->prediction.runs[toss].position + p->prediction.runs[toss].rotation;
}

// how far off the last pose of a toss is
static void end_of(const PredictedMotion* p, int toss, double* distance, double* angle) {
    const crToss* t = &p->tosses.tosses[toss];
    int last = t->first + t->count - 1;
    crPose simulated = p->prediction.poses[last], measured = p->tosses.samples[last].pose;
    *distance = cr_norm(cr_sub(simulated.p, measured.p));
    *angle = cr_rotation_between(simulated.q, measured.q);
}

#define NUMBERS 9
static const char* const names[NUMBERS] = {"misfit",      "loss",           "position",
                                           "rotation",    "end_distance",   "end_angle",
                                           "penetration", "energy_created", "energy_gain"};

static void numbers_of(const PredictedMotion* p, int toss, double numbers[NUMBERS]) {
    const crMotionRun* r = &p->prediction.runs[toss];
    const double all[NUMBERS] = {r->misfit, predicted_loss(p, toss), r->position,       r->rotation,   0.0,
                                 0.0,       r->penetration,          r->energy_created, r->energy_gain};
    memcpy(numbers, all, sizeof all);
    end_of(p, toss, &numbers[4], &numbers[5]);
}

static void print_rows(const PredictedMotion* p) {
    fputs("toss,line,samples", stdout);
    for (int i = 0; i < NUMBERS; i++) {
        printf(",%s", names[i]);
    }
    puts(",impermissible,unsolved,steps");
    for (int k = 0; k < p->tosses.count; k++) {
        const crToss* t = &p->tosses.tosses[k];
        const crMotionRun* r = &p->prediction.runs[k];
        double numbers[NUMBERS];
        numbers_of(p, k, numbers);
        cr_json_write_number(stdout, t->id);
        printf(",%d,%d", t->line, t->count);
        for (int i = 0; i < NUMBERS; i++) {
            putchar(',');
            cr_json_write_number(stdout, numbers[i]);
        }
        printf(",%d,%d,%d\n", r->impermissible, r->unsolved, r->steps);
    }
}

static void put(const char* before, const char* key, double value) {
    printf("%s\"%s\": ", before, key);
    cr_json_write_number(stdout, value);
}

static void json_means(double misfit, double misfit_se, double loss, double loss_se) {
    put("", "misfit", misfit);
    put(", ", "misfit_se", misfit_se);
    put(", ", "loss", loss);
    put(", ", "loss_se", loss_se);
}

static void print_json(const PredictedMotion* p) {
    const crMotionPrediction* m = &p->prediction;
    fputs("{\"predict\": \"motion\", \"law\": ", stdout);
    cr_json_write_string(stdout, p->choice.law);
    printf(", \"tosses\": %d, \"samples\": %d, \"left_out\": %d, \"skipped\": %d, \"planar\": %s",
           p->tosses.count, p->tosses.sample_count, p->tosses.left_out, p->tosses.skipped,
           p->tosses.planar ? "true" : "false");
    put(", ", "length", p->model.length);
    put(", ", "scale", p->model.scale);
    printf(", \"substeps\": %d,\n ", p->model.substeps);
    json_means(m->misfit, m->misfit_se, m->loss, m->loss_se);
    put(", ", "position", m->position);
    put(", ", "rotation", m->rotation);
    fputs(",\n \"fitted\": {", stdout);
    json_means(p->choice.misfit, p->choice.misfit_se, p->choice.loss, p->choice.loss_se);
    fputs("},\n ", stdout);
    tossing_json_certificate(stdout, &m->worst);
    fputs(",\n \"predictions\": [", stdout);
    for (int k = 0; k < p->tosses.count; k++) {
        double numbers[NUMBERS];
        numbers_of(p, k, numbers);
        put(k > 0 ? ",\n  {" : "\n  {", "toss", p->tosses.tosses[k].id);
        printf(", \"line\": %d, \"samples\": %d", p->tosses.tosses[k].line, p->tosses.tosses[k].count);
        for (int i = 0; i < NUMBERS; i++) {
            put(", ", names[i], numbers[i]);
        }
        const crMotionRun* r = &m->runs[k];
        printf(", \"impermissible\": %d, \"unsolved\": %d, \"steps\": %d, \"broken\": %s}", r->impermissible,
               r->unsolved, r->steps, r->broken ? "true" : "false");
    }
    fputs("]}\n", stdout);
}

static void summarize(const PredictedMotion* p) {
    const crMotionPrediction* m = &p->prediction;
    print_plain(stderr, p->choice.law);
    fprintf(stderr, ": %d toss%s", p->tosses.count, p->tosses.count == 1 ? "" : "es");
    if (p->tosses.skipped > 0)
        fprintf(stderr, ", %d bad ones skipped (the first on line %d)", p->tosses.skipped,
                p->tosses.skip_first.line);
    fprintf(stderr, "; misfit %.4g +- %.2g, loss %.4g +- %.2g (position %.4g, rotation %.4g)\n", m->misfit,
            m->misfit_se, m->loss, m->loss_se, m->position, m->rotation);
    if (p->choice.misfit == p->choice.misfit)
        fprintf(stderr, "cross-validated where it was fitted: misfit %.4g +- %.2g, loss %.4g +- %.2g\n",
                p->choice.misfit, p->choice.misfit_se, p->choice.loss, p->choice.loss_se);
    tossing_certificate(stderr, p->choice.law, &m->worst);
}

// poses at every sample; an angle in the plane goes on from the one before
static void write_poses(const PredictedMotion* p, FILE* file) {
    bool planar = p->tosses.planar;
    fputs(planar ? "toss,t,px,py,angle\n" : "toss,t,px,py,pz,qw,qx,qy,qz\n", file);
    for (int i = 0; i < p->tosses.count; i++) {
        const crToss* t = &p->tosses.tosses[i];
        double angle = p->tosses.samples[t->first].angle;
        for (int k = t->first; k < t->first + t->count; k++) {
            const crPose* at = &p->prediction.poses[k];
            double turned = 2.0 * cr_atan2(at->q.z, at->q.w) - angle;
            angle += turned - 2.0 * CR_PI * floor(turned / (2.0 * CR_PI) + 0.5);
            const double spatial[] = {at->p.x, at->p.y, at->p.z, at->q.w, at->q.x, at->q.y, at->q.z};
            const double flat[] = {at->p.x, at->p.y, angle};
            cr_json_write_number(file, t->id);
            putc(',', file);
            cr_json_write_number(file, p->tosses.samples[k].time);
            for (int c = 0; c < (planar ? 3 : 7); c++) {
                putc(',', file);
                cr_json_write_number(file, planar ? flat[c] : spatial[c]);
            }
            putc('\n', file);
        }
    }
}

static crStatus write_out(const PredictedMotion* p, const char* path, crError* error) {
    FILE* file = fopen(path, "w");
    if (file != NULL) write_poses(p, file);
    return cr_fit_close(file, path, error);
}

static bool watch(void* ctx, int done, int count) {
    return progress_show(ctx, "tosses simulated", done, count);
}

static crStatus simulate(PredictedMotion* p, crError* error) {
    Progress progress;
    crMotionOptions options = {.threads = p->asked->threads, .watch = watch, .ctx = &progress};
    progress_begin(&progress);
    crStatus status = cr_motion_predict(&p->model, NULL, &options, &p->prediction, error);
    progress_end(&progress);
    return status;
}

static int show(const PredictedMotion* p) {
    crError error = {0};
    crStatus status = CR_OK;
    if (p->asked->out != NULL) status = write_out(p, p->asked->out, &error);
    if (status == CR_OK && p->asked->report != NULL) status = predicted_report(p, p->asked->report, &error);
    if (p->asked->json) {
        print_json(p);
    } else {
        print_rows(p);
        summarize(p);
    }
    return status == CR_OK ? EXIT_GOOD : fitting_refuse("predict", p->asked->path, &error);
}

static int run(Predicting* asked, PredictedMotion* p) {
    crError error = {0};
    crTable table = {0};
    bool other = asked->scene.path != NULL;
    if (cr_motion_choose(asked->doc.root, asked->law, &p->choice, &error) != CR_OK)
        return fitting_refuse("predict", asked->params, &error);
    if (asked->substeps > 0) p->choice.substeps = asked->substeps;
    if (other && scene_open(&asked->scene, &error) != CR_OK) return scene_refuse(&asked->scene, &error);
    crStatus status = cr_table_read(asked->path, &table, &error);
    if (status == CR_OK) status = cr_tosses_create(&table, &asked->columns, &p->tosses, &error);
    cr_table_free(&table);
    if (status != CR_OK) return fitting_refuse("predict", asked->path, &error);
    status = cr_motion_choice_model(&p->choice, other ? asked->scene.doc.root : NULL, &p->tosses, &p->model,
                                    &error);
    // what the measurements are blamed for has a column's name
    if (status != CR_OK && strcmp(error.field, "vx") != 0)
        return other ? scene_refuse(&asked->scene, &error) : fitting_refuse("predict", asked->params, &error);
    if (status == CR_OK) status = simulate(p, &error);
    if (status != CR_OK) return stop_asked() ? stop_status() : fitting_refuse("predict", asked->path, &error);
    return show(p);
}

int predict_motion(Predicting* asked) {
    PredictedMotion p = {.asked = asked};
    int code = run(asked, &p);
    cr_motion_prediction_destroy(&p.prediction);
    cr_motion_model_destroy(&p.model);
    cr_tosses_destroy(&p.tosses);
    scene_close(&asked->scene);
    return code;
}
