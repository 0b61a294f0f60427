// compare_print.c - what carom compare found, for people and as JSON.
//
// The table of outcomes has a line for every coordinate and velocity that some run changed, a column for
// every run, and breaks where columns would not fit. A star marks what differs from the first run.
#include <math.h>
#include <string.h>

#include "command.h"
#include "compare.h"
#include "numbers.h"
#include "stream.h"

#define MOST_BODIES 12  // in the table unless named
#define NUMBER      11  // columns of a number at least
#define NAME        16  // of a value's name at most

static double total(crEnergy e) { return e.kinetic + e.potential; }

// columns of the longest value, within limits
static int widest(const Comparison* c, int least, int most) {
    int width = least;
    for (int i = 0; i < c->count; i++) {
        int length = plain_width(c->outcomes[i].value);
        width = length > width ? length : width;
    }
    return width < most ? width : most;
}

static int cell(const Comparison* c) { return widest(c, NUMBER, NAME); }

static void put_run(FILE* file, const Comparison* c, const Outcome* o, int width, bool color) {
    const Run* run = &o->run;
    const crTally* t = &run->tally;
    const crCertificate* w = &t->worst;
    bool energy = outcome_differs(total(c->outcomes[c->first].run.end), total(run->end));
    print_plain(file, o->value);
    fprintf(file, "%*s", width - plain_width(o->value) > 0 ? width - plain_width(o->value) : 0, "");
    fprintf(file, " %s%11.5g%c%s", color && energy ? AMBER : "", total(run->end) - total(run->start),
            energy ? '*' : ' ', color && energy ? PLAIN : "");
    fprintf(file, " %7d %8d %8d", w->impacts, w->contacts, t->steps);
    bool bad = t->failed > 0 || run->status != CR_OK;
    fprintf(file, " %s%8d%s", color && bad ? RED : "", t->failed, color && bad ? PLAIN : "");
    fprintf(file, "  %8.1e  %8.1e %9.3g\n", w->residual, w->penetration, run->seconds);
    if (run->status != CR_OK) {
        fprintf(file, "  failed at %.6g s: ", run->time);
        print_plain(file, run->error.message);
        putc('\n', file);
    } else if (w->impermissible > 0 || w->energy.created > 1e-15 * w->energy.size || w->crossings > 0) {
        fprintf(file, "  %d %s outside the permissible region, energy created %.3g J, %d %s crossed\n",
                w->impermissible, noun(w->impermissible, "impact", "impacts"), w->energy.created,
                w->crossings, noun(w->crossings, "pair", "pairs"));
    }
}

static void put_refused(FILE* file, const Comparison* c) {
    for (int i = 0; i < c->count; i++) {
        const Outcome* o = &c->outcomes[i];
        if (!o->refused) continue;
        fputs("refused: ", file);
        print_plain(file, o->value);
        fputs(": ", file);
        print_plain(file, o->run.error.message);
        fprintf(file, " (%s)\n", cr_status_name(o->run.error.status));
    }
}

static double start_value(const Outcome* o, int body, const crColumn* column) {
    const crScene* scene = &o->run.scene;
    const crBody* b = &scene->model->bodies[body];
    return column->velocity ? scene->v[b->v + column->index] : scene->q[b->q + column->index];
}

// some run changed it; orientations of free bodies are left to --json
static bool is_shown(const Comparison* c, int body, const crColumn* column) {
    if (column->name[0] == 'q' && column->name[1] != '\0') return false;
    for (int i = 0; i < c->count; i++) {
        const Outcome* o = &c->outcomes[i];
        if (!o->refused && outcome_differs(outcome_value(o, body, column), start_value(o, body, column)))
            return true;
    }
    return false;
}

static void put_value(FILE* file, const Comparison* c, const char* label, int width, int body,
                      const crColumn* column, int from, int to, bool color) {
    print_plain(file, label);
    fprintf(file, "%*s", width - plain_width(label) > 0 ? width - plain_width(label) : 0, "");
    double first = outcome_value(&c->outcomes[c->first], body, column);
    for (int i = from; i < to; i++) {
        if (c->outcomes[i].refused) continue;
        double value = outcome_value(&c->outcomes[i], body, column);
        bool differs = outcome_differs(first, value);
        // what rounding left is nothing
        if (fabs(value) < 5e-13) value = 0.0;
        fprintf(file, " %s%*.5g%c%s", color && differs ? AMBER : "", cell(c), value, differs ? '*' : ' ',
                color && differs ? PLAIN : "");
    }
    putc('\n', file);
}

