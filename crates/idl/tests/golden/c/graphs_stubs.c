/* Made by obvia-idl 0.1.0 from graphs.idl. Change the IDL, not this. */
/* The vtables of objects are called as C has them, also where this is compiled as C++. */
#ifndef CINTERFACE
#define CINTERFACE
#endif
#include "obvia_table.h"

#include <string.h>

#include "graphs.h"

const IID IID_IBell = {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x10}};
const IID IID_IGraphs = {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x11}};

static const int64_t obvia_structures_words[] = {
    4,
    /* 16: Item */ 32,
        /* values */ 2, 0, 5, 6, 2, /* parts */ 5,
        4, OBVIA_BOOLEAN,
        6, OBVIA_RANGE, OBVIA_I16, 0, 9,
        8, OBVIA_POINTER, OBVIA_UNIQUE, OBVIA_WIDE, OBVIA_TEXT,
        16, OBVIA_POINTER, OBVIA_FULL, 16, OBVIA_ONE,
        24, OBVIA_POINTER, OBVIA_REF, 17, OBVIA_COUNTED, OBVIA_BINARY, OBVIA_ADD, OBVIA_BINARY, OBVIA_MULTIPLY, OBVIA_MEMBER, 0, OBVIA_I32, OBVIA_CONST, 2, OBVIA_CONST, 1, OBVIA_SOME, OBVIA_MEMBER, 6, OBVIA_I16,
        OBVIA_NONE,
    /* 17: Color */ 4,
        /* values */ 1, 0, 4, /* parts */ 1,
        0, OBVIA_ENUMERATION, 2, 0, 5,
        OBVIA_NONE,
    /* 18: Record */ 32,
        /* values */ 2, 0, 16, 24, 8, /* parts */ 1,
        16, OBVIA_OBJECT, OBVIA_IID_MEMBER, 0,
        /* tail */ OBVIA_SOME, 32, 8,
            /* values */ 0, /* parts */ 1,
            0, OBVIA_OBJECT, OBVIA_IID, (int64_t)0x8b1c5a102f6e4c55, (int64_t)0x9a516a0d3f7e3010,
        OBVIA_CHOOSE, OBVIA_BINARY, OBVIA_GREATER, OBVIA_MEMBER, 24, OBVIA_U64, OBVIA_CONST, 3, OBVIA_MEMBER, 24, OBVIA_U64, OBVIA_UNARY, OBVIA_MINUS, OBVIA_MEMBER, 24, OBVIA_U64,
        OBVIA_NONE,
    /* 19: Choice */ 72,
        /* values */ 1, 0, 4, /* parts */ 1,
        8, OBVIA_UNION, OBVIA_MEMBER, 0, OBVIA_I32, 2,
            1, 0,
                /* values */ 0, /* parts */ 1,
                0, OBVIA_INNER, 2, 32,
                    /* values */ 2, 0, 5, 6, 2, /* parts */ 5,
                    4, OBVIA_BOOLEAN,
                    6, OBVIA_RANGE, OBVIA_I16, 0, 9,
                    8, OBVIA_POINTER, OBVIA_UNIQUE, OBVIA_WIDE, OBVIA_TEXT,
                    16, OBVIA_POINTER, OBVIA_FULL, 16, OBVIA_ONE,
                    24, OBVIA_POINTER, OBVIA_REF, 17, OBVIA_COUNTED, OBVIA_BINARY, OBVIA_ADD, OBVIA_BINARY, OBVIA_MULTIPLY, OBVIA_MEMBER, 0, OBVIA_I32, OBVIA_CONST, 2, OBVIA_CONST, 1, OBVIA_SOME, OBVIA_MEMBER, 6, OBVIA_I16,
            1, 5,
                /* values */ 0, /* parts */ 0,
            OBVIA_NONE,
        OBVIA_NONE,
};
static obvia_types obvia_structures = {OBVIA_TABLE(obvia_structures_words)};

void Item_free(Item *first, size_t count)
{
    obvia_free_elements(&obvia_structures, 16, first, count);
}

void Item_clear(Item *first, size_t count)
{
    obvia_clear_elements(&obvia_structures, 16, first, count, count * sizeof *first);
}

HRESULT Item_copy(const Item *first, size_t count, Item **copy)
{
    return obvia_copy_elements(&obvia_structures, 16, first, count, (void **)copy);
}

void Record_free(Record *one)
{
    obvia_free_elements(&obvia_structures, 18, one, 1);
}

