// parts.c - functions of io/ that are loaded from modules beside the extension when they are called first.
//
// They have the names of those in io/, which the linker therefore leaves out. Fails: unknown-name with the loader's words
// where a module, or a library that it needs, is not on this machine.
#include "parts.h"

#ifdef CAROM_PYTHON_PARTS
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "binding.h"

char* py_parts_folder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { HDF5, QHULL, EXPAT, PARTS };

// The table of a part; NULL with the reason in text where it cannot be loaded, which is tried again by the next call.
static const PyPart* load(int part, char* text, size_t size) {
    static const char* const names[PARTS] = {"_hdf5.so", "_qhull.so", "_expat.so"};
    static const PyPart* loaded[PARTS];
    char path[4096];
    pthread_mutex_lock(&lock);
    if (loaded[part] == NULL) {
        snprintf(path, sizeof path, "%s/%s", py_parts_folder != NULL ? py_parts_folder : ".", names[part]);
        void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        loaded[part] = module != NULL ? (const PyPart*)dlsym(module, "py_part") : NULL;
        if (loaded[part] == NULL) {
            const char* reason = dlerror();
            snprintf(text, size, "%s", reason != NULL ? reason : "it has no table of functions");
        }
    }
    const PyPart* table = loaded[part];
    pthread_mutex_unlock(&lock);
    return table;
}

static const PyPart* need(int part, const char* field, const char* library, crError* error) {
    char text[160] = "";
    const PyPart* table = load(part, text, sizeof text);
    if (table == NULL)
        cr_error_set(error, CR_ERR_NAME, field, "%s: needs %s, which is not on this machine: %s", field,
                     library, text);
    return table;
}

#ifdef CAROM_PART_HDF5
crStatus cr__read_fclib(const char* text, size_t size, crProblemFile* out, crError* error) {
    const PyPart* part = need(HDF5, "format", "HDF5", error);
    return part != NULL ? part->read_fclib(text, size, out, error) : CR_ERR_NAME;
}

crStatus cr__write_fclib(const char* path, const crProblemFile* file, crError* error) {
    const PyPart* part = need(HDF5, "format", "HDF5", error);
    return part != NULL ? part->write_fclib(path, file, error) : CR_ERR_NAME;
}

crStatus cr__recording_hdf5(const char* path, crRecording* recording, crError* error) {
    const PyPart* part = need(HDF5, "file", "HDF5", error);
    return part != NULL ? part->read_recording(path, recording, error) : CR_ERR_NAME;
}

static crStatus trajectory_create(const char* path, crWorld* world, uint64_t scene, void** self,
                                  crError* error) {
    const PyPart* part = need(HDF5, "out", "HDF5", error);
    return part != NULL ? part->trajectory->create(path, world, scene, self, error) : CR_ERR_NAME;
}

static crStatus trajectory_resume(const char* path, crWorld* world, uint64_t scene, void** self,
                                  crError* error) {
    const PyPart* part = need(HDF5, "out", "HDF5", error);
    return part != NULL ? part->trajectory->resume(path, world, scene, self, error) : CR_ERR_NAME;
}

// What was created is there: the part is loaded.
static const crTrajectoryFormat* format(void) { return load(HDF5, (char[1]){0}, 1)->trajectory; }

static crStatus trajectory_write(void* self, const crRecord* record, crError* error) {
    return format()->write(self, record, error);
}

static crStatus trajectory_event(void* self, const crEvent* event, crError* error) {
    return format()->event(self, event, error);
}

static crStatus trajectory_scene(void* self, const char* text, crError* error) {
    return format()->scene(self, text, error);
}

static crStatus trajectory_close(void* self, crError* error) { return format()->close(self, error); }

const crTrajectoryFormat cr__trajectory_hdf5 = {.create = trajectory_create,
                                                .resume = trajectory_resume,
                                                .write = trajectory_write,
                                                .event = trajectory_event,
                                                .scene = trajectory_scene,
                                                .close = trajectory_close,
                                                .exact = true};
#endif

#ifdef CAROM_PART_QHULL
crStatus cr__hull_of_points(const crVec3* points, int count, crHull** hull, crError* error) {
    const PyPart* part = need(QHULL, "points", "Qhull", error);
    return part != NULL ? part->hull(points, count, hull, error) : CR_ERR_NAME;
}
#endif

#ifdef CAROM_PART_EXPAT
crStatus cr_xml_parse(const char* text, size_t size, const char* file, crArena* arena, crXml** root,
                      crError* error) {
    const PyPart* part = need(EXPAT, "xml", "expat", error);
    *root = NULL;
    return part != NULL ? part->xml(text, size, file, arena, root, error) : CR_ERR_NAME;
}
#endif

#else
char* py_parts_folder;
#endif
