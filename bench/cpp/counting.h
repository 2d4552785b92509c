// The number of a case's calls, and callgrind's client requests.
#pragma once

#if !__has_include(<valgrind/callgrind.h>)
#error "valgrind/callgrind.h is missing: the package valgrind has it"
#endif
#include <valgrind/callgrind.h>

#include <cstdint>

// The name, in callgrind's files, of the counts before a case's counted calls. These counts are
// written only to reset all counts: callgrind's request that only resets does not reset the counts
// of jumps to other libraries.
static const char FIRST[] = "first";

struct plan {
    int32_t first;
    int32_t counted;
};
