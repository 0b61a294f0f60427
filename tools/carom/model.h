// model.h - models of others as scenes for verbs: options of the import, and its notes.
#ifndef CAROM_TOOL_MODEL_H
#define CAROM_TOOL_MODEL_H

#include "scene_input.h"

// --key, --package, --fixed-base and --with: -1 no such option, else the exit status so far. A flag leaves
// *taken false.
int model_option(SceneInput* input, const char* name, char* value, bool* taken);

// A model file into input->doc, its notes to standard error; with input->strict those that act are an error.
crStatus model_open(SceneInput* input, crError* error);

// Lays the file of --with over input->doc, where there is one.
crStatus model_lay_over(SceneInput* input, crError* error);

#endif
