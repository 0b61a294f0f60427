// ink.h - the colours of the roles of sheet.h, on light and on dark paper.
//
// The series are Okabe and Ito's colours, told apart by people who see few colours; on light paper yellow is
// darkened.
#ifndef CAROM_PLOT_INK_H
#define CAROM_PLOT_INK_H

#include "plot/sheet.h"

static const char* const cr_ink_light[CR_INKS] = {"none",    "#1a1a1a", "#5c6470", "#dfe3e8", "#8a929c",
                                                  "#c1121f", "#0072b2", "#d55e00", "#009e73", "#b0569b",
                                                  "#b88700", "#3a9bd1", "#7a5230", "#5b5b5b"};
static const char* const cr_ink_dark[CR_INKS] = {"none",    "#eceff3", "#a7b0bc", "#323841", "#79828d",
                                                 "#ff6b6b", "#4aa8e0", "#f08a3c", "#2dc492", "#d98bc6",
                                                 "#e3b23c", "#8accf0", "#c19a6b", "#a0a0a0"};
#define CR_PAPER_LIGHT "#ffffff"
#define CR_PAPER_DARK  "#14171b"

#endif
