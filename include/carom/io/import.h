// import.h - models that others wrote as carom scenes: MJCF, URDF and SDF.
//
// An importer reads the XML into a JSON tree, the tree of the scene that `carom import` writes, and cr_scene_read
// makes the model of it. So there is one way into a model, values can be set by path in between, and a scene
// read from the written file has the same bits. Every value of the tree stands where its element stands in
// the XML: refusals of the scene reader point there.
//
// Nothing is dropped in silence: what an importer did not use becomes a note, once for each kind, with the
// first place and how often.
#ifndef CAROM_IO_IMPORT_H
#define CAROM_IO_IMPORT_H

#include "carom/io/json.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum crImportFormat { CR_IMPORT_NONE, CR_IMPORT_MJCF, CR_IMPORT_URDF, CR_IMPORT_SDF } crImportFormat;

typedef enum crNoteLevel {
    CR_NOTE_IGNORED,     // does not act on bodies (looks, sensors), or steers another program's solver
    CR_NOTE_UNSUPPORTED  // acts, and carom leaves it out
} crNoteLevel;

typedef struct crNote {
    crNoteLevel level;
    const char* file;
    int line, column;  // of the first
    int count;
    char text[200];
} crNote;

typedef struct crImportOptions {
    const char* key;    // MJCF: name of the keyframe to start from, NULL for the reference position
    int package_count;  // URDF, SDF: folders in which package://NAME/... and model://NAME/... are looked for
    const char* const* packages;  // (package_count)
    bool fixed_base;              // URDF: the root link is fixed to the world
} crImportOptions;

typedef struct crImport {
    crImportFormat format;
    crJsonDoc scene;
    int note_count;
    crNote* notes;  // in the order of the file (note_count)
    crArena arena;  // holds the notes
} crImport;

// Whether a path is a model's. By the name's ending (.xml .mjcf .urdf .sdf .world), else by whether the file begins with '<'. "-" is none.
CR_API bool cr_import_is_model(const char* path);

// The format is that of the root element: mujoco, robot or sdf. options may be NULL. Fails: file (also in a carom
// built without expat), limit, memory, and what the importer refuses, with line and column; nothing needs to be
// freed then.
CR_API crStatus cr_import_file(const char* path, const crImportOptions* options, crImport* import,
                               crError* error);
// The same from text; files it names are looked for beside `path`, or refused where path is NULL.
CR_API crStatus cr_import_text(const char* text, size_t size, const char* path,
                               const crImportOptions* options, crImport* import, crError* error);
CR_API void cr_import_free(crImport* import);  // accepts a zeroed one

CR_API const char* cr_import_format_name(crImportFormat format);  // "MJCF", "URDF", "SDF"

#ifdef __cplusplus
}
#endif

#endif
