// A recording whose process is killed at any of its system calls that change a file, before it or amid its
// bytes, or that meets a full disk: what was flushed is there bit for bit, and resumed it ends as the one that
// was never stopped. Kills are made by tracing the process; where that is not possible they are skipped.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/recording.h"
#include "io/trajectory.h"
#include "sample.h"
#include "world_scene.h"

#define STEPS 1030  // five flushes and some rows
#define CHUNK 256   // rows that a kill may cost
#define SCENE 7

static char folder[64];
static char file[160];

// what the recording process says of itself, in memory that outlives it
typedef struct Said {
    int written;  // records that were taken
    bool closed;
    crError error;
} Said;

static crModel* rolling_model(void) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.3, 0.5);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.3), 1.0, material);
    return model;
}

static crWorld* rolling_world(const crModel* model) {
    crWorld* world = scene_world(model, NULL);
    cr_world_state(world)->v[0] = 1.0;
    return world;
}

static crStatus record_step(crWorld* world, crTrajectory* trajectory, crError* error) {
    crStatus status = cr_world_step(world, error);
    crEvents events = cr_world_events(world);
    for (int i = 0; i < events.count && status == CR_OK; i++) {
        status = cr_trajectory_event(trajectory, &events.events[i], error);
    }
    return status;
}

// from the start, or from where the file ends, to the last step
static crStatus record(const char* path, bool resume, Said* said) {
    crModel* model = rolling_model();
    crWorld* world = rolling_world(model);
    crTrajectory* trajectory = NULL;
    bool exact = true;
    crStatus status = resume ? cr_trajectory_resume(path, world, SCENE, &trajectory, &exact, &said->error)
                             : cr_trajectory_create(path, world, SCENE, &trajectory, &said->error);
    crWorldDef def = cr_world_def();
    int begun = (int)floor(cr_world_state(world)->time / def.step.dt + 0.5);
    for (int n = begun; n <= STEPS && status == CR_OK; n++) {
        crRecord now = {.energy = cr_world_energy(world), .contacts = n};
        if (n > begun || !resume) status = cr_trajectory_write(trajectory, &now, &said->error);
        if (status == CR_OK) said->written = n + 1;
        if (status == CR_OK && n < STEPS) status = record_step(world, trajectory, &said->error);
    }
    crStatus closed = cr_trajectory_close(trajectory, status == CR_OK ? &said->error : NULL);
    said->closed = status == CR_OK && closed == CR_OK;
    cr_world_destroy(world);
    cr_model_destroy(model);
    return said->closed ? CR_OK : said->error.status;
}

static Said* shared_said(void) {
    Said* said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return said != MAP_FAILED ? said : NULL;
}

// the records of the file are the first ones of the whole recording; how many
static size_t check_rows(const crRecording* whole) {
    crRecording r;
    crError error = {0};
    if (!test_check(cr_recording_read(file, &r, &error) == CR_OK, __FILE__, __LINE__, "%s", error.message))
        return 0;
    size_t n = r.count;
    CHECK(n <= whole->count && r.event_count <= whole->event_count);
    CHECK(memcmp(r.time, whole->time, n * sizeof(double)) == 0);
    CHECK(memcmp(r.q, whole->q, n * 7 * sizeof(double)) == 0);
    CHECK(memcmp(r.v, whole->v, n * 6 * sizeof(double)) == 0);
    CHECK(memcmp(r.energy, whole->energy, n * 2 * sizeof(double)) == 0);
    CHECK(memcmp(r.certificate, whole->certificate, n * 3 * sizeof(double)) == 0);
    for (size_t i = 0; i < r.event_count; i++) {
        const crEvent *a = &r.events[i], *b = &whole->events[i];
        CHECK(a->time == b->time && a->approach == b->approach && a->impulse.z == b->impulse.z);
    }
    if (n == whole->count) CHECK(r.event_count == whole->event_count);
    cr_recording_free(&r);
    return n;
}

// what a recording that ended anyhow left behind
static void check_left(const crRecording* whole, const Said* said) {
    if (access(file, F_OK) != 0) {
        CHECK(said->written == 0);
        return;
    }
    int rows = (int)check_rows(whole);
    CHECK(rows >= 1 && rows >= said->written - CHUNK);
    if (said->closed) CHECK(rows == STEPS + 1);
}

