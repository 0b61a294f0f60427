// solve_print.c - what `carom solve` found, as JSON or as a table.
#include <string.h>

#include "audit_json.h"
#include "command.h"
#include "numbers.h"
#include "stream.h"
#include "verb_solve.h"

#define ROUNDING 1e-12

static const char* const kinds[] = {"equality", "unilateral", "box", "cone"};

static int count_kind(const crProblem* problem, int kind) {
    int count = 0;
    for (int i = 0; i < problem->block_count; i++) {
        if ((int)problem->blocks[i].kind == kind) count++;
    }
    return count;
}

static void write_solution(FILE* file, const Solved* solved, const Solution* s) {
    const crProblem* problem = &solved->file->problem;
    fprintf(file, "\"solver\":\"%s\",", s->solver);
    if (s->status != CR_OK) {
        json_error_member(file, &s->error);
        return;
    }
    fprintf(file, "\"method\":\"%s\",\"status\":\"%s\"", s->report.method,
            cr_outcome_name(s->report.outcome));
    json_number(file, false, "residual", s->report.audit.residual);
    fprintf(file, ",\"iterations\":%d", s->report.iterations);
    json_number(file, false, "time", s->seconds);
    fputs(",\"audit\":{", file);
    json_audit(file, &s->report.audit);
    fprintf(file, "},\"%s\":", problem->raw ? "z" : "p");
    json_vector(file, s->p, problem->rows);
    fprintf(file, ",\"%s\":", problem->raw ? "w" : "u");
    json_vector(file, s->u, problem->rows);
}

// what was done to a matrix of the file that is not symmetric as it stands
static void write_mended(FILE* file, const crProblemFile* from) {
    if (from->mended.matrix[0] == '\0') return;
    const crSkew* skew = &from->mended.skew;
    fprintf(file, "\"symmetrised\":{\"matrix\":\"%s\"", from->mended.matrix);
    if (from->mended.triangle != NULL) {
        fprintf(file, ",\"triangle\":\"%s\"},", from->mended.triangle);
        return;
    }
    json_number(file, false, "asymmetry", skew->relative);
    fprintf(file, ",\"row\":%d,\"col\":%d", skew->row, skew->col);
    json_number(file, false, "at", skew->at);
    json_number(file, false, "across", skew->across);
    fputs("},", file);
}

void json_solved(FILE* file, const Solved* solved) {
    const crProblem* problem = &solved->file->problem;
    fputs("{\"file\":", file);
    cr_json_write_string(file, solved->path);
    if (solved->file->name[0] != '\0') {
        fputs(",\"name\":", file);
        cr_json_write_string(file, solved->file->name);
    }
    fprintf(file, ",\"format\":\"%s\",\"rows\":%d,\"blocks\":{", solved->file->format, problem->rows);
    for (int k = 0; k < 4; k++) {
        fprintf(file, "%s\"%s\":%d", k > 0 ? "," : "", kinds[k], count_kind(problem, k));
    }
    fputs("},", file);
    if (solved->file->h > 0.0) {
        json_number(file, true, "h", solved->file->h);
        putc(',', file);
    }
    write_mended(file, solved->file);
    if (solved->referenced) {
        json_number(file, true, "reference_residual", solved->reference);
        putc(',', file);
    }
    if (solved->many) fputs("\"results\":[", file);
    for (int i = 0; i < solved->count; i++) {
        if (solved->many) fputs(i > 0 ? ",{" : "{", file);
        write_solution(file, solved, &solved->solutions[i]);
        if (solved->many) putc('}', file);
    }
    fputs(solved->many ? "]}\n" : "}\n", file);
}

