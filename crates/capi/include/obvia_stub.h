/* What the stubs that obvia's compiler writes are made with. Not for other code: it changes with the compiler.
 *
 * A proxy writes its arguments where the peer reads them: into the slot of the next message, or an area. A stub reads each
 * word of a request once, since the caller may change it at any time, and checks it before use.
 */
#ifndef OBVIA_STUB_H
#define OBVIA_STUB_H

#include "obvia.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OBVIA_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define OBVIA_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define OBVIA_COLD __attribute__((cold, noinline))
/* A function of the library that is called without a detour through the linker's table. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define OBVIA_HOT __attribute__((noplt))
#endif
#endif
#ifndef OBVIA_HOT
#define OBVIA_HOT
#endif

/* Bytes of frame that a slot holds. */
#define OBVIA_INLINE_MAX 112
/* The longest frame. */
#define OBVIA_FRAME_MAX 0x7fffffffu
/* Rounds up to where an object may begin. */
#define OBVIA_ALIGN(length) (((length) + 7u) & ~(size_t)7)
/* Loads a value from a peer's memory, once. */
#define OBVIA_LOAD(type, address) (*(const volatile type *)(address))
/* Stores a value where a peer reads it; one by one, which takes fewer instructions than gathering them in wide registers. */
#define OBVIA_STORE(type, address, value) ((void)(*(volatile type *)(address) = (value)))
/* A pointer to what lies at an offset of a frame. */
#define OBVIA_AT(pointer, frame, at) ((pointer)((const unsigned char *)(frame) + (at)))

/* ---- Frames ---- */

/* Eight bytes of a frame, whatever else they are part of. */
typedef uint64_t __attribute__((may_alias)) obvia_word;

/* Copies to or from a peer's memory. What is copied is not looked at there again: the compiler cannot know that the peer did
 * not change it. */
static inline void obvia_copy(void *to, const void *from, uint64_t bytes)
{
    if (bytes != 0) {
        memcpy(to, from, (size_t)bytes);
    }
    __asm__ __volatile__("" : : "r"(to) : "memory");
}

/* Whether an array lies where it has to, and is what it has to be: its slot, and the header before its elements. */
static inline int obvia_is_array(const void *frame, const uint64_t *slot, uint64_t at, uint32_t kind, uint64_t count)
{
    return OBVIA_LOAD(uint64_t, slot) == at && OBVIA_LOAD(uint64_t, OBVIA_AT(const uint64_t *, frame, at - 8)) == (kind | count << 32);
}

/* Writes the slot and the header of an array, and zeros where its elements leave a rest; they are to be written then. */
static inline void obvia_put_array(void *frame, uint64_t *slot, uint64_t at, uint32_t kind, uint64_t count, uint64_t bytes)
{
    /* Where there are no elements this is the header. */
    *OBVIA_AT(obvia_word *, frame, at + OBVIA_ALIGN(bytes) - 8) = 0;
    *OBVIA_AT(obvia_word *, frame, at - 8) = kind | count << 32;
    *slot = at;
}

/* Moves the elements of an array to where it belongs, and writes what obvia_put_array() writes. */
static inline void obvia_move_array(void *frame, uint64_t *slot, uint64_t from, uint64_t at, uint32_t kind, uint64_t count,
                                    uint64_t bytes)
{
    if (at != from) {
        memmove(OBVIA_AT(void *, frame, at), OBVIA_AT(const void *, frame, from), (size_t)bytes);
    }
    if (bytes % 8 != 0) {
        *OBVIA_AT(obvia_word *, frame, at + bytes / 8 * 8) &= ((uint64_t)1 << bytes % 8 * 8) - 1;
    }
    *OBVIA_AT(obvia_word *, frame, at - 8) = kind | count << 32;
    *slot = at;
}

/* ---- Strings. Without one there are no characters; with one there is its zero at least. ---- */

static inline uint64_t obvia_text8(const void *text)
{
    return text != NULL ? strlen((const char *)text) + 1 : 0;
}

