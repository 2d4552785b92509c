/* Made by obvia-idl 0.1.0 from rpcecho.idl. Change the IDL, not this. */
/* The vtables of objects are called as C has them, also where this is compiled as C++. */
#ifndef CINTERFACE
#define CINTERFACE
#endif
#include "obvia_table.h"

#include <string.h>

#include "rpcecho.h"

const IID IID_rpcecho = {0x60a15ec5, 0x4de8, 0x11d7, {0xa6, 0x37, 0x00, 0x50, 0x56, 0xa2, 0x01, 0x82}};

static const obvia_interface *const obvia_module[] = {
    &rpcecho_INFO,
    NULL
};

static const int64_t rpcecho_types_words[] = {
    4,
    /* 16: char */ 1,
        /* values */ 1, 0, 1, /* parts */ 0,
        OBVIA_NONE,
    /* 17: Surrounding */ 4,
        /* values */ 1, 0, 4, /* parts */ 0,
        /* tail */ OBVIA_SOME, 4, 2,
            /* values */ 1, 0, 2, /* parts */ 0,
        OBVIA_MEMBER, 0, OBVIA_U32,
        OBVIA_NONE,
    /* 18: uint16_t * */ 8,
        /* values */ 0, /* parts */ 1,
        0, OBVIA_POINTER, OBVIA_UNIQUE, 19, OBVIA_ONE,
        OBVIA_NONE,
    /* 19: uint16_t */ 2,
        /* values */ 1, 0, 2, /* parts */ 0,
        OBVIA_NONE,
};
static obvia_types rpcecho_types = {OBVIA_TABLE(rpcecho_types_words)};

/* AddOne: opnum 3
 *   request   4 bytes: 0 in_data uint32_t
 *   reply     4 bytes: 0 out_data uint32_t
 */
struct rpcecho_AddOne_request {
    uint32_t in_data;
};
OBVIA_HAS_SIZE(struct rpcecho_AddOne_request, 4);
OBVIA_LIES_AT(struct rpcecho_AddOne_request, in_data, 0);

struct rpcecho_AddOne_reply {
    uint32_t out_data;
};
OBVIA_HAS_SIZE(struct rpcecho_AddOne_reply, 4);
OBVIA_LIES_AT(struct rpcecho_AddOne_reply, out_data, 0);

static OBVIA_COLD HRESULT rpcecho_AddOne_prepare(rpcecho *self, uint32_t in_data, uint32_t *out_data);

static HRESULT rpcecho_AddOne_proxy(rpcecho *self, uint32_t in_data, uint32_t *out_data)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, rpcecho_AddOne_prepare(self, in_data, out_data))
    struct rpcecho_AddOne_request *request = (struct rpcecho_AddOne_request *)calls->slot;
    OBVIA_STORE(uint32_t, &request->in_data, in_data);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(3, OBVIA_ALIGN(sizeof(struct rpcecho_AddOne_request))), proxy->target);
    const struct rpcecho_AddOne_reply *results = (const struct rpcecho_AddOne_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const uint32_t out_data_value = OBVIA_LOAD(uint32_t, &results->out_data);
    *out_data = out_data_value;
    return obvia_result(reply);
}

static HRESULT rpcecho_AddOne_prepare(rpcecho *self, uint32_t in_data, uint32_t *out_data)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : rpcecho_AddOne_proxy(self, in_data, out_data);
}

static obvia_answer rpcecho_AddOne_stub(void *object, obvia_call *call)
{
    rpcecho *self = (rpcecho *)object;
    const struct rpcecho_AddOne_request *request = (const struct rpcecho_AddOne_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t in_data = OBVIA_LOAD(uint32_t, &request->in_data);
    struct rpcecho_AddOne_reply *results = (struct rpcecho_AddOne_reply *)call->slot;
    const HRESULT result = (self->lpVtbl->AddOne)(self, in_data, &results->out_data);
    return obvia_results(result, sizeof *results);
}

/* EchoData: opnum 4
 *   request  16 bytes: 0 len uint32_t, 8 in_data ->
 *   reply     8 bytes: 0 out_data ->
 */
struct rpcecho_EchoData_request {
    uint32_t len;
    uint64_t in_data;
};
OBVIA_HAS_SIZE(struct rpcecho_EchoData_request, 16);
OBVIA_LIES_AT(struct rpcecho_EchoData_request, len, 0);
OBVIA_LIES_AT(struct rpcecho_EchoData_request, in_data, 8);

struct rpcecho_EchoData_reply {
    uint64_t out_data;
};
OBVIA_HAS_SIZE(struct rpcecho_EchoData_reply, 8);
OBVIA_LIES_AT(struct rpcecho_EchoData_reply, out_data, 0);

static OBVIA_COLD HRESULT rpcecho_EchoData_prepare(rpcecho *self, uint32_t len, const char *in_data, char *out_data);

static HRESULT rpcecho_EchoData_proxy(rpcecho *self, uint32_t len, const char *in_data, char *out_data)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, rpcecho_EchoData_prepare(self, len, in_data, out_data))
    const uint64_t in_data_count = (uint64_t)len;
    if (OBVIA_UNLIKELY(in_data_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return obvia_too_many(in_data_count);
    }
    const uint64_t out_data_count = (uint64_t)len;
    if (OBVIA_UNLIKELY(out_data_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return obvia_too_many(out_data_count);
    }
    const uint64_t in_data_at = OBVIA_ALIGN(sizeof(struct rpcecho_EchoData_request)) + 8;
    const uint64_t length = in_data_at + OBVIA_ALIGN(in_data_count * sizeof(char));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct rpcecho_EchoData_request *request = (struct rpcecho_EchoData_request *)obvia_request_place(calls, length, in_data_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(uint32_t, &request->len, len);
    obvia_put_array(request, &request->in_data, in_data_at, 16, in_data_count, in_data_count * sizeof(char));
    obvia_copy(OBVIA_AT(char *, request, in_data_at), in_data, in_data_count * sizeof(char));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(4, length), proxy->target);
    const struct rpcecho_EchoData_reply *results = (const struct rpcecho_EchoData_reply *)reply.frame;
    const uint64_t out_data_from = OBVIA_ALIGN(sizeof(struct rpcecho_EchoData_reply)) + 8;
    if (OBVIA_UNLIKELY(obvia_length(reply) != out_data_from + OBVIA_ALIGN(out_data_count * sizeof(char)))) {
        return obvia_refusal(reply);
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->out_data, out_data_from, 16, out_data_count))) {
        return RPC_E_INVALID_DATA;
    }
    obvia_copy(out_data, OBVIA_AT(const char *, results, out_data_from), out_data_count * sizeof(char));
    return obvia_result(reply);
}

