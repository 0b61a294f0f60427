// sheet_save.c - a sheet as a file of its own: SVG written here, PNG and PDF by gnuplot.
//
// SVG goes to a file next to the target that is renamed when it is whole. gnuplot draws the same marks in
// the same pixels; PNG has two real ones for each. Fails: file, memory, and what gnuplot.h says.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plot/gnuplot.h"
#include "plot/ink.h"
#include "plot/sheet.h"

static void put_colors(FILE* file, const char* const inks[CR_INKS], const char* paper) {
    fprintf(file, "text{stroke:%s}.paper{fill:%s}", paper, paper);
    for (int i = CR_INK_TEXT; i < CR_INKS; i++) {
        fprintf(file, ".fill-%d{fill:%s}.line-%d{stroke:%s}", i, inks[i], i, inks[i]);
    }
}

void cr_sheet_put_style(FILE* file, bool dark) {
    fputs("<style>path{fill:none;stroke:none;stroke-linejoin:round;stroke-linecap:round}"
          "text{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}",
          file);
    put_colors(file, cr_ink_light, CR_PAPER_LIGHT);
    if (dark) {
        fputs("@media (prefers-color-scheme:dark){", file);
        put_colors(file, cr_ink_dark, CR_PAPER_DARK);
        putc('}', file);
    }
    fputs("</style>\n", file);
}

static void put_svg_file(const crSheet* s, FILE* file, const char* label) {
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.6g %.6g\" width=\"%.6g\" "
            "height=\"%.6g\">\n",
            s->width, s->height, s->width, s->height);
    cr_sheet_put_style(file, false);
    fprintf(file, "<rect class=\"paper\" width=\"%.6g\" height=\"%.6g\"/>\n", s->width, s->height);
    cr_sheet_svg(s, file, label);
    fputs("</svg>\n", file);
}

static crStatus refuse(crError* error, const char* path) {
    return cr_error_set(error, CR_ERR_FILE, "output", "output: \"%.80s\" cannot be written: %s", path,
                        strerror(errno));
}

crStatus cr_partial_begin(crPartial* p, const char* path, crError* error) {
    size_t size = strlen(path) + 32;
    *p = (crPartial){.path = path, .name = malloc(size)};
    if (p->name == NULL) return cr_error_set(error, CR_ERR_MEMORY, "output", "output: out of memory");
    snprintf(p->name, size, "%s.partial-%ld", path, (long)getpid());
    p->file = fopen(p->name, "wx");
    if (p->file != NULL) return CR_OK;
    free(p->name);
    return refuse(error, path);
}

crStatus cr_partial_end(crPartial* p, crStatus status, crError* error) {
    bool good = !ferror(p->file);
    good = fclose(p->file) == 0 && good;
    if (status == CR_OK && (!good || rename(p->name, p->path) != 0)) status = refuse(error, p->path);
    if (status != CR_OK) unlink(p->name);
    free(p->name);
    return status;
}

static crStatus save_svg(const crSheet* s, const char* path, const char* label, crError* error) {
    crPartial partial;
    crStatus status = cr_partial_begin(&partial, path, error);
    if (status != CR_OK) return status;
    put_svg_file(s, partial.file, label);
    return cr_partial_end(&partial, CR_OK, error);
}

static bool same_pen(const crPen* a, const crPen* b) {
    return a->stroke == b->stroke && a->fill == b->fill && a->width == b->width && a->dash == b->dash &&
           a->alpha == b->alpha && a->color == b->color;
}

// how many marks from `first` are drawn alike and can share a block of data
static size_t alike(const crSheet* s, size_t first) {
    size_t count = 1;
    while (first + count < s->mark_count && !s->marks[first + count].text &&
           same_pen(&s->marks[first].pen, &s->marks[first + count].pen)) {
        // an outline over its own area: one by one, so that later ones cover earlier ones
        if (s->marks[first].pen.fill != CR_INK_NONE && s->marks[first].pen.stroke != CR_INK_NONE) break;
        count++;
    }
    return count;
}

