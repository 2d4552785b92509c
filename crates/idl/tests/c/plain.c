/* Calls each method of plain.idl. Then calls each method again for each checked part of its
 * frames, with a change in this part. */
#define CINTERFACE
#include "plain.h"

#include "in_process.h"

/* The number of calls that reached the object. */
static int called;
/* The count that the object's Fetch reports, or 0 for half of its room. */
static uint32_t found;
/* The HRESULT of Fetch and Print. */
static HRESULT outcome = S_OK;
/* Whether no frame is changed, so that every value is known. */
#define HONEST (tampering.side == NEITHER)

static void fill(Stamp *stamp, int seed)
{
    memset(stamp, 0xaa, sizeof *stamp);
    stamp->class_ = PARCEL;
    stamp->used = 1;
    stamp->number = seed * 1000000000000;
    stamp->cost[0] = seed + 0.5;
    stamp->cost[1] = -seed;
    stamp->levels[0][0] = stamp->levels[1][0] = LOW;
    stamp->levels[0][1] = stamp->levels[1][1] = HIGH;
}

static int is_filled(const Stamp *stamp, int seed)
{
    return stamp->class_ == PARCEL && stamp->used == 1 && stamp->number == seed * 1000000000000 &&
           stamp->cost[0] == seed + 0.5 && stamp->cost[1] == -seed && stamp->levels[0][0] == LOW &&
           stamp->levels[0][1] == HIGH && stamp->levels[1][0] == LOW && stamp->levels[1][1] == HIGH;
}

/* ---- The object. Its arguments are valid, whatever the frame contained. ---- */

static int is_boolean(uint8_t value)
{
    return value <= 1;
}

static int is_kind(Kind value)
{
    return value == LETTER || value == PARCEL || value == FREIGHT;
}

static int is_level(Level value)
{
    return (int)value >= -1 && (int)value <= 1;
}

static int is_stamp(const Stamp *stamp)
{
    const Level *levels = stamp->levels[0];
    return is_kind(stamp->class_) && is_boolean(stamp->used) && is_level(levels[0]) && is_level(levels[1]);
}

static HRESULT query_interface(IPlain *self, const IID *iid, void **object)
{
    *object = self;
    return obvia_is_equal(iid, &IID_IPlain) ? S_OK : E_NOINTERFACE;
}

static uint32_t count_references(IPlain *self)
{
    (void)self;
    return 1;
}

static HRESULT Sum(IPlain *self, const Pair *pair, int64_t *sum)
{
    (void)self;
    called++;
    *sum = (int64_t)pair->left + pair->right;
    return S_OK;
}

static HRESULT Nothing(IPlain *self)
{
    (void)self;
    called++;
    return S_FALSE;
}

static HRESULT Tell(IPlain *self, int16_t what, int32_t level)
{
    (void)self;
    called++;
    CHECK(level >= -1 && level <= 9);
    CHECK(!HONEST || (what == -3 && level == 9));
    return E_FAIL;
}

static HRESULT Numbers(IPlain *self, uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h,
                       uint8_t *i, obvia_wchar *j, double *k)
{
    (void)self;
    called++;
    CHECK(!HONEST || (a == 200 && b == 'b' && c == -100 && d == 60000 && e == 0xfeff && f == 1.5f && g == UINT64_MAX - 1 && h == E_ABORT));
    *i = 201;
    *j = 0xfffe;
    *k = 2.25;
    return S_OK;
}

static HRESULT Checked(IPlain *self, uint8_t on, Kind kind, Level level, uint32_t weight, uint8_t *off, Kind *other,
                       int32_t *digit)
{
    (void)self;
    called++;
    CHECK(is_boolean(on) && is_kind(kind) && is_level(level) && weight >= 1 && weight <= WEIGHT_MAX);
    CHECK(!HONEST || (on == 1 && kind == PARCEL && level == HIGH && weight == WEIGHT_MAX));
    *off = 1;
    *other = FREIGHT;
    *digit = 5;
    return S_OK;
}

static HRESULT Changed(IPlain *self, int32_t *number, uint8_t *flag, Stamp *stamp, GUID *id)
{
    (void)self;
    called++;
    CHECK(is_boolean(*flag) && is_stamp(stamp));
    CHECK(!HONEST || (*number == 5 && *flag == 1 && is_filled(stamp, 2) && obvia_is_equal(id, &IID_IPlain)));
    *number = 6;
    *flag = 1;
    fill(stamp, 3);
    *id = IID_IEmpty;
    return S_OK;
}

static HRESULT Stamps(IPlain *self, Pair by_value, const Stamp *stamp, const GUID *id, Stamp *printed, Pair *pair)
{
    (void)self;
    called++;
    CHECK(is_stamp(stamp));
    CHECK(!HONEST || (by_value.left == 1 && by_value.right == 2 && is_filled(stamp, 4) && obvia_is_equal(id, &IID_IBasis)));
    Stamp made;
    fill(&made, 5);
    *printed = made;
    pair->left = by_value.right;
    pair->right = by_value.left;
    return S_OK;
}

static HRESULT Fixed(IPlain *self, const uint8_t seal[16], const uint8_t flags[3], int32_t grid[2][3], Kind kinds[2],
                     Pair pairs[2])
{
    (void)self;
    called++;
    CHECK(is_boolean(flags[0]) && is_boolean(flags[1]) && is_boolean(flags[2]));
    CHECK(!HONEST || (seal[0] == 1 && seal[15] == 16 && flags[0] && !flags[1] && flags[2] && grid[1][2] == 6));
    grid[0][0] = 7;
    kinds[0] = FREIGHT;
    kinds[1] = PARCEL;
    pairs[1].right = 8;
    return S_OK;
}

