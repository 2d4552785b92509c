#include "calc.h"

#include <stdatomic.h>
#include <stdio.h>

/* An object begins with the pointer to its methods. */
typedef struct Calc {
    ICalc methods;
    atomic_uint references;
} Calc;

static uint32_t add_reference(ICalc *self)
{
    return atomic_fetch_add(&((Calc *)self)->references, 1) + 1;
}

static uint32_t release(ICalc *self)
{
    const uint32_t left = atomic_fetch_sub(&((Calc *)self)->references, 1) - 1;
    if (left == 0) {
        obvia_free(self);
    }
    return left;
}

/* The object has IAgileObject, because several threads may call its methods at once. */
static HRESULT query_interface(ICalc *self, const IID *iid, void **object)
{
    if (obvia_is_equal(iid, &IID_IUnknown) || obvia_is_equal(iid, &IID_IAgileObject) || obvia_is_equal(iid, &IID_ICalc)) {
        add_reference(self);
        *object = self;
        return S_OK;
    }
    *object = NULL;
    return E_NOINTERFACE;
}

static HRESULT add(ICalc *self, int32_t a, int32_t b, int32_t *sum)
{
    (void)self;
    return __builtin_add_overflow(a, b, sum) ? obvia_fail(E_INVALIDARG, "the sum is too large") : S_OK;
}

static HRESULT mean(ICalc *self, uint32_t count, const double *values, double *result)
{
    double sum = 0;
    uint32_t at;
    (void)self;
    for (at = 0; at < count; at++) {
        sum += values[at];
    }
    *result = sum / count;
    return S_OK;
}

static const ICalcVtbl METHODS = {query_interface, add_reference, release, add, mean};

int main(void)
{
    obvia_export_entry *entry;
    HRESULT result;
    Calc *calc = obvia_alloc(sizeof *calc);
    if (!calc) {
        return 1;
    }
    calc->methods.lpVtbl = &METHODS;
    atomic_init(&calc->references, 1);
    result = obvia_export("calc", &ICalc_INFO, calc, &entry);
    ICalc_Release(&calc->methods);
    if (FAILED(result)) {
        fprintf(stderr, "%s\n", obvia_error_text(result));
        return 1;
    }
    puts("serving calc");
    fflush(stdout);
    obvia_wait();
    return 0;
}
