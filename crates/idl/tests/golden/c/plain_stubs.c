/* Made by obvia-idl 0.1.0 from plain.idl. Change the IDL, not this. */
/* The vtables of objects are called as C has them, also where this is compiled as C++. */
#ifndef CINTERFACE
#define CINTERFACE
#endif
#include "obvia_table.h"

#include <string.h>

#include "plain.h"

const IID IID_ILocal = {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x02}};
const IID IID_IPlain = {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x03}};
const IID IID_IEmpty = {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x04}};

static const int64_t obvia_structures_words[] = {
    1,
    /* 16: Item */ 24,
        /* values */ 1, 0, 4, /* parts */ 2,
        8, OBVIA_POINTER, OBVIA_UNIQUE, OBVIA_WIDE, OBVIA_TEXT,
        16, OBVIA_POINTER, OBVIA_UNIQUE, 16, OBVIA_ONE,
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

static inline int Kind_is_valid(int32_t value)
{
    switch (value) {
        case 0:
        case 4:
        case 5:
            return 1;
        default:
            return 0;
    }
}

static inline int Level_is_valid(int32_t value)
{
    return value >= -1 && value <= 1;
}

static inline int Stamp_is_valid(const Stamp *value)
{
    if (OBVIA_UNLIKELY(!Kind_is_valid((int32_t)value->class_))) {
        return 0;
    }
    if (OBVIA_UNLIKELY(value->used > 1)) {
        return 0;
    }
    for (uint64_t at = 0; at < 4; at++) {
        if (OBVIA_UNLIKELY(!Level_is_valid((int32_t)((const Level *)value->levels)[at]))) {
            return 0;
        }
    }
    return 1;
}

/* Stores the members, and zeros between them. */
static inline void Stamp_store(Stamp *to, const Stamp *from)
{
    memset(to, 0, sizeof *to);
    to->class_ = from->class_;
    to->used = from->used;
    to->number = from->number;
    memcpy(to->cost, from->cost, sizeof to->cost);
    memcpy(to->levels, from->levels, sizeof to->levels);
}

static inline int Sheet_is_valid(const Sheet *value)
{
    for (uint64_t at = 0; at < 2; at++) {
        if (OBVIA_UNLIKELY(!Stamp_is_valid(&value->stamps[at]))) {
            return 0;
        }
    }
    return 1;
}

/* Stores the members, and zeros between them. */
static inline void Sheet_store(Sheet *to, const Sheet *from)
{
    memset(to, 0, sizeof *to);
    to->corner = from->corner;
    for (uint64_t at = 0; at < 2; at++) {
        Stamp_store(&((Stamp *)to->stamps)[at], &((const Stamp *)from->stamps)[at]);
    }
    memcpy(to->code, from->code, sizeof to->code);
}

static const obvia_interface *const obvia_module[] = {
    &IBasis_INFO,
    &IPlain_INFO,
    &IEmpty_INFO,
    NULL
};

/* Sum: opnum 3
 *   request   8 bytes: 0 pair Pair
 *   reply     8 bytes: 0 sum int64_t
 */
struct IPlain_Sum_request {
    Pair pair;
};
OBVIA_HAS_SIZE(struct IPlain_Sum_request, 8);
OBVIA_LIES_AT(struct IPlain_Sum_request, pair, 0);

struct IPlain_Sum_reply {
    int64_t sum;
};
OBVIA_HAS_SIZE(struct IPlain_Sum_reply, 8);
OBVIA_LIES_AT(struct IPlain_Sum_reply, sum, 0);

static OBVIA_COLD HRESULT IPlain_Sum_prepare(IPlain *self, const Pair *pair, int64_t *sum);

static HRESULT IPlain_Sum_proxy(IPlain *self, const Pair *pair, int64_t *sum)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Sum_prepare(self, pair, sum))
    struct IPlain_Sum_request *request = (struct IPlain_Sum_request *)calls->slot;
    request->pair = *pair;
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(3, OBVIA_ALIGN(sizeof(struct IPlain_Sum_request))), proxy->target);
    const struct IPlain_Sum_reply *results = (const struct IPlain_Sum_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int64_t sum_value = OBVIA_LOAD(int64_t, &results->sum);
    *sum = sum_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Sum_prepare(IPlain *self, const Pair *pair, int64_t *sum)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Sum_proxy(self, pair, sum);
}

static obvia_answer IPlain_Sum_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Sum_request *request = (const struct IPlain_Sum_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    Pair pair;
    obvia_copy(&pair, &request->pair, sizeof pair);
    struct IPlain_Sum_reply *results = (struct IPlain_Sum_reply *)call->slot;
    const HRESULT result = (self->lpVtbl->Sum)(self, &pair, &results->sum);
    return obvia_results(result, sizeof *results);
}

/* Nothing: opnum 4
 *   request   0 bytes: nothing
 *   reply     0 bytes: nothing
 */
static OBVIA_COLD HRESULT IPlain_Nothing_prepare(IPlain *self);

static HRESULT IPlain_Nothing_proxy(IPlain *self)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Nothing_prepare(self))
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(4, 0), proxy->target);
    if (OBVIA_UNLIKELY(obvia_length(reply) != 0)) {
        return obvia_refusal(reply);
    }
    return obvia_result(reply);
}

static HRESULT IPlain_Nothing_prepare(IPlain *self)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Nothing_proxy(self);
}

static obvia_answer IPlain_Nothing_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    if (OBVIA_UNLIKELY(call->length != 0)) {
        return OBVIA_BAD_STUB_DATA;
    }
    const HRESULT result = (self->lpVtbl->Nothing)(self);
    return obvia_results(result, 0);
}

/* Tell: opnum 5
 *   request   8 bytes: 0 what int16_t, 4 level int32_t
 *   reply     0 bytes: nothing
 */
struct IPlain_Tell_request {
    int16_t what;
    int32_t level;
};
OBVIA_HAS_SIZE(struct IPlain_Tell_request, 8);
OBVIA_LIES_AT(struct IPlain_Tell_request, what, 0);
OBVIA_LIES_AT(struct IPlain_Tell_request, level, 4);

static OBVIA_COLD HRESULT IPlain_Tell_prepare(IPlain *self, int16_t what, int32_t level);

static HRESULT IPlain_Tell_proxy(IPlain *self, int16_t what, int32_t level)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Tell_prepare(self, what, level))
    if (OBVIA_UNLIKELY((int64_t)level < -1 || (int64_t)level > 9)) {
        return E_INVALIDARG;
    }
    struct IPlain_Tell_request *request = (struct IPlain_Tell_request *)calls->slot;
    OBVIA_STORE(int16_t, &request->what, what);
    OBVIA_STORE(int32_t, &request->level, level);
    obvia_send(calls, OBVIA_REQUEST(5, OBVIA_ALIGN(sizeof(struct IPlain_Tell_request))), proxy->target);
    return S_OK;
}

static HRESULT IPlain_Tell_prepare(IPlain *self, int16_t what, int32_t level)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Tell_proxy(self, what, level);
}

static obvia_answer IPlain_Tell_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Tell_request *request = (const struct IPlain_Tell_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int16_t what = OBVIA_LOAD(int16_t, &request->what);
    const int32_t level = OBVIA_LOAD(int32_t, &request->level);
    if (OBVIA_UNLIKELY((int64_t)level < -1 || (int64_t)level > 9)) {
        return OBVIA_BAD_STUB_DATA;
    }
    const HRESULT result = (self->lpVtbl->Tell)(self, what, level);
    return obvia_results(result, 0);
}

/* Numbers: opnum 6
 *   request  28 bytes: 0 a uint8_t, 1 b char, 2 c int8_t, 4 d uint16_t, 6 e obvia_wchar, 8 f float, 16 g uint64_t, 24 h HRESULT
 *   reply    16 bytes: 0 i uint8_t, 2 j obvia_wchar, 8 k double
 */
struct IPlain_Numbers_request {
    uint8_t a;
    char b;
    int8_t c;
    uint16_t d;
    obvia_wchar e;
    float f;
    uint64_t g;
    HRESULT h;
};
OBVIA_HAS_SIZE(struct IPlain_Numbers_request, 32);
OBVIA_LIES_AT(struct IPlain_Numbers_request, a, 0);
OBVIA_LIES_AT(struct IPlain_Numbers_request, b, 1);
OBVIA_LIES_AT(struct IPlain_Numbers_request, c, 2);
OBVIA_LIES_AT(struct IPlain_Numbers_request, d, 4);
OBVIA_LIES_AT(struct IPlain_Numbers_request, e, 6);
OBVIA_LIES_AT(struct IPlain_Numbers_request, f, 8);
OBVIA_LIES_AT(struct IPlain_Numbers_request, g, 16);
OBVIA_LIES_AT(struct IPlain_Numbers_request, h, 24);

struct IPlain_Numbers_reply {
    uint8_t i;
    obvia_wchar j;
    double k;
};
OBVIA_HAS_SIZE(struct IPlain_Numbers_reply, 16);
OBVIA_LIES_AT(struct IPlain_Numbers_reply, i, 0);
OBVIA_LIES_AT(struct IPlain_Numbers_reply, j, 2);
OBVIA_LIES_AT(struct IPlain_Numbers_reply, k, 8);

static OBVIA_COLD HRESULT IPlain_Numbers_prepare(IPlain *self, uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h, uint8_t *i, obvia_wchar *j, double *k);

static HRESULT IPlain_Numbers_proxy(IPlain *self, uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h, uint8_t *i, obvia_wchar *j, double *k)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Numbers_prepare(self, a, b, c, d, e, f, g, h, i, j, k))
    struct IPlain_Numbers_request *request = (struct IPlain_Numbers_request *)calls->slot;
    OBVIA_STORE(uint8_t, &request->a, a);
    OBVIA_STORE(char, &request->b, b);
    OBVIA_STORE(int8_t, &request->c, c);
    OBVIA_STORE(uint16_t, &request->d, d);
    OBVIA_STORE(obvia_wchar, &request->e, e);
    OBVIA_STORE(float, &request->f, f);
    OBVIA_STORE(uint64_t, &request->g, g);
    OBVIA_STORE(HRESULT, &request->h, h);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(6, OBVIA_ALIGN(sizeof(struct IPlain_Numbers_request))), proxy->target);
    const struct IPlain_Numbers_reply *results = (const struct IPlain_Numbers_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const uint8_t i_value = OBVIA_LOAD(uint8_t, &results->i);
    const obvia_wchar j_value = OBVIA_LOAD(obvia_wchar, &results->j);
    const double k_value = OBVIA_LOAD(double, &results->k);
    *i = i_value;
    *j = j_value;
    *k = k_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Numbers_prepare(IPlain *self, uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h, uint8_t *i, obvia_wchar *j, double *k)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Numbers_proxy(self, a, b, c, d, e, f, g, h, i, j, k);
}

static obvia_answer IPlain_Numbers_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Numbers_request *request = (const struct IPlain_Numbers_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint8_t a = OBVIA_LOAD(uint8_t, &request->a);
    const char b = OBVIA_LOAD(char, &request->b);
    const int8_t c = OBVIA_LOAD(int8_t, &request->c);
    const uint16_t d = OBVIA_LOAD(uint16_t, &request->d);
    const obvia_wchar e = OBVIA_LOAD(obvia_wchar, &request->e);
    const float f = OBVIA_LOAD(float, &request->f);
    const uint64_t g = OBVIA_LOAD(uint64_t, &request->g);
    const HRESULT h = OBVIA_LOAD(HRESULT, &request->h);
    struct IPlain_Numbers_reply *results = (struct IPlain_Numbers_reply *)call->slot;
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    const HRESULT result = (self->lpVtbl->Numbers)(self, a, b, c, d, e, f, g, h, &results->i, &results->j, &results->k);
    return obvia_results(result, sizeof *results);
}

/* Checked: opnum 7
 *   request  16 bytes: 0 on uint8_t, 4 kind Kind, 8 level Level, 12 weight uint32_t
 *   reply    12 bytes: 0 off uint8_t, 4 other Kind, 8 digit int32_t
 */
struct IPlain_Checked_request {
    uint8_t on;
    Kind kind;
    Level level;
    uint32_t weight;
};
OBVIA_HAS_SIZE(struct IPlain_Checked_request, 16);
OBVIA_LIES_AT(struct IPlain_Checked_request, on, 0);
OBVIA_LIES_AT(struct IPlain_Checked_request, kind, 4);
OBVIA_LIES_AT(struct IPlain_Checked_request, level, 8);
OBVIA_LIES_AT(struct IPlain_Checked_request, weight, 12);

