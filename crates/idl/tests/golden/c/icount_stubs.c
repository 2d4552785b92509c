/* Made by obvia-idl 0.1.0 from icount.idl. Change the IDL, not this. */
/* The vtables of objects are called as C has them, also where this is compiled as C++. */
#ifndef CINTERFACE
#define CINTERFACE
#endif
#include "obvia_stub.h"

#include <string.h>

#include "icount.h"

const IID IID_IStubs = {0x1f0c6a52, 0x8d1e, 0x4f0b, {0x9d, 0x43, 0x5a, 0x7b, 0xe0, 0xc1, 0xd9, 0xe5}};

static const obvia_interface *const obvia_module[] = {
    &IStubs_INFO,
    NULL
};

/* null: opnum 3
 *   request   0 bytes: nothing
 *   reply     0 bytes: nothing
 */
static OBVIA_COLD HRESULT IStubs_null_prepare(IStubs *self);

static HRESULT IStubs_null_proxy(IStubs *self)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_null_prepare(self))
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(3, 0), proxy->target);
    if (OBVIA_UNLIKELY(obvia_length(reply) != 0)) {
        return obvia_refusal(reply);
    }
    return obvia_result(reply);
}

static HRESULT IStubs_null_prepare(IStubs *self)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_null_proxy(self);
}

static obvia_answer IStubs_null_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    if (OBVIA_UNLIKELY(call->length != 0)) {
        return OBVIA_BAD_STUB_DATA;
    }
    const HRESULT result = (self->lpVtbl->null)(self);
    return obvia_results(result, 0);
}

/* pfs_open: opnum 4
 *   request  16 bytes: 0 client int32_t, 4 fobj int32_t, 8 flags int32_t, 12 mode int32_t
 *   reply     4 bytes: 0 handle int32_t
 */
struct IStubs_pfs_open_request {
    int32_t client;
    int32_t fobj;
    int32_t flags;
    int32_t mode;
};
OBVIA_HAS_SIZE(struct IStubs_pfs_open_request, 16);
OBVIA_LIES_AT(struct IStubs_pfs_open_request, client, 0);
OBVIA_LIES_AT(struct IStubs_pfs_open_request, fobj, 4);
OBVIA_LIES_AT(struct IStubs_pfs_open_request, flags, 8);
OBVIA_LIES_AT(struct IStubs_pfs_open_request, mode, 12);

struct IStubs_pfs_open_reply {
    int32_t handle;
};
OBVIA_HAS_SIZE(struct IStubs_pfs_open_reply, 4);
OBVIA_LIES_AT(struct IStubs_pfs_open_reply, handle, 0);

static OBVIA_COLD HRESULT IStubs_pfs_open_prepare(IStubs *self, int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle);

static HRESULT IStubs_pfs_open_proxy(IStubs *self, int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_pfs_open_prepare(self, client, fobj, flags, mode, handle))
    struct IStubs_pfs_open_request *request = (struct IStubs_pfs_open_request *)calls->slot;
    OBVIA_STORE(int32_t, &request->client, client);
    OBVIA_STORE(int32_t, &request->fobj, fobj);
    OBVIA_STORE(int32_t, &request->flags, flags);
    OBVIA_STORE(int32_t, &request->mode, mode);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(4, OBVIA_ALIGN(sizeof(struct IStubs_pfs_open_request))), proxy->target);
    const struct IStubs_pfs_open_reply *results = (const struct IStubs_pfs_open_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t handle_value = OBVIA_LOAD(int32_t, &results->handle);
    *handle = handle_value;
    return obvia_result(reply);
}

static HRESULT IStubs_pfs_open_prepare(IStubs *self, int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_pfs_open_proxy(self, client, fobj, flags, mode, handle);
}

static obvia_answer IStubs_pfs_open_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    const struct IStubs_pfs_open_request *request = (const struct IStubs_pfs_open_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t client = OBVIA_LOAD(int32_t, &request->client);
    const int32_t fobj = OBVIA_LOAD(int32_t, &request->fobj);
    const int32_t flags = OBVIA_LOAD(int32_t, &request->flags);
    const int32_t mode = OBVIA_LOAD(int32_t, &request->mode);
    struct IStubs_pfs_open_reply *results = (struct IStubs_pfs_open_reply *)call->slot;
    const HRESULT result = (self->lpVtbl->pfs_open)(self, client, fobj, flags, mode, &results->handle);
    return obvia_results(result, sizeof *results);
}

/* pfs_write: opnum 5
 *   request  28 bytes: 0 handle int32_t, 4 len int32_t, 8 data_size int32_t, 16 data ->, 24 pos int32_t
 *   reply     4 bytes: 0 pos int32_t
 */
struct IStubs_pfs_write_request {
    int32_t handle;
    int32_t len;
    int32_t data_size;
    uint64_t data;
    int32_t pos;
};
OBVIA_HAS_SIZE(struct IStubs_pfs_write_request, 32);
OBVIA_LIES_AT(struct IStubs_pfs_write_request, handle, 0);
OBVIA_LIES_AT(struct IStubs_pfs_write_request, len, 4);
OBVIA_LIES_AT(struct IStubs_pfs_write_request, data_size, 8);
OBVIA_LIES_AT(struct IStubs_pfs_write_request, data, 16);
OBVIA_LIES_AT(struct IStubs_pfs_write_request, pos, 24);

struct IStubs_pfs_write_reply {
    int32_t pos;
};
OBVIA_HAS_SIZE(struct IStubs_pfs_write_reply, 4);
OBVIA_LIES_AT(struct IStubs_pfs_write_reply, pos, 0);

static OBVIA_COLD HRESULT IStubs_pfs_write_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data);