// differences of rounding are left to --json
static void put_mended(FILE* file, const crProblemFile* from) {
    const crSkew* skew = &from->mended.skew;
    if (from->mended.matrix[0] == '\0') return;
    if (from->mended.triangle != NULL) {
        fprintf(file, "  %s: the file has its %s triangle only, which was mirrored\n", from->mended.matrix,
                from->mended.triangle);
        return;
    }
    if (skew->relative < ROUNDING) return;
    fprintf(file,
            "  %s: not symmetric by %.1e, its symmetric part is used; entry (%d, %d) %.9g, (%d, %d) %.9g\n",
            from->mended.matrix, skew->relative, skew->row, skew->col, skew->at, skew->col, skew->row,
            skew->across);
}

static void put_header(FILE* file, const Solved* solved, bool color) {
    static const char* const plurals[] = {"equalities", "unilateral blocks", "boxes", "cones"};
    static const char* const singulars[] = {"equality", "unilateral block", "box", "cone"};
    const crProblem* problem = &solved->file->problem;
    if (color) fputs(BOLD, file);
    print_plain(file, solved->file->name[0] != '\0' ? solved->file->name : solved->path);
    if (color) fputs(PLAIN, file);
    fprintf(file, ": %s, %d row%s", solved->file->format, problem->rows, problem->rows == 1 ? "" : "s");
    for (int k = 0; k < 4; k++) {
        int count = count_kind(problem, k);
        if (count > 0) fprintf(file, ", %d %s", count, count == 1 ? singulars[k] : plurals[k]);
    }
    if (problem->raw) fputs(", raw", file);
    if (solved->file->count > 1) fprintf(file, "; one of %d problems in the file", solved->file->count);
    putc('\n', file);
    put_mended(file, solved->file);
    if (solved->referenced) fprintf(file, "  residual of the file's own solution %.1e\n", solved->reference);
}

static void put_time(FILE* file, double seconds) {
    if (seconds < 1.0) {
        fprintf(file, "%.2f ms\n", 1e3 * seconds);
    } else {
        fprintf(file, "%.2f s\n", seconds);
    }
}

static void put_row(FILE* file, const Solution* s, bool color) {
    char name[64];
    bool same = s->status != CR_OK || strcmp(s->solver, s->report.method) == 0;
    snprintf(name, sizeof name, same ? "%s" : "%s: %s", s->solver, s->report.method);
    fprintf(file, "%-20s  ", name);
    if (s->status != CR_OK) {
        if (color) fputs(AMBER, file);
        print_wrapped(file, s->error.message, 22, 22, WIDTH);
        if (color) fputs(PLAIN, file);
        return;
    }
    const char* shade = s->report.outcome == CR_OUTCOME_SOLVED ? GREEN : RED;
    fprintf(file, "%s%-10s%s  %8.1e  %10d  ", color ? shade : "", cr_outcome_name(s->report.outcome),
            color ? PLAIN : "", s->report.audit.residual, s->report.iterations);
    put_time(file, s->seconds);
}

static void put_audit(FILE* file, const crAudit* audit) {
    fprintf(file, "\naudit: exact for velocities that differ by at most %.1e m/s (rounding %.1e)", audit->eta,
            audit->floor);
    if (audit->distance > 0.0) fprintf(file, ", gaps by %.1e m", audit->distance);
    fprintf(file,
            "\n       not scaled: natural map %.1e, approach %.1e m/s, cone %.1e N s,\n"
            "       dissipation %.1e m/s, complementarity %.1e J, momentum %.1e, energy change %.5g J\n",
            audit->natural, audit->laws.approach, audit->laws.cone, audit->laws.dissipation,
            audit->laws.complementarity, audit->momentum, audit->energy_change);
}

void table_solved(FILE* file, const Solved* solved, bool color) {
    put_header(file, solved, color);
    fputs("\nsolver                status      residual  iterations  time\n", file);
    for (int i = 0; i < solved->count; i++) {
        put_row(file, &solved->solutions[i], color);
    }
    const Solution* only = &solved->solutions[0];
    // of a raw problem only the residual means anything
    if (!solved->many && only->status == CR_OK && !solved->file->problem.raw) {
        put_audit(file, &only->report.audit);
    }
}
