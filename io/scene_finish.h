// scene_finish.h - a scene written so that nothing has to be found any more.
#ifndef CAROM_IO_SCENE_FINISH_H
#define CAROM_IO_SCENE_FINISH_H

#include "io/json.h"

// The tree on one line; hulls given by points alone get their faces, and lose the points inside them. A scene
// read from it has the same shapes to the bit. Fails: memory, and what hulls of points fail by.
crStatus cr_scene_write_finished(FILE* file, const crJson* root, crError* error);

#endif
