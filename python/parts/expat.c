// expat.c - the part of the extension that needs expat: models in XML.
#include "parts.h"

extern CR_API const PyPart py_part;
const PyPart py_part = {.xml = cr_xml_parse};
