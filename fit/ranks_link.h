// ranks_link.h - what the module that knows MPI offers to carom, which does not: messages between processes.
//
// The module is libcarom_ranks.so; it is loaded only in a process that mpirun started, and asked for
// cr_ranks_link. One thread at a time may call it.
#ifndef CAROM_FIT_RANKS_LINK_H
#define CAROM_FIT_RANKS_LINK_H

#include <stdbool.h>
#include <stddef.h>

#define CR_RANKS_LINK_VERSION 1

typedef struct crRanksLink {
    int version;
    // Which of how many processes this is; NULL, or what is wrong.
    const char* (*start)(int* rank, int* count);
    void (*send)(int to, const void* bytes, int size);
    int (*arrived)(int* from);  // bytes of a message that has come, and from whom; -1 where there is none
    void (*receive)(int from, void* bytes, int size);  // that message
    void (*broadcast)(void* bytes, size_t size);       // from rank 0 to all, who all call it
    void (*finish)(void);
} crRanksLink;

typedef const crRanksLink* (*crRanksLinkFn)(void);
#define CR_RANKS_LINK_SYMBOL "cr_ranks_link"

#endif
