/* What the checks of the matrix are written with, in C and in C++. */
#ifndef MATRIX_CHECK_H
#define MATRIX_CHECK_H

#include "deep.h"
#include "functions.h"
#include "rpcecho.h"
#include "shapes.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a condition is false. */
#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);     \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

/* The object UUID for which servers have other counters. */
#define OTHER_COUNTERS "6b29fc40-ca47-1067-b31d-00dd010662da"

#ifdef __cplusplus
/* Call every method of an object, here or elsewhere. */
void check_shapes(IShapes *shapes, bool elsewhere);
void check_values(IValues *values, bool elsewhere);
void check_deep(IDeep *deep, bool elsewhere);
void check_functions(rpcecho *echo, Counters *counters);
/* The same of a server. */
void check_functions_at(const char *binding);
/* Registers functions with the endpoint mapper of this host, which has the option of a binding that is given, and finds them through it. */
void check_endpoints(const char *mapper);
/* Calls methods of objects with values, and all of them by objects that hand them on; there may be none of the last. */
void check_by_value(IShapes *shapes, IValues *values, IDeep *deep);
/* Calls where this process, or the object's, has memory for 8 MiB in one piece at most. */
void check_short_memory(IShapes *shapes);
/* Calls a method again and again that answers with what it likes, and prints what each call returns. */
void call_liar(IShapes *shapes, int count, const char *method, uint32_t size);

extern "C" {
#endif

/* The same from C, without all details. */
void check_shapes_in_c(IShapes *shapes);
void check_functions_in_c(rpcecho *echo, Counters *counters);
/* Objects in C. */
IPeer *peer_in_c(int32_t factor);
IDeep *deep_in_c(void);
Counters *counters_in_c(void);

#ifdef __cplusplus
}
#endif

#endif
