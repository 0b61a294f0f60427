// device.c - --device of verbs that run many worlds: where its program is, and which GPU a rank has.
//
// Ranks on one machine take GPU 0, 1, 2 and on, by the number that mpirun gives them there.
// Fails: see device.h.
#include "device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

int device_option(const char* verb, const char* name, crWorldsDevice* device) {
    crError error = {0};
    if (cr_backend_find(name, &device->backend, &error) == CR_OK) return -1;
    return usage_error(verb, "--device is '%s', must be serial, threads or gpu", name);
}

bool device_blamed(const crError* error) {
    static const char* const fields[] = {"backend", "program", "device"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(error->field, fields[i]) == 0) return true;
    }
    return false;
}

// of this rank among those of its machine
static int rank_here(void) {
    static const char* const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
    for (int i = 0; i < 3; i++) {
        const char* text = getenv(names[i]);
        if (text != NULL && atoi(text) > 0) return atoi(text);
    }
    return 0;
}

static FILE* open_program(void) {
    static const char* const folders[] = {"", "../lib/carom/", "../../out/"};
    const char* told = getenv("CAROM_PTX");
    if (told != NULL) return fopen(told, "rb");
    char path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0) return NULL;
    path[length] = '\0';
    char* name = strrchr(path, '/') + 1;
    FILE* file = NULL;
    for (int i = 0; i < 3 && file == NULL; i++) {
        snprintf(name, 64, "%scarom.ptx", folders[i]);
        file = fopen(path, "rb");
    }
    return file;
}

crStatus device_open(crWorldsDevice* device, char** text, crError* error) {
    *text = NULL;
    if (device->backend != CR_BACKEND_GPU) return CR_OK;
    device->number = rank_here();
    FILE* file = open_program();
    // without a driver that is the reason to tell; it is told when the batch is made
    if (file == NULL) return CR_OK;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    bool got = *text != NULL && fread(*text, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    if (!got) {
        free(*text);
        *text = NULL;
        return cr_error_set(error, CR_ERR_FILE, "program", "program: carom.ptx cannot be read");
    }
    (*text)[size] = '\0';
    device->program = *text;
    return CR_OK;
}