static HRESULT IStubs_pfs_write_proxy(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_pfs_write_prepare(self, handle, pos, len, data_size, data))
    const uint64_t data_count = (uint64_t)data_size;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_many(data_count);
    }
    const uint64_t data_at = OBVIA_ALIGN(sizeof(struct IStubs_pfs_write_request)) + 8;
    const uint64_t length = data_at + OBVIA_ALIGN(data_count * sizeof(int32_t));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IStubs_pfs_write_request *request = (struct IStubs_pfs_write_request *)obvia_request_place(calls, length, data_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(int32_t, &request->handle, handle);
    OBVIA_STORE(int32_t, &request->len, len);
    OBVIA_STORE(int32_t, &request->data_size, data_size);
    OBVIA_STORE(int32_t, &request->pos, *pos);
    obvia_put_array(request, &request->data, data_at, 16, data_count, data_count * sizeof(int32_t));
    obvia_copy(OBVIA_AT(int32_t *, request, data_at), data, data_count * sizeof(int32_t));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(5, length), proxy->target);
    const struct IStubs_pfs_write_reply *results = (const struct IStubs_pfs_write_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t pos_value = OBVIA_LOAD(int32_t, &results->pos);
    *pos = pos_value;
    return obvia_result(reply);
}

static HRESULT IStubs_pfs_write_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_pfs_write_proxy(self, handle, pos, len, data_size, data);
}

static obvia_answer IStubs_pfs_write_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    const struct IStubs_pfs_write_request *request = (const struct IStubs_pfs_write_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t handle = OBVIA_LOAD(int32_t, &request->handle);
    const int32_t len = OBVIA_LOAD(int32_t, &request->len);
    const int32_t data_size = OBVIA_LOAD(int32_t, &request->data_size);
    const int32_t pos = OBVIA_LOAD(int32_t, &request->pos);
    const uint64_t data_count = (uint64_t)data_size;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t data_at = OBVIA_ALIGN(sizeof(struct IStubs_pfs_write_request)) + 8;
    if (OBVIA_UNLIKELY(call->length != data_at + OBVIA_ALIGN(data_count * sizeof(int32_t)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->data, data_at, 16, data_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IStubs_pfs_write_reply *results = (struct IStubs_pfs_write_reply *)call->slot;
    results->pos = pos;
    const HRESULT result = (self->lpVtbl->pfs_write)(self, handle, &results->pos, len, data_size, OBVIA_AT(const int32_t *, request, data_at));
    return obvia_results(result, sizeof *results);
}

/* pfs_write, arrays by reference: opnum 11
 *   request  28 bytes: 0 handle int32_t, 4 len int32_t, 8 data_size int32_t, 16 data ->, 24 pos int32_t
 *   reply     4 bytes: 0 pos int32_t
 */
struct IStubs_pfs_write_by_reference_request {
    int32_t handle;
    int32_t len;
    int32_t data_size;
    uint64_t data;
    int32_t pos;
};
OBVIA_HAS_SIZE(struct IStubs_pfs_write_by_reference_request, 32);
OBVIA_LIES_AT(struct IStubs_pfs_write_by_reference_request, handle, 0);
OBVIA_LIES_AT(struct IStubs_pfs_write_by_reference_request, len, 4);
OBVIA_LIES_AT(struct IStubs_pfs_write_by_reference_request, data_size, 8);
OBVIA_LIES_AT(struct IStubs_pfs_write_by_reference_request, data, 16);
OBVIA_LIES_AT(struct IStubs_pfs_write_by_reference_request, pos, 24);

struct IStubs_pfs_write_by_reference_reply {
    int32_t pos;
};
OBVIA_HAS_SIZE(struct IStubs_pfs_write_by_reference_reply, 4);
OBVIA_LIES_AT(struct IStubs_pfs_write_by_reference_reply, pos, 0);

static OBVIA_COLD HRESULT IStubs_pfs_write_by_reference_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data);
static OBVIA_COLD HRESULT IStubs_pfs_write_by_reference_elsewhere(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data);

static HRESULT IStubs_pfs_write_by_reference_proxy(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_pfs_write_by_reference_prepare(self, handle, pos, len, data_size, data))
    uint64_t data_reference;
    if (OBVIA_UNLIKELY(!obvia_refer(&calls->regions[0], data, &data_reference))) {
        return IStubs_pfs_write_by_reference_elsewhere(self, handle, pos, len, data_size, data);
    }
    struct IStubs_pfs_write_by_reference_request *request = (struct IStubs_pfs_write_by_reference_request *)calls->slot;
    OBVIA_STORE(int32_t, &request->handle, handle);
    OBVIA_STORE(int32_t, &request->len, len);
    OBVIA_STORE(int32_t, &request->data_size, data_size);
    OBVIA_STORE(int32_t, &request->pos, *pos);
    OBVIA_STORE(uint64_t, &request->data, data_reference);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(11, OBVIA_ALIGN(sizeof(struct IStubs_pfs_write_by_reference_request))), proxy->target);
    const struct IStubs_pfs_write_by_reference_reply *results = (const struct IStubs_pfs_write_by_reference_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t pos_value = OBVIA_LOAD(int32_t, &results->pos);
    *pos = pos_value;
    return obvia_result(reply);
}

static HRESULT IStubs_pfs_write_by_reference_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_pfs_write_by_reference_proxy(self, handle, pos, len, data_size, data);
}

static HRESULT IStubs_pfs_write_by_reference_elsewhere(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data)
{
    int turned = 0;
    turned |= obvia_turn(obvia_calls_at_hand, 0, data);
    if (turned) {
        return IStubs_pfs_write_by_reference_proxy(self, handle, pos, len, data_size, data);
    }
    return IStubs_pfs_write_proxy(self, handle, pos, len, data_size, data);
}

static OBVIA_COLD obvia_answer IStubs_pfs_write_by_reference_turn(void *object, obvia_call *call);

