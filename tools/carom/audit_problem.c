// audit_problem.c - carom audit PROBLEM: the certificate of impulses that came from anywhere.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_json.h"
#include "auditing.h"
#include "command.h"
#include "io/cap.h"
#include "numbers.h"
#include "stream.h"

#define MOST_BYTES ((size_t)1 << 30)

// impulses from a file

static char* load(const char* path, size_t* size, crError* error) {
    FILE* file = fopen(path, "rb");
    char* text = NULL;
    long length = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length >= 0 && (size_t)length <= MOST_BYTES && fseek(file, 0, SEEK_SET) == 0)
        text = malloc((size_t)length + 1);
    *size = text != NULL ? fread(text, 1, (size_t)length, file) : 0;
    if (text != NULL) text[*size] = '\0';
    if (text == NULL)
        cr_error_set(error, CR_ERR_FILE, "p", "p: cannot read %.120s: %s", path, strerror(errno));
    if (file != NULL) fclose(file);
    return text;
}

static crStatus too_many(int rows, crError* error) {
    return cr_error_set(error, CR_ERR_SIZE, "p", "p: has more numbers than the problem has rows, %d", rows);
}

// numbers of a list, lists inside it included
static crStatus take_json(const crJson* value, int rows, double* p, int* count, crError* error) {
    crStatus status = CR_OK;
    if (value->packed != NULL) {
        for (int i = 0; i < value->count && status == CR_OK; i++) {
            if (*count == rows) return too_many(rows, error);
            p[(*count)++] = value->packed[i];
        }
        return status;
    }
    if (value->type == CR_JSON_NUMBER) {
        if (*count == rows) return too_many(rows, error);
        p[(*count)++] = value->number;
        return CR_OK;
    }
    if (value->type != CR_JSON_ARRAY) {
        cr_error_set(error, CR_ERR_TYPE, "p", "p: must be a list of numbers, has %s",
                     cr_json_type_name(value->type));
        error->line = value->line;
        error->column = value->column;
        return CR_ERR_TYPE;
    }
    for (const crJson* child = value->child; child != NULL && status == CR_OK; child = child->next) {
        status = take_json(child, rows, p, count, error);
    }
    return status;
}

static crStatus read_json(const char* text, size_t size, int rows, double* p, int* count, crError* error) {
    crJsonDoc doc;
    crStatus status = cr_json_parse_data(text, size, &doc, error);
    if (status != CR_OK) return status;
    const crJson* list = doc.root->type == CR_JSON_OBJECT ? cr_json_get(doc.root, "p") : doc.root;
    status = list != NULL ? take_json(list, rows, p, count, error)
                          : cr_error_set(error, CR_ERR_MISSING, "p", "p: the object has no member \"p\"");
    cr_json_free(&doc);
    return status;
}

// numbers apart by commas, semicolons or blanks; # begins a comment
static crStatus read_numbers(const char* text, int rows, double* p, int* count, crError* error) {
    int line = 1;
    for (const char* at = text; *at != '\0';) {
        if (*at == '#') at += strcspn(at, "\n");
        if (*at == '\0') break;
        if (strchr(" \t\r\n,;", *at) != NULL) {
            line += *at++ == '\n';
            continue;
        }
        char* end = NULL;
        double value = strtod(at, &end);
        if (end == at || (*end != '\0' && strchr(" \t\r\n,;#", *end) == NULL) || !isfinite(value)) {
            cr_error_set(error, CR_ERR_SYNTAX, "p", "p: '%.*s' is no finite number",
                         (int)strcspn(at, " \t\r\n,;"), at);
            error->line = line;
            return CR_ERR_SYNTAX;
        }
        if (*count == rows) return too_many(rows, error);
        p[(*count)++] = value;
        at = end;
    }
    return CR_OK;
}

static crStatus read_impulses(const char* path, int rows, double* p, crError* error) {
    size_t size = 0;
    int count = 0;
    char* text = load(path, &size, error);
    if (text == NULL) return error->status;
    const char* first = text + strspn(text, " \t\r\n");
    crStatus status = *first == '[' || *first == '{' ? read_json(text, size, rows, p, &count, error)
                                                     : read_numbers(text, rows, p, &count, error);
    free(text);
    if (status == CR_OK && count != rows)
        status =
            cr_error_set(error, CR_ERR_SIZE, "p", "p: has %d numbers, the problem has %d rows", count, rows);
    return status;
}

// what is said