static inline uint64_t obvia_text16(const obvia_wchar *text)
{
    uint64_t count = 0;
    if (text != NULL) {
        while (text[count++] != 0) {
        }
    }
    return count;
}

/* Where a string's object ends, if there is one. */
static inline uint64_t obvia_text_end(uint64_t at, uint64_t bytes)
{
    return bytes != 0 ? at + OBVIA_ALIGN(bytes) : at - 8;
}

/* Writes a string, and its slot. */
static inline void obvia_put_text(void *frame, uint64_t *slot, uint64_t at, uint32_t kind, const void *text, uint64_t count,
                                  uint64_t bytes)
{
    if (count == 0) {
        *slot = 0;
        return;
    }
    obvia_put_array(frame, slot, at, kind, count, bytes);
    memcpy(OBVIA_AT(void *, frame, at), text, (size_t)bytes);
}

/* How many characters of `size` bytes a string has that came in a frame of `length` bytes; UINT64_MAX where it is none. */
static inline uint64_t obvia_text_count(const void *frame, uint64_t length, const uint64_t *slot, uint64_t at, uint32_t kind,
                                        size_t size)
{
    const uint64_t place = OBVIA_LOAD(uint64_t, slot);
    if (place == 0) {
        return 0;
    }
    if (place != at || at > length) {
        return UINT64_MAX;
    }
    const uint64_t header = OBVIA_LOAD(uint64_t, OBVIA_AT(const uint64_t *, frame, at - 8));
    const uint64_t count = header >> 32;
    return (uint32_t)header == kind && count != 0 && count * size <= length - at ? count : UINT64_MAX;
}

/* A string in memory of its own: in `small`, which has OBVIA_INLINE_MAX bytes, or allocated. NULL where there is none, or no
 * memory. */
static inline const void *obvia_take_text(void *small, const void *frame, uint64_t at, uint64_t bytes)
{
    void *own = small;
    if (bytes == 0) {
        return NULL;
    }
    if (bytes > OBVIA_INLINE_MAX) {
        own = malloc((size_t)bytes);
        if (own == NULL) {
            return NULL;
        }
    }
    obvia_copy(own, OBVIA_AT(const void *, frame, at), bytes);
    return own;
}

/* A string in memory that the caller frees. NULL where there is none, or no memory. */
static inline void *obvia_receive_text(const void *frame, uint64_t at, uint64_t bytes)
{
    void *own = bytes != 0 ? malloc((size_t)bytes) : NULL;
    if (own != NULL) {
        obvia_copy(own, OBVIA_AT(const void *, frame, at), bytes);
    }
    return own;
}

static inline void obvia_drop_text(const void *own, const void *small)
{
    if (own != small) {
        free((void *)own);
    }
}

/* ---- Counts: checked arithmetic in 64 bits. `wrong` is set where there is no result. ---- */

static inline int64_t obvia_add(int64_t left, int64_t right, int *wrong)
{
    int64_t sum;
    *wrong |= __builtin_add_overflow(left, right, &sum);
    return sum;
}

static inline int64_t obvia_subtract(int64_t left, int64_t right, int *wrong)
{
    int64_t difference;
    *wrong |= __builtin_sub_overflow(left, right, &difference);
    return difference;
}

static inline int64_t obvia_multiply(int64_t left, int64_t right, int *wrong)
{
    int64_t product;
    *wrong |= __builtin_mul_overflow(left, right, &product);
    return product;
}

static inline int64_t obvia_divide(int64_t left, int64_t right, int *wrong)
{
    if (right == 0 || (right == -1 && left == INT64_MIN)) {
        *wrong = 1;
        return 0;
    }
    return left / right;
}

static inline int64_t obvia_remainder(int64_t left, int64_t right, int *wrong)
{
    if (right == 0 || (right == -1 && left == INT64_MIN)) {
        *wrong = 1;
        return 0;
    }
    return left % right;
}

static inline int64_t obvia_shift_left(int64_t left, int64_t right, int *wrong)
{
    *wrong |= right < 0 || right > 63;
    return (int64_t)((uint64_t)left << (right & 63));
}

