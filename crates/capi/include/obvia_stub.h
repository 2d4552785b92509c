/* The runtime of generated stubs. Not for other code: it changes with the compiler.
 *
 * A proxy writes its arguments where the peer reads them: into the slot of the next message, or
 * into an area. A stub reads each word of a request once, and checks the word before it uses it,
 * since the caller may change the request at any time.
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
/* Marks a library function that is called directly instead of through the linker's table. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define OBVIA_HOT __attribute__((noplt))
#endif
#endif
#ifndef OBVIA_HOT
#define OBVIA_HOT
#endif

/* The capacity of a slot for a frame, in bytes. */
#define OBVIA_INLINE_MAX 112
/* The maximum length of a frame in bytes. */
#define OBVIA_FRAME_MAX 0x7fffffffu
/* Rounds up to the alignment of objects. */
#define OBVIA_ALIGN(length) (((length) + 7u) & ~(size_t)7)
/* Loads a value from the peer's memory, once. */
#define OBVIA_LOAD(type, address) (*(const volatile type *)(address))
/* Stores a value that the peer reads. The store is volatile, so that the compiler does not gather
 * several values in a wide register, which would take more instructions. */
#define OBVIA_STORE(type, address, value) ((void)(*(volatile type *)(address) = (value)))
/* A pointer of type `pointer` to the byte at offset `at` of a frame. */
#define OBVIA_AT(pointer, frame, at) ((pointer)((const unsigned char *)(frame) + (at)))

/* ---- Frames ---- */

/* Eight bytes of a frame, which may alias values of other types. */
typedef uint64_t __attribute__((may_alias)) obvia_word;

/* Copies to or from the peer's memory. Because of the barrier, the compiler does not assume that
 * the copy equals the source, which the peer can change at any time. */
static inline void obvia_copy(void *to, const void *from, uint64_t bytes)
{
    if (bytes != 0) {
        memcpy(to, from, (size_t)bytes);
    }
    __asm__ __volatile__("" : : "r"(to) : "memory");
}

/* Whether an array's slot holds the offset `at`, and the array's header holds the type `kind` and
 * the number of elements `count`. */
static inline int obvia_is_array(const void *frame, const uint64_t *slot, uint64_t at, uint32_t kind, uint64_t count)
{
    return OBVIA_LOAD(uint64_t, slot) == at && OBVIA_LOAD(uint64_t, OBVIA_AT(const uint64_t *, frame, at - 8)) == (kind | count << 32);
}

/* Writes the slot and the header of an array, and zeros as padding. The caller writes the elements
 * afterwards. */
static inline void obvia_put_array(void *frame, uint64_t *slot, uint64_t at, uint32_t kind, uint64_t count, uint64_t bytes)
{
    /* The last eight bytes of the array contain the padding. If the array is empty, these bytes are
     * its header, which the next line writes. */
    *OBVIA_AT(obvia_word *, frame, at + OBVIA_ALIGN(bytes) - 8) = 0;
    *OBVIA_AT(obvia_word *, frame, at - 8) = kind | count << 32;
    *slot = at;
}

/* Moves the elements of an array into place, and writes its slot, header and padding. */
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

/* ---- Strings: a NULL string has no characters; any other string has at least its NUL. ---- */

static inline uint64_t obvia_text8(const void *text)
{
    return text != NULL ? strlen((const char *)text) + 1 : 0;
}

/* A character of a string of 16-bit units, which are `obvia_wchar` or `uint16_t`. */
typedef uint16_t __attribute__((may_alias)) obvia_unit;

static inline uint64_t obvia_text16(const void *text)
{
    const obvia_unit *const units = (const obvia_unit *)text;
    uint64_t count = 0;
    if (units != NULL) {
        while (units[count++] != 0) {
        }
    }
    return count;
}

/* Whether a received string of `count` characters ends with a NUL and contains no other NUL.
 * Languages would disagree about the end of any other string. A NULL string has no characters. */
