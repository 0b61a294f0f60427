// verb_view.c - carom view: the page, with a scene or trajectory opened in it, served to this machine or as a
// file.
//
// The page is one text in the command: web/carom.html, which ./dev web builds. What it opens stands in it as
// JSON in which no tag can begin. Where there is a display, the desktop's browser is started.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "export.h"
#include "plot/describe.h"
#include "serve.h"

extern const char cr_web_page[];
extern char** environ;

#define PATIENCE 10.0  // seconds for a client of the server

#define OPENED "<script type=\"application/json\" id=\"opened\">"

static void print_help(void) {
    puts(
        "usage: carom view [SCENE | TRAJECTORY] [options]\n"
        "\n"
        "Shows the page of carom: impulse space, impacts at many contacts, and scenes, computed in the "
        "browser\n"
        "by the same library. With a scene (a file, a model, or the name of one that comes with carom) or a\n"
        "trajectory (.h5, .csv) that is opened in it. The page is served to this machine alone, on a free\n"
        "port, until Ctrl-C; its address is printed, and opened in the browser where there is a display.\n"
        "\n"
        "  --out FILE        write the page, with what it opens, as one file instead: .html\n"
        "  --scene SCENE     of a trajectory that does not carry its own (.csv)\n"
        "  --set PATH=VALUE  one value of the scene; --dt, --duration, --method, --rule, --law, --solver "
        "and\n"
        "                    --tol as carom run has them\n"
        "\n"
        "Exit status: 0 good, 1 bad scene or trajectory, 2 wrong usage, 3 a file cannot be read or written\n"
        "\n"
        "examples:\n"
        "  carom view pool-break\n"
        "  carom run pool-break --out break.h5 && carom view break.h5\n"
        "  carom view --out carom.html");
}

// -1 to go on, else the exit status
static int read_options(ExportOptions* o, int count, char** arguments) {
    int status = export_arguments(o, count, arguments, print_help);
    if (status >= 0) return status;
    if (o->of != NULL && (o->scene.path == NULL || !export_is_trajectory(o->scene.path)))
        return usage_error("view", "--scene goes with a trajectory, .h5 or .csv");
    if (o->scene.path == NULL && o->scene.set_count > 0)
        return usage_error("view", "values are set in a scene: which one?");
    return -1;
}

// as a JSON string in which no tag can begin
static void put_string(FILE* file, const char* text) {
    char* json = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&json, &size);
    if (memory == NULL) return;
    cr_json_write_string(memory, text);
    fclose(memory);
    cr_describe_safely(file, json, size);
    free(json);
}

// the page with what it opens in place of its null; NULL where memory is out
static char* fill_page(const char* name, const char* text, size_t* size) {
    char* page = NULL;
    const char* gap = strstr(cr_web_page, OPENED "null");
    FILE* file = gap != NULL ? open_memstream(&page, size) : NULL;
    if (file == NULL) return NULL;
    gap += strlen(OPENED);
    fwrite(cr_web_page, 1, (size_t)(gap - cr_web_page), file);
    if (text != NULL) {
        fputs("{\"name\":", file);
        put_string(file, name);
        fputs(",\"text\":", file);
        put_string(file, text);
        putc('}', file);
    } else {
        fputs("null", file);
    }
    fputs(gap + strlen("null"), file);
    if (fclose(file) == 0) return page;
    free(page);
    return NULL;
}

static int write_page(const char* path, const char* page, size_t size) {
    FILE* file = fopen(path, "w");
    bool good = file != NULL && fwrite(page, 1, size, file) == size;
    int why = errno;
    if (file != NULL) good = fclose(file) == 0 && good;
    if (good) return EXIT_GOOD;
    fputs("carom view: ", stderr);
    print_plain(stderr, path);
    fprintf(stderr, " cannot be written: %s\n", strerror(why));
    return EXIT_FILE;
}

// The desktop's browser at the address; nothing happens where there is no display or no xdg-open. What
// browsers print goes nowhere: the terminal is ours.
static void open_browser(const char* address) {
    const char* display = getenv("DISPLAY");
    const char* wayland = getenv("WAYLAND_DISPLAY");
    if ((display == NULL || display[0] == '\0') && (wayland == NULL || wayland[0] == '\0')) return;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    signal(SIGCHLD, SIG_IGN);  // nobody waits for it
    pid_t child;
    char* arguments[] = {"xdg-open", (char*)address, NULL};
    posix_spawnp(&child, "xdg-open", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
}

static void tell_address(const char* address) {
    printf("%s\nCtrl-C ends it\n", address);
    fflush(stdout);
    open_browser(address);
}

static int show(const ExportOptions* o, const char* text) {
    const char* name = o->scene.path;
    const char* slash = name != NULL ? strrchr(name, '/') : NULL;
    size_t size = 0;
    char* page = fill_page(slash != NULL ? slash + 1 : name, text, &size);
    int status = EXIT_GOOD;
    if (page == NULL) {
        fputs("carom view: out of memory\n", stderr);
        status = EXIT_FILE;
    } else if (o->out != NULL) {
        status = write_page(o->out, page, size);
    } else if (!serve_page(page, size, PATIENCE, tell_address)) {
        fprintf(stderr, "carom view: no port of this machine is free: %s\n", strerror(errno));
        status = EXIT_FILE;
    }
    free(page);
    return status;
}

int verb_view(int count, char** arguments) {
    ExportOptions o = {.scene = scene_input("view"), .out_name = "--out"};
    int status = read_options(&o, count, arguments);
    if (status >= 0) return status;
    char* text = NULL;
    status = o.scene.path != NULL ? export_text(&o.scene, o.of, &text) : EXIT_GOOD;
    if (status == EXIT_GOOD) status = show(&o, text);
    free(text);
    return status;
}