struct IPlain_Checked_reply {
    uint8_t off;
    Kind other;
    int32_t digit;
};
OBVIA_HAS_SIZE(struct IPlain_Checked_reply, 12);
OBVIA_LIES_AT(struct IPlain_Checked_reply, off, 0);
OBVIA_LIES_AT(struct IPlain_Checked_reply, other, 4);
OBVIA_LIES_AT(struct IPlain_Checked_reply, digit, 8);

static OBVIA_COLD HRESULT IPlain_Checked_prepare(IPlain *self, uint8_t on, Kind kind, Level level, uint32_t weight, uint8_t *off, Kind *other, int32_t *digit);

static HRESULT IPlain_Checked_proxy(IPlain *self, uint8_t on, Kind kind, Level level, uint32_t weight, uint8_t *off, Kind *other, int32_t *digit)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Checked_prepare(self, on, kind, level, weight, off, other, digit))
    if (OBVIA_UNLIKELY((int64_t)weight < 1 || (int64_t)weight > 20000)) {
        return E_INVALIDARG;
    }
    struct IPlain_Checked_request *request = (struct IPlain_Checked_request *)calls->slot;
    OBVIA_STORE(uint8_t, &request->on, on);
    OBVIA_STORE(Kind, &request->kind, kind);
    OBVIA_STORE(Level, &request->level, level);
    OBVIA_STORE(uint32_t, &request->weight, weight);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(7, OBVIA_ALIGN(sizeof(struct IPlain_Checked_request))), proxy->target);
    const struct IPlain_Checked_reply *results = (const struct IPlain_Checked_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const uint8_t off_value = OBVIA_LOAD(uint8_t, &results->off);
    if (OBVIA_UNLIKELY(off_value > 1)) {
        return RPC_E_INVALID_DATA;
    }
    const Kind other_value = OBVIA_LOAD(Kind, &results->other);
    if (OBVIA_UNLIKELY(!Kind_is_valid((int32_t)other_value))) {
        return RPC_E_INVALID_DATA;
    }
    const int32_t digit_value = OBVIA_LOAD(int32_t, &results->digit);
    if (OBVIA_UNLIKELY((int64_t)digit_value < 0 || (int64_t)digit_value > 5)) {
        return RPC_E_INVALID_DATA;
    }
    *off = off_value;
    *other = other_value;
    *digit = digit_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Checked_prepare(IPlain *self, uint8_t on, Kind kind, Level level, uint32_t weight, uint8_t *off, Kind *other, int32_t *digit)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Checked_proxy(self, on, kind, level, weight, off, other, digit);
}

static obvia_answer IPlain_Checked_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Checked_request *request = (const struct IPlain_Checked_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint8_t on = OBVIA_LOAD(uint8_t, &request->on);
    if (OBVIA_UNLIKELY(on > 1)) {
        return OBVIA_BAD_STUB_DATA;
    }
    const Kind kind = OBVIA_LOAD(Kind, &request->kind);
    if (OBVIA_UNLIKELY(!Kind_is_valid((int32_t)kind))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const Level level = OBVIA_LOAD(Level, &request->level);
    if (OBVIA_UNLIKELY(!Level_is_valid((int32_t)level))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t weight = OBVIA_LOAD(uint32_t, &request->weight);
    if (OBVIA_UNLIKELY((int64_t)weight < 1 || (int64_t)weight > 20000)) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IPlain_Checked_reply *results = (struct IPlain_Checked_reply *)call->slot;
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    const HRESULT result = (self->lpVtbl->Checked)(self, on, kind, level, weight, &results->off, &results->other, &results->digit);
    return obvia_results(result, sizeof *results);
}

/* Changed: opnum 8
 *   request  72 bytes: 0 number int32_t, 4 flag uint8_t, 8 stamp Stamp, 56 id GUID
 *   reply    72 bytes: 0 number int32_t, 4 flag uint8_t, 8 stamp Stamp, 56 id GUID
 */
struct IPlain_Changed_request {
    int32_t number;
    uint8_t flag;
    Stamp stamp;
    GUID id;
};
OBVIA_HAS_SIZE(struct IPlain_Changed_request, 72);
OBVIA_LIES_AT(struct IPlain_Changed_request, number, 0);
OBVIA_LIES_AT(struct IPlain_Changed_request, flag, 4);
OBVIA_LIES_AT(struct IPlain_Changed_request, stamp, 8);
OBVIA_LIES_AT(struct IPlain_Changed_request, id, 56);

struct IPlain_Changed_reply {
    int32_t number;
    uint8_t flag;
    Stamp stamp;
    GUID id;
};
OBVIA_HAS_SIZE(struct IPlain_Changed_reply, 72);
OBVIA_LIES_AT(struct IPlain_Changed_reply, number, 0);
OBVIA_LIES_AT(struct IPlain_Changed_reply, flag, 4);
OBVIA_LIES_AT(struct IPlain_Changed_reply, stamp, 8);
OBVIA_LIES_AT(struct IPlain_Changed_reply, id, 56);

static OBVIA_COLD HRESULT IPlain_Changed_prepare(IPlain *self, int32_t *number, uint8_t *flag, Stamp *stamp, GUID *id);

static HRESULT IPlain_Changed_proxy(IPlain *self, int32_t *number, uint8_t *flag, Stamp *stamp, GUID *id)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Changed_prepare(self, number, flag, stamp, id))
    struct IPlain_Changed_request *request = (struct IPlain_Changed_request *)calls->slot;
    OBVIA_STORE(int32_t, &request->number, *number);
    OBVIA_STORE(uint8_t, &request->flag, *flag);
    Stamp_store(&request->stamp, stamp);
    request->id = *id;
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(8, OBVIA_ALIGN(sizeof(struct IPlain_Changed_request))), proxy->target);
    const struct IPlain_Changed_reply *results = (const struct IPlain_Changed_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t number_value = OBVIA_LOAD(int32_t, &results->number);
    const uint8_t flag_value = OBVIA_LOAD(uint8_t, &results->flag);
    if (OBVIA_UNLIKELY(flag_value > 1)) {
        return RPC_E_INVALID_DATA;
    }
    Stamp stamp_value;
    obvia_copy(&stamp_value, &results->stamp, sizeof stamp_value);
    if (OBVIA_UNLIKELY(!Stamp_is_valid(&stamp_value))) {
        return RPC_E_INVALID_DATA;
    }
    *number = number_value;
    *flag = flag_value;
    *stamp = stamp_value;
    obvia_copy(id, &results->id, sizeof results->id);
    return obvia_result(reply);
}

static HRESULT IPlain_Changed_prepare(IPlain *self, int32_t *number, uint8_t *flag, Stamp *stamp, GUID *id)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Changed_proxy(self, number, flag, stamp, id);
}

static obvia_answer IPlain_Changed_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Changed_request *request = (const struct IPlain_Changed_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t number = OBVIA_LOAD(int32_t, &request->number);
    const uint8_t flag = OBVIA_LOAD(uint8_t, &request->flag);
    if (OBVIA_UNLIKELY(flag > 1)) {
        return OBVIA_BAD_STUB_DATA;
    }
    Stamp stamp;
    obvia_copy(&stamp, &request->stamp, sizeof stamp);
    if (OBVIA_UNLIKELY(!Stamp_is_valid(&stamp))) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IPlain_Changed_reply *results = (struct IPlain_Changed_reply *)call->slot;
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    results->number = number;
    results->flag = flag;
    obvia_copy(&results->id, &request->id, sizeof results->id);
    const HRESULT result = (self->lpVtbl->Changed)(self, &results->number, &results->flag, &stamp, &results->id);
    Stamp_store(&results->stamp, &stamp);
    return obvia_results(result, sizeof *results);
}

/* Stamps: opnum 9
 *   request  72 bytes: 0 by_value Pair, 8 stamp Stamp, 56 id GUID
 *   reply    56 bytes: 0 printed Stamp, 48 pair Pair
 */
struct IPlain_Stamps_request {
    Pair by_value;
    Stamp stamp;
    GUID id;
};
OBVIA_HAS_SIZE(struct IPlain_Stamps_request, 72);
OBVIA_LIES_AT(struct IPlain_Stamps_request, by_value, 0);
OBVIA_LIES_AT(struct IPlain_Stamps_request, stamp, 8);
OBVIA_LIES_AT(struct IPlain_Stamps_request, id, 56);

struct IPlain_Stamps_reply {
    Stamp printed;
    Pair pair;
};
OBVIA_HAS_SIZE(struct IPlain_Stamps_reply, 56);
OBVIA_LIES_AT(struct IPlain_Stamps_reply, printed, 0);
OBVIA_LIES_AT(struct IPlain_Stamps_reply, pair, 48);

static OBVIA_COLD HRESULT IPlain_Stamps_prepare(IPlain *self, Pair by_value, const Stamp *stamp, const GUID *id, Stamp *printed, Pair *pair);

static HRESULT IPlain_Stamps_proxy(IPlain *self, Pair by_value, const Stamp *stamp, const GUID *id, Stamp *printed, Pair *pair)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Stamps_prepare(self, by_value, stamp, id, printed, pair))
    struct IPlain_Stamps_request *request = (struct IPlain_Stamps_request *)calls->slot;
    request->by_value = by_value;
    Stamp_store(&request->stamp, stamp);
    request->id = *id;
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(9, OBVIA_ALIGN(sizeof(struct IPlain_Stamps_request))), proxy->target);
    const struct IPlain_Stamps_reply *results = (const struct IPlain_Stamps_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    Stamp printed_value;
    obvia_copy(&printed_value, &results->printed, sizeof printed_value);
    if (OBVIA_UNLIKELY(!Stamp_is_valid(&printed_value))) {
        return RPC_E_INVALID_DATA;
    }
    *printed = printed_value;
    obvia_copy(pair, &results->pair, sizeof results->pair);
    return obvia_result(reply);
}

static HRESULT IPlain_Stamps_prepare(IPlain *self, Pair by_value, const Stamp *stamp, const GUID *id, Stamp *printed, Pair *pair)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Stamps_proxy(self, by_value, stamp, id, printed, pair);
}

static obvia_answer IPlain_Stamps_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Stamps_request *request = (const struct IPlain_Stamps_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    Pair by_value;
    obvia_copy(&by_value, &request->by_value, sizeof by_value);
    Stamp stamp;
    obvia_copy(&stamp, &request->stamp, sizeof stamp);
    if (OBVIA_UNLIKELY(!Stamp_is_valid(&stamp))) {
        return OBVIA_BAD_STUB_DATA;
    }
    GUID id;
    obvia_copy(&id, &request->id, sizeof id);
    struct IPlain_Stamps_reply *results = (struct IPlain_Stamps_reply *)call->slot;
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    Stamp printed;
    memset(&printed, 0, sizeof printed);
    const HRESULT result = (self->lpVtbl->Stamps)(self, by_value, &stamp, &id, &printed, &results->pair);
    Stamp_store(&results->printed, &printed);
    return obvia_results(result, sizeof *results);
}

/* Fixed: opnum 10
 *   request  44 bytes: 0 seal uint8_t [16], 16 flags uint8_t [3], 20 grid int32_t [2][3]
 *   reply    48 bytes: 0 grid int32_t [2][3], 24 kinds Kind [2], 32 pairs Pair [2]
 */
struct IPlain_Fixed_request {
    uint8_t seal[16];
    uint8_t flags[3];
    int32_t grid[2][3];
};
OBVIA_HAS_SIZE(struct IPlain_Fixed_request, 44);
OBVIA_LIES_AT(struct IPlain_Fixed_request, seal, 0);
OBVIA_LIES_AT(struct IPlain_Fixed_request, flags, 16);
OBVIA_LIES_AT(struct IPlain_Fixed_request, grid, 20);

struct IPlain_Fixed_reply {
    int32_t grid[2][3];
    Kind kinds[2];
    Pair pairs[2];
};
OBVIA_HAS_SIZE(struct IPlain_Fixed_reply, 48);
OBVIA_LIES_AT(struct IPlain_Fixed_reply, grid, 0);
OBVIA_LIES_AT(struct IPlain_Fixed_reply, kinds, 24);
OBVIA_LIES_AT(struct IPlain_Fixed_reply, pairs, 32);

static OBVIA_COLD HRESULT IPlain_Fixed_prepare(IPlain *self, const uint8_t seal[16], const uint8_t flags[3], int32_t grid[2][3], Kind kinds[2], Pair pairs[2]);

