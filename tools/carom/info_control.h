// info_control.h - actuators, sites, sensors and keyframes of a scene, for carom info.
#ifndef CAROM_TOOLS_INFO_CONTROL_H
#define CAROM_TOOLS_INFO_CONTROL_H

#include "io/scene.h"

void info_control_text(const crScene* scene);
void info_control_json(const crScene* scene);  // members of an object, each with a comma after it

#endif
