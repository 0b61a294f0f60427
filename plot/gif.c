// gif.c - GIF89a: a common table of colours, changed rectangles, LZW.
//
// The colours are the 256 most frequent of the pictures that were added, to five or six bits; all others take the nearest of
// them. Of each picture only the rectangle that changed is written. Source: CompuServe, GIF89a specification, 1990; Welch
// 1984. Fails: memory, at the beginning.
#include "plot/gif.h"

#include <stdlib.h>
#include <string.h>

static size_t bucket_of(const unsigned char* rgb) {
    return (size_t)(rgb[0] >> 3) << 11 | (size_t)(rgb[1] >> 2) << 5 | (size_t)(rgb[2] >> 3);
}

void cr_palette_add(crPalette* p, const crImage* image) {
    size_t pixels = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < pixels; i++) {
        const unsigned char* rgb = image->rgb + 3 * i;
        size_t bucket = bucket_of(rgb);
        p->seen[bucket]++;
        for (int c = 0; c < 3; c++) {
            p->sums[bucket][c] += rgb[c];
        }
    }
}

void cr_palette_finish(crPalette* p) {
    memset(p->nearest, -1, sizeof p->nearest);
    for (int i = 0; i < 256; i++) {
        size_t best = 0;
        for (size_t b = 1; b < 65536; b++) {
            if (p->seen[b] > p->seen[best]) best = b;
        }
        if (p->seen[best] == 0) break;
        for (int c = 0; c < 3; c++) {
            p->rgb[i][c] = (unsigned char)((p->sums[best][c] + p->seen[best] / 2) / p->seen[best]);
        }
        p->seen[best] = 0;
        p->nearest[best] = (int16_t)i;
    }
}

static unsigned char color_of(crPalette* p, const unsigned char* rgb) {
    size_t bucket = bucket_of(rgb);
    if (p->nearest[bucket] >= 0) return (unsigned char)p->nearest[bucket];
    int best = 0;
    int least = 1 << 30;
    for (int i = 0; i < 256; i++) {
        int far = 0;
        for (int c = 0; c < 3; c++) {
            int d = rgb[c] - p->rgb[i][c];
            far += d * d;
        }
        if (far < least) {
            least = far;
            best = i;
        }
    }
    p->nearest[bucket] = (int16_t)best;
    return (unsigned char)best;
}

static void put_short(FILE* file, int x) {
    putc(x & 255, file);
    putc(x >> 8 & 255, file);
}