static HRESULT IPlain_Fixed_proxy(IPlain *self, const uint8_t seal[16], const uint8_t flags[3], int32_t grid[2][3], Kind kinds[2], Pair pairs[2])
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Fixed_prepare(self, seal, flags, grid, kinds, pairs))
    struct IPlain_Fixed_request *request = (struct IPlain_Fixed_request *)calls->slot;
    memcpy(request->seal, seal, sizeof request->seal);
    memcpy(request->flags, flags, sizeof request->flags);
    memcpy(request->grid, grid, sizeof request->grid);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(10, OBVIA_ALIGN(sizeof(struct IPlain_Fixed_request))), proxy->target);
    const struct IPlain_Fixed_reply *results = (const struct IPlain_Fixed_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    Kind kinds_value[2];
    obvia_copy(kinds_value, results->kinds, sizeof kinds_value);
    for (uint64_t at = 0; at < 2; at++) {
        if (OBVIA_UNLIKELY(!Kind_is_valid((int32_t)kinds_value[at]))) {
            return RPC_E_INVALID_DATA;
        }
    }
    obvia_copy(grid, results->grid, sizeof results->grid);
    memcpy(kinds, kinds_value, sizeof kinds_value);
    obvia_copy(pairs, results->pairs, sizeof results->pairs);
    return obvia_result(reply);
}

static HRESULT IPlain_Fixed_prepare(IPlain *self, const uint8_t seal[16], const uint8_t flags[3], int32_t grid[2][3], Kind kinds[2], Pair pairs[2])
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Fixed_proxy(self, seal, flags, grid, kinds, pairs);
}

static obvia_answer IPlain_Fixed_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Fixed_request *request = (const struct IPlain_Fixed_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    uint8_t flags[3];
    obvia_copy(flags, request->flags, sizeof flags);
    for (uint64_t at = 0; at < 3; at++) {
        if (OBVIA_UNLIKELY(flags[at] > 1)) {
            return OBVIA_BAD_STUB_DATA;
        }
    }
    struct IPlain_Fixed_reply *results = (struct IPlain_Fixed_reply *)call->slot;
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    obvia_copy(results->grid, request->grid, sizeof results->grid);
    const HRESULT result = (self->lpVtbl->Fixed)(self, request->seal, flags, results->grid, results->kinds, results->pairs);
    return obvia_results(result, sizeof *results);
}

/* Large: opnum 11
 *   request 168 bytes: 0 first int32_t, 8 many int64_t [20]
 *   reply   160 bytes: 0 back int64_t [20]
 */
struct IPlain_Large_request {
    int32_t first;
    int64_t many[20];
};
OBVIA_HAS_SIZE(struct IPlain_Large_request, 168);
OBVIA_LIES_AT(struct IPlain_Large_request, first, 0);
OBVIA_LIES_AT(struct IPlain_Large_request, many, 8);

struct IPlain_Large_reply {
    int64_t back[20];
};
OBVIA_HAS_SIZE(struct IPlain_Large_reply, 160);
OBVIA_LIES_AT(struct IPlain_Large_reply, back, 0);

static OBVIA_COLD HRESULT IPlain_Large_prepare(IPlain *self, int32_t first, const int64_t many[20], int64_t back[20]);

static HRESULT IPlain_Large_proxy(IPlain *self, int32_t first, const int64_t many[20], int64_t back[20])
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Large_prepare(self, first, many, back))
    struct IPlain_Large_request *request = (struct IPlain_Large_request *)obvia_request(calls, OBVIA_ALIGN(sizeof(struct IPlain_Large_request)), OBVIA_ALIGN(sizeof(struct IPlain_Large_request)) + 8);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(int32_t, &request->first, first);
    memcpy(request->many, many, sizeof request->many);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(11, OBVIA_ALIGN(sizeof(struct IPlain_Large_request))), proxy->target);
    const struct IPlain_Large_reply *results = (const struct IPlain_Large_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    obvia_copy(back, results->back, sizeof results->back);
    return obvia_result(reply);
}

static HRESULT IPlain_Large_prepare(IPlain *self, int32_t first, const int64_t many[20], int64_t back[20])
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Large_proxy(self, first, many, back);
}

static obvia_answer IPlain_Large_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Large_request *request = (const struct IPlain_Large_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t first = OBVIA_LOAD(int32_t, &request->first);
    const uint64_t length = OBVIA_ALIGN(sizeof(struct IPlain_Large_reply));
    struct IPlain_Large_reply *results = (struct IPlain_Large_reply *)obvia_reply_place(call, length, length + 8);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    const HRESULT result = (self->lpVtbl->Large)(self, first, request->many, results->back);
    return obvia_results(result, sizeof *results);
}

/* Sheets: opnum 12
 *   request 112 bytes: 0 sheet Sheet
 *   reply   112 bytes: 0 copy Sheet
 */
struct IPlain_Sheets_request {
    Sheet sheet;
};
OBVIA_HAS_SIZE(struct IPlain_Sheets_request, 112);
OBVIA_LIES_AT(struct IPlain_Sheets_request, sheet, 0);

struct IPlain_Sheets_reply {
    Sheet copy;
};
OBVIA_HAS_SIZE(struct IPlain_Sheets_reply, 112);
OBVIA_LIES_AT(struct IPlain_Sheets_reply, copy, 0);

static OBVIA_COLD HRESULT IPlain_Sheets_prepare(IPlain *self, const Sheet *sheet, Sheet *copy);

static HRESULT IPlain_Sheets_proxy(IPlain *self, const Sheet *sheet, Sheet *copy)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Sheets_prepare(self, sheet, copy))
    struct IPlain_Sheets_request *request = (struct IPlain_Sheets_request *)calls->slot;
    Sheet_store(&request->sheet, sheet);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(12, OBVIA_ALIGN(sizeof(struct IPlain_Sheets_request))), proxy->target);
    const struct IPlain_Sheets_reply *results = (const struct IPlain_Sheets_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    Sheet copy_value;
    obvia_copy(&copy_value, &results->copy, sizeof copy_value);
    if (OBVIA_UNLIKELY(!Sheet_is_valid(&copy_value))) {
        return RPC_E_INVALID_DATA;
    }
    *copy = copy_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Sheets_prepare(IPlain *self, const Sheet *sheet, Sheet *copy)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Sheets_proxy(self, sheet, copy);
}

static obvia_answer IPlain_Sheets_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Sheets_request *request = (const struct IPlain_Sheets_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    Sheet sheet;
    obvia_copy(&sheet, &request->sheet, sizeof sheet);
    if (OBVIA_UNLIKELY(!Sheet_is_valid(&sheet))) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IPlain_Sheets_reply *results = (struct IPlain_Sheets_reply *)call->slot;
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    Sheet copy;
    memset(&copy, 0, sizeof copy);
    const HRESULT result = (self->lpVtbl->Sheets)(self, &sheet, &copy);
    Sheet_store(&results->copy, &copy);
    return obvia_results(result, sizeof *results);
}

/* Total: opnum 13
 *   request  16 bytes: 0 count uint32_t, 8 values ->
 *   reply     8 bytes: 0 sum int64_t
 */
struct IPlain_Total_request {
    uint32_t count;
    uint64_t values;
};
OBVIA_HAS_SIZE(struct IPlain_Total_request, 16);
OBVIA_LIES_AT(struct IPlain_Total_request, count, 0);
OBVIA_LIES_AT(struct IPlain_Total_request, values, 8);

struct IPlain_Total_reply {
    int64_t sum;
};
OBVIA_HAS_SIZE(struct IPlain_Total_reply, 8);
OBVIA_LIES_AT(struct IPlain_Total_reply, sum, 0);

static OBVIA_COLD HRESULT IPlain_Total_prepare(IPlain *self, uint32_t count, const int32_t *values, int64_t *sum);

static HRESULT IPlain_Total_proxy(IPlain *self, uint32_t count, const int32_t *values, int64_t *sum)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Total_prepare(self, count, values, sum))
    const uint64_t values_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(values_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_many(values_count);
    }
    const uint64_t values_at = OBVIA_ALIGN(sizeof(struct IPlain_Total_request)) + 8;
    const uint64_t length = values_at + OBVIA_ALIGN(values_count * sizeof(int32_t));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IPlain_Total_request *request = (struct IPlain_Total_request *)obvia_request_place(calls, length, values_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(uint32_t, &request->count, count);
    obvia_put_array(request, &request->values, values_at, 16, values_count, values_count * sizeof(int32_t));
    obvia_copy(OBVIA_AT(int32_t *, request, values_at), values, values_count * sizeof(int32_t));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(13, length), proxy->target);
    const struct IPlain_Total_reply *results = (const struct IPlain_Total_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int64_t sum_value = OBVIA_LOAD(int64_t, &results->sum);
    *sum = sum_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Total_prepare(IPlain *self, uint32_t count, const int32_t *values, int64_t *sum)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Total_proxy(self, count, values, sum);
}