static obvia_answer IStubs_pfs_write_by_reference_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    const struct IStubs_pfs_write_by_reference_request *request = (const struct IStubs_pfs_write_by_reference_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t data_size = OBVIA_LOAD(int32_t, &request->data_size);
    const uint64_t data_count = (uint64_t)data_size;
    const uint64_t data_reference = OBVIA_LOAD(uint64_t, &request->data);
    if (OBVIA_UNLIKELY(!obvia_is_in(&call->regions[0], data_reference, data_count, 4, 4))) {
        return IStubs_pfs_write_by_reference_turn(object, call);
    }
    const int32_t *data = (const int32_t *)obvia_resolve(&call->regions[0], data_reference);
    const int32_t handle = OBVIA_LOAD(int32_t, &request->handle);
    const int32_t len = OBVIA_LOAD(int32_t, &request->len);
    const int32_t pos = OBVIA_LOAD(int32_t, &request->pos);
    struct IStubs_pfs_write_by_reference_reply *results = (struct IStubs_pfs_write_by_reference_reply *)call->slot;
    results->pos = pos;
    const HRESULT result = (self->lpVtbl->pfs_write)(self, handle, &results->pos, len, data_size, data);
    return obvia_results(result, sizeof *results);
}

static obvia_answer IStubs_pfs_write_by_reference_turn(void *object, obvia_call *call)
{
    const struct IStubs_pfs_write_by_reference_request *request = (const struct IStubs_pfs_write_by_reference_request *)call->frame;
    int turned = 0;
    turned |= obvia_turn_call(call, 0, OBVIA_LOAD(uint64_t, &request->data));
    return turned ? IStubs_pfs_write_by_reference_stub(object, call) : OBVIA_BAD_STUB_DATA;
}

/* pfs_get_direntries: opnum 6
 *   request  12 bytes: 0 handle int32_t, 4 count int32_t, 8 pos int32_t
 *   reply     8 bytes: 0 pos int32_t, 4 data_size int32_t
 */
struct IStubs_pfs_get_direntries_request {
    int32_t handle;
    int32_t count;
    int32_t pos;
};
OBVIA_HAS_SIZE(struct IStubs_pfs_get_direntries_request, 12);
OBVIA_LIES_AT(struct IStubs_pfs_get_direntries_request, handle, 0);
OBVIA_LIES_AT(struct IStubs_pfs_get_direntries_request, count, 4);
OBVIA_LIES_AT(struct IStubs_pfs_get_direntries_request, pos, 8);

struct IStubs_pfs_get_direntries_reply {
    int32_t pos;
    int32_t data_size;
};
OBVIA_HAS_SIZE(struct IStubs_pfs_get_direntries_reply, 8);
OBVIA_LIES_AT(struct IStubs_pfs_get_direntries_reply, pos, 0);
OBVIA_LIES_AT(struct IStubs_pfs_get_direntries_reply, data_size, 4);

static OBVIA_COLD HRESULT IStubs_pfs_get_direntries_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t count, int32_t *data_size, int32_t **data);

static HRESULT IStubs_pfs_get_direntries_proxy(IStubs *self, int32_t handle, int32_t *pos, int32_t count, int32_t *data_size, int32_t **data)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_pfs_get_direntries_prepare(self, handle, pos, count, data_size, data))
    struct IStubs_pfs_get_direntries_request *request = (struct IStubs_pfs_get_direntries_request *)calls->slot;
    OBVIA_STORE(int32_t, &request->handle, handle);
    OBVIA_STORE(int32_t, &request->count, count);
    OBVIA_STORE(int32_t, &request->pos, *pos);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(6, OBVIA_ALIGN(sizeof(struct IStubs_pfs_get_direntries_request))), proxy->target);
    const struct IStubs_pfs_get_direntries_reply *results = (const struct IStubs_pfs_get_direntries_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) < OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t pos_value = OBVIA_LOAD(int32_t, &results->pos);
    const int32_t data_size_value = OBVIA_LOAD(int32_t, &results->data_size);
    const uint64_t data_used = (uint64_t)data_size_value;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof(struct IStubs_pfs_get_direntries_reply)) + data_used * sizeof(int32_t))) {
        return RPC_E_INVALID_DATA;
    }
    *data = OBVIA_AT(int32_t *, results, OBVIA_ALIGN(sizeof(struct IStubs_pfs_get_direntries_reply)));
    *pos = pos_value;
    *data_size = data_size_value;
    return obvia_result(reply);
}

static HRESULT IStubs_pfs_get_direntries_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t count, int32_t *data_size, int32_t **data)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_pfs_get_direntries_proxy(self, handle, pos, count, data_size, data);
}

static OBVIA_COLD obvia_answer IStubs_pfs_get_direntries_refill(void *object, obvia_call *call);

static obvia_answer IStubs_pfs_get_direntries_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    const struct IStubs_pfs_get_direntries_request *request = (const struct IStubs_pfs_get_direntries_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_has_room(call, OBVIA_ALIGN(sizeof(struct IStubs_pfs_get_direntries_reply)) + 1024 * sizeof(int32_t)))) {
        return IStubs_pfs_get_direntries_refill(object, call);
    }
    call->in_area = 1;
    const int32_t handle = OBVIA_LOAD(int32_t, &request->handle);
    const int32_t count = OBVIA_LOAD(int32_t, &request->count);
    const int32_t pos = OBVIA_LOAD(int32_t, &request->pos);
    struct IStubs_pfs_get_direntries_reply *results = (struct IStubs_pfs_get_direntries_reply *)call->area->next;
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    struct { int32_t *array; obvia_call *call; } data = {OBVIA_AT(int32_t *, results, OBVIA_ALIGN(sizeof(struct IStubs_pfs_get_direntries_reply))), call};
    results->pos = pos;
    const HRESULT result = (self->lpVtbl->pfs_get_direntries)(self, handle, &results->pos, count, &results->data_size, &data.array);
    const uint64_t data_used = (uint64_t)results->data_size;
    if (OBVIA_UNLIKELY(data.array != OBVIA_AT(int32_t *, results, OBVIA_ALIGN(sizeof(struct IStubs_pfs_get_direntries_reply))) || data_used > 1024)) {
        return obvia_lend(data.call, result, results, OBVIA_ALIGN(sizeof(struct IStubs_pfs_get_direntries_reply)), data.array, data_used, sizeof(int32_t));
    }
    return obvia_lent(result, OBVIA_ALIGN(sizeof(struct IStubs_pfs_get_direntries_reply)) + data_used * sizeof(int32_t));
}

