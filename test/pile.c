// pile.c - rigid bodies, contact points between them, and the problem of one time step under gravity.
//
// Row block of a contact between bodies a and b at point x with frame (n, t1, t2): J = frame^T (v_b + w_b x
// r_b - v_a - w_a x r_a). u_free = J (v + h g). Every kind but the jam has a velocity that opens all contacts
// (moving all bodies away from the floor's centre), so solutions exist.
#include "pile.h"

#include <string.h>

#define MOST_CONTACTS 4096

typedef struct Body {
    crVec3 at;
    double mass;
    crVec3 inertia;  // principal, in axes
    crMat3 axes;
} Body;

typedef struct Touch {
    int a, b;  // -1: the ground
    crVec3 point, normal;
    bool joint;
} Touch;

typedef struct Scene {
    Body* body;
    int bodies;
    Touch* touch;
    int touches;
} Scene;

static void touch_add(Scene* s, int a, int b, crVec3 point, crVec3 normal) {
    if (s->touches < MOST_CONTACTS) s->touch[s->touches++] = (Touch){a, b, point, normal, false};
}

static Body make_box(crVec3 at, crVec3 half, double mass, crQuat turn) {
    Body b = {.at = at, .mass = mass, .axes = cr_quat_matrix(turn)};
    b.inertia = cr_vec3(mass / 3 * (half.y * half.y + half.z * half.z),
                        mass / 3 * (half.x * half.x + half.z * half.z),
                        mass / 3 * (half.x * half.x + half.y * half.y));
    return b;
}

static double pick_mass(const crPileDef* def, crRandom* random) {
    return def->mass_ratio > 1.0 ? sample_log(random, 1.0, def->mass_ratio) : 1.0;
}

// four corners of the overlap of two rectangles
static void touch_face(Scene* s, int a, int b, double x0, double x1, double y0, double y1, double z) {
    for (int k = 0; k < 4; k++) {
        touch_add(s, a, b, cr_vec3(k & 1 ? x1 : x0, k & 2 ? y1 : y0, z), cr_vec3(0, 0, 1));
    }
}

static void build_tower(const crPileDef* def, crRandom* random, Scene* s) {
    crVec3 half = cr_vec3(0.5, 0.5, 0.25);
    for (int i = 0; i < def->bodies; i++) {
        crVec3 at = cr_vec3(0.0, 0.0, 0.25 + 0.5 * i);
        at.x = sample_uniform(random, -0.1, 0.1);
        at.y = sample_uniform(random, -0.1, 0.1);
        s->body[i] = make_box(at, half, pick_mass(def, random), cr_quat_identity());
        crVec3 below = i > 0 ? s->body[i - 1].at : at;
        touch_face(s, i - 1, i, fmax(at.x, below.x) - 0.5, fmin(at.x, below.x) + 0.5,
                   fmax(at.y, below.y) - 0.5, fmin(at.y, below.y) + 0.5, 0.5 * i);
    }
    s->bodies = def->bodies;
}

static void build_wall(const crPileDef* def, crRandom* random, Scene* s) {
    int width = 3;
    crVec3 half = cr_vec3(0.5, 0.25, 0.25);
    for (int i = 0; i < def->bodies; i++) {
        int row = i / width;
        crVec3 at = cr_vec3(i % width + (row % 2 ? 0.5 : 0.0), 0.0, 0.25 + 0.5 * row);
        s->body[i] = make_box(at, half, pick_mass(def, random), cr_quat_identity());
        if (row == 0) touch_face(s, -1, i, at.x - 0.5, at.x + 0.5, -0.25, 0.25, 0.0);
        for (int j = (row - 1) * width; row > 0 && j < row * width; j++) {
            double x0 = fmax(at.x, s->body[j].at.x) - 0.5, x1 = fmin(at.x, s->body[j].at.x) + 0.5;
            if (x1 > x0 + 0.1) touch_face(s, j, i, x0, x1, -0.25, 0.25, 0.5 * row);
        }
    }
    s->bodies = def->bodies;
}

