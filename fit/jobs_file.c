// jobs_file.c - a checkpoint: sixteen bytes of name, the key, then one record per finished job.
//
// A record is stage, job, size, the numbers and a hash of all of it, written by one call of write to a file
// opened for appending: whenever the process ends, what lies before the last record is whole. Reading stops
// at the first record that is torn or does not match its hash, and the file is cut there. Numbers are as the
// machine holds them; a file of a machine with another order of bytes is of other work.
// Fails: file; argument where the file is none of ours, of other work, or open in another process.
#include "fit/jobs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES   16
#define HEADER_BYTES (NAME_BYTES + sizeof(uint64_t))

static const char file_name[NAME_BYTES] = "carom jobs 1\n";

typedef struct Head {
    uint64_t stage;
    uint32_t job, size;
} Head;

static crStatus refuse_file(const crJobsFile* file, const char* what, crError* error) {
    return cr_error_set(error, CR_ERR_FILE, "checkpoint", "checkpoint: cannot %s '%s': %s", what,
                        file->jobs->checkpoint, strerror(errno));
}

// as many bytes as there are, short only at the end of the file; -1 where reading fails
static ssize_t read_bytes(int fd, void* bytes, size_t size) {
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(fd, (char*)bytes + got, size - got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

static crStatus write_bytes(const crJobsFile* file, const void* bytes, size_t size, crError* error) {
    ssize_t n;
    do {
        n = write(file->fd, bytes, size);
    } while (n < 0 && errno == EINTR);
    if (n == (ssize_t)size) return CR_OK;
    if (n >= 0) errno = ENOSPC;
    return refuse_file(file, "write", error);
}

// one process at a time, or their records would mingle
static crStatus lock(const crJobsFile* file, crError* error) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(file->fd, F_SETLK, &whole) == 0) return CR_OK;
    if (errno != EACCES && errno != EAGAIN) return refuse_file(file, "lock", error);
    return cr_error_set(error, CR_ERR_ARGUMENT, "checkpoint", "checkpoint: '%s' is in use by another run",
                        file->jobs->checkpoint);
}

// a header cut short is that of a run killed at its very beginning
static crStatus read_header(const crJobsFile* file, crError* error) {
    unsigned char header[HEADER_BYTES];
    ssize_t got = read_bytes(file->fd, header, sizeof header);
    if (got < 0) return refuse_file(file, "read", error);
    size_t named = (size_t)got < NAME_BYTES ? (size_t)got : NAME_BYTES;
    if (memcmp(header, file_name, named) != 0)
        return cr_error_set(error, CR_ERR_ARGUMENT, "checkpoint",
                            "checkpoint: '%s' is there already and is no checkpoint; name another file",
                            file->jobs->checkpoint);
    if (got < (ssize_t)sizeof header) {
        memcpy(header, file_name, NAME_BYTES);
        memcpy(header + NAME_BYTES, &file->jobs->key, sizeof file->jobs->key);
        if (ftruncate(file->fd, 0) != 0) return refuse_file(file, "cut", error);
        return write_bytes(file, header, sizeof header, error);
    }
    if (memcmp(header + NAME_BYTES, &file->jobs->key, sizeof file->jobs->key) == 0) return CR_OK;
    return cr_error_set(error, CR_ERR_ARGUMENT, "checkpoint",
                        "checkpoint: '%s' holds results of other work (another scene, other data, options or "
                        "revision of carom); name another file or remove it",
                        file->jobs->checkpoint);
}

static uint64_t record_hash(const void* record, size_t bytes) { return cr_hash(CR_HASH_SEED, record, bytes); }

// room for a record of `size` numbers; false where memory is out
static bool make_room(crJobsFile* file, size_t size) {
    size_t bytes = sizeof(Head) + size * sizeof(double) + sizeof(uint64_t);
    if (bytes <= file->bytes) return true;
    unsigned char* record = realloc(file->record, bytes);
    if (record == NULL) return false;
    file->record = record;
    file->bytes = bytes;
    return true;
}

// the next whole record: its length, 0 where there is none, -1 where reading fails
static ssize_t read_record(crJobsFile* file, off_t left, Head* head) {
    if (left < (off_t)(sizeof *head + sizeof(uint64_t))) return 0;
    ssize_t got = read_bytes(file->fd, head, sizeof *head);
    if (got < (ssize_t)sizeof *head) return got < 0 ? -1 : 0;
    size_t body = head->size * sizeof(double);
    size_t bytes = sizeof *head + body + sizeof(uint64_t);
    if ((off_t)bytes > left) return 0;
    if (!make_room(file, head->size)) return -1;
    memcpy(file->record, head, sizeof *head);
    got = read_bytes(file->fd, file->record + sizeof *head, bytes - sizeof *head);
    if (got < (ssize_t)(bytes - sizeof *head)) return got < 0 ? -1 : 0;
    uint64_t hash;
    memcpy(&hash, file->record + sizeof *head + body, sizeof hash);
    return hash == record_hash(file->record, sizeof *head + body) ? (ssize_t)bytes : 0;
}

static crStatus read_records(crJobsFile* file, double* results, bool* have, crError* error) {
    const crJobs* jobs = file->jobs;
    struct stat about;
    if (fstat(file->fd, &about) != 0) return refuse_file(file, "read", error);
    off_t at = HEADER_BYTES;
    while (true) {
        Head head;
        ssize_t bytes = read_record(file, about.st_size - at, &head);
        if (bytes < 0) return refuse_file(file, "read", error);
        if (bytes == 0) break;
        at += bytes;
        if (head.stage != jobs->stage || head.size != (uint32_t)jobs->size) continue;
        if (head.job >= (uint32_t)jobs->count) continue;
        memcpy(&results[(size_t)head.job * (size_t)jobs->size], file->record + sizeof head,
               (size_t)jobs->size * sizeof(double));
        have[head.job] = true;
    }
    if (at < about.st_size && ftruncate(file->fd, at) != 0) return refuse_file(file, "cut", error);
    return CR_OK;
}

crStatus cr__jobs_file_open(crJobsFile* file, const crJobs* jobs, double* results, bool* have,
                            crError* error) {
    *file = (crJobsFile){.jobs = jobs};
    file->fd = open(jobs->checkpoint, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file->fd < 0) return refuse_file(file, "open", error);
    crStatus status = lock(file, error);
    if (status == CR_OK) status = read_header(file, error);
    if (status == CR_OK) status = read_records(file, results, have, error);
    if (status == CR_OK && !make_room(file, (size_t)jobs->size))
        status = cr_error_set(error, CR_ERR_MEMORY, "checkpoint", "checkpoint: out of memory");
    return status;
}

crStatus cr__jobs_file_append(crJobsFile* file, int job, const double* result, crError* error) {
    Head head = {file->jobs->stage, (uint32_t)job, (uint32_t)file->jobs->size};
    size_t body = head.size * sizeof(double);
    memcpy(file->record, &head, sizeof head);
    memcpy(file->record + sizeof head, result, body);
    uint64_t hash = record_hash(file->record, sizeof head + body);
    memcpy(file->record + sizeof head + body, &hash, sizeof hash);
    return write_bytes(file, file->record, sizeof head + body + sizeof hash, error);
}

void cr__jobs_file_close(crJobsFile* file) {
    if (file->fd >= 0) close(file->fd);
    free(file->record);
    *file = (crJobsFile){.fd = -1};
}