static obvia_answer IStubs_pfs_get_direntries_refill(void *object, obvia_call *call)
{
    if (!obvia_make_room(call, OBVIA_ALIGN(sizeof(struct IStubs_pfs_get_direntries_reply)) + 1024 * sizeof(int32_t))) {
        return OBVIA_NO_MEMORY;
    }
    return IStubs_pfs_get_direntries_stub(object, call);
}

/* MoveData: opnum 7
 *   request  16 bytes: 0 ArraySize uint32_t, 8 pArray ->
 *   reply     8 bytes: 0 pArray ->
 */
struct IStubs_MoveData_request {
    uint32_t ArraySize;
    uint64_t pArray;
};
OBVIA_HAS_SIZE(struct IStubs_MoveData_request, 16);
OBVIA_LIES_AT(struct IStubs_MoveData_request, ArraySize, 0);
OBVIA_LIES_AT(struct IStubs_MoveData_request, pArray, 8);

struct IStubs_MoveData_reply {
    uint64_t pArray;
};
OBVIA_HAS_SIZE(struct IStubs_MoveData_reply, 8);
OBVIA_LIES_AT(struct IStubs_MoveData_reply, pArray, 0);

static OBVIA_COLD HRESULT IStubs_MoveData_prepare(IStubs *self, uint32_t ArraySize, uint32_t *pArray);

static HRESULT IStubs_MoveData_proxy(IStubs *self, uint32_t ArraySize, uint32_t *pArray)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_MoveData_prepare(self, ArraySize, pArray))
    const uint64_t pArray_count = (uint64_t)ArraySize;
    if (OBVIA_UNLIKELY(pArray_count > OBVIA_FRAME_MAX / sizeof(uint32_t))) {
        return obvia_too_many(pArray_count);
    }
    const uint64_t pArray_at = OBVIA_ALIGN(sizeof(struct IStubs_MoveData_request)) + 8;
    const uint64_t length = pArray_at + OBVIA_ALIGN(pArray_count * sizeof(uint32_t));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IStubs_MoveData_request *request = (struct IStubs_MoveData_request *)obvia_request_place(calls, length, pArray_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(uint32_t, &request->ArraySize, ArraySize);
    obvia_put_array(request, &request->pArray, pArray_at, 17, pArray_count, pArray_count * sizeof(uint32_t));
    obvia_copy(OBVIA_AT(uint32_t *, request, pArray_at), pArray, pArray_count * sizeof(uint32_t));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(7, length), proxy->target);
    const struct IStubs_MoveData_reply *results = (const struct IStubs_MoveData_reply *)reply.frame;
    const uint64_t pArray_from = OBVIA_ALIGN(sizeof(struct IStubs_MoveData_reply)) + 8;
    if (OBVIA_UNLIKELY(obvia_length(reply) != pArray_from + OBVIA_ALIGN(pArray_count * sizeof(uint32_t)))) {
        return obvia_refusal(reply);
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->pArray, pArray_from, 17, pArray_count))) {
        return RPC_E_INVALID_DATA;
    }
    obvia_copy(pArray, OBVIA_AT(const uint32_t *, results, pArray_from), pArray_count * sizeof(uint32_t));
    return obvia_result(reply);
}

static HRESULT IStubs_MoveData_prepare(IStubs *self, uint32_t ArraySize, uint32_t *pArray)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_MoveData_proxy(self, ArraySize, pArray);
}

