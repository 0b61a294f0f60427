// test_progress.c - the line that says how far work is: when it is due, and what it says.
#include <stdlib.h>
#include <unistd.h>

#include "progress.h"
#include "test.h"

// without a terminal a line a minute, with mpirun one every ten seconds; on a terminal four a second after two
TEST(due) {
    static const struct {
        bool terminal, lines;
        double first, next;  // s
    } cases[] = {{false, false, 60.0, 60.0}, {false, true, 10.0, 10.0}, {true, false, 2.0, 0.25}};
    for (int i = 0; i < 3; i++) {
        Progress p = progress_start();
        p.terminal = cases[i].terminal;
        p.lines = cases[i].lines;
        CHECK(!progress_due(&p));
        p.begun -= cases[i].first - 0.5;
        CHECK(!progress_due(&p));
        p.begun -= 0.5;
        CHECK(progress_due(&p));
        CHECK(!progress_due(&p));
        p.shown -= cases[i].next;
        CHECK(progress_due(&p));
        CHECK(p.drawn == cases[i].terminal);
    }
}

// what goes to standard error while `say` runs
static void caught(void (*say)(void), char text[256]) {
    fflush(stderr);
    FILE* file = tmpfile();
    int before = dup(STDERR_FILENO);
    if (!CHECK(file != NULL && before >= 0)) return;
    dup2(fileno(file), STDERR_FILENO);
    say();
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    text[fread(text, 1, 255, file)] = '\0';
    fclose(file);
}

// begun `ago` seconds before the line, which says what share is done and was done before
static void say_left(double ago, double share, double before) {
    Progress p = {.begun = 1000.0, .shown = 1000.0 + ago};
    progress_left(&p, share, before);
}
static void quarter(void) { say_left(30.0, 0.25, 0.0); }
static void resumed(void) { say_left(30.0, 0.75, 0.5); }
static void long_one(void) { say_left(60.0, 0.01, 0.0); }
static void longest(void) { say_left(3600.0, 0.1, 0.0); }
static void samples(void) {
    Progress p = progress_start();
    p.terminal = false;
    p.begun -= 60.0;
    progress_show(&p, "samples", 30, 100);
}

// a quarter in 30 s leaves 90; of a run that began at a half, a quarter in 30 s leaves 30
TEST(words) {
    static const struct {
        void (*say)(void);
        const char* text;
    } cases[] = {{quarter, "25 %, 90 s left"},
                 {resumed, "75 %, 30 s left"},
                 {long_one, "1 %, 99 min left"},
                 {longest, "10 %, 9.0 h left"},
                 // the first call counts from the sample before: 70 are left after one in 60 s
                 {samples, "samples: 30 of 100, 30 %, 70 min left\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256] = "";
        caught(cases[i].say, text);
        CHECK_TEXT(text, cases[i].text);
    }
}
