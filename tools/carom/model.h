// model.h - scenes and models as the verbs take them: JSON, or MJCF, URDF and SDF imported on the way.
#ifndef CAROM_TOOL_MODEL_H
#define CAROM_TOOL_MODEL_H

#include "io/import.h"
#include "io/scene.h"

#define MOST_SETS     64
#define MOST_PACKAGES 16

// What may be said about an imported model, and values set in its scene.
typedef struct ModelOptions {
    const char* path;
    bool strict;  // what is not supported is an error
    crImportOptions import;
    const char* packages[MOST_PACKAGES];
    const char* with;  // a file laid over the scene, NULL for none
    int set_count;
    const char* paths[MOST_SETS];
    const char* values[MOST_SETS];
} ModelOptions;

// Takes --strict, --key, --package, --fixed-base, --with and --set with their values: how many arguments
// were taken, 0 where it is none of them, or minus the exit status.
int take_model_option(const char* verb, ModelOptions* options, int count, char** arguments);

// The tree of the scene with what was set, and the notes of its import (format none for JSON). Free both.
crStatus read_model_tree(const ModelOptions* options, crImport* import, crError* error);

// The tree alone: JSON, or a model imported with its notes printed.
crStatus read_scene_tree(const char* path, bool strict, crJsonDoc* doc, crError* error);

// The import's notes to standard error, those that act first; false where strict makes one an error.
bool print_notes(const crImport* import, bool ignored, bool strict);

#endif