static HRESULT rpcecho_EchoData_prepare(rpcecho *self, uint32_t len, const char *in_data, char *out_data)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : rpcecho_EchoData_proxy(self, len, in_data, out_data);
}

static obvia_answer rpcecho_EchoData_stub(void *object, obvia_call *call)
{
    rpcecho *self = (rpcecho *)object;
    const struct rpcecho_EchoData_request *request = (const struct rpcecho_EchoData_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t len = OBVIA_LOAD(uint32_t, &request->len);
    const uint64_t in_data_count = (uint64_t)len;
    if (OBVIA_UNLIKELY(in_data_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t in_data_at = OBVIA_ALIGN(sizeof(struct rpcecho_EchoData_request)) + 8;
    if (OBVIA_UNLIKELY(call->length != in_data_at + OBVIA_ALIGN(in_data_count * sizeof(char)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->in_data, in_data_at, 16, in_data_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t out_data_count = (uint64_t)len;
    if (OBVIA_UNLIKELY(out_data_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return obvia_too_large(out_data_count);
    }
    const uint64_t out_data_to = OBVIA_ALIGN(sizeof(struct rpcecho_EchoData_reply)) + 8;
    const uint64_t length = out_data_to + OBVIA_ALIGN(out_data_count * sizeof(char));
    struct rpcecho_EchoData_reply *results = (struct rpcecho_EchoData_reply *)obvia_reply_place(call, length, out_data_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    obvia_put_array(results, &results->out_data, out_data_to, 16, out_data_count, out_data_count * sizeof(char));
    const HRESULT result = (self->lpVtbl->EchoData)(self, len, OBVIA_AT(const char *, request, in_data_at), OBVIA_AT(char *, results, out_data_to));
    return obvia_results(result, length);
}

/* SinkData: opnum 5
 *   request  16 bytes: 0 len uint32_t, 8 data ->
 *   reply     0 bytes: nothing
 */
struct rpcecho_SinkData_request {
    uint32_t len;
    uint64_t data;
};
OBVIA_HAS_SIZE(struct rpcecho_SinkData_request, 16);
OBVIA_LIES_AT(struct rpcecho_SinkData_request, len, 0);
OBVIA_LIES_AT(struct rpcecho_SinkData_request, data, 8);

static OBVIA_COLD HRESULT rpcecho_SinkData_prepare(rpcecho *self, uint32_t len, const char *data);

static HRESULT rpcecho_SinkData_proxy(rpcecho *self, uint32_t len, const char *data)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, rpcecho_SinkData_prepare(self, len, data))
    const uint64_t data_count = (uint64_t)len;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return obvia_too_many(data_count);
    }
    const uint64_t data_at = OBVIA_ALIGN(sizeof(struct rpcecho_SinkData_request)) + 8;
    const uint64_t length = data_at + OBVIA_ALIGN(data_count * sizeof(char));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct rpcecho_SinkData_request *request = (struct rpcecho_SinkData_request *)obvia_request_place(calls, length, data_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(uint32_t, &request->len, len);
    obvia_put_array(request, &request->data, data_at, 16, data_count, data_count * sizeof(char));
    obvia_copy(OBVIA_AT(char *, request, data_at), data, data_count * sizeof(char));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(5, length), proxy->target);
    if (OBVIA_UNLIKELY(obvia_length(reply) != 0)) {
        return obvia_refusal(reply);
    }
    return obvia_result(reply);
}

static HRESULT rpcecho_SinkData_prepare(rpcecho *self, uint32_t len, const char *data)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : rpcecho_SinkData_proxy(self, len, data);
}

static obvia_answer rpcecho_SinkData_stub(void *object, obvia_call *call)
{
    rpcecho *self = (rpcecho *)object;
    const struct rpcecho_SinkData_request *request = (const struct rpcecho_SinkData_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t len = OBVIA_LOAD(uint32_t, &request->len);
    const uint64_t data_count = (uint64_t)len;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t data_at = OBVIA_ALIGN(sizeof(struct rpcecho_SinkData_request)) + 8;
    if (OBVIA_UNLIKELY(call->length != data_at + OBVIA_ALIGN(data_count * sizeof(char)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->data, data_at, 16, data_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const HRESULT result = (self->lpVtbl->SinkData)(self, len, OBVIA_AT(const char *, request, data_at));
    return obvia_results(result, 0);
}

/* SourceData: opnum 6
 *   request   4 bytes: 0 len uint32_t
 *   reply     8 bytes: 0 data ->
 */
struct rpcecho_SourceData_request {
    uint32_t len;
};
OBVIA_HAS_SIZE(struct rpcecho_SourceData_request, 4);
OBVIA_LIES_AT(struct rpcecho_SourceData_request, len, 0);

struct rpcecho_SourceData_reply {
    uint64_t data;
};
OBVIA_HAS_SIZE(struct rpcecho_SourceData_reply, 8);
OBVIA_LIES_AT(struct rpcecho_SourceData_reply, data, 0);

static OBVIA_COLD HRESULT rpcecho_SourceData_prepare(rpcecho *self, uint32_t len, char *data);

static HRESULT rpcecho_SourceData_proxy(rpcecho *self, uint32_t len, char *data)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, rpcecho_SourceData_prepare(self, len, data))
    const uint64_t data_count = (uint64_t)len;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return obvia_too_many(data_count);
    }
    struct rpcecho_SourceData_request *request = (struct rpcecho_SourceData_request *)calls->slot;
    OBVIA_STORE(uint32_t, &request->len, len);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(6, OBVIA_ALIGN(sizeof(struct rpcecho_SourceData_request))), proxy->target);
    const struct rpcecho_SourceData_reply *results = (const struct rpcecho_SourceData_reply *)reply.frame;
    const uint64_t data_from = OBVIA_ALIGN(sizeof(struct rpcecho_SourceData_reply)) + 8;
    if (OBVIA_UNLIKELY(obvia_length(reply) != data_from + OBVIA_ALIGN(data_count * sizeof(char)))) {
        return obvia_refusal(reply);
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->data, data_from, 16, data_count))) {
        return RPC_E_INVALID_DATA;
    }
    obvia_copy(data, OBVIA_AT(const char *, results, data_from), data_count * sizeof(char));
    return obvia_result(reply);
}

static HRESULT rpcecho_SourceData_prepare(rpcecho *self, uint32_t len, char *data)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : rpcecho_SourceData_proxy(self, len, data);
}

static obvia_answer rpcecho_SourceData_stub(void *object, obvia_call *call)
{
    rpcecho *self = (rpcecho *)object;
    const struct rpcecho_SourceData_request *request = (const struct rpcecho_SourceData_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t len = OBVIA_LOAD(uint32_t, &request->len);
    const uint64_t data_count = (uint64_t)len;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return obvia_too_large(data_count);
    }
    const uint64_t data_to = OBVIA_ALIGN(sizeof(struct rpcecho_SourceData_reply)) + 8;
    const uint64_t length = data_to + OBVIA_ALIGN(data_count * sizeof(char));
    struct rpcecho_SourceData_reply *results = (struct rpcecho_SourceData_reply *)obvia_reply_place(call, length, data_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    obvia_put_array(results, &results->data, data_to, 16, data_count, data_count * sizeof(char));
    const HRESULT result = (self->lpVtbl->SourceData)(self, len, OBVIA_AT(char *, results, data_to));
    return obvia_results(result, length);
}

/* TestCall: opnum 7
 *   request   8 bytes: 0 s1 ->
 *   reply     8 bytes: 0 s2 ->
 */
struct rpcecho_TestCall_request {
    uint64_t s1;
};
OBVIA_HAS_SIZE(struct rpcecho_TestCall_request, 8);
OBVIA_LIES_AT(struct rpcecho_TestCall_request, s1, 0);

struct rpcecho_TestCall_reply {
    uint64_t s2;
};
OBVIA_HAS_SIZE(struct rpcecho_TestCall_reply, 8);
OBVIA_LIES_AT(struct rpcecho_TestCall_reply, s2, 0);

static OBVIA_COLD HRESULT rpcecho_TestCall_prepare(rpcecho *self, const obvia_wchar *s1, obvia_wchar **s2);

static HRESULT rpcecho_TestCall_proxy(rpcecho *self, const obvia_wchar *s1, obvia_wchar **s2)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    *s2 = NULL;
    OBVIA_BEGIN(proxy, calls, rpcecho_TestCall_prepare(self, s1, s2))
    const uint64_t s1_count = obvia_text16(s1);
    if (OBVIA_UNLIKELY(s1_count == 0)) {
        return E_POINTER;
    }
    if (OBVIA_UNLIKELY(s1_count > OBVIA_FRAME_MAX / sizeof(obvia_wchar))) {
        return obvia_too_many(s1_count);
    }
    const uint64_t s1_at = OBVIA_ALIGN(sizeof(struct rpcecho_TestCall_request)) + 8;
    const uint64_t length = obvia_text_end(s1_at, s1_count * sizeof(obvia_wchar));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct rpcecho_TestCall_request *request = (struct rpcecho_TestCall_request *)obvia_request_place(calls, length, s1_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    obvia_put_text(request, &request->s1, s1_at, 3, s1, s1_count, s1_count * sizeof(obvia_wchar));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(7, length), proxy->target);
    const struct rpcecho_TestCall_reply *results = (const struct rpcecho_TestCall_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) < OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const uint64_t s2_from = OBVIA_ALIGN(sizeof(struct rpcecho_TestCall_reply)) + 8;
    const uint64_t s2_count = obvia_text_count(results, obvia_length(reply), &results->s2, s2_from, 3, sizeof(obvia_wchar));
    if (OBVIA_UNLIKELY(s2_count == UINT64_MAX)) {
        return RPC_E_INVALID_DATA;
    }
    if (OBVIA_UNLIKELY(obvia_length(reply) != obvia_text_end(s2_from, s2_count * sizeof(obvia_wchar)))) {
        return obvia_refusal(reply);
    }
    obvia_wchar *s2_value = (obvia_wchar *)obvia_receive_text(results, s2_from, s2_count * sizeof(obvia_wchar));
    if (OBVIA_UNLIKELY(s2_count != 0 && s2_value == NULL)) {
        return E_OUTOFMEMORY;
    }
    if (OBVIA_UNLIKELY(s2_count != 0 && s2_value[s2_count - 1] != 0)) {
        free(s2_value);
        return RPC_E_INVALID_DATA;
    }
    *s2 = s2_value;
    return obvia_result(reply);
}

static HRESULT rpcecho_TestCall_prepare(rpcecho *self, const obvia_wchar *s1, obvia_wchar **s2)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : rpcecho_TestCall_proxy(self, s1, s2);
}

