// main.c - the carom command.
#include <stdio.h>

int main(void) {
    puts("carom");
    return 0;
}
