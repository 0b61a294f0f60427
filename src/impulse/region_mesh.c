// region_mesh.c - the boundary of the permissible region as a closed triangle mesh.
//
// The directions are those of an icosahedron whose edges are split into 2^level parts, stretched like the
// region itself (its second moments); each is cast from the centroid to the boundary. The region is convex,
// so the mesh is closed, has the same connections everywhere and lies inside it.
// Fails: a region without interior (mu = 0, Vn > 0, Wnn = 0), a level out of range: false.
#include "impulse/region.h"

#define GOLDEN 1.6180339887498949

int cr_region_mesh_vertices(int level) {
    if (level < 0 || level > CR_REGION_MAX_LEVEL) return 0;
    return 10 * (1 << (2 * level)) + 2;
}

int cr_region_mesh_triangles(int level) {
    if (level < 0 || level > CR_REGION_MAX_LEVEL) return 0;
    return 20 * (1 << (2 * level));
}

// corner k of the icosahedron: (+-1, +-golden ratio, 0) and its cyclic permutations
static crVec3 corner(int k) {
    double one = k & 1 ? 1.0 : -1.0;
    double golden = k & 2 ? GOLDEN : -GOLDEN;
    if (k < 4) return cr_vec3(one, golden, 0.0);
    return k < 8 ? cr_vec3(0.0, one, golden) : cr_vec3(golden, 0.0, one);
}

typedef struct Icosahedron {
    int edge[12][12];  // number of the edge between two corners, -1 where there is none
    int face[20][3];   // corners, counter-clockwise from outside
} Icosahedron;

static Icosahedron icosahedron(void) {
    Icosahedron solid;
    int edges = 0;
    int faces = 0;
    for (int a = 0; a < 12; a++) {
        solid.edge[a][a] = -1;
        for (int b = 0; b < a; b++) {
            bool near = cr_dot(corner(a), corner(b)) > 1.0;
            solid.edge[a][b] = solid.edge[b][a] = near ? edges++ : -1;
            for (int c = 0; near && c < b; c++) {
                if (cr_dot(corner(b), corner(c)) <= 1.0 || cr_dot(corner(a), corner(c)) <= 1.0) continue;
                bool outward = cr_dot(cr_cross(corner(a), corner(b)), corner(c)) > 0.0;
                int* face = solid.face[faces++];
                face[0] = a;
                face[1] = outward ? b : c;
                face[2] = outward ? c : b;
            }
        }
    }
    return solid;
}

// Vertex number of the grid point i steps from corner 0 towards corner 1 and j towards corner 2 of a face.
// Corners come first, then the inner points of edges, then those of faces.
static int vertex_number(const Icosahedron* solid, int parts, int face, int i, int j) {
    int k = parts - i - j;
    const int* f = solid->face[face];
    if (i == parts) return f[1];
    if (j == parts) return f[2];
    if (k == parts) return f[0];
    // side, and steps along it from its first corner
    int side = j == 0 ? 0 : (k == 0 ? 1 : (i == 0 ? 2 : -1));
    if (side >= 0) {
        int a = f[side];
        int b = f[(side + 1) % 3];
        int step = side == 0 ? i : (side == 1 ? j : k);
        if (a > b) step = parts - step;
        return 12 + solid->edge[a][b] * (parts - 1) + step - 1;
    }
    int row = j - 1;
    int inside = row * (parts - 2) - row * (row - 1) / 2 + i - 1;
    return 12 + 30 * (parts - 1) + face * ((parts - 1) * (parts - 2) / 2) + inside;
}

static crVec3 grid_direction(const Icosahedron* solid, int parts, int face, int i, int j) {
    const int* f = solid->face[face];
    crVec3 d = cr_scale((double)(parts - i - j), corner(f[0]));
    d = cr_madd(cr_madd(d, (double)i, corner(f[1])), (double)j, corner(f[2]));
    return cr_scale(1.0 / cr_norm(d), d);
}

static int fill_face(const Icosahedron* solid, int parts, int face, int (*triangles)[3]) {
    int count = 0;
    for (int j = 0; j < parts; j++) {
        for (int i = 0; i < parts - j; i++) {
            int a = vertex_number(solid, parts, face, i, j);
            int b = vertex_number(solid, parts, face, i + 1, j);
            int c = vertex_number(solid, parts, face, i, j + 1);
            triangles[count][0] = a;
            triangles[count][1] = b;
            triangles[count++][2] = c;
            if (i + j + 2 > parts) continue;
            triangles[count][0] = b;
            triangles[count][1] = vertex_number(solid, parts, face, i + 1, j + 1);
            triangles[count++][2] = c;
        }
    }
    return count;
}

bool cr_region_mesh(const crContact* c, int level, crVec3* vertices, int (*triangles)[3]) {
    if (c == NULL || vertices == NULL || triangles == NULL) return false;
    crMoments moments;
    if (level < 0 || level > CR_REGION_MAX_LEVEL || !cr__region_moments(c, false, &moments)) return false;
    crMat3 spread = moments.spread;
    // outward triangles need a stretch that does not mirror
    crVec3 third = cr_mat3_column(spread, 2);
    if (cr_dot(cr_cross(cr_mat3_column(spread, 0), cr_mat3_column(spread, 1)), third) < 0.0) {
        spread = cr_mat3_columns(cr_mat3_column(spread, 0), cr_mat3_column(spread, 1), cr_neg(third));
    }
    Icosahedron solid = icosahedron();
    int parts = 1 << level;
    for (int face = 0; face < 20; face++) {
        for (int j = 0; j <= parts; j++) {
            for (int i = 0; i <= parts - j; i++) {
                crVec3 d = cr_mat3_mul(spread, grid_direction(&solid, parts, face, i, j));
                double s = cr_region_extent(c, moments.centroid, d);
                crVec3 P = cr_madd(moments.centroid, s, d);
                vertices[vertex_number(&solid, parts, face, i, j)] = cr__region_settle(c, P, d);
            }
        }
        triangles += fill_face(&solid, parts, face, triangles);
    }
    return true;
}
