// refused.c - XML where expat was not there when carom was built: refused by name.
#include "io/xml.h"

crStatus cr_xml_parse(const char* text, size_t size, const char* file, crArena* arena, crXml** root,
                      crError* error) {
    (void)text;
    (void)size;
    (void)file;
    (void)arena;
    *root = NULL;
    return cr_error_set(error, CR_ERR_FILE, "xml",
                        "xml: this carom was built without expat and reads no XML (CAROM_EXPAT)");
}