static HRESULT Large(IPlain *self, int32_t first, const int64_t many[20], int64_t back[20])
{
    (void)self;
    called++;
    for (int at = 0; at < 20; at++) {
        back[at] = (int64_t)((uint64_t)many[at] + (uint64_t)first);
    }
    return S_OK;
}

static HRESULT Sheets(IPlain *self, const Sheet *sheet, Sheet *copy)
{
    (void)self;
    called++;
    CHECK(is_stamp(&sheet->stamps[0]) && is_stamp(&sheet->stamps[1]));
    *copy = *sheet;
    return S_OK;
}

static HRESULT Total(IPlain *self, uint32_t count, const int32_t *values, int64_t *sum)
{
    (void)self;
    called++;
    for (uint32_t at = 0; at < count; at++) {
        *sum += values[at];
    }
    return S_OK;
}

static HRESULT Two(IPlain *self, int32_t n, const int16_t *a, const uint8_t *b, int32_t *sum)
{
    (void)self;
    called++;
    for (int32_t at = 0; at < n; at++) {
        *sum += a[at];
    }
    for (int32_t at = 0; at < n * 2 + 1; at++) {
        *sum += b[at];
    }
    return S_OK;
}

static HRESULT Flags(IPlain *self, uint16_t count, const uint8_t *flags, const Stamp *stamps, int32_t *number)
{
    (void)self;
    called++;
    for (int at = 0; at < count; at++) {
        CHECK(is_boolean(flags[at]) && is_stamp(&stamps[at]));
        *number += flags[at];
    }
    return S_OK;
}

static HRESULT Fill(IPlain *self, int32_t room, int32_t *values, int32_t start)
{
    (void)self;
    called++;
    for (int32_t at = 0; at < room; at++) {
        values[at] = (int32_t)((uint32_t)start + (uint32_t)at);
    }
    return S_OK;
}

static HRESULT Fetch(IPlain *self, uint32_t room, int16_t *letters, uint32_t *got, int32_t *rest)
{
    (void)self;
    called++;
    for (uint32_t at = 0; at < room; at++) {
        letters[at] = (int16_t)at;
        rest[at] = -(int32_t)at;
    }
    *got = found != 0 ? found : room / 2;
    return outcome;
}

static HRESULT Double(IPlain *self, int64_t count, double *values, Kind *kinds)
{
    (void)self;
    called++;
    for (int64_t at = 0; at < count; at++) {
        CHECK(is_kind(kinds[at]));
        values[at] *= 2;
        kinds[at] = FREIGHT;
    }
    return S_OK;
}

static HRESULT Print(IPlain *self, int32_t *count, Stamp *stamps, Stamp *more, uint8_t *flags)
{
    (void)self;
    called++;
    for (int32_t at = 0; at < *count; at++) {
        CHECK(is_stamp(&stamps[at]));
        fill(&stamps[at], at + 10);
    }
    for (int at = 0; at < 4; at++) {
        fill(&more[at], at + 20);
    }
    flags[0] = flags[2] = 1;
    flags[1] = 0;
    *count = -1;
    return outcome;
}

static HRESULT Odd(IPlain *self, int32_t self_, int32_t new_, int32_t request, int32_t values_count, const int32_t *values,
                   int32_t *sum)
{
    (void)self;
    called++;
    int64_t total = (int64_t)self_ + new_ + request;
    for (int32_t at = 0; at < values_count; at++) {
        total += values[at];
    }
    *sum = (int32_t)total;
    return S_OK;
}

static HRESULT Send(IPlain *self, const obvia_wchar *to, int32_t n, const uint8_t *seal, const char *from, int32_t *length)
{
    (void)self;
    called++;
    while (*to != 0) {
        to++;
        *length += 1;
    }
    *length += from != NULL ? (int32_t)strlen(from) * 1000 : -1;
    for (int32_t at = 0; at < n; at++) {
        *length += seal[at] * 1000000;
    }
    return S_OK;
}

/* Whether Receipt returns the first string, and whether it returns the second. */
static int gives_first = 1, gives_second = 1;

static HRESULT Receipt(IPlain *self, const char *what, int32_t *number, Stamp *stamp, obvia_wchar **first, uint8_t *done,
                       char **second)
{
    (void)self;
    called++;
    CHECK(is_stamp(stamp) && *first == NULL && *second == NULL && *done == 0);
    if (gives_first) {
        *first = (obvia_wchar *)malloc(sizeof u"abcdefg");
        memcpy(*first, u"abcdefg", sizeof u"abcdefg");
    }
    if (gives_second) {
        size_t length = strlen(what);
        *second = (char *)malloc(length + 1);
        memcpy(*second, what, length + 1);
    }
    *number = 7;
    fill(stamp, 8);
    *done = 1;
    return outcome;
}

static HRESULT Limited(IPlain *self, uint64_t few, uint64_t *many)
{
    (void)self;
    called++;
    CHECK(few <= 10 && *many >= 1 && *many <= INT64_MAX);
    CHECK(!HONEST || (few == 10 && *many == INT64_MAX));
    *many = 1;
    return S_OK;
}

/* Whether Title ends the string. */
static int is_ended = 1;

