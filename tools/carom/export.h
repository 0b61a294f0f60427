// export.h - scenes and trajectories as the text that the page opens.
#ifndef CAROM_TOOL_EXPORT_H
#define CAROM_TOOL_EXPORT_H

#include "scene_input.h"

typedef struct ExportOptions {
    SceneInput scene;
    const char* out_name;  // what the verb calls its file
    const char* out;
    const char* of;  // --scene, of a trajectory
} ExportOptions;

// All arguments of a verb that exports. -1 to go on, else the exit status.
int export_arguments(ExportOptions* options, int count, char** arguments, void (*help)(void));

// true where the path ends as trajectories do: .h5 or .csv.
bool export_is_trajectory(const char* path);

// input->path, a scene (or model, or name) or a trajectory, checked and written. scene: the scene of a trajectory
// that does not carry its own, NULL for none. *text is to be freed. Returns the exit status; what was wrong has
// been said.
int export_text(SceneInput* input, const char* scene, char** text);

#endif
