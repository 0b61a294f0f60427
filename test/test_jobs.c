// Jobs over threads: results in order for any number of threads, the first error in the order of jobs, and
// checkpoints that survive being cut at any byte.
#include "fit/jobs.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT 60
#define SIZE  3

typedef struct Bench {
    atomic_int runs;
    int fails_from, fails_every;  // jobs that fail; every 0: none
    int stop_after;               // watched jobs; 0: never
    int watched, last_done;
} Bench;

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ (z >> 31);
}

static double value_of(int job, int i) {
    return (double)(mix((uint64_t)(job * SIZE + i + 1)) >> 11) * 0x1p-53;
}

static crStatus run(void* ctx, int job, double* result, crError* error) {
    Bench* bench = ctx;
    atomic_fetch_add(&bench->runs, 1);
    // jobs of uneven length, so that threads finish out of order
    volatile double work = 0.0;
    for (int i = 0; i < (job * 7919 % 13) * 2000; i++) {
        work += i;
    }
    if (bench->fails_every > 0 && job >= bench->fails_from &&
        (job - bench->fails_from) % bench->fails_every == 0)
        return cr_error_set(error, CR_ERR_RANGE, "job", "job %d is bad", job);
    for (int i = 0; i < SIZE; i++) {
        result[i] += value_of(job, i);
    }
    return CR_OK;
}

static bool watch(void* ctx, int done, int count) {
    Bench* bench = ctx;
    CHECK(done == bench->last_done + 1 || bench->watched == 0);
    CHECK(count == COUNT);
    bench->last_done = done;
    return ++bench->watched != bench->stop_after;
}

static crJobs jobs_of(Bench* bench, int threads) {
    return (crJobs){
        .count = COUNT, .size = SIZE, .run = run, .ctx = bench, .threads = threads, .watch = watch};
}

static void check_results(const double* results) {
    for (int i = 0; i < COUNT * SIZE; i++) {
        CHECK(results[i] == value_of(i / SIZE, i % SIZE));
    }
}

static char* scratch(const char* name) {
    static char path[200];
    snprintf(path, sizeof path, "/tmp/carom_jobs_%ld_%s", (long)getpid(), name);
    remove(path);
    return path;
}

static long size_of(const char* path) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) return -1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return size;
}

TEST(results_lie_in_the_order_of_jobs) {
    static const int threads[] = {0, 1, 2, 7, 64, 256};
    for (int k = 0; k < 6; k++) {
        Bench bench = {0};
        crJobs jobs = jobs_of(&bench, threads[k]);
        double results[COUNT * SIZE];
        memset(results, 0xff, sizeof results);
        CHECK_STATUS(cr_jobs_run(&jobs, results, NULL), CR_OK);
        check_results(results);
        CHECK(atomic_load(&bench.runs) == COUNT);
        CHECK(bench.watched == COUNT && bench.last_done == COUNT);
    }
    Bench bench = {0};
    crJobs none = jobs_of(&bench, 2);
    none.count = 0;
    CHECK_STATUS(cr_jobs_run(&none, NULL, NULL), CR_OK);
}

TEST(the_first_error_in_the_order_of_jobs_wins) {
    for (int threads = 1; threads <= 8; threads++) {
        for (int from = 0; from < COUNT; from += 11) {
            Bench bench = {.fails_from = from, .fails_every = 1 + threads % 3};
            crJobs jobs = jobs_of(&bench, threads);
            double results[COUNT * SIZE];
            crError error = {0};
            char text[40];
            snprintf(text, sizeof text, "job %d is bad", from);
            CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_ERR_RANGE);
            CHECK_TEXT(error.message, text);
            CHECK_TEXT(error.field, "job");
            CHECK(threads > 1 || atomic_load(&bench.runs) == from + 1);
        }
    }
}

