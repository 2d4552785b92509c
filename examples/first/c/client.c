#include "calc.h"

#include <stdio.h>

int main(void)
{
    static const double values[] = {1, 2, 6};
    ICalc *calc;
    int32_t sum;
    double mean;
    HRESULT result = obvia_connect("calc", &ICalc_INFO, (void **)&calc);
    if (SUCCEEDED(result)) {
        result = ICalc_Add(calc, 2, 3, &sum);
        if (SUCCEEDED(result)) {
            printf("2 + 3 = %d\n", (int)sum);
            result = ICalc_Mean(calc, 3, values, &mean);
        }
        if (SUCCEEDED(result)) {
            printf("mean  = %g\n", mean);
        }
        ICalc_Release(calc);
    }
    if (FAILED(result)) {
        fprintf(stderr, "%s\n", obvia_error_text(result));
        return 1;
    }
    return 0;
}