static obvia_answer IStubs_MoveData_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    const struct IStubs_MoveData_request *request = (const struct IStubs_MoveData_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t ArraySize = OBVIA_LOAD(uint32_t, &request->ArraySize);
    const uint64_t pArray_count = (uint64_t)ArraySize;
    if (OBVIA_UNLIKELY(pArray_count > OBVIA_FRAME_MAX / sizeof(uint32_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t pArray_at = OBVIA_ALIGN(sizeof(struct IStubs_MoveData_request)) + 8;
    if (OBVIA_UNLIKELY(call->length != pArray_at + OBVIA_ALIGN(pArray_count * sizeof(uint32_t)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->pArray, pArray_at, 17, pArray_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t pArray_to = OBVIA_ALIGN(sizeof(struct IStubs_MoveData_reply)) + 8;
    const uint64_t length = pArray_to + OBVIA_ALIGN(pArray_count * sizeof(uint32_t));
    struct IStubs_MoveData_reply *results = (struct IStubs_MoveData_reply *)obvia_reply_place(call, length, pArray_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    obvia_put_array(results, &results->pArray, pArray_to, 17, pArray_count, pArray_count * sizeof(uint32_t));
    obvia_copy(OBVIA_AT(uint32_t *, results, pArray_to), OBVIA_AT(const uint32_t *, request, pArray_at), pArray_count * sizeof(uint32_t));
    const HRESULT result = (self->lpVtbl->MoveData)(self, ArraySize, OBVIA_AT(uint32_t *, results, pArray_to));
    return obvia_results(result, length);
}

/* MoveData, arrays by reference: opnum 12
 *   request  16 bytes: 0 ArraySize uint32_t, 8 pArray ->
 *   reply     0 bytes: nothing
 */
struct IStubs_MoveData_by_reference_request {
    uint32_t ArraySize;
    uint64_t pArray;
};
OBVIA_HAS_SIZE(struct IStubs_MoveData_by_reference_request, 16);
OBVIA_LIES_AT(struct IStubs_MoveData_by_reference_request, ArraySize, 0);
OBVIA_LIES_AT(struct IStubs_MoveData_by_reference_request, pArray, 8);

static OBVIA_COLD HRESULT IStubs_MoveData_by_reference_prepare(IStubs *self, uint32_t ArraySize, uint32_t *pArray);
static OBVIA_COLD HRESULT IStubs_MoveData_by_reference_elsewhere(IStubs *self, uint32_t ArraySize, uint32_t *pArray);

static HRESULT IStubs_MoveData_by_reference_proxy(IStubs *self, uint32_t ArraySize, uint32_t *pArray)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_MoveData_by_reference_prepare(self, ArraySize, pArray))
    uint64_t pArray_reference;
    if (OBVIA_UNLIKELY(!obvia_refer(&calls->regions[OBVIA_HANDS + 0], pArray, &pArray_reference))) {
        return IStubs_MoveData_by_reference_elsewhere(self, ArraySize, pArray);
    }
    struct IStubs_MoveData_by_reference_request *request = (struct IStubs_MoveData_by_reference_request *)calls->slot;
    OBVIA_STORE(uint32_t, &request->ArraySize, ArraySize);
    OBVIA_STORE(uint64_t, &request->pArray, pArray_reference);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(12, OBVIA_ALIGN(sizeof(struct IStubs_MoveData_by_reference_request))), proxy->target);
    if (OBVIA_UNLIKELY(obvia_length(reply) != 0)) {
        return obvia_refusal(reply);
    }
    return obvia_result(reply);
}

static HRESULT IStubs_MoveData_by_reference_prepare(IStubs *self, uint32_t ArraySize, uint32_t *pArray)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_MoveData_by_reference_proxy(self, ArraySize, pArray);
}

static HRESULT IStubs_MoveData_by_reference_elsewhere(IStubs *self, uint32_t ArraySize, uint32_t *pArray)
{
    int turned = 0;
    turned |= obvia_turn(obvia_calls_at_hand, OBVIA_HANDS + 0, pArray);
    if (turned) {
        return IStubs_MoveData_by_reference_proxy(self, ArraySize, pArray);
    }
    return IStubs_MoveData_proxy(self, ArraySize, pArray);
}

static OBVIA_COLD obvia_answer IStubs_MoveData_by_reference_turn(void *object, obvia_call *call);

static obvia_answer IStubs_MoveData_by_reference_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    const struct IStubs_MoveData_by_reference_request *request = (const struct IStubs_MoveData_by_reference_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t ArraySize = OBVIA_LOAD(uint32_t, &request->ArraySize);
    const uint64_t pArray_count = (uint64_t)ArraySize;
    const uint64_t pArray_reference = OBVIA_LOAD(uint64_t, &request->pArray);
    if (OBVIA_UNLIKELY(!obvia_is_in(&call->regions[OBVIA_HANDS + 0], pArray_reference, pArray_count, 4, 4))) {
        return IStubs_MoveData_by_reference_turn(object, call);
    }
    uint32_t *pArray = (uint32_t *)obvia_resolve(&call->regions[OBVIA_HANDS + 0], pArray_reference);
    const HRESULT result = (self->lpVtbl->MoveData)(self, ArraySize, pArray);
    return obvia_results(result, 0);
}

static obvia_answer IStubs_MoveData_by_reference_turn(void *object, obvia_call *call)
{
    const struct IStubs_MoveData_by_reference_request *request = (const struct IStubs_MoveData_by_reference_request *)call->frame;
    int turned = 0;
    turned |= obvia_turn_call(call, OBVIA_HANDS + 0, OBVIA_LOAD(uint64_t, &request->pArray));
    return turned ? IStubs_MoveData_by_reference_stub(object, call) : OBVIA_BAD_STUB_DATA;
}

/* copy_in: opnum 8
 *   request  28 bytes: 0 handle int32_t, 4 len int32_t, 8 data_size int32_t, 16 data ->, 24 pos int32_t
 *   reply     4 bytes: 0 pos int32_t
 */
struct IStubs_copy_in_request {
    int32_t handle;
    int32_t len;
    int32_t data_size;
    uint64_t data;
    int32_t pos;
};
OBVIA_HAS_SIZE(struct IStubs_copy_in_request, 32);
OBVIA_LIES_AT(struct IStubs_copy_in_request, handle, 0);
OBVIA_LIES_AT(struct IStubs_copy_in_request, len, 4);
OBVIA_LIES_AT(struct IStubs_copy_in_request, data_size, 8);
OBVIA_LIES_AT(struct IStubs_copy_in_request, data, 16);
OBVIA_LIES_AT(struct IStubs_copy_in_request, pos, 24);

struct IStubs_copy_in_reply {
    int32_t pos;
};
OBVIA_HAS_SIZE(struct IStubs_copy_in_reply, 4);
OBVIA_LIES_AT(struct IStubs_copy_in_reply, pos, 0);

static OBVIA_COLD HRESULT IStubs_copy_in_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data);

static HRESULT IStubs_copy_in_proxy(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_copy_in_prepare(self, handle, pos, len, data_size, data))
    const uint64_t data_count = (uint64_t)data_size;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_many(data_count);
    }
    const uint64_t data_at = OBVIA_ALIGN(sizeof(struct IStubs_copy_in_request)) + 8;
    const uint64_t length = data_at + OBVIA_ALIGN(data_count * sizeof(int32_t));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IStubs_copy_in_request *request = (struct IStubs_copy_in_request *)obvia_request_place(calls, length, data_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(int32_t, &request->handle, handle);
    OBVIA_STORE(int32_t, &request->len, len);
    OBVIA_STORE(int32_t, &request->data_size, data_size);
    OBVIA_STORE(int32_t, &request->pos, *pos);
    obvia_put_array(request, &request->data, data_at, 16, data_count, data_count * sizeof(int32_t));
    obvia_copy(OBVIA_AT(int32_t *, request, data_at), data, data_count * sizeof(int32_t));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(8, length), proxy->target);
    const struct IStubs_copy_in_reply *results = (const struct IStubs_copy_in_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t pos_value = OBVIA_LOAD(int32_t, &results->pos);
    *pos = pos_value;
    return obvia_result(reply);
}

static HRESULT IStubs_copy_in_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_copy_in_proxy(self, handle, pos, len, data_size, data);
}

