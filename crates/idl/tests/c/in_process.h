/* A substitute for libobvia: passes a proxy's request to the stub in the same process. Each frame
 * is in memory of exactly its length, and may be changed in transit as by a hostile peer. */
#ifndef IN_PROCESS_H
#define IN_PROCESS_H

#include "obvia_table.h"

#include <stdio.h>

/* The frame to change, and the change that a hostile peer would make to it. */
enum side { NEITHER, REQUEST, REPLY };
struct tampering {
    enum side side;
    /* The reported length, or KEEP. */
    size_t length;
    /* The offset of a byte, and the number to add to it. */
    size_t at;
    int delta;
};
#define KEEP ((size_t)-1)

/* A frame before its change. */
struct seen {
    size_t length;
    unsigned char bytes[1024];
};

/* Writes a forged reply and returns its length. NULL if the true reply is passed on. */
static size_t (*forge)(unsigned char *frame);
/* The HRESULT of a forged reply. With S_OK the reply has the HRESULT of the method. */
static HRESULT forged_result = S_OK;
/* The change to the next call. */
static struct tampering tampering = {NEITHER, KEEP, 0, 0};
/* The length of the longest frame that fits into each side's area. */
static size_t client_room = 1024, server_room = 1024;
/* The number of sent requests, and the last request and reply. */
static int sent;
static struct seen last_request, last_reply;
/* The object that receives the calls, and its interface. */
static void *served_object;
static const obvia_interface *served_interface;

static unsigned char *client_slot, *client_area, *server_slot, *server_area, *reply_memory;
static obvia_calls the_calls;

static inline void fail(const char *what, int line)
{
    fprintf(stderr, "line %d: %s\n", line, what);
    exit(1);
}
#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

HRESULT obvia_prepare(const obvia_proxy *proxy, const obvia_calls **calls)
{
    if (client_slot == NULL) {
        client_slot = (unsigned char *)malloc(OBVIA_INLINE_MAX);
        server_slot = (unsigned char *)malloc(OBVIA_INLINE_MAX);
    }
    the_calls.link = proxy->link;
    the_calls.slot = client_slot;
    *calls = &the_calls;
    return S_OK;
}

void *obvia_request(const obvia_calls *calls, size_t length, size_t bulk)
{
    (void)calls;
    CHECK(length > OBVIA_INLINE_MAX && length <= OBVIA_FRAME_MAX && length % 8 == 0 && bulk % 8 == 0);
    if (length > client_room) {
        return NULL;
    }
    free(client_area);
    client_area = (unsigned char *)malloc(length);
    memset(client_area, 0xee, length);
    return client_area;
}

void *obvia_reply_frame(obvia_call *call, size_t length, size_t bulk)
{
    (void)call;
    CHECK(length <= OBVIA_FRAME_MAX && length % 8 == 0 && bulk % 8 == 0);
    if (length > server_room) {
        return NULL;
    }
    free(server_area);
    server_area = (unsigned char *)malloc(length);
    memset(server_area, 0xee, length);
    return server_area;
}

/* Returns a copy of a frame in memory of its own. If the frame is the one to change, the copy
 * contains the change. */
static inline unsigned char *arrive(const unsigned char *frame, size_t *length, enum side side, struct seen *seen)
{
    CHECK(*length % 8 == 0 && *length <= sizeof seen->bytes);
    seen->length = *length;
    if (*length != 0) {
        memcpy(seen->bytes, frame, *length);
    }
    size_t told = tampering.side == side && tampering.length != KEEP ? tampering.length : *length;
    unsigned char *copy = (unsigned char *)calloc(1, told != 0 ? told : 1);
    memcpy(copy, seen->bytes, told < *length ? told : *length);
    if (tampering.side == side && tampering.at < told) {
        copy[tampering.at] = (unsigned char)(copy[tampering.at] + tampering.delta);
    }
    *length = told;
    return copy;
}

/* Returns a call of one method of the object. */
static inline obvia_call call_of(const void *frame, size_t length, void *slot, uint16_t opnum)
{
    obvia_call call;
    memset(&call, 0, sizeof call);
    call.frame = frame;
    call.length = length;
    call.slot = slot;
    call.target = 7;
    call.opnum = opnum;
    return call;
}

/* Whether an answer reports a failed method by its HRESULT, and not a fault. */
static inline int has_failed(obvia_answer answer)
{
    return answer >> 32 == UINT32_MAX;
}