HRESULT Record_copy(const Record *one, Record **copy)
{
    return obvia_copy_elements(&obvia_structures, 18, one, 1, (void **)copy);
}

void Choice_free(Choice *first, size_t count)
{
    obvia_free_elements(&obvia_structures, 19, first, count);
}

void Choice_clear(Choice *first, size_t count)
{
    obvia_clear_elements(&obvia_structures, 19, first, count, count * sizeof *first);
}

HRESULT Choice_copy(const Choice *first, size_t count, Choice **copy)
{
    return obvia_copy_elements(&obvia_structures, 19, first, count, (void **)copy);
}

static const obvia_interface *const obvia_module[] = {
    &IBell_INFO,
    &IGraphs_INFO,
    NULL
};

/* Ring: opnum 3
 *   request   4 bytes: 0 times int32_t
 *   reply     0 bytes: nothing
 */
struct IBell_Ring_request {
    int32_t times;
};
OBVIA_HAS_SIZE(struct IBell_Ring_request, 4);
OBVIA_LIES_AT(struct IBell_Ring_request, times, 0);

static OBVIA_COLD HRESULT IBell_Ring_prepare(IBell *self, int32_t times);

static HRESULT IBell_Ring_proxy(IBell *self, int32_t times)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IBell_Ring_prepare(self, times))
    struct IBell_Ring_request *request = (struct IBell_Ring_request *)calls->slot;
    OBVIA_STORE(int32_t, &request->times, times);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(3, OBVIA_ALIGN(sizeof(struct IBell_Ring_request))), proxy->target);
    if (OBVIA_UNLIKELY(obvia_length(reply) != 0)) {
        return obvia_refusal(reply);
    }
    return obvia_result(reply);
}

static HRESULT IBell_Ring_prepare(IBell *self, int32_t times)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IBell_Ring_proxy(self, times);
}

static obvia_answer IBell_Ring_stub(void *object, obvia_call *call)
{
    IBell *self = (IBell *)object;
    const struct IBell_Ring_request *request = (const struct IBell_Ring_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t times = OBVIA_LOAD(int32_t, &request->times);
    const HRESULT result = (self->lpVtbl->Ring)(self, times);
    return obvia_results(result, 0);
}

static const IBellVtbl IBell_proxies = {
    (HRESULT (*)(IBell *, const IID *, void **))obvia_proxy_query_interface,
    (uint32_t (*)(IBell *))obvia_proxy_add_ref,
    (uint32_t (*)(IBell *))obvia_proxy_release,
    IBell_Ring_proxy
};

static obvia_stub *const IBell_stubs[4] = {
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    IBell_Ring_stub
};

static const int64_t IBell_ndr[] = {
    1, 0, 4, 0, 1, 3, 1, 4, 1, 0, 0, 0, 0, 0, 0,
};

const obvia_interface IBell_INFO = {
    sizeof(obvia_interface),
    "IBell",
    {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x10}},
    0,
    0,
    {0x68, 0xea, 0x1a, 0x53, 0xb4, 0x91, 0x62, 0xe8, 0xd9, 0xa4, 0xb2, 0x6d, 0x3f, 0xf7, 0xc2, 0xce},
    NULL,
    &IBell_proxies,
    IBell_stubs,
    4,
    "[object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e3010), pointer_default(unique)]\n"
    "interface IBell : IUnknown {\n"
    "    HRESULT Ring([in] long times);\n"
    "}\n",
    IBell_ndr,
    sizeof(IBell_ndr) / sizeof *IBell_ndr,
    obvia_module,
    0,
    NULL
};

