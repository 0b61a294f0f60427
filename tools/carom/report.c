// report.c - what a page says of a run beyond its motion: settings, counts, verdict.
#include "report.h"

#include "numbers.h"

static crPageFact* next(crPageFact* facts, int* count, const char* name) {
    facts[*count] = (crPageFact){.name = name};
    return &facts[(*count)++];
}

int scene_facts(const crScene* scene, crPageFact facts[SCENE_FACTS]) {
    const crStepSettings* s = &scene->step;
    int n = 0;
    snprintf(next(facts, &n, "method")->value, CR_PAGE_TEXT, "%s", cr_method_name(s->method));
    snprintf(next(facts, &n, "step")->value, CR_PAGE_TEXT, "%.6g s", s->dt);
    snprintf(next(facts, &n, "rule")->value, CR_PAGE_TEXT, "%s", s->rule.name);
    snprintf(next(facts, &n, "law")->value, CR_PAGE_TEXT, "%s", s->law.name);
    snprintf(next(facts, &n, "solver")->value, CR_PAGE_TEXT, "%s to %.1e", s->solver.name, cr_step_tol(s));
    return n;
}

static int run_facts(const Run* run, crPageFact facts[RUN_FACTS]) {
    const crTally* t = &run->tally;
    const crCertificate* w = &t->worst;
    int n = scene_facts(&run->scene, facts);
    crPageFact* verdict = next(facts, &n, "certificate");
    verdict->bad = t->failed > 0 || run->status != CR_OK;
    if (run->status != CR_OK) {
        snprintf(verdict->value, CR_PAGE_TEXT, "a step failed: %.70s", run->error.message);
    } else if (t->failed > 0) {
        snprintf(verdict->value, CR_PAGE_TEXT, "%d of %d steps not solved", t->failed, t->steps);
    } else if (t->solved < t->steps) {
        snprintf(verdict->value, CR_PAGE_TEXT, "%d %s solved, %d near, %d bounded, %d cannot tell", t->solved,
                 noun(t->solved, "step", "steps"), t->near, t->bounded, t->unsure);
    } else {
        snprintf(verdict->value, CR_PAGE_TEXT, t->steps > 0 ? "every step solved" : "no step was made");
    }
    snprintf(next(facts, &n, "residual, worst (median)")->value, CR_PAGE_TEXT, "%.1e (%.1e)", w->residual,
             median_of(&run->residuals));
    snprintf(next(facts, &n, "exact for gaps that differ by")->value, CR_PAGE_TEXT, "%.1e m at most",
             w->distance);
    snprintf(next(facts, &n, "overlap, at most")->value, CR_PAGE_TEXT, "%.1e m", w->penetration);
    crPageFact* crossed = next(facts, &n, "pairs that passed through each other");
    crossed->bad = w->crossings > 0;
    snprintf(crossed->value, CR_PAGE_TEXT, "%d", w->crossings);
    snprintf(next(facts, &n, "steps")->value, CR_PAGE_TEXT, "%d%s", t->steps,
             run->interrupted ? ", interrupted" : "");
    snprintf(next(facts, &n, "impacts")->value, CR_PAGE_TEXT, "%d", w->impacts);
    crPageFact* outside = next(facts, &n, "impacts outside the permissible region");
    outside->bad = w->impermissible > 0;
    snprintf(outside->value, CR_PAGE_TEXT, "%d", w->impermissible);
    crPageFact* created = next(facts, &n, "energy created by impacts and contacts");
    created->bad = w->energy.created > 0.0;
    snprintf(created->value, CR_PAGE_TEXT, "%.3g J", w->energy.created);
    snprintf(next(facts, &n, "energy gained without work")->value, CR_PAGE_TEXT, "%.3g J", w->energy.gain);
    snprintf(next(facts, &n, "computing")->value, CR_PAGE_TEXT, "%.3g s", run->seconds);
    return n;
}

crStatus report_runs(const char* path, const char* title, const Run* const* runs, const crMotionLog* logs,
                     const char* const* labels, int count, crError* error) {
    if (count < 1 || count > CR_PAGE_RUNS)
        return cr_error_set(error, CR_ERR_ARGUMENT, "report", "report: %d runs, a page has 1 to %d", count,
                            CR_PAGE_RUNS);
    crPageFact facts[CR_PAGE_RUNS][RUN_FACTS];
    crPageRun pages[CR_PAGE_RUNS];
    for (int i = 0; i < count; i++) {
        pages[i] = (crPageRun){labels[i], &logs[i], run_facts(runs[i], facts[i]), facts[i]};
    }
    const char* note = runs[0]->scene.comment;
    return cr_page_write(path, title, note != NULL ? note : "", pages, count, error);
}