static void check_resumed(const crRecording* whole) {
    Said said = {0};
    bool there = access(file, F_OK) == 0;
    crStatus status = record(file, there, &said);
    test_check(status == CR_OK, __FILE__, __LINE__, "%s", said.error.message);
    CHECK(check_rows(whole) == whole->count);
}

// the recording that nothing stops; false where there is no HDF5
static bool record_whole(crRecording* whole) {
    snprintf(folder, sizeof folder, "/tmp/carom-killed-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/t.h5", folder);
    Said said = {0};
    crStatus status = record(file, false, &said);
    if (status == CR_ERR_NAME) {
        test_skip("built without HDF5");
        rmdir(folder);
        return false;
    }
    CHECK_STATUS(status, CR_OK);
    CHECK_STATUS(cr_recording_read(file, whole, NULL), CR_OK);
    CHECK(whole->count == STEPS + 1 && whole->event_count > 0);
    remove(file);
    return true;
}

static void remove_all(void) {
    char interim[170];
    snprintf(interim, sizeof interim, "%s.new", file);
    remove(file);
    remove(interim);
}

static void finish(crRecording* whole) {
    remove_all();
    rmdir(folder);
    cr_recording_free(whole);
}

#if defined(__linux__) && defined(__x86_64__)
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

static bool changes_file(unsigned long long call) {
    return call == SYS_pwrite64 || call == SYS_write || call == SYS_ftruncate || call == SYS_rename ||
           call == SYS_unlink;
}

// Records in a process of its own and kills it at the k-th call that changes a file: before it, or where `amid`
// after half of its bytes. How many such calls there were; -1 where processes cannot be traced.
static int record_traced(bool resume, int k, bool amid, Said* said) {
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(2);
        raise(SIGSTOP);
        record(file, resume, said);
        _exit(0);
    }
    int status = 0, count = 0;
    bool entering = true;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child &&
           WIFSTOPPED(status)) {
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
        struct user_regs_struct r;
        bool here = entering && ptrace(PTRACE_GETREGS, child, NULL, &r) == 0 && changes_file(r.orig_rax);
        entering = !entering;
        if (!here || ++count != k) continue;
        if (amid && (r.orig_rax == SYS_pwrite64 || r.orig_rax == SYS_write)) {
            r.rdx /= 2;
            ptrace(PTRACE_SETREGS, child, NULL, &r);
            ptrace(PTRACE_SYSCALL, child, NULL, NULL);
            waitpid(child, &status, 0);
        }
        kill(child, SIGKILL);
    }
    if (!WIFEXITED(status) && !WIFSIGNALED(status)) waitpid(child, &status, 0);
    return count;
}
#else
static int record_traced(bool resume, int k, bool amid, Said* said) {
    (void)resume;
    (void)k;
    (void)amid;
    (void)said;
    return -1;
}
#endif

// every call, from the first to the last, in turn; a few of them outside of soaks
TEST(killed_at_any_call) {
    crRecording whole = {0};
    Said* said = shared_said();
    if (said == NULL || !record_whole(&whole)) return;
    *said = (Said){0};
    int calls = record_traced(false, 0, false, said);
    if (calls < 0) {
        test_skip("processes cannot be traced");
    } else {
        CHECK(calls > 50 && said->closed);
        int stride = test_samples(6000) < 6000 ? 11 : 1;
        for (int k = 1; k <= calls; k += stride) {
            for (int amid = 0; amid <= 1; amid++) {
                remove_all();
                *said = (Said){0};
                record_traced(false, k, amid == 1, said);
                check_left(&whole, said);
                check_resumed(&whole);
            }
        }
        printf("  %d calls that change the file, every %d-th\n", calls, stride);
    }
    munmap(said, sizeof *said);
    finish(&whole);
}