static void put_block(const crSheet* s, size_t first, size_t count, FILE* script) {
    fprintf(script, "$m%zu << EOD\n", first);
    for (size_t i = first; i < first + count; i++) {
        const crSheetMark* mark = &s->marks[i];
        for (size_t k = 0; k < mark->count; k++) {
            fprintf(script, "%.6g %.6g\n", s->points[mark->first + k][0], s->points[mark->first + k][1]);
        }
        fputs("\n", script);
    }
    fputs("EOD\n", script);
}

static const char* fill_of(const crPen* pen, char text[8]) {
    if (pen->color == 0) return cr_ink_light[pen->fill];
    snprintf(text, 8, "#%06x", pen->color & 0xffffffU);
    return text;
}

static void put_clause(const crSheetMark* mark, size_t first, const char* comma, FILE* script) {
    const crPen* pen = &mark->pen;
    char own[8];
    if (pen->fill != CR_INK_NONE) {
        fprintf(script, "%s$m%zu with filledcurves closed fc rgb '%s' fs transparent solid %.3g noborder",
                comma, first, fill_of(pen, own), pen->alpha);
        comma = ", ";
    }
    if (pen->stroke != CR_INK_NONE) {
        static const char* const dashes[] = {"1", "(5,4)", "(1.5,3)"};
        fprintf(script, "%s$m%zu with lines lw %.3g dt %s lc rgb '%s'", comma, first, pen->width,
                dashes[pen->dash % 3], cr_ink_light[pen->stroke]);
    }
}

static void put_label(const crSheet* s, const crSheetMark* mark, double unit, FILE* script) {
    static const char* const anchors[] = {"left", "center", "right"};
    fputs("set label ", script);
    cr_gnuplot_quote(script, s->letters + mark->letters);
    // gnuplot centres a label on its height, we stand it on its line
    double lift = 0.36 * mark->size;
    const float* at = s->points[mark->first];
    fprintf(script, " at %.6g,%.6g %s%s noenhanced front font ',%.4g' textcolor rgb '%s'\n",
            at[0] - (mark->upright ? lift : 0.0), at[1] - (mark->upright ? 0.0 : lift),
            mark->upright ? "rotate by 90 " : "", anchors[mark->anchor], mark->size * unit,
            cr_ink_light[mark->pen.fill]);
}

static void put_marks(const crSheet* s, double unit, FILE* script) {
    fprintf(script,
            "unset border\nunset tics\nunset key\nset lmargin at screen 0\nset rmargin at screen 1\n"
            "set tmargin at screen 1\nset bmargin at screen 0\nset xrange [0:%.6g]\nset yrange [%.6g:0]\n",
            s->width, s->height);
    for (size_t i = 0; i < s->mark_count;) {
        size_t count = s->marks[i].text ? 1 : alike(s, i);
        if (s->marks[i].text) {
            put_label(s, &s->marks[i], unit, script);
        } else {
            put_block(s, i, count, script);
        }
        i += count;
    }
    fputs("plot NaN notitle", script);
    for (size_t i = 0; i < s->mark_count;) {
        size_t count = s->marks[i].text ? 1 : alike(s, i);
        if (!s->marks[i].text) put_clause(&s->marks[i], i, ", ", script);
        i += count;
    }
    fputc('\n', script);
}

crStatus cr_sheet_save(const crSheet* s, const char* path, const char* label, crError* error) {
    crPictureFormat format;
    crStatus status = cr_picture_format(path, &format, error);
    if (status != CR_OK) return status;
    if (s->status != CR_OK)
        return cr_error_set(error, s->status, "output", "output: %s", cr_status_text(s->status));
    if (format == CR_PICTURE_SVG) return save_svg(s, path, label, error);
    double scale = format == CR_PICTURE_PNG ? 2.0 : 1.0;
    crGnuplot g;
    status = cr_gnuplot_begin(&g, path, (int)(scale * s->width), (int)(scale * s->height), scale, error);
    if (status != CR_OK) return status;
    put_marks(s, g.font_size / 12.0, g.script);
    return cr_gnuplot_end(&g, error);
}