static obvia_answer IStubs_copy_in_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    const struct IStubs_copy_in_request *request = (const struct IStubs_copy_in_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t handle = OBVIA_LOAD(int32_t, &request->handle);
    const int32_t len = OBVIA_LOAD(int32_t, &request->len);
    const int32_t data_size = OBVIA_LOAD(int32_t, &request->data_size);
    const int32_t pos = OBVIA_LOAD(int32_t, &request->pos);
    const uint64_t data_count = (uint64_t)data_size;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t data_at = OBVIA_ALIGN(sizeof(struct IStubs_copy_in_request)) + 8;
    if (OBVIA_UNLIKELY(call->length != data_at + OBVIA_ALIGN(data_count * sizeof(int32_t)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->data, data_at, 16, data_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IStubs_copy_in_reply *results = (struct IStubs_copy_in_reply *)call->slot;
    results->pos = pos;
    const HRESULT result = (self->lpVtbl->copy_in)(self, handle, &results->pos, len, data_size, OBVIA_AT(const int32_t *, request, data_at));
    return obvia_results(result, sizeof *results);
}

/* copy_out: opnum 9
 *   request  16 bytes: 0 handle int32_t, 4 count int32_t, 8 room int32_t, 12 pos int32_t
 *   reply    16 bytes: 0 pos int32_t, 4 data_size int32_t, 8 data ->
 */
struct IStubs_copy_out_request {
    int32_t handle;
    int32_t count;
    int32_t room;
    int32_t pos;
};
OBVIA_HAS_SIZE(struct IStubs_copy_out_request, 16);
OBVIA_LIES_AT(struct IStubs_copy_out_request, handle, 0);
OBVIA_LIES_AT(struct IStubs_copy_out_request, count, 4);
OBVIA_LIES_AT(struct IStubs_copy_out_request, room, 8);
OBVIA_LIES_AT(struct IStubs_copy_out_request, pos, 12);

struct IStubs_copy_out_reply {
    int32_t pos;
    int32_t data_size;
    uint64_t data;
};
OBVIA_HAS_SIZE(struct IStubs_copy_out_reply, 16);
OBVIA_LIES_AT(struct IStubs_copy_out_reply, pos, 0);
OBVIA_LIES_AT(struct IStubs_copy_out_reply, data_size, 4);
OBVIA_LIES_AT(struct IStubs_copy_out_reply, data, 8);

static OBVIA_COLD HRESULT IStubs_copy_out_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t count, int32_t room, int32_t *data_size, int32_t *data);

static HRESULT IStubs_copy_out_proxy(IStubs *self, int32_t handle, int32_t *pos, int32_t count, int32_t room, int32_t *data_size, int32_t *data)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_copy_out_prepare(self, handle, pos, count, room, data_size, data))
    const uint64_t data_count = (uint64_t)room;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_many(data_count);
    }
    struct IStubs_copy_out_request *request = (struct IStubs_copy_out_request *)calls->slot;
    OBVIA_STORE(int32_t, &request->handle, handle);
    OBVIA_STORE(int32_t, &request->count, count);
    OBVIA_STORE(int32_t, &request->room, room);
    OBVIA_STORE(int32_t, &request->pos, *pos);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(9, OBVIA_ALIGN(sizeof(struct IStubs_copy_out_request))), proxy->target);
    const struct IStubs_copy_out_reply *results = (const struct IStubs_copy_out_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) < OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t pos_value = OBVIA_LOAD(int32_t, &results->pos);
    const int32_t data_size_value = OBVIA_LOAD(int32_t, &results->data_size);
    const uint64_t data_used = (uint64_t)data_size_value;
    if (OBVIA_UNLIKELY(data_used > data_count)) {
        return RPC_E_INVALID_DATA;
    }
    const uint64_t data_from = OBVIA_ALIGN(sizeof(struct IStubs_copy_out_reply)) + 8;
    if (OBVIA_UNLIKELY(obvia_length(reply) != data_from + OBVIA_ALIGN(data_used * sizeof(int32_t)))) {
        return obvia_refusal(reply);
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->data, data_from, 16, data_used))) {
        return RPC_E_INVALID_DATA;
    }
    obvia_copy(data, OBVIA_AT(const int32_t *, results, data_from), data_used * sizeof(int32_t));
    *pos = pos_value;
    *data_size = data_size_value;
    return obvia_result(reply);
}

static HRESULT IStubs_copy_out_prepare(IStubs *self, int32_t handle, int32_t *pos, int32_t count, int32_t room, int32_t *data_size, int32_t *data)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_copy_out_proxy(self, handle, pos, count, room, data_size, data);
}

