// The object that `obvia bench call_lat` calls in C++.
#pragma once

#include "bench.h"
#include <obvia.hpp>

obvia::com_ptr<IBench> make_called();