static HRESULT Title(IPlain *self, uint32_t room, obvia_wchar *title)
{
    (void)self;
    called++;
    CHECK(!HONEST || room == 4);
    for (uint32_t at = 0; at < room; at++) {
        title[at] = at + 1 < room || !is_ended ? 'a' : 0;
    }
    return S_OK;
}

static const IPlainVtbl functions = {
    query_interface, count_references, count_references, Sum, Nothing, Tell, Numbers, Checked, Changed, Stamps, Fixed, Large,
    Sheets, Total, Two, Flags, Fill, Fetch, Double, Print, Odd, Send, Receipt, Limited, Title,
};
static IPlain object = {&functions};

/* ---- The callers. Each checks its results if no frame is changed. ---- */

static HRESULT call_sum(IPlain *plain)
{
    Pair pair = {INT32_MAX, INT32_MAX};
    int64_t sum = 0;
    HRESULT result = IPlain_Sum(plain, &pair, &sum);
    CHECK(!HONEST || sum == (int64_t)INT32_MAX * 2);
    return result;
}

static HRESULT call_nothing(IPlain *plain)
{
    HRESULT result = IPlain_Nothing(plain);
    CHECK(!HONEST || result == S_FALSE);
    return result;
}

static HRESULT call_tell(IPlain *plain)
{
    HRESULT result = IPlain_Tell(plain, -3, 9);
    CHECK(result == S_OK);
    return result;
}

static HRESULT call_numbers(IPlain *plain)
{
    uint8_t i = 0;
    obvia_wchar j = 0;
    double k = 0;
    HRESULT result = IPlain_Numbers(plain, 200, 'b', -100, 60000, 0xfeff, 1.5f, UINT64_MAX - 1, E_ABORT, &i, &j, &k);
    CHECK(!HONEST || (i == 201 && j == 0xfffe && k == 2.25));
    return result;
}

static HRESULT call_checked(IPlain *plain)
{
    uint8_t off = 9;
    Kind other = LETTER;
    int32_t digit = -9;
    HRESULT result = IPlain_Checked(plain, 1, PARCEL, HIGH, WEIGHT_MAX, &off, &other, &digit);
    CHECK(!HONEST || (off == 1 && other == FREIGHT && digit == 5));
    /* A single invalid result prevents the storing of all results. */
    CHECK(SUCCEEDED(result) ? is_boolean(off) && is_kind(other) : off == 9 && other == LETTER && digit == -9);
    return result;
}

static HRESULT call_changed(IPlain *plain)
{
    int32_t number = 5;
    uint8_t flag = 1;
    Stamp stamp;
    GUID id = IID_IPlain;
    fill(&stamp, 2);
    HRESULT result = IPlain_Changed(plain, &number, &flag, &stamp, &id);
    CHECK(!HONEST || (number == 6 && flag == 1 && is_filled(&stamp, 3) && obvia_is_equal(&id, &IID_IEmpty)));
    CHECK(SUCCEEDED(result) || (number == 5 && flag == 1 && is_filled(&stamp, 2)));
    return result;
}

static HRESULT call_stamps(IPlain *plain)
{
    Pair pair = {1, 2};
    Stamp stamp, printed;
    fill(&stamp, 4);
    HRESULT result = IPlain_Stamps(plain, pair, &stamp, &IID_IBasis, &printed, &pair);
    CHECK(!HONEST || (is_filled(&printed, 5) && pair.left == 2 && pair.right == 1));
    return result;
}

static HRESULT call_fixed(IPlain *plain)
{
    uint8_t seal[16], flags[3] = {1, 0, 1};
    int32_t grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
    Kind kinds[2] = {LETTER, LETTER};
    Pair pairs[2] = {{1, 1}, {1, 1}};
    for (int at = 0; at < 16; at++) {
        seal[at] = (uint8_t)(at + 1);
    }
    HRESULT result = IPlain_Fixed(plain, seal, flags, grid, kinds, pairs);
    CHECK(!HONEST || (grid[0][0] == 7 && grid[1][2] == 6 && kinds[0] == FREIGHT && kinds[1] == PARCEL));
    CHECK(!HONEST || (pairs[0].left == 0 && pairs[1].right == 8));
    return result;
}

static HRESULT call_large(IPlain *plain)
{
    int64_t many[20], back[20];
    for (int at = 0; at < 20; at++) {
        many[at] = at;
    }
    HRESULT result = IPlain_Large(plain, 100, many, back);
    CHECK(!HONEST || (back[0] == 100 && back[19] == 119));
    return result;
}

static HRESULT call_sheets(IPlain *plain)
{
    Sheet sheet, copy;
    memset(&sheet, 0xbb, sizeof sheet);
    memcpy(sheet.code, "xyz", 3);
    fill(&sheet.stamps[0], 6);
    fill(&sheet.stamps[1], 7);
    HRESULT result = IPlain_Sheets(plain, &sheet, &copy);
    CHECK(!HONEST || (is_filled(&copy.stamps[0], 6) && is_filled(&copy.stamps[1], 7) && memcmp(copy.code, "xyz", 3) == 0));
    return result;
}

static HRESULT call_total(IPlain *plain)
{
    const int32_t values[3] = {1, 2, 3};
    int64_t sum = 0;
    HRESULT result = IPlain_Total(plain, 3, values, &sum);
    CHECK(!HONEST || sum == 6);
    return result;
}

static HRESULT call_two(IPlain *plain)
{
    const int16_t a[2] = {1000, 2000};
    const uint8_t b[5] = {1, 2, 3, 4, 5};
    int32_t sum = 0;
    HRESULT result = IPlain_Two(plain, 2, a, b, &sum);
    CHECK(!HONEST || sum == 3015);
    return result;
}

