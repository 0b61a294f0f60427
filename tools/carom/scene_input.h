// scene_input.h - the scene of a verb: its file or its name, the values set in it, and the world it makes.
#ifndef CAROM_SCENE_INPUT_H
#define CAROM_SCENE_INPUT_H

#include "io/import.h"
#include "io/scene.h"

#define SCENE_SETS     64
#define SCENE_PACKAGES 16

typedef struct SceneInput {
    const char* verb;
    const char* path;  // of a file, "-", or the name of a scene that comes with carom; models are imported
    bool json;         // refusals are JSON
    bool strict;       // overlap at the start, and what is not supported of a model, is an error
    bool every_note;   // of an import, also on what does not act
    int threads;       // 0: what the scene says
    int quality;       // -1: what the scene says
    int set_count;
    const char* paths[SCENE_SETS];
    const char* values[SCENE_SETS];
    crImportOptions how;
    const char* packages[SCENE_PACKAGES];
    const char* with;   // a file laid over the scene, NULL for none
    crJsonDoc doc;      // scene_open
    crImport imported;  // its format and notes; nothing for JSON
} SceneInput;

SceneInput scene_input(const char* verb);

// An option that a verb adds to those every verb on a scene has: -1 no option of its own, else the exit status so far. value may be NULL.
typedef int (*VerbOption)(void* ctx, char* name, char* value);
// All arguments of a verb: help, the verb's own options (take may be NULL), those of every verb, the scene. -1
// to go on, else the exit status.
int scene_arguments(SceneInput* input, int count, char** arguments, void (*help)(void), VerbOption take,
                    void* ctx);
// Which path of a scene an option sets, NULL where none: "--dt" is "step.dt".
const char* scene_option_path(const char* name);
const char* scene_title(const SceneInput* input);  // for people

// The file's tree with the values set. Every call of scene_read makes a scene of the tree as it is then.
crStatus scene_open(SceneInput* input, crError* error);
void scene_close(SceneInput* input);
crStatus scene_read(const SceneInput* input, crScene* scene, crError* error);

char* scene_text(const SceneInput* input);  // the tree as JSON, to free; NULL where memory is out

// Over everything the motion depends on: all values but duration, record and comments.
uint64_t scene_hash(const SceneInput* input, const crScene* scene);

// Warns on standard error of a centre of mass that was taken from shapes though inertia was given. Returns false
// if --strict makes that an error.
bool scene_centres(const SceneInput* input, const crScene* scene);
// The same, and pairs that overlap at the start.
bool scene_warnings(const SceneInput* input, const crScene* scene);

// A refusal of the scene, and of a file that is written; both return the exit status.
int scene_refuse(const SceneInput* input, const crError* error);
int file_refuse(const SceneInput* input, const crError* error);

#endif