static obvia_answer IStubs_copy_out_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    const struct IStubs_copy_out_request *request = (const struct IStubs_copy_out_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t handle = OBVIA_LOAD(int32_t, &request->handle);
    const int32_t count = OBVIA_LOAD(int32_t, &request->count);
    const int32_t room = OBVIA_LOAD(int32_t, &request->room);
    const int32_t pos = OBVIA_LOAD(int32_t, &request->pos);
    const uint64_t data_count = (uint64_t)room;
    if (OBVIA_UNLIKELY(data_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_large(data_count);
    }
    const uint64_t data_to = OBVIA_ALIGN(sizeof(struct IStubs_copy_out_reply)) + 8;
    const uint64_t length = data_to + OBVIA_ALIGN(data_count * sizeof(int32_t));
    struct IStubs_copy_out_reply *results = (struct IStubs_copy_out_reply *)obvia_reply_place(call, length, data_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    results->pos = pos;
    const HRESULT result = (self->lpVtbl->copy_out)(self, handle, &results->pos, count, room, &results->data_size, OBVIA_AT(int32_t *, results, data_to));
    if (OBVIA_UNLIKELY(result < 0)) {
        return obvia_results(result, 0);
    }
    const uint64_t data_used = (uint64_t)results->data_size;
    if (OBVIA_UNLIKELY(data_used > data_count)) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t data_final = OBVIA_ALIGN(sizeof(struct IStubs_copy_out_reply)) + 8;
    obvia_move_array(results, &results->data, data_to, data_final, 16, data_used, data_used * sizeof(int32_t));
    return obvia_results(result, data_final + OBVIA_ALIGN(data_used * sizeof(int32_t)));
}

/* copy_both: opnum 10
 *   request  16 bytes: 0 ArraySize uint32_t, 8 pArray ->
 *   reply     8 bytes: 0 pArray ->
 */
struct IStubs_copy_both_request {
    uint32_t ArraySize;
    uint64_t pArray;
};
OBVIA_HAS_SIZE(struct IStubs_copy_both_request, 16);
OBVIA_LIES_AT(struct IStubs_copy_both_request, ArraySize, 0);
OBVIA_LIES_AT(struct IStubs_copy_both_request, pArray, 8);

struct IStubs_copy_both_reply {
    uint64_t pArray;
};
OBVIA_HAS_SIZE(struct IStubs_copy_both_reply, 8);
OBVIA_LIES_AT(struct IStubs_copy_both_reply, pArray, 0);

static OBVIA_COLD HRESULT IStubs_copy_both_prepare(IStubs *self, uint32_t ArraySize, uint32_t *pArray);

static HRESULT IStubs_copy_both_proxy(IStubs *self, uint32_t ArraySize, uint32_t *pArray)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IStubs_copy_both_prepare(self, ArraySize, pArray))
    const uint64_t pArray_count = (uint64_t)ArraySize;
    if (OBVIA_UNLIKELY(pArray_count > OBVIA_FRAME_MAX / sizeof(uint32_t))) {
        return obvia_too_many(pArray_count);
    }
    const uint64_t pArray_at = OBVIA_ALIGN(sizeof(struct IStubs_copy_both_request)) + 8;
    const uint64_t length = pArray_at + OBVIA_ALIGN(pArray_count * sizeof(uint32_t));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IStubs_copy_both_request *request = (struct IStubs_copy_both_request *)obvia_request_place(calls, length, pArray_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(uint32_t, &request->ArraySize, ArraySize);
    obvia_put_array(request, &request->pArray, pArray_at, 17, pArray_count, pArray_count * sizeof(uint32_t));
    obvia_copy(OBVIA_AT(uint32_t *, request, pArray_at), pArray, pArray_count * sizeof(uint32_t));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(10, length), proxy->target);
    const struct IStubs_copy_both_reply *results = (const struct IStubs_copy_both_reply *)reply.frame;
    const uint64_t pArray_from = OBVIA_ALIGN(sizeof(struct IStubs_copy_both_reply)) + 8;
    if (OBVIA_UNLIKELY(obvia_length(reply) != pArray_from + OBVIA_ALIGN(pArray_count * sizeof(uint32_t)))) {
        return obvia_refusal(reply);
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->pArray, pArray_from, 17, pArray_count))) {
        return RPC_E_INVALID_DATA;
    }
    obvia_copy(pArray, OBVIA_AT(const uint32_t *, results, pArray_from), pArray_count * sizeof(uint32_t));
    return obvia_result(reply);
}

static HRESULT IStubs_copy_both_prepare(IStubs *self, uint32_t ArraySize, uint32_t *pArray)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IStubs_copy_both_proxy(self, ArraySize, pArray);
}

