// utf8.h - where one UTF-8 character ends (RFC 3629), its number, and whether it steers a terminal; shared by
// the JSON reader and writer and by what the command prints.
#ifndef CAROM_IO_UTF8_H
#define CAROM_IO_UTF8_H

#include <stdbool.h>

// Bytes of the character at `at`, 1 to 4; 0 where it is not well formed: overlong, a surrogate, beyond
// U+10FFFF or cut off by `end`.
static inline int cr__utf8_length(const char* at, const char* end) {
    const unsigned char* s = (const unsigned char*)at;
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || end - at < length) return 0;
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
    if (s[0] == 0xed && s[1] > 0x9f) return 0;
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
    return length;
}

// The number of the character at `at`, whose cr__utf8_length is `length` and not 0.
static inline int cr__utf8_code(const char* at, int length) {
    const unsigned char* s = (const unsigned char*)at;
    int code = length == 1 ? s[0] : s[0] & (0x7f >> length);
    for (int i = 1; i < length; i++) {
        code = code << 6 | (s[i] & 0x3f);
    }
    return code;
}

// True for characters that move the cursor, change colours or turn the direction of text: controls (C0, DEL,
// C1) and the marks of bidirectional text.
static inline bool cr__utf8_steers(int code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

#endif