static obvia_answer IPlain_Total_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Total_request *request = (const struct IPlain_Total_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t count = OBVIA_LOAD(uint32_t, &request->count);
    const uint64_t values_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(values_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t values_at = OBVIA_ALIGN(sizeof(struct IPlain_Total_request)) + 8;
    if (OBVIA_UNLIKELY(call->length != values_at + OBVIA_ALIGN(values_count * sizeof(int32_t)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->values, values_at, 16, values_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IPlain_Total_reply *results = (struct IPlain_Total_reply *)call->slot;
    const HRESULT result = (self->lpVtbl->Total)(self, count, OBVIA_AT(const int32_t *, request, values_at), &results->sum);
    return obvia_results(result, sizeof *results);
}

/* Two: opnum 14
 *   request  24 bytes: 0 n int32_t, 8 a ->, 16 b ->
 *   reply     4 bytes: 0 sum int32_t
 */
struct IPlain_Two_request {
    int32_t n;
    uint64_t a;
    uint64_t b;
};
OBVIA_HAS_SIZE(struct IPlain_Two_request, 24);
OBVIA_LIES_AT(struct IPlain_Two_request, n, 0);
OBVIA_LIES_AT(struct IPlain_Two_request, a, 8);
OBVIA_LIES_AT(struct IPlain_Two_request, b, 16);

struct IPlain_Two_reply {
    int32_t sum;
};
OBVIA_HAS_SIZE(struct IPlain_Two_reply, 4);
OBVIA_LIES_AT(struct IPlain_Two_reply, sum, 0);

static OBVIA_COLD HRESULT IPlain_Two_prepare(IPlain *self, int32_t n, const int16_t *a, const uint8_t *b, int32_t *sum);

static HRESULT IPlain_Two_proxy(IPlain *self, int32_t n, const int16_t *a, const uint8_t *b, int32_t *sum)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Two_prepare(self, n, a, b, sum))
    const uint64_t a_count = (uint64_t)n;
    if (OBVIA_UNLIKELY(a_count > OBVIA_FRAME_MAX / sizeof(int16_t))) {
        return obvia_too_many(a_count);
    }
    int b_count_wrong = 0;
    const uint64_t b_count = obvia_count(obvia_add(obvia_multiply((int64_t)n, INT64_C(2), &b_count_wrong), INT64_C(1), &b_count_wrong), &b_count_wrong);
    if (OBVIA_UNLIKELY(b_count > OBVIA_FRAME_MAX / sizeof(uint8_t))) {
        return obvia_too_many(b_count);
    }
    const uint64_t a_at = OBVIA_ALIGN(sizeof(struct IPlain_Two_request)) + 8;
    const uint64_t b_at = a_at + OBVIA_ALIGN(a_count * sizeof(int16_t)) + 8;
    const uint64_t length = b_at + OBVIA_ALIGN(b_count * sizeof(uint8_t));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IPlain_Two_request *request = (struct IPlain_Two_request *)obvia_request_place(calls, length, a_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(int32_t, &request->n, n);
    obvia_put_array(request, &request->a, a_at, 17, a_count, a_count * sizeof(int16_t));
    obvia_copy(OBVIA_AT(int16_t *, request, a_at), a, a_count * sizeof(int16_t));
    obvia_put_array(request, &request->b, b_at, 18, b_count, b_count * sizeof(uint8_t));
    obvia_copy(OBVIA_AT(uint8_t *, request, b_at), b, b_count * sizeof(uint8_t));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(14, length), proxy->target);
    const struct IPlain_Two_reply *results = (const struct IPlain_Two_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t sum_value = OBVIA_LOAD(int32_t, &results->sum);
    *sum = sum_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Two_prepare(IPlain *self, int32_t n, const int16_t *a, const uint8_t *b, int32_t *sum)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Two_proxy(self, n, a, b, sum);
}

static obvia_answer IPlain_Two_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Two_request *request = (const struct IPlain_Two_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t n = OBVIA_LOAD(int32_t, &request->n);
    const uint64_t a_count = (uint64_t)n;
    if (OBVIA_UNLIKELY(a_count > OBVIA_FRAME_MAX / sizeof(int16_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    int b_count_wrong = 0;
    const uint64_t b_count = obvia_count(obvia_add(obvia_multiply((int64_t)n, INT64_C(2), &b_count_wrong), INT64_C(1), &b_count_wrong), &b_count_wrong);
    if (OBVIA_UNLIKELY(b_count > OBVIA_FRAME_MAX / sizeof(uint8_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t a_at = OBVIA_ALIGN(sizeof(struct IPlain_Two_request)) + 8;
    const uint64_t b_at = a_at + OBVIA_ALIGN(a_count * sizeof(int16_t)) + 8;
    if (OBVIA_UNLIKELY(call->length != b_at + OBVIA_ALIGN(b_count * sizeof(uint8_t)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->a, a_at, 17, a_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->b, b_at, 18, b_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IPlain_Two_reply *results = (struct IPlain_Two_reply *)call->slot;
    const HRESULT result = (self->lpVtbl->Two)(self, n, OBVIA_AT(const int16_t *, request, a_at), OBVIA_AT(const uint8_t *, request, b_at), &results->sum);
    return obvia_results(result, sizeof *results);
}

/* Flags: opnum 15
 *   request  24 bytes: 0 count uint16_t, 8 flags ->, 16 stamps ->
 *   reply     4 bytes: 0 number int32_t
 */
struct IPlain_Flags_request {
    uint16_t count;
    uint64_t flags;
    uint64_t stamps;
};
OBVIA_HAS_SIZE(struct IPlain_Flags_request, 24);
OBVIA_LIES_AT(struct IPlain_Flags_request, count, 0);
OBVIA_LIES_AT(struct IPlain_Flags_request, flags, 8);
OBVIA_LIES_AT(struct IPlain_Flags_request, stamps, 16);

struct IPlain_Flags_reply {
    int32_t number;
};
OBVIA_HAS_SIZE(struct IPlain_Flags_reply, 4);
OBVIA_LIES_AT(struct IPlain_Flags_reply, number, 0);

static OBVIA_COLD HRESULT IPlain_Flags_prepare(IPlain *self, uint16_t count, const uint8_t *flags, const Stamp *stamps, int32_t *number);

static HRESULT IPlain_Flags_proxy(IPlain *self, uint16_t count, const uint8_t *flags, const Stamp *stamps, int32_t *number)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Flags_prepare(self, count, flags, stamps, number))
    const uint64_t flags_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(flags_count > OBVIA_FRAME_MAX / sizeof(uint8_t))) {
        return obvia_too_many(flags_count);
    }
    const uint64_t stamps_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(stamps_count > OBVIA_FRAME_MAX / sizeof(Stamp))) {
        return obvia_too_many(stamps_count);
    }
    const uint64_t flags_at = OBVIA_ALIGN(sizeof(struct IPlain_Flags_request)) + 8;
    const uint64_t stamps_at = flags_at + OBVIA_ALIGN(flags_count * sizeof(uint8_t)) + 8;
    const uint64_t length = stamps_at + OBVIA_ALIGN(stamps_count * sizeof(Stamp));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IPlain_Flags_request *request = (struct IPlain_Flags_request *)obvia_request_place(calls, length, flags_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(uint16_t, &request->count, count);
    obvia_put_array(request, &request->flags, flags_at, 19, flags_count, flags_count * sizeof(uint8_t));
    obvia_copy(OBVIA_AT(uint8_t *, request, flags_at), flags, flags_count * sizeof(uint8_t));
    obvia_put_array(request, &request->stamps, stamps_at, 20, stamps_count, stamps_count * sizeof(Stamp));
    for (uint64_t at = 0; at < stamps_count; at++) {
        Stamp_store(&((Stamp *)OBVIA_AT(Stamp *, request, stamps_at))[at], &((const Stamp *)stamps)[at]);
    }
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(15, length), proxy->target);
    const struct IPlain_Flags_reply *results = (const struct IPlain_Flags_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t number_value = OBVIA_LOAD(int32_t, &results->number);
    *number = number_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Flags_prepare(IPlain *self, uint16_t count, const uint8_t *flags, const Stamp *stamps, int32_t *number)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Flags_proxy(self, count, flags, stamps, number);
}

static obvia_answer IPlain_Flags_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Flags_request *request = (const struct IPlain_Flags_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint16_t count = OBVIA_LOAD(uint16_t, &request->count);
    const uint64_t flags_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(flags_count > OBVIA_FRAME_MAX / sizeof(uint8_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t stamps_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(stamps_count > OBVIA_FRAME_MAX / sizeof(Stamp))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t flags_at = OBVIA_ALIGN(sizeof(struct IPlain_Flags_request)) + 8;
    const uint64_t stamps_at = flags_at + OBVIA_ALIGN(flags_count * sizeof(uint8_t)) + 8;
    if (OBVIA_UNLIKELY(call->length != stamps_at + OBVIA_ALIGN(stamps_count * sizeof(Stamp)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->flags, flags_at, 19, flags_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->stamps, stamps_at, 20, stamps_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IPlain_Flags_reply *results = (struct IPlain_Flags_reply *)call->slot;
    uint8_t *flags_own = (uint8_t *)obvia_room(flags_count * sizeof(uint8_t));
    if (OBVIA_UNLIKELY(flags_own == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    obvia_copy(flags_own, OBVIA_AT(const uint8_t *, request, flags_at), flags_count * sizeof(uint8_t));
    for (uint64_t at = 0; at < flags_count; at++) {
        if (OBVIA_UNLIKELY(flags_own[at] > 1)) {
            free(flags_own);
            return OBVIA_BAD_STUB_DATA;
        }
    }
    Stamp *stamps_own = (Stamp *)obvia_room(stamps_count * sizeof(Stamp));
    if (OBVIA_UNLIKELY(stamps_own == NULL)) {
        free(flags_own);
        return OBVIA_NO_MEMORY;
    }
    obvia_copy(stamps_own, OBVIA_AT(const Stamp *, request, stamps_at), stamps_count * sizeof(Stamp));
    for (uint64_t at = 0; at < stamps_count; at++) {
        if (OBVIA_UNLIKELY(!Stamp_is_valid(&stamps_own[at]))) {
            free(flags_own);
            free(stamps_own);
            return OBVIA_BAD_STUB_DATA;
        }
    }
    const HRESULT result = (self->lpVtbl->Flags)(self, count, flags_own, stamps_own, &results->number);
    free(flags_own);
    free(stamps_own);
    return obvia_results(result, sizeof *results);
}

/* Fill: opnum 16
 *   request   8 bytes: 0 room int32_t, 4 start int32_t
 *   reply     8 bytes: 0 values ->
 */
struct IPlain_Fill_request {
    int32_t room;
    int32_t start;
};
OBVIA_HAS_SIZE(struct IPlain_Fill_request, 8);
OBVIA_LIES_AT(struct IPlain_Fill_request, room, 0);
OBVIA_LIES_AT(struct IPlain_Fill_request, start, 4);

struct IPlain_Fill_reply {
    uint64_t values;
};
OBVIA_HAS_SIZE(struct IPlain_Fill_reply, 8);
OBVIA_LIES_AT(struct IPlain_Fill_reply, values, 0);

static OBVIA_COLD HRESULT IPlain_Fill_prepare(IPlain *self, int32_t room, int32_t *values, int32_t start);

static HRESULT IPlain_Fill_proxy(IPlain *self, int32_t room, int32_t *values, int32_t start)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Fill_prepare(self, room, values, start))
    const uint64_t values_count = (uint64_t)room;
    if (OBVIA_UNLIKELY(values_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_many(values_count);
    }
    struct IPlain_Fill_request *request = (struct IPlain_Fill_request *)calls->slot;
    OBVIA_STORE(int32_t, &request->room, room);
    OBVIA_STORE(int32_t, &request->start, start);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(16, OBVIA_ALIGN(sizeof(struct IPlain_Fill_request))), proxy->target);
    const struct IPlain_Fill_reply *results = (const struct IPlain_Fill_reply *)reply.frame;
    const uint64_t values_from = OBVIA_ALIGN(sizeof(struct IPlain_Fill_reply)) + 8;
    if (OBVIA_UNLIKELY(obvia_length(reply) != values_from + OBVIA_ALIGN(values_count * sizeof(int32_t)))) {
        return obvia_refusal(reply);
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->values, values_from, 16, values_count))) {
        return RPC_E_INVALID_DATA;
    }
    obvia_copy(values, OBVIA_AT(const int32_t *, results, values_from), values_count * sizeof(int32_t));
    return obvia_result(reply);
}

static HRESULT IPlain_Fill_prepare(IPlain *self, int32_t room, int32_t *values, int32_t start)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Fill_proxy(self, room, values, start);
}

static obvia_answer IPlain_Fill_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Fill_request *request = (const struct IPlain_Fill_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t room = OBVIA_LOAD(int32_t, &request->room);
    const int32_t start = OBVIA_LOAD(int32_t, &request->start);
    const uint64_t values_count = (uint64_t)room;
    if (OBVIA_UNLIKELY(values_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_large(values_count);
    }
    const uint64_t values_to = OBVIA_ALIGN(sizeof(struct IPlain_Fill_reply)) + 8;
    const uint64_t length = values_to + OBVIA_ALIGN(values_count * sizeof(int32_t));
    struct IPlain_Fill_reply *results = (struct IPlain_Fill_reply *)obvia_reply_place(call, length, values_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    obvia_put_array(results, &results->values, values_to, 16, values_count, values_count * sizeof(int32_t));
    const HRESULT result = (self->lpVtbl->Fill)(self, room, OBVIA_AT(int32_t *, results, values_to), start);
    return obvia_results(result, length);
}

/* Fetch: opnum 17
 *   request   4 bytes: 0 room uint32_t
 *   reply    24 bytes: 0 letters ->, 8 got uint32_t, 16 rest ->
 */
struct IPlain_Fetch_request {
    uint32_t room;
};
OBVIA_HAS_SIZE(struct IPlain_Fetch_request, 4);
OBVIA_LIES_AT(struct IPlain_Fetch_request, room, 0);

struct IPlain_Fetch_reply {
    uint64_t letters;
    uint32_t got;
    uint64_t rest;
};
OBVIA_HAS_SIZE(struct IPlain_Fetch_reply, 24);
OBVIA_LIES_AT(struct IPlain_Fetch_reply, letters, 0);
OBVIA_LIES_AT(struct IPlain_Fetch_reply, got, 8);
OBVIA_LIES_AT(struct IPlain_Fetch_reply, rest, 16);

static OBVIA_COLD HRESULT IPlain_Fetch_prepare(IPlain *self, uint32_t room, int16_t *letters, uint32_t *got, int32_t *rest);

static HRESULT IPlain_Fetch_proxy(IPlain *self, uint32_t room, int16_t *letters, uint32_t *got, int32_t *rest)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Fetch_prepare(self, room, letters, got, rest))
    const uint64_t letters_count = (uint64_t)room;
    if (OBVIA_UNLIKELY(letters_count > OBVIA_FRAME_MAX / sizeof(int16_t))) {
        return obvia_too_many(letters_count);
    }
    const uint64_t rest_count = (uint64_t)room;
    if (OBVIA_UNLIKELY(rest_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_many(rest_count);
    }
    struct IPlain_Fetch_request *request = (struct IPlain_Fetch_request *)calls->slot;
    OBVIA_STORE(uint32_t, &request->room, room);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(17, OBVIA_ALIGN(sizeof(struct IPlain_Fetch_request))), proxy->target);
    const struct IPlain_Fetch_reply *results = (const struct IPlain_Fetch_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) < OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const uint32_t got_value = OBVIA_LOAD(uint32_t, &results->got);
    const uint64_t letters_used = (uint64_t)got_value;
    if (OBVIA_UNLIKELY(letters_used > letters_count)) {
        return RPC_E_INVALID_DATA;
    }
    const uint64_t letters_from = OBVIA_ALIGN(sizeof(struct IPlain_Fetch_reply)) + 8;
    const uint64_t rest_from = letters_from + OBVIA_ALIGN(letters_used * sizeof(int16_t)) + 8;
    if (OBVIA_UNLIKELY(obvia_length(reply) != rest_from + OBVIA_ALIGN(rest_count * sizeof(int32_t)))) {
        return obvia_refusal(reply);
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->letters, letters_from, 17, letters_used))) {
        return RPC_E_INVALID_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->rest, rest_from, 16, rest_count))) {
        return RPC_E_INVALID_DATA;
    }
    obvia_copy(letters, OBVIA_AT(const int16_t *, results, letters_from), letters_used * sizeof(int16_t));
    obvia_copy(rest, OBVIA_AT(const int32_t *, results, rest_from), rest_count * sizeof(int32_t));
    *got = got_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Fetch_prepare(IPlain *self, uint32_t room, int16_t *letters, uint32_t *got, int32_t *rest)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Fetch_proxy(self, room, letters, got, rest);
}

static obvia_answer IPlain_Fetch_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Fetch_request *request = (const struct IPlain_Fetch_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length != OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint32_t room = OBVIA_LOAD(uint32_t, &request->room);
    const uint64_t letters_count = (uint64_t)room;
    if (OBVIA_UNLIKELY(letters_count > OBVIA_FRAME_MAX / sizeof(int16_t))) {
        return obvia_too_large(letters_count);
    }
    const uint64_t rest_count = (uint64_t)room;
    if (OBVIA_UNLIKELY(rest_count > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_large(rest_count);
    }
    const uint64_t letters_to = OBVIA_ALIGN(sizeof(struct IPlain_Fetch_reply)) + 8;
    const uint64_t rest_to = letters_to + OBVIA_ALIGN(letters_count * sizeof(int16_t)) + 8;
    const uint64_t length = rest_to + OBVIA_ALIGN(rest_count * sizeof(int32_t));
    struct IPlain_Fetch_reply *results = (struct IPlain_Fetch_reply *)obvia_reply_place(call, length, letters_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    const HRESULT result = (self->lpVtbl->Fetch)(self, room, OBVIA_AT(int16_t *, results, letters_to), &results->got, OBVIA_AT(int32_t *, results, rest_to));
    if (OBVIA_UNLIKELY(result < 0)) {
        return obvia_results(result, 0);
    }
    const uint64_t letters_used = (uint64_t)results->got;
    if (OBVIA_UNLIKELY(letters_used > letters_count)) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t letters_final = OBVIA_ALIGN(sizeof(struct IPlain_Fetch_reply)) + 8;
    const uint64_t rest_final = letters_final + OBVIA_ALIGN(letters_used * sizeof(int16_t)) + 8;
    obvia_move_array(results, &results->letters, letters_to, letters_final, 17, letters_used, letters_used * sizeof(int16_t));
    obvia_move_array(results, &results->rest, rest_to, rest_final, 16, rest_count, rest_count * sizeof(int32_t));
    return obvia_results(result, rest_final + OBVIA_ALIGN(rest_count * sizeof(int32_t)));
}

/* Double: opnum 18
 *   request  24 bytes: 0 count int64_t, 8 values ->, 16 kinds ->
 *   reply    16 bytes: 0 values ->, 8 kinds ->
 */
struct IPlain_Double_request {
    int64_t count;
    uint64_t values;
    uint64_t kinds;
};
OBVIA_HAS_SIZE(struct IPlain_Double_request, 24);
OBVIA_LIES_AT(struct IPlain_Double_request, count, 0);
OBVIA_LIES_AT(struct IPlain_Double_request, values, 8);
OBVIA_LIES_AT(struct IPlain_Double_request, kinds, 16);

struct IPlain_Double_reply {
    uint64_t values;
    uint64_t kinds;
};
OBVIA_HAS_SIZE(struct IPlain_Double_reply, 16);
OBVIA_LIES_AT(struct IPlain_Double_reply, values, 0);
OBVIA_LIES_AT(struct IPlain_Double_reply, kinds, 8);

static OBVIA_COLD HRESULT IPlain_Double_prepare(IPlain *self, int64_t count, double *values, Kind *kinds);

static HRESULT IPlain_Double_proxy(IPlain *self, int64_t count, double *values, Kind *kinds)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Double_prepare(self, count, values, kinds))
    const uint64_t values_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(values_count > OBVIA_FRAME_MAX / sizeof(double))) {
        return obvia_too_many(values_count);
    }
    const uint64_t kinds_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(kinds_count > OBVIA_FRAME_MAX / sizeof(Kind))) {
        return obvia_too_many(kinds_count);
    }
    const uint64_t values_at = OBVIA_ALIGN(sizeof(struct IPlain_Double_request)) + 8;
    const uint64_t kinds_at = values_at + OBVIA_ALIGN(values_count * sizeof(double)) + 8;
    const uint64_t length = kinds_at + OBVIA_ALIGN(kinds_count * sizeof(Kind));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IPlain_Double_request *request = (struct IPlain_Double_request *)obvia_request_place(calls, length, values_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(int64_t, &request->count, count);
    obvia_put_array(request, &request->values, values_at, 21, values_count, values_count * sizeof(double));
    obvia_copy(OBVIA_AT(double *, request, values_at), values, values_count * sizeof(double));
    obvia_put_array(request, &request->kinds, kinds_at, 22, kinds_count, kinds_count * sizeof(Kind));
    obvia_copy(OBVIA_AT(Kind *, request, kinds_at), kinds, kinds_count * sizeof(Kind));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(18, length), proxy->target);
    const struct IPlain_Double_reply *results = (const struct IPlain_Double_reply *)reply.frame;
    const uint64_t values_from = OBVIA_ALIGN(sizeof(struct IPlain_Double_reply)) + 8;
    const uint64_t kinds_from = values_from + OBVIA_ALIGN(values_count * sizeof(double)) + 8;
    if (OBVIA_UNLIKELY(obvia_length(reply) != kinds_from + OBVIA_ALIGN(kinds_count * sizeof(Kind)))) {
        return obvia_refusal(reply);
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->values, values_from, 21, values_count))) {
        return RPC_E_INVALID_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->kinds, kinds_from, 22, kinds_count))) {
        return RPC_E_INVALID_DATA;
    }
    obvia_copy(values, OBVIA_AT(const double *, results, values_from), values_count * sizeof(double));
    obvia_copy(kinds, OBVIA_AT(const Kind *, results, kinds_from), kinds_count * sizeof(Kind));
    for (uint64_t at = 0; at < kinds_count; at++) {
        if (OBVIA_UNLIKELY(!Kind_is_valid((int32_t)kinds[at]))) {
            return RPC_E_INVALID_DATA;
        }
    }
    return obvia_result(reply);
}

static HRESULT IPlain_Double_prepare(IPlain *self, int64_t count, double *values, Kind *kinds)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Double_proxy(self, count, values, kinds);
}