static inline obvia_answer serve(const obvia_calls *calls, uint32_t opnum, size_t length)
{
    sent++;
    CHECK(calls->slot == client_slot);
    free(server_area);
    server_area = NULL;
    unsigned char *frame = arrive(length <= OBVIA_INLINE_MAX ? client_slot : client_area, &length, REQUEST, &last_request);
    memset(client_slot, 0xee, OBVIA_INLINE_MAX);
    memset(server_slot, 0xee, OBVIA_INLINE_MAX);
    /* The slot begins with 8 zero bytes, as obvia_stub.h requires. */
    memset(server_slot, 0, 8);
    obvia_call call = call_of(frame, length, server_slot, (uint16_t)opnum);
    CHECK((served_interface->stub_count & (served_interface->stub_count - 1)) == 0);
    obvia_answer answer = served_interface->stubs[opnum & (served_interface->stub_count - 1)](served_object, &call);
    free(frame);
    return answer;
}

void obvia_declare_interfaces(const char *file, const obvia_declared_interface *meanings, size_t count)
{
    /* Each IID has a single meaning in this program. */
    CHECK(file != NULL && meanings != NULL && count > 0);
}

obvia_reply obvia_exchange(const obvia_calls *calls, uint64_t request, uint64_t target)
{
    const uint32_t opnum = (uint32_t)request;
    const size_t length = (size_t)(request >> 32);
    CHECK(target == 7);
    obvia_answer answer = serve(calls, opnum, length);
    free(reply_memory);
    reply_memory = NULL;
    obvia_reply reply = {NULL, (uint32_t)answer};
    if (answer >> 63 && !has_failed(answer)) {
        reply.word = (uint32_t)RPC_E_SERVERFAULT;
        return reply;
    }
    size_t results = (size_t)(answer >> 32);
    if ((int32_t)answer < 0) {
        /* The transport sends no results of a failed method. */
        results = 0;
    }
    unsigned char forged[sizeof last_reply.bytes];
    if (forge != NULL) {
        free(server_area);
        results = forge(forged);
        server_area = (unsigned char *)malloc(results);
        memcpy(server_area, forged, results);
    }
    reply_memory = arrive(server_area != NULL ? server_area : server_slot, &results, REPLY, &last_reply);
    reply.frame = reply_memory;
    if (forged_result != S_OK) {
        reply.word = (uint32_t)forged_result;
    }
    reply.word |= (uint64_t)results << 32;
    return reply;
}

void obvia_send(const obvia_calls *calls, uint64_t request, uint64_t target)
{
    const uint32_t opnum = (uint32_t)request;
    const size_t length = (size_t)(request >> 32);
    CHECK(target == 7);
    obvia_answer answer = serve(calls, opnum, length);
    CHECK(answer >> 32 == 0 || has_failed(answer) || tampering.side == REQUEST);
}

HRESULT obvia_fail(HRESULT result, const char *text)
{
    CHECK(strstr(text, "string") != NULL);
    return result;
}

HRESULT obvia_fail_plain(HRESULT result)
{
    return result;
}

HRESULT obvia_refusal(obvia_reply reply)
{
    HRESULT result = obvia_result(reply);
    return result < 0 && obvia_length(reply) == 0 ? result : reply.frame == NULL ? E_OUTOFMEMORY : RPC_E_INVALID_DATA;
}

obvia_answer obvia_refuse(void *object, obvia_call *call)
{
    (void)object;
    (void)call;
    return OBVIA_OP_RANGE_ERROR;
}

HRESULT obvia_proxy_query_interface(void *self, const IID *iid, void **object)
{
    (void)self;
    (void)iid;
    *object = NULL;
    return E_NOINTERFACE;
}

uint32_t obvia_proxy_add_ref(void *self)
{
    (void)self;
    return 1;
}

uint32_t obvia_proxy_release(void *self)
{
    (void)self;
    return 1;
}

/* Structures with pointers are not passed here. */
void obvia_free_elements(obvia_types *types, uint32_t type, void *first, size_t count)
{
    (void)types;
    (void)type;
    (void)count;
    CHECK(first == NULL);
}

void obvia_clear_elements(obvia_types *types, uint32_t type, void *first, size_t count, size_t bytes)
{
    (void)bytes;
    obvia_free_elements(types, type, first, count);
}

HRESULT obvia_copy_elements(obvia_types *types, uint32_t type, const void *first, size_t count, void **copy)
{
    (void)copy;
    obvia_free_elements(types, type, (void *)first, count);
    return E_NOTIMPL;
}

#endif
