// gnuplot.c - running gnuplot: commands from a temporary file on its standard input, the picture from its
// standard output, its complaints from its standard error.
//
// Started with -d, so nobody's ~/.gnuplot changes a picture. Fails with CR_ERR_FILE: gnuplot is not installed
// (field "gnuplot"), it stopped with an error (same field, its first words in the message), or the picture
// cannot be written (field "output").
#include "plot/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/utf8.h"

extern char** environ;

crStatus cr_picture_format(const char* path, crPictureFormat* format, crError* error) {
    static const char* const names[] = {".svg", ".png", ".pdf"};
    const char* base = strrchr(path, '/');
    const char* dot = strrchr(base != NULL ? base : path, '.');
    for (int i = 0; dot != NULL && i < 3; i++) {
        if (strcasecmp(dot, names[i]) == 0) {
            *format = (crPictureFormat)i;
            return CR_OK;
        }
    }
    return cr_error_set(error, CR_ERR_NAME, "output",
                        "output: \"%.80s\" must end in .svg, .png or .pdf: the extension is the kind of file",
                        path);
}

// Characters that XML has no place for; what is not UTF-8 at all has length 0.
static bool printable(const char* at, int length) {
    if (length == 1) return (unsigned char)*at >= 0x20 && *at != 0x7f;
    bool noncharacter = length == 3 && memcmp(at, "\xef\xbf", 2) == 0 && (unsigned char)at[2] >= 0xbe;
    return length > 0 && !noncharacter;
}

void cr_gnuplot_quote(FILE* script, const char* text) {
    const char* end = text + strlen(text);
    fputc('\'', script);
    while (text < end) {
        int length = cr__utf8_length(text, end);
        if (!printable(text, length))
            fputc(' ', script);
        else
            fwrite(text, 1, (size_t)length, script);
        if (*text == '\'') fputc('\'', script);
        text += length > 0 ? length : 1;
    }
    fputc('\'', script);
}

static crStatus temporary_failed(crError* error) {
    return cr_error_set(error, CR_ERR_FILE, "gnuplot", "gnuplot: no temporary file for its commands: %s",
                        strerror(errno));
}

crStatus cr_gnuplot_begin(crGnuplot* g, const char* path, int width, int height, double scale,
                          crError* error) {
    *g = (crGnuplot){.path = path};
    crStatus status = cr_picture_format(path, &g->format, error);
    if (status != CR_OK) return status;
    g->script = tmpfile();
    if (g->script == NULL) return temporary_failed(error);

    // terminals differ in what a point, a line width and a symbol size are; these look the same
    static const struct {
        const char* terminal;
        const char* fonts;  // browsers fall back on a font of nearly the same widths
        double font, line, point, unit;
    } formats[] = {{"svg dashlength 1.8", "DejaVu Sans,Verdana,sans-serif", 12.0, 1.0, 0.74, 1.0},
                   {"pngcairo fontscale 1", "DejaVu Sans", 9.0, 1.0, 1.0, 1.0},
                   {"pdfcairo fontscale 1 dashlength 1.9", "DejaVu Sans", 9.2, 1.9, 1.25, 1.0 / 72.0}};
    g->font_size = formats[g->format].font * scale;
    g->point_size = formats[g->format].point * scale;
    fprintf(g->script, "set encoding utf8\nset terminal %s size %.8g,%.8g font '%s,%.4g'",
            formats[g->format].terminal, width * formats[g->format].unit, height * formats[g->format].unit,
            formats[g->format].fonts, g->font_size);
    fprintf(g->script, " enhanced linewidth %.4g background '#ffffff'\n", formats[g->format].line * scale);
    return CR_OK;
}

void cr_gnuplot_abandon(crGnuplot* g) {
    if (g->script != NULL) fclose(g->script);
    g->script = NULL;
}

// A new file next to the picture; its name is returned in a block to free.
static int partial_open(const char* path, char** name) {
    size_t size = strlen(path) + 48;
    *name = malloc(size);
    if (*name == NULL) return -1;
    int fd = -1;
    for (int attempt = 0; attempt < 100 && fd < 0; attempt++) {
        snprintf(*name, size, "%s.partial-%ld-%d", path, (long)getpid(), attempt);
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    return fd;
}

// Starts gnuplot on the three descriptors and waits; returns errno of the start, its exit status in *status.
static int spawn(int in, int out, int err, int* status) {
    posix_spawn_file_actions_t actions;
    int problem = posix_spawn_file_actions_init(&actions);
    if (problem != 0) return problem;
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, err, 2);
    char* const arguments[] = {(char[]){"gnuplot"}, (char[]){"-d"}, NULL};
    pid_t pid = 0;
    problem = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) return problem;
    while (waitpid(pid, status, 0) < 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

// The first line of gnuplot's complaint that says something.
static void complaint(FILE* err, char* text, size_t size) {
    rewind(err);
    text[0] = '\0';
    char line[256];
    while (fgets(line, sizeof line, err) != NULL) {
        size_t start = strspn(line, " \t^\n");
        line[strcspn(line, "\n")] = '\0';
        if (line[start] == '\0' || strncmp(line, "gnuplot>", 8) == 0) continue;
        snprintf(text, size, "%.120s", line + start);
        if (strstr(line, "line ") != NULL) return;
    }
}

static crStatus run(crGnuplot* g, int out, FILE* err, crError* error) {
    int status = 0;
    int problem = spawn(fileno(g->script), out, fileno(err), &status);
    if (problem == ENOENT) {
        return cr_error_set(error, CR_ERR_FILE, "gnuplot",
                            "gnuplot: not found; pictures need it (package gnuplot-nox or gnuplot)");
    }
    if (problem != 0) {
        return cr_error_set(error, CR_ERR_FILE, "gnuplot", "gnuplot: cannot be started: %s",
                            strerror(problem));
    }
    bool failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (failed || lseek(out, 0, SEEK_END) <= 0) {
        char text[160];
        complaint(err, text, sizeof text);
        return cr_error_set(error, CR_ERR_FILE, "gnuplot", "gnuplot: made no picture: %.140s",
                            text[0] != '\0' ? text : "it gave no reason");
    }
    return CR_OK;
}

crStatus cr_gnuplot_end(crGnuplot* g, crError* error) {
    crStatus status = CR_OK;
    FILE* err = tmpfile();
    bool ready = err != NULL && fflush(g->script) == 0 && !ferror(g->script) &&
                 lseek(fileno(g->script), 0, SEEK_SET) == 0;
    if (!ready) status = temporary_failed(error);

    char* partial = NULL;
    int out = -1;
    if (status == CR_OK) {
        out = partial_open(g->path, &partial);
        if (out < 0) {
            status = cr_error_set(error, CR_ERR_FILE, "output", "output: \"%.80s\" cannot be written: %s",
                                  g->path, strerror(errno));
        }
    }
    if (out >= 0) {
        status = run(g, out, err, error);
        if (close(out) != 0 || (status == CR_OK && rename(partial, g->path) != 0)) {
            status = cr_error_set(error, CR_ERR_FILE, "output", "output: \"%.80s\" cannot be written: %s",
                                  g->path, strerror(errno));
        }
        if (status != CR_OK) unlink(partial);
    }
    free(partial);
    if (err != NULL) fclose(err);
    cr_gnuplot_abandon(g);
    return status;
}
