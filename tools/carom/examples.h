// examples.h - the files of scenes/, examples/impacts, examples/resolve and examples/solve, put into the
// command when it is built.
#ifndef CAROM_EXAMPLES_H
#define CAROM_EXAMPLES_H

typedef struct crExample {
    const char* name;  // of the file, without .json; NULL after the last
    const char* verb;  // that reads it
    const char* text;
} crExample;

extern const crExample cr_examples[];

#endif
