// placeholder
#include "io/import_parts.h"
void cr__import_sdf(crImporting* im, crXml* root) { cr__import_refuse(im, root, NULL, CR_ERR_NAME, "later"); }