// spheres of radius 1/2 on a jittered lattice; those closer than a diameter and a bit touch
static void build_heap(const crPileDef* def, crRandom* random, Scene* s) {
    int side = 2;
    while (side * side * side < def->bodies) {
        side++;
    }
    for (int i = 0; i < def->bodies; i++) {
        crVec3 at = cr_vec3(i % side + 0.5, (i / side) % side + 0.5, 0.5 + i / (side * side));
        at = cr_madd(at, 0.06, sample_direction(random));
        double mass = pick_mass(def, random);
        s->body[i] = make_box(at, cr_vec3(0.5, 0.5, 0.5), mass, sample_rotation(random));
        s->body[i].inertia = cr_scale(0.4 / (2.0 / 3.0), s->body[i].inertia);
        if (i < side * side) touch_add(s, -1, i, cr_vec3(at.x, at.y, 0), cr_vec3(0, 0, 1));
        for (int j = 0; j < i; j++) {
            crVec3 d = cr_sub(at, s->body[j].at);
            double distance = cr_norm(d);
            if (distance > 1.1) continue;
            crVec3 n = cr_scale(1.0 / distance, d);
            touch_add(s, j, i, cr_madd(s->body[j].at, 0.5, n), n);
        }
    }
    s->bodies = def->bodies;
    if (def->kind != PILE_JAM) return;
    for (int i = 0; i < s->bodies; i++) {
        crVec3 at = s->body[i].at;
        if (at.x < 1.0) touch_add(s, -1, i, cr_vec3(at.x - 0.5, at.y, at.z), cr_vec3(1, 0, 0));
        if (at.x > side - 1.0) touch_add(s, -1, i, cr_vec3(at.x + 0.5, at.y, at.z), cr_vec3(-1, 0, 0));
    }
}

// polygon around the origin with vertices on a jittered circle
static void make_polygon(crRandom* random, int count, double radius, double (*v)[2]) {
    for (int k = 0; k < count; k++) {
        double sine, cosine;
        cr_sincos(2.0 * CR_PI * (k + sample_uniform(random, -0.2, 0.2)) / count, &sine, &cosine);
        v[k][0] = radius * cosine;
        v[k][1] = radius * sine;
    }
}

static crBlock make_block(const crPileDef* def, const Touch* touch, int row, crRandom* random,
                          double (*vertices)[2], int* vertex) {
    if (touch->joint) return cr_block(CR_BLOCK_EQUALITY, row, 3);
    if (def->friction == PILE_NONE) return cr_block(CR_BLOCK_UNILATERAL, row, 1);
    crBlock b = cr_block(CR_BLOCK_CONE, row, 3);
    b.mu = b.mu2 = sample_uniform(random, 0.1, 0.9);
    if (def->friction == PILE_MIXED) {
        double kind = sample_uniform(random, 0.0, 1.0);
        b.mu = b.mu2 = kind < 0.2 ? 0.0 : kind < 0.4 ? 5.0 : b.mu;
    } else if (def->friction == PILE_ELLIPSE) {
        b.mu2 = sample_uniform(random, 0.1, 0.9);
    } else if (def->friction == PILE_POLYGON) {
        b.vertex = *vertex;
        b.vertex_count = 5 + (int)(sample_bits(random) % 5);
        make_polygon(random, b.vertex_count, b.mu, vertices + *vertex);
        *vertex += b.vertex_count;
    } else if (def->friction == PILE_ROLLING) {
        b.count = 6;
        b.spin = b.roll = true;
        b.mu_spin = sample_uniform(random, 0.0, 0.1);
        b.mu_roll = sample_uniform(random, 0.0, 0.1);
    }
    return b;
}

// rows of J for one body: sign * (direction, r x direction), or (0, direction) for rows of rotation
static void add_row(int body, double sign, crVec3 direction, crVec3 r, bool turning, int* col, double* value,
                    int* at) {
    if (body < 0) return;
    crVec3 moment = turning ? direction : cr_cross(r, direction);
    double entry[6] = {turning ? 0.0 : direction.x,
                       turning ? 0.0 : direction.y,
                       turning ? 0.0 : direction.z,
                       moment.x,
                       moment.y,
                       moment.z};
    for (int k = 0; k < 6; k++) {
        if (entry[k] == 0.0) continue;
        col[*at] = 6 * body + k;
        value[*at] = sign * entry[k];
        (*at)++;
    }
}

static void fill_rows(const Scene* s, const crBlock* blocks, int* start, int* col, double* value) {
    int at = 0;
    for (int i = 0; i < s->touches; i++) {
        const Touch* t = &s->touch[i];
        crMat3 f = cr_frame(t->normal);
        // normal, tangents, then rotation about the normal and about the tangents
        int axis[6] = {0, 1, 2, 0, 1, 2};
        for (int k = 0; k < blocks[i].count; k++) {
            crVec3 d = cr_mat3_column(f, axis[k]);
            start[blocks[i].row + k] = at;
            crVec3 ra = t->a >= 0 ? cr_sub(t->point, s->body[t->a].at) : t->point;
            crVec3 rb = cr_sub(t->point, s->body[t->b].at);
            add_row(t->a, -1.0, d, ra, k >= 3, col, value, &at);
            add_row(t->b, 1.0, d, rb, k >= 3, col, value, &at);
        }
    }
    start[blocks[s->touches - 1].row + blocks[s->touches - 1].count] = at;
}

