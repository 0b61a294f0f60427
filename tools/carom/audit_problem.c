// audit_problem.c - carom audit PROBLEM: the certificate of impulses that came from anywhere.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_json.h"
#include "auditing.h"
#include "command.h"
#include "io/cap.h"
#include "io/problem.h"
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

// yes: solved or near
static crTruth truth_of(crOutcome outcome) {
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

static const char* outcome_word(crOutcome outcome) {
    return truth_of(outcome) == CR_TRUTH_NO ? "not solved" : cr_outcome_name(outcome);
}

static void table(const AuditOptions* o, const crProblemFile* file, const crAudit* a, crOutcome outcome,
                  double moved, double largest) {
    const crProblem* problem = &file->problem;
    bool color = wants_color();
    print_plain(stdout, file->name[0] != '\0' ? file->name : o->path);
    printf(": %s, %d rows, %d blocks\n", file->format, problem->rows, problem->block_count);
    printf("verdict      %s%s%s: ", audit_shade(truth_of(outcome), color), outcome_word(outcome),
           color ? PLAIN : "");
    put_words(stdout, problem, a);
    printf("\nneighbour    obeys every law; differs from the impulses by at most %.1e, the largest is %.1e",
           moved, largest);
    printf("\nresidual     %.3e, between %.3e and %.3e by rounding; tolerance %.1e\n", a->residual, a->least,
           a->most, o->tol);
    if (!problem->raw) {
        printf("             of a scale of %.3e m/s, the largest velocity that must change in its island\n",
               a->scale);
        printf("change of b  %.3e m/s, rounding floor %.1e m/s", a->eta, a->floor);
        if (problem->h > 0.0) printf("; %.3e m in a step of %.6g s", a->distance, problem->h);
        printf("\n             lets contacts close by at most %.1e m/s\n", a->permits);
    }
    if (a->worst_block >= 0) printf("worst block  %d\n", a->worst_block);
    if (a->momentum > 0.0 || a->asymmetry > 0.0)
        printf("data         momentum off by %.1e, matrix unsymmetric by %.1e\n", a->momentum, a->asymmetry);
    printf("not scaled   natural map %.3e, approach %.3e m/s, cone %.3e N s, dissipation %.3e m/s,\n"
           "             complementarity %.3e J, energy change %.6g J\n",
           a->natural, a->approach, a->cone, a->dissipation, a->complementarity, a->energy_change);
}

static void json(const AuditOptions* o, const crProblemFile* file, const crAudit* a, crOutcome outcome,
                 double moved, double largest) {
    fputs("{\"file\":", stdout);
    cr_json_write_string(stdout, o->path);
    if (file->name[0] != '\0') {
        fputs(",\"name\":", stdout);
        cr_json_write_string(stdout, file->name);
    }
    printf(",\"format\":\"%s\",\"rows\":%d,\"raw\":%s,\"outcome\":\"%s\",\"holds\":\"%s\"", file->format,
           file->problem.rows, file->problem.raw ? "true" : "false", cr_outcome_name(outcome),
           cr_truth_name(truth_of(outcome)));
    json_number(stdout, false, "tol", o->tol);
    json_number(stdout, false, "h", file->problem.h);
    json_number(stdout, false, "shift", file->problem.shift);
    json_number(stdout, false, "impulse_change", moved);
    json_number(stdout, false, "impulse_largest", largest);
    fputs(",\"audit\":{", stdout);
    json_audit(stdout, a);
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

static int judge(const AuditOptions* o, crProblemFile* file, crArena* arena) {
    crProblem* problem = &file->problem;
    crError error = {0};
    const double* p = file->p;
    if (problem->h == 0.0) problem->h = file->h;
    if (o->shift >= 0.0) problem->shift = o->shift;
    crStatus status = CR_OK;
    if (o->impulses != NULL) {
        double* read = cr_arena_alloc(arena, ((size_t)problem->rows + 1) * sizeof *read);
        status = read != NULL ? read_impulses(o->impulses, problem->rows, read, &error)
                              : cr_error_set(&error, CR_ERR_MEMORY, "p", "p: out of memory");
        if (status != CR_OK) return refuse(o, o->impulses, &error);
        p = read;
    }
    if (p == NULL) {
        cr_error_set(&error, CR_ERR_MISSING, "p",
                     "p: the file has no answer to be judged; give one with --p");
        return refuse(o, o->path, &error);
    }
    crAudit audit;
    double moved = 0.0, largest = 0.0;
    size_t bytes = ((size_t)problem->rows + 1) * sizeof(double);
    double* neighbour = cr_arena_alloc(arena, bytes);
    status = neighbour != NULL ? CR_OK : CR_ERR_MEMORY;
    if (status == CR_OK) {
        memcpy(neighbour, p, bytes - sizeof(double));
        status = cr_problem_witness(problem, arena, neighbour, &audit);
    }
    for (int i = 0; i < problem->rows && status == CR_OK; i++) {
        moved = fmax(moved, fabs(neighbour[i] - p[i]));
        largest = fmax(largest, fabs(p[i]));
    }
    // the figures of others are those of the impulses as they are
    if (status == CR_OK) status = cr_problem_audit(problem, arena, p, &audit);
    if (status != CR_OK) {
        cr_error_set(&error, status, "", "%s", cr_status_text(status));
        return refuse(o, o->path, &error);
    }
    crOutcome outcome = cr_audit_outcome(&audit, o->tol, problem->h, problem->shift);
    if (o->json) {
        json(o, file, &audit, outcome, moved, largest);
    } else {
        table(o, file, &audit, outcome, moved, largest);
    }
    return audit_status(truth_of(outcome));
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
