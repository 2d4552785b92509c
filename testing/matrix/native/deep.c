/* An object in C whose methods take, change and return structures and arrays with pointers. */
#include "check.h"

#include <string.h>

typedef struct Deep {
    IDeep pointer;
    uint32_t references;
} Deep;

static HRESULT query_interface(IDeep *self, const IID *iid, void **object)
{
    *object = NULL;
    if (!obvia_is_equal(iid, &IID_IUnknown) && !obvia_is_equal(iid, &IID_IAgileObject) && !obvia_is_equal(iid, &IID_IDeep)) {
        return E_NOINTERFACE;
    }
    *object = self;
    IDeep_AddRef(self);
    return S_OK;
}

static uint32_t add_ref(IDeep *self)
{
    return __atomic_add_fetch(&((Deep *)self)->references, 1, __ATOMIC_RELAXED);
}

static uint32_t release(IDeep *self)
{
    const uint32_t left = __atomic_sub_fetch(&((Deep *)self)->references, 1, __ATOMIC_ACQ_REL);
    if (left == 0) {
        free(self);
    }
    return left;
}

static size_t length(const obvia_wchar *text)
{
    size_t count = 0;
    while (text[count] != 0) {
        count++;
    }
    return count;
}

/* Joins two strings, for a method to return. */
static obvia_wchar *joined(const obvia_wchar *first, const obvia_wchar *second)
{
    const size_t before = length(first), behind = length(second);
    obvia_wchar *made = (obvia_wchar *)obvia_alloc((before + behind + 1) * sizeof *made);
    if (made != NULL) {
        memcpy(made, first, before * sizeof *made);
        memcpy(made + before, second, (behind + 1) * sizeof *made);
    }
    return made;
}

static HRESULT swap(IDeep *self, IPeer **left, IPeer **right)
{
    IPeer *given = *left;
    (void)self;
    *left = *right;
    *right = given;
    if (*left == NULL) {
        *left = peer_in_c(11);
    }
    return S_OK;
}

static HRESULT rename_(IDeep *self, obvia_wchar **name, const obvia_wchar *suffix)
{
    static const obvia_wchar nothing[] = {'?', 0};
    obvia_wchar *made = NULL;
    (void)self;
    if (suffix[0] != 0) {
        made = joined(*name != NULL ? *name : nothing, suffix);
        if (made == NULL) {
            return E_OUTOFMEMORY;
        }
    }
    obvia_free(*name);
    *name = made;
    return S_OK;
}

static int by_value(const void *left, const void *right)
{
    const int32_t one = ((const Item *)left)->value, other = ((const Item *)right)->value;
    return (one > other) - (one < other);
}

static HRESULT sort(IDeep *self, uint32_t count, Item *items)
{
    (void)self;
    if (count > 0) {
        qsort(items, count, sizeof *items, by_value);
    }
    return S_OK;
}

static HRESULT trim(IDeep *self, uint32_t *count, Item *items, int32_t by)
{
    const uint32_t left = *count - (uint32_t)by;
    (void)self;
    if (by > 0) {
        Item_clear(items + left, (size_t)by);
    }
    *count = left;
    return S_OK;
}

static HRESULT part(IDeep *self, int32_t room, int32_t *used, Item *items)
{
    static const obvia_wchar more[] = {'m', 'o', 'r', 'e', 0};
    (void)self;
    if (*used < room) {
        items[*used].value = *used;
        items[*used].name = joined(more, more + 4);
        ++*used;
    }
    return S_OK;
}

static HRESULT objects(IDeep *self, uint32_t count, IPeer **peers)
{
    uint32_t at;
    (void)self;
    for (at = 0; at < count / 2; at++) {
        IPeer *peer = peers[at];
        peers[at] = peers[count - 1 - at];
        peers[count - 1 - at] = peer;
    }
    if (count > 0 && peers[0] != NULL) {
        IPeer_Release(peers[0]);
        peers[0] = NULL;
    }
    return S_OK;
}

