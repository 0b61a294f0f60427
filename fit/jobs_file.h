// jobs_file.h - the file that finished jobs are kept in, so that a killed run goes on from there.
#ifndef CAROM_FIT_JOBS_FILE_H
#define CAROM_FIT_JOBS_FILE_H

#include "fit/jobs.h"

typedef struct crJobsFile {
    const crJobs* jobs;
    int fd;
    unsigned char* record;  // room for one
    size_t bytes;           // of it
} crJobsFile;

// Opens or makes jobs->checkpoint, fills the results it holds and sets have[job] for these.
crStatus cr__jobs_file_open(crJobsFile* file, const crJobs* jobs, double* results, bool* have,
                            crError* error);
crStatus cr__jobs_file_append(crJobsFile* file, int job, const double* result, crError* error);
void cr__jobs_file_close(crJobsFile* file);  // accepts one that failed to open

#endif
