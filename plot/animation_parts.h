// animation_parts.h - a moving picture that has been laid out, and its ways into a file.
#ifndef CAROM_PLOT_ANIMATION_PARTS_H
#define CAROM_PLOT_ANIMATION_PARTS_H

#include "plot/animation.h"
#include "plot/view_parts.h"

typedef struct crReel {
    const crAnimation* animation;
    crView* views[CR_ANIMATION_PANELS];  // with their panels set
    crSheet back;                        // what does not move: grounds, frames, labels, the bar
    double bar[3];                       // of the time: left, right and y, pixels
    double begin, end;                   // of what is shown, s
    double seconds, hold;                // of playing, with the hold on the last picture
} crReel;

double cr__reel_time(const crReel* reel, double played);  // what time is shown then, s
void cr__reel_frame(crReel* reel, crSheet* sheet, double time);
crPen cr__reel_pen(int body);

crStatus cr__reel_svg(crReel* reel, const char* path, crError* error);
crStatus cr__reel_gif(crReel* reel, const char* path, crError* error);
crStatus cr__reel_film(crReel* reel, const char* path, crError* error);  // through ffmpeg

#endif