static HRESULT find(IDeep *self, const GUID *iid, const Names *names, IUnknown **found, Names *rest)
{
    Names *copy = NULL;
    HRESULT result = S_OK;
    int32_t at;
    (void)self;
    *found = NULL;
    for (at = 0; at < names->count && *found == NULL && result >= 0; at++) {
        if (names->peers != NULL && names->peers[at] != NULL) {
            result = IPeer_QueryInterface(names->peers[at], iid, (void **)found);
        }
    }
    if (result >= 0) {
        result = Names_copy(names, 1, &copy);
    }
    if (result >= 0) {
        *rest = *copy;
        obvia_free(copy);
    }
    return result;
}

static HRESULT store(IDeep *self, const Record *record, Record **stored)
{
    (void)self;
    return Record_copy(record, stored);
}

static HRESULT turn(IDeep *self, const Bunch *bunch, Bunch *turned)
{
    const Bunch other = {{bunch->peers[1], bunch->peers[0]}, {bunch->tags[1], bunch->tags[0]}};
    Bunch *copy = NULL;
    const HRESULT result = Bunch_copy(&other, 1, &copy);
    (void)self;
    if (result >= 0) {
        *turned = *copy;
        obvia_free(copy);
    }
    return result;
}

static HRESULT pick(IDeep *self, int32_t kind, const Any *value, int32_t *other, Any *picked, Choice *choice)
{
    (void)self;
    Choice_clear(choice, 1);
    if (kind == 3 && value->text != NULL) {
        const Item item = {5, 1, value->text, NULL};
        const Tree leaf = {78, NULL, NULL};
        HRESULT result = Item_copy(&item, 1, &picked->list);
        *other = 4;
        choice->which = GREEN;
        choice->body.tree.key = 77;
        if (result >= 0) {
            result = Tree_copy(&leaf, 1, &choice->body.tree.right);
        }
        return result;
    }
    *other = 2;
    picked->real = kind == 1 ? value->number / 2.0 : -1;
    choice->which = RED;
    choice->body.number = kind;
    return S_OK;
}

static HRESULT partly(IDeep *self, int32_t n, const int32_t *values, int64_t *sum)
{
    int at;
    (void)self;
    *sum = n;
    for (at = 0; at < 9; at++) {
        *sum += values[at];
    }
    return S_OK;
}

static HRESULT maybe(IDeep *self, const int32_t *value, int32_t *twice)
{
    (void)self;
    *twice = value != NULL ? *value * 2 : -1;
    return S_OK;
}

static HRESULT both(IDeep *self, int32_t from, char **text, int32_t *numbers)
{
    int32_t at;
    (void)self;
    for (at = 0; at < 4; at++) {
        numbers[at] = from + at;
    }
    *text = (char *)obvia_alloc(sizeof "both");
    if (*text == NULL) {
        return E_OUTOFMEMORY;
    }
    memcpy(*text, "both", sizeof "both");
    return S_OK;
}

static HRESULT fail(IDeep *self, Item **list, Samples *samples, obvia_wchar **text, HRESULT code)
{
    const Item other = {1, 1, *text, NULL};
    Item *made = NULL;
    const HRESULT result = Item_copy(&other, 1, &made);
    (void)self;
    if (result < 0) {
        return result;
    }
    Item_free(*list, 1);
    *list = made;
    obvia_free(*text);
    *text = NULL;
    if (code >= 0) {
        /* Structures that violate their declaration cannot be marshaled. */
        samples->count = 2;
    }
    return code;
}

static const IDeepVtbl methods = {query_interface, add_ref, release, swap,   rename_, sort,  trim, part, objects,
                                  find,            store,   turn,    pick,   partly,  maybe, both, fail};

IDeep *deep_in_c(void)
{
    Deep *made = (Deep *)malloc(sizeof *made);
    CHECK(made != NULL);
    made->pointer.lpVtbl = &methods;
    made->references = 1;
    return &made->pointer;
}