static inline int obvia_is_text8(const void *text, uint64_t count)
{
    return count == 0 || memchr(text, 0, (size_t)count) == (const char *)text + (count - 1);
}

static inline int obvia_is_text16(const void *text, uint64_t count)
{
    const obvia_unit *const units = (const obvia_unit *)text;
    uint64_t at = 0;
    while (at < count && units[at] != 0) {
        at++;
    }
    return count == 0 || at == count - 1;
}

/* Whether a string that a method has written to the caller's array of `count` characters ends within
 * the array. */
static inline int obvia_is_ended8(const void *text, uint64_t count)
{
    return count == 0 || memchr(text, 0, (size_t)count) != NULL;
}

static inline int obvia_is_ended16(const void *text, uint64_t count)
{
    const obvia_unit *const units = (const obvia_unit *)text;
    uint64_t at = 0;
    while (at < count && units[at] != 0) {
        at++;
    }
    return count == 0 || at < count;
}

/* Returns the end of a string's object whose characters would begin at `at`. A NULL string has no
 * header either, so its end is 8 bytes before `at`. */
static inline uint64_t obvia_text_end(uint64_t at, uint64_t bytes)
{
    return bytes != 0 ? at + OBVIA_ALIGN(bytes) : at - 8;
}

/* Writes a string and its slot. */
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

/* Returns the number of characters in a string of a frame; UINT64_MAX if the string is malformed. A
 * character has `size` bytes, and the frame has `length` bytes. */
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

/* Copies a string to private memory: to `small`, which has OBVIA_INLINE_MAX bytes, or to allocated
 * memory. Returns NULL if the string is NULL, or if there is no memory. */
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

/* Copies a string to memory that the caller frees. Returns NULL if the string is NULL, or if there
 * is no memory. */
static inline void *obvia_receive_text(const void *frame, uint64_t at, uint64_t bytes)
{
    void *own = bytes != 0 ? malloc((size_t)bytes) : NULL;
    if (own != NULL) {
        obvia_copy(own, OBVIA_AT(const void *, frame, at), bytes);
    }
    return own;
}

/* Whether a string is NULL or valid UTF-8. */
int obvia_is_utf8(const char *text);

static inline void obvia_drop_text(const void *own, const void *small)
{
    if (own != small) {
        free((void *)own);
    }
}

/* ---- Counts of elements: checked 64-bit arithmetic; undefined results set `*wrong`. ---- */

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

/* Returns the computed number of elements. If `*wrong` is set, returns a number that exceeds any
 * frame. */
static inline uint64_t obvia_count(int64_t value, const int *wrong)
{
    return *wrong ? UINT64_MAX : (uint64_t)value;
}

/* ---- Regions: memory that is passed by reference ---- */

/* The region that was used last for one of a method's arrays; length 0 means no region. */
typedef struct obvia_region {
    uintptr_t base;
    uint64_t length;
    /* The addend that turns an offset into a reference: the region's number, which is never 0, in
     * the upper 16 bits. */
    uint64_t tag;
} obvia_region;

/* The peer's region that was used last for one of a method's arrays. Length 0 means no region, and
 * then only empty arrays count as in the region. */
typedef struct obvia_peer_region {
    /* The addend that turns a reference into an address. */
    uint64_t bias;
    uint64_t length;
    /* The reference to the region's end. */
    uint64_t end;
} obvia_peer_region;

/* The number of cached regions for the arrays that methods read. The same number of regions for the
 * arrays that methods write follows. */
#define OBVIA_REGION_CACHES 4

/* Converts an address to a reference. Returns whether the address lies in the region. */
static inline int obvia_refer(const obvia_region *region, const void *address, uint64_t *reference)
{
    const uint64_t offset = (uintptr_t)address - region->base;
    *reference = offset + region->tag;
    return offset < region->length;
}

/* Whether a referenced array lies completely in this region, and is aligned. */
static inline int obvia_is_in(const obvia_peer_region *region, uint64_t reference, uint64_t count, size_t size, size_t align)
{
    /* The number of bytes from the reference to the region's end. For a reference to another region
     * the difference exceeds the region's length. */
    const uint64_t left = region->end - reference;
    return left <= region->length && count <= left / size && reference % align == 0;
}

