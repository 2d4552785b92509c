/* Assertions and declarations of the matrix's checks, in C and in C++. */
#ifndef MATRIX_CHECK_H
#define MATRIX_CHECK_H

#include "deep.h"
#include "functions.h"
#include "rpcecho.h"
#include "shapes.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>

/* Ends the program if a condition is false. */
#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);     \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

/* The object UUID of the servers' second counters. */
#define OTHER_COUNTERS "6b29fc40-ca47-1067-b31d-00dd010662da"

#ifdef __cplusplus
/* Call every method of an object in this process, or in another process. */
void check_shapes(IShapes *shapes, bool elsewhere);
void check_values(IValues *values, bool elsewhere);
void check_deep(IDeep *deep, bool elsewhere);
void check_functions(rpcecho *echo, Counters *counters);
/* Calls the functions of a server. */
void check_functions_at(const char *binding);
/* Registers functions with the endpoint mapper of this host, and finds them through it; `mapper`
   is the binding's option for the mapper. */
void check_endpoints(const char *mapper);
/* Calls methods with values, and runs all other checks through objects that forward by value;
   `deep` may be null. */
void check_by_value(IShapes *shapes, IValues *values, IDeep *deep);
/* Makes calls while this process or the object's process cannot allocate 8 MiB at once. */
void check_short_memory(IShapes *shapes);
/* Calls a method `count` times, to which the server gives hostile answers. Prints the result of
   each call. */
void call_liar(IShapes *shapes, int count, const char *method, uint32_t size);

extern "C" {
#endif

/* The checks in C, with fewer details than those in C++. */
void check_shapes_in_c(IShapes *shapes);
void check_functions_in_c(rpcecho *echo, Counters *counters);
/* Create objects in C. */
IPeer *peer_in_c(int32_t factor);
IDeep *deep_in_c(void);
Counters *counters_in_c(void);

#ifdef __cplusplus
}
#endif

#endif
