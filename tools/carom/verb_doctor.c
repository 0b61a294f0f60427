// verb_doctor.c - carom doctor: what this carom is made of and what it finds on this machine.
//
// Nothing is changed and nothing is started; what is looked for is a file on the path, a library that can be loaded, or a
// line of /proc. What is missing is said with what it would be good for.
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "carom/carom.h"
#include "command.h"
#include "fit/ranks.h"
#include "options.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

extern const char cr_web_page[];

static void print_help(void) {
    puts(
        "usage: carom doctor\n"
        "\n"
        "Says what this carom is: its version, the compiler, which parts were built in, where its documents\n"
        "are; and what it finds: processor, threads, a GPU's driver, and the programs that some verbs use.\n"
        "For a report of a problem, send its output along.\n"
        "\n"
        "examples:\n"
        "  carom doctor");
}

static void say(const char* what, const char* value) {
    printf("%-10s ", what);
    print_wrapped(stdout, value, 11, 11, 100);
}

static void say_compiler(void) {
    char text[256];
    snprintf(text, sizeof text, "%s, %s build, %zu-bit", COMPILER, CAROM_BUILD_TYPE, 8 * sizeof(void*));
    say("compiler", text);
}

static void say_parts(void) {
    // each with what is refused without it
    static const char* const parts[][3] = {{"HDF5", CAROM_PART_HDF5, "trajectories as .h5, FCLIB problems"},
                                           {"expat", CAROM_PART_EXPAT, "models in MJCF, URDF and SDF"},
                                           {"qhull", CAROM_PART_QHULL, "hulls of points"}};
    for (int i = 0; i < 3; i++) {
        char text[160];
        if (parts[i][1][0] != '\0') {
            snprintf(text, sizeof text, "%s, built in", parts[i][1]);
        } else {
            snprintf(text, sizeof text, "not built in: no %s", parts[i][2]);
        }
        say(parts[i][0], text);
    }
    say("MPI", cr_ranks_available() ? "module found: spread and fit run under mpirun"
                                    : "no module: spread and fit do not run under mpirun");
    char page[64];
    snprintf(page, sizeof page, "%zu kB, built in", strlen(cr_web_page) / 1000);
    say("page", page);
}

// the value of the first line of /proc/cpuinfo that has one of the names
static void processor(char* text, size_t size) {
    static const char* const names[] = {"model name", "Processor", "cpu", "Hardware"};
    FILE* file = fopen("/proc/cpuinfo", "r");
    char line[256];
    text[0] = '\0';
    while (file != NULL && text[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        for (int i = 0; i < 4; i++) {
            size_t length = strlen(names[i]);
            char* colon = strchr(line, ':');
            if (strncmp(line, names[i], length) != 0 || colon == NULL || line[length] == ' ') continue;
            line[strcspn(line, "\n")] = '\0';
            snprintf(text, size, "%.120s", colon + 1 + strspn(colon + 1, " "));
        }
    }
    if (file != NULL) fclose(file);
}

static void say_machine(void) {
    struct utsname system;
    char text[512];
    char cpu[160];
    if (uname(&system) == 0) {
        snprintf(text, sizeof text, "%.60s %.60s, %.60s", system.sysname, system.release, system.machine);
        say("system", text);
    }
    processor(cpu, sizeof cpu);
    say("processor", cpu[0] != '\0' ? cpu : "unknown");
    snprintf(text, sizeof text, "%ld on this machine", sysconf(_SC_NPROCESSORS_ONLN));
    say("threads", text);
    void* cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    say("GPU", cuda != NULL ? "libcuda found" : "libcuda not found");
    if (cuda != NULL) dlclose(cuda);
}

static bool on_path(const char* program, char* found, size_t size) {
    const char* path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        snprintf(found, size, "%.*s/%s", (int)length, path, program);
        if (length > 0 && access(found, X_OK) == 0) return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static void say_programs(void) {
    static const char* const programs[][2] = {{"gnuplot", "pictures of regions, PNG and PDF"},
                                              {"ffmpeg", "moving pictures as .mp4 and .webm"},
                                              {"xdg-open", "carom view opens the browser by itself"},
                                              {"mpirun", "spread and fit over several machines"}};
    for (int i = 0; i < 4; i++) {
        char found[PATH_MAX];
        char text[160];
        bool any = on_path(programs[i][0], found, sizeof found);
        snprintf(text, sizeof text, "not found; it is for %s", programs[i][1]);
        say(programs[i][0], any ? found : text);
    }
}

int verb_doctor(int count, char** arguments) {
    if (count > 0 && asks_help(arguments[0])) {
        print_help();
        return EXIT_GOOD;
    }
    if (count > 0 && arguments[0][0] == '-') return unknown_option("doctor", arguments[0]);
    if (count > 0) return usage_error("doctor", "takes no arguments, '%s' is one", arguments[0]);
    char text[PATH_MAX];
    print_version();
    say_compiler();
    say_parts();
    say("documents", docs_folder(text, sizeof text) ? text : "not found; docs/ of the sources has them");
    say_machine();
    say_programs();
    return EXIT_GOOD;
}