static HRESULT call_flags(IPlain *plain)
{
    const uint8_t flags[2] = {1, 1};
    Stamp stamps[2];
    int32_t number = 0;
    fill(&stamps[0], 1);
    fill(&stamps[1], 2);
    HRESULT result = IPlain_Flags(plain, 2, flags, stamps, &number);
    CHECK(!HONEST || number == 2);
    return result;
}

static HRESULT call_fill(IPlain *plain)
{
    int32_t values[5] = {0, 0, 0, 0, 0};
    HRESULT result = IPlain_Fill(plain, 5, values, 40);
    CHECK(!HONEST || (values[0] == 40 && values[4] == 44));
    return result;
}

static HRESULT call_fetch(IPlain *plain)
{
    int16_t letters[6] = {-1, -1, -1, -1, -1, -1};
    uint32_t got = 77;
    int32_t rest[6];
    HRESULT result = IPlain_Fetch(plain, 6, letters, &got, rest);
    CHECK(!HONEST || (got == 3 && letters[2] == 2 && letters[3] == -1 && rest[0] == 0 && rest[5] == -5));
    CHECK(SUCCEEDED(result) || got == 77);
    return result;
}

static HRESULT call_double(IPlain *plain)
{
    double values[3] = {1, 2, 3.5};
    Kind kinds[3] = {LETTER, PARCEL, PARCEL};
    HRESULT result = IPlain_Double(plain, 3, values, kinds);
    CHECK(!HONEST || (values[0] == 2 && values[2] == 7 && kinds[0] == FREIGHT && kinds[2] == FREIGHT));
    return result;
}

static HRESULT call_print(IPlain *plain)
{
    int32_t count = 2;
    Stamp stamps[2], more[4];
    uint8_t flags[3] = {7, 7, 7};
    fill(&stamps[0], 1);
    fill(&stamps[1], 2);
    HRESULT result = IPlain_Print(plain, &count, stamps, more, flags);
    CHECK(!HONEST || (count == -1 && is_filled(&stamps[0], 10) && is_filled(&stamps[1], 11) && is_filled(&more[3], 23)));
    CHECK(!HONEST || (flags[0] == 1 && flags[1] == 0 && flags[2] == 1));
    return result;
}

static HRESULT call_odd(IPlain *plain)
{
    const int32_t values[1] = {4};
    int32_t sum = 0;
    HRESULT result = IPlain_Odd(plain, 1, 2, 3, 1, values, &sum);
    CHECK(!HONEST || sum == 10);
    return result;
}

static HRESULT call_send(IPlain *plain)
{
    const uint8_t seal[3] = {1, 0, 1};
    int32_t length = 0;
    HRESULT result = IPlain_Send(plain, u"abc", 3, seal, "tuvwxyz", &length);
    CHECK(!HONEST || length == 2007003);
    return result;
}

static HRESULT call_receipt(IPlain *plain)
{
    int32_t number = 6;
    Stamp stamp;
    obvia_wchar none = 1, *first = &none;
    uint8_t done = 9;
    char *second = NULL;
    fill(&stamp, 9);
    HRESULT result = IPlain_Receipt(plain, "tuvwxyz", &number, &stamp, &first, &done, &second);
    CHECK(!HONEST || outcome != S_OK || (number == 7 && is_filled(&stamp, 8) && done == 1));
    CHECK(!HONEST || outcome != S_OK || (gives_first ? memcmp(first, u"abcdefg", 16) == 0 : first == NULL));
    CHECK(!HONEST || outcome != S_OK || (gives_second ? strcmp(second, "tuvwxyz") == 0 : second == NULL));
    /* A failed call returns nothing to free. */
    CHECK(SUCCEEDED(result) || (first == NULL && second == NULL && number == 6 && done == 9));
    free(first);
    free(second);
    return result;
}

static HRESULT call_limited(IPlain *plain)
{
    uint64_t many = INT64_MAX;
    HRESULT result = IPlain_Limited(plain, 10, &many);
    CHECK(!HONEST || many == 1);
    CHECK(SUCCEEDED(result) ? many >= 1 && many <= INT64_MAX : many == INT64_MAX);
    return result;
}

static HRESULT call_title(IPlain *plain)
{
    obvia_wchar title[4];
    HRESULT result = IPlain_Title(plain, 4, title);
    CHECK(!HONEST || !is_ended || memcmp(title, u"aaa", sizeof title) == 0);
    return result;
}

/* ---- Changes by a hostile peer ---- */

/* A change of a byte that makes the frame invalid: the byte's offset and the number to add. */
struct change {
    enum side side;
    size_t at;
    int delta;
};

struct test {
    HRESULT (*call)(IPlain *plain);
    size_t request, reply;
    struct change changes[48];
};
/* Off by one in both directions, at a word's first byte and in its upper half. */
#define SLOT(side, at) {side, at, 1}, {side, at, -1}, {side, (at) + 4, 1}
#define HEADER(side, at) {side, at, 1}, {side, at, -1}, {side, (at) + 4, 1}, {side, (at) + 4, -1}
#define COUNT(side, at) {side, at, 1}, {side, at, -1}, {side, (at) + 3, 0x80}

