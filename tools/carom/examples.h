// examples.h - the files of examples/impacts/, put into the command when it is built.
#ifndef CAROM_EXAMPLES_H
#define CAROM_EXAMPLES_H

typedef struct crExample {
    const char* name;  // of the file, without .json; NULL after the last
    const char* text;
} crExample;

extern const crExample cr_examples[];

#endif
