// dump.c - what a step poses, one file each: contact solves as problem files, impacts for `carom resolve`.
//
// OUT.json, OUT-2.json and so on, in the order they were posed. An impact with friction that `carom resolve` does
// not read (polygons, spin, rolling) is a problem file too. Fails: a file that cannot be written ends the run.
#include "dump.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/stages.h"
#include "io/json.h"
#include "io/problem.h"

#define ROUNDING 1e-9  // share of a step that times may be off by

struct Dump {
    DumpPlan plan;
    char scene[20];
    const crStep* step;
    bool replaces;  // the last file was of a trial
    double time;    // of the last problem
    int files;
};

Dump* dump_create(const DumpPlan* plan, const char* scene) {
    Dump* dump = calloc(1, sizeof *dump);
    if (dump == NULL) return NULL;
    dump->plan = *plan;
    const char* base = strrchr(scene, '/');
    base = base != NULL ? base + 1 : scene;
    snprintf(dump->scene, sizeof dump->scene, "%.*s", (int)strcspn(base, "."), base);
    return dump;
}

void dump_destroy(Dump* dump) { free(dump); }

int dump_files(const Dump* dump) { return dump->files; }

// path, or with -N before its ending
static void file_path(const Dump* dump, char* path, size_t size) {
    const char* name = dump->plan.path;
    const char* dot = strrchr(name, '.');
    if (dot == NULL || strchr(dot, '/') != NULL) dot = name + strlen(name);
    if (dump->files == 1) {
        snprintf(path, size, "%s", name);
    } else {
        snprintf(path, size, "%.*s-%d%s", (int)(dot - name), name, dump->files, dot);
    }
}

static void put_row(FILE* file, const crMatrix* J, int row) {
    putc('[', file);
    int k = J->start[row];
    for (int j = 0; j < J->cols; j++) {
        bool there = k < J->start[row + 1] && J->col[k] == j;
        if (j > 0) fputs(", ", file);
        cr_json_write_number(file, there ? J->value[k++] : 0.0);
    }
    putc(']', file);
}

static void put_numbers(FILE* file, const double* x, int count) {
    putc('[', file);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", file);
        cr_json_write_number(file, x[i]);
    }
    putc(']', file);
}

static void put_member(FILE* file, const char* key, double value) {
    fprintf(file, ", \"%s\": ", key);
    cr_json_write_number(file, value);
}

static void put_contact(FILE* file, const crPosed* posed, const double* w_hat, int index) {
    const crProblem* problem = posed->problem;
    const crBlock* block = &problem->blocks[index];
    fputs("\n        {\"n\": ", file);
    put_row(file, &problem->J, block->row);
    if (block->count > 1) {
        fputs(", \"t\": [", file);
        for (int r = 1; r < block->count; r++) {
            if (r > 1) fputs(", ", file);
            put_row(file, &problem->J, block->row + r);
        }
        putc(']', file);
        put_member(file, "mu", block->mu);
        put_member(file, "et", block->et);
    }
    put_member(file, "e", block->e);
    fputs(", \"w_hat\": ", file);
    put_numbers(file, w_hat + block->row, block->count);
    crVec3 x = posed->points[index];
    fputs(", \"point\": ", file);
    put_numbers(file, (double[3]){x.x, x.y, x.z}, 3);
    putc('}', file);
}

static void put_blocks(FILE* file, const crPosed* posed, const double* w_hat, bool joints) {
    const crProblem* problem = posed->problem;
    bool first = true;
    fprintf(file, ",\n    \"%s\": [", joints ? "joints" : "contacts");
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if ((block->kind == CR_BLOCK_EQUALITY) != joints) continue;
        if (!first) putc(',', file);
        first = false;
        if (!joints) put_contact(file, posed, w_hat, i);
        if (joints) fputs("\n        [", file);
        for (int r = 0; joints && r < block->count; r++) {
            if (r > 0) fputs(", ", file);
            put_row(file, &problem->J, block->row + r);
        }
        if (joints) putc(']', file);
    }
    putc(']', file);
}

// whether `carom resolve` reads it: round friction, still joints, not too large
static bool resolves(const crProblem* problem, const double* w_hat) {
    int contacts = 0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        contacts += block->kind != CR_BLOCK_EQUALITY;
        if (block->spin || block->roll || block->vertex_count > 0 || block->kind == CR_BLOCK_BOX)
            return false;
        if (block->kind == CR_BLOCK_CONE && block->mu2 != block->mu) return false;
        for (int r = block->row; block->kind == CR_BLOCK_EQUALITY && r < block->row + block->count; r++) {
            if (w_hat[r] != 0.0) return false;
        }
    }
    return contacts > 0 && problem->nv <= 1000 && problem->rows <= 3000;
}