static obvia_answer IPlain_Double_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Double_request *request = (const struct IPlain_Double_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int64_t count = OBVIA_LOAD(int64_t, &request->count);
    const uint64_t values_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(values_count > OBVIA_FRAME_MAX / sizeof(double))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t kinds_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(kinds_count > OBVIA_FRAME_MAX / sizeof(Kind))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t values_at = OBVIA_ALIGN(sizeof(struct IPlain_Double_request)) + 8;
    const uint64_t kinds_at = values_at + OBVIA_ALIGN(values_count * sizeof(double)) + 8;
    if (OBVIA_UNLIKELY(call->length != kinds_at + OBVIA_ALIGN(kinds_count * sizeof(Kind)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->values, values_at, 21, values_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->kinds, kinds_at, 22, kinds_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t values_to = OBVIA_ALIGN(sizeof(struct IPlain_Double_reply)) + 8;
    const uint64_t kinds_to = values_to + OBVIA_ALIGN(values_count * sizeof(double)) + 8;
    const uint64_t length = kinds_to + OBVIA_ALIGN(kinds_count * sizeof(Kind));
    struct IPlain_Double_reply *results = (struct IPlain_Double_reply *)obvia_reply_place(call, length, values_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    obvia_put_array(results, &results->values, values_to, 21, values_count, values_count * sizeof(double));
    obvia_copy(OBVIA_AT(double *, results, values_to), OBVIA_AT(const double *, request, values_at), values_count * sizeof(double));
    obvia_put_array(results, &results->kinds, kinds_to, 22, kinds_count, kinds_count * sizeof(Kind));
    obvia_copy(OBVIA_AT(Kind *, results, kinds_to), OBVIA_AT(const Kind *, request, kinds_at), kinds_count * sizeof(Kind));
    for (uint64_t at = 0; at < kinds_count; at++) {
        if (OBVIA_UNLIKELY(!Kind_is_valid((int32_t)OBVIA_AT(Kind *, results, kinds_to)[at]))) {
            return OBVIA_BAD_STUB_DATA;
        }
    }
    const HRESULT result = (self->lpVtbl->Double)(self, count, OBVIA_AT(double *, results, values_to), OBVIA_AT(Kind *, results, kinds_to));
    return obvia_results(result, length);
}

/* Print: opnum 19
 *   request  16 bytes: 0 count int32_t, 8 stamps ->
 *   reply    32 bytes: 0 count int32_t, 8 stamps ->, 16 more ->, 24 flags ->
 */
struct IPlain_Print_request {
    int32_t count;
    uint64_t stamps;
};
OBVIA_HAS_SIZE(struct IPlain_Print_request, 16);
OBVIA_LIES_AT(struct IPlain_Print_request, count, 0);
OBVIA_LIES_AT(struct IPlain_Print_request, stamps, 8);

struct IPlain_Print_reply {
    int32_t count;
    uint64_t stamps;
    uint64_t more;
    uint64_t flags;
};
OBVIA_HAS_SIZE(struct IPlain_Print_reply, 32);
OBVIA_LIES_AT(struct IPlain_Print_reply, count, 0);
OBVIA_LIES_AT(struct IPlain_Print_reply, stamps, 8);
OBVIA_LIES_AT(struct IPlain_Print_reply, more, 16);
OBVIA_LIES_AT(struct IPlain_Print_reply, flags, 24);

static OBVIA_COLD HRESULT IPlain_Print_prepare(IPlain *self, int32_t *count, Stamp *stamps, Stamp *more, uint8_t *flags);

static HRESULT IPlain_Print_proxy(IPlain *self, int32_t *count, Stamp *stamps, Stamp *more, uint8_t *flags)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Print_prepare(self, count, stamps, more, flags))
    const uint64_t stamps_count = (uint64_t)*count;
    if (OBVIA_UNLIKELY(stamps_count > OBVIA_FRAME_MAX / sizeof(Stamp))) {
        return obvia_too_many(stamps_count);
    }
    const uint64_t more_count = (uint64_t)INT64_C(4);
    const uint64_t flags_count = (uint64_t)INT64_C(3);
    const uint64_t stamps_at = OBVIA_ALIGN(sizeof(struct IPlain_Print_request)) + 8;
    const uint64_t length = stamps_at + OBVIA_ALIGN(stamps_count * sizeof(Stamp));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IPlain_Print_request *request = (struct IPlain_Print_request *)obvia_request_place(calls, length, stamps_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(int32_t, &request->count, *count);
    obvia_put_array(request, &request->stamps, stamps_at, 20, stamps_count, stamps_count * sizeof(Stamp));
    for (uint64_t at = 0; at < stamps_count; at++) {
        Stamp_store(&((Stamp *)OBVIA_AT(Stamp *, request, stamps_at))[at], &((const Stamp *)stamps)[at]);
    }
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(19, length), proxy->target);
    const struct IPlain_Print_reply *results = (const struct IPlain_Print_reply *)reply.frame;
    const uint64_t stamps_from = OBVIA_ALIGN(sizeof(struct IPlain_Print_reply)) + 8;
    const uint64_t more_from = stamps_from + OBVIA_ALIGN(stamps_count * sizeof(Stamp)) + 8;
    const uint64_t flags_from = more_from + OBVIA_ALIGN(more_count * sizeof(Stamp)) + 8;
    if (OBVIA_UNLIKELY(obvia_length(reply) != flags_from + OBVIA_ALIGN(flags_count * sizeof(uint8_t)))) {
        return obvia_refusal(reply);
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->stamps, stamps_from, 20, stamps_count))) {
        return RPC_E_INVALID_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->more, more_from, 20, more_count))) {
        return RPC_E_INVALID_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(results, &results->flags, flags_from, 19, flags_count))) {
        return RPC_E_INVALID_DATA;
    }
    const int32_t count_value = OBVIA_LOAD(int32_t, &results->count);
    obvia_copy(stamps, OBVIA_AT(const Stamp *, results, stamps_from), stamps_count * sizeof(Stamp));
    for (uint64_t at = 0; at < stamps_count; at++) {
        if (OBVIA_UNLIKELY(!Stamp_is_valid(&stamps[at]))) {
            return RPC_E_INVALID_DATA;
        }
    }
    obvia_copy(more, OBVIA_AT(const Stamp *, results, more_from), more_count * sizeof(Stamp));
    for (uint64_t at = 0; at < more_count; at++) {
        if (OBVIA_UNLIKELY(!Stamp_is_valid(&more[at]))) {
            return RPC_E_INVALID_DATA;
        }
    }
    obvia_copy(flags, OBVIA_AT(const uint8_t *, results, flags_from), flags_count * sizeof(uint8_t));
    for (uint64_t at = 0; at < flags_count; at++) {
        if (OBVIA_UNLIKELY(flags[at] > 1)) {
            return RPC_E_INVALID_DATA;
        }
    }
    *count = count_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Print_prepare(IPlain *self, int32_t *count, Stamp *stamps, Stamp *more, uint8_t *flags)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Print_proxy(self, count, stamps, more, flags);
}