static const int64_t IGraphs_types_words[] = {
    7,
    /* 16: Item */ 32,
        /* values */ 2, 0, 5, 6, 2, /* parts */ 5,
        4, OBVIA_BOOLEAN,
        6, OBVIA_RANGE, OBVIA_I16, 0, 9,
        8, OBVIA_POINTER, OBVIA_UNIQUE, OBVIA_WIDE, OBVIA_TEXT,
        16, OBVIA_POINTER, OBVIA_FULL, 16, OBVIA_ONE,
        24, OBVIA_POINTER, OBVIA_REF, 17, OBVIA_COUNTED, OBVIA_BINARY, OBVIA_ADD, OBVIA_BINARY, OBVIA_MULTIPLY, OBVIA_MEMBER, 0, OBVIA_I32, OBVIA_CONST, 2, OBVIA_CONST, 1, OBVIA_SOME, OBVIA_MEMBER, 6, OBVIA_I16,
        OBVIA_NONE,
    /* 17: Color */ 4,
        /* values */ 1, 0, 4, /* parts */ 1,
        0, OBVIA_ENUMERATION, 2, 0, 5,
        OBVIA_NONE,
    /* 18: Record */ 32,
        /* values */ 2, 0, 16, 24, 8, /* parts */ 1,
        16, OBVIA_OBJECT, OBVIA_IID_MEMBER, 0,
        /* tail */ OBVIA_SOME, 32, 8,
            /* values */ 0, /* parts */ 1,
            0, OBVIA_OBJECT, OBVIA_IID, (int64_t)0x8b1c5a102f6e4c55, (int64_t)0x9a516a0d3f7e3010,
        OBVIA_CHOOSE, OBVIA_BINARY, OBVIA_GREATER, OBVIA_MEMBER, 24, OBVIA_U64, OBVIA_CONST, 3, OBVIA_MEMBER, 24, OBVIA_U64, OBVIA_UNARY, OBVIA_MINUS, OBVIA_MEMBER, 24, OBVIA_U64,
        OBVIA_NONE,
    /* 19: int32_t */ 4,
        /* values */ 1, 0, 4, /* parts */ 0,
        OBVIA_NONE,
    /* 20: int32_t [3] */ 12,
        /* values */ 1, 0, 12, /* parts */ 0,
        OBVIA_NONE,
    /* 21: char * */ 8,
        /* values */ 0, /* parts */ 1,
        0, OBVIA_POINTER, OBVIA_UNIQUE, OBVIA_CHAR, OBVIA_TEXT,
        OBVIA_NONE,
    /* 22: int64_t */ 8,
        /* values */ 1, 0, 8, /* parts */ 0,
        OBVIA_NONE,
};
static obvia_types IGraphs_types = {OBVIA_TABLE(IGraphs_types_words)};

/* Plain: opnum 3
 *   request   4 bytes: 0 a int32_t
 *   reply     4 bytes: 0 b int32_t
 */
struct IGraphs_Plain_request {
    int32_t a;
};
OBVIA_HAS_SIZE(struct IGraphs_Plain_request, 4);
OBVIA_LIES_AT(struct IGraphs_Plain_request, a, 0);

struct IGraphs_Plain_reply {
    int32_t b;
};
OBVIA_HAS_SIZE(struct IGraphs_Plain_reply, 4);
OBVIA_LIES_AT(struct IGraphs_Plain_reply, b, 0);

static OBVIA_COLD HRESULT IGraphs_Plain_prepare(IGraphs *self, int32_t a, int32_t *b);

static HRESULT IGraphs_Plain_proxy(IGraphs *self, int32_t a, int32_t *b)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IGraphs_Plain_prepare(self, a, b))
    struct IGraphs_Plain_request *request = (struct IGraphs_Plain_request *)calls->slot;
    OBVIA_STORE(int32_t, &request->a, a);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(3, OBVIA_ALIGN(sizeof(struct IGraphs_Plain_request))), proxy->target);
    const struct IGraphs_Plain_reply *results = (const struct IGraphs_Plain_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t b_value = OBVIA_LOAD(int32_t, &results->b);
    *b = b_value;
    return obvia_result(reply);
}

static HRESULT IGraphs_Plain_prepare(IGraphs *self, int32_t a, int32_t *b)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IGraphs_Plain_proxy(self, a, b);
}

