// verb_compare.c - carom compare: the same scene by several choices, one table and one picture.
//
// One option is a list, or `all` of a catalogue; each of its values is set in the scene's tree in turn and
// run. A value that the scene or the run refuses is listed with the reason and the others go on.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "compare.h"
#include "io/json_set.h"
#include "plot/charts.h"
#include "plot/gnuplot.h"
#include "progress.h"
#include "report.h"
#include "stream.h"

#define DIFFERS 1e-6
#define LEGEND  12  // lines of a chart

static void print_help(void) {
    puts("usage: carom compare SCENE --rule A,B,... [options]\n"
         "\n"
         "Runs a scene once for each choice and puts the outcomes side by side: energy, impacts, the worst\n"
         "certificate, and where every body ends; what differs from the first is marked. SCENE is a file,\n"
         "- for standard input, or the name of a scene that comes with carom.\n"
         "\n"
         "one of these is a list, or all:\n"
         "  --rule A,B,...    of impacts at many contacts    --law A,B,...     of one contact\n"
         "  --method A,B,...  cone, lcp, moreau, event       --solver A,B,...  of contact problems\n"
         "  --dt A,B,...      lengths of a step              --tol A,B,...     what counts as solved\n"
         "  --set PATH=A,B,...  any value of the scene\n"
         "\n"
         "  --bodies A,B,...  to show, instead of the first twelve that moved\n"
         "  --plot FILE       energy, positions and velocities over each other: .svg, .png or .pdf\n"
         "  --report FILE     a page with the runs side by side: animation, charts, outcome: .html\n"
         "  --json            everything as one JSON object\n"
         "  --strict          bodies that overlap at the start are an error, not a warning\n"
         "\n"
         "in place of what the scene says, as in carom run: a single value of the options above, and\n"
         "  --duration S --quality NAME --threads N\n"
         "\n"
         "Exit status: 0 good, 1 bad scene or a choice that was refused (not with all), 2 wrong usage,\n"
         "3 a file cannot be opened or written, 4 a step failed or was not solved, 130 interrupted.\n"
         "\n"
         "examples:\n"
         "  carom compare newtons-cradle-5 --rule all\n"
         "  carom compare superball --rule sequence --law chatterjee-ruina,routh,brach --plot hop.svg\n"
         "  carom compare falling-rod --method cone,lcp,moreau,event --bodies rod\n"
         "  carom compare bouncing-ball --set materials.rubber.e=0.5,0.7,0.9 --json");
}

static const char* catalogue(const char* name, int index) {
    if (strcmp(name, "rule") == 0) return index < cr_rule_count() ? cr_rule_info(index)->name : NULL;
    if (strcmp(name, "law") == 0) return index < cr_law_count() ? cr_law_info(index)->name : NULL;
    if (strcmp(name, "solver") == 0) return cr_solver_name(index);
    if (strcmp(name, "method") == 0) return cr_method_name((crMethod)index);
    return NULL;
}

// a comma that is not inside brackets or quotes, NULL where there is none
static char* next_comma(char* text) {
    int depth = 0;
    bool quoted = false;
    for (; *text != '\0'; text++) {
        if (*text == '"') quoted = !quoted;
        if (quoted) continue;
        depth += (*text == '[' || *text == '{') - (*text == ']' || *text == '}');
        if (*text == ',' && depth == 0) return text;
    }
    return NULL;
}

static int take_all(Choice* choice) {
    const char* name = NULL;
    choice->all = true;
    for (; (name = catalogue(choice->name, choice->count)) != NULL && choice->count < COMPARE_MOST;) {
        choice->values[choice->count++] = (char*)(uintptr_t)name;
    }
    return choice->count > 0 ? EXIT_GOOD
                             : usage_error("compare", "--%s has no catalogue: list its values", choice->name);
}