static const struct test tests[] = {
    {call_sum, 8, 8, {{NEITHER, 0, 0}}},
    {call_nothing, 0, 0, {{NEITHER, 0, 0}}},
    {call_tell, 8, 0, {{REQUEST, 4, 1}, {REQUEST, 7, 0x80}}},
    {call_numbers, 32, 16, {{NEITHER, 0, 0}}},
    {call_checked, 16, 16, {{REQUEST, 0, 1}, {REQUEST, 4, -1}, {REQUEST, 4, 2}, {REQUEST, 7, 0x80}, {REQUEST, 8, 1},
                            {REQUEST, 8, -3}, {REQUEST, 12, 1}, {REQUEST, 15, 1}, {REPLY, 0, 1}, {REPLY, 4, 1},
                            {REPLY, 4, -2}, {REPLY, 8, 1}, {REPLY, 11, 0x80}}},
    {call_changed, 72, 72, {{REQUEST, 4, 1}, {REQUEST, 8, -1}, {REQUEST, 12, 1}, {REQUEST, 40, 3}, {REPLY, 4, 1},
                            {REPLY, 8, -1}, {REPLY, 12, 1}, {REPLY, 52, 1}}},
    {call_stamps, 72, 56, {{REQUEST, 8, -1}, {REQUEST, 12, 1}, {REQUEST, 52, 1}, {REPLY, 0, -1}, {REPLY, 4, 1},
                           {REPLY, 44, 1}}},
    {call_fixed, 48, 48, {{REQUEST, 16, 1}, {REQUEST, 17, 2}, {REQUEST, 18, 1}, {REPLY, 24, 1}, {REPLY, 28, -1}}},
    {call_large, 168, 160, {{NEITHER, 0, 0}}},
    {call_sheets, 112, 112, {{REQUEST, 8, 2}, {REQUEST, 60, 1}, {REPLY, 8, 2}, {REPLY, 60, 1}, {REPLY, 100, 1}}},
    {call_total, 40, 8, {COUNT(REQUEST, 0), SLOT(REQUEST, 8), HEADER(REQUEST, 16)}},
    {call_two, 56, 8, {COUNT(REQUEST, 0), SLOT(REQUEST, 8), SLOT(REQUEST, 16), HEADER(REQUEST, 24), HEADER(REQUEST, 40)}},
    {call_flags, 144, 8, {{REQUEST, 0, 1}, {REQUEST, 0, -1}, {REQUEST, 1, 0x80}, SLOT(REQUEST, 8), SLOT(REQUEST, 16), HEADER(REQUEST, 24), {REQUEST, 32, 1},
                          {REQUEST, 33, 1}, HEADER(REQUEST, 40), {REQUEST, 48, -1}, {REQUEST, 52, 1}, {REQUEST, 100, 1}}},
    {call_fill, 8, 40, {{REQUEST, 3, 0x80}, SLOT(REPLY, 0), HEADER(REPLY, 8)}},
    {call_fetch, 8, 72, {{REQUEST, 3, 0x80}, SLOT(REPLY, 0), COUNT(REPLY, 8), SLOT(REPLY, 16), HEADER(REPLY, 24),
                         HEADER(REPLY, 40)}},
    {call_double, 80, 72, {COUNT(REQUEST, 0), SLOT(REQUEST, 8), SLOT(REQUEST, 16), HEADER(REQUEST, 24), HEADER(REQUEST, 56),
                           {REQUEST, 64, 1}, {REQUEST, 68, 2}, SLOT(REPLY, 0), SLOT(REPLY, 8), HEADER(REPLY, 16),
                           HEADER(REPLY, 48), {REPLY, 56, 1}}},
    {call_print, 120, 352, {COUNT(REQUEST, 0), SLOT(REQUEST, 8), HEADER(REQUEST, 16), {REQUEST, 24, -1}, {REQUEST, 28, 1},
                            SLOT(REPLY, 8), SLOT(REPLY, 16), SLOT(REPLY, 24), HEADER(REPLY, 32), HEADER(REPLY, 136),
                            HEADER(REPLY, 336), {REPLY, 40, 2}, {REPLY, 148, 1}, {REPLY, 345, 2}}},
    {call_odd, 40, 8, {COUNT(REQUEST, 12), SLOT(REQUEST, 16), HEADER(REQUEST, 24)}},
    {call_send, 80, 8, {SLOT(REQUEST, 0), {REQUEST, 0, -40}, COUNT(REQUEST, 8), SLOT(REQUEST, 16), SLOT(REQUEST, 24),
                        {REQUEST, 24, -72}, HEADER(REQUEST, 32), {REQUEST, 39, 0x80}, {REQUEST, 46, 1}, {REQUEST, 40, -'a'}, HEADER(REQUEST, 48),
                        HEADER(REQUEST, 64), {REQUEST, 71, 0x80}, {REQUEST, 79, 1}, {REQUEST, 72, -'t'}}},
    {call_receipt, 80, 120, {SLOT(REQUEST, 0), {REQUEST, 0, -72}, {REQUEST, 16, -1}, {REQUEST, 20, 1}, HEADER(REQUEST, 64),
                             {REQUEST, 79, 1}, {REQUEST, 72, -'t'}, {REPLY, 8, -1}, SLOT(REPLY, 56), {REPLY, 56, -88}, {REPLY, 64, 1},
                             SLOT(REPLY, 72), {REPLY, 72, -112}, HEADER(REPLY, 80), {REPLY, 102, 1}, {REPLY, 88, -'a'},
                             HEADER(REPLY, 104), {REPLY, 119, 1}, {REPLY, 112, -'t'}}},
    {call_limited, 16, 8, {{REQUEST, 0, 1}, {REQUEST, 7, 0x80}, {REQUEST, 15, 0x80}, {REPLY, 0, -1}, {REPLY, 7, 0x80}}},
    {call_title, 8, 24, {{REQUEST, 3, 0x80}, SLOT(REPLY, 0), HEADER(REPLY, 8), {REPLY, 22, 1}, {REPLY, 23, 1}}},
};
#define TESTS (sizeof tests / sizeof tests[0])