static obvia_answer rpcecho_TestCall_stub(void *object, obvia_call *call)
{
    rpcecho *self = (rpcecho *)object;
    const struct rpcecho_TestCall_request *request = (const struct rpcecho_TestCall_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t s1_at = OBVIA_ALIGN(sizeof(struct rpcecho_TestCall_request)) + 8;
    const uint64_t s1_count = obvia_text_count(request, call->length, &request->s1, s1_at, 3, sizeof(obvia_wchar));
    if (OBVIA_UNLIKELY(s1_count == 0 || s1_count == UINT64_MAX)) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(call->length != obvia_text_end(s1_at, s1_count * sizeof(obvia_wchar)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    obvia_wchar *s2_own = NULL;
    uint64_t s1_small[OBVIA_INLINE_MAX / 8];
    const obvia_wchar *s1_own = (const obvia_wchar *)obvia_take_text(s1_small, request, s1_at, s1_count * sizeof(obvia_wchar));
    if (OBVIA_UNLIKELY(s1_count != 0 && s1_own == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    if (OBVIA_UNLIKELY(s1_count != 0 && s1_own[s1_count - 1] != 0)) {
        obvia_drop_text(s1_own, s1_small);
        return OBVIA_BAD_STUB_DATA;
    }
    const HRESULT result = (self->lpVtbl->TestCall)(self, s1_own, &s2_own);
    if (OBVIA_UNLIKELY(result < 0)) {
        free(s2_own);
        obvia_drop_text(s1_own, s1_small);
        return obvia_results(result, 0);
    }
    const uint64_t s2_count = obvia_text16(s2_own);
    if (OBVIA_UNLIKELY(s2_count > OBVIA_FRAME_MAX / sizeof(obvia_wchar))) {
        free(s2_own);
        obvia_drop_text(s1_own, s1_small);
        return OBVIA_NO_MEMORY;
    }
    const uint64_t s2_to = OBVIA_ALIGN(sizeof(struct rpcecho_TestCall_reply)) + 8;
    const uint64_t length = obvia_text_end(s2_to, s2_count * sizeof(obvia_wchar));
    struct rpcecho_TestCall_reply *results = (struct rpcecho_TestCall_reply *)obvia_reply_place(call, length, s2_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        free(s2_own);
        obvia_drop_text(s1_own, s1_small);
        return OBVIA_NO_MEMORY;
    }
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    obvia_put_text(results, &results->s2, s2_to, 3, s2_own, s2_count, s2_count * sizeof(obvia_wchar));
    free(s2_own);
    obvia_drop_text(s1_own, s1_small);
    return obvia_results(result, length);
}

/* TestCall2: opnum 8
 *   request   2 bytes: 0 level uint16_t
 *   reply    20 bytes: 0 info ->, 16 returned uint32_t
 */
static const int64_t rpcecho_TestCall2_table_words[] = {
    8, 0,
    /* request */ 2,
        /* values */ 1, 0, 2, /* parts */ 0,
    /* reply */ 20,
        /* values */ 1, 16, 4, /* parts */ 1,
        0, OBVIA_UNION, OBVIA_OUTER, 0, 7,
            1, 1,
                /* values */ 1, 0, 1, /* parts */ 0,
            1, 2,
                /* values */ 1, 0, 2, /* parts */ 0,
            1, 3,
                /* values */ 1, 0, 4, /* parts */ 0,
            1, 4,
                /* values */ 1, 0, 8, /* parts */ 0,
            1, 5,
                /* values */ 0, /* parts */ 1,
                0, OBVIA_INNER, 1, 16,
                    /* values */ 2, 0, 1, 8, 8, /* parts */ 0,
            1, 6,
                /* values */ 1, 0, 2, /* parts */ 0,
            1, 7,
                /* values */ 0, /* parts */ 1,
                0, OBVIA_INNER, 1, 16,
                    /* values */ 2, 0, 1, 8, 8, /* parts */ 0,
            OBVIA_NONE,
    /* outer */ 1,
        0, OBVIA_U16,
    /* parameters */ 3,
        /* [in] level */ OBVIA_SLOT, 2, OBVIA_SOME, 0, OBVIA_NONE,
        /* [out] info */ OBVIA_PLACE, 16, OBVIA_NONE, OBVIA_SOME, 0,
        /* [out] returned */ OBVIA_PLACE, 4, OBVIA_NONE, OBVIA_SOME, 16,
};
static obvia_method rpcecho_TestCall2_table = {&rpcecho_types, OBVIA_TABLE(rpcecho_TestCall2_table_words)};

static HRESULT rpcecho_TestCall2_proxy(rpcecho *self, uint16_t level, Info *info, uint32_t *returned)
{
    const void *const arguments[] = {&level, info, returned};
    return obvia_call_by_table(self, &rpcecho_TestCall2_table, arguments);
}

static HRESULT rpcecho_TestCall2_invoke(void *object, void **arguments)
{
    rpcecho *self = (rpcecho *)object;
    return (self->lpVtbl->TestCall2)(self, *(uint16_t *)arguments[0], (Info *)arguments[1], (uint32_t *)arguments[2]);
}

static obvia_answer rpcecho_TestCall2_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &rpcecho_TestCall2_table, rpcecho_TestCall2_invoke);
}

/* TestSleep: opnum 9
 *   request   4 bytes: 0 seconds uint32_t
 *   reply     4 bytes: 0 returned uint32_t
 */
struct rpcecho_TestSleep_request {
    uint32_t seconds;
};
OBVIA_HAS_SIZE(struct rpcecho_TestSleep_request, 4);
OBVIA_LIES_AT(struct rpcecho_TestSleep_request, seconds, 0);

struct rpcecho_TestSleep_reply {
    uint32_t returned;
};
OBVIA_HAS_SIZE(struct rpcecho_TestSleep_reply, 4);
OBVIA_LIES_AT(struct rpcecho_TestSleep_reply, returned, 0);

static OBVIA_COLD HRESULT rpcecho_TestSleep_prepare(rpcecho *self, uint32_t seconds, uint32_t *returned);

static HRESULT rpcecho_TestSleep_proxy(rpcecho *self, uint32_t seconds, uint32_t *returned)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, rpcecho_TestSleep_prepare(self, seconds, returned))
    struct rpcecho_TestSleep_request *request = (struct rpcecho_TestSleep_request *)calls->slot;
    OBVIA_STORE(uint32_t, &request->seconds, seconds);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(9, OBVIA_ALIGN(sizeof(struct rpcecho_TestSleep_request))), proxy->target);
    const struct rpcecho_TestSleep_reply *results = (const struct rpcecho_TestSleep_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const uint32_t returned_value = OBVIA_LOAD(uint32_t, &results->returned);
    *returned = returned_value;
    return obvia_result(reply);
}

static HRESULT rpcecho_TestSleep_prepare(rpcecho *self, uint32_t seconds, uint32_t *returned)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : rpcecho_TestSleep_proxy(self, seconds, returned);
}

