// problem.c - which reader a problem file goes to.
//
// A text that begins with { is json, with HDF5's signature fclib. One whose first word is no number is
// boxed-lcp, or contactbench where that word is "n". Otherwise the first numbers decide: 0/1, 0/1, n, m and
// a list of blocks from 0 is siconos-mlcp; n, storage, n, n is siconos-lcp; dimension 2, 3 or 5, contacts,
// storage is a friction problem: 5 with rolling, 3 with planar rolling where exactly one more coefficient per
// contact ends the text (of at least two contacts: many files end in a flag) or the name has RFC2D; the global
// form where it reads as such. n and at least n^2 + n numbers is siconos-lcp-rows. Fails: what fits none is
// refused; naming the format helps.
#include "io/argument.h"
#include "io/problem_parts.h"
#include "io/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Format {
    const char* name;
    crProblemReader read;
} Format;

static const Format formats[] = {
    {"json", cr__read_problem_json},
    {"siconos-lcp", cr__read_siconos_lcp},
    {"siconos-lcp-rows", cr__read_siconos_lcp_rows},
    {"siconos-mlcp", cr__read_siconos_mlcp},
    {"boxed-lcp", cr__read_boxed_lcp},
    {"siconos-fc", cr__read_siconos_fc},
    {"siconos-gfc", cr__read_siconos_gfc},
    {"siconos-rfc", cr__read_siconos_rfc},
    {"siconos-grfc", cr__read_siconos_grfc},
    {"contactbench", cr__read_contactbench},
    {"fclib", cr__read_fclib},
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

const char* cr_problem_format(int index) {
    return index >= 0 && index < FORMAT_COUNT ? formats[index].name : NULL;
}

// the leading numbers: up to `capacity` of them kept, all counted
static size_t leading_numbers(const char* text, size_t size, size_t capacity, double* numbers) {
    crScan scan = cr__scan(text, size);
    size_t count = 0;
    double number;
    while (cr__scan_word(&scan) && cr__scan_as_number(&scan, &number)) {
        if (count < capacity) numbers[count] = number;
        count++;
    }
    return count;
}

// the first word after lines of remarks is "n"
static bool begins_with_n(const char* text, size_t size) {
    size_t at = 0;
    while (at < size && text[at] == '#') {
        const char* end = memchr(text + at, '\n', size - at);
        at = end == NULL ? size : (size_t)(end - text) + 1;
    }
    return at + 1 < size && text[at] == 'n' && (unsigned char)text[at + 1] <= ' ';
}

static bool reads_as(crProblemReader read, const char* text, size_t size) {
    crProblemFile probe = {0};
    crStatus status = cr_arena_create(&probe.arena, NULL, 0);
    if (status == CR_OK) status = read(text, size, &probe, NULL);
    cr_problem_file_free(&probe);
    return status == CR_OK;
}

static bool name_has(const char* hint, const char* part) {
    return hint != NULL && strstr(hint, part) != NULL;
}

// A global problem may have as many velocities as contact rows: only its second matrix tells it apart. Where
// neither reader takes the text, the size of the matrix and the name decide whose refusal is shown.
static const char* guess_friction(const char* text, size_t size, const double* t, const char* hint) {
    bool rolling = t[0] == 5.0;
    crProblemReader global = rolling ? cr__read_siconos_grfc : cr__read_siconos_gfc;
    crProblemReader local = rolling ? cr__read_siconos_rfc : cr__read_siconos_fc;
    const char* global_name = rolling ? "siconos-grfc" : "siconos-gfc";
    if (t[3] != t[0] * t[1] || reads_as(global, text, size)) return global_name;
    if (t[0] == 3.0 && (name_has(hint, "RFC2D") || cr__siconos_rolls_planar(text, size)))
        return "siconos-rfc";
    if (name_has(hint, "GFC") && !reads_as(local, text, size)) return global_name;
    return rolling ? "siconos-rfc" : "siconos-fc";
}

// the first character of a text that is not white space or a byte order mark; 0 where there is none
static char first_character(const char* text, size_t size) {
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n')) {
        at++;
    }
    return at < size ? text[at] : '\0';
}

