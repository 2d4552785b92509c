// The object that the counted stubs call.
#pragma once

#include "counting.h"
#include "icount.h"
#include <obvia.hpp>

obvia::com_ptr<IStubs> make_object(plan calls);