static bool write_impact(FILE* file, const crPosed* posed, const double* w_hat, const char* name,
                         const crStepSettings* settings) {
    const crProblem* problem = posed->problem;
    fputs("{\n    \"name\": ", file);
    cr_json_write_string(file, name);
    if (settings->rule.name != NULL) fprintf(file, ",\n    \"rule\": \"%s\"", settings->rule.name);
    if (settings->law.name != NULL) fprintf(file, ",\n    \"law\": \"%s\"", settings->law.name);
    fputs(",\n    \"v\": ", file);
    put_numbers(file, problem->v, problem->nv);
    fputs(",\n    \"M\": [", file);
    for (int i = 0; i < problem->nv; i++) {
        fputs(i > 0 ? ",\n        " : "\n        ", file);
        put_row(file, &problem->M, i);
    }
    putc(']', file);
    put_blocks(file, posed, w_hat, false);
    bool joints = false;
    for (int i = 0; i < problem->block_count; i++) {
        joints = joints || problem->blocks[i].kind == CR_BLOCK_EQUALITY;
    }
    if (joints) put_blocks(file, posed, w_hat, true);
    fputs("\n}\n", file);
    return ferror(file) == 0;
}

static crStatus write_posed(const Dump* dump, const crPosed* posed, crError* error) {
    const crProblem* problem = posed->problem;
    char path[1024];
    file_path(dump, path, sizeof path);
    crProblemFile file = {.problem = *problem, .p = posed->p, .h = posed->h};
    snprintf(file.name, sizeof file.name, "%s %s %.9g s", dump->scene, posed->impact ? "impact" : "contacts",
             posed->time);
    double* w_hat = malloc(((size_t)problem->rows + 1) * sizeof *w_hat);
    if (w_hat == NULL) return cr_error_set(error, CR_ERR_MEMORY, "dump", "dump: out of memory");
    cr_matrix_mul(&problem->J, problem->v, w_hat);
    for (int i = 0; i < problem->rows; i++) {
        double x = problem->u_free[i] - w_hat[i];
        // what rounding leaves of J v is no drive
        w_hat[i] = fabs(x) <= 1e-12 * (fabs(problem->u_free[i]) + fabs(w_hat[i])) ? 0.0 : x;
    }
    crStatus status = CR_OK;
    if (posed->impact && resolves(problem, w_hat)) {
        FILE* out = fopen(path, "wb");
        bool written = out != NULL && write_impact(out, posed, w_hat, file.name, &dump->step->settings);
        if (out != NULL) written = fclose(out) == 0 && written;
        if (!written)
            status = cr_error_set(error, CR_ERR_FILE, "dump", "dump: cannot write \"%.150s\"", path);
    } else {
        status = cr_problem_write(path, "json", &file, error);
    }
    free(w_hat);
    return status;
}

static crStatus take(void* ctx, const crPosed* posed, crError* error) {
    Dump* dump = ctx;
    // a trial at the same time takes the last one's place
    bool again = dump->replaces && posed->trial && posed->time == dump->time;
    if (!again) dump->files++;
    dump->replaces = posed->trial;
    dump->time = posed->time;
    return write_posed(dump, posed, error);
}

static bool wanted(const DumpPlan* plan, double n, double time, double h, bool last) {
    double slack = ROUNDING * h;
    if (plan->every > 0 && fmod(n, plan->every) == 0.0) return true;
    for (int i = 0; i < plan->count; i++) {
        bool begun = plan->at[i] >= time - slack;
        if (begun && (plan->at[i] < time + h - slack || (last && plan->at[i] <= time + h + slack)))
            return true;
    }
    return false;
}

void dump_begin(Dump* dump, crWorld* world, double n, double time, double h, bool last) {
    crStep* step = cr_world_stages(world);
    if (!wanted(&dump->plan, n, time, h, last)) return;
    dump->step = step;
    dump->replaces = false;
    step->calls.posed = take;
    step->calls.posed_ctx = dump;
}

void dump_end(crWorld* world) { cr_world_stages(world)->calls.posed = NULL; }