static obvia_answer IGraphs_Plain_stub(void *object, obvia_call *call)
{
    IGraphs *self = (IGraphs *)object;
    const struct IGraphs_Plain_request *request = (const struct IGraphs_Plain_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t a = OBVIA_LOAD(int32_t, &request->a);
    struct IGraphs_Plain_reply *results = (struct IGraphs_Plain_reply *)call->slot;
    const HRESULT result = (self->lpVtbl->Plain)(self, a, &results->b);
    return obvia_results(result, sizeof *results);
}

/* Walk: opnum 4
 *   request  24 bytes: 0 from ->, 8 kind int32_t, 16 value ->
 *   reply    32 bytes: 0 copy ->
 */
static const int64_t IGraphs_Walk_table_words[] = {
    4, 0,
    /* request */ 24,
        /* values */ 1, 8, 4, /* parts */ 2,
        0, OBVIA_POINTER, OBVIA_FULL, 16, OBVIA_ONE,
        16, OBVIA_UNION, OBVIA_MEMBER, 8, OBVIA_I32, 2,
            1, 1,
                /* values */ 1, 0, 8, /* parts */ 0,
            2, 2, 3,
                /* values */ 0, /* parts */ 1,
                0, OBVIA_POINTER, OBVIA_UNIQUE, 16, OBVIA_ONE,
            OBVIA_SOME,
                /* values */ 0, /* parts */ 0,
    /* reply */ 32,
        /* values */ 0, /* parts */ 1,
        0, OBVIA_INNER, 1, 32,
            /* values */ 2, 0, 5, 6, 2, /* parts */ 5,
            4, OBVIA_BOOLEAN,
            6, OBVIA_RANGE, OBVIA_I16, 0, 9,
            8, OBVIA_POINTER, OBVIA_UNIQUE, OBVIA_WIDE, OBVIA_TEXT,
            16, OBVIA_POINTER, OBVIA_FULL, 16, OBVIA_ONE,
            24, OBVIA_POINTER, OBVIA_REF, 17, OBVIA_COUNTED, OBVIA_BINARY, OBVIA_ADD, OBVIA_BINARY, OBVIA_MULTIPLY, OBVIA_MEMBER, 0, OBVIA_I32, OBVIA_CONST, 2, OBVIA_CONST, 1, OBVIA_SOME, OBVIA_MEMBER, 6, OBVIA_I16,
    /* outer */ 0,
    /* parameters */ 4,
        /* [in] from */ OBVIA_SLOT, 8, OBVIA_SOME, 0, OBVIA_NONE,
        /* [in] kind */ OBVIA_SLOT, 4, OBVIA_SOME, 8, OBVIA_NONE,
        /* [in] value */ OBVIA_PLACE, 8, OBVIA_SOME, 16, OBVIA_NONE,
        /* [out] copy */ OBVIA_PLACE, 32, OBVIA_NONE, OBVIA_SOME, 0,
};
static obvia_method IGraphs_Walk_table = {&IGraphs_types, OBVIA_TABLE(IGraphs_Walk_table_words)};

static HRESULT IGraphs_Walk_proxy(IGraphs *self, const Item *from, int32_t kind, const Any *value, Item *copy)
{
    const void *const arguments[] = {&from, &kind, value, copy};
    return obvia_call_by_table(self, &IGraphs_Walk_table, arguments);
}

static HRESULT IGraphs_Walk_invoke(void *object, void **arguments)
{
    IGraphs *self = (IGraphs *)object;
    return (self->lpVtbl->Walk)(self, *(const Item **)arguments[0], *(int32_t *)arguments[1], (const Any *)arguments[2], (Item *)arguments[3]);
}

static obvia_answer IGraphs_Walk_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &IGraphs_Walk_table, IGraphs_Walk_invoke);
}

/* Grow: opnum 5
 *   request  88 bytes: 0 record ->, 8 list ->, 16 choice ->
 *   reply    80 bytes: 0 list ->, 8 choice ->
 */
