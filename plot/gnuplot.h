// gnuplot.h - one gnuplot run that makes one picture file.
//
// Commands are collected in an unnamed temporary file; end() runs gnuplot on them without a shell, its output
// goes to a file of ours next to the target, and only a finished picture is renamed to the target. So no file
// name ever reaches gnuplot, and a failed run leaves nothing behind.
#ifndef CAROM_PLOT_GNUPLOT_H
#define CAROM_PLOT_GNUPLOT_H

#include <stdio.h>

#include "carom/base.h"

typedef enum crPictureFormat { CR_PICTURE_SVG, CR_PICTURE_PNG, CR_PICTURE_PDF } crPictureFormat;

// By the extension of the path; any other is refused with the list of those that are known.
crStatus cr_picture_format(const char* path, crPictureFormat* format, crError* error);

typedef struct crGnuplot {
    FILE* script;      // write commands here between begin and end
    const char* path;  // of the picture; must live until end
    crPictureFormat format;
    double font_size;   // of ordinary text, in the terminal's own unit
    double point_size;  // what makes symbols equally large in all formats
} crGnuplot;

// width and height in pixels (points for PDF); text and lines are magnified by scale.
crStatus cr_gnuplot_begin(crGnuplot* g, const char* path, int width, int height, double scale,
                          crError* error);
crStatus cr_gnuplot_end(crGnuplot* g, crError* error);  // runs gnuplot; frees everything in any case
void cr_gnuplot_abandon(crGnuplot* g);                  // frees everything without running

// Writes a string as a gnuplot literal in which nothing is special; what cannot be printed becomes a space.
void cr_gnuplot_quote(FILE* script, const char* text);

#endif
