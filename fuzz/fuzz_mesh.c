// fuzz_mesh.c - any bytes as STL, OBJ, MSH or COLLADA: refused by name, or triangles whose corners are all there.
//
// The first byte says which; a mesh that is taken has finite vertices and a finite mass, or none.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/import_parts.h"

static void demand(bool condition) {
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    char* bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    bytes[size - 1] = '\0';
    crXml element = {.name = "mesh", .text = "", .file = "file", .line = 1, .column = 1};
    crError error = {0};
    crImporting im = {.error = &error};
    crTriangles mesh;
    cr_arena_create(&im.arena, NULL, 0);
    static const char* const names[] = {"m.stl", "m.obj", "m.msh", "m.dae"};
    const char* name = names[data[0] % 4];
    if (cr__mesh_parse(&im, &element, name, bytes, size - 1, cr_vec3(1, 1, 1), &mesh)) {
        for (int i = 0; i < mesh.vertex_count; i++) {
            demand(cr_vec3_finite(mesh.vertices[i]));
        }
        for (int i = 0; i < 3 * mesh.triangle_count; i++) {
            int corner = mesh.triangles[i / 3][i % 3];
            demand(corner >= 0 && corner < mesh.vertex_count);
        }
        cr__mesh_mass(&mesh);
    } else {
        demand(im.status != CR_OK && error.message[0] != '\0');
    }
    cr_arena_destroy(&im.arena);
    free(bytes);
    return 0;
}
