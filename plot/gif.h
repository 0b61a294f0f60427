// gif.h - pictures one after the other as an animated GIF.
#ifndef CAROM_PLOT_GIF_H
#define CAROM_PLOT_GIF_H

#include <stdint.h>

#include "plot/raster.h"

// 256 colours for all pictures, and what they are for each of 65536 coarse ones.
typedef struct crPalette {
    unsigned char rgb[256][3];
    int16_t nearest[65536];  // -1: not looked for yet
    uint32_t seen[65536];    // how often, while it is made
    uint64_t sums[65536][3];
} crPalette;

void cr_palette_add(crPalette* palette, const crImage* image);  // begins with a zeroed palette
void cr_palette_finish(crPalette* palette);

typedef struct crGif {
    FILE* file;
    crPalette* palette;
    int width, height;
    unsigned char* before;  // the last picture as colours of the palette
    unsigned char* now;
    bool any;
} crGif;

// The pictures repeat for ever. Errors of the file are left to be seen in it. Fails: memory.
crStatus cr_gif_begin(crGif* gif, FILE* file, crPalette* palette, int width, int height);
void cr_gif_add(crGif* gif, const crImage* image, int hundredths);  // of a second it stands
void cr_gif_end(crGif* gif);

#endif
