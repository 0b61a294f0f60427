// region.h - the impulse-space picture of one collision in a file: section, solid, legend, captions.
#ifndef CAROM_PLOT_REGION_H
#define CAROM_PLOT_REGION_H

#include "plot/picture.h"

// title is any text; width and height in pixels, 0 for the default of the collision's dimension.
crStatus cr_region_draw(const crPicture* picture, const char* title, int width, int height, const char* path,
                        crError* error);

#endif