// the bodies by the runs from..to; how many bodies were left out
static int put_block(FILE* file, const Comparison* c, int width, int from, int to, bool color) {
    const crModel* model = c->outcomes[c->first].run.scene.model;
    fprintf(file, "\n%-*s", width, "at the end");
    for (int i = from; i < to; i++) {
        if (!c->outcomes[i].refused) fprintf(file, " %*.*s ", cell(c), cell(c), c->outcomes[i].value);
    }
    putc('\n', file);
    int bodies = 0;
    int left = 0;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (!comparison_shows(c, body->name)) continue;
        bool any = false;
        for (const crColumn* column = cr_trajectory_columns(body->joint); column->name != NULL; column++) {
            if (!is_shown(c, b, column)) continue;
            if (!any && c->bodies == NULL && bodies == MOST_BODIES) {
                left++;
                break;
            }
            any = true;
            char label[64];
            snprintf(label, sizeof label, "%.40s.%s", body->name, column->name);
            put_value(file, c, label, width, b, column, from, to, color);
        }
        bodies += any;
    }
    return left;
}

static bool reads_law(const char* rule) {
    for (int i = 0; i < cr_rule_count(); i++) {
        const crRuleInfo* info = cr_rule_info(i);
        if (strcmp(info->name, rule) == 0) return strstr(info->reads, "law") != NULL;
    }
    return true;
}

static int label_width(const Comparison* c) {
    const crModel* model = c->outcomes[c->first].run.scene.model;
    int width = (int)strlen("at the end");
    for (int b = 1; b < model->nb; b++) {
        int length = plain_width(model->bodies[b].name);
        if (comparison_shows(c, model->bodies[b].name) && length + 6 > width) width = length + 6;
    }
    return width < 46 ? width : 46;
}

// whether anything differed; laws that nobody asked are told of
static void put_verdict(FILE* file, const Comparison* c) {
    const Outcome* first = &c->outcomes[c->first];
    bool same = true;
    for (int i = 0; i < c->count; i++) {
        same = same && (c->outcomes[i].refused || c->outcomes[i].difference == 0.0);
    }
    const crRule* rule = &first->run.scene.step.rule;
    if (same && strcmp(c->choice.name, "law") == 0 && !reads_law(rule->name)) {
        fprintf(file, "\nall the same: the rule %s uses no law; --rule sequence does\n", rule->name);
    } else if (same) {
        fputs("\nall the same, to the last bit\n", file);
    } else {
        fputs("\n* differs from ", file);
        print_plain(file, first->value);
        fputs(" by more than 1e-6\n", file);
    }
}

void table_comparison(FILE* file, const Comparison* c, bool color) {
    print_plain(file, scene_title(&c->scene));
    if (c->first < 0) {
        fputs(": no choice could be run\n", file);
        put_refused(file, c);
        return;
    }
    const Outcome* first = &c->outcomes[c->first];
    fprintf(file, ": %d %s, %.6g s, by %s%s\n\n", first->run.scene.model->nb - 1,
            noun(first->run.scene.model->nb - 1, "body", "bodies"), first->run.scene.duration, c->choice.name,
            c->interrupted ? ", interrupted" : "");
    int width = widest(c, (int)strlen(c->choice.name), 30);
    fprintf(file, "%-*.*s  energy [J]  impacts contacts    steps unsolved  residual   overlap  time [s]\n",
            width, width, c->choice.name);
    for (int i = 0; i < c->count; i++) {
        if (!c->outcomes[i].refused) put_run(file, c, &c->outcomes[i], width, color);
    }
    put_refused(file, c);
    int labels = label_width(c);
    int fit = (WIDTH - labels) / (cell(c) + 2);
    int left = 0;
    for (int i = 0; i < c->count; i += fit) {
        left = put_block(file, c, labels, i, i + fit < c->count ? i + fit : c->count, color);
    }
    if (left > 0) fprintf(file, "and %d more bodies: --bodies NAMES shows others, --json all\n", left);
    put_verdict(file, c);
}

void json_comparison(FILE* file, const Comparison* c) {
    fputs("{\"scene\":", file);
    cr_json_write_string(file, scene_title(&c->scene));
    fputs(",\"choice\":", file);
    cr_json_write_string(file, c->choice.name);
    fputs(",\"runs\":[", file);
    bool any = false;
    for (int i = 0; i < c->count; i++) {
        const Outcome* o = &c->outcomes[i];
        if (o->refused) continue;
        fputs(any ? ",{\"value\":" : "{\"value\":", file);
        any = true;
        cr_json_write_string(file, o->value);
        fputs(",\"difference\":", file);
        cr_json_write_number(file, o->difference);
        putc(',', file);
        json_run_members(file, &o->run);
        putc('}', file);
    }
    fputs("],\"refused\":[", file);
    any = false;
    for (int i = 0; i < c->count; i++) {
        const Outcome* o = &c->outcomes[i];
        if (!o->refused) continue;
        fputs(any ? ",{\"value\":" : "{\"value\":", file);
        any = true;
        cr_json_write_string(file, o->value);
        putc(',', file);
        json_error_member(file, &o->run.error);
        putc('}', file);
    }
    fprintf(file, "],\"interrupted\":%s}\n", c->interrupted ? "true" : "false");
}
