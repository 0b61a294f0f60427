// power.h - x^a with the same bits everywhere.
#ifndef CAROM_BASE_POWER_H
#define CAROM_BASE_POWER_H

double cr__log2(double x);             // x > 0; to 2 units in the last place of 1 + |log2 x|
double cr__exp2(double y);             // |y| < 1000; relative error 1e-15
double cr__power(double x, double a);  // x > 0

#endif
