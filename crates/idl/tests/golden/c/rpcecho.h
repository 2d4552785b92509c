/* Made by obvia-idl 0.1.0 from rpcecho.idl. Change the IDL, not this. */
#ifndef OBVIA_IDL_RPCECHO_H
#define OBVIA_IDL_RPCECHO_H

#include "obvia.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rpcecho rpcecho;

enum Enum1 OBVIA_ENUM {
    ECHO_ENUM1 = 1,
    ECHO_ENUM2 = 2
};
typedef enum Enum1 Enum1;
OBVIA_HAS_SIZE(Enum1, 4);

enum Enum1_32 OBVIA_ENUM {
    ECHO_ENUM1_32 = 1,
    ECHO_ENUM2_32 = 2
};
typedef enum Enum1_32 Enum1_32;
OBVIA_HAS_SIZE(Enum1_32, 4);

typedef struct Info1 Info1;
typedef struct Info2 Info2;
typedef struct Info3 Info3;
typedef struct Info4 Info4;
typedef struct Info5 Info5;
typedef struct Info6 Info6;
typedef struct Info7 Info7;
typedef struct Enum2 Enum2;
typedef struct Surrounding Surrounding;
typedef union Info Info;
typedef union Enum3 Enum3;

struct Info1 {
    char v;
};
OBVIA_HAS_SIZE(Info1, 1);
OBVIA_LIES_AT(Info1, v, 0);

struct Info2 {
    uint16_t v;
};
OBVIA_HAS_SIZE(Info2, 2);
OBVIA_LIES_AT(Info2, v, 0);

struct Info3 {
    uint32_t v;
};
OBVIA_HAS_SIZE(Info3, 4);
OBVIA_LIES_AT(Info3, v, 0);

struct Info4 {
    uint64_t v;
};
OBVIA_HAS_SIZE(Info4, 8);
OBVIA_LIES_AT(Info4, v, 0);

struct Info5 {
    char v1;
    uint64_t v2;
};
OBVIA_HAS_SIZE(Info5, 16);
OBVIA_LIES_AT(Info5, v1, 0);
OBVIA_LIES_AT(Info5, v2, 8);

struct Info6 {
    char v1;
    Info1 info1;
};
OBVIA_HAS_SIZE(Info6, 2);
OBVIA_LIES_AT(Info6, v1, 0);
OBVIA_LIES_AT(Info6, info1, 1);

struct Info7 {
    char v1;
    Info4 info4;
};
OBVIA_HAS_SIZE(Info7, 16);
OBVIA_LIES_AT(Info7, v1, 0);
OBVIA_LIES_AT(Info7, info4, 8);

struct Enum2 {
    Enum1 e1;
    Enum1_32 e2;
};
OBVIA_HAS_SIZE(Enum2, 8);
OBVIA_LIES_AT(Enum2, e1, 0);
OBVIA_LIES_AT(Enum2, e2, 4);

struct Surrounding {
    uint32_t x;
    uint16_t surrounding[1];
};
OBVIA_LIES_AT(Surrounding, x, 0);
OBVIA_LIES_AT(Surrounding, surrounding, 4);

union Info {
    Info1 info1;
    Info2 info2;
    Info3 info3;
    Info4 info4;
    Info5 info5;
    Info6 info6;
    Info7 info7;
};
OBVIA_HAS_SIZE(Info, 16);

union Enum3 {
    Enum1 e1;
    Enum2 e2;
};
OBVIA_HAS_SIZE(Enum3, 8);

typedef uint32_t NTSTATUS;

