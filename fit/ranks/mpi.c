// mpi.c - ranks_link.h by MPI: the only file of carom that knows it. Messages carry one tag and go by value.
//
// Fails: start where MPI offers no use from several threads; all else that fails ends all processes, which is
// what MPI does by itself.
#include <mpi.h>

#include "fit/ranks_link.h"

#define TAG   7
#define PIECE ((size_t)1 << 30)  // counts of MPI are ints

static const char* start(int* rank, int* count) {
    int provided = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return "MPI does not start";
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, count);
    return provided >= MPI_THREAD_SERIALIZED ? NULL : "this MPI allows only one thread to use it";
}

static void send(int to, const void* bytes, int size) {
    MPI_Send(bytes, size, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static int arrived(int* from) {
    int there = 0, size = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status);
    if (!there) return -1;
    MPI_Get_count(&status, MPI_BYTE, &size);
    *from = status.MPI_SOURCE;
    return size;
}

static void receive(int from, void* bytes, int size) {
    MPI_Recv(bytes, size, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void broadcast(void* bytes, size_t size) {
    for (size_t at = 0; at < size; at += PIECE) {
        MPI_Bcast((char*)bytes + at, (int)(size - at < PIECE ? size - at : PIECE), MPI_BYTE, 0,
                  MPI_COMM_WORLD);
    }
}

static void finish(void) { MPI_Finalize(); }

__attribute__((visibility("default"))) const crRanksLink* cr_ranks_link(void);
const crRanksLink* cr_ranks_link(void) {
    static const crRanksLink link = {CR_RANKS_LINK_VERSION, start, send, arrived, receive, broadcast, finish};
    return &link;
}
