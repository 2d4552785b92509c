/* Checks of structures with pointers from C, with an object in C as well. */
#include "check.h"

#include "shapes.h"

#include <stdlib.h>
#include <string.h>

/* An object in C that multiplies by its factor. */
typedef struct Peer {
    IPeer pointer;
    uint32_t references;
    int32_t factor;
} Peer;

static HRESULT peer_query_interface(IPeer *self, const IID *iid, void **object)
{
    *object = NULL;
    if (!obvia_is_equal(iid, &IID_IUnknown) && !obvia_is_equal(iid, &IID_IAgileObject) && !obvia_is_equal(iid, &IID_IPeer)) {
        return E_NOINTERFACE;
    }
    *object = self;
    IPeer_AddRef(self);
    return S_OK;
}

static uint32_t peer_add_ref(IPeer *self)
{
    return __atomic_add_fetch(&((Peer *)self)->references, 1, __ATOMIC_RELAXED);
}

static uint32_t peer_release(IPeer *self)
{
    const uint32_t left = __atomic_sub_fetch(&((Peer *)self)->references, 1, __ATOMIC_ACQ_REL);
    if (left == 0) {
        free(self);
    }
    return left;
}

static HRESULT peer_twice(IPeer *self, int32_t value, int32_t *answer)
{
    *answer = value * ((Peer *)self)->factor;
    return S_OK;
}

static const IPeerVtbl peer_methods = {peer_query_interface, peer_add_ref, peer_release, peer_twice};

IPeer *peer_in_c(int32_t factor)
{
    Peer *made = (Peer *)malloc(sizeof *made);
    CHECK(made != NULL);
    made->pointer.lpVtbl = &peer_methods;
    made->references = 1;
    made->factor = factor;
    return &made->pointer;
}

static void lists_and_strings(IShapes *shapes)
{
    static obvia_wchar one[] = {'o', 'n', 'e', 0};
    Item next = {2, 0, NULL, NULL}, item = {1, 1, NULL, NULL};
    Item *list = NULL;
    obvia_wchar *names = NULL;
    int64_t sum = 0;
    item.name = one;
    item.next = &next;
    CHECK(IShapes_Sum(shapes, &item, &sum, &names) == S_OK);
    CHECK(sum == 3 && names[0] == 'o' && names[3] == ';');
    obvia_free(names);
    CHECK(IShapes_Range(shapes, 1, 3, &list) == S_OK);
    CHECK(IShapes_Reverse(shapes, &list) == S_OK);
    CHECK(list->value == 3 && list->next->value == 2 && list->next->next->value == 1 && list->next->next->next == NULL);
    Item_free(list, 1);
}

static void structures_in_place(IShapes *shapes)
{
    Samples samples;
    double average = 0;
    Choice choice;
    int64_t sum = 0;
    CHECK(IShapes_Sampled(shapes, 3, &samples) == S_OK);
    CHECK(samples.count == 3 && samples.values[2] == 2 && samples.table[6] == 7);
    CHECK(IShapes_Average(shapes, &samples, &average) == S_OK && average == 1 + 28 + 6);
    Samples_clear(&samples, 1);
    CHECK(samples.values == NULL);
    memset(&choice, 0, sizeof choice);
    choice.which = GREEN;
    choice.body.tree.key = 12;
    CHECK(IShapes_Choose(shapes, &choice, &sum) == S_OK && sum == 12);
}

static void objects(IShapes *shapes)
{
    IPeer *three = peer_in_c(3);
    IPeer *peers[2] = {NULL, three};
    char word[] = "abc";
    Pair pair = {NULL, word, NULL}, met;
    int32_t answer = 0;
    pair.left = three;
    pair.right = three;
    CHECK(IShapes_Meet(shapes, &pair, &answer) == S_OK && answer == 909);
    CHECK(IShapes_Peers(shapes, 2, peers, &met) == S_OK);
    CHECK(met.left == three && strcmp(met.word, "last and mine") == 0);
    CHECK(IPeer_Twice(met.right, 6, &answer) == S_OK && answer == 42);
    Pair_clear(&met, 1);
    IPeer_Release(three);
}

void check_shapes_in_c(IShapes *shapes)
{
    lists_and_strings(shapes);
    structures_in_place(shapes);
    objects(shapes);
}
