// import_parts.h - what the importers share: the tree they make, notes, refusals, numbers, poses, names.
#ifndef CAROM_IO_IMPORT_PARTS_H
#define CAROM_IO_IMPORT_PARTS_H

#include "carom/carom.h"
#include "carom/dynamics.h"
#include "io/import.h"
#include "io/tree.h"
#include "io/xml.h"

// One import under way. The first refusal sticks.
typedef struct crImporting {
    crArena arena;  // XML, lists, names; gone when the import is done
    const crImportOptions* options;
    crImport* result;
    crTree tree;
    const char* folder;  // of the file, ending with a slash or ""; NULL: no other files
    const char* path;
    int note_capacity;
    int visual_triangles;  // of all visuals
    int visual_share;      // triangles that a mesh may have, 0 before it is known
    const char* const*
        schema;  // elements of the format, ends with NULL; others are refused. NULL: any may be there
    const char* const* effects;  // attribute, and what leaving it out means; ends with NULL. NULL: none told
    crStatus status;
    crError* error;
} crImporting;

bool cr__import_ok(const crImporting* im);
// attr NULL: the element itself.
void cr__import_refuse(crImporting* im, const crXml* element, const crXmlAttr* attr, crStatus status,
                       const char* format, ...) CR_PRINTF(5, 6);
void cr__import_note(crImporting* im, crNoteLevel level, const crXml* element, const crXmlAttr* attr,
                     const char* format, ...) CR_PRINTF(5, 6);
// A note for every element and attribute that has no mark; those named in `ignored` (ends with NULL) count as
// ignored, with all that is inside.
void cr__import_leftovers(crImporting* im, const crXml* root, const char* const* ignored_elements,
                          const char* const* ignored_attrs);

void* cr__import_alloc(crImporting* im, size_t size);  // zeroed; NULL, and refused, when memory is out
// The array with room for one more; NULL, and refused, when memory is out or there are `most` already.
void* cr__import_grow(crImporting* im, void* array, int count, int* capacity, size_t size, int most,
                      const crXml* element);
char* cr__import_format(crImporting* im, const char* format, ...) CR_PRINTF(2, 3);

// A file beside the model. Binary is fine; one zero byte follows.
crStatus cr__import_load(const char* path, size_t most, char** bytes, size_t* size, crError* error);
bool cr__import_read(crImporting* im, const crXml* element, const char* path, size_t most, char** bytes,
                     size_t* size);
// path, below the model's folder unless it is absolute.
const char* cr__import_beside(crImporting* im, const char* path);
// The file that a URI means: package:// and model:// by the search path, file://, or a path.
const char* cr__import_uri(crImporting* im, const crXml* element, const char* uri);

// Words of text as finite numbers, between least and most of them; returns how many, 0 when refused.
int cr__import_numbers(crImporting* im, const crXml* element, const crXmlAttr* attr, const char* text,
                       int least, int most, double* numbers);
bool cr__import_bool(crImporting* im, const crXml* element, const crXmlAttr* attr, const char* text);

// Values of elements, marked as used; where there is none, *to keeps its value and false comes back.
bool cr__attr_numbers(crImporting* im, crXml* element, const char* name, int least, int most, double* to);
bool cr__attr_vector(crImporting* im, crXml* element, const char* name, crVec3* to);
// "color" of a shape from red, green and blue of 0 to 1 in a text, which may say more; nothing where it does not say them.
void cr__tree_color(crImporting* im, crJson* shape, const char* rgba);
const char* cr__attr_text(crXml* element, const char* name);  // NULL where there is none
crXml* cr__used_child(crXml* element, const char* name);      // marked; NULL where there is none
const char* cr__need_text(crImporting* im, crXml* element, const char* name);  // refused where missing: ""

// Roll, pitch, yaw about fixed axes, as URDF and SDF have them.
crQuat cr__quat_rpy(crVec3 rpy);

// A name that a scene takes, made of `name`, and not yet in `taken`; noted where it changed.
typedef struct crNames {
    int count, capacity;
    const char** names;  // by hash, NULL where free (capacity, a power of two)
} crNames;
const char* cr__import_name(crImporting* im, crNames* taken, const crXml* element, const char* name);

#define CR_IMPORT_MAX_EXCLUDES  20000  // as many as a scene takes
#define CR_IMPORT_MAX_MATERIALS 400    // so that their pairs are not too many

// Where the values made next come from.
void cr__tree_at(crImporting* im, const crXml* element);
void cr__tree_pose(crImporting* im, crJson* to, crPose pose);         // pos and quat, left out where trivial
void cr__tree_mass(crImporting* im, crJson* to, const crMass* mass);  // mass, com, inertia
// "carom", "comment" and so on, at the top.
void cr__tree_head(crImporting* im);

// triangles of a file
typedef struct crTriangles {
    int vertex_count, triangle_count;
    crVec3* vertices;
    int (*triangles)[3];
} crTriangles;
// STL (both kinds), OBJ, COLLADA and MSH, by the file's ending; each coordinate is scaled. False where refused.
bool cr__mesh_read(crImporting* im, const crXml* element, const char* path, crVec3 scale, crTriangles* mesh);
// The triangles of a COLLADA file (mesh_dae.c), in metres.
bool cr__mesh_dae(crImporting* im, const crXml* element, const char* bytes, size_t size, crTriangles* mesh);
// The same from bytes with a zero after them.
bool cr__mesh_parse(crImporting* im, const crXml* element, const char* path, const char* bytes, size_t size,
                    crVec3 scale, crTriangles* mesh);
// Mass, centre and inertia of what the triangles enclose at density 1, by signed tetrahedra.
crMass cr__mesh_mass(const crTriangles* mesh);
// A hull of the vertices into a shape's object: type and points.
void cr__mesh_hull(crImporting* im, crJson* shape, const crTriangles* mesh);

// Triangles of a visual into a shape's object: type, vertices with six figures, triangles. More than 4000 triangles, fewer
// where there are many meshes, are thinned by merging vertices that share a cell of a grid; a mesh that is inside out, as a mirrored one, is turned. Refuses a
// mesh without faces.
void cr__mesh_visual(crImporting* im, const crXml* element, crJson* shape, const crTriangles* mesh);

bool cr__visuals_full(const crImporting* im);  // true if no more meshes may be visuals

// The visuals of a link into its body: `read` puts what one <visual> shows at the end of the list. Where a visual is refused,
// the body has no visuals and is drawn by its shapes, and a note says why: a visual is no reason to refuse a model.
typedef void crReadVisual(void* ctx, crXml* visual, crJson* visuals);
void cr__import_visuals(crImporting* im, crXml* link, crJson* body, crReadVisual* read, void* ctx);

void cr__import_mjcf(crImporting* im, crXml* root);
void cr__import_urdf(crImporting* im, crXml* root);
void cr__import_sdf(crImporting* im, crXml* root);

#endif