static obvia_answer rpcecho_TestSleep_stub(void *object, obvia_call *call)
{
    rpcecho *self = (rpcecho *)object;
    const struct rpcecho_TestSleep_request *request = (const struct rpcecho_TestSleep_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t seconds = OBVIA_LOAD(uint32_t, &request->seconds);
    struct rpcecho_TestSleep_reply *results = (struct rpcecho_TestSleep_reply *)call->slot;
    const HRESULT result = (self->lpVtbl->TestSleep)(self, seconds, &results->returned);
    return obvia_results(result, sizeof *results);
}

/* TestEnum: opnum 10
 *   request  20 bytes: 0 foo1 Enum1, 4 foo2 Enum2, 12 foo3 ->
 *   reply    20 bytes: 0 foo1 Enum1, 4 foo2 Enum2, 12 foo3 ->
 */
static const int64_t rpcecho_TestEnum_table_words[] = {
    10, 0,
    /* request */ 20,
        /* values */ 1, 0, 4, /* parts */ 3,
        0, OBVIA_RANGE, OBVIA_I32, 0, 32767,
        4, OBVIA_INNER, 1, 8,
            /* values */ 1, 0, 8, /* parts */ 2,
            0, OBVIA_RANGE, OBVIA_I32, 0, 32767,
            4, OBVIA_ENUMERATION, 2, 1, 2,
        12, OBVIA_UNION, OBVIA_MEMBER, 0, OBVIA_I32, 2,
            1, 1,
                /* values */ 1, 0, 4, /* parts */ 1,
                0, OBVIA_RANGE, OBVIA_I32, 0, 32767,
            1, 2,
                /* values */ 0, /* parts */ 1,
                0, OBVIA_INNER, 1, 8,
                    /* values */ 1, 0, 8, /* parts */ 2,
                    0, OBVIA_RANGE, OBVIA_I32, 0, 32767,
                    4, OBVIA_ENUMERATION, 2, 1, 2,
            OBVIA_NONE,
    /* reply */ 20,
        /* values */ 1, 0, 4, /* parts */ 3,
        0, OBVIA_RANGE, OBVIA_I32, 0, 32767,
        4, OBVIA_INNER, 1, 8,
            /* values */ 1, 0, 8, /* parts */ 2,
            0, OBVIA_RANGE, OBVIA_I32, 0, 32767,
            4, OBVIA_ENUMERATION, 2, 1, 2,
        12, OBVIA_UNION, OBVIA_MEMBER, 0, OBVIA_I32, 2,
            1, 1,
                /* values */ 1, 0, 4, /* parts */ 1,
                0, OBVIA_RANGE, OBVIA_I32, 0, 32767,
            1, 2,
                /* values */ 0, /* parts */ 1,
                0, OBVIA_INNER, 1, 8,
                    /* values */ 1, 0, 8, /* parts */ 2,
                    0, OBVIA_RANGE, OBVIA_I32, 0, 32767,
                    4, OBVIA_ENUMERATION, 2, 1, 2,
            OBVIA_NONE,
    /* outer */ 0,
    /* parameters */ 3,
        /* [in, out] foo1 */ OBVIA_PLACE, 4, OBVIA_SOME, 0, OBVIA_SOME, 0,
        /* [in, out] foo2 */ OBVIA_PLACE, 8, OBVIA_SOME, 4, OBVIA_SOME, 4,
        /* [in, out] foo3 */ OBVIA_PLACE, 8, OBVIA_SOME, 12, OBVIA_SOME, 12,
};
static obvia_method rpcecho_TestEnum_table = {&rpcecho_types, OBVIA_TABLE(rpcecho_TestEnum_table_words)};

static HRESULT rpcecho_TestEnum_proxy(rpcecho *self, Enum1 *foo1, Enum2 *foo2, Enum3 *foo3)
{
    const void *const arguments[] = {foo1, foo2, foo3};
    return obvia_call_by_table(self, &rpcecho_TestEnum_table, arguments);
}

static HRESULT rpcecho_TestEnum_invoke(void *object, void **arguments)
{
    rpcecho *self = (rpcecho *)object;
    return (self->lpVtbl->TestEnum)(self, (Enum1 *)arguments[0], (Enum2 *)arguments[1], (Enum3 *)arguments[2]);
}

static obvia_answer rpcecho_TestEnum_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &rpcecho_TestEnum_table, rpcecho_TestEnum_invoke);
}