static const int64_t IGraphs_Grow_table_words[] = {
    5, 0,
    /* request */ 88,
        /* values */ 0, /* parts */ 3,
        0, OBVIA_POINTER, OBVIA_REF, 18, OBVIA_ONE,
        8, OBVIA_POINTER, OBVIA_UNIQUE, 16, OBVIA_ONE,
        16, OBVIA_INNER, 1, 72,
            /* values */ 1, 0, 4, /* parts */ 1,
            8, OBVIA_UNION, OBVIA_MEMBER, 0, OBVIA_I32, 2,
                1, 0,
                    /* values */ 0, /* parts */ 1,
                    0, OBVIA_INNER, 2, 32,
                        /* values */ 2, 0, 5, 6, 2, /* parts */ 5,
                        4, OBVIA_BOOLEAN,
                        6, OBVIA_RANGE, OBVIA_I16, 0, 9,
                        8, OBVIA_POINTER, OBVIA_UNIQUE, OBVIA_WIDE, OBVIA_TEXT,
                        16, OBVIA_POINTER, OBVIA_FULL, 16, OBVIA_ONE,
                        24, OBVIA_POINTER, OBVIA_REF, 17, OBVIA_COUNTED, OBVIA_BINARY, OBVIA_ADD, OBVIA_BINARY, OBVIA_MULTIPLY, OBVIA_MEMBER, 0, OBVIA_I32, OBVIA_CONST, 2, OBVIA_CONST, 1, OBVIA_SOME, OBVIA_MEMBER, 6, OBVIA_I16,
                1, 5,
                    /* values */ 0, /* parts */ 0,
                OBVIA_NONE,
    /* reply */ 80,
        /* values */ 0, /* parts */ 2,
        0, OBVIA_POINTER, OBVIA_UNIQUE, 16, OBVIA_ONE,
        8, OBVIA_INNER, 1, 72,
            /* values */ 1, 0, 4, /* parts */ 1,
            8, OBVIA_UNION, OBVIA_MEMBER, 0, OBVIA_I32, 2,
                1, 0,
                    /* values */ 0, /* parts */ 1,
                    0, OBVIA_INNER, 2, 32,
                        /* values */ 2, 0, 5, 6, 2, /* parts */ 5,
                        4, OBVIA_BOOLEAN,
                        6, OBVIA_RANGE, OBVIA_I16, 0, 9,
                        8, OBVIA_POINTER, OBVIA_UNIQUE, OBVIA_WIDE, OBVIA_TEXT,
                        16, OBVIA_POINTER, OBVIA_FULL, 16, OBVIA_ONE,
                        24, OBVIA_POINTER, OBVIA_REF, 17, OBVIA_COUNTED, OBVIA_BINARY, OBVIA_ADD, OBVIA_BINARY, OBVIA_MULTIPLY, OBVIA_MEMBER, 0, OBVIA_I32, OBVIA_CONST, 2, OBVIA_CONST, 1, OBVIA_SOME, OBVIA_MEMBER, 6, OBVIA_I16,
                1, 5,
                    /* values */ 0, /* parts */ 0,
                OBVIA_NONE,
    /* outer */ 0,
    /* parameters */ 3,
        /* [in, out] list */ OBVIA_PLACE, 8, OBVIA_SOME, 8, OBVIA_SOME, 0,
        /* [in, out] choice */ OBVIA_PLACE, 72, OBVIA_SOME, 16, OBVIA_SOME, 8,
        /* [in] record */ OBVIA_SLOT, 8, OBVIA_SOME, 0, OBVIA_NONE,
};
static obvia_method IGraphs_Grow_table = {&IGraphs_types, OBVIA_TABLE(IGraphs_Grow_table_words)};

static HRESULT IGraphs_Grow_proxy(IGraphs *self, Item **list, Choice *choice, const Record *record)
{
    const void *const arguments[] = {list, choice, &record};
    return obvia_call_by_table(self, &IGraphs_Grow_table, arguments);
}

static HRESULT IGraphs_Grow_invoke(void *object, void **arguments)
{
    IGraphs *self = (IGraphs *)object;
    return (self->lpVtbl->Grow)(self, (Item **)arguments[0], (Choice *)arguments[1], *(const Record **)arguments[2]);
}

static obvia_answer IGraphs_Grow_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &IGraphs_Grow_table, IGraphs_Grow_invoke);
}

/* Tell: opnum 6
 *   request   8 bytes: 0 value ->
 *   reply     0 bytes: nothing
 */
static const int64_t IGraphs_Tell_table_words[] = {
    6, 1,
    /* request */ 8,
        /* values */ 0, /* parts */ 1,
        0, OBVIA_POINTER, OBVIA_UNIQUE, 19, OBVIA_ONE,
    /* reply */ 0,
        /* values */ 0, /* parts */ 0,
    /* outer */ 0,
    /* parameters */ 1,
        /* [in] value */ OBVIA_SLOT, 8, OBVIA_SOME, 0, OBVIA_NONE,
};
static obvia_method IGraphs_Tell_table = {&IGraphs_types, OBVIA_TABLE(IGraphs_Tell_table_words)};

static HRESULT IGraphs_Tell_proxy(IGraphs *self, const int32_t *value)
{
    const void *const arguments[] = {&value};
    return obvia_call_by_table(self, &IGraphs_Tell_table, arguments);
}

static HRESULT IGraphs_Tell_invoke(void *object, void **arguments)
{
    IGraphs *self = (IGraphs *)object;
    return (self->lpVtbl->Tell)(self, *(const int32_t **)arguments[0]);
}

static obvia_answer IGraphs_Tell_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &IGraphs_Tell_table, IGraphs_Tell_invoke);
}

/* Find: opnum 7
 *   request  28 bytes: 0 iid GUID, 16 bell ->, 24 arguments int32_t
 *   reply     8 bytes: 0 found ->
 */