// block-diagonal matrix of the bodies, or its inverse
static crMatrix mass_matrix(const Scene* s, bool inverse, crArena* arena) {
    int n = 6 * s->bodies;
    int* start = cr_arena_alloc(arena, ((size_t)n + 1) * sizeof(int));
    int* col = cr_arena_alloc(arena, (size_t)(12 * s->bodies) * sizeof(int));
    double* value = cr_arena_alloc(arena, (size_t)(12 * s->bodies) * sizeof(double));
    int at = 0;
    for (int i = 0; i < s->bodies; i++) {
        const Body* b = &s->body[i];
        double principal[3] = {b->inertia.x, b->inertia.y, b->inertia.z};
        for (int r = 0; r < 6; r++) {
            start[6 * i + r] = at;
            if (r < 3) {
                col[at] = 6 * i + r;
                value[at++] = inverse ? 1.0 / b->mass : b->mass;
            }
            for (int c = 0; r >= 3 && c < 3; c++) {
                double sum = 0.0;
                for (int k = 0; k < 3; k++) {
                    double I = inverse ? 1.0 / principal[k] : principal[k];
                    sum += b->axes.m[r - 3][k] * I * b->axes.m[c][k];
                }
                col[at] = 6 * i + 3 + c;
                value[at++] = sum;
            }
        }
    }
    start[n] = at;
    return (crMatrix){n, n, start, col, value};
}

// every fourth contact between two bodies becomes a ball joint at the same point
static void choose_joints(Scene* s) {
    for (int i = 0, seen = 0; i < s->touches; i++) {
        if (s->touch[i].a >= 0 && ++seen % 4 == 0) s->touch[i].joint = true;
    }
}

crProblem pile_build(const crPileDef* def, crRandom* random, crArena* arena) {
    Scene s = {0};
    s.body = cr_arena_alloc(arena, (size_t)def->bodies * sizeof *s.body);
    s.touch = cr_arena_alloc(arena, MOST_CONTACTS * sizeof *s.touch);
    if (def->kind == PILE_TOWER) build_tower(def, random, &s);
    if (def->kind == PILE_WALL) build_wall(def, random, &s);
    if (def->kind == PILE_HEAP || def->kind == PILE_JAM) build_heap(def, random, &s);
    if (def->joints) choose_joints(&s);
    crBlock* blocks = cr_arena_alloc(arena, (size_t)s.touches * sizeof *blocks);
    double(*vertices)[2] = cr_arena_alloc(arena, (size_t)(10 * s.touches) * sizeof *vertices);
    crProblem p = {.block_count = s.touches,
                   .blocks = blocks,
                   .vertices = (const double(*)[2])vertices,
                   .nv = 6 * s.bodies};
    int vertex = 0;
    for (int i = 0; i < s.touches; i++) {
        blocks[i] = make_block(def, &s.touch[i], p.rows, random, vertices, &vertex);
        p.rows += blocks[i].count;
    }
    int* start = cr_arena_alloc(arena, ((size_t)p.rows + 1) * sizeof(int));
    int* col = cr_arena_alloc(arena, (size_t)(12 * p.rows) * sizeof(int));
    double* value = cr_arena_alloc(arena, (size_t)(12 * p.rows) * sizeof(double));
    double* v = cr_arena_alloc(arena, (size_t)p.nv * sizeof(double));
    double* u_free = cr_arena_alloc(arena, (size_t)p.rows * sizeof(double));
    fill_rows(&s, blocks, start, col, value);
    p.J = (crMatrix){p.rows, p.nv, start, col, value};
    p.M = mass_matrix(&s, false, arena);
    p.Minv = mass_matrix(&s, true, arena);
    for (int i = 0; i < p.nv; i++) {
        v[i] = sample_uniform(random, -def->motion, def->motion) - (i % 6 == 2 ? 9.81 / 240 : 0.0);
    }
    cr_matrix_mul(&p.J, v, u_free);
    p.v = v;
    p.u_free = u_free;
    return p;
}
