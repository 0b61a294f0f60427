// sheet.c - keeping what is drawn, and writing it as SVG.
//
// Points are kept as float and written to a tenth of a pixel. Fails: memory sticks to the sheet and is told
// when it is saved.
#include "plot/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/utf8.h"

void cr_sheet_create(crSheet* s, double width, double height) {
    *s = (crSheet){.width = width, .height = height};
}

void cr_sheet_destroy(crSheet* s) {
    free(s->marks);
    free(s->points);
    free(s->letters);
    *s = (crSheet){0};
}

// room for `more` items; the sheet remembers where there is none
static bool make_room(crSheet* s, void** items, size_t size, size_t count, size_t more, size_t* room) {
    if (count + more <= *room) return true;
    size_t larger = 2 * (count + more) + 64;
    void* moved = realloc(*items, larger * size);
    if (moved == NULL) {
        s->status = CR_ERR_MEMORY;
        return false;
    }
    *items = moved;
    *room = larger;
    return true;
}

static crSheetMark* add(crSheet* s, const double (*points)[2], size_t count) {
    void* marks = s->marks;
    bool good = make_room(s, &marks, sizeof *s->marks, s->mark_count, 1, &s->mark_room);
    s->marks = marks;
    void* kept = s->points;
    good = good && make_room(s, &kept, sizeof *s->points, s->point_count, count, &s->point_room);
    s->points = kept;
    if (!good) return NULL;
    crSheetMark* mark = &s->marks[s->mark_count++];
    *mark = (crSheetMark){.first = s->point_count, .count = count};
    for (size_t i = 0; i < count; i++) {
        s->points[s->point_count][0] = (float)points[i][0];
        s->points[s->point_count++][1] = (float)points[i][1];
    }
    return mark;
}

void cr_sheet_path(crSheet* s, const double (*points)[2], size_t count, crPen pen) {
    if (count < 2) return;
    crSheetMark* mark = add(s, points, count);
    if (mark != NULL) mark->pen = pen;
}

void cr_sheet_line(crSheet* s, double x0, double y0, double x1, double y1, crPen pen) {
    cr_sheet_path(s, (const double[2][2]){{x0, y0}, {x1, y1}}, 2, pen);
}

void cr_sheet_box(crSheet* s, double x0, double y0, double x1, double y1, crPen pen) {
    cr_sheet_path(s, (const double[5][2]){{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}, {x0, y0}}, 5, pen);
}

static crSheetMark* add_text(crSheet* s, double x, double y, double size, crInk ink, const char* text) {
    size_t length = strlen(text) + 1;
    void* letters = s->letters;
    bool good = make_room(s, &letters, 1, s->letter_count, length, &s->letter_room);
    s->letters = letters;
    crSheetMark* mark = good ? add(s, (const double[1][2]){{x, y}}, 1) : NULL;
    if (mark == NULL) return NULL;
    mark->text = true;
    mark->pen.fill = ink;
    mark->size = size;
    mark->letters = s->letter_count;
    memcpy(s->letters + s->letter_count, text, length);
    s->letter_count += length;
    return mark;
}

void cr_sheet_text(crSheet* s, double x, double y, double size, crAnchor anchor, crInk ink,
                   const char* text) {
    crSheetMark* mark = add_text(s, x, y, size, ink, text);
    if (mark != NULL) mark->anchor = anchor;
}

void cr_sheet_text_up(crSheet* s, double x, double y, double size, crInk ink, const char* text) {
    crSheetMark* mark = add_text(s, x, y, size, ink, text);
    if (mark == NULL) return;
    mark->anchor = CR_ANCHOR_MIDDLE;
    mark->upright = true;
}