static const int64_t IGraphs_Find_table_words[] = {
    7, 0,
    /* request */ 28,
        /* values */ 2, 0, 16, 24, 4, /* parts */ 1,
        16, OBVIA_OBJECT, OBVIA_IID, (int64_t)0x8b1c5a102f6e4c55, (int64_t)0x9a516a0d3f7e3010,
    /* reply */ 8,
        /* values */ 0, /* parts */ 1,
        0, OBVIA_OBJECT, OBVIA_IID_OUTER, 0,
    /* outer */ 2,
        0, OBVIA_UPPER,
        0, OBVIA_LOWER,
    /* parameters */ 4,
        /* [in] iid */ OBVIA_PLACE, 16, OBVIA_SOME, 0, OBVIA_NONE,
        /* [in] bell */ OBVIA_SLOT, 8, OBVIA_SOME, 16, OBVIA_NONE,
        /* [in] arguments */ OBVIA_SLOT, 4, OBVIA_SOME, 24, OBVIA_NONE,
        /* [out] found */ OBVIA_PLACE, 8, OBVIA_NONE, OBVIA_SOME, 0,
};
static obvia_method IGraphs_Find_table = {&IGraphs_types, OBVIA_TABLE(IGraphs_Find_table_words)};

static HRESULT IGraphs_Find_proxy(IGraphs *self, const GUID *iid, IBell *bell, int32_t arguments, IUnknown **found)
{
    const void *const arguments_[] = {iid, &bell, &arguments, found};
    return obvia_call_by_table(self, &IGraphs_Find_table, arguments_);
}

static HRESULT IGraphs_Find_invoke(void *object, void **arguments)
{
    IGraphs *self = (IGraphs *)object;
    return (self->lpVtbl->Find)(self, (const GUID *)arguments[0], *(IBell **)arguments[1], *(int32_t *)arguments[2], (IUnknown **)arguments[3]);
}

static obvia_answer IGraphs_Find_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &IGraphs_Find_table, IGraphs_Find_invoke);
}

/* Fill: opnum 8
 *   request  16 bytes: 0 room int16_t, 4 used int32_t, 8 items ->
 *   reply    32 bytes: 0 used int32_t, 8 items ->, 16 grid ->, 24 text ->
 */
static const int64_t IGraphs_Fill_table_words[] = {
    8, 0,
    /* request */ 16,
        /* values */ 2, 0, 2, 4, 4, /* parts */ 1,
        8, OBVIA_POINTER, OBVIA_REF, 16, OBVIA_COUNTED, OBVIA_MEMBER, 0, OBVIA_I16, OBVIA_SOME, OBVIA_MEMBER, 4, OBVIA_I32,
    /* reply */ 32,
        /* values */ 1, 0, 4, /* parts */ 3,
        8, OBVIA_POINTER, OBVIA_REF, 16, OBVIA_COUNTED, OBVIA_OUTER, 0, OBVIA_SOME, OBVIA_MEMBER, 0, OBVIA_I32,
        16, OBVIA_POINTER, OBVIA_REF, 20, OBVIA_COUNTED, OBVIA_OUTER, 0, OBVIA_NONE,
        24, OBVIA_POINTER, OBVIA_UNIQUE, OBVIA_CHAR, OBVIA_TEXT,
    /* outer */ 1,
        0, OBVIA_I16,
    /* parameters */ 5,
        /* [in] room */ OBVIA_SLOT, 2, OBVIA_SOME, 0, OBVIA_NONE,
        /* [in, out] used */ OBVIA_PLACE, 4, OBVIA_SOME, 4, OBVIA_SOME, 0,
        /* [in, out] items */ OBVIA_SLOT, 8, OBVIA_SOME, 8, OBVIA_SOME, 8,
        /* [out] grid */ OBVIA_SLOT, 8, OBVIA_NONE, OBVIA_SOME, 16,
        /* [out] text */ OBVIA_PLACE, 8, OBVIA_NONE, OBVIA_SOME, 24,
};
static obvia_method IGraphs_Fill_table = {&IGraphs_types, OBVIA_TABLE(IGraphs_Fill_table_words)};

static HRESULT IGraphs_Fill_proxy(IGraphs *self, int16_t room, int32_t *used, Item *items, int32_t (*grid)[3], char **text)
{
    const void *const arguments[] = {&room, used, &items, &grid, text};
    return obvia_call_by_table(self, &IGraphs_Fill_table, arguments);
}

static HRESULT IGraphs_Fill_invoke(void *object, void **arguments)
{
    IGraphs *self = (IGraphs *)object;
    return (self->lpVtbl->Fill)(self, *(int16_t *)arguments[0], (int32_t *)arguments[1], *(Item **)arguments[2], *(int32_t (**)[3])arguments[3], (char **)arguments[4]);
}