/* Makes a call with a change in one of its frames. */
static HRESULT changed(const struct test *test, IPlain *plain, enum side side, size_t length, size_t at, int delta)
{
    const struct tampering this_one = {side, length, at, delta};
    const struct tampering none = {NEITHER, KEEP, 0, 0};
    called = 0;
    tampering = this_one;
    HRESULT result = test->call(plain);
    tampering = none;
    return result;
}

static void refused(const struct test *test, IPlain *plain, enum side side, size_t length, size_t at, int delta)
{
    HRESULT result = changed(test, plain, side, length, at, delta);
    int is_oneway = test->call == call_tell;
    if (side == REQUEST ? called != 0 || (!is_oneway && SUCCEEDED(result)) : SUCCEEDED(result)) {
        fprintf(stderr, "test %d: taken: %s of length %ld, %d added at %zu\n", (int)(test - tests),
                side == REQUEST ? "request" : "reply", (long)length, delta, at);
        exit(1);
    }
}

static void run(const struct test *test, IPlain *plain)
{
    called = 0;
    CHECK(SUCCEEDED(test->call(plain)));
    CHECK(called == 1);
    if (last_request.length != test->request || (test->call != call_tell && last_reply.length != test->reply)) {
        fprintf(stderr, "test %d: %zu, %zu\n", (int)(test - tests), last_request.length, last_reply.length);
        exit(1);
    }
    for (size_t length = 0; length <= test->request + 8; length += 8) {
        if (length != test->request) {
            refused(test, plain, REQUEST, length, KEEP, 0);
        }
    }
    for (size_t length = 0; length <= test->reply + 8 && test->call != call_tell; length += 8) {
        if (length != test->reply) {
            refused(test, plain, REPLY, length, KEEP, 0);
        }
    }
    for (const struct change *change = test->changes; change < test->changes + 48 && change->side != NEITHER; change++) {
        refused(test, plain, change->side, KEEP, change->at, change->delta);
    }
    /* No other change leads to an invalid memory access, as the sanitizers check. */
    for (int delta = 1; delta < 256; delta += delta < 4 || delta > 250 ? 1 : 41) {
        for (size_t at = 0; at < test->request; at++) {
            changed(test, plain, REQUEST, KEEP, at, delta);
        }
        for (size_t at = 0; at < test->reply; at++) {
            changed(test, plain, REPLY, KEEP, at, delta);
        }
    }
}

/* The example in the documentation of FLAT (docs/flat.md). */
static const unsigned char documented[40] = {
    3, 0, 0, 0, 0, 0, 0, 0, 0x18, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0,
    3, 0, 0, 0, 1,  0, 0, 0, 2,    0, 0, 0, 3, 0, 0, 0, 0,    0, 0, 0,
};

static void bytes_are_as_documented(IPlain *plain)
{
    CHECK(call_total(plain) == S_OK);
    /* The rest of the block is unspecified. */
    memset(last_request.bytes + 4, 0, 4);
    CHECK(memcmp(last_request.bytes, documented, sizeof documented) == 0);
}

/* Padding between members is sent as zeros, and not as leftover contents of memory. */
static void padding_is_not_sent(IPlain *plain)
{
    static const unsigned char zeros[8] = {0};
    CHECK(call_stamps(plain) == S_OK);
    CHECK(memcmp(last_request.bytes + 13, zeros, 3) == 0 && memcmp(last_reply.bytes + 5, zeros, 3) == 0);
    CHECK(call_sheets(plain) == S_OK);
    CHECK(memcmp(last_request.bytes + 107, zeros, 5) == 0 && memcmp(last_reply.bytes + 61, zeros, 3) == 0);
    CHECK(call_print(plain) == S_OK);
    CHECK(memcmp(last_request.bytes + 29, zeros, 3) == 0 && memcmp(last_reply.bytes + 45, zeros, 3) == 0);
    CHECK(memcmp(last_reply.bytes + 347, zeros, 5) == 0);
    CHECK(call_numbers(plain) == S_OK);
    CHECK(last_reply.bytes[1] == 0 && memcmp(last_reply.bytes + 4, zeros, 4) == 0);
}