double cr_sheet_text_width(const char* text, double size) {
    size_t letters = 0;
    for (; *text != '\0'; text++) {
        letters += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return 0.62 * size * (double)letters;
}

void cr_sheet_escape(FILE* file, const char* text) {
    const char* end = text + strlen(text);
    while (text < end) {
        int length = cr__utf8_length(text, end);
        unsigned char c = (unsigned char)*text;
        bool noncharacter = length == 3 && memcmp(text, "\xef\xbf", 2) == 0 && (unsigned char)text[2] >= 0xbe;
        if (length == 0 || c < 0x20 || c == 0x7f || noncharacter) {
            putc(' ', file);
        } else if (strchr("<>&\"'", c) != NULL) {
            fprintf(file, "&#%d;", c);
        } else {
            fwrite(text, 1, (size_t)length, file);
        }
        text += length > 0 ? length : 1;
    }
}

// a number of pixels, to a tenth, with nothing that need not be there
void cr_sheet_put_pixel(FILE* file, double x) {
    if (!(x > -1e6 && x < 1e6)) x = 0.0;  // beyond any sheet, or not a number
    long tenths = (long)(x * 10.0 + (x < 0.0 ? -0.5 : 0.5));
    if (tenths % 10 == 0) {
        fprintf(file, "%ld", tenths / 10);
    } else {
        fprintf(file, "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10, labs(tenths) % 10);
    }
}

void cr_sheet_put_pen(FILE* file, const crPen* pen) {
    static const char* const dashes[] = {"", " stroke-dasharray=\"6 4\"", " stroke-dasharray=\"1.5 3\""};
    fputs("<path class=\"", file);
    if (pen->fill != CR_INK_NONE) fprintf(file, "fill-%d", (int)pen->fill);
    if (pen->stroke != CR_INK_NONE) fprintf(file, " line-%d", (int)pen->stroke);
    putc('"', file);
    if (pen->color != 0) fprintf(file, " style=\"fill:#%06x\"", pen->color & 0xffffffU);
    if (pen->fill != CR_INK_NONE && pen->alpha < 1.0) fprintf(file, " fill-opacity=\"%.2g\"", pen->alpha);
    if (pen->stroke != CR_INK_NONE)
        fprintf(file, " stroke-width=\"%.3g\"%s", pen->width, dashes[pen->dash % 3]);
}

void cr_sheet_put_points(FILE* file, const crSheet* s, const crSheetMark* mark) {
    size_t from = 0;
    putc('M', file);
    for (size_t i = 0; i < mark->count; i++) {
        const float* at = s->points[mark->first + i];
        if (isnan(at[0])) {
            fputs("ZM", file);
            from = i + 1;
            continue;
        }
        if (i > from) putc(i == from + 1 ? 'L' : ' ', file);
        cr_sheet_put_pixel(file, at[0]);
        putc(' ', file);
        cr_sheet_put_pixel(file, at[1]);
    }
    if (mark->pen.fill != CR_INK_NONE) putc('Z', file);
}

static void put_path(const crSheet* s, const crSheetMark* mark, FILE* file) {
    cr_sheet_put_pen(file, &mark->pen);
    fputs(" d=\"", file);
    cr_sheet_put_points(file, s, mark);
    fputs("\"/>\n", file);
}

static void put_text(const crSheet* s, const crSheetMark* mark, FILE* file) {
    static const char* const anchors[] = {"start", "middle", "end"};
    const float* at = s->points[mark->first];
    fprintf(file, "<text class=\"fill-%d\" font-size=\"%.3g\" text-anchor=\"%s\"", (int)mark->pen.fill,
            mark->size, anchors[mark->anchor]);
    if (mark->upright) {
        fputs(" transform=\"translate(", file);
        cr_sheet_put_pixel(file, at[0]);
        putc(' ', file);
        cr_sheet_put_pixel(file, at[1]);
        fputs(") rotate(-90)\">", file);
    } else {
        fputs(" x=\"", file);
        cr_sheet_put_pixel(file, at[0]);
        fputs("\" y=\"", file);
        cr_sheet_put_pixel(file, at[1]);
        fputs("\">", file);
    }
    cr_sheet_escape(file, s->letters + mark->letters);
    fputs("</text>\n", file);
}

void cr_sheet_put_marks(FILE* file, const crSheet* s, size_t first) {
    for (size_t i = first; i < s->mark_count; i++) {
        (s->marks[i].text ? put_text : put_path)(s, &s->marks[i], file);
    }
}

void cr_sheet_svg(const crSheet* s, FILE* file, const char* label) {
    fprintf(file,
            "<svg viewBox=\"0 0 %.6g %.6g\" width=\"%.6g\" "
            "height=\"%.6g\" font-family=\"DejaVu Sans,Verdana,sans-serif\" role=\"img\" aria-label=\"",
            s->width, s->height, s->width, s->height);
    cr_sheet_escape(file, label);
    fputs("\">\n<title>", file);
    cr_sheet_escape(file, label);
    fputs("</title>\n", file);
    cr_sheet_put_marks(file, s, 0);
    fputs("</svg>\n", file);
}