// the values of a list, cut in place
static int take_list(Comparison* c, const char* name, const char* path, char* list) {
    Choice* choice = &c->choice;
    if (choice->name != NULL)
        return usage_error("compare", "one list at a time: --%s and --%s are two", choice->name, name);
    *choice = (Choice){.name = name, .path = path};
    if (strcmp(list, "all") == 0) return take_all(choice);
    for (char* at = list; at != NULL;) {
        char* comma = next_comma(at);
        if (comma != NULL) *comma = '\0';
        if (*at == '\0') return usage_error("compare", "--%s has an empty value", name);
        if (choice->count == COMPARE_MOST)
            return usage_error("compare", "--%s has more than %d values", name, COMPARE_MOST);
        choice->values[choice->count++] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return EXIT_GOOD;
}

// -1: no list and no option of this verb; else the exit status so far
static int take_option(void* ctx, char* name, char* value) {
    Comparison* c = ctx;
    const char** text = strcmp(name, "--bodies") == 0   ? &c->bodies
                        : strcmp(name, "--plot") == 0   ? &c->plot
                        : strcmp(name, "--report") == 0 ? &c->report
                                                        : NULL;
    if (text != NULL) {
        if (value == NULL) return usage_error("compare", "%s needs a value", name);
        *text = value;
        return EXIT_GOOD;
    }
    if (value == NULL) return -1;
    const char* path = scene_option_path(name);
    if (path != NULL && (next_comma(value) != NULL || strcmp(value, "all") == 0))
        return take_list(c, name + 2, path, value);
    char* equals = strcmp(name, "--set") == 0 ? strchr(value, '=') : NULL;
    if (equals == NULL || next_comma(equals + 1) == NULL) return -1;
    *equals = '\0';
    return take_list(c, value, value, equals + 1);
}

static int check_options(const Comparison* c) {
    if (c->scene.path == NULL) return usage_error("compare", "which scene?");
    if (c->choice.name == NULL)
        return usage_error("compare",
                           "compare what? one of --rule, --law, --method, --solver, --dt, --tol and "
                           "--set must be a list, or all");
    crPictureFormat format;
    if (c->plot != NULL && cr_picture_format(c->plot, &format, NULL) != CR_OK)
        return usage_error("compare", "--plot: '%s' must end in .svg, .png or .pdf", c->plot);
    return report_check("compare", c->report);
}

// -1 to go on, else the exit status
static int read_options(Comparison* c, int count, char** arguments) {
    int status = scene_arguments(&c->scene, count, arguments, print_help, take_option, c);
    return status < 0 ? check_options(c) : status;
}

bool outcome_differs(double a, double b) { return !(fabs(a - b) <= DIFFERS * fmax(1.0, fabs(a))); }

double outcome_value(const Outcome* o, int body, const crColumn* column) {
    const crBody* b = &o->run.scene.model->bodies[body];
    const crState* state = cr_world_state(o->run.world);
    return column->velocity ? state->v[b->v + column->index] : state->q[b->q + column->index];
}

bool comparison_shows(const Comparison* c, const char* body) {
    size_t length = strlen(body);
    for (const char* at = c->bodies; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, body, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return c->bodies == NULL;
}

// every name of --bodies is a body
static int check_bodies(const Comparison* c, const crModel* model) {
    for (const char* at = c->bodies; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        size_t length = strcspn(at, ",");
        bool found = false;
        for (int i = 1; i < model->nb && !found; i++) {
            const char* name = model->bodies[i].name;
            found = strlen(name) == length && strncmp(name, at, length) == 0;
        }
        if (!found)
            return usage_error("compare", "--bodies: no body of the scene is called '%.*s'", (int)length, at);
    }
    return -1;
}

// one choice; -1 to go on, else the exit status
static int run_one(Comparison* c, Outcome* o) {
    Run* run = &o->run;
    *run = (Run){.path = scene_title(&c->scene), .label = o->value};
    crStatus status = cr_json_set(&c->scene.doc, c->choice.path, o->value, &run->error);
    if (status == CR_OK) status = scene_read(&c->scene, &run->scene, &run->error);
    // what has a place in the file is the scene's own fault
    if (status != CR_OK && run->error.line > 0) return scene_refuse(&c->scene, &run->error);
    if (status == CR_OK) {
        int code = check_bodies(c, run->scene.model);
        if (code < 0 && c->first < 0 && !scene_warnings(&c->scene, &run->scene)) code = EXIT_BAD_INPUT;
        if (code >= 0) return code;
        status = cr_scene_world(&run->scene, &run->world, &run->error);
    }
    o->refused = status != CR_OK;
    if (o->refused) return -1;
    bool keep = c->plot != NULL || c->report != NULL;
    if (keep) cr_motion_create(&o->log, run->scene.model);
    run_through(run, NULL, keep ? &o->log : NULL);
    c->interrupted = run->interrupted;
    // a run that could not even begin was refused
    o->refused = run->status != CR_OK && run->tally.steps == 0;
    return -1;
}

static double body_difference(const Outcome* a, const Outcome* b, int body) {
    double worst = 0.0;
    const crColumn* column = cr_trajectory_columns(a->run.scene.model->bodies[body].joint);
    for (; column->name != NULL; column++) {
        worst = fmax(worst, fabs(outcome_value(a, body, column) - outcome_value(b, body, column)));
    }
    return worst;
}

static void measure(const Comparison* c, Outcome* o) {
    const crModel* model = o->run.scene.model;
    for (int i = 1; i < model->nb; i++) {
        if (comparison_shows(c, model->bodies[i].name))
            o->difference = fmax(o->difference, body_difference(o, &c->outcomes[c->first], i));
    }
}

static int run_all(Comparison* c) {
    int code = -1;
    c->first = -1;
    for (int i = 0; i < c->choice.count && code < 0 && !c->interrupted; i++) {
        Outcome* o = &c->outcomes[c->count++];
        o->value = c->choice.values[i];
        code = run_one(c, o);
        if (code >= 0 || o->refused) continue;
        if (c->first < 0) c->first = i;
        // a value may change how many coordinates there are
        const crModel* first = c->outcomes[c->first].run.scene.model;
        if (o->run.scene.model->nb != first->nb || o->run.scene.model->nq != first->nq) {
            cr_error_set(&o->run.error, CR_ERR_SIZE, c->choice.path,
                         "%s: makes another scene: %d bodies with %d coordinates, the first has %d with %d",
                         c->choice.path, o->run.scene.model->nb - 1, o->run.scene.model->nq, first->nb - 1,
                         first->nq);
            o->refused = true;
            continue;
        }
        measure(c, o);
    }
    return code;
}

// how far a body's ends are apart over the runs
static double body_spread(const Comparison* c, int body) {
    const Outcome* first = &c->outcomes[c->first];
    double worst = 0.0;
    for (int i = 0; i < c->count; i++) {
        if (!c->outcomes[i].refused) worst = fmax(worst, body_difference(&c->outcomes[i], first, body));
    }
    return worst;
}

// those of --bodies, or the ones whose ends are farthest apart, as many as a legend can hold; indices of a log
static int choose_bodies(const Comparison* c, const crModel* model, int runs, int bodies[CR_MOTION_BODIES]) {
    int most = c->bodies != NULL ? CR_MOTION_BODIES : LEGEND / runs > 1 ? LEGEND / runs : 1;
    int count = 0;
    for (int i = 1; i < model->nb; i++) {
        if (!comparison_shows(c, model->bodies[i].name)) continue;
        // in the order of spread, the largest first
        int at = count < most ? count : most - 1;
        if (count == most && body_spread(c, i) <= body_spread(c, bodies[at] + 1)) continue;
        for (; at > 0 && body_spread(c, i) > body_spread(c, bodies[at - 1] + 1); at--) {
            bodies[at] = bodies[at - 1];
        }
        bodies[at] = i - 1;
        count += count < most;
    }
    return count;
}

static crStatus draw(const Comparison* c, const crPlotRun* runs, int count, const char* title,
                     crError* error) {
    static const crCharted kinds[] = {CR_CHART_ENERGY, CR_CHART_POSITIONS, CR_CHART_VELOCITIES};
    int bodies[CR_MOTION_BODIES];
    int body_count = choose_bodies(c, runs[0].log->model, count, bodies);
    crCharts charts = {0};
    crStatus status = CR_OK;
    for (int i = 0; i < 3 && status == CR_OK; i++) {
        if (i == 0 || runs[0].log->body_count > 0)
            status = cr_charts_add(&charts, kinds[i], runs, count, bodies, body_count, error);
    }
    if (status == CR_OK) status = cr_charts_save(&charts, c->plot, title, error);
    cr_charts_destroy(&charts);
    return status;
}

// picture and report of the runs that were made
static int show(const Comparison* c) {
    crPlotRun plots[COMPARE_MOST];
    const Run* runs[COMPARE_MOST];
    const char* labels[COMPARE_MOST];
    crMotionLog logs[COMPARE_MOST];
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        const Outcome* o = &c->outcomes[i];
        if (o->refused) continue;
        plots[count] = (crPlotRun){o->value, &o->log};
        runs[count] = &o->run;
        logs[count] = o->log;
        labels[count++] = o->value;
    }
    if (count == 0) return EXIT_GOOD;
    char title[256];
    snprintf(title, sizeof title, "%s by %s", scene_title(&c->scene), c->choice.name);
    crError error = {0};
    int status = EXIT_GOOD;
    if (c->plot != NULL && draw(c, plots, count, title, &error) != CR_OK)
        status = file_refuse(&c->scene, &error);
    if (c->report != NULL && report_runs(c->report, title, runs, logs, labels, count, &error) != CR_OK)
        status = file_refuse(&c->scene, &error);
    return status;
}

static int finish(const Comparison* c) {
    if (c->scene.json) {
        json_comparison(stdout, c);
    } else {
        table_comparison(stdout, c, wants_color());
    }
    int status = c->interrupted ? stop_status() : EXIT_GOOD;
    for (int i = 0; i < c->count && status == EXIT_GOOD; i++) {
        const Outcome* o = &c->outcomes[i];
        if (o->refused && (!c->choice.all || c->first < 0)) status = EXIT_BAD_INPUT;
        if (!o->refused && (o->run.status != CR_OK || o->run.tally.failed > 0)) status = EXIT_UNSOLVED;
    }
    int shown = c->plot != NULL || c->report != NULL ? show(c) : EXIT_GOOD;
    return shown != EXIT_GOOD ? shown : status;
}

int verb_compare(int count, char** arguments) {
    Comparison* c = calloc(1, sizeof *c);
    if (c == NULL) {
        fputs("carom compare: out of memory\n", stderr);
        return EXIT_FILE;
    }
    c->scene = scene_input("compare");
    int status = read_options(c, count, arguments);
    crError error = {0};
    if (status < 0) {
        status = scene_open(&c->scene, &error) == CR_OK ? run_all(c) : scene_refuse(&c->scene, &error);
        if (status < 0) status = finish(c);
    }
    for (int i = 0; i < c->count; i++) {
        cr_motion_destroy(&c->outcomes[i].log);
        cr_world_destroy(c->outcomes[i].run.world);
        cr_scene_free(&c->outcomes[i].run.scene);
    }
    scene_close(&c->scene);
    free(c);
    return status;
}