/* TestSurrounding: opnum 11
 *   request   8 bytes: 0 data ->
 *   reply     8 bytes: 0 data ->
 */
static const int64_t rpcecho_TestSurrounding_table_words[] = {
    11, 0,
    /* request */ 8,
        /* values */ 0, /* parts */ 1,
        0, OBVIA_POINTER, OBVIA_REF, 17, OBVIA_ONE,
    /* reply */ 8,
        /* values */ 0, /* parts */ 1,
        0, OBVIA_POINTER, OBVIA_REF, 17, OBVIA_ONE,
    /* outer */ 0,
    /* parameters */ 1,
        /* [in, out] data */ OBVIA_PLACE, 8, OBVIA_SOME, 0, OBVIA_SOME, 0,
};
static obvia_method rpcecho_TestSurrounding_table = {&rpcecho_types, OBVIA_TABLE(rpcecho_TestSurrounding_table_words)};

static HRESULT rpcecho_TestSurrounding_proxy(rpcecho *self, Surrounding **data)
{
    const void *const arguments[] = {data};
    return obvia_call_by_table(self, &rpcecho_TestSurrounding_table, arguments);
}

static HRESULT rpcecho_TestSurrounding_invoke(void *object, void **arguments)
{
    rpcecho *self = (rpcecho *)object;
    return (self->lpVtbl->TestSurrounding)(self, (Surrounding **)arguments[0]);
}

