// resolve_json.c - answers of `carom resolve --json`, one object per impact.
#include "audit_json.h"
#include "stream.h"
#include "verb_resolve.h"

// one entry per block from `first` to `end`: a number where it has one row, else a list
static void write_blocks(FILE* file, const crProblem* problem, int first, int end, const double* p) {
    putc('[', file);
    for (int i = first; i < end; i++) {
        const crBlock* block = &problem->blocks[i];
        if (i > first) putc(',', file);
        if (block->count == 1) {
            cr_json_write_number(file, p[block->row]);
        } else {
            json_vector(file, p + block->row, block->count);
        }
    }
    putc(']', file);
}

static void write_outcomes(FILE* file, const crResolve* resolve, const crResolved* got) {
    fputs(",\"outcomes\":", file);
    if (got->outcomes == NULL) {
        fputs("null", file);
        return;
    }
    int nv = resolve->problem.nv;
    putc('[', file);
    for (int i = 0; i < got->report.outcome_count; i++) {
        if (i > 0) putc(',', file);
        json_vector(file, got->outcomes + (size_t)i * (size_t)nv, nv);
    }
    putc(']', file);
}

static void write_notes(FILE* file, int flags) {
    static const struct {
        int flag;
        const char* name;
    } notes[] = {{CR_RULE_EXTRAPOLATED, "extrapolated"},
                 {CR_RULE_TRUNCATED, "truncated"},
                 {CR_RULE_CYCLE, "cycle"},
                 {CR_RULE_PLASTIC, "plastic"},
                 {CR_RULE_CONVEX, "convex"},
                 {CR_RULE_INCOMPLETE, "set not complete"},
                 {CR_RULE_PROVEN, "choice proven"}};
    bool first = true;
    fputs(",\"notes\":[", file);
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        if ((flags & notes[i].flag) == 0) continue;
        fprintf(file, "%s\"%s\"", first ? "" : ",", notes[i].name);
        first = false;
    }
    putc(']', file);
}

static void write_audit(FILE* file, const crRuleReport* report) {
    const crRuleMargins* margins = &report->margins;
    fputs(",\"audit\":{", file);
    json_audit(file, &report->audit);
    fputs(",\"margins\":{", file);
    json_number(file, true, "energy", margins->energy);
    json_number(file, false, "penetration", margins->penetration);
    json_number(file, false, "tension", margins->tension);
    json_number(file, false, "cone", margins->cone);
    json_number(file, false, "joint", margins->joint);
    putc('}', file);
    json_bool(file, false, "permissible", report->permissible);
    json_bool(file, false, "creates_energy", report->creates_energy);
    putc('}', file);
}

static void write_answer(FILE* file, const crResolve* resolve, const char* rule, const crResolved* got) {
    const crProblem* problem = &resolve->problem;
    const crRuleReport* report = &got->report;
    fprintf(file, "\"rule\":\"%s\",\"v\":", rule);
    json_vector(file, got->v, problem->nv);
    fputs(",\"impulses\":", file);
    write_blocks(file, problem, 0, resolve->contact_count, got->p);
    if (resolve->contact_count < problem->block_count) {
        fputs(",\"joint_impulses\":", file);
        write_blocks(file, problem, resolve->contact_count, problem->block_count, got->p);
    }
    json_number(file, false, "energy_change", report->energy_change);
    json_number(file, false, "contact_energy", report->contact_energy);
    json_number(file, false, "work", report->work);
    fprintf(file, ",\"status\":\"%s\",\"steps\":%d,\"unique\":%s", cr_outcome_name(report->outcome),
            report->steps,
            report->unique == CR_UNIQUE_UNKNOWN ? "null"
            : report->unique == CR_UNIQUE_YES   ? "true"
                                                : "false");
    const char* tie = tie_of(resolve, report);
    if (tie != NULL) {
        fputs(",\"tie\":", file);
        cr_json_write_string(file, tie);
    }
    write_notes(file, report->flags);
    write_outcomes(file, resolve, got);
    write_audit(file, report);
}

void json_resolutions(FILE* file, const crResolve* resolve, const Resolution* answers) {
    putc('{', file);
    if (resolve->name != NULL) {
        fputs("\"name\":", file);
        cr_json_write_string(file, resolve->name);
        putc(',', file);
    }
    fputs("\"results\":[", file);
    for (int i = 0; i < resolve->rule_count; i++) {
        fputs(i > 0 ? ",{" : "{", file);
        if (answers[i].status == CR_OK) {
            write_answer(file, resolve, resolve->rules[i], &answers[i].got);
        } else {
            fprintf(file, "\"rule\":\"%s\",", resolve->rules[i]);
            json_error_member(file, &answers[i].error);
        }
        putc('}', file);
    }
    fputs("]}\n", file);
}
