#include "calc.h"
#include <obvia.hpp>

#include <iostream>
#include <numeric>

class Calc final : public obvia::implements<Calc, ICalc> {
public:
    HRESULT Add(int32_t a, int32_t b, int32_t *sum) override
    {
        return __builtin_add_overflow(a, b, sum) ? obvia_fail(E_INVALIDARG, "the sum is too large") : S_OK;
    }

    HRESULT Mean(uint32_t count, const double *values, double *mean) override
    {
        *mean = std::accumulate(values, values + count, 0.0) / count;
        return S_OK;
    }
};

int main()
{
    try {
        const obvia::served entry = obvia::serve("calc", obvia::make<Calc>());
        std::cout << "serving calc" << std::endl;
        obvia::wait();
    } catch (const obvia::error &error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