static obvia_answer rpcecho_TestSurrounding_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &rpcecho_TestSurrounding_table, rpcecho_TestSurrounding_invoke);
}

/* TestDoublePointer: opnum 12
 *   request   8 bytes: 0 data ->
 *   reply     2 bytes: 0 returned uint16_t
 */
static const int64_t rpcecho_TestDoublePointer_table_words[] = {
    12, 0,
    /* request */ 8,
        /* values */ 0, /* parts */ 1,
        0, OBVIA_POINTER, OBVIA_UNIQUE, 18, OBVIA_ONE,
    /* reply */ 2,
        /* values */ 1, 0, 2, /* parts */ 0,
    /* outer */ 0,
    /* parameters */ 2,
        /* [in] data */ OBVIA_PLACE, 8, OBVIA_SOME, 0, OBVIA_NONE,
        /* [out] returned */ OBVIA_PLACE, 2, OBVIA_NONE, OBVIA_SOME, 0,
};
static obvia_method rpcecho_TestDoublePointer_table = {&rpcecho_types, OBVIA_TABLE(rpcecho_TestDoublePointer_table_words)};

static HRESULT rpcecho_TestDoublePointer_proxy(rpcecho *self, uint16_t ***data, uint16_t *returned)
{
    const void *const arguments[] = {data, returned};
    return obvia_call_by_table(self, &rpcecho_TestDoublePointer_table, arguments);
}