// killed, resumed and killed again at random
TEST(killed_again_and_again) {
    crRecording whole = {0};
    Said* said = shared_said();
    if (said == NULL || !record_whole(&whole)) return;
    crRandom random = sample_seed(31);
    remove_all();
    *said = (Said){0};
    int calls = record_traced(false, 0, false, said);
    int rounds = calls < 0 ? 0 : test_samples(6000) < 6000 ? 6 : 200;
    for (int i = 0; i < rounds; i++) {
        remove_all();
        int rows = 0;
        for (int kills = 0; kills < 3; kills++) {
            int k = 1 + (int)sample_uniform(&random, 0.0, calls);
            bool there = access(file, F_OK) == 0;
            *said = (Said){0};
            record_traced(there, k, sample_uniform(&random, 0.0, 1.0) < 0.5, said);
            check_left(&whole, said);
            int now = access(file, F_OK) == 0 ? (int)check_rows(&whole) : 0;
            CHECK(now >= rows || now >= rows - CHUNK);
            rows = now;
        }
        check_resumed(&whole);
    }
    munmap(said, sizeof *said);
    finish(&whole);
}

static void record_limited(rlim_t bytes, Said* said) {
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {bytes, bytes};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) == 0) record(file, false, said);
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
}

// a file that may not grow beyond some size says so, and keeps what was flushed
TEST(full_disk) {
    crRecording whole = {0};
    Said* said = shared_said();
    if (said == NULL || !record_whole(&whole)) return;
    crRandom random = sample_seed(32);
    int refused = 0;
    for (int i = 0; i < (test_samples(6000) < 6000 ? 12 : 200); i++) {
        remove_all();
        *said = (Said){0};
        record_limited((rlim_t)sample_uniform(&random, 0.0, 400e3), said);
        check_left(&whole, said);
        if (!said->closed) {
            CHECK_STATUS(said->error.status, CR_ERR_FILE);
            CHECK(strstr(said->error.message, strerror(EFBIG)) != NULL);
            refused++;
        }
        check_resumed(&whole);
    }
    CHECK(refused > 3);
    munmap(said, sizeof *said);
    finish(&whole);
}

// while it is written a file takes no second writer, and a new one does not take its name
TEST(one_writer) {
    crModel* model = rolling_model();
    crWorld* world = rolling_world(model);
    crTrajectory *first = NULL, *second = NULL;
    crRecording whole = {0};
    crRecord now = {0};
    bool exact;
    if (record_whole(&whole)) {
        CHECK_STATUS(cr_trajectory_create(file, world, SCENE, &first, NULL), CR_OK);
        CHECK(access(file, F_OK) != 0);
        CHECK_STATUS(cr_trajectory_create(file, world, SCENE, &second, NULL), CR_ERR_FILE);
        CHECK_STATUS(cr_trajectory_write(first, &now, NULL), CR_OK);
        CHECK(access(file, F_OK) == 0);
        CHECK_STATUS(cr_trajectory_create(file, world, SCENE, &second, NULL), CR_ERR_FILE);
        CHECK_STATUS(cr_trajectory_resume(file, world, SCENE, &second, &exact, NULL), CR_ERR_FILE);
        CHECK_STATUS(cr_trajectory_close(first, NULL), CR_OK);
        CHECK_STATUS(cr_trajectory_resume(file, world, SCENE, &second, &exact, NULL), CR_OK);
        CHECK_STATUS(cr_trajectory_close(second, NULL), CR_OK);
    }
    finish(&whole);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// ends of a file that look like pages to be put to their places, but are none
TEST(false_tails) {
    crRecording whole = {0};
    Said said = {0};
    if (!record_whole(&whole) || record(file, false, &said) != CR_OK) return;
    const uint64_t tails[][3] = {{0, 0, 0},
                                 {1, 0, 0},
                                 {1, 4096, 0},
                                 {UINT64_MAX, 0, 0},
                                 {UINT64_MAX / 4112 + 1, 0, 0},
                                 {0, UINT64_MAX, 0},
                                 {1, UINT64_MAX, UINT64_MAX},
                                 {40, 8192, 1}};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        FILE* f = fopen(file, "ab");
        CHECK(f != NULL && fwrite("caromlog", 1, 8, f) == 8 && fwrite(tails[i], 8, 3, f) == 3);
        if (f != NULL) fclose(f);
        CHECK(check_rows(&whole) == whole.count);
    }
    check_resumed(&whole);
    finish(&whole);
}
