// input.h - JSON objects from a file or a stream, one at a time.
//
// The text is either one JSON value, over as many lines as it likes, or JSON Lines: one value on each line
// that is not blank. Lines are handed out as they arrive, so a stream is answered while it is still open.
#ifndef CAROM_IO_INPUT_H
#define CAROM_IO_INPUT_H

#include "io/json.h"

typedef struct crInput {
    FILE* file;
    bool owned;  // close the file at the end
    bool lines;  // known to be JSON Lines
    bool over;   // nothing more to be read from the file
    char* text;  // read but not handed out: text[start] to text[size - 1]
    size_t start;
    size_t size;
    size_t capacity;
    int line;  // number of the line at start
} crInput;

// path "-" is standard input. Fails with CR_ERR_FILE.
crStatus cr_input_open(crInput* input, const char* path, crError* error);
void cr_input_stream(crInput* input, FILE* file);  // from an open file, which is not closed
void cr_input_close(crInput* input);

// The next value: true with doc->root, or true with doc->root NULL and error filled for a bad one; the
// caller goes on in both cases. false at the end. line is where the value's text begins. Free doc each time.
bool cr_input_next(crInput* input, crJsonDoc* doc, int* line, crError* error);

// The one JSON value of a scene's file; `field` is what refusals name.
crStatus cr_input_one(const char* path, const char* field, crJsonDoc* doc, crError* error);

#endif