static obvia_answer IGraphs_Fill_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &IGraphs_Fill_table, IGraphs_Fill_invoke);
}

/* List: opnum 9
 *   request   8 bytes: 0 names ->
 *   reply    16 bytes: 0 count int32_t, 8 values ->
 */
static const int64_t IGraphs_List_table_words[] = {
    9, 0,
    /* request */ 8,
        /* values */ 0, /* parts */ 1,
        0, OBVIA_POINTER, OBVIA_REF, 21, OBVIA_COUNTED, OBVIA_CONST, 4, OBVIA_NONE,
    /* reply */ 16,
        /* values */ 1, 0, 4, /* parts */ 1,
        8, OBVIA_POINTER, OBVIA_UNIQUE, 22, OBVIA_COUNTED, OBVIA_MEMBER, 0, OBVIA_I32, OBVIA_NONE,
    /* outer */ 0,
    /* parameters */ 3,
        /* [in] names */ OBVIA_SLOT, 8, OBVIA_SOME, 0, OBVIA_NONE,
        /* [out] count */ OBVIA_PLACE, 4, OBVIA_NONE, OBVIA_SOME, 0,
        /* [out] values */ OBVIA_PLACE, 8, OBVIA_NONE, OBVIA_SOME, 8,
};
static obvia_method IGraphs_List_table = {&IGraphs_types, OBVIA_TABLE(IGraphs_List_table_words)};

static HRESULT IGraphs_List_proxy(IGraphs *self, char **names, int32_t *count, int64_t **values)
{
    const void *const arguments[] = {&names, count, values};
    return obvia_call_by_table(self, &IGraphs_List_table, arguments);
}

static HRESULT IGraphs_List_invoke(void *object, void **arguments)
{
    IGraphs *self = (IGraphs *)object;
    return (self->lpVtbl->List)(self, *(char ***)arguments[0], (int32_t *)arguments[1], (int64_t **)arguments[2]);
}

static obvia_answer IGraphs_List_stub(void *object, obvia_call *call)
{
    return obvia_serve_by_table(object, call, &IGraphs_List_table, IGraphs_List_invoke);
}

static const IGraphsVtbl IGraphs_proxies = {
    (HRESULT (*)(IGraphs *, const IID *, void **))obvia_proxy_query_interface,
    (uint32_t (*)(IGraphs *))obvia_proxy_add_ref,
    (uint32_t (*)(IGraphs *))obvia_proxy_release,
    IGraphs_Plain_proxy,
    IGraphs_Walk_proxy,
    IGraphs_Grow_proxy,
    IGraphs_Tell_proxy,
    IGraphs_Find_proxy,
    IGraphs_Fill_proxy,
    IGraphs_List_proxy
};

static obvia_stub *const IGraphs_stubs[16] = {
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    IGraphs_Plain_stub,
    IGraphs_Walk_stub,
    IGraphs_Grow_stub,
    IGraphs_Tell_stub,
    IGraphs_Find_stub,
    IGraphs_Fill_stub,
    IGraphs_List_stub,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse
};

static const int64_t IGraphs_ndr[] = {
    20, 0, 4, 1, 0, 2, 7, 1, 3, 7, 2, 0, 16, 7, 0, 1, 17, 4, 0, 4, 2, 1, 0, 4,
    0, 2, 0, 1, 1, 1, 6, 2, 5, 32, 6, 0, 0, 4, 1, 6, 2, 8, 3, 16, 4, 24, 5, 0,
    2, 3, 7, 1, 4, 0, 8, 5, 32, 3, 0, 8, 16, 9, 24, 10, 1, 32, 9, 5, 4, 16, 1, 24,
    7, 0, 3, 1, 24, 7, 3, 0, 1, 24, 7, 0, 4, 3, 0, 7, 1, 2, 7, 1, 0, 16, 6, 8,
    0, 4, 1, 1, 8, 4, 0, 2, 1, 1, 1, 10, 2, 2, 3, 1, 14, 1, 0, 4, 2, 6, 6, 72,
    7, 4, 0, 8, 2, 1, 0, 1, 16, 1, 5, 0, 0, 7, 1, 0, 19, 7, 1, 1, 22, 1, 0, 4,
    0, 7, 6, 7, 11, 0, 12, 13, 10, 7, 3, 1, 4, 1, 0, 0, 0, 4, 1, 0, 0, 0, 0, 4,
    1, 24, 3, 0, 0, 4, 8, 0, 0, 16, 0, 15, 32, 1, 0, 0, 6, 0, 5, 1, 88, 3, 8, 0,
    14, 16, 0, 17, 0, 1, 0, 18, 80, 2, 0, 0, 14, 8, 0, 17, 0, 6, 1, 8, 1, 0, 0, 18,
    0, 0, 0, 7, 1, 28, 3, 0, 0, 8, 16, 0, 9, 24, 0, 0, 8, 1, 0, 0, 9, 0, 8, 1,
    16, 3, 0, 0, 2, 4, 0, 0, 8, 1, 1, 16, 1, 0, 2, 1, 1, 4, 4, 32, 4, 0, 0, 0,
    8, 1, 1, 16, 2, 0, 1, 1, 0, 4, 16, 1, 1, 20, 2, 0, 0, 24, 0, 13, 1, 0, 2, 9,
    1, 8, 1, 0, 1, 1, 21, 0, 4, 0, 16, 2, 0, 0, 0, 8, 0, 19, 0,
};