static inline int64_t obvia_shift_right(int64_t left, int64_t right, int *wrong)
{
    *wrong |= right < 0 || right > 63;
    return left >> (right & 63);
}

static inline int64_t obvia_signed(uint64_t value, int *wrong)
{
    *wrong |= value > INT64_MAX;
    return (int64_t)value;
}

/* A number of elements. What is none is more than any frame holds. */
static inline uint64_t obvia_count(int64_t value, const int *wrong)
{
    return *wrong ? UINT64_MAX : (uint64_t)value;
}

/* ---- Regions: memory that is passed by reference ---- */

/* The region that was used last for one of a method's arrays. While its length is 0 nothing lies in it. */
typedef struct obvia_region {
    uintptr_t base;
    uint64_t length;
    /* What an offset becomes a reference by: the region's number in the upper 16 bits, never 0. */
    uint64_t tag;
} obvia_region;

/* The same of a peer's. While its length is 0 nothing lies in it but what has no bytes. */
typedef struct obvia_peer_region {
    /* What is added to a reference. */
    uint64_t bias;
    uint64_t length;
    /* The reference to its end. */
    uint64_t end;
} obvia_peer_region;

/* How many there are for arrays that methods read; behind them are as many for arrays that methods write. */
#define OBVIA_HANDS 4

/* Makes a reference of an address, if that lies in the region. */
static inline int obvia_refer(const obvia_region *region, const void *address, uint64_t *reference)
{
    const uint64_t offset = (uintptr_t)address - region->base;
    *reference = offset + region->tag;
    return offset < region->length;
}

/* Whether an array that came as a reference lies in this region, whole and aligned. */
static inline int obvia_is_in(const obvia_peer_region *region, uint64_t reference, uint64_t count, size_t size, size_t align)
{
    /* What the region has from there on; more than it has where the reference is to another one. */
    const uint64_t left = region->end - reference;
    return left <= region->length && count <= left / size && reference % align == 0;
}

/* Its address. */
static inline void *obvia_resolve(const obvia_peer_region *region, uint64_t reference)
{
    return (void *)(uintptr_t)(region->bias + reference);
}

/* ---- The client's side ---- */

/* What every proxy begins with. */
typedef struct obvia_proxy {
    const void *vtable;
    uintptr_t link;
    uint64_t target;
} obvia_proxy;

/* What is at hand for the calls of a thread: the link that they go over, and the slot of the next request. */
typedef struct obvia_calls {
    uintptr_t link;
    void *slot;
    obvia_region regions[2 * OBVIA_HANDS];
} obvia_calls;

/* A reply. */
typedef struct obvia_reply {
    /* The results, in the peer's memory, until the next call of the thread. */
    const void *frame;
    /* The HRESULT below, the length of the frame above. A call that failed on its way has a frame of length 0. */
    uint64_t word;
} obvia_reply;

/* The thread's own; one that no link has, until the first call. */
static const obvia_calls obvia_no_calls = {0, NULL, {{0, 0, 0}}};
static __thread const obvia_calls *obvia_calls_at_hand __attribute__((unused)) = &obvia_no_calls;

/* Puts a channel of the proxy's link at hand: where it succeeds, that link is the calls'. */
HRESULT obvia_prepare(const obvia_proxy *proxy, const obvia_calls **calls);
/* The place for a request's frame that does not fit a slot; NULL where there is none, and obvia_refusal() says why. `bulk` is
 * the offset of what there is most of. */
