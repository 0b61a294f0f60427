// raster.h - a sheet as pixels, for moving pictures.
#ifndef CAROM_PLOT_RASTER_H
#define CAROM_PLOT_RASTER_H

#include "plot/sheet.h"

typedef struct crImage {
    int width, height;
    unsigned char* rgb;  // (height*width*3), rows from above
    float* cover;        // scratch
    bool dark;           // true if paper and inks are those of dark screens
} crImage;

crStatus cr_image_create(crImage* image, int width, int height);
void cr_image_destroy(crImage* image);  // accepts a zeroed image
void cr_image_clear(crImage* image);    // paper
// Draws what is on the sheet over what is there, in the colours of its paper. Letters are plain capitals.
void cr_image_draw(crImage* image, const crSheet* sheet);

#endif
