#include "calc.h"
#include <obvia.hpp>

#include <iostream>

int main()
{
    try {
        const obvia::com_ptr<ICalc> calc = obvia::connect<ICalc>("calc");
        int32_t sum = 0;
        obvia::check(calc->Add(2, 3, &sum));
        std::cout << "2 + 3 = " << sum << std::endl;
        const double values[] = {1, 2, 6};
        double mean = 0;
        obvia::check(calc->Mean(3, values, &mean));
        std::cout << "mean  = " << mean << std::endl;
    } catch (const obvia::error &error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
