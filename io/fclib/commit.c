// commit.c - a file driver for HDF5 whose files go from one flush to the next as a whole.
//
// HDF5 changes its index in place, by many writes: killed between two of them, it leaves a file that cannot be
// read. Here what it writes beyond the end of the last flush, where nothing leads yet, goes to the file at once;
// what would change bytes below that end is held in memory, by pages, until the next flush. That one then
//
//     1. writes the pages and a tail with their hash behind the end of the file, where HDF5 does not look,
//     2. writes the pages to their places,
//     3. cuts them off again.
//
// Killed before the tail is whole, the file is that of the flush before; after it, whoever opens the file by this
// driver finds the pages at its end and puts them to their places first (or reads through them, where the file
// is opened for reading only). A new file is written under NAME.new and gets its name with the first flush. Numbers
// are as the machine holds them. A kill is survived, a loss of power is not: nothing waits for the disk.
//
// Fails: as HDF5 calls do, with the errno kept; the file stays as its last flush left it.
#define _XOPEN_SOURCE 700  // realpath
#include "io/fclib/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "carom/base.h"

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#define CLASS_HEAD .version = H5FD_CLASS_VERSION, .value = 512,
#else
#define CLASS_HEAD
#endif

#define PAGE 4096

typedef struct Page {
    uint64_t at, size;  // size: bytes of it that were there at the flush before
    unsigned char bytes[PAGE];
} Page;

typedef struct Tail {
    char name[8];
    uint64_t count;  // pages before it
    uint64_t end;    // of the file without them
    uint64_t hash;   // of the pages and the above
} Tail;

static const char tail_name[8] = "caromlog";

typedef struct File {
    H5FD_t head;  // HDF5's own part
    int fd;
    haddr_t eoa;   // end of what HDF5 has given out
    haddr_t kept;  // end of what the last flush left
    Page** pages;  // by place (count of capacity)
    size_t count, capacity;
    bool changed;  // since the last flush
    bool logged;   // the tail is written: the pages must not be cut off before they are in their places
    int error;
    char* name;     // a new file's until it has it, else NULL
    char* interim;  // the one it has so far
} File;

static bool failed(File* f, int error) {
    if (f->error == 0) f->error = error;
    return false;
}