/* A count that exceeds every frame is refused before sending. A count of 0 is valid. */
static void counts_have_limits(IPlain *plain)
{
    int32_t numbers[1] = {0};
    int64_t sum = 5;
    double values[1] = {0};
    Kind kinds[1] = {LETTER};
    sent = 0;
    CHECK(IPlain_Total(plain, UINT32_MAX, numbers, &sum) == E_OUTOFMEMORY);
    CHECK(IPlain_Total(plain, 0x20000000, numbers, &sum) == E_OUTOFMEMORY);
    CHECK(IPlain_Total(plain, 0x1fffffff, numbers, &sum) == E_OUTOFMEMORY);
    CHECK(IPlain_Fill(plain, -1, numbers, 0) == E_INVALIDARG);
    CHECK(IPlain_Double(plain, INT64_MIN, values, kinds) == E_INVALIDARG);
    CHECK(IPlain_Double(plain, INT64_MAX, values, kinds) == E_OUTOFMEMORY);
    CHECK(IPlain_Two(plain, INT32_MIN, NULL, NULL, numbers) == E_INVALIDARG);
    CHECK(IPlain_Two(plain, INT32_MAX, NULL, NULL, numbers) == E_OUTOFMEMORY);
    CHECK(sent == 0);
    CHECK(IPlain_Total(plain, 0, NULL, &sum) == S_OK && sum == 0);
    CHECK(IPlain_Double(plain, 0, NULL, NULL) == S_OK);
    CHECK(IPlain_Fill(plain, 0, NULL, 0) == S_OK);
    /* The reply would be too long for the peer, so the method does not run. */
    called = 0;
    CHECK(IPlain_Fill(plain, 0x1ffffff0, numbers, 0) == RPC_E_SERVERFAULT);
    CHECK(called == 0);
}

/* Strings may be long or empty, and null if the interface permits it. */
static void strings_are_what_they_are(IPlain *plain)
{
    obvia_wchar wide[201] = {0};
    char narrow[301] = {0};
    int32_t length;
    for (int at = 0; at < 200; at++) {
        wide[at] = 0xfeff;
    }
    memset(narrow, 'x', 300);
    CHECK(IPlain_Send(plain, wide, 0, NULL, narrow, &length) == S_OK && length == 300200);
    CHECK(IPlain_Send(plain, u"", 0, NULL, "", &length) == S_OK && length == 0);
    CHECK(last_request.length == 72);
    CHECK(IPlain_Send(plain, wide, 0, NULL, NULL, &length) == S_OK && length == 199);
    sent = 0;
    CHECK(IPlain_Send(plain, NULL, 0, NULL, NULL, &length) == E_POINTER && sent == 0);
    /* Result strings may be null too. */
    gives_first = 0;
    CHECK(call_receipt(plain) == S_OK && last_reply.length == 96);
    gives_second = 0;
    CHECK(call_receipt(plain) == S_OK && last_reply.length == 80);
    gives_first = gives_second = 1;
    outcome = E_FAIL;
    CHECK(call_receipt(plain) == E_FAIL);
    outcome = S_OK;
    server_room = 112;
    tampering.side = REQUEST;
    tampering.at = KEEP;
    CHECK(call_receipt(plain) == RPC_E_SERVERFAULT);
    tampering.side = NEITHER;
    server_room = 1024;
    /* Frames for a required string: in the first the string is null, in the second the string's
     * offset is invalid. */
    const uint64_t without[5] = {0, 0, 40, 0, 18};
    const uint64_t strange[6] = {41, 0, 48, 0, 0, 18};
    unsigned char slot[OBVIA_INLINE_MAX];
    obvia_call call = call_of(without, sizeof without, slot, 21);
    called = 0;
    CHECK(IPlain_INFO.stubs[21](&object, &call) == OBVIA_BAD_STUB_DATA);
    call.frame = strange;
    call.length = sizeof strange;
    CHECK(IPlain_INFO.stubs[21](&object, &call) == OBVIA_BAD_STUB_DATA && called == 0);
}

/* A frame with a negative count. All other parts of the frame match this count. */
static void negative_counts_are_refused(void)
{
    struct {
        int32_t numbers[4];
        uint64_t slot, header;
    } frame = {{1, 2, 3, -1}, 32, 16 | (uint64_t)UINT32_MAX << 32};
    unsigned char slot[OBVIA_INLINE_MAX];
    obvia_call call = call_of(&frame, sizeof frame, slot, 20);
    called = 0;
    /* The type number of the elements depends on the preceding methods. */
    for (uint64_t kind = 16; kind < 24; kind++) {
        frame.header = kind | (uint64_t)UINT32_MAX << 32;
        CHECK(IPlain_INFO.stubs[20](&object, &call) == OBVIA_BAD_STUB_DATA);
    }
    frame.numbers[3] = 0;
    frame.slot = 32;
    frame.header = 16;
    CHECK(IPlain_INFO.stubs[20](&object, &call) == ((uint64_t)8 << 32) && called == 1);
}

/* Arguments that every server would refuse are not sent. */
static void ranges_are_kept_by_who_calls(IPlain *plain)
{
    uint8_t off = 9;
    Kind other = LETTER;
    int32_t digit = -9;
    uint64_t one = 1, many = (uint64_t)1 << 63, none = 0;
    const int before = sent;
    CHECK(IPlain_Tell(plain, 0, 10) == E_INVALIDARG && IPlain_Tell(plain, 0, -2) == E_INVALIDARG);
    CHECK(IPlain_Checked(plain, 1, PARCEL, HIGH, 0, &off, &other, &digit) == E_INVALIDARG);
    CHECK(IPlain_Checked(plain, 1, PARCEL, HIGH, UINT32_MAX, &off, &other, &digit) == E_INVALIDARG);
    CHECK(IPlain_Limited(plain, many, &one) == E_INVALIDARG && IPlain_Limited(plain, 10, &many) == E_INVALIDARG);
    CHECK(IPlain_Limited(plain, 10, &none) == E_INVALIDARG);
    CHECK(sent == before && off == 9 && other == LETTER && digit == -9);
}

/* Forges a reply whose only error is that it has more elements than there is room for. */
static size_t too_many_letters(unsigned char *frame)
{
    const uint64_t words[10] = {32, 7, 56, 17 | (uint64_t)7 << 32, 0, 0, 16 | (uint64_t)6 << 32, 0, 0, 0};
    memcpy(frame, words, sizeof words);
    return sizeof words;
}

