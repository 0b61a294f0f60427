// numbers.c - numbers of tables: one number of decimals, and one power of ten, for all of a kind.
#include <math.h>
#include <string.h>

#include "numbers.h"

static int print_number(char* text, size_t size, const Style* style, double value) {
    double scaled = value * style->scale;
    int length = snprintf(text, size, "%.*f", style->decimals, scaled);
    // no "-0.000"
    if (text[0] == '-' && strspn(text, "-0.") == strlen(text)) {
        length = snprintf(text, size, "%.*f", style->decimals, 0.0);
    }
    return length;
}

Style style_of(const double* values, int count, int digits) {
    double largest = 0.0;
    for (int i = 0; i < count; i++) {
        largest = fmax(largest, fabs(values[i]));
    }
    Style style = {.scale = 1.0};
    if (largest >= 1e4 || (largest > 0.0 && largest < 1e-2)) {
        style.power = 3 * (int)floor(log10(largest) / 3.0);
        style.scale = pow(10.0, -style.power);
        largest *= style.scale;
    }
    style.decimals = digits;
    for (double limit = 10.0; largest >= limit && style.decimals > 1; limit *= 10.0) {
        style.decimals--;
    }
    for (int i = 0; i < count; i++) {
        char text[400];
        int width = print_number(text, sizeof text, &style, values[i]);
        if (width > style.width) style.width = width;
    }
    return style;
}

void put_number(FILE* file, const Style* style, double value) {
    char text[400];
    print_number(text, sizeof text, style, value);
    fprintf(file, "%*s", style->width, text);
}

void put_heading(FILE* file, const char* label, const char* unit, const Style* style, int columns) {
    char text[64];
    if (style->power != 0) {
        snprintf(text, sizeof text, "%s [1e%d %s]", label, style->power, unit);
    } else {
        snprintf(text, sizeof text, "%s [%s]", label, unit);
    }
    fprintf(file, "%-*s", columns, text);
}
