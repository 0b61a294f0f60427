// system.h - the few things of io/ that differ between POSIX and Windows.
#ifndef CAROM_IO_SYSTEM_H
#define CAROM_IO_SYSTEM_H

#include <stdbool.h>
#include <stdio.h>

// Numbers as in C whatever the program's locale is: for the calling thread, between begin and end.
typedef struct crPlainNumbers {
    void* before;  // what end restores
    void* used;    // POSIX: the locale in use meanwhile
    int mode;      // Windows: whether the thread had a locale of its own
} crPlainNumbers;
// Returns false, and changes nothing, where memory is out; end must not be called then.
bool cr__plain_begin(crPlainNumbers* numbers);
void cr__plain_end(const crPlainNumbers* numbers);

// A file to write to whose text is had when it is closed.
typedef struct crTextFile {
    FILE* file;
    char* text;  // after closing, to free; NULL where that failed
    size_t size;
} crTextFile;
bool cr__text_open(crTextFile* text);   // false where there is no memory
bool cr__text_close(crTextFile* text);  // likewise

// The next byte of a file that no other thread reads.
int cr__getc(FILE* file);

#endif
