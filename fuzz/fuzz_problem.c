// fuzz_problem.c - any bytes through the problem readers: no crash, and what is read passes its own check.
#include <stdlib.h>
#include <string.h>

#include "io/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const char* const formats[] = {NULL, "siconos-lcp", "siconos-lcp-rows", "siconos-mlcp",
                                          "boxed-lcp"};
    if (size == 0) return 0;
    const char* format = formats[data[0] % 5];
    crProblemFile file;
    crError error = {0};
    crStatus status = cr_problem_parse((const char*)data + 1, size - 1, format, NULL, NULL, &file, &error);
    if (status != CR_OK && error.status != status) abort();
    if (status == CR_OK && cr_problem_check(&file.problem, NULL) != CR_OK) abort();
    if (status == CR_OK) cr_problem_file_free(&file);
    return 0;
}
