// system.c - the few things of io/ that differ between POSIX and Windows.
//
// Locales: POSIX has them as objects. Windows has one for each thread that asked for it; its name is copied, as setlocale
// may overwrite it. Text in memory: Windows writes to a temporary file and reads it back.
#include "io/system.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)

bool cr__plain_begin(crPlainNumbers* numbers) {
    *numbers = (crPlainNumbers){.mode = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE)};
    const char* name = setlocale(LC_NUMERIC, NULL);
    size_t size = name != NULL ? strlen(name) + 1 : 0;
    numbers->before = size > 0 ? malloc(size) : NULL;
    if (numbers->before == NULL) {
        _configthreadlocale(numbers->mode);
        return false;
    }
    memcpy(numbers->before, name, size);
    setlocale(LC_NUMERIC, "C");
    return true;
}

void cr__plain_end(const crPlainNumbers* numbers) {
    setlocale(LC_NUMERIC, numbers->before);
    _configthreadlocale(numbers->mode);
    free(numbers->before);
}

bool cr__text_open(crTextFile* text) {
    *text = (crTextFile){.file = tmpfile()};
    return text->file != NULL;
}

bool cr__text_close(crTextFile* text) {
    long size = ftell(text->file);
    text->text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    bool good = text->text != NULL && fseek(text->file, 0, SEEK_SET) == 0 &&
                fread(text->text, 1, (size_t)size, text->file) == (size_t)size;
    fclose(text->file);
    if (good) {
        text->size = (size_t)size;
        text->text[size] = '\0';
    } else {
        free(text->text);
        text->text = NULL;
    }
    return good;
}

int cr__getc(FILE* file) { return _getc_nolock(file); }

#else

bool cr__plain_begin(crPlainNumbers* numbers) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return false;
    *numbers = (crPlainNumbers){.before = uselocale(plain), .used = plain};
    return true;
}

void cr__plain_end(const crPlainNumbers* numbers) {
    uselocale(numbers->before);
    freelocale(numbers->used);
}

bool cr__text_open(crTextFile* text) {
    *text = (crTextFile){0};
    text->file = open_memstream(&text->text, &text->size);
    return text->file != NULL;
}

bool cr__text_close(crTextFile* text) {
    if (fclose(text->file) == 0) return true;
    free(text->text);
    text->text = NULL;
    return false;
}

int cr__getc(FILE* file) { return getc_unlocked(file); }

#endif