const obvia_interface IGraphs_INFO = {
    sizeof(obvia_interface),
    "IGraphs",
    {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x11}},
    0,
    0,
    {0xd0, 0x80, 0xbb, 0x58, 0x03, 0x3a, 0x45, 0x00, 0x40, 0xa5, 0x1d, 0x85, 0xd1, 0x17, 0x22, 0xa8},
    NULL,
    &IGraphs_proxies,
    IGraphs_stubs,
    16,
    "interface IBell;\n"
    "typedef enum {\n"
    "    RED = 0,\n"
    "    GREEN = 5\n"
    "} Color;\n"
    "struct Item;\n"
    "struct Record;\n"
    "struct Item {\n"
    "    long value;\n"
    "    boolean marked;\n"
    "    [range(0, 9)] short digit;\n"
    "    [string] wchar_t *name;\n"
    "    [ptr] struct Item *next;\n"
    "    [ref, size_is(((value * 2) + 1)), length_is(digit)] Color *colors;\n"
    "};\n"
    "struct Record {\n"
    "    GUID iid;\n"
    "    [iid_is(iid)] IUnknown *object;\n"
    "    unsigned hyper count;\n"
    "    [size_is(((count > 3) \? count : -(count)))] IBell bells[];\n"
    "};\n"
    "[switch_type(long)] union Any {\n"
    "    case 1: hyper number;\n"
    "    case 2: case 3: struct Item *list;\n"
    "    default: ;\n"
    "};\n"
    "union Choice switch (Color which) body {\n"
    "    case 0: struct Item items[2];\n"
    "    case 5: ;\n"
    "};\n"
    "[object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e3011), pointer_default(unique)]\n"
    "interface IGraphs : IUnknown {\n"
    "    HRESULT Plain([in] long a, [out, retval] long *b);\n"
    "    HRESULT Walk([in, ptr] struct Item *from, [in] long kind, [in, switch_is(kind)] union Any *value, [out] struct Item *copy);\n"
    "    HRESULT Grow([in, out] struct Item **list, [in, out] union Choice *choice, [in] struct Record *record);\n"
    "    [oneway] HRESULT Tell([in, unique] long *value);\n"
    "    HRESULT Find([in] GUID *iid, [in] IBell *bell, [in] long arguments, [out, iid_is(iid)] IUnknown **found);\n"
    "    HRESULT Fill([in] short room, [in, out] long *used, [in, out, size_is(room), length_is(*used)] struct Item *items, [out, size_is(room)] long *grid, [out, string] char **text);\n"
    "    HRESULT List([in, size_is(4), string] char **names, [out] long *count, [out, size_is(, *count)] hyper **values);\n"
    "}\n",
    IGraphs_ndr,
    sizeof(IGraphs_ndr) / sizeof *IGraphs_ndr,
    obvia_module,
    0,
    NULL
};

static const obvia_meaning obvia_meanings[] = {
    {"IBell", {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x10}}, {0x68, 0xea, 0x1a, 0x53, 0xb4, 0x91, 0x62, 0xe8, 0xd9, 0xa4, 0xb2, 0x6d, 0x3f, 0xf7, 0xc2, 0xce}},
    {"IGraphs", {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x11}}, {0xd0, 0x80, 0xbb, 0x58, 0x03, 0x3a, 0x45, 0x00, 0x40, 0xa5, 0x1d, 0x85, 0xd1, 0x17, 0x22, 0xa8}},
};

static __attribute__((constructor(101))) void obvia_declare_file(void)
{
    obvia_declare("graphs.idl", obvia_meanings, sizeof obvia_meanings / sizeof *obvia_meanings);
}
