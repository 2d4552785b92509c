/* Made by obvia-idl 0.1.0 from basis.idl. Change the IDL, not this. */
/*
 * What callers have: obvia::object<INTERFACE>, whose methods are those of INTERFACE_calls.
 * What objects have: the methods of INTERFACE_methods, by way of obvia::implementation<INTERFACE>.
 */
#ifndef OBVIA_IDL_BASIS_VALUES_HPP
#define OBVIA_IDL_BASIS_VALUES_HPP

#include "obvia_values.hpp"
#include "basis.h"

template <class obvia_holder> struct IBasis_calls;
struct IBasis_methods;
template <class Made_, class Raw_> struct IBasis_adapter;

template <class obvia_holder>
struct IBasis_calls : obvia::no_calls<obvia_holder> {
    /* The sum of both. */
    int64_t Sum(const Pair &pair) const;
};

struct IBasis_methods : obvia::no_methods {
    /* The sum of both. */
    virtual int64_t Sum(const Pair &pair) = 0;
protected:
    ~IBasis_methods() = default;
};

template <> struct obvia_values_of<IBasis> {
    template <class obvia_holder> using calls = IBasis_calls<obvia_holder>;
    using methods = IBasis_methods;
    template <class Made_, class Raw_> using adapter = IBasis_adapter<Made_, Raw_>;
};

template <class obvia_holder>
int64_t IBasis_calls<obvia_holder>::Sum(const Pair &pair) const
{
    IBasis *const self = static_cast<const obvia_holder *>(this)->get();
    int64_t sum{};
    obvia::check(self->Sum(&pair, &sum));
    return sum;
}

template <class Made_, class Raw_>
struct IBasis_adapter : obvia::no_adapter<Made_, Raw_> {
    HRESULT Sum(const Pair *pair, int64_t *sum) override
    {
        return obvia::guard([&] {
            IBasis_methods &object = this->obvia_object();
            *sum = object.Sum(*pair);
        });
    }
};

#endif
