// parts.h - parts of io/ that need libraries not every machine has: each is a module of its own beside the extension.
//
// _hdf5.so, _qhull.so and _expat.so have one symbol, py_part, a table of their functions. The extension loads a module when
// one of its functions is called first, so that it starts on a machine without these libraries.
#ifndef CAROM_PYTHON_PARTS_H
#define CAROM_PYTHON_PARTS_H

#include "io/problem_parts.h"
#include "io/recording_parts.h"
#include "io/scene_parts.h"
#include "io/trajectory_parts.h"
#include "io/xml.h"

typedef struct PyPart {
    crStatus (*read_fclib)(const char* text, size_t size, crProblemFile* out, crError* error);
    crStatus (*write_fclib)(const char* path, const crProblemFile* file, crError* error);
    crStatus (*read_recording)(const char* path, crRecording* recording, crError* error);
    const crTrajectoryFormat* trajectory;
    crStatus (*hull)(const crVec3* points, int count, crHull** hull, crError* error);
    crStatus (*xml)(const char* text, size_t size, const char* file, crArena* arena, crXml** root,
                    crError* error);
} PyPart;

// Where the modules are; NULL until the package has said so.
extern char* py_parts_folder;

#endif