static obvia_answer IStubs_copy_both_stub(void *object, obvia_call *call)
{
    IStubs *self = (IStubs *)object;
    const struct IStubs_copy_both_request *request = (const struct IStubs_copy_both_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t ArraySize = OBVIA_LOAD(uint32_t, &request->ArraySize);
    const uint64_t pArray_count = (uint64_t)ArraySize;
    if (OBVIA_UNLIKELY(pArray_count > OBVIA_FRAME_MAX / sizeof(uint32_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t pArray_at = OBVIA_ALIGN(sizeof(struct IStubs_copy_both_request)) + 8;
    if (OBVIA_UNLIKELY(call->length != pArray_at + OBVIA_ALIGN(pArray_count * sizeof(uint32_t)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->pArray, pArray_at, 17, pArray_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t pArray_to = OBVIA_ALIGN(sizeof(struct IStubs_copy_both_reply)) + 8;
    const uint64_t length = pArray_to + OBVIA_ALIGN(pArray_count * sizeof(uint32_t));
    struct IStubs_copy_both_reply *results = (struct IStubs_copy_both_reply *)obvia_reply_place(call, length, pArray_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    obvia_put_array(results, &results->pArray, pArray_to, 17, pArray_count, pArray_count * sizeof(uint32_t));
    obvia_copy(OBVIA_AT(uint32_t *, results, pArray_to), OBVIA_AT(const uint32_t *, request, pArray_at), pArray_count * sizeof(uint32_t));
    const HRESULT result = (self->lpVtbl->copy_both)(self, ArraySize, OBVIA_AT(uint32_t *, results, pArray_to));
    return obvia_results(result, length);
}

static const IStubsVtbl IStubs_proxies = {
    (HRESULT (*)(IStubs *, const IID *, void **))obvia_proxy_query_interface,
    (uint32_t (*)(IStubs *))obvia_proxy_add_ref,
    (uint32_t (*)(IStubs *))obvia_proxy_release,
    IStubs_null_proxy,
    IStubs_pfs_open_proxy,
    IStubs_pfs_write_by_reference_proxy,
    IStubs_pfs_get_direntries_proxy,
    IStubs_MoveData_by_reference_proxy,
    IStubs_copy_in_proxy,
    IStubs_copy_out_proxy,
    IStubs_copy_both_proxy
};

static obvia_stub *const IStubs_stubs[16] = {
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    IStubs_null_stub,
    IStubs_pfs_open_stub,
    IStubs_pfs_write_stub,
    IStubs_pfs_get_direntries_stub,
    IStubs_MoveData_stub,
    IStubs_copy_in_stub,
    IStubs_copy_out_stub,
    IStubs_copy_both_stub,
    IStubs_pfs_write_by_reference_stub,
    IStubs_MoveData_by_reference_stub,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse
};

static const int64_t IStubs_ndr[] = {
    1, 0, 4, 2, 0, 0, 8, 3, 1, 0, 0, 0, 0, 0, 4, 1, 16, 4, 0, 0, 0, 4, 0, 0,
    8, 0, 0, 12, 0, 0, 4, 1, 0, 0, 0, 0, 5, 1, 28, 5, 0, 0, 0, 24, 0, 0, 4, 0,
    0, 8, 0, 0, 16, 1, 1, 16, 1, 8, 4, 0, 4, 1, 0, 0, 0, 0, 6, 1, 12, 3, 0, 0,
    0, 8, 0, 0, 4, 0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 2, 16, 1, 4, 4, 0, 7, 1,
    16, 2, 0, 0, 0, 8, 1, 1, 17, 1, 0, 5, 0, 8, 1, 0, 1, 1, 17, 2, 0, 0, 1, 0,
    5, 8, 1, 28, 5, 0, 0, 0, 24, 0, 0, 4, 0, 0, 8, 0, 0, 16, 1, 1, 16, 1, 8, 4,
    0, 4, 1, 0, 0, 0, 0, 9, 1, 16, 4, 0, 0, 0, 12, 0, 0, 4, 0, 0, 8, 0, 0, 16,
    3, 0, 0, 0, 4, 0, 0, 8, 1, 1, 16, 2, 0, 1, 1, 4, 4, 1, 8, 4, 10, 1, 16, 2,
    0, 0, 0, 8, 1, 1, 17, 1, 0, 5, 0, 8, 1, 0, 1, 1, 17, 2, 0, 0, 1, 0, 5,
};

const obvia_interface IStubs_INFO = {
    sizeof(obvia_interface),
    "IStubs",
    {0x1f0c6a52, 0x8d1e, 0x4f0b, {0x9d, 0x43, 0x5a, 0x7b, 0xe0, 0xc1, 0xd9, 0xe5}},
    0,
    0,
    {0x39, 0x3b, 0xd6, 0x76, 0x0d, 0xef, 0x75, 0x9e, 0x9d, 0x91, 0x67, 0xa2, 0x63, 0xc1, 0x1b, 0xdb},
    NULL,
    &IStubs_proxies,
    IStubs_stubs,
    16,
    "[object, uuid(1f0c6a52-8d1e-4f0b-9d43-5a7be0c1d9e5), pointer_default(unique)]\n"
    "interface IStubs : IUnknown {\n"
    "    HRESULT null();\n"
    "    HRESULT pfs_open([in] long client, [in] long fobj, [in] long flags, [in] long mode, [out] long *handle);\n"
    "    HRESULT pfs_write([in] long handle, [in, out] long *pos, [in] long len, [in] long data_size, [in, zero_copy, size_is(data_size)] long *data);\n"
    "    HRESULT pfs_get_direntries([in] long handle, [in, out] long *pos, [in] long count, [out] long *data_size, [out, lend, size_is(, *data_size)] long **data);\n"
    "    HRESULT MoveData([in] unsigned long ArraySize, [in, out, zero_copy, size_is(ArraySize)] unsigned long *pArray);\n"
    "    HRESULT copy_in([in] long handle, [in, out] long *pos, [in] long len, [in] long data_size, [in, size_is(data_size)] long *data);\n"
    "    HRESULT copy_out([in] long handle, [in, out] long *pos, [in] long count, [in] long room, [out] long *data_size, [out, size_is(room), length_is(*data_size)] long *data);\n"
    "    HRESULT copy_both([in] unsigned long ArraySize, [in, out, size_is(ArraySize)] unsigned long *pArray);\n"
    "}\n",
    IStubs_ndr,
    sizeof(IStubs_ndr) / sizeof *IStubs_ndr,
    obvia_module,
    0,
    NULL
};

static const obvia_meaning obvia_meanings[] = {
    {"IStubs", {0x1f0c6a52, 0x8d1e, 0x4f0b, {0x9d, 0x43, 0x5a, 0x7b, 0xe0, 0xc1, 0xd9, 0xe5}}, {0x39, 0x3b, 0xd6, 0x76, 0x0d, 0xef, 0x75, 0x9e, 0x9d, 0x91, 0x67, 0xa2, 0x63, 0xc1, 0x1b, 0xdb}},
};

static __attribute__((constructor(101))) void obvia_declare_file(void)
{
    obvia_declare("icount.idl", obvia_meanings, sizeof obvia_meanings / sizeof *obvia_meanings);
}
