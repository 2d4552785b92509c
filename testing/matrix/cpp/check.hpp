// What the checks of the matrix are written with.
#ifndef MATRIX_CHECK_HPP
#define MATRIX_CHECK_HPP

#include "deep.h"
#include "shapes.h"
#include "values.h"

#include <cstdio>
#include <cstdlib>

// Ends the program where a condition is false.
#define CHECK(condition)                                                                             \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);             \
            std::exit(1);                                                                            \
        }                                                                                            \
    } while (0)

// Calls every method of an object, here or elsewhere.
void check_shapes(IShapes *shapes, bool elsewhere);
void check_values(IValues *values, bool elsewhere);
void check_deep(IDeep *deep, bool elsewhere);

#endif