void *obvia_request(const obvia_calls *calls, size_t length, size_t bulk);
/* The same for a frame that may fit a slot. */
static inline void *obvia_request_place(const obvia_calls *calls, uint64_t length, uint64_t bulk)
{
    return OBVIA_LIKELY(length <= OBVIA_INLINE_MAX) ? calls->slot : obvia_request(calls, (size_t)length, (size_t)bulk);
}
/* A request: the opnum below, the length of its frame above, a multiple of 8. */
#define OBVIA_REQUEST(opnum, length) ((uint64_t)(opnum) | (uint64_t)(length) << 32)
/* Publishes a request and waits for its reply. This is the hand-over to the transport. */
OBVIA_HOT obvia_reply obvia_exchange(const obvia_calls *calls, uint64_t request, uint64_t target);
/* Publishes a request that has no reply. */
void obvia_send(const obvia_calls *calls, uint64_t request, uint64_t target);
/* Takes the region that an address lies in in hand for an array, and lets the peer have it. 0 where the array has to be copied,
 * or the region is in hand already. */
int obvia_turn(const obvia_calls *calls, unsigned region, const void *address);
/* Whether arrays could be passed by reference over this link at all. */
int obvia_shares_memory(const obvia_calls *calls);
/* What a caller gets whose array does not lie in memory of obvia_share(), though it has to. */
HRESULT obvia_not_shared(void);
/* The HRESULT of a reply whose frame is not as long as the results are. */
HRESULT obvia_refusal(obvia_reply reply);

/* Why there is no place for a request. */
static inline HRESULT obvia_no_request(void)
{
    const obvia_reply none = {NULL, 0};
    return obvia_refusal(none);
}

/* What a caller gets that asks for more elements than any frame holds, or fewer than none. */
static inline HRESULT obvia_too_many(uint64_t count)
{
    return count > INT64_MAX ? E_INVALIDARG : E_OUTOFMEMORY;
}

/* The first three methods of every proxy. */
HRESULT obvia_proxy_query_interface(void *self, const IID *iid, void **object);
uint32_t obvia_proxy_add_ref(void *self);
uint32_t obvia_proxy_release(void *self);

/* The calls at hand, if they go over the proxy's link; otherwise the proxy returns what `prepared` is: a call of a function
 * that puts the link's calls at hand, and begins anew. So what is common needs no register to survive what is rare. */
#define OBVIA_BEGIN(proxy, calls, prepared)                     \
    const obvia_calls *calls = obvia_calls_at_hand;             \
    if (OBVIA_UNLIKELY(calls->link != (proxy)->link)) {         \
        return prepared;                                        \
    }

static inline HRESULT obvia_result(obvia_reply reply)
{
    return (HRESULT)(uint32_t)reply.word;
}

static inline uint64_t obvia_length(obvia_reply reply)
{
    return reply.word >> 32;
}

/* ---- The server's side ---- */

/* A call. */
typedef struct obvia_call {
    /* The arguments, in the caller's memory. */
    const void *frame;
    uint64_t length;
    /* The place for results that fit a slot. Its first eight bytes are zeros. */
    void *slot;
    /* Whom it is for, and which method. */
    uint64_t target;
    uint16_t opnum;
    /* Whether the results' frame lies in the area, although it may fit the slot. */
    uint8_t in_area;
    uint32_t id;
    const struct obvia_area *area;
    const obvia_peer_region *regions;
} obvia_call;

/* Where frames that do not fit a slot go. */
struct obvia_area {
    /* The place for the next one, and the end of what is free behind it. */
    unsigned char *next, *end;
};

/* What the caller gets: the HRESULT below, the length of the results' frame above. Of a method that failed it is negative. */
typedef uint64_t obvia_answer;

/* A stub: reads and checks the request, calls the method, writes the results. */
typedef obvia_answer obvia_stub(void *object, obvia_call *call);

/* The answer to a request that is not as the interface says; the method was not called. */
#define OBVIA_FAULT(status) ((obvia_answer)(status) | (obvia_answer)1 << 63)
#define OBVIA_BAD_STUB_DATA OBVIA_FAULT(1783)
#define OBVIA_OP_RANGE_ERROR OBVIA_FAULT(0x1c010002)
#define OBVIA_NO_MEMORY OBVIA_FAULT(0x1c00001b)