crStatus cr_gif_begin(crGif* g, FILE* file, crPalette* palette, int width, int height) {
    size_t pixels = (size_t)width * (size_t)height;
    *g = (crGif){.file = file, .palette = palette, .width = width, .height = height};
    g->before = malloc(pixels);
    g->now = malloc(pixels);
    if (g->before == NULL || g->now == NULL) {
        free(g->before);
        free(g->now);
        return CR_ERR_MEMORY;
    }
    fputs("GIF89a", file);
    put_short(file, width);
    put_short(file, height);
    fwrite("\xf7\0\0", 1, 3, file);  // 256 colours of 8 bits follow
    fwrite(palette->rgb, 1, sizeof palette->rgb, file);
    fwrite("!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 1, 19, file);  // for ever
    return CR_OK;
}

// bits, lowest first, in blocks of at most 255 bytes
typedef struct Bits {
    FILE* file;
    unsigned buffer;
    int held;
    int length;
    unsigned char block[255];
} Bits;

static void flush_block(Bits* b) {
    if (b->length == 0) return;
    putc(b->length, b->file);
    fwrite(b->block, 1, (size_t)b->length, b->file);
    b->length = 0;
}

static void put_bits(Bits* b, unsigned code, int width) {
    b->buffer |= code << b->held;
    b->held += width;
    while (b->held >= 8) {
        b->block[b->length++] = (unsigned char)(b->buffer & 255U);
        if (b->length == 255) flush_block(b);
        b->buffer >>= 8;
        b->held -= 8;
    }
}

enum { CLEAR = 256, STOP = 257, MOST = 4096, SLOTS = 16384 };

// strings of the dictionary by prefix and next byte
typedef struct Words {
    int next, width;
    uint32_t keys[SLOTS];
    uint16_t codes[SLOTS];
} Words;

static void forget(Words* w) {
    memset(w->keys, 0, sizeof w->keys);
    w->next = STOP + 1;
    w->width = 9;
}

// the slot of a string, or the free one where it belongs; a key is never 0
static size_t find_word(const Words* w, uint32_t key) {
    size_t slot = (key * 2654435761U >> 18) % SLOTS;
    while (w->keys[slot] != 0 && w->keys[slot] != key) {
        slot = (slot + 1) % SLOTS;
    }
    return slot;
}

static void put_pixels(const crGif* g, const int box[4]) {
    Words words;
    Bits bits = {.file = g->file};
    forget(&words);
    putc(8, g->file);
    put_bits(&bits, CLEAR, words.width);
    int prefix = -1;
    for (int y = box[1]; y < box[3]; y++) {
        for (int x = box[0]; x < box[2]; x++) {
            unsigned char color = g->now[(size_t)y * (size_t)g->width + (size_t)x];
            if (prefix < 0) {
                prefix = color;
                continue;
            }
            uint32_t key = ((uint32_t)prefix << 8 | color) + 1;
            size_t slot = find_word(&words, key);
            if (words.keys[slot] == key) {
                prefix = words.codes[slot];
                continue;
            }
            put_bits(&bits, (unsigned)prefix, words.width);
            prefix = color;
            if (words.next == MOST) {
                put_bits(&bits, CLEAR, words.width);
                forget(&words);
                continue;
            }
            if (words.next == 1 << words.width) words.width++;
            words.keys[slot] = key;
            words.codes[slot] = (uint16_t)words.next++;
        }
    }
    put_bits(&bits, (unsigned)prefix, words.width);
    if (words.next == 1 << words.width && words.width < 12) words.width++;
    put_bits(&bits, STOP, words.width);
    if (bits.held > 0) put_bits(&bits, 0, 8 - bits.held);
    flush_block(&bits);
    putc(0, g->file);
}

// what differs from the last picture: left, top, right, bottom; one pixel where nothing does
static void find_change(const crGif* g, int box[4]) {
    box[0] = g->width;
    box[1] = g->height;
    box[2] = box[3] = 0;
    for (int y = 0; y < g->height; y++) {
        for (int x = 0; x < g->width; x++) {
            size_t at = (size_t)y * (size_t)g->width + (size_t)x;
            if (g->any && g->now[at] == g->before[at]) continue;
            if (x < box[0]) box[0] = x;
            if (y < box[1]) box[1] = y;
            if (x >= box[2]) box[2] = x + 1;
            if (y >= box[3]) box[3] = y + 1;
        }
    }
    if (box[2] == 0) memcpy(box, (const int[4]){0, 0, 1, 1}, 4 * sizeof *box);
}

void cr_gif_add(crGif* g, const crImage* image, int hundredths) {
    size_t pixels = (size_t)g->width * (size_t)g->height;
    for (size_t i = 0; i < pixels; i++) {
        g->now[i] = color_of(g->palette, image->rgb + 3 * i);
    }
    int box[4];
    find_change(g, box);
    fwrite("!\xf9\x04\x04", 1, 4, g->file);  // the next one is drawn over it
    put_short(g->file, hundredths);
    fwrite("\0\0,", 1, 3, g->file);
    put_short(g->file, box[0]);
    put_short(g->file, box[1]);
    put_short(g->file, box[2] - box[0]);
    put_short(g->file, box[3] - box[1]);
    putc(0, g->file);
    put_pixels(g, box);
    memcpy(g->before, g->now, pixels);
    g->any = true;
}

void cr_gif_end(crGif* g) {
    putc(';', g->file);
    free(g->before);
    free(g->now);
}
