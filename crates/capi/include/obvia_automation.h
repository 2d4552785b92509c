/* Automation's types in memory, for the headers of IDL files that use them.
 *
 * libobvia does not pass these types to other processes. `obvia idl --permissive` generates C for
 * files with such types: methods that have them can be called within one process only. libobvia has
 * no functions that make or free their values, and does not free the values of objects in C. Objects
 * in Rust have an allocator of their own for BSTRs, so do not exchange [out] values with them.
 */
#ifndef OBVIA_AUTOMATION_H
#define OBVIA_AUTOMATION_H

#include "obvia.h"

#ifdef __cplusplus
extern "C" {
#endif

/* BSTR: UTF-16 code units, with their length in bytes in the four bytes before them. */
typedef obvia_wchar *obvia_bstr;

/* CURRENCY: ten-thousandths of a unit. */
typedef struct obvia_currency {
    int64_t int64;
} obvia_currency;

typedef struct obvia_decimal {
    uint16_t wReserved;
    uint8_t scale;
    uint8_t sign;
    uint32_t Hi32;
    uint64_t Lo64;
} obvia_decimal;
OBVIA_HAS_SIZE(obvia_decimal, 16);

/* SAFEARRAY: its elements and dimensions belong to the library that made it. */
typedef struct obvia_safearray obvia_safearray;

typedef struct obvia_safearray_bound {
    uint32_t cElements;
    int32_t lLbound;
} obvia_safearray_bound;

/* VARIANT: `vt` tells which member of `value` is valid. */
typedef struct obvia_variant {
    uint16_t vt;
    uint16_t wReserved1;
    uint16_t wReserved2;
    uint16_t wReserved3;
    union {
        int64_t llVal;
        int32_t lVal;
        int16_t iVal;
        uint8_t bVal;
        int8_t cVal;
        uint16_t uiVal;
        uint32_t ulVal;
        uint64_t ullVal;
        float fltVal;
        double dblVal;
        int16_t boolVal;
        HRESULT scode;
        double date;
        obvia_currency cyVal;
        obvia_bstr bstrVal;
        IUnknown *punkVal;
        obvia_safearray *parray;
        void *byref;
        void *record[2];
    } value;
} obvia_variant;
OBVIA_HAS_SIZE(obvia_variant, 24);

typedef struct obvia_dispparams {
    obvia_variant *rgvarg;
    int32_t *rgdispidNamedArgs;
    uint32_t cArgs;
    uint32_t cNamedArgs;
} obvia_dispparams;

typedef struct obvia_excepinfo {
    uint16_t wCode;
    uint16_t wReserved;
    obvia_bstr bstrSource;
    obvia_bstr bstrDescription;
    obvia_bstr bstrHelpFile;
    uint32_t dwHelpContext;
    void *pvReserved;
    HRESULT (*pfnDeferredFillIn)(struct obvia_excepinfo *info);
    HRESULT scode;
} obvia_excepinfo;
OBVIA_HAS_SIZE(obvia_excepinfo, 64);

/* IDispatch, as programs call it within their process. */
#ifndef OBVIA_IDL_BASE_IDispatch
#define OBVIA_IDL_BASE_IDispatch
#if defined(__cplusplus) && !defined(CINTERFACE)
struct IDispatch : IUnknown {
    virtual HRESULT GetTypeInfoCount(uint32_t *count) = 0;
    virtual HRESULT GetTypeInfo(uint32_t at, uint32_t lcid, IUnknown **info) = 0;
    virtual HRESULT GetIDsOfNames(const GUID *iid, obvia_wchar **names, uint32_t count, uint32_t lcid, int32_t *ids) = 0;
    virtual HRESULT Invoke(int32_t id, const GUID *iid, uint32_t lcid, uint16_t flags, obvia_dispparams *params, obvia_variant *result,
        obvia_excepinfo *exception, uint32_t *wrong) = 0;
};
#else
typedef struct IDispatch IDispatch;
typedef struct IDispatchVtbl {
    HRESULT (*QueryInterface)(IDispatch *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IDispatch *self);
    uint32_t (*Release)(IDispatch *self);
    HRESULT (*GetTypeInfoCount)(IDispatch *self, uint32_t *count);
    HRESULT (*GetTypeInfo)(IDispatch *self, uint32_t at, uint32_t lcid, IUnknown **info);
    HRESULT (*GetIDsOfNames)(IDispatch *self, const GUID *iid, obvia_wchar **names, uint32_t count, uint32_t lcid, int32_t *ids);
    HRESULT (*Invoke)(IDispatch *self, int32_t id, const GUID *iid, uint32_t lcid, uint16_t flags, obvia_dispparams *params,
        obvia_variant *result, obvia_excepinfo *exception, uint32_t *wrong);
} IDispatchVtbl;
struct IDispatch {
    const IDispatchVtbl *lpVtbl;
};
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
