/* Made by obvia-idl 0.1.0 from basis.idl. Change the IDL, not this. */
#ifndef OBVIA_IDL_BASIS_H
#define OBVIA_IDL_BASIS_H

#include "obvia.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
constexpr int64_t FAR __attribute__((unused)) = INT64_C(4886718345);
#else
__extension__ enum { FAR = INT64_C(4886718345) };
#endif

typedef struct IBasis IBasis;

typedef struct Pair Pair;

struct Pair {
    int32_t left;
    int32_t right;
};
OBVIA_HAS_SIZE(Pair, 8);
OBVIA_LIES_AT(Pair, left, 0);
OBVIA_LIES_AT(Pair, right, 4);

#if defined(__cplusplus) && !defined(CINTERFACE)
struct IBasis : IUnknown {
    /* The sum of both. */
    virtual HRESULT Sum(const Pair *pair, int64_t *sum) = 0;
};
#else
typedef struct IBasisVtbl {
    HRESULT (*QueryInterface)(IBasis *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IBasis *self);
    uint32_t (*Release)(IBasis *self);
    /* The sum of both. */
    HRESULT (*Sum)(IBasis *self, const Pair *pair, int64_t *sum);
} IBasisVtbl;
struct IBasis {
    const IBasisVtbl *lpVtbl;
};
#define IBasis_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IBasis_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IBasis_Release(self) ((self)->lpVtbl->Release)((self))
#define IBasis_Sum(self, pair, sum) ((self)->lpVtbl->Sum)((self), (pair), (sum))
#endif
extern const IID IID_IBasis;
extern const obvia_interface IBasis_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IBasis> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_IBasis; }
        static const obvia_interface *info() noexcept { return &IBasis_INFO; }
    };
}
#endif

#ifdef __cplusplus
}
#endif

#endif
