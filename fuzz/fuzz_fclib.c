// fuzz_fclib.c - an HDF5 file in FCLIB's layout with datasets as the bytes say: refused by path, or a good
// problem.
//
// The container is written by HDF5 itself, because its own reader is not what is tested here. Each dataset
// is taken from the bytes: whether it is there, its type, its length and its numbers.
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/problem.h"

static void demand(bool condition) {
    if (!condition) abort();
}

typedef struct Bytes {
    const uint8_t* at;
    size_t left;
} Bytes;

static int next(Bytes* bytes) {
    if (bytes->left == 0) return 0;
    bytes->left--;
    return *bytes->at++;
}

// small numbers of both signs, and now and then an absurd one
static int number(Bytes* bytes) {
    int byte = next(bytes);
    return byte == 255 ? 2000000000 : byte == 254 ? -1 : byte % 16;
}

static void put(hid_t parent, const char* name, Bytes* bytes, bool scalar, bool whole) {
    int how = next(bytes);
    if (how == 255) return;
    hsize_t count = scalar && how < 250 ? 1 : (hsize_t)(how % 40);
    int ints[40];
    double doubles[40];
    for (hsize_t i = 0; i < count; i++) {
        ints[i] = number(bytes);
        doubles[i] = ints[i] == 2000000000 ? (double)NAN : 0.125 * ints[i];
    }
    bool as_ints = how == 254 ? !whole : whole;
    hid_t type = as_ints ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, as_ints ? (const void*)ints : (const void*)doubles);
    H5Dclose(set);
    H5Sclose(space);
}

static void put_matrix(hid_t parent, const char* name, Bytes* bytes) {
    if (next(bytes) == 255) return;
    hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put(group, "m", bytes, true, true);
    put(group, "n", bytes, true, true);
    // -1 and -2 often
    int nz = next(bytes) % 4;
    if (nz < 2) {
        int value = -1 - nz;
        hsize_t one = 1;
        hid_t space = H5Screate_simple(1, &one, NULL);
        hid_t set = H5Dcreate2(group, "nz", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
        H5Dclose(set);
        H5Sclose(space);
    } else {
        put(group, "nz", bytes, true, true);
    }
    put(group, "p", bytes, false, true);
    put(group, "i", bytes, false, true);
    put(group, "x", bytes, false, false);
    H5Gclose(group);
}

static void put_problem(hid_t file, Bytes* bytes) {
    static const char* const matrices[2][3] = {{"W", "V", "R"}, {"M", "H", "G"}};
    static const char* const vectors[2][4] = {{"q", "mu", "s", "s2"}, {"f", "w", "mu", "b"}};
    int kind = next(bytes) % 2;
    hid_t root =
        H5Gcreate2(file, kind ? "fclib_global" : "fclib_local", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put(root, "spacedim", bytes, true, true);
    for (int i = 0; i < 3; i++) {
        put_matrix(root, matrices[kind][i], bytes);
    }
    hid_t group = H5Gcreate2(root, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 4; i++) {
        put(group, vectors[kind][i], bytes, false, false);
    }
    H5Gclose(group);
    group = H5Gcreate2(file, "solution", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put(group, "r", bytes, false, false);
    put(group, "l", bytes, false, false);
    H5Gclose(group);
    H5Gclose(root);
}

// the file's bytes, which the caller frees
static void* image(Bytes* bytes, size_t* size) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 14, 0);
    hid_t file = H5Fcreate("carom-fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    put_problem(file, bytes);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    ssize_t length = H5Fget_file_image(file, NULL, 0);
    demand(length > 0);
    void* text = malloc((size_t)length);
    demand(text != NULL && H5Fget_file_image(file, text, (size_t)length) == length);
    H5Fclose(file);
    H5Pclose(access);
    *size = (size_t)length;
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    Bytes bytes = {data, size};
    size_t length = 0;
    char* text = image(&bytes, &length);
    crProblemFile file;
    crError error = {0};
    if (cr_problem_parse(text, length, NULL, NULL, NULL, &file, &error) == CR_OK) {
        demand(cr_problem_check(&file.problem, NULL) == CR_OK);
        cr_problem_file_free(&file);
    } else {
        demand(error.status != CR_OK && error.message[0] != '\0');
    }
    free(text);
    return 0;
}
