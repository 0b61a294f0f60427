// ranks.c - verbs that share their work among the ranks of mpirun: one voice, one exit status.
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

// without the module a rank knows its number from the environment alone
static bool is_first(void) {
    static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (int i = 0; i < 3; i++) {
        const char* text = getenv(names[i]);
        if (text != NULL) return strcmp(text, "0") == 0;
    }
    return true;
}

static void mute(void) {
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
        exit(EXIT_FILE);
}

int ranks_verb(const char* verb, RankedVerb run, int count, char** arguments) {
    crRanks ranks;
    crError error = {0};
    if (cr_ranks_start(&ranks, &error) != CR_OK) {
        if (is_first()) {
            fprintf(stderr, "carom %s: ", verb);
            print_plain(stderr, error.message);
            fprintf(stderr, " (%s)\n", cr_status_name(error.status));
        }
        return EXIT_FILE;
    }
    if (ranks.rank > 0) mute();
    int status = run(&ranks, count, arguments);
    fflush(stdout);
    return cr_ranks_finish(&ranks, status);
}
