// ranks.c - finding the module that knows MPI, and starting and ending together.
//
// Whether mpirun started the process is told by the variables that Open MPI, MPICH and PMIx set. The module
// lies beside the command or in the folder of libraries. A rank that ends says so to rank 0, and rank 0 to
// all: who waits for a rank that has ended learns of it instead of waiting for ever.
// Fails: see ranks.h.
#include "fit/ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MODULE "libcarom_ranks.so"

// how many ranks the environment tells of, 0 where it does not say how many; 1 without mpirun
static int ranks_told(void) {
    static const char* const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (int i = 0; i < 2; i++) {
        const char* text = getenv(sizes[i]);
        if (text != NULL && atoi(text) > 0) return atoi(text);
    }
    return getenv("PMIX_RANK") != NULL ? 0 : 1;
}

static void* open_module(void) {
    static const char* const folders[] = {"", CAROM_RANKS_FOLDER "/", "../lib/carom/"};
    char path[1024];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 200);
    if (length <= 0) return NULL;
    path[length] = '\0';
    char* name = strrchr(path, '/') + 1;
    void* module = NULL;
    for (int i = 0; i < 3 && module == NULL; i++) {
        snprintf(name, 200, "%s%s", folders[i], MODULE);
        module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    }
    return module;
}

bool cr_ranks_available(void) {
    void* module = open_module();
    if (module != NULL) dlclose(module);
    return module != NULL;
}

static crStatus start_link(crRanks* ranks, crError* error) {
    crRanksLinkFn get = NULL;
    void* symbol = dlsym(ranks->module, CR_RANKS_LINK_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    const crRanksLink* link = get != NULL ? get() : NULL;
    if (link == NULL || link->version != CR_RANKS_LINK_VERSION)
        return cr_error_set(error, CR_ERR_ARGUMENT, "ranks",
                            "ranks: " MODULE " is of another version of carom");
    const char* wrong = link->start(&ranks->rank, &ranks->count);
    if (wrong != NULL) return cr_error_set(error, CR_ERR_ARGUMENT, "ranks", "ranks: %s", wrong);
    ranks->link = link;
    ranks->left = calloc((size_t)ranks->count, sizeof *ranks->left);
    ranks->code = calloc((size_t)ranks->count, sizeof *ranks->code);
    if (ranks->left == NULL || ranks->code == NULL)
        return cr_error_set(error, CR_ERR_MEMORY, "ranks", "ranks: out of memory");
    pthread_mutex_init(&ranks->lock, NULL);
    return CR_OK;
}

crStatus cr_ranks_start(crRanks* ranks, crError* error) {
    *ranks = (crRanks){.count = 1};
    int told = ranks_told();
    if (told == 1) return CR_OK;
    ranks->module = open_module();
    if (ranks->module != NULL) return start_link(ranks, error);
    return cr_error_set(error, CR_ERR_MISSING, "ranks",
                        "mpirun started several ranks, but " MODULE
                        " is neither beside carom nor in ../lib/carom; "
                        "install carom-mpi, or build carom where libopenmpi-dev is installed");
}

void cr__ranks_send(crRanks* ranks, int to, const crRankMessage* head, const void* bytes, int size) {
    char small[512];
    size_t all = sizeof *head + (size_t)size;
    char* message = all <= sizeof small ? small : malloc(all);
    // without memory for a message nothing sensible can be said to the others
    if (message == NULL) abort();
    memcpy(message, head, sizeof *head);
    if (size > 0) memcpy(message + sizeof *head, bytes, (size_t)size);
    pthread_mutex_lock(&ranks->lock);
    ranks->link->send(to, message, (int)all);
    pthread_mutex_unlock(&ranks->lock);
    if (message != small) free(message);
}

bool cr__ranks_receive(crRanks* ranks, int* from, crRankMessage* head, void* bytes, int room) {
    char small[512];
    char* message = small;
    pthread_mutex_lock(&ranks->lock);
    int size = ranks->link->arrived(from);
    if (size > (int)sizeof small) message = malloc((size_t)size);
    if (message == NULL) abort();
    if (size >= 0) ranks->link->receive(*from, message, size);
    pthread_mutex_unlock(&ranks->lock);
    bool whole = size >= (int)sizeof *head;
    int body = size - (int)sizeof *head;
    if (whole) memcpy(head, message, sizeof *head);
    if (whole && room > 0) memcpy(bytes, message + sizeof *head, (size_t)(body < room ? body : room));
    if (message != small) free(message);
    if (whole && head->note == CR_RANK_LEAVE) {
        ranks->left[*from] = true;
        ranks->code[*from] = head->job;
    }
    return whole;
}

void cr__ranks_pause(int* idle) {
    long length = 50000L << *idle;
    if (*idle < 4) (*idle)++;
    nanosleep(&(struct timespec){0, length}, NULL);
}

// what a rank had still sent is of no use now
static void await_leave(crRanks* ranks, int of) {
    int idle = 0;
    while (!ranks->left[of]) {
        crRankMessage head;
        int from;
        if (!cr__ranks_receive(ranks, &from, &head, NULL, 0)) cr__ranks_pause(&idle);
    }
}

int cr_ranks_finish(crRanks* ranks, int code) {
    if (ranks->link == NULL) return code;
    crRankMessage leave = {.note = CR_RANK_LEAVE, .job = code};
    int first = ranks->rank == 0 ? 1 : 0, last = ranks->rank == 0 ? ranks->count - 1 : 0;
    for (int i = first; i <= last; i++) {
        cr__ranks_send(ranks, i, &leave, NULL, 0);
    }
    for (int i = first; i <= last; i++) {
        await_leave(ranks, i);
        if (code == 0) code = ranks->code[i];
    }
    ranks->link->finish();
    pthread_mutex_destroy(&ranks->lock);
    free(ranks->left);
    free(ranks->code);
    *ranks = (crRanks){.count = 1};
    return code;
}
