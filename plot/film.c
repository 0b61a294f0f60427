// film.c - a moving picture as pixels: GIF by itself, MP4 and WebM by ffmpeg.
//
// ffmpeg reads bare pictures from a pipe and writes beside the target; only a film that is whole is renamed. Fails:
// memory, file (also where ffmpeg is not installed, or complains).
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plot/animation_parts.h"
#include "plot/gif.h"

#define RATE     25    // pictures a second
#define PICTURES 1500  // at most; longer films have fewer a second
#define SAMPLED  12    // pictures that choose the colours of a GIF

extern char** environ;

typedef struct Film {
    crReel* reel;
    crImage image;
    int pictures;
    double rate;
} Film;

static crStatus begin(Film* f, crReel* reel) {
    *f = (Film){.reel = reel};
    double running = reel->seconds - reel->hold;
    f->rate = fmin(RATE, PICTURES / fmax(running, 1e-9));
    f->pictures = (int)(running * f->rate + 0.5) + 1;
    // films have an even number of pixels
    int height = 2 * (int)ceil(reel->back.height / 2.0);
    crStatus status = cr_image_create(&f->image, (int)reel->back.width, height);
    f->image.dark = reel->animation->dark;
    return status;
}

static void draw(Film* f, int picture) {
    crSheet sheet;
    cr_sheet_create(&sheet, f->reel->back.width, f->reel->back.height);
    cr__reel_frame(f->reel, &sheet, cr__reel_time(f->reel, picture / f->rate));
    cr_image_clear(&f->image);
    cr_image_draw(&f->image, &f->reel->back);
    cr_image_draw(&f->image, &sheet);
    cr_sheet_destroy(&sheet);
}

static crStatus put_gif(Film* f, crPalette* palette, FILE* file) {
    for (int i = 0; i < SAMPLED; i++) {
        draw(f, i * (f->pictures - 1) / (SAMPLED - 1));
        cr_palette_add(palette, &f->image);
    }
    cr_palette_finish(palette);
    crGif gif;
    crStatus status = cr_gif_begin(&gif, file, palette, f->image.width, f->image.height);
    if (status != CR_OK) return status;
    int stands = (int)(100.0 / f->rate + 0.5);
    for (int i = 0; i < f->pictures; i++) {
        draw(f, i);
        cr_gif_add(&gif, &f->image, i + 1 < f->pictures ? stands : (int)(100.0 * f->reel->hold));
    }
    cr_gif_end(&gif);
    return CR_OK;
}

crStatus cr__reel_gif(crReel* reel, const char* path, crError* error) {
    crPartial partial;
    crStatus status = cr_partial_begin(&partial, path, error);
    if (status != CR_OK) return status;
    Film film;
    crPalette* palette = calloc(1, sizeof *palette);
    status = palette != NULL ? begin(&film, reel) : CR_ERR_MEMORY;
    if (status == CR_OK) {
        status = put_gif(&film, palette, partial.file);
        cr_image_destroy(&film.image);
    }
    free(palette);
    if (status != CR_OK) cr_error_set(error, status, "output", "output: out of memory");
    return cr_partial_end(&partial, status, error);
}

// ffmpeg with its standard input in *pipe_end; errno of the start
static int start_ffmpeg(const Film* f, const char* target, const char* format, int complaints, pid_t* pid,
                        int* pipe_end) {
    char size[32];
    char rate[32];
    size_t length = strlen(target) + 8;
    char* file = malloc(length);
    if (file == NULL) return ENOMEM;
    snprintf(size, sizeof size, "%dx%d", f->image.width, f->image.height);
    snprintf(rate, sizeof rate, "%.6g", f->rate);
    snprintf(file, length, "file:%s", target);
    char* const arguments[] = {"ffmpeg",   "-hide_banner", "-loglevel", "error", "-y",       "-f",
                               "rawvideo", "-pix_fmt",     "rgb24",     "-s",    size,       "-r",
                               rate,       "-i",           "-",         "-an",   "-pix_fmt", "yuv420p",
                               "-f",       (char*)format,  file,        NULL};
    int ends[2];
    int problem = pipe(ends) == 0 ? 0 : errno;
    if (problem != 0) {
        free(file);
        return problem;
    }
    posix_spawn_file_actions_t actions;
    problem = posix_spawn_file_actions_init(&actions);
    if (problem == 0) {
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
        posix_spawn_file_actions_adddup2(&actions, complaints, 1);
        posix_spawn_file_actions_adddup2(&actions, complaints, 2);
        posix_spawn_file_actions_addclose(&actions, ends[1]);
        posix_spawn_file_actions_addclose(&actions, ends[0]);
        problem = posix_spawnp(pid, "ffmpeg", &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(file);
    close(ends[0]);
    if (problem != 0) close(ends[1]);
    *pipe_end = ends[1];
    return problem;
}

// all pictures, the last one held; false where ffmpeg hung up
static bool feed(Film* f, FILE* pipe) {
    int held = (int)(f->rate * f->reel->hold);
    size_t size = 3 * (size_t)f->image.width * (size_t)f->image.height;
    bool good = true;
    for (int i = 0; i < f->pictures + held && good; i++) {
        if (i < f->pictures) draw(f, i);
        good = fwrite(f->image.rgb, 1, size, pipe) == size;
    }
    return good;
}

static crStatus make_film(Film* f, const char* target, const char* format, FILE* complaints, crError* error) {
    pid_t pid = 0;
    int pipe_end = -1;
    int problem = start_ffmpeg(f, target, format, fileno(complaints), &pid, &pipe_end);
    if (problem == ENOENT)
        return cr_error_set(error, CR_ERR_FILE, "ffmpeg",
                            "ffmpeg: not found; .%s is written by it (package ffmpeg). .svg and .gif need "
                            "nothing",
                            format);
    if (problem != 0)
        return cr_error_set(error, CR_ERR_FILE, "ffmpeg", "ffmpeg: cannot be started: %s", strerror(problem));
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    sigaction(SIGPIPE, &ignore, &before);
    FILE* pipe = fdopen(pipe_end, "w");
    bool good = pipe != NULL && feed(f, pipe);
    good = (pipe != NULL ? fclose(pipe) : close(pipe_end)) == 0 && good;
    sigaction(SIGPIPE, &before, NULL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (good && WIFEXITED(status) && WEXITSTATUS(status) == 0) return CR_OK;
    char line[160] = "it gave no reason";
    rewind(complaints);
    if (fgets(line, sizeof line, complaints) != NULL) line[strcspn(line, "\n")] = '\0';
    return cr_error_set(error, CR_ERR_FILE, "ffmpeg", "ffmpeg: made no film: %.140s", line);
}

crStatus cr__reel_film(crReel* reel, const char* path, crError* error) {
    crPartial partial;
    crStatus status = cr_partial_begin(&partial, path, error);
    if (status != CR_OK) return status;
    Film film;
    FILE* complaints = tmpfile();
    status = complaints != NULL ? begin(&film, reel) : CR_ERR_FILE;
    if (status == CR_OK) {
        status = make_film(&film, partial.name, strrchr(path, '.') + 1, complaints, error);
        cr_image_destroy(&film.image);
    } else {
        cr_error_set(error, status, "output", "output: %s", cr_status_text(status));
    }
    if (complaints != NULL) fclose(complaints);
    return cr_partial_end(&partial, status, error);
}