TEST(misuse_is_named) {
    Bench bench = {0};
    double results[COUNT * SIZE];
    crError error = {0};
    crJobs jobs = jobs_of(&bench, 257);
    CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.message, "threads is 257, must be from 1 to 256");
    jobs.threads = -1;
    CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_ERR_RANGE);
    jobs.threads = 1;
    jobs.size = 0;
    CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_ERR_ARGUMENT);
    jobs.size = SIZE;
    jobs.count = -1;
    CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_ERR_ARGUMENT);
    CHECK(atomic_load(&bench.runs) == 0);
}

TEST(a_stopped_run_goes_on_from_its_checkpoint) {
    const char* path = scratch("stopped");
    int runs = 0;
    for (int round = 0; round < 100; round++) {
        Bench bench = {.stop_after = 7};
        crJobs jobs = jobs_of(&bench, 1 + round % 3);
        jobs.checkpoint = path;
        jobs.key = 42;
        double results[COUNT * SIZE];
        crError error = {0};
        crStatus status = cr_jobs_run(&jobs, results, &error);
        runs += atomic_load(&bench.runs);
        if (status == CR_OK) {
            check_results(results);
            break;
        }
        CHECK_STATUS(status, CR_ERR_LIMIT);
        CHECK(strstr(error.message, "stopped after ") == error.message);
        CHECK(round < 10);
    }
    // every job once, whatever was stopped when
    CHECK(runs == COUNT);
    remove(path);
}

// cut at every byte, or with a byte changed: a new run gives the same results and repeats only what was lost
TEST(a_checkpoint_cut_anywhere_is_usable) {
    char path[200], whole[200];
    snprintf(path, sizeof path, "%s", scratch("cut"));
    snprintf(whole, sizeof whole, "%s", scratch("whole"));
    Bench bench = {0};
    crJobs jobs = jobs_of(&bench, 1);
    jobs.checkpoint = whole;
    jobs.key = 1;
    double results[COUNT * SIZE];
    CHECK_STATUS(cr_jobs_run(&jobs, results, NULL), CR_OK);
    long bytes = size_of(whole);
    long record = (bytes - 24) / COUNT;
    CHECK(record * COUNT + 24 == bytes);
    char* text = malloc((size_t)bytes);
    FILE* file = fopen(whole, "rb");
    CHECK(file != NULL && fread(text, 1, (size_t)bytes, file) == (size_t)bytes);
    if (file != NULL) fclose(file);
    for (long cut = 0; cut <= bytes; cut += cut < 24 + 2 * record || cut > bytes - record ? 1 : 17) {
        bool flip = cut % 3 == 1 && cut > 24 && cut < bytes;
        file = fopen(path, "wb");
        if (flip) text[cut] ^= 0x10;
        CHECK(file != NULL && fwrite(text, 1, (size_t)(flip ? bytes : cut), file) > 0 ? true : cut == 0);
        if (flip) text[cut] ^= 0x10;
        if (file != NULL) fclose(file);
        Bench again = {0};
        crJobs rest = jobs_of(&again, 1);
        rest.checkpoint = path;
        rest.key = 1;
        memset(results, 0xff, sizeof results);
        CHECK_STATUS(cr_jobs_run(&rest, results, NULL), CR_OK);
        check_results(results);
        CHECK(size_of(path) == bytes);
        CHECK(atomic_load(&again.runs) == COUNT - (cut < 24 ? 0 : (int)((cut - 24) / record)));
    }
    free(text);
    remove(path);
    remove(whole);
}