#if defined(__cplusplus) && !defined(CINTERFACE)
struct rpcecho : IUnknown {
    /* Opnum 0: one more than what came. */
    virtual HRESULT AddOne(uint32_t in_data, uint32_t *out_data) = 0;
    /* Opnum 1: what came. */
    virtual HRESULT EchoData(uint32_t len, const char *in_data, char *out_data) = 0;
    /* Opnum 2: takes what came. */
    virtual HRESULT SinkData(uint32_t len, const char *data) = 0;
    /* Opnum 3: bytes that count up from 0. */
    virtual HRESULT SourceData(uint32_t len, char *data) = 0;
    /* Opnum 4: a text for a text. */
    virtual HRESULT TestCall(const obvia_wchar *s1, obvia_wchar **s2) = 0;
    /* Opnum 5: the information of a level between 1 and 7. */
    virtual HRESULT TestCall2(uint16_t level, Info *info, uint32_t *returned) = 0;
    /* Opnum 6: sleeps so long, and returns that. */
    virtual HRESULT TestSleep(uint32_t seconds, uint32_t *returned) = 0;
    /* Opnum 7: what came. */
    virtual HRESULT TestEnum(Enum1 *foo1, Enum2 *foo2, Enum3 *foo3) = 0;
    /* Opnum 8: an array that is twice as long. */
    virtual HRESULT TestSurrounding(Surrounding **data) = 0;
    /* Opnum 9: the number at the end of the pointers, or 0 where there is none. */
    virtual HRESULT TestDoublePointer(uint16_t ***data, uint16_t *returned) = 0;
};
#else
typedef struct rpcechoVtbl {
    HRESULT (*QueryInterface)(rpcecho *self, const IID *iid, void **object);
    uint32_t (*AddRef)(rpcecho *self);
    uint32_t (*Release)(rpcecho *self);
    /* Opnum 0: one more than what came. */
    HRESULT (*AddOne)(rpcecho *self, uint32_t in_data, uint32_t *out_data);
    /* Opnum 1: what came. */
    HRESULT (*EchoData)(rpcecho *self, uint32_t len, const char *in_data, char *out_data);
    /* Opnum 2: takes what came. */
    HRESULT (*SinkData)(rpcecho *self, uint32_t len, const char *data);
    /* Opnum 3: bytes that count up from 0. */
    HRESULT (*SourceData)(rpcecho *self, uint32_t len, char *data);
    /* Opnum 4: a text for a text. */
    HRESULT (*TestCall)(rpcecho *self, const obvia_wchar *s1, obvia_wchar **s2);
    /* Opnum 5: the information of a level between 1 and 7. */
    HRESULT (*TestCall2)(rpcecho *self, uint16_t level, Info *info, uint32_t *returned);
    /* Opnum 6: sleeps so long, and returns that. */
    HRESULT (*TestSleep)(rpcecho *self, uint32_t seconds, uint32_t *returned);
    /* Opnum 7: what came. */
    HRESULT (*TestEnum)(rpcecho *self, Enum1 *foo1, Enum2 *foo2, Enum3 *foo3);
    /* Opnum 8: an array that is twice as long. */
    HRESULT (*TestSurrounding)(rpcecho *self, Surrounding **data);
    /* Opnum 9: the number at the end of the pointers, or 0 where there is none. */
    HRESULT (*TestDoublePointer)(rpcecho *self, uint16_t ***data, uint16_t *returned);
} rpcechoVtbl;
struct rpcecho {
    const rpcechoVtbl *lpVtbl;
};
#define rpcecho_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define rpcecho_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define rpcecho_Release(self) ((self)->lpVtbl->Release)((self))
#define rpcecho_AddOne(self, in_data, out_data) ((self)->lpVtbl->AddOne)((self), (in_data), (out_data))
#define rpcecho_EchoData(self, len, in_data, out_data) ((self)->lpVtbl->EchoData)((self), (len), (in_data), (out_data))
#define rpcecho_SinkData(self, len, data) ((self)->lpVtbl->SinkData)((self), (len), (data))
#define rpcecho_SourceData(self, len, data) ((self)->lpVtbl->SourceData)((self), (len), (data))
#define rpcecho_TestCall(self, s1, s2) ((self)->lpVtbl->TestCall)((self), (s1), (s2))
#define rpcecho_TestCall2(self, level, info, returned) ((self)->lpVtbl->TestCall2)((self), (level), (info), (returned))
#define rpcecho_TestSleep(self, seconds, returned) ((self)->lpVtbl->TestSleep)((self), (seconds), (returned))
#define rpcecho_TestEnum(self, foo1, foo2, foo3) ((self)->lpVtbl->TestEnum)((self), (foo1), (foo2), (foo3))
#define rpcecho_TestSurrounding(self, data) ((self)->lpVtbl->TestSurrounding)((self), (data))
#define rpcecho_TestDoublePointer(self, data, returned) ((self)->lpVtbl->TestDoublePointer)((self), (data), (returned))
#endif
extern const IID IID_rpcecho;
extern const obvia_interface rpcecho_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<rpcecho> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_rpcecho; }
        static const obvia_interface *info() noexcept { return &rpcecho_INFO; }
    };
}
#endif

#ifdef __cplusplus
}
#endif

#endif
