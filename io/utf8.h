// utf8.h - where one UTF-8 character ends (RFC 3629); shared by the JSON reader and writer.
#ifndef CAROM_IO_UTF8_H
#define CAROM_IO_UTF8_H

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

#endif