static HRESULT rpcecho_TestDoublePointer_invoke(void *object, void **arguments)
{
    rpcecho *self = (rpcecho *)object;
    return (self->lpVtbl->TestDoublePointer)(self, (uint16_t ***)arguments[0], (uint16_t *)arguments[1]);
}

static obvia_answer rpcecho_TestDoublePointer_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &rpcecho_TestDoublePointer_table, rpcecho_TestDoublePointer_invoke);
}

static const rpcechoVtbl rpcecho_proxies = {
    (HRESULT (*)(rpcecho *, const IID *, void **))obvia_proxy_query_interface,
    (uint32_t (*)(rpcecho *))obvia_proxy_add_ref,
    (uint32_t (*)(rpcecho *))obvia_proxy_release,
    rpcecho_AddOne_proxy,
    rpcecho_EchoData_proxy,
    rpcecho_SinkData_proxy,
    rpcecho_SourceData_proxy,
    rpcecho_TestCall_proxy,
    rpcecho_TestCall2_proxy,
    rpcecho_TestSleep_proxy,
    rpcecho_TestEnum_proxy,
    rpcecho_TestSurrounding_proxy,
    rpcecho_TestDoublePointer_proxy
};

static obvia_stub *const rpcecho_stubs[16] = {
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    rpcecho_AddOne_stub,
    rpcecho_EchoData_stub,
    rpcecho_SinkData_stub,
    rpcecho_SourceData_stub,
    rpcecho_TestCall_stub,
    rpcecho_TestCall2_stub,
    rpcecho_TestSleep_stub,
    rpcecho_TestEnum_stub,
    rpcecho_TestSurrounding_stub,
    rpcecho_TestDoublePointer_stub,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse
};

static const int64_t rpcecho_ndr[] = {
    19, 0, 1, 0, 4, 0, 2, 5, 4, 1, 0, 1, 1, 4, 2, 1, 0, 5, 0, 7, 1, 0, 19, 7,
    1, 3, 5, 1, 1, 0, 0, 0, 5, 2, 1, 0, 2, 0, 5, 4, 1, 0, 1, 0, 0, 8, 5, 8,
    1, 0, 9, 0, 5, 16, 2, 0, 0, 8, 9, 0, 5, 2, 2, 0, 0, 1, 6, 0, 5, 16, 2, 0,
    0, 8, 10, 0, 6, 16, 2, 3, 1, 2, 0, 0, 7, 1, 1, 1, 6, 1, 2, 1, 7, 1, 3, 1,
    8, 1, 4, 1, 10, 1, 5, 1, 11, 1, 6, 1, 12, 1, 7, 1, 13, 0, 2, 5, 8, 2, 0, 15,
    4, 1, 0, 6, 8, 2, 3, 1, 1, 0, 4, 0, 2, 1, 1, 1, 15, 1, 2, 1, 16, 0, 7, 1,
    0, 18, 4, 0, 3, 4, 2, 10, 3, 2, 4, 1, 0, 0, 1, 4, 1, 0, 0, 1, 0, 4, 0, 16,
    2, 0, 0, 1, 8, 1, 1, 16, 1, 0, 5, 0, 8, 1, 0, 1, 1, 16, 2, 0, 0, 1, 0, 5,
    5, 0, 16, 2, 0, 0, 1, 8, 1, 1, 16, 1, 0, 5, 0, 0, 0, 0, 6, 0, 4, 1, 0, 0,
    1, 8, 1, 0, 1, 1, 16, 2, 0, 0, 1, 0, 5, 7, 0, 8, 1, 0, 1, 3, 8, 1, 0, 0,
    5, 0, 8, 0, 2, 1, 0, 0, 2, 20, 2, 0, 0, 14, 16, 0, 1, 1, 0, 3, 9, 0, 4, 1,
    0, 0, 1, 4, 1, 0, 0, 1, 0, 10, 0, 20, 3, 0, 0, 15, 4, 0, 16, 12, 0, 17, 20, 3,
    0, 0, 15, 4, 0, 16, 12, 0, 17, 0, 11, 0, 8, 1, 0, 1, 0, 17, 8, 1, 0, 1, 0, 17,
    0, 12, 0, 8, 1, 0, 0, 18, 2, 1, 0, 0, 2, 0,
};

