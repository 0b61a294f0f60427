// letters.h - digits, letters and a few signs of 5 by 7 dots, for pictures that are pixels.
#ifndef CAROM_PLOT_LETTERS_H
#define CAROM_PLOT_LETTERS_H

#include <stdbool.h>

#define CR_LETTER_ADVANCE 6  // dots from one letter to the next

// Is there a dot in column x (0 to 4) of row y (0 to 6, from above)? What is not known is a frame.
bool cr_letter_dot(char letter, int x, int y);

#endif