/* Converts a reference to an address. */
static inline void *obvia_resolve(const obvia_peer_region *region, uint64_t reference)
{
    return (void *)(uintptr_t)(region->bias + reference);
}

/* ---- The client's side ---- */

/* The beginning of every proxy. */
typedef struct obvia_proxy {
    const void *vtable;
    uintptr_t link;
    uint64_t target;
} obvia_proxy;

/* The state of a thread's calls: the link of its current channel, and the slot of the next request.
 */
typedef struct obvia_calls {
    uintptr_t link;
    void *slot;
    obvia_region regions[2 * OBVIA_REGION_CACHES];
} obvia_calls;

/* A reply. */
typedef struct obvia_reply {
    /* The results, in the peer's memory, valid until the thread's next call. */
    const void *frame;
    /* The HRESULT in the lower half, and the length of the frame in the upper half. A call without
     * results, for example because the connection broke, has a frame of length 0. */
    uint64_t word;
} obvia_reply;

/* The state of this thread's calls. The initial state belongs to no link, so the first call
 * selects a channel by obvia_prepare(). */
static const obvia_calls obvia_no_calls = {0, NULL, {{0, 0, 0}}};
static __thread const obvia_calls *obvia_calls_at_hand __attribute__((unused)) = &obvia_no_calls;

/* Selects a channel of the proxy's link for the thread's next calls. */
HRESULT obvia_prepare(const obvia_proxy *proxy, const obvia_calls **calls);
/* Allocates a request's frame that does not fit a slot. Returns NULL on failure; obvia_no_request()
 * then returns the reason. `bulk` is the offset of the frame's largest part. */
void *obvia_request(const obvia_calls *calls, size_t length, size_t bulk);
/* Returns the memory for a request's frame: the slot if the frame fits, or else the memory of
 * obvia_request(). */
static inline void *obvia_request_place(const obvia_calls *calls, uint64_t length, uint64_t bulk)
{
    return OBVIA_LIKELY(length <= OBVIA_INLINE_MAX) ? calls->slot : obvia_request(calls, (size_t)length, (size_t)bulk);
}
/* A request as a word: the opnum in the lower half, and the length of the frame, a multiple of 8,
 * in the upper half.
 */
#define OBVIA_REQUEST(opnum, length) ((uint64_t)(opnum) | (uint64_t)(length) << 32)
/* Sends a request and waits for its reply. This is the hand-over to the transport. */
OBVIA_HOT obvia_reply obvia_exchange(const obvia_calls *calls, uint64_t request, uint64_t target);
/* Sends a request without reply. */
void obvia_send(const obvia_calls *calls, uint64_t request, uint64_t target);
/* Selects the memory of obvia_share() that contains `address` for one of the method's arrays, and
 * sends this memory to the peer if the peer does not have it. Returns
 *
 *   1  if the memory was selected: the proxy starts again, and passes the array by reference;
 *   0  if nothing has changed: the memory was selected before, or the array has to be copied. An
 *      array has to be copied if it does not lie in memory of obvia_share(), if the method writes
 *      it but peers may only read its memory, or if the peer cannot map its memory;
 *   a failure if the connection broke or the peer gave no answer: the call ends with this
 *      failure. */
HRESULT obvia_select_region(const obvia_calls *calls, unsigned region, const void *address);
/* Selects a region for a further array of a call. `others` is the result for the call's previous
 * arrays; if `others` is a failure, no region is selected. Returns a failure if any selection has
 * failed. Otherwise returns 1 if a region was selected for any of the arrays, and 0 if for none. */
static inline HRESULT obvia_select_also(HRESULT others, const obvia_calls *calls, unsigned region, const void *address)
{
    const HRESULT selected = others < 0 ? others : obvia_select_region(calls, region, address);
    return selected == 0 ? others : selected;
}
/* Whether the two processes can share memory: they run on one host, and the thread has a connection
 * to the other process. A proxy calls this function when it could not select a region for a [map]
 * array: if the processes can share memory, the array is an error of the caller; if not, the array
 * is copied. */
