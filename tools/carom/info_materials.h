// info_materials.h - coefficients of a scene that depend on the impact, and ready materials, for carom info.
#ifndef CAROM_TOOLS_INFO_MATERIALS_H
#define CAROM_TOOLS_INFO_MATERIALS_H

#include "io/scene.h"

void info_materials_text(const crScene* scene);  // nothing where no coefficient depends on the impact
void info_materials_json(const crScene* scene);  // a member of an object, with a comma after it
void info_ready(bool json);                      // all ready materials and pairs, with their sources

#endif