crTruth problem_truth(const AuditedProblem* audited) {
    crOutcome outcome = audited->outcome;
    if (outcome == CR_OUTCOME_SOLVED || outcome == CR_OUTCOME_NEAR) return CR_TRUTH_YES;
    return outcome == CR_OUTCOME_UNSURE ? CR_TRUTH_UNSURE : CR_TRUTH_NO;
}

static void put_words(FILE* file, const crProblem* problem, const crAudit* a) {
    if (!isfinite(a->eta)) {
        fputs("the impulses or the problem are not finite", file);
    } else if (problem->raw) {
        fprintf(file, "exact for data that differ by at most %.1e of themselves", a->residual);
    } else if (problem->h > 0.0) {
        fprintf(file, "exact for gaps that differ by at most %.1e m", a->distance);
    } else {
        fprintf(file, "exact for velocities that differ by at most %.1e m/s", a->eta);
    }
}

static void put_verdict(const AuditedProblem* m, const AuditLines* lines) {
    crTruth truth = problem_truth(m);
    const char* word = truth == CR_TRUTH_NO ? "not solved" : cr_outcome_name(m->outcome);
    lines_begin(lines, "verdict", NULL);
    if (lines->page) {
        fprintf(lines->file, "<span%s>%s</span>: ", truth == CR_TRUTH_NO ? " class=\"bad\"" : "", word);
    } else {
        fprintf(lines->file, "%s%s%s: ", audit_shade(truth, lines->color), word, lines->color ? PLAIN : "");
    }
    put_words(lines->file, &m->file->problem, &m->audit);
    lines_end(lines);
}

void table_problem(const AuditedProblem* m, const AuditLines* lines) {
    const crProblem* problem = &m->file->problem;
    const crAudit* a = &m->audit;
    FILE* file = lines->file;
    put_verdict(m, lines);
    lines_begin(lines, "neighbour", NULL);
    fprintf(file, "obeys every law; differs from the impulses by at most %.1e, the largest is %.1e", m->moved,
            m->largest);
    lines_end(lines);
    lines_begin(lines, "residual", NULL);
    fprintf(file, "%.3e, between %.3e and %.3e by rounding; tolerance %.1e", a->residual, a->least, a->most,
            m->options->tol);
    if (!problem->raw) {
        lines_more(lines);
        fprintf(file, "of a scale of %.3e m/s, the largest velocity that must change in its island",
                a->scale);
    }
    lines_end(lines);
    if (!problem->raw) {
        lines_begin(lines, "change of b", NULL);
        fprintf(file, "%.3e m/s, rounding floor %.1e m/s", a->eta, a->floor);
        if (problem->h > 0.0) fprintf(file, "; %.3e m in a step of %.6g s", a->distance, problem->h);
        lines_more(lines);
        fprintf(file, "lets contacts close by at most %.1e m/s", a->permits);
        lines_end(lines);
    }
    if (a->worst_block >= 0) {
        lines_begin(lines, "worst block", NULL);
        fprintf(file, "%d", a->worst_block);
        lines_end(lines);
    }
    if (a->momentum > 0.0 || a->asymmetry > 0.0) {
        lines_begin(lines, "data", NULL);
        fprintf(file, "momentum off by %.1e, matrix unsymmetric by %.1e", a->momentum, a->asymmetry);
        lines_end(lines);
    }
    lines_begin(lines, "not scaled", NULL);
    fprintf(file, "natural map %.3e, approach %.3e m/s, cone %.3e N s, dissipation %.3e m/s,", a->natural,
            a->laws.approach, a->laws.cone, a->laws.dissipation);
    lines_more(lines);
    fprintf(file, "complementarity %.3e J, energy change %.6g J", a->laws.complementarity, a->energy_change);
    lines_end(lines);
}

static void print(const AuditedProblem* m) {
    const crProblemFile* file = m->file;
    AuditLines lines = {.file = stdout, .color = wants_color()};
    print_plain(stdout, file->name[0] != '\0' ? file->name : m->options->path);
    printf(": %s, %d %s, %d %s\n", file->format, file->problem.rows, noun(file->problem.rows, "row", "rows"),
           file->problem.block_count, noun(file->problem.block_count, "block", "blocks"));
    table_problem(m, &lines);
}