/* The place for a reply's frame that may not fit a slot; NULL where the caller is gone or bears no frame of that length. */
void *obvia_reply_frame(obvia_call *call, size_t length, size_t bulk);
/* The same, and NULL where no frame has that length. */
static inline void *obvia_reply_place(obvia_call *call, uint64_t length, uint64_t bulk)
{
    if (OBVIA_LIKELY(length <= OBVIA_INLINE_MAX)) {
        return call->slot;
    }
    return length <= OBVIA_FRAME_MAX ? obvia_reply_frame(call, (size_t)length, (size_t)bulk) : NULL;
}
/* Takes the region that a reference is to in hand for an array. 0 where there is no such region, or it is in hand already. */
int obvia_turn_call(obvia_call *call, unsigned region, uint64_t reference);
/* Makes room for so many bytes where call->area->next is. 0 where the caller is gone or bears no frame of that length. */
int obvia_make_room(obvia_call *call, size_t length);
/* Whether there is room for so many bytes. */
static inline int obvia_has_room(const obvia_call *call, size_t length)
{
    return (uintptr_t)call->area->next + length <= (uintptr_t)call->area->end;
}
/* The method has used the states whose handles it got, which other calls may have ended meanwhile. */
void obvia_context_used(void);
/* What opnums get that are no method's. */
obvia_answer obvia_refuse(void *object, obvia_call *call);

/* The answer to who wants room for more elements than any frame holds, or for fewer than none. */
static inline obvia_answer obvia_too_large(uint64_t count)
{
    return count > INT64_MAX ? OBVIA_BAD_STUB_DATA : OBVIA_NO_MEMORY;
}

/* Private memory for arguments and results, zeroed; to be freed. */
static inline void *obvia_room(uint64_t bytes)
{
    return calloc(1, bytes != 0 ? (size_t)bytes : 1);
}

/* The method's HRESULT, and results of `length` bytes; where it failed, nobody gets them. */
static inline obvia_answer obvia_results(HRESULT result, size_t length)
{
    return (uint64_t)(int64_t)result | (uint64_t)OBVIA_ALIGN(length) << 32;
}

/* The answer with an array that a method lends from memory of its own: it is copied to where it belongs, at `end`. */
obvia_answer obvia_lend(obvia_call *call, HRESULT result, const void *results, uint64_t end, const void *array, uint64_t count,
                        size_t size);
/* The answer with an array that lies where the results end. */
static inline obvia_answer obvia_lent(HRESULT result, uint64_t length)
{
    return (uint64_t)(int64_t)result | length << 32;
}

/* ---- Interfaces ---- */

/* What an IID means in a file: an interface, and its fingerprint as below. */
typedef struct obvia_meaning {
    const char *name;
    IID iid;
    uint8_t fingerprint[16];
} obvia_meaning;

/* Is called for each file when its stubs are loaded, and ends the program where an IID has another meaning in another file: one interface's methods
 * would be taken for the other's. */
void obvia_declare(const char *file, const obvia_meaning *meanings, size_t count);

struct obvia_interface {
    /* sizeof(obvia_interface) where the stubs were compiled. */
    size_t size;
    const char *name;
    IID iid;
    uint16_t major, minor;
    /* The first 16 bytes of SHA-256 over the canonical text, the last one first. */
    uint8_t fingerprint[16];
    /* The interface that it extends; NULL for IUnknown. */
    const obvia_interface *base;
    /* The methods of its proxies: functions, the first three of which are the ones above. */
    const void *proxy;
    /* Its stubs by opnum: `stub_count` of them, a power of two; those that are no method's refuse. */
    obvia_stub *const *stubs;
    size_t stub_count;
    /* Its text in IDL. */
    const char *idl;
    /* What its messages are in NDR: `ndr_count` words. */
    const int64_t *ndr;
    size_t ndr_count;
    /* Every interface of the same file and of those that it imports; ends in NULL. */
    const obvia_interface *const *module;
    /* Whether it is one of functions, without objects. */
    int plain;
    /* Where its servers are found if nobody says otherwise; ends in NULL. NULL for nowhere. */
    const char *const *endpoints;
};

#ifdef __cplusplus
}
#endif

#endif