static bool put_bytes(File* f, uint64_t at, const void* bytes, size_t size) {
    const char* from = bytes;
    while (size > 0 && f->error == 0) {
        ssize_t n = pwrite(f->fd, from, size, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return failed(f, n < 0 ? errno : ENOSPC);
        from += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return f->error == 0;
}

// beyond the end of the file there are zeros
static bool get_bytes(File* f, uint64_t at, void* bytes, size_t size) {
    char* to = bytes;
    while (size > 0) {
        ssize_t n = pread(f->fd, to, size, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed(f, errno);
        if (n == 0) break;
        to += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    memset(to, 0, size);
    return true;
}

static bool cut(File* f, uint64_t end) { return ftruncate(f->fd, (off_t)end) == 0 || failed(f, errno); }

// the index of the first page that does not begin before `at`
static size_t search(const File* f, uint64_t at) {
    size_t low = 0, high = f->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->pages[middle]->at < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// the held page that begins at `at`, NULL where there is none
static Page* find(const File* f, uint64_t at) {
    size_t i = search(f, at);
    return i < f->count && f->pages[i]->at == at ? f->pages[i] : NULL;
}

// a page without its bytes in its place among the others; NULL where memory is out
static Page* add(File* f, uint64_t at, uint64_t size) {
    if (f->count == f->capacity) {
        size_t capacity = 2 * f->capacity + 16;
        Page** pages = realloc(f->pages, capacity * sizeof *pages);
        if (pages == NULL) return NULL;
        f->pages = pages;
        f->capacity = capacity;
    }
    Page* page = malloc(sizeof *page);
    if (page == NULL) return NULL;
    page->at = at;
    page->size = size;
    size_t i = search(f, at);
    memmove(f->pages + i + 1, f->pages + i, (f->count - i) * sizeof(Page*));
    f->pages[i] = page;
    f->count++;
    return page;
}

static Page* hold(File* f, uint64_t at) {
    Page* page = find(f, at);
    if (page != NULL) return page;
    uint64_t left = f->kept - at;
    page = add(f, at, left < PAGE ? left : PAGE);
    if (page == NULL) {
        failed(f, ENOMEM);
        return NULL;
    }
    return get_bytes(f, at, page->bytes, PAGE) ? page : NULL;
}

static void drop_pages(File* f) {
    while (f->count > 0) {
        free(f->pages[--f->count]);
    }
}

static uint64_t hash_of(const File* f, Tail tail) {
    uint64_t hash = cr_hash(CR_HASH_SEED, tail.name, sizeof tail.name);
    hash = cr_hash(hash, &tail.count, sizeof tail.count);
    hash = cr_hash(hash, &tail.end, sizeof tail.end);
    for (size_t i = 0; i < f->count; i++) {
        hash = cr_hash(hash, f->pages[i], sizeof(Page));
    }
    return hash;
}

// pages and tail behind all that the file needs, before this flush and after it
static bool write_log(File* f) {
    uint64_t at = f->eoa > f->kept ? f->eoa : f->kept;
    bool good = cut(f, at);
    for (size_t i = 0; i < f->count && good; i++, at += sizeof(Page)) {
        good = put_bytes(f, at, f->pages[i], sizeof(Page));
    }
    Tail tail = {.count = f->count, .end = f->eoa};
    memcpy(tail.name, tail_name, sizeof tail.name);
    tail.hash = hash_of(f, tail);
    f->logged = good && put_bytes(f, at, &tail, sizeof tail);
    return f->logged;
}

// the pages to their places, and off the end of the file
static bool apply_log(File* f, uint64_t end) {
    for (size_t i = 0; i < f->count; i++) {
        if (!put_bytes(f, f->pages[i]->at, f->pages[i]->bytes, f->pages[i]->size)) return false;
    }
    if (!cut(f, end)) return false;
    f->logged = false;
    f->kept = end;
    drop_pages(f);
    return true;
}

static void take_name(File* f) {
    if (f->name == NULL) return;
    if (rename(f->interim, f->name) != 0) {
        failed(f, errno);
        return;
    }
    free(f->name);
    f->name = NULL;
}

static bool commit(File* f) {
    if (f->error != 0) return false;
    if (!f->changed) return true;
    if (f->count > 0 && !write_log(f)) return false;
    if (!apply_log(f, f->eoa)) return false;
    f->changed = false;
    take_name(f);
    return f->error == 0;
}

// the pages of a tail that says there are so many; false where they are not whole
static bool read_pages(File* f, uint64_t base, Tail tail) {
    uint64_t next = 0;
    for (uint64_t i = 0; i < tail.count; i++) {
        uint64_t place[2];
        if (!get_bytes(f, base + i * sizeof(Page), place, sizeof place)) return false;
        uint64_t at = place[0], size = place[1];
        if (at % PAGE != 0 || at < next || size > PAGE || at > base || size > base - at) return false;
        Page* page = add(f, at, size);
        if (page == NULL) return failed(f, ENOMEM);
        if (!get_bytes(f, base + i * sizeof(Page) + sizeof place, page->bytes, PAGE)) return false;
        next = at + PAGE;
    }
    return hash_of(f, tail) == tail.hash;
}

// what a flush that was killed left at the end of a file of this size
static bool read_log(File* f, uint64_t size, bool writes) {
    f->kept = size;
    Tail tail;
    if (size < sizeof tail) return true;
    uint64_t room = size - sizeof tail;
    if (!get_bytes(f, room, &tail, sizeof tail)) return false;
    if (memcmp(tail.name, tail_name, sizeof tail.name) != 0 || tail.count > room / sizeof(Page) ||
        tail.end > room - tail.count * sizeof(Page))
        return true;
    if (!read_pages(f, room - tail.count * sizeof(Page), tail)) {
        drop_pages(f);
        return f->error == 0;
    }
    f->kept = tail.end;
    f->logged = true;
    return !writes || apply_log(f, tail.end);
}

// one process writes, or several read; where files cannot be locked, nothing is known of others
static bool lock(int fd, bool writes) {
    return flock(fd, (writes ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static void release(File* f) {
    if (f->name != NULL) unlink(f->interim);
    if (f->fd >= 0) close(f->fd);
    drop_pages(f);
    free(f->pages);
    free(f->name);
    free(f->interim);
    free(f);
}

// a new file of another name, unless it or the one it will replace is being written
static bool create(File* f, const char* path) {
    int old = open(path, O_RDONLY | O_CLOEXEC);
    bool used = old >= 0 && !lock(old, true);
    // links to a file stay links to it
    char* name = old >= 0 ? realpath(path, NULL) : strdup(path);
    if (old >= 0) close(old);
    size_t length = name != NULL ? strlen(name) : 0;
    f->interim = malloc(length + sizeof ".new");
    if (!used && name != NULL && f->interim != NULL) {
        memcpy(f->interim, name, length);
        memcpy(f->interim + length, ".new", sizeof ".new");
        f->fd = open(f->interim, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    }
    if (f->fd < 0 || !lock(f->fd, true)) {
        free(name);
        return false;
    }
    f->name = name;
    return cut(f, 0);
}

static bool reopen(File* f, const char* name, bool writes) {
    struct stat info;
    f->fd = open(name, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    return f->fd >= 0 && lock(f->fd, writes) && fstat(f->fd, &info) == 0 &&
           read_log(f, (uint64_t)info.st_size, writes);
}

static H5FD_t* file_open(const char* name, unsigned flags, hid_t list, haddr_t most) {
    (void)list;
    (void)most;
    File* f = calloc(1, sizeof *f);
    if (f == NULL) return NULL;
    f->fd = -1;
    if ((flags & H5F_ACC_TRUNC) != 0 ? create(f, name) : reopen(f, name, (flags & H5F_ACC_RDWR) != 0))
        return &f->head;
    release(f);
    return NULL;
}

// what was never flushed goes, unless it is needed to finish what was
static herr_t file_close(H5FD_t* head) {
    File* f = (File*)head;
    if (f->changed && !commit(f) && !f->logged && f->name == NULL) cut(f, f->kept);
    release(f);
    return 0;
}

static herr_t file_query(const H5FD_t* head, unsigned long* flags) {
    (void)head;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t file_eoa(const H5FD_t* head, H5FD_mem_t type) {
    (void)type;
    return ((const File*)head)->eoa;
}

static herr_t file_set_eoa(H5FD_t* head, H5FD_mem_t type, haddr_t end) {
    (void)type;
    ((File*)head)->eoa = end;
    return 0;
}

static haddr_t file_eof(const H5FD_t* head, H5FD_mem_t type) {
    (void)type;
    return ((const File*)head)->kept;
}

static herr_t file_handle(H5FD_t* head, hid_t list, void** handle) {
    (void)list;
    *handle = &((File*)head)->error;
    return 0;
}

// bytes from `at` on that lie in one page and below the end of the last flush; 0 above it
static size_t within(const File* f, uint64_t at, size_t size) {
    if (at >= f->kept) return 0;
    uint64_t piece = PAGE - at % PAGE;
    piece = piece < f->kept - at ? piece : f->kept - at;
    return piece < size ? (size_t)piece : size;
}

static herr_t file_read(H5FD_t* head, H5FD_mem_t type, hid_t list, haddr_t at, size_t size, void* bytes) {
    (void)type;
    (void)list;
    File* f = (File*)head;
    if (!get_bytes(f, at, bytes, size)) return -1;
    char* to = bytes;
    for (size_t piece; (piece = within(f, at, size)) > 0; at += piece, size -= piece, to += piece) {
        const Page* page = find(f, at - at % PAGE);
        size_t first = (size_t)(at % PAGE);
        if (page == NULL || page->size <= first) continue;
        size_t held = (size_t)page->size - first;
        memcpy(to, page->bytes + first, held < piece ? held : piece);
    }
    return 0;
}

// After a failure writes are taken and lead nowhere, so that HDF5 can close what it has open.
static herr_t file_write(H5FD_t* head, H5FD_mem_t type, hid_t list, haddr_t at, size_t size,
                         const void* bytes) {
    (void)type;
    (void)list;
    File* f = (File*)head;
    bool before = f->error == 0;
    const char* from = bytes;
    f->changed = true;
    for (size_t piece; (piece = within(f, at, size)) > 0; at += piece, size -= piece, from += piece) {
        Page* page = hold(f, at - at % PAGE);
        if (page != NULL) memcpy(page->bytes + at % PAGE, from, piece);
    }
    put_bytes(f, at, from, size);
    return before && f->error != 0 ? -1 : 0;
}

static herr_t file_flush(H5FD_t* head, hid_t list, hbool_t closing) {
    (void)list;
    return commit((File*)head) || closing ? 0 : -1;
}

// HDF5's list of how a file is opened
static hid_t access_list(void) {
    static const H5FD_class_t driver = {CLASS_HEAD.name = "carom",   .maxaddr = ((haddr_t)1 << 62) - 1,
                                        .fc_degree = H5F_CLOSE_WEAK, .open = file_open,
                                        .close = file_close,         .query = file_query,
                                        .get_eoa = file_eoa,         .set_eoa = file_set_eoa,
                                        .get_eof = file_eof,         .get_handle = file_handle,
                                        .read = file_read,           .write = file_write,
                                        .flush = file_flush,         .fl_map = H5FD_FLMAP_DICHOTOMY};
    hid_t id = H5FDregister(&driver);
    hid_t list = id >= 0 ? H5Pcreate(H5P_FILE_ACCESS) : -1;
    if (list >= 0 && H5Pset_driver(list, id, NULL) < 0) {
        H5Pclose(list);
        list = -1;
    }
    // the list, and the files opened by it, keep the driver
    if (id >= 0) H5FDunregister(id);
    return list;
}

hid_t cr__hdf5_commit_open(const char* path, unsigned flags) {
    hid_t access = access_list();
    if (access < 0) return -1;
    hid_t file =
        flags == H5F_ACC_TRUNC ? H5Fcreate(path, flags, H5P_DEFAULT, access) : H5Fopen(path, flags, access);
    H5Pclose(access);
    return file;
}

int cr__hdf5_commit_error(hid_t file) {
    void* error = NULL;
    return H5Fget_vfd_handle(file, H5P_DEFAULT, &error) >= 0 && error != NULL ? *(int*)error : 0;
}