// a process killed while it works, again and again
TEST(a_killed_process_leaves_a_usable_checkpoint) {
    const char* path = scratch("killed");
    double results[COUNT * SIZE];
    for (int round = 0; round < 6; round++) {
        pid_t child = fork();
        if (child == 0) {
            Bench bench = {0};
            crJobs jobs = jobs_of(&bench, 1);
            jobs.checkpoint = path;
            jobs.key = 5;
            cr_jobs_run(&jobs, results, NULL);
            _exit(0);
        }
        nanosleep(&(struct timespec){0, 200000L * round}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    Bench bench = {0};
    crJobs jobs = jobs_of(&bench, 2);
    jobs.checkpoint = path;
    jobs.key = 5;
    CHECK_STATUS(cr_jobs_run(&jobs, results, NULL), CR_OK);
    check_results(results);
    remove(path);
}

TEST(a_checkpoint_of_other_work_is_refused_and_left_alone) {
    const char* path = scratch("other");
    Bench bench = {0};
    crJobs jobs = jobs_of(&bench, 1);
    double results[COUNT * SIZE];
    crError error = {0};
    jobs.checkpoint = path;
    jobs.key = 1;
    CHECK_STATUS(cr_jobs_run(&jobs, results, NULL), CR_OK);
    long bytes = size_of(path);
    jobs.key = 2;
    CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_ERR_ARGUMENT);
    CHECK(strstr(error.message, "holds results of other work") != NULL);
    CHECK(size_of(path) == bytes);
    // more jobs under the same key: only the new ones are run; another stage: all
    static double more[2 * COUNT * SIZE];
    Bench next = {0};
    jobs.key = 1;
    jobs.ctx = &next;
    jobs.watch = NULL;
    jobs.count = 2 * COUNT;
    CHECK_STATUS(cr_jobs_run(&jobs, more, NULL), CR_OK);
    CHECK(atomic_load(&next.runs) == COUNT);
    check_results(more);
    jobs.stage = 1;
    jobs.count = COUNT;
    CHECK_STATUS(cr_jobs_run(&jobs, results, NULL), CR_OK);
    CHECK(atomic_load(&next.runs) == 2 * COUNT);
    check_results(results);
    // no checkpoint at all
    FILE* file = fopen(path, "w");
    if (file != NULL) {
        fputs("{\"bodies\": []}", file);
        fclose(file);
    }
    CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_ERR_ARGUMENT);
    CHECK(strstr(error.message, "is no checkpoint") != NULL);
    CHECK(size_of(path) == 14);
    remove(path);
    jobs.checkpoint = "/nonexistent/folder/file";
    CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_ERR_FILE);
    CHECK(strstr(error.message, "cannot open '/nonexistent/folder/file'") != NULL);
}

// no more room than for a few records: the error is named, and what was written is gone on from
TEST(a_full_disk_is_an_error) {
    const char* path = scratch("full");
    Bench bench = {0};
    crJobs jobs = jobs_of(&bench, 2);
    jobs.checkpoint = path;
    double results[COUNT * SIZE];
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){301, 301});
        crError error = {0};
        crStatus status = cr_jobs_run(&jobs, results, &error);
        _exit(status == CR_ERR_FILE && strstr(error.message, "cannot write") != NULL ? 0 : 1);
    }
    int code = 1;
    waitpid(child, &code, 0);
    CHECK(code == 0);
    CHECK(size_of(path) == 301);
    CHECK_STATUS(cr_jobs_run(&jobs, results, NULL), CR_OK);
    CHECK(atomic_load(&bench.runs) == COUNT - (301 - 24) / (16 + 8 * SIZE + 8));
    check_results(results);
    remove(path);
}

// two runs in one file would mingle their records: the second is refused while the first holds it
TEST(a_checkpoint_in_use_is_refused) {
    const char* path = scratch("used");
    int ready[2], go[2];
    CHECK(pipe(ready) == 0 && pipe(go) == 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, O_RDWR | O_CREAT, 0666);
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        fcntl(fd, F_SETLK, &whole);
        char byte = 0;
        if (write(ready[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1) _exit(0);
        _exit(1);
    }
    char byte = 0;
    CHECK(read(ready[0], &byte, 1) == 1);
    Bench bench = {0};
    crJobs jobs = jobs_of(&bench, 1);
    double results[COUNT * SIZE];
    crError error = {0};
    jobs.checkpoint = path;
    CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_ERR_ARGUMENT);
    CHECK(strstr(error.message, "in use by another run") != NULL);
    CHECK(write(go[1], &byte, 1) == 1);
    waitpid(child, NULL, 0);
    CHECK_STATUS(cr_jobs_run(&jobs, results, &error), CR_OK);
    remove(path);
}
