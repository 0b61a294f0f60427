// heap_file.c - reads a heap's contacts and bodies, and poses the problem with J and Minv by rows.
#include "heap_file.h"

#include <stdio.h>
#include <string.h>

static crVec3 vec_at(const double* x) { return cr_vec3(x[0], x[1], x[2]); }

// n, t1, t2
static void make_frame(crVec3 n, crVec3 frame[3]) {
    crVec3 help = fabs(n.x) > 0.6 ? cr_vec3(0, 1, 0) : cr_vec3(1, 0, 0);
    frame[0] = n;
    frame[1] = cr_cross(n, help);
    frame[1] = cr_scale(1.0 / cr_norm(frame[1]), frame[1]);
    frame[2] = cr_cross(n, frame[1]);
}

// entries of one row for one body
static int put_row(const double* body, int index, double sign, crVec3 point, crVec3 d, int* col,
                   double* value) {
    crVec3 turn = cr_cross(cr_sub(point, vec_at(body + 1)), d);
    const double row[6] = {d.x, d.y, d.z, turn.x, turn.y, turn.z};
    for (int k = 0; k < 6; k++) {
        col[k] = 6 * index + k;
        value[k] = sign * row[k];
    }
    return 6;
}

static void pose(crHeap* heap, const double* contact, const double* body, int* start, int* col, double* value,
                 double* u_free, double* b, crBlock* blocks) {
    int at = 0;
    for (int i = 0; i < heap->contacts; i++) {
        const double* c = contact + 16 * i;
        int one = (int)c[0], two = (int)c[1];
        crVec3 frame[3];
        make_frame(vec_at(c + 6), frame);
        blocks[i] = cr_block(CR_BLOCK_CONE, 3 * i, 3);
        blocks[i].mu = blocks[i].mu2 = c[2];
        for (int k = 0; k < 3; k++) {
            int row = 3 * i + k, first = at;
            start[row] = at;
            // columns ascend
            for (int pass = 0; pass < 2; pass++) {
                bool is_one = (pass == 0) == (one < two);
                int index = is_one ? one : two;
                if (index < 0) continue;
                at += put_row(body + 16 * index, index, is_one ? -1.0 : 1.0, vec_at(c + 3), frame[k],
                              col + at, value + at);
            }
            u_free[row] = 0.0;
            for (int e = first; e < at; e++) {
                u_free[row] += value[e] * body[16 * (col[e] / 6) + 10 + col[e] % 6];
            }
            b[row] = cr_dot(frame[k], vec_at(c + 9));
            heap->p[row] = cr_dot(frame[k], vec_at(c + 12));
        }
    }
    start[3 * heap->contacts] = at;
}

static void put_masses(const crHeap* heap, const double* body, int* start, int* col, double* value) {
    static const int place[3][3] = {{4, 7, 8}, {7, 5, 9}, {8, 9, 6}};
    int at = 0;
    for (int i = 0; i < heap->bodies; i++) {
        for (int k = 0; k < 6; k++) {
            start[6 * i + k] = at;
            for (int j = 0; j < 3 && k >= 3; j++) {
                col[at] = 6 * i + 3 + j;
                value[at++] = body[16 * i + place[k - 3][j]];
            }
            if (k >= 3) continue;
            col[at] = 6 * i + k;
            value[at++] = 1.0 / body[16 * i];
        }
    }
    start[6 * heap->bodies] = at;
}

static bool heap_pose(FILE* file, crArena* arena, crHeap* heap) {
    int32_t counts[2];
    if (fread(counts, sizeof counts[0], 2, file) != 2) return false;
    heap->contacts = counts[0];
    heap->bodies = counts[1];
    size_t contacts = (size_t)counts[0], bodies = (size_t)counts[1], rows = 3 * contacts, nv = 6 * bodies;
    double* contact = cr_arena_alloc(arena, 16 * contacts * sizeof(double));
    double* body = cr_arena_alloc(arena, 16 * bodies * sizeof(double));
    if (fread(contact, 16 * sizeof(double), contacts, file) != contacts) return false;
    if (fread(body, 16 * sizeof(double), bodies, file) != bodies) return false;
    double* values = cr_arena_alloc(arena, (12 * rows + 12 * bodies + 3 * rows) * sizeof(double));
    int* ints = cr_arena_alloc(arena, (12 * rows + rows + 1 + nv + 1 + 12 * bodies) * sizeof(int));
    crBlock* blocks = cr_arena_alloc(arena, contacts * sizeof *blocks);
    double *J = values, *Minv = J + 12 * rows, *u_free = Minv + 12 * bodies, *b = u_free + rows;
    int *J_col = ints, *J_start = J_col + 12 * rows, *M_start = J_start + rows + 1, *M_col = M_start + nv + 1;
    heap->p = b + rows;
    pose(heap, contact, body, J_start, J_col, J, u_free, b, blocks);
    put_masses(heap, body, M_start, M_col, Minv);
    heap->problem = (crProblem){.rows = (int)rows, .block_count = counts[0], .blocks = blocks};
    heap->problem.u_free = u_free;
    heap->problem.b = b;
    heap->problem.nv = (int)nv;
    heap->problem.J = (crMatrix){(int)rows, (int)nv, J_start, J_col, J};
    heap->problem.Minv = (crMatrix){(int)nv, (int)nv, M_start, M_col, Minv};
    return true;
}

bool heap_read(const char* path, crArena* arena, crHeap* heap) {
    char command[1200];
    size_t length = strlen(path);
    bool packed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    snprintf(command, sizeof command, "gzip -dc '%s' 2>/dev/null", path);
    FILE* file = packed ? popen(command, "r") : fopen(path, "rb");
    if (file == NULL) return false;
    bool ok = heap_pose(file, arena, heap);
    if (packed) {
        pclose(file);
    } else {
        fclose(file);
    }
    return ok;
}
