// dataset.c - reading and writing datasets by name, each checked before memory is taken for it.
//
// Only hard links within the file are followed, and only data stored in it is read, so that a file cannot
// pull in others. Fails: see dataset.h; nothing is printed.
#include "dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

crQuiet cr__hdf5_begin(void) {
    crQuiet quiet = {0};
    H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void cr__hdf5_end(crQuiet quiet) { H5Eset_auto2(H5E_DEFAULT, quiet.function, quiet.data); }

hid_t cr__hdf5_open(const char* text, size_t size) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    // the driver copies the image; the name is never opened
    if (access >= 0 && H5Pset_fapl_core(access, 1 << 16, 0) >= 0 &&
        H5Pset_file_image(access, (void*)(uintptr_t)text, size) >= 0) {
        file = H5Fopen("carom-problem", H5F_ACC_RDONLY, access);
    }
    if (access >= 0) H5Pclose(access);
    return file;
}

bool cr__hdf5_has(hid_t file, const char* path) {
    char part[128];
    size_t length = strlen(path);
    if (length >= sizeof part) return false;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        H5L_info_t info;
        if (H5Lexists(file, part, H5P_DEFAULT) <= 0 || H5Lget_info(file, part, &info, H5P_DEFAULT) < 0 ||
            info.type != H5L_TYPE_HARD) {
            return false;
        }
    }
    return true;
}

// data stored in the file itself, not elsewhere
static bool is_inside(hid_t set) {
    hid_t plist = H5Dget_create_plist(set);
    bool inside = plist >= 0 && H5Pget_external_count(plist) == 0 && H5Pget_layout(plist) != H5D_VIRTUAL;
    if (plist >= 0) H5Pclose(plist);
    return inside;
}

static crStatus measure(hid_t set, const char* path, bool whole, size_t most, size_t* count, crError* error) {
    hid_t type = H5Dget_type(set);
    hid_t space = H5Dget_space(set);
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    if (class != H5T_INTEGER && (whole || class != H5T_FLOAT)) {
        return cr_error_set(error, CR_ERR_TYPE, path, "%s: must hold %s numbers", path,
                            whole ? "whole" : "floating");
    }
    if (points < 0 || !is_inside(set)) {
        return cr_error_set(error, CR_ERR_FILE, path, "%s: must be stored in the file itself", path);
    }
    if ((size_t)points > most) {
        return cr_error_set(error, CR_ERR_LIMIT, path,
                            "%s: has %lld numbers, at most %zu fit a file of this size", path,
                            (long long)points, most);
    }
    *count = (size_t)points;
    return CR_OK;
}

static crStatus read_all(hid_t file, const char* path, bool whole, size_t most, void** numbers, size_t* count,
                         crError* error) {
    *numbers = NULL;
    hid_t set = cr__hdf5_has(file, path) ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
    if (set < 0) return cr_error_set(error, CR_ERR_MISSING, path, "%s: is missing", path);
    crStatus status = measure(set, path, whole, most, count, error);
    if (status == CR_OK) {
        size_t bytes = (*count + 1) * (whole ? sizeof(int) : sizeof(double));
        *numbers = malloc(bytes);
        if (*numbers == NULL) status = cr_error_set(error, CR_ERR_MEMORY, path, "%s: out of memory", path);
    }
    hid_t memory = whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
    if (status == CR_OK && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, *numbers) < 0) {
        status = cr_error_set(error, CR_ERR_FILE, path, "%s: cannot be read", path);
    }
    H5Dclose(set);
    return status;
}

crStatus cr__hdf5_doubles(hid_t file, const char* path, size_t most, double** numbers, size_t* count,
                          crError* error) {
    void* memory = NULL;
    crStatus status = read_all(file, path, false, most, &memory, count, error);
    *numbers = memory;
    for (size_t i = 0; i < *count && status == CR_OK; i++) {
        if (isfinite((*numbers)[i])) continue;
        status = cr_error_set(error, CR_ERR_FINITE, path, "%s: number %zu is %g, must be finite", path, i,
                              (*numbers)[i]);
    }
    return status;
}

crStatus cr__hdf5_ints(hid_t file, const char* path, size_t most, int** numbers, size_t* count,
                       crError* error) {
    void* memory = NULL;
    crStatus status = read_all(file, path, true, most, &memory, count, error);
    *numbers = memory;
    return status;
}

void cr__hdf5_text(hid_t file, const char* path, char* text, size_t size) {
    text[0] = '\0';
    hid_t set = cr__hdf5_has(file, path) ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
    if (set < 0) return;
    hid_t type = H5Dget_type(set);
    hid_t space = H5Dget_space(set);
    hid_t memory = H5Tcopy(H5T_C_S1);
    bool fixed = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    if (fixed && H5Sget_simple_extent_npoints(space) == 1 && is_inside(set) &&
        H5Tset_size(memory, size) >= 0 && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        text[0] = '\0';
    }
    text[size - 1] = '\0';
    H5Tclose(memory);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Dclose(set);
}

static bool put(hid_t parent, const char* name, hid_t type, hid_t space, const void* data) {
    hid_t set = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    return good;
}

static bool put_list(hid_t parent, const char* name, hid_t type, const void* data, size_t count) {
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    bool good = space >= 0 && put(parent, name, type, space, data);
    if (space >= 0) H5Sclose(space);
    return good;
}

bool cr__hdf5_put_doubles(hid_t parent, const char* name, const double* numbers, size_t count) {
    return put_list(parent, name, H5T_NATIVE_DOUBLE, numbers, count);
}

bool cr__hdf5_put_ints(hid_t parent, const char* name, const int* numbers, size_t count) {
    return put_list(parent, name, H5T_NATIVE_INT, numbers, count);
}

bool cr__hdf5_put_text(hid_t parent, const char* name, const char* text) {
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t space = H5Screate(H5S_SCALAR);
    bool good = type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
                put(parent, name, type, space, text);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return good;
}
