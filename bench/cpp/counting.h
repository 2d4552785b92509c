// How many calls of a case are made, and what asks callgrind to count them.
#pragma once

#if !__has_include(<valgrind/callgrind.h>)
#error "valgrind/callgrind.h is missing: the package valgrind has it"
#endif
#include <valgrind/callgrind.h>

#include <cstdint>

// Names the counts that are not those of a case. Callgrind's request to forget counts does not forget the
// jumps to other libraries.
static const char FIRST[] = "first";

struct plan {
    int32_t first;
    int32_t counted;
};