int obvia_shares_memory(const obvia_calls *calls);
/* Returns the failure for an array that must lie in memory of obvia_share(), but does not. */
HRESULT obvia_not_shared(void);
/* Returns the failure of a [local] method that is called on an object of another process. */
HRESULT obvia_refuse_local(const char *method);
/* Records a failure of the proxy itself, which has no text, and returns `result`. Without this
 * call, obvia_error_text() would return the text of an earlier failure with the same HRESULT. */
OBVIA_COLD HRESULT obvia_fail_plain(HRESULT result);
/* Returns the HRESULT of a reply whose frame does not have the length of the results. */
HRESULT obvia_refusal(obvia_reply reply);

/* Returns the reason for the failed allocation of a request. */
static inline HRESULT obvia_no_request(void)
{
    const obvia_reply none = {NULL, 0};
    return obvia_refusal(none);
}

/* Returns the failure for a number of elements that is negative or exceeds any frame. */
static inline HRESULT obvia_too_many(uint64_t count)
{
    return count > INT64_MAX ? E_INVALIDARG : E_OUTOFMEMORY;
}

/* The first three methods of every proxy. */
HRESULT obvia_proxy_query_interface(void *self, const IID *iid, void **object);
uint32_t obvia_proxy_add_ref(void *self);
uint32_t obvia_proxy_release(void *self);

/* Declares `calls`, the state of this thread's calls. If this state does not belong to the proxy's
 * link, the proxy returns the value of `prepared`, an expression that calls a function. The
 * function selects a channel of the link and calls the proxy again. Because `prepared` is a tail
 * call, the frequent path need not save registers for it. */
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
    /* The place for results that fit a slot. Its first eight bytes are zero. */
    void *slot;
    /* The number of the called interface pointer, and the method's opnum. */
    uint64_t target;
    uint16_t opnum;
    /* Whether the results' frame lies in the area even if it fits the slot. */
    uint8_t in_area;
    uint32_t id;
    const struct obvia_area *area;
    const obvia_peer_region *regions;
} obvia_call;

/* The area for frames that do not fit a slot. */
struct obvia_area {
    /* The place of the next frame, and the end of the free memory. */
    unsigned char *next, *end;
};

/* An answer: the HRESULT in the lower half, and the length of the results' frame in the upper half.
 * The answer of a failed method is negative as a signed number. */
typedef uint64_t obvia_answer;

/* A stub: reads and verifies the request, calls the method, writes the results. */
typedef obvia_answer obvia_stub(void *object, obvia_call *call);

/* The answer to a malformed request, whose method was not called. */
#define OBVIA_FAULT(status) ((obvia_answer)(status) | (obvia_answer)1 << 63)
#define OBVIA_BAD_STUB_DATA OBVIA_FAULT(1783)
#define OBVIA_OP_RANGE_ERROR OBVIA_FAULT(0x1c010002)
#define OBVIA_NO_MEMORY OBVIA_FAULT(0x1c00001b)

/* Allocates a reply's frame of any length. Returns NULL if the caller is gone or does not accept
 * this length. */
void *obvia_reply_frame(obvia_call *call, size_t length, size_t bulk);
/* Returns the memory for a reply's frame: the slot if the frame fits, or else the memory of
 * obvia_reply_frame(). Returns NULL if there is none, or if the length exceeds OBVIA_FRAME_MAX. */
static inline void *obvia_reply_place(obvia_call *call, uint64_t length, uint64_t bulk)
{
    if (OBVIA_LIKELY(length <= OBVIA_INLINE_MAX)) {
        return call->slot;
    }
    return length <= OBVIA_FRAME_MAX ? obvia_reply_frame(call, (size_t)length, (size_t)bulk) : NULL;
}
/* Selects the peer's region that contains the target of a reference, for one of the method's
 * arrays. Returns 0 if there is no such region, or if this region is already selected. */
