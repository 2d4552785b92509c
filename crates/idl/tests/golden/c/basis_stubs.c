/* Made by obvia-idl 0.1.0 from basis.idl. Change the IDL, not this. */
/* The vtables of objects are called as C has them, also where this is compiled as C++. */
#ifndef CINTERFACE
#define CINTERFACE
#endif
#include "obvia_stub.h"

#include <string.h>

#include "basis.h"

const IID IID_IBasis = {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x01}};

static const obvia_interface *const obvia_module[] = {
    &IBasis_INFO,
    NULL
};

/* Sum: opnum 3
 *   request   8 bytes: 0 pair Pair
 *   reply     8 bytes: 0 sum int64_t
 */
struct IBasis_Sum_request {
    Pair pair;
};
OBVIA_HAS_SIZE(struct IBasis_Sum_request, 8);
OBVIA_LIES_AT(struct IBasis_Sum_request, pair, 0);

struct IBasis_Sum_reply {
    int64_t sum;
};
OBVIA_HAS_SIZE(struct IBasis_Sum_reply, 8);
OBVIA_LIES_AT(struct IBasis_Sum_reply, sum, 0);

static OBVIA_COLD HRESULT IBasis_Sum_prepare(IBasis *self, const Pair *pair, int64_t *sum);

static HRESULT IBasis_Sum_proxy(IBasis *self, const Pair *pair, int64_t *sum)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IBasis_Sum_prepare(self, pair, sum))
    struct IBasis_Sum_request *request = (struct IBasis_Sum_request *)calls->slot;
    request->pair = *pair;
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(3, OBVIA_ALIGN(sizeof(struct IBasis_Sum_request))), proxy->target);
    const struct IBasis_Sum_reply *results = (const struct IBasis_Sum_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int64_t sum_value = OBVIA_LOAD(int64_t, &results->sum);
    *sum = sum_value;
    return obvia_result(reply);
}

static HRESULT IBasis_Sum_prepare(IBasis *self, const Pair *pair, int64_t *sum)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IBasis_Sum_proxy(self, pair, sum);
}

static obvia_answer IBasis_Sum_stub(void *object, obvia_call *call)
{
    IBasis *self = (IBasis *)object;
    const struct IBasis_Sum_request *request = (const struct IBasis_Sum_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    Pair pair;
    obvia_copy(&pair, &request->pair, sizeof pair);
    struct IBasis_Sum_reply *results = (struct IBasis_Sum_reply *)call->slot;
    const HRESULT result = (self->lpVtbl->Sum)(self, &pair, &results->sum);
    return obvia_results(result, sizeof *results);
}

static const IBasisVtbl IBasis_proxies = {
    (HRESULT (*)(IBasis *, const IID *, void **))obvia_proxy_query_interface,
    (uint32_t (*)(IBasis *))obvia_proxy_add_ref,
    (uint32_t (*)(IBasis *))obvia_proxy_release,
    IBasis_Sum_proxy
};

static obvia_stub *const IBasis_stubs[4] = {
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    IBasis_Sum_stub
};

static const int64_t IBasis_ndr[] = {
    3, 0, 4, 5, 8, 2, 0, 0, 4, 0, 0, 0, 8, 0, 1, 3, 1, 8, 1, 0, 0, 1, 8, 1,
    0, 0, 2, 0,
};

const obvia_interface IBasis_INFO = {
    sizeof(obvia_interface),
    "IBasis",
    {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x01}},
    0,
    0,
    {0xe3, 0xff, 0x75, 0x34, 0x3e, 0x63, 0x02, 0x45, 0x06, 0x04, 0x0c, 0x79, 0xb5, 0x7f, 0x2b, 0xc0},
    NULL,
    &IBasis_proxies,
    IBasis_stubs,
    4,
    "struct Pair;\n"
    "struct Pair {\n"
    "    long left;\n"
    "    long right;\n"
    "};\n"
    "[object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e3001), pointer_default(unique)]\n"
    "interface IBasis : IUnknown {\n"
    "    HRESULT Sum([in] struct Pair *pair, [out, retval] hyper *sum);\n"
    "}\n",
    IBasis_ndr,
    sizeof(IBasis_ndr) / sizeof *IBasis_ndr,
    obvia_module,
    0,
    NULL
};

static const obvia_meaning obvia_meanings[] = {
    {"IBasis", {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x01}}, {0xe3, 0xff, 0x75, 0x34, 0x3e, 0x63, 0x02, 0x45, 0x06, 0x04, 0x0c, 0x79, 0xb5, 0x7f, 0x2b, 0xc0}},
};

static __attribute__((constructor(101))) void obvia_declare_file(void)
{
    obvia_declare("basis.idl", obvia_meanings, sizeof obvia_meanings / sizeof *obvia_meanings);
}