static obvia_answer IPlain_Print_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Print_request *request = (const struct IPlain_Print_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t count = OBVIA_LOAD(int32_t, &request->count);
    const uint64_t stamps_count = (uint64_t)count;
    if (OBVIA_UNLIKELY(stamps_count > OBVIA_FRAME_MAX / sizeof(Stamp))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t stamps_at = OBVIA_ALIGN(sizeof(struct IPlain_Print_request)) + 8;
    if (OBVIA_UNLIKELY(call->length != stamps_at + OBVIA_ALIGN(stamps_count * sizeof(Stamp)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->stamps, stamps_at, 20, stamps_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t more_count = (uint64_t)INT64_C(4);
    const uint64_t flags_count = (uint64_t)INT64_C(3);
    const uint64_t stamps_to = OBVIA_ALIGN(sizeof(struct IPlain_Print_reply)) + 8;
    const uint64_t more_to = stamps_to + OBVIA_ALIGN(stamps_count * sizeof(Stamp)) + 8;
    const uint64_t flags_to = more_to + OBVIA_ALIGN(more_count * sizeof(Stamp)) + 8;
    const uint64_t length = flags_to + OBVIA_ALIGN(flags_count * sizeof(uint8_t));
    struct IPlain_Print_reply *results = (struct IPlain_Print_reply *)obvia_reply_place(call, length, stamps_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    results->count = count;
    obvia_put_array(results, &results->flags, flags_to, 19, flags_count, flags_count * sizeof(uint8_t));
    Stamp *stamps_own = (Stamp *)obvia_room(stamps_count * sizeof(Stamp));
    if (OBVIA_UNLIKELY(stamps_own == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    obvia_copy(stamps_own, OBVIA_AT(const Stamp *, request, stamps_at), stamps_count * sizeof(Stamp));
    for (uint64_t at = 0; at < stamps_count; at++) {
        if (OBVIA_UNLIKELY(!Stamp_is_valid(&stamps_own[at]))) {
            free(stamps_own);
            return OBVIA_BAD_STUB_DATA;
        }
    }
    Stamp *more_own = (Stamp *)obvia_room(more_count * sizeof(Stamp));
    if (OBVIA_UNLIKELY(more_own == NULL)) {
        free(stamps_own);
        return OBVIA_NO_MEMORY;
    }
    const HRESULT result = (self->lpVtbl->Print)(self, &results->count, stamps_own, more_own, OBVIA_AT(uint8_t *, results, flags_to));
    if (OBVIA_UNLIKELY(result < 0)) {
        free(stamps_own);
        free(more_own);
        return obvia_results(result, 0);
    }
    const uint64_t stamps_final = OBVIA_ALIGN(sizeof(struct IPlain_Print_reply)) + 8;
    const uint64_t more_final = stamps_final + OBVIA_ALIGN(stamps_count * sizeof(Stamp)) + 8;
    const uint64_t flags_final = more_final + OBVIA_ALIGN(more_count * sizeof(Stamp)) + 8;
    obvia_put_array(results, &results->stamps, stamps_final, 20, stamps_count, stamps_count * sizeof(Stamp));
    for (uint64_t at = 0; at < stamps_count; at++) {
        Stamp_store(&((Stamp *)OBVIA_AT(Stamp *, results, stamps_final))[at], &((const Stamp *)stamps_own)[at]);
    }
    obvia_put_array(results, &results->more, more_final, 20, more_count, more_count * sizeof(Stamp));
    for (uint64_t at = 0; at < more_count; at++) {
        Stamp_store(&((Stamp *)OBVIA_AT(Stamp *, results, more_final))[at], &((const Stamp *)more_own)[at]);
    }
    free(stamps_own);
    free(more_own);
    return obvia_results(result, flags_final + OBVIA_ALIGN(flags_count * sizeof(uint8_t)));
}

/* Odd: opnum 20
 *   request  24 bytes: 0 self int32_t, 4 new int32_t, 8 request int32_t, 12 values_count int32_t, 16 values ->
 *   reply     4 bytes: 0 Odd int32_t
 */
struct IPlain_Odd_request {
    int32_t self_;
    int32_t new_;
    int32_t request_;
    int32_t values_count;
    uint64_t values;
};
OBVIA_HAS_SIZE(struct IPlain_Odd_request, 24);
OBVIA_LIES_AT(struct IPlain_Odd_request, self_, 0);
OBVIA_LIES_AT(struct IPlain_Odd_request, new_, 4);
OBVIA_LIES_AT(struct IPlain_Odd_request, request_, 8);
OBVIA_LIES_AT(struct IPlain_Odd_request, values_count, 12);
OBVIA_LIES_AT(struct IPlain_Odd_request, values, 16);

struct IPlain_Odd_reply {
    int32_t Odd;
};
OBVIA_HAS_SIZE(struct IPlain_Odd_reply, 4);
OBVIA_LIES_AT(struct IPlain_Odd_reply, Odd, 0);

static OBVIA_COLD HRESULT IPlain_Odd_prepare(IPlain *self, int32_t self_, int32_t new_, int32_t request_, int32_t values_count, const int32_t *values, int32_t *Odd);

static HRESULT IPlain_Odd_proxy(IPlain *self, int32_t self_, int32_t new_, int32_t request_, int32_t values_count, const int32_t *values, int32_t *Odd)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Odd_prepare(self, self_, new_, request_, values_count, values, Odd))
    const uint64_t values_count_ = (uint64_t)values_count;
    if (OBVIA_UNLIKELY(values_count_ > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return obvia_too_many(values_count_);
    }
    const uint64_t values_at = OBVIA_ALIGN(sizeof(struct IPlain_Odd_request)) + 8;
    const uint64_t length = values_at + OBVIA_ALIGN(values_count_ * sizeof(int32_t));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IPlain_Odd_request *request = (struct IPlain_Odd_request *)obvia_request_place(calls, length, values_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(int32_t, &request->self_, self_);
    OBVIA_STORE(int32_t, &request->new_, new_);
    OBVIA_STORE(int32_t, &request->request_, request_);
    OBVIA_STORE(int32_t, &request->values_count, values_count);
    obvia_put_array(request, &request->values, values_at, 16, values_count_, values_count_ * sizeof(int32_t));
    obvia_copy(OBVIA_AT(int32_t *, request, values_at), values, values_count_ * sizeof(int32_t));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(20, length), proxy->target);
    const struct IPlain_Odd_reply *results = (const struct IPlain_Odd_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t Odd_value = OBVIA_LOAD(int32_t, &results->Odd);
    *Odd = Odd_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Odd_prepare(IPlain *self, int32_t self_, int32_t new_, int32_t request_, int32_t values_count, const int32_t *values, int32_t *Odd)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Odd_proxy(self, self_, new_, request_, values_count, values, Odd);
}

static obvia_answer IPlain_Odd_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Odd_request *request = (const struct IPlain_Odd_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t self_ = OBVIA_LOAD(int32_t, &request->self_);
    const int32_t new_ = OBVIA_LOAD(int32_t, &request->new_);
    const int32_t request_ = OBVIA_LOAD(int32_t, &request->request_);
    const int32_t values_count = OBVIA_LOAD(int32_t, &request->values_count);
    const uint64_t values_count_ = (uint64_t)values_count;
    if (OBVIA_UNLIKELY(values_count_ > OBVIA_FRAME_MAX / sizeof(int32_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t values_at = OBVIA_ALIGN(sizeof(struct IPlain_Odd_request)) + 8;
    if (OBVIA_UNLIKELY(call->length != values_at + OBVIA_ALIGN(values_count_ * sizeof(int32_t)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->values, values_at, 16, values_count_))) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IPlain_Odd_reply *results = (struct IPlain_Odd_reply *)call->slot;
    const HRESULT result = (self->lpVtbl->Odd)(self, self_, new_, request_, values_count, OBVIA_AT(const int32_t *, request, values_at), &results->Odd);
    return obvia_results(result, sizeof *results);
}

/* Send: opnum 21
 *   request  32 bytes: 0 to ->, 8 n int32_t, 16 seal ->, 24 from ->
 *   reply     4 bytes: 0 length int32_t
 */
struct IPlain_Send_request {
    uint64_t to;
    int32_t n;
    uint64_t seal;
    uint64_t from;
};
OBVIA_HAS_SIZE(struct IPlain_Send_request, 32);
OBVIA_LIES_AT(struct IPlain_Send_request, to, 0);
OBVIA_LIES_AT(struct IPlain_Send_request, n, 8);
OBVIA_LIES_AT(struct IPlain_Send_request, seal, 16);
OBVIA_LIES_AT(struct IPlain_Send_request, from, 24);

struct IPlain_Send_reply {
    int32_t length_;
};
OBVIA_HAS_SIZE(struct IPlain_Send_reply, 4);
OBVIA_LIES_AT(struct IPlain_Send_reply, length_, 0);

static OBVIA_COLD HRESULT IPlain_Send_prepare(IPlain *self, const obvia_wchar *to, int32_t n, const uint8_t *seal, const char *from, int32_t *length_);

static HRESULT IPlain_Send_proxy(IPlain *self, const obvia_wchar *to, int32_t n, const uint8_t *seal, const char *from, int32_t *length_)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    OBVIA_BEGIN(proxy, calls, IPlain_Send_prepare(self, to, n, seal, from, length_))
    const uint64_t to_count = obvia_text16(to);
    if (OBVIA_UNLIKELY(to_count == 0)) {
        return E_POINTER;
    }
    if (OBVIA_UNLIKELY(to_count > OBVIA_FRAME_MAX / sizeof(obvia_wchar))) {
        return obvia_too_many(to_count);
    }
    const uint64_t seal_count = (uint64_t)n;
    if (OBVIA_UNLIKELY(seal_count > OBVIA_FRAME_MAX / sizeof(uint8_t))) {
        return obvia_too_many(seal_count);
    }
    const uint64_t from_count = obvia_text8(from);
    if (OBVIA_UNLIKELY(from_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return obvia_too_many(from_count);
    }
    const uint64_t to_at = OBVIA_ALIGN(sizeof(struct IPlain_Send_request)) + 8;
    const uint64_t seal_at = obvia_text_end(to_at, to_count * sizeof(obvia_wchar)) + 8;
    const uint64_t from_at = seal_at + OBVIA_ALIGN(seal_count * sizeof(uint8_t)) + 8;
    const uint64_t length = obvia_text_end(from_at, from_count * sizeof(char));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IPlain_Send_request *request = (struct IPlain_Send_request *)obvia_request_place(calls, length, to_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(int32_t, &request->n, n);
    obvia_put_text(request, &request->to, to_at, 3, to, to_count, to_count * sizeof(obvia_wchar));
    obvia_put_array(request, &request->seal, seal_at, 18, seal_count, seal_count * sizeof(uint8_t));
    obvia_copy(OBVIA_AT(uint8_t *, request, seal_at), seal, seal_count * sizeof(uint8_t));
    obvia_put_text(request, &request->from, from_at, 2, from, from_count, from_count * sizeof(char));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(21, length), proxy->target);
    const struct IPlain_Send_reply *results = (const struct IPlain_Send_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) != OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t length_value = OBVIA_LOAD(int32_t, &results->length_);
    *length_ = length_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Send_prepare(IPlain *self, const obvia_wchar *to, int32_t n, const uint8_t *seal, const char *from, int32_t *length_)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Send_proxy(self, to, n, seal, from, length_);
}

static obvia_answer IPlain_Send_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Send_request *request = (const struct IPlain_Send_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const int32_t n = OBVIA_LOAD(int32_t, &request->n);
    const uint64_t seal_count = (uint64_t)n;
    if (OBVIA_UNLIKELY(seal_count > OBVIA_FRAME_MAX / sizeof(uint8_t))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t to_at = OBVIA_ALIGN(sizeof(struct IPlain_Send_request)) + 8;
    const uint64_t to_count = obvia_text_count(request, call->length, &request->to, to_at, 3, sizeof(obvia_wchar));
    if (OBVIA_UNLIKELY(to_count == 0 || to_count == UINT64_MAX)) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t seal_at = obvia_text_end(to_at, to_count * sizeof(obvia_wchar)) + 8;
    const uint64_t from_at = seal_at + OBVIA_ALIGN(seal_count * sizeof(uint8_t)) + 8;
    const uint64_t from_count = obvia_text_count(request, call->length, &request->from, from_at, 2, sizeof(char));
    if (OBVIA_UNLIKELY(from_count == UINT64_MAX)) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(call->length != obvia_text_end(from_at, from_count * sizeof(char)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(!obvia_is_array(request, &request->seal, seal_at, 18, seal_count))) {
        return OBVIA_BAD_STUB_DATA;
    }
    struct IPlain_Send_reply *results = (struct IPlain_Send_reply *)call->slot;
    uint64_t to_small[OBVIA_INLINE_MAX / 8];
    const obvia_wchar *to_own = (const obvia_wchar *)obvia_take_text(to_small, request, to_at, to_count * sizeof(obvia_wchar));
    if (OBVIA_UNLIKELY(to_count != 0 && to_own == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    if (OBVIA_UNLIKELY(to_count != 0 && to_own[to_count - 1] != 0)) {
        obvia_drop_text(to_own, to_small);
        return OBVIA_BAD_STUB_DATA;
    }
    uint64_t from_small[OBVIA_INLINE_MAX / 8];
    const char *from_own = (const char *)obvia_take_text(from_small, request, from_at, from_count * sizeof(char));
    if (OBVIA_UNLIKELY(from_count != 0 && from_own == NULL)) {
        obvia_drop_text(to_own, to_small);
        return OBVIA_NO_MEMORY;
    }
    if (OBVIA_UNLIKELY(from_count != 0 && from_own[from_count - 1] != 0)) {
        obvia_drop_text(to_own, to_small);
        obvia_drop_text(from_own, from_small);
        return OBVIA_BAD_STUB_DATA;
    }
    const HRESULT result = (self->lpVtbl->Send)(self, to_own, n, OBVIA_AT(const uint8_t *, request, seal_at), from_own, &results->length_);
    obvia_drop_text(to_own, to_small);
    obvia_drop_text(from_own, from_small);
    return obvia_results(result, sizeof *results);
}

/* Receipt: opnum 22
 *   request  64 bytes: 0 what ->, 8 number int32_t, 16 stamp Stamp
 *   reply    80 bytes: 0 number int32_t, 8 stamp Stamp, 56 first ->, 64 done uint8_t, 72 second ->
 */
struct IPlain_Receipt_request {
    uint64_t what;
    int32_t number;
    Stamp stamp;
};
OBVIA_HAS_SIZE(struct IPlain_Receipt_request, 64);
OBVIA_LIES_AT(struct IPlain_Receipt_request, what, 0);
OBVIA_LIES_AT(struct IPlain_Receipt_request, number, 8);
OBVIA_LIES_AT(struct IPlain_Receipt_request, stamp, 16);

struct IPlain_Receipt_reply {
    int32_t number;
    Stamp stamp;
    uint64_t first;
    uint8_t done;
    uint64_t second;
};
OBVIA_HAS_SIZE(struct IPlain_Receipt_reply, 80);
OBVIA_LIES_AT(struct IPlain_Receipt_reply, number, 0);
OBVIA_LIES_AT(struct IPlain_Receipt_reply, stamp, 8);
OBVIA_LIES_AT(struct IPlain_Receipt_reply, first, 56);
OBVIA_LIES_AT(struct IPlain_Receipt_reply, done, 64);
OBVIA_LIES_AT(struct IPlain_Receipt_reply, second, 72);

static OBVIA_COLD HRESULT IPlain_Receipt_prepare(IPlain *self, const char *what, int32_t *number, Stamp *stamp, obvia_wchar **first, uint8_t *done, char **second);

static HRESULT IPlain_Receipt_proxy(IPlain *self, const char *what, int32_t *number, Stamp *stamp, obvia_wchar **first, uint8_t *done, char **second)
{
    const obvia_proxy *proxy = (const obvia_proxy *)self;
    *first = NULL;
    *second = NULL;
    OBVIA_BEGIN(proxy, calls, IPlain_Receipt_prepare(self, what, number, stamp, first, done, second))
    const uint64_t what_count = obvia_text8(what);
    if (OBVIA_UNLIKELY(what_count == 0)) {
        return E_POINTER;
    }
    if (OBVIA_UNLIKELY(what_count > OBVIA_FRAME_MAX / sizeof(char))) {
        return obvia_too_many(what_count);
    }
    const uint64_t what_at = OBVIA_ALIGN(sizeof(struct IPlain_Receipt_request)) + 8;
    const uint64_t length = obvia_text_end(what_at, what_count * sizeof(char));
    if (OBVIA_UNLIKELY(length > OBVIA_FRAME_MAX)) {
        return E_OUTOFMEMORY;
    }
    struct IPlain_Receipt_request *request = (struct IPlain_Receipt_request *)obvia_request_place(calls, length, what_at);
    if (OBVIA_UNLIKELY(request == NULL)) {
        return obvia_no_request();
    }
    OBVIA_STORE(int32_t, &request->number, *number);
    Stamp_store(&request->stamp, stamp);
    obvia_put_text(request, &request->what, what_at, 2, what, what_count, what_count * sizeof(char));
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(22, length), proxy->target);
    const struct IPlain_Receipt_reply *results = (const struct IPlain_Receipt_reply *)reply.frame;
    if (OBVIA_UNLIKELY(obvia_length(reply) < OBVIA_ALIGN(sizeof *results))) {
        return obvia_refusal(reply);
    }
    const int32_t number_value = OBVIA_LOAD(int32_t, &results->number);
    Stamp stamp_value;
    obvia_copy(&stamp_value, &results->stamp, sizeof stamp_value);
    if (OBVIA_UNLIKELY(!Stamp_is_valid(&stamp_value))) {
        return RPC_E_INVALID_DATA;
    }
    const uint8_t done_value = OBVIA_LOAD(uint8_t, &results->done);
    if (OBVIA_UNLIKELY(done_value > 1)) {
        return RPC_E_INVALID_DATA;
    }
    const uint64_t first_from = OBVIA_ALIGN(sizeof(struct IPlain_Receipt_reply)) + 8;
    const uint64_t first_count = obvia_text_count(results, obvia_length(reply), &results->first, first_from, 3, sizeof(obvia_wchar));
    if (OBVIA_UNLIKELY(first_count == UINT64_MAX)) {
        return RPC_E_INVALID_DATA;
    }
    const uint64_t second_from = obvia_text_end(first_from, first_count * sizeof(obvia_wchar)) + 8;
    const uint64_t second_count = obvia_text_count(results, obvia_length(reply), &results->second, second_from, 2, sizeof(char));
    if (OBVIA_UNLIKELY(second_count == UINT64_MAX)) {
        return RPC_E_INVALID_DATA;
    }
    if (OBVIA_UNLIKELY(obvia_length(reply) != obvia_text_end(second_from, second_count * sizeof(char)))) {
        return obvia_refusal(reply);
    }
    obvia_wchar *first_value = (obvia_wchar *)obvia_receive_text(results, first_from, first_count * sizeof(obvia_wchar));
    if (OBVIA_UNLIKELY(first_count != 0 && first_value == NULL)) {
        return E_OUTOFMEMORY;
    }
    if (OBVIA_UNLIKELY(first_count != 0 && first_value[first_count - 1] != 0)) {
        free(first_value);
        return RPC_E_INVALID_DATA;
    }
    char *second_value = (char *)obvia_receive_text(results, second_from, second_count * sizeof(char));
    if (OBVIA_UNLIKELY(second_count != 0 && second_value == NULL)) {
        free(first_value);
        return E_OUTOFMEMORY;
    }
    if (OBVIA_UNLIKELY(second_count != 0 && second_value[second_count - 1] != 0)) {
        free(first_value);
        free(second_value);
        return RPC_E_INVALID_DATA;
    }
    *number = number_value;
    *stamp = stamp_value;
    *first = first_value;
    *done = done_value;
    *second = second_value;
    return obvia_result(reply);
}

static HRESULT IPlain_Receipt_prepare(IPlain *self, const char *what, int32_t *number, Stamp *stamp, obvia_wchar **first, uint8_t *done, char **second)
{
    const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);
    return prepared < 0 ? prepared : IPlain_Receipt_proxy(self, what, number, stamp, first, done, second);
}

static obvia_answer IPlain_Receipt_stub(void *object, obvia_call *call)
{
    IPlain *self = (IPlain *)object;
    const struct IPlain_Receipt_request *request = (const struct IPlain_Receipt_request *)call->frame;
    if (OBVIA_UNLIKELY(call->length < OBVIA_ALIGN(sizeof *request))) {
        return OBVIA_BAD_STUB_DATA;
    }
    int32_t number = OBVIA_LOAD(int32_t, &request->number);
    Stamp stamp;
    obvia_copy(&stamp, &request->stamp, sizeof stamp);
    if (OBVIA_UNLIKELY(!Stamp_is_valid(&stamp))) {
        return OBVIA_BAD_STUB_DATA;
    }
    const uint64_t what_at = OBVIA_ALIGN(sizeof(struct IPlain_Receipt_request)) + 8;
    const uint64_t what_count = obvia_text_count(request, call->length, &request->what, what_at, 2, sizeof(char));
    if (OBVIA_UNLIKELY(what_count == 0 || what_count == UINT64_MAX)) {
        return OBVIA_BAD_STUB_DATA;
    }
    if (OBVIA_UNLIKELY(call->length != obvia_text_end(what_at, what_count * sizeof(char)))) {
        return OBVIA_BAD_STUB_DATA;
    }
    uint8_t done;
    memset(&done, 0, sizeof done);
    obvia_wchar *first_own = NULL;
    char *second_own = NULL;
    uint64_t what_small[OBVIA_INLINE_MAX / 8];
    const char *what_own = (const char *)obvia_take_text(what_small, request, what_at, what_count * sizeof(char));
    if (OBVIA_UNLIKELY(what_count != 0 && what_own == NULL)) {
        return OBVIA_NO_MEMORY;
    }
    if (OBVIA_UNLIKELY(what_count != 0 && what_own[what_count - 1] != 0)) {
        obvia_drop_text(what_own, what_small);
        return OBVIA_BAD_STUB_DATA;
    }
    const HRESULT result = (self->lpVtbl->Receipt)(self, what_own, &number, &stamp, &first_own, &done, &second_own);
    if (OBVIA_UNLIKELY(result < 0)) {
        free(first_own);
        free(second_own);
        obvia_drop_text(what_own, what_small);
        return obvia_results(result, 0);
    }
    const uint64_t first_count = obvia_text16(first_own);
    if (OBVIA_UNLIKELY(first_count > OBVIA_FRAME_MAX / sizeof(obvia_wchar))) {
        free(first_own);
        free(second_own);
        obvia_drop_text(what_own, what_small);
        return OBVIA_NO_MEMORY;
    }
    const uint64_t second_count = obvia_text8(second_own);
    if (OBVIA_UNLIKELY(second_count > OBVIA_FRAME_MAX / sizeof(char))) {
        free(first_own);
        free(second_own);
        obvia_drop_text(what_own, what_small);
        return OBVIA_NO_MEMORY;
    }
    const uint64_t first_to = OBVIA_ALIGN(sizeof(struct IPlain_Receipt_reply)) + 8;
    const uint64_t second_to = obvia_text_end(first_to, first_count * sizeof(obvia_wchar)) + 8;
    const uint64_t length = obvia_text_end(second_to, second_count * sizeof(char));
    struct IPlain_Receipt_reply *results = (struct IPlain_Receipt_reply *)obvia_reply_place(call, length, first_to);
    if (OBVIA_UNLIKELY(results == NULL)) {
        free(first_own);
        free(second_own);
        obvia_drop_text(what_own, what_small);
        return OBVIA_NO_MEMORY;
    }
    memset(results, 0, OBVIA_ALIGN(sizeof *results));
    results->number = number;
    Stamp_store(&results->stamp, &stamp);
    results->done = done;
    obvia_put_text(results, &results->first, first_to, 3, first_own, first_count, first_count * sizeof(obvia_wchar));
    obvia_put_text(results, &results->second, second_to, 2, second_own, second_count, second_count * sizeof(char));
    free(first_own);
    free(second_own);
    obvia_drop_text(what_own, what_small);
    return obvia_results(result, length);
}

static const IPlainVtbl IPlain_proxies = {
    (HRESULT (*)(IPlain *, const IID *, void **))obvia_proxy_query_interface,
    (uint32_t (*)(IPlain *))obvia_proxy_add_ref,
    (uint32_t (*)(IPlain *))obvia_proxy_release,
    IPlain_Sum_proxy,
    IPlain_Nothing_proxy,
    IPlain_Tell_proxy,
    IPlain_Numbers_proxy,
    IPlain_Checked_proxy,
    IPlain_Changed_proxy,
    IPlain_Stamps_proxy,
    IPlain_Fixed_proxy,
    IPlain_Large_proxy,
    IPlain_Sheets_proxy,
    IPlain_Total_proxy,
    IPlain_Two_proxy,
    IPlain_Flags_proxy,
    IPlain_Fill_proxy,
    IPlain_Fetch_proxy,
    IPlain_Double_proxy,
    IPlain_Print_proxy,
    IPlain_Odd_proxy,
    IPlain_Send_proxy,
    IPlain_Receipt_proxy
};

static obvia_stub *const IPlain_stubs[32] = {
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    IPlain_Sum_stub,
    IPlain_Nothing_stub,
    IPlain_Tell_stub,
    IPlain_Numbers_stub,
    IPlain_Checked_stub,
    IPlain_Changed_stub,
    IPlain_Stamps_stub,
    IPlain_Fixed_stub,
    IPlain_Large_stub,
    IPlain_Sheets_stub,
    IPlain_Total_stub,
    IPlain_Two_stub,
    IPlain_Flags_stub,
    IPlain_Fill_stub,
    IPlain_Fetch_stub,
    IPlain_Double_stub,
    IPlain_Print_stub,
    IPlain_Odd_stub,
    IPlain_Send_stub,
    IPlain_Receipt_stub,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse,
    obvia_refuse
};

static const int64_t IPlain_ndr[] = {
    22, 0, 4, 0, 2, 0, 1, 1, 0, 8, 4, 2, 4, 4, 2, 0, 4, 2, 6, 5, 48, 5, 0, 0,
    4, 3, 8, 4, 16, 5, 32, 7, 0, 5, 8, 2, 0, 0, 4, 0, 0, 3, 4, 16, 2, 4, 3, 3,
    4, 3, 0, 4, 2, 13, 4, 2, 9, 4, 20, 4, 4, 2, 8, 4, 3, 2, 5, 112, 3, 0, 9, 8,
    17, 104, 18, 0, 7, 1, 2, 7, 1, 3, 7, 0, 1, 2, 3, 8, 4, 0, 20, 3, 1, 8, 1, 0,
    0, 9, 8, 1, 0, 0, 4, 0, 4, 1, 0, 0, 0, 0, 0, 5, 1, 8, 2, 0, 0, 1, 4, 0,
    0, 0, 0, 0, 6, 1, 28, 8, 0, 0, 2, 1, 0, 2, 2, 0, 2, 4, 0, 1, 6, 0, 1, 8,
    0, 0, 16, 0, 4, 24, 0, 0, 16, 3, 0, 0, 2, 2, 0, 1, 8, 0, 4, 0, 7, 1, 16, 4,
    0, 0, 3, 4, 0, 0, 8, 0, 0, 12, 0, 0, 12, 3, 0, 0, 3, 4, 0, 0, 8, 0, 0, 0,
    8, 1, 72, 4, 0, 0, 0, 4, 0, 3, 8, 0, 8, 56, 0, 10, 72, 4, 0, 0, 0, 4, 0, 3,
    8, 0, 8, 56, 0, 10, 0, 9, 1, 72, 3, 0, 0, 9, 8, 0, 8, 56, 0, 10, 56, 2, 0, 0,
    8, 48, 0, 9, 0, 10, 1, 44, 3, 0, 0, 11, 16, 0, 12, 20, 0, 14, 48, 3, 0, 0, 14, 24,
    0, 6, 32, 0, 15, 0, 11, 1, 168, 2, 0, 0, 0, 8, 0, 16, 160, 1, 0, 0, 16, 0, 12, 1,
    112, 1, 0, 0, 19, 112, 1, 0, 0, 19, 0, 13, 1, 16, 2, 0, 0, 0, 8, 1, 1, 16, 1, 0,
    5, 0, 8, 1, 0, 0, 4, 0, 14, 1, 24, 3, 0, 0, 0, 8, 1, 1, 17, 1, 0, 4, 0, 16,
    1, 1, 18, 4, 0, 4, 2, 1, 0, 4, 0, 2, 0, 1, 0, 4, 1, 0, 0, 0, 0, 15, 1, 24,
    3, 0, 0, 1, 8, 1, 1, 19, 1, 0, 3, 0, 16, 1, 1, 20, 1, 0, 3, 0, 4, 1, 0, 0,
    0, 0, 16, 1, 8, 2, 0, 0, 0, 4, 0, 0, 8, 1, 0, 1, 1, 16, 2, 0, 0, 1, 0, 4,
    17, 1, 4, 1, 0, 0, 0, 24, 3, 0, 1, 1, 17, 2, 0, 1, 1, 8, 5, 8, 0, 0, 16, 1,
    1, 16, 2, 0, 0, 1, 0, 5, 18, 1, 24, 3, 0, 0, 4, 8, 1, 1, 21, 1, 0, 6, 0, 16,
    1, 1, 22, 1, 0, 6, 0, 16, 2, 0, 1, 1, 21, 2, 0, 0, 8, 1, 1, 22, 2, 0, 0, 1,
    0, 6, 19, 1, 16, 2, 0, 0, 0, 8, 1, 1, 20, 1, 0, 4, 0, 32, 4, 0, 0, 0, 8, 1,
    1, 20, 2, 0, 0, 16, 1, 1, 20, 0, 4, 0, 24, 1, 1, 19, 0, 3, 0, 1, 0, 4, 20, 1,
    24, 5, 0, 0, 0, 4, 0, 0, 8, 0, 0, 12, 0, 0, 16, 1, 1, 16, 1, 12, 4, 0, 4, 1,
    0, 0, 0, 0, 21, 1, 32, 4, 0, 1, 3, 8, 0, 0, 16, 1, 1, 18, 1, 8, 4, 0, 24, 0,
    20, 4, 1, 0, 0, 0, 0, 22, 1, 64, 3, 0, 1, 2, 8, 0, 0, 16, 0, 8, 80, 5, 0, 0,
    0, 8, 0, 8, 56, 0, 21, 64, 0, 3, 72, 0, 20, 0,
};

const obvia_interface IPlain_INFO = {
    sizeof(obvia_interface),
    "IPlain",
    {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x03}},
    1,
    2,
    {0x79, 0xbb, 0xf6, 0x10, 0x9d, 0x34, 0xfe, 0x9f, 0xf2, 0xb8, 0x21, 0x3a, 0x27, 0xa7, 0x2f, 0xac},
    &IBasis_INFO,
    &IPlain_proxies,
    IPlain_stubs,
    32,
    "typedef [v1_enum] enum {\n"
    "    LETTER = 0,\n"
    "    PARCEL = 4,\n"
    "    FREIGHT = 5\n"
    "} Kind;\n"
    "typedef [v1_enum] enum {\n"
    "    LOW = -1,\n"
    "    MIDDLE = 0,\n"
    "    HIGH = 1\n"
    "} Level;\n"
    "struct Pair;\n"
    "struct Sheet;\n"
    "struct Stamp;\n"
    "struct Pair {\n"
    "    long left;\n"
    "    long right;\n"
    "};\n"
    "struct Stamp {\n"
    "    Kind class;\n"
    "    boolean used;\n"
    "    hyper number;\n"
    "    double cost[2];\n"
    "    Level levels[2][2];\n"
    "};\n"
    "struct Sheet {\n"
    "    struct Pair corner;\n"
    "    struct Stamp stamps[2];\n"
    "    char code[3];\n"
    "};\n"
    "[object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e3001), pointer_default(unique)]\n"
    "interface IBasis : IUnknown {\n"
    "    HRESULT Sum([in] struct Pair *pair, [out, retval] hyper *sum);\n"
    "}\n"
    "[object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e3003), version(1.2), pointer_default(unique)]\n"
    "interface IPlain : IBasis {\n"
    "    HRESULT Nothing();\n"
    "    [oneway] HRESULT Tell([in] short what, [in, range(-1, 9)] long level);\n"
    "    HRESULT Numbers([in] byte a, [in] char b, [in] small c, [in] unsigned short d, [in] wchar_t e, [in] float f, [in] unsigned hyper g, [in] HRESULT h, [out] byte *i, [out] wchar_t *j, [out] double *k);\n"
    "    HRESULT Checked([in] boolean on, [in] Kind kind, [in] Level level, [in, range(1, 20000)] unsigned long weight, [out] boolean *off, [out] Kind *other, [out, range(0, 5)] long *digit);\n"
    "    HRESULT Changed([in, out] long *number, [in, out] boolean *flag, [in, out] struct Stamp *stamp, [in, out] GUID *id);\n"
    "    HRESULT Stamps([in] struct Pair by_value, [in] struct Stamp *stamp, [in] GUID *id, [out] struct Stamp *printed, [out] struct Pair *pair);\n"
    "    HRESULT Fixed([in] byte seal[16], [in] boolean flags[3], [in, out] long grid[2][3], [out] Kind kinds[2], [out] struct Pair pairs[2]);\n"
    "    HRESULT Large([in] long first, [in] hyper many[20], [out] hyper back[20]);\n"
    "    HRESULT Sheets([in] struct Sheet *sheet, [out, retval] struct Sheet *copy);\n"
    "    HRESULT Total([in] unsigned long count, [in, size_is(count)] long *values, [out, retval] hyper *sum);\n"
    "    HRESULT Two([in] long n, [in, size_is(n)] short *a, [in, size_is(((n * 2) + 1))] byte *b, [out] long *sum);\n"
    "    HRESULT Flags([in] unsigned short count, [in, size_is(count)] boolean *flags, [in, size_is(count)] struct Stamp *stamps, [out] long *number);\n"
    "    HRESULT Fill([in] long room, [out, size_is(room)] long *values, [in] long start);\n"
    "    HRESULT Fetch([in] unsigned long room, [out, size_is(room), length_is(*got)] short *letters, [out] unsigned long *got, [out, size_is(room)] long *rest);\n"
    "    HRESULT Double([in] hyper count, [in, out, size_is(count)] double *values, [in, out, size_is(count)] Kind *kinds);\n"
    "    HRESULT Print([in, out] long *count, [in, out, size_is(*count)] struct Stamp *stamps, [out, size_is(4)] struct Stamp *more, [out, size_is(3)] boolean *flags);\n"
    "    HRESULT Odd([in] long self, [in] long new, [in] long request, [in] long values_count, [in, size_is(values_count)] long *values, [out] long *Odd);\n"
    "    HRESULT Send([in, string] wchar_t *to, [in] long n, [in, size_is(n)] byte *seal, [in, unique, string] char *from, [out, retval] long *length);\n"
    "    HRESULT Receipt([in, string] char *what, [in, out] long *number, [in, out] struct Stamp *stamp, [out, string] wchar_t **first, [out] boolean *done, [out, retval, string] char **second);\n"
    "}\n",
    IPlain_ndr,
    sizeof(IPlain_ndr) / sizeof *IPlain_ndr,
    obvia_module,
    0,
    NULL
};

static const IEmptyVtbl IEmpty_proxies = {
    (HRESULT (*)(IEmpty *, const IID *, void **))obvia_proxy_query_interface,
    (uint32_t (*)(IEmpty *))obvia_proxy_add_ref,
    (uint32_t (*)(IEmpty *))obvia_proxy_release
};

static obvia_stub *const IEmpty_stubs[1] = {
    obvia_refuse
};

static const int64_t IEmpty_ndr[] = {
    0, 0, 0,
};

const obvia_interface IEmpty_INFO = {
    sizeof(obvia_interface),
    "IEmpty",
    {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x04}},
    0,
    0,
    {0xd7, 0x8d, 0x5c, 0xc3, 0x88, 0xb0, 0xf3, 0xcc, 0x2a, 0xf0, 0xe1, 0x10, 0xaf, 0x96, 0xf3, 0x8d},
    NULL,
    &IEmpty_proxies,
    IEmpty_stubs,
    1,
    "[object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e3004), pointer_default(unique)]\n"
    "interface IEmpty : IUnknown {\n"
    "}\n",
    IEmpty_ndr,
    sizeof(IEmpty_ndr) / sizeof *IEmpty_ndr,
    obvia_module,
    0,
    NULL
};

static const obvia_meaning obvia_meanings[] = {
    {"ILocal", {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x02}}, {0x77, 0x8d, 0xf9, 0x70, 0xbb, 0xca, 0xfe, 0x08, 0x6e, 0x28, 0xe1, 0xb8, 0x08, 0x19, 0xab, 0x90}},
    {"IPlain", {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x03}}, {0x79, 0xbb, 0xf6, 0x10, 0x9d, 0x34, 0xfe, 0x9f, 0xf2, 0xb8, 0x21, 0x3a, 0x27, 0xa7, 0x2f, 0xac}},
    {"IEmpty", {0x8b1c5a10, 0x2f6e, 0x4c55, {0x9a, 0x51, 0x6a, 0x0d, 0x3f, 0x7e, 0x30, 0x04}}, {0xd7, 0x8d, 0x5c, 0xc3, 0x88, 0xb0, 0xf3, 0xcc, 0x2a, 0xf0, 0xe1, 0x10, 0xaf, 0x96, 0xf3, 0x8d}},
};

static __attribute__((constructor(101))) void obvia_declare_file(void)
{
    obvia_declare("plain.idl", obvia_meanings, sizeof obvia_meanings / sizeof *obvia_meanings);
}