static const char *const rpcecho_endpoints[] = {"ncacn_np:[\\pipe\\rpcecho]", "ncacn_ip_tcp:", "ncalrpc:", NULL};
const obvia_interface rpcecho_INFO = {
    sizeof(obvia_interface),
    "rpcecho",
    {0x60a15ec5, 0x4de8, 0x11d7, {0xa6, 0x37, 0x00, 0x50, 0x56, 0xa2, 0x01, 0x82}},
    1,
    0,
    {0xe7, 0xb9, 0x24, 0xf5, 0xd9, 0x48, 0x3c, 0x9e, 0x50, 0x82, 0xc0, 0xd8, 0xb8, 0xae, 0xcf, 0xfb},
    NULL,
    &rpcecho_proxies,
    rpcecho_stubs,
    16,
    "typedef [open] enum {\n"
    "    ECHO_ENUM1 = 1,\n"
    "    ECHO_ENUM2 = 2\n"
    "} Enum1;\n"
    "typedef [v1_enum] enum {\n"
    "    ECHO_ENUM1_32 = 1,\n"
    "    ECHO_ENUM2_32 = 2\n"
    "} Enum1_32;\n"
    "struct Enum2;\n"
    "struct Info1;\n"
    "struct Info2;\n"
    "struct Info3;\n"
    "struct Info4;\n"
    "struct Info5;\n"
    "struct Info6;\n"
    "struct Info7;\n"
    "struct Surrounding;\n"
    "struct Enum2 {\n"
    "    Enum1 e1;\n"
    "    Enum1_32 e2;\n"
    "};\n"
    "struct Info1 {\n"
    "    char v;\n"
    "};\n"
    "struct Info2 {\n"
    "    unsigned short v;\n"
    "};\n"
    "struct Info3 {\n"
    "    unsigned long v;\n"
    "};\n"
    "struct Info4 {\n"
    "    unsigned hyper v;\n"
    "};\n"
    "struct Info5 {\n"
    "    char v1;\n"
    "    unsigned hyper v2;\n"
    "};\n"
    "struct Info6 {\n"
    "    char v1;\n"
    "    struct Info1 info1;\n"
    "};\n"
    "struct Info7 {\n"
    "    char v1;\n"
    "    struct Info4 info4;\n"
    "};\n"
    "struct Surrounding {\n"
    "    unsigned long x;\n"
    "    [size_is(x)] unsigned short surrounding[];\n"
    "};\n"
    "[switch_type(unsigned short)] union Enum3 {\n"
    "    case 1: Enum1 e1;\n"
    "    case 2: struct Enum2 e2;\n"
    "};\n"
    "[switch_type(unsigned short)] union Info {\n"
    "    case 1: struct Info1 info1;\n"
    "    case 2: struct Info2 info2;\n"
    "    case 3: struct Info3 info3;\n"
    "    case 4: struct Info4 info4;\n"
    "    case 5: struct Info5 info5;\n"
    "    case 6: struct Info6 info6;\n"
    "    case 7: struct Info7 info7;\n"
    "};\n"
    "[uuid(60a15ec5-4de8-11d7-a637-005056a20182), version(1.0), pointer_default(unique)]\n"
    "interface rpcecho {\n"
    "    void AddOne([in] unsigned long in_data, [out] unsigned long *out_data);\n"
    "    void EchoData([in] unsigned long len, [in, size_is(len)] char *in_data, [out, size_is(len)] char *out_data);\n"
    "    void SinkData([in] unsigned long len, [in, size_is(len)] char *data);\n"
    "    void SourceData([in] unsigned long len, [out, size_is(len)] char *data);\n"
    "    void TestCall([in, string] wchar_t *s1, [out, string] wchar_t **s2);\n"
    "    unsigned long TestCall2([in] unsigned short level, [out, switch_is(level)] union Info *info);\n"
    "    unsigned long TestSleep([in] unsigned long seconds);\n"
    "    void TestEnum([in, out] Enum1 *foo1, [in, out] struct Enum2 *foo2, [in, out, switch_is(*foo1)] union Enum3 *foo3);\n"
    "    void TestSurrounding([in, out] struct Surrounding *data);\n"
    "    unsigned short TestDoublePointer([in] unsigned short ***data);\n"
    "}\n",
    rpcecho_ndr,
    sizeof(rpcecho_ndr) / sizeof *rpcecho_ndr,
    obvia_module,
    1,
    rpcecho_endpoints
};

static const obvia_meaning obvia_meanings[] = {
    {"rpcecho", {0x60a15ec5, 0x4de8, 0x11d7, {0xa6, 0x37, 0x00, 0x50, 0x56, 0xa2, 0x01, 0x82}}, {0xe7, 0xb9, 0x24, 0xf5, 0xd9, 0x48, 0x3c, 0x9e, 0x50, 0x82, 0xc0, 0xd8, 0xb8, 0xae, 0xcf, 0xfb}},
};

static __attribute__((constructor(101))) void obvia_declare_file(void)
{
    obvia_declare("rpcecho.idl", obvia_meanings, sizeof obvia_meanings / sizeof *obvia_meanings);
}