int obvia_select_call_region(obvia_call *call, unsigned region, uint64_t reference);
/* Makes room for `length` bytes at call->area->next. Returns 0 if the caller is gone or does not
 * accept a frame of this length. */
int obvia_make_room(obvia_call *call, size_t length);
/* Whether there is room for `length` bytes at call->area->next. */
static inline int obvia_has_room(const obvia_call *call, size_t length)
{
    return (uintptr_t)call->area->next + length <= (uintptr_t)call->area->end;
}
/* Ends the method's use of the states of its context handles. States whose handles other calls have
 * destroyed during the method are run down now. */
void obvia_context_used(void);
/* The stub of opnums without a method, and of [local] methods. */
obvia_answer obvia_refuse(void *object, obvia_call *call);

/* Returns the answer for a number of elements that is negative or exceeds any frame. */
static inline obvia_answer obvia_too_large(uint64_t count)
{
    return count > INT64_MAX ? OBVIA_BAD_STUB_DATA : OBVIA_NO_MEMORY;
}

/* Allocates zeroed private memory for arguments and results, which the caller frees. */
static inline void *obvia_room(uint64_t bytes)
{
    return calloc(1, bytes != 0 ? (size_t)bytes : 1);
}

/* Returns the answer with the method's HRESULT and `length` bytes of results. A failure is sent
 * without results. */
static inline obvia_answer obvia_results(HRESULT result, size_t length)
{
    return (uint64_t)(int64_t)result | (uint64_t)OBVIA_ALIGN(length) << 32;
}

/* Returns the answer of a method that lends an array. Copies the array into the results' frame, at
 * the offset `end`. */
obvia_answer obvia_lend(obvia_call *call, HRESULT result, const void *results, uint64_t end, const void *array, uint64_t count,
                        size_t size);
/* Returns the answer of a method that has written its lent array itself, at the end of the results'
 * frame. */
static inline obvia_answer obvia_lent(HRESULT result, uint64_t length)
{
    return (uint64_t)(int64_t)result | length << 32;
}

/* ---- Interfaces ---- */

/* The interface that a file associates with an IID. Peers compare `fingerprint`. Files of one
 * program have to agree about `vtable` as well: this hash also covers the parameters of [local]
 * methods and the room for lent arrays. */
typedef struct obvia_declared_interface {
    const char *name;
    IID iid;
    uint8_t fingerprint[16];
    uint8_t vtable[16];
} obvia_declared_interface;

/* Declares the interfaces of a file. Each file with stubs calls this function when it is loaded.
 * The function ends the program if two files associate an IID with different interfaces, since
 * calls would reach the wrong methods. Stubs of earlier versions call obvia_declare(), with shorter
 * entries. libobvia does not have that function any more. */
void obvia_declare_interfaces(const char *file, const obvia_declared_interface *interfaces, size_t count);

struct obvia_interface {
    /* sizeof(obvia_interface) at the compilation of the stubs. */
    size_t size;
    const char *name;
    IID iid;
    uint16_t major, minor;
    /* The first 16 bytes of the SHA-256 of the canonical text, in reverse order. */
    uint8_t fingerprint[16];
    /* The base interface; NULL for IUnknown. */
    const obvia_interface *base;
    /* The table of a proxy's methods, which begins with the three obvia_proxy_ functions. */
    const void *proxy;
    /* The stubs by opnum: `stub_count` of them, a power of two. Missing methods have
     * obvia_refuse(). */
    obvia_stub *const *stubs;
    size_t stub_count;
    /* The text in IDL. */
    const char *idl;
    /* The NDR plan: `ndr_count` words. */
    const int64_t *ndr;
    size_t ndr_count;
    /* All interfaces of the same file and of the files that it imports, NULL-terminated. */
    const obvia_interface *const *module;
    /* Whether it is a plain interface: functions without objects. */
    int plain;
    /* The default endpoints of servers, NULL-terminated; NULL for none. */
    const char *const *endpoints;
};

#ifdef __cplusplus
}
#endif

#endif