static void json(const AuditedProblem* m) {
    const crProblemFile* file = m->file;
    fputs("{\"file\":", stdout);
    cr_json_write_string(stdout, m->options->path);
    if (file->name[0] != '\0') {
        fputs(",\"name\":", stdout);
        cr_json_write_string(stdout, file->name);
    }
    printf(",\"format\":\"%s\",\"rows\":%d,\"raw\":%s,\"outcome\":\"%s\",\"holds\":\"%s\"", file->format,
           file->problem.rows, file->problem.raw ? "true" : "false", cr_outcome_name(m->outcome),
           cr_truth_name(problem_truth(m)));
    json_number(stdout, false, "tol", m->options->tol);
    json_number(stdout, false, "h", file->problem.h);
    json_number(stdout, false, "shift", file->problem.shift);
    json_number(stdout, false, "impulse_change", m->moved);
    json_number(stdout, false, "impulse_largest", m->largest);
    fputs(",\"audit\":{", stdout);
    json_audit(stdout, &m->audit);
    fputs("}}\n", stdout);
}

static int refuse(const AuditOptions* o, const char* path, const crError* error) {
    if (o->json) {
        json_error(stdout, error);
    } else {
        text_error(path, error);
    }
    return error->status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}

// the impulses that are judged: those of --p, or the problem's own
static crStatus find_impulses(const AuditOptions* o, const crProblemFile* file, crArena* arena,
                              const double** p, crError* error) {
    *p = file->p;
    if (o->impulses == NULL) {
        return *p != NULL ? CR_OK
                          : cr_error_set(error, CR_ERR_MISSING, "p",
                                         "p: the file has no answer to be judged; give one with --p");
    }
    double* read = cr_arena_alloc(arena, ((size_t)file->problem.rows + 1) * sizeof *read);
    if (read == NULL) return cr_error_set(error, CR_ERR_MEMORY, "p", "p: out of memory");
    *p = read;
    return read_impulses(o->impulses, file->problem.rows, read, error);
}

// the neighbour with its velocities, and the figures of the impulses as they are
static crStatus find_figures(AuditedProblem* m, crArena* arena) {
    const crProblem* problem = &m->file->problem;
    size_t bytes = ((size_t)problem->rows + 1) * sizeof(double);
    double *neighbour = cr_arena_alloc(arena, bytes), *w = cr_arena_alloc(arena, bytes);
    if (neighbour == NULL || w == NULL) return CR_ERR_MEMORY;
    memcpy(neighbour, m->p, bytes - sizeof(double));
    crStatus status = cr_problem_witness(problem, arena, neighbour, &m->audit);
    if (status == CR_OK) status = cr_problem_velocity(problem, arena, neighbour, w);
    for (int i = 0; i < problem->rows && status == CR_OK; i++) {
        if (problem->b != NULL) w[i] += problem->b[i];
        m->moved = fmax(m->moved, fabs(neighbour[i] - m->p[i]));
        m->largest = fmax(m->largest, fabs(m->p[i]));
    }
    m->neighbour = neighbour;
    m->w = w;
    return status == CR_OK ? cr_problem_audit(problem, arena, m->p, &m->audit) : status;
}

static int judge(const AuditOptions* o, crProblemFile* file, crArena* arena) {
    crProblem* problem = &file->problem;
    AuditedProblem audited = {.options = o, .file = file};
    crError error = {0};
    if (problem->h == 0.0) problem->h = file->h;
    if (o->shift >= 0.0) problem->shift = o->shift;
    if (find_impulses(o, file, arena, &audited.p, &error) != CR_OK)
        return refuse(o, o->impulses != NULL ? o->impulses : o->path, &error);
    crStatus status = find_figures(&audited, arena);
    if (status != CR_OK) {
        cr_error_set(&error, status, "", "%s", cr_status_text(status));
        return refuse(o, o->path, &error);
    }
    audited.outcome = cr_audit_outcome(&audited.audit, o->tol, problem->h, problem->shift);
    if (o->json) {
        json(&audited);
    } else {
        print(&audited);
    }
    if (o->report != NULL && report_problem(o->report, &audited, &error) != CR_OK)
        return refuse(o, o->report, &error);
    return audit_status(problem_truth(&audited));
}

int audit_problem(const AuditOptions* o) {
    crProblemFile file;
    crError error = {0};
    if (cr_problem_read(o->path, o->format, &file, &error) != CR_OK) return refuse(o, o->path, &error);
    crCap cap = {0};
    crAllocator allocator = cr_cap_allocator(&cap);
    crArena arena;
    cr_arena_create(&arena, &allocator, 0);
    int status = judge(o, &file, &arena);
    cr_arena_destroy(&arena);
    cr_problem_file_free(&file);
    return status;
}