static const char* guess(const char* text, size_t size, const char* hint) {
    if (size >= 8 && memcmp(text, "\x89HDF\r\n\x1a\n", 8) == 0) return "fclib";
    if (first_character(text, size) == '{') return "json";
    double t[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    size_t count = leading_numbers(text, size, 8, t);
    if (count == 0) return begins_with_n(text, size) ? "contactbench" : "boxed-lcp";
    bool flags = (t[0] == 0.0 || t[0] == 1.0) && (t[1] == 0.0 || t[1] == 1.0);
    if (flags && count > 8 && t[4] == 0.0 && t[5] > 0.0 && t[5] <= t[2] + t[3]) return "siconos-mlcp";
    bool storage = t[1] == 0.0 || t[1] == 1.0 || t[1] == 2.0;
    bool square = storage && t[2] == t[0] && t[3] == t[0];
    if (square &&
        (t[1] != 0.0 || (t[4] == t[0] && t[5] == t[0] && (double)count >= 6.0 + t[0] * t[0] + t[0]))) {
        return "siconos-lcp";
    }
    bool sizes = (t[0] == 2.0 || t[0] == 3.0 || t[0] == 5.0) && t[1] >= 0.0 && t[3] == t[4];
    bool friction = sizes && t[1] >= 1.0 && (t[2] == 0.0 || t[2] == 1.0 || t[2] == 2.0) && t[3] >= t[0];
    // six numbers and then words: a sparse matrix, even where there are no contacts
    if (friction || (sizes && t[2] == 2.0 && count == 6)) return guess_friction(text, size, t, hint);
    return (double)count >= 1.0 + t[0] * t[0] + t[0] ? "siconos-lcp-rows" : "siconos-lcp";
}

crStatus cr_problem_parse(const char* text, size_t size, const char* format, const char* name,
                          const char* hint, crProblemFile* out, crError* error) {
    if (out != NULL) *out = (crProblemFile){0};
    if (text == NULL) return cr__io_missing(error, "text");
    if (out == NULL) return cr__io_missing(error, "out");
    if (format == NULL && first_character(text, size) == '\0') {
        return cr_error_set(error, CR_ERR_MISSING, "text", "text: the file is empty");
    }
    if (format == NULL) format = guess(text, size, hint);
    if (name != NULL) snprintf(out->name, sizeof out->name, "%s", name);
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(formats[i].name, format) != 0) continue;
        crStatus status = cr_arena_create(&out->arena, NULL, 0);
        out->format = formats[i].name;
        if (status == CR_OK) status = formats[i].read(text, size, out, error);
        if (status == CR_OK) status = cr_problem_check(&out->problem, error);
        if (out->count == 0) out->count = 1;
        if (status != CR_OK) cr_problem_file_free(out);
        return status;
    }
    return cr_error_set(error, CR_ERR_NAME, "format", "format: no reader for \"%s\"", format);
}

// the whole file, NUL-terminated; the caller frees. NULL where it cannot be read or is too long
static char* load(const char* path, size_t* size, bool* too_long) {
    bool standard = strcmp(path, "-") == 0;
    FILE* file = standard ? stdin : fopen(path, "rb");
    *size = 0;
    *too_long = false;
    if (file == NULL) return NULL;
    size_t capacity = 1 << 16;
    char* text = malloc(capacity);
    while (text != NULL) {
        *size += fread(text + *size, 1, capacity - 1 - *size, file);
        if (*size < capacity - 1) break;
        *too_long = *size >= CR_PROBLEM_MAX_SIZE;
        char* larger = *too_long ? NULL : realloc(text, 2 * capacity);
        if (larger == NULL) free(text);
        text = larger;
        capacity *= 2;
    }
    if (text != NULL && ferror(file)) {
        free(text);
        text = NULL;
    }
    if (!standard) fclose(file);
    if (text != NULL) text[*size] = '\0';
    return text;
}

crStatus cr_problem_read(const char* path, const char* format, crProblemFile* out, crError* error) {
    if (out != NULL) *out = (crProblemFile){0};
    if (path == NULL) return cr__io_missing(error, "path");
    if (out == NULL) return cr__io_missing(error, "out");
    char bare[1024];
    if (strlen(path) >= sizeof bare) {
        return cr_error_set(error, CR_ERR_LIMIT, "path", "path: longer than %zu bytes", sizeof bare - 1);
    }
    memcpy(bare, path, strlen(path) + 1);
    char* name = strrchr(bare, '#');
    if (name != NULL) *name++ = '\0';
    size_t size;
    bool too_long;
    char* text = load(bare, &size, &too_long);
    if (too_long) {
        return cr_error_set(error, CR_ERR_LIMIT, "path", "path: \"%.120s\" is longer than %zu bytes", bare,
                            CR_PROBLEM_MAX_SIZE);
    }
    if (text == NULL) return cr_error_set(error, CR_ERR_FILE, "path", "path: cannot read \"%.150s\"", bare);
    crStatus status = cr_problem_parse(text, size, format, name, bare, out, error);
    free(text);
    return status;
}

static bool ends_with_problem(const char* text, const char* end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

crStatus cr_problem_write(const char* path, const char* format, const crProblemFile* file, crError* error) {
    if (path == NULL) return cr__io_missing(error, "path");
    if (file == NULL) return cr__io_missing(error, "file");
    crStatus status = cr_problem_check(&file->problem, error);
    if (status != CR_OK) return status;
    if (format == NULL && ends_with_problem(path, ".json")) format = "json";
    if (format == NULL && (ends_with_problem(path, ".hdf5") || ends_with_problem(path, ".h5")))
        format = "fclib";
    if (format != NULL && strcmp(format, "json") == 0) return cr__write_problem_json(path, file, error);
    if (format != NULL && strcmp(format, "fclib") == 0) return cr__write_fclib(path, file, error);
    return cr_error_set(error, CR_ERR_NAME, "dump", "dump: \"%.120s\" must end in .json, .hdf5 or .h5", path);
}