/* Forges the same reply with the permitted number of elements. */
static size_t all_letters(unsigned char *frame)
{
    const uint64_t words[10] = {32, 6, 56, 17 | (uint64_t)6 << 32, 0, 0, 16 | (uint64_t)6 << 32, 0, 0, 0};
    memcpy(frame, words, sizeof words);
    return sizeof words;
}

/* Too many elements are refused, whether the method or the peer reports them. */
static void results_have_limits(IPlain *plain)
{
    const struct tampering dishonest = {REPLY, KEEP, KEEP, 0};
    tampering = dishonest;
    forge = all_letters;
    CHECK(call_fetch(plain) == S_OK);
    forge = too_many_letters;
    CHECK(call_fetch(plain) == RPC_E_INVALID_DATA);
    forge = NULL;
    found = 6;
    CHECK(call_fetch(plain) == S_OK);
    found = 7;
    CHECK(call_fetch(plain) == RPC_E_SERVERFAULT);
    found = UINT32_MAX;
    CHECK(call_fetch(plain) == RPC_E_SERVERFAULT);
    /* The results of a failed method are not checked. */
    outcome = E_ACCESSDENIED;
    CHECK(call_fetch(plain) == E_ACCESSDENIED && call_print(plain) == E_ACCESSDENIED);
    outcome = S_OK;
    found = 0;
    tampering.side = NEITHER;
}

/* The stub of a method that does not end its string answers with a failure. */
static void strings_without_an_end_are_not_sent(IPlain *plain)
{
    is_ended = 0;
    CHECK(call_title(plain) == E_INVALIDARG);
    is_ended = 1;
}

/* A failure with results is refused if the caller would have to free the results. */
static void failed_calls_return_nothing_to_free(IPlain *plain)
{
    forged_result = E_FAIL;
    tampering.side = REPLY;
    tampering.at = KEEP;
    CHECK(call_receipt(plain) == RPC_E_INVALID_DATA);
    tampering.side = NEITHER;
    forged_result = S_OK;
}

/* A frame that is too large for the area is not sent, or not answered. */
static void frames_need_room(IPlain *plain)
{
    static const int32_t values[100] = {0};
    const struct test calls[] = {
        {call_large, 0, 0, {{NEITHER, 0, 0}}},
        {call_flags, 0, 0, {{NEITHER, 0, 0}}},
        {call_print, 0, 0, {{NEITHER, 0, 0}}},
    };
    int64_t sum = 0;
    int32_t numbers[100];
    int16_t letters[100];
    uint32_t got = 0;
    const struct tampering dishonest = {REQUEST, KEEP, KEEP, 0};
    tampering = dishonest;
    client_room = 112;
    sent = called = 0;
    for (size_t at = 0; at < sizeof calls / sizeof calls[0]; at++) {
        CHECK(calls[at].call(plain) == E_OUTOFMEMORY);
    }
    CHECK(IPlain_Total(plain, 100, values, &sum) == E_OUTOFMEMORY && sent == 0);
    CHECK(IPlain_Fill(plain, 100, numbers, 0) == S_OK && sent == 1 && called == 1);
    client_room = 1024;
    server_room = 112;
    called = 0;
    CHECK(call_large(plain) == RPC_E_SERVERFAULT && call_print(plain) == RPC_E_SERVERFAULT);
    CHECK(IPlain_Fill(plain, 100, numbers, 0) == RPC_E_SERVERFAULT);
    CHECK(IPlain_Fetch(plain, 100, letters, &got, numbers) == RPC_E_SERVERFAULT && called == 0);
    server_room = 1024;
    tampering.side = NEITHER;
}

int main(void)
{
    const struct obvia_proxy proxy = {IPlain_INFO.proxy, 1, 7};
    IPlain *plain = (IPlain *)(void *)&proxy;
    served_object = &object;
    served_interface = &IPlain_INFO;
    CHECK(IPlain_INFO.size == sizeof(obvia_interface) && IPlain_INFO.base == &IBasis_INFO && IPlain_INFO.stub_count == 32);
    CHECK(IEmpty_INFO.stub_count == 1 && IPlain_INFO.major == 1 && IPlain_INFO.minor == 2);
    CHECK(obvia_is_equal(&IPlain_INFO.iid, &IID_IPlain) && IPlain_INFO.module[1] == &IPlain_INFO);
    CHECK(IPlain_AddRef(plain) == 1 && IPlain_Release(plain) == 1);
    for (size_t at = 0; at < TESTS; at++) {
        run(&tests[at], plain);
    }
    bytes_are_as_documented(plain);
    padding_is_not_sent(plain);
    counts_have_limits(plain);
    strings_are_what_they_are(plain);
    negative_counts_are_refused();
    ranges_are_kept_by_who_calls(plain);
    strings_without_an_end_are_not_sent(plain);
    failed_calls_return_nothing_to_free(plain);
    results_have_limits(plain);
    frames_need_room(plain);
    /* Opnums without a method. */
    CHECK(IPlain_INFO.stubs[0](&object, NULL) == OBVIA_OP_RANGE_ERROR && IPlain_INFO.stubs[31](&object, NULL) == OBVIA_OP_RANGE_ERROR);
    free(client_slot);
    free(client_area);
    free(server_slot);
    free(server_area);
    free(reply_memory);
    puts("ok");
    return 0;
}
