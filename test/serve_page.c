// serve_page.c - the server of carom view with a page and a deadline of its own, for tests of slow clients.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/carom/serve.h"

static void tell(const char* address) {
    puts(address);
    fflush(stdout);
}

int main(void) {
    // larger than the buffers of a socket, so that a client that does not read is noticed
    size_t size = (size_t)8 << 20;
    char* page = malloc(size);
    if (page == NULL) return 1;
    memset(page, ' ', size);
    memcpy(page, "the page", 8);
    bool served = serve_page(page, size, 2.0, tell);
    free(page);
    return served ? 0 : 1;
}
