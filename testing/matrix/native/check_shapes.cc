// Checks how structures with pointers are passed. The same checks run with an object of this
// process, where the calls are plain C++ calls, and with objects of other processes.
#include "check.h"
#include "shapes.hpp"

#include <thread>

namespace {

using obvia::check;

void lists_are_passed_and_returned(IShapes *shapes)
{
    int64_t sum = -1;
    obvia::memory<obvia_wchar> names;
    check(shapes->Sum(nullptr, &sum, names.put()));
    CHECK(sum == 0 && narrow(names.get()) == "; 0 marked");
    std::u16string two = u"zwei", one = u"eins";
    Item last = {3, 1, nullptr, nullptr}, middle = {-2, 0, &two[0], &last};
    const Item first = {1, 1, &one[0], &middle};
    check(shapes->Sum(&first, &sum, names.put()));
    CHECK(sum == 2 && narrow(names.get()) == "eins, zwei; 2 marked");
    obvia::owned<Item> list;
    check(shapes->Range(10, 1000, list.put()));
    int32_t value = 10;
    for (const Item *item = list.get(); item; item = item->next) {
        CHECK(item->value == value && narrow(item->name) == "item " + std::to_string(value));
        value++;
    }
    CHECK(value == 1010);
    check(shapes->Sum(list.get(), &sum, names.put()));
    CHECK(sum == 509500);
    check(shapes->Range(0, 0, list.put()));
    CHECK(!list);
}

std::string values_of(const obvia::owned<Item> &list)
{
    std::string text;
    for (const Item *item = list.get(); item; item = item->next) {
        text += std::to_string(item->value) + " ";
    }
    return text;
}

void lists_are_replaced(IShapes *shapes, bool elsewhere)
{
    obvia::owned<Item> list;
    check(shapes->Range(1, 3, list.put()));
    check(shapes->Reverse(list.in_out()));
    CHECK(values_of(list) == "3 2 1 ");
    obvia::owned<Item> none;
    check(shapes->Reverse(none.in_out()));
    CHECK(!none);
    obvia::owned<Item> bad;
    check(shapes->Range(-3, 5, bad.put()));
    CHECK(shapes->Reverse(bad.in_out()) == E_INVALIDARG);
    CHECK(!elsewhere || values_of(bad) == "-3 -2 -1 0 1 ");
    obvia::filled<Item> item;
    const Item next = {5, 0, nullptr, nullptr};
    item->value = 1;
    item->name = obvia::copy_text<obvia_wchar>(u"one");
    check(Item_copy(&next, 1, &item->next));
    check(shapes->Bump(item.in_out(), 41));
    CHECK(item->value == 42 && item->marked && narrow(item->name) == "one+41" && item->next->value == 5);
}

void keys_of(const Tree *tree, std::string &text)
{
    if (tree) {
        keys_of(tree->left, text);
        text += std::to_string(tree->key) + " ";
        keys_of(tree->right, text);
    }
}

void trees_grow(IShapes *shapes)
{
    obvia::owned<Tree> tree = obvia::owned<Tree>::copy({0, nullptr, nullptr});
    for (const int64_t key : {50, -7, 30, 99, -20, 31}) {
        obvia::owned<Tree> grown;
        check(shapes->Insert(tree.get(), key, grown.put()));
        tree = std::move(grown);
    }
    std::string keys;
    keys_of(tree.get(), keys);
    CHECK(keys == "-20 -7 0 30 31 50 99 ");
    obvia::owned<Tree> grown;
    CHECK(!tree || shapes->Insert(tree.get(), 1, grown.put()) == S_OK);
}

void graphs_keep_cycles_and_shared_nodes(IShapes *shapes)
{
    for (const int32_t count : {1, 2, 100}) {
        obvia::owned<Node> ring;
        check(shapes->Ring(count, ring.put()));
        const Node *node = ring.get();
        for (int32_t at = 0; at < count * 2; at++) {
            CHECK(node->number == at % count && node->second == ring.get());
            node = node->first;
        }
        CHECK(node == ring.get());
        int32_t number = -1;
        check(shapes->Walk(ring.get(), count * 3 + count / 2, &number));
        CHECK(number == count / 2);
    }
    obvia::owned<Node> none;
    check(shapes->Ring(0, none.put()));
    CHECK(!none);
    Node a = {1, nullptr, nullptr}, b = {2, &a, &b};
    a.first = &b;
    uint8_t same = 0;
    check(shapes->Shared(&a, &a, &same));
    CHECK(same == 1);
    check(shapes->Shared(&a, &b, &same));
    CHECK(same == 0);
    check(shapes->Shared(nullptr, &b, &same));
    CHECK(same == 0);
    int32_t number = 0;
    check(shapes->Walk(&a, 1001, &number));
    CHECK(number == 2);
    CHECK(shapes->Walk(nullptr, 0, &number) == E_POINTER);
}

void arrays_have_the_length_stated_in_the_structure(IShapes *shapes, bool elsewhere)
{
    double values[] = {1, 2, 6}, average = 0;
    uint8_t flags[] = {1, 0, 1};
    int16_t table[] = {100, 200, 300};
    int32_t tail[] = {10, 20, 30, 40, 50, 60, 70, 80};
    Samples samples = {3, values, flags, 1, 2, table, 2, tail};
    check(shapes->Average(&samples, &average));
    CHECK(average == 3.5 + 600 + 30);
    const Samples empty = {0, nullptr, nullptr, 0, 0, nullptr, 0, tail};
    check(shapes->Average(&empty, &average));
    CHECK(average == 0);
    obvia::filled<Samples> sampled;
    check(shapes->Sampled(5, sampled.put()));
    CHECK(sampled->count == 5 && sampled->values[4] == 4 && sampled->table[6] == 7 && sampled->used == 3 && sampled->tail[2] == 3);
    check(shapes->Average(&*sampled, &average));
    CHECK(average == 2 + 28 + 6);
    if (elsewhere) {
        samples.used = 9;
        CHECK(shapes->Average(&samples, &average) == E_INVALIDARG);
        samples.used = -1;
        CHECK(shapes->Average(&samples, &average) == E_INVALIDARG);
        samples.used = 0;
        samples.tail = nullptr;
        CHECK(shapes->Average(&samples, &average) == E_POINTER);
    }
}

std::string described(IShapes *shapes, int32_t kind, Any value)
{
    obvia::memory<obvia_wchar> text;
    check(shapes->Describe(kind, &value, text.put()));
    return narrow(text.get());
}

void unions_have_the_arm_of_the_discriminant(IShapes *shapes)
{
    Any any = {};
    any.number = -5;
    CHECK(described(shapes, 1, any) == "1: Number(-5)");
    any.real = 0.25;
    CHECK(described(shapes, 2, any) == "2: Real(0.25)");
    any.text = nullptr;
    CHECK(described(shapes, 3, any) == "3: Text(None)");
    std::u16string x = u"x";
    any.text = &x[0];
    CHECK(described(shapes, 3, any) == "3: Text(Some(\"x\\0\"))");
    Item next = {1, 0, nullptr, nullptr}, item = {1, 0, nullptr, &next};
    any.list = &item;
    CHECK(described(shapes, 4, any) == "4: Items(2)");
    any.color = BLUE;
    CHECK(described(shapes, 6, any) == "6: Color(6, Color(6))");
    CHECK(described(shapes, 77, any) == "77: Other(77)");
    Tree leaf = {3, nullptr, nullptr};
    Choice choice = {};
    int64_t sum = 0;
    choice.which = RED;
    choice.body.number = 9;
    check(shapes->Choose(&choice, &sum));
    CHECK(sum == 9);
    choice.which = GREEN;
    choice.body.tree = {4, &leaf, nullptr};
    check(shapes->Choose(&choice, &sum));
    CHECK(sum == 7);
    choice.which = BLUE;
    check(shapes->Choose(&choice, &sum));
    CHECK(sum == -1);
}

void nested_structures_are_passed(IShapes *shapes, bool elsewhere)
{
    std::u16string name = u"a";
    Tree left = {1, nullptr, nullptr}, right = {2, nullptr, nullptr};
    Box box = {GREEN, {{1, 1, &name[0], nullptr}, {2, 0, nullptr, nullptr}}, {&left, nullptr, &right}, {}, 3};
    box.choice.which = GREEN;
    box.choice.body.tree = right;
    obvia::filled<Box> flipped;
    check(shapes->Flip(&box, flipped.put()));
    CHECK(flipped->items[0].value == 2 && flipped->items[1].value == 1 && narrow(flipped->items[1].name) == "a");
    CHECK(flipped->trees[0]->key == 2 && !flipped->trees[1] && flipped->trees[2]->key == 1);
    CHECK(flipped->choice.which == GREEN && flipped->choice.body.tree.key == 2);
    CHECK(flipped->color == GREEN && flipped->digit == 7);
    box.digit = 10;
    CHECK(!elsewhere || shapes->Flip(&box, flipped.put()) < 0);
    box.digit = 3;
    box.choice.which = static_cast<Color>(1);
    CHECK(!elsewhere || shapes->Flip(&box, flipped.put()) == E_INVALIDARG);
}

void arrays_of_structures_and_strings_are_passed(IShapes *shapes, bool elsewhere)
{
    uint32_t before = 0, got = 0;
    {
        obvia::owned_array<Entry> entries;
        check(shapes->List(entries.count(), entries.put()));
        before = static_cast<uint32_t>(entries.size());
    }
    std::string one = "one", two = "two";
    std::u16string text = u"wide";
    Entry entries[] = {{&one[0], 1, {}}, {&two[0], 3, {}}};
    entries[0].value.number = 1;
    entries[1].value.text = &text[0];
    check(shapes->Put(2, entries));
    check(shapes->Put(0, nullptr));
    obvia::owned_array<Entry> all;
    check(shapes->List(all.count(), all.put()));
    CHECK(all.size() == before + 2);
    CHECK(all[before].name == one && all[before].value.number == 1);
    CHECK(all[before + 1].name == two && all[before + 1].value.text == text);
    Entry some[10] = {};
    check(shapes->Some(1, some, &got));
    CHECK(got == 1 && some[0].name && !some[1].name);
    Entry_clear(some, got);
    check(shapes->Some(0, some, &got));
    CHECK(got == 0);
    if (elsewhere) {
        // No frame has room for so many elements.
        CHECK(shapes->Some(UINT32_MAX, some, &got) == E_OUTOFMEMORY);
        CHECK(shapes->Some(1, nullptr, &got) == E_POINTER && shapes->Some(1, some, nullptr) == E_POINTER);
    }
    std::u16string ab = u"ab", c = u"c";
    obvia_wchar *words[] = {&ab[0], nullptr, &c[0]};
    uint32_t lines = 0;
    obvia::memory<obvia_wchar *> upper;
    check(shapes->Words(3, words, &lines, upper.put()));
    CHECK(lines == 3 && std::u16string(upper[0]) == u"AB" && !upper[1] && std::u16string(upper[2]) == u"C");
    for (uint32_t line = 0; line < lines; line++) {
        obvia_free(upper[line]);
    }
}

void result_arrays_have_the_requested_room(IShapes *shapes)
{
    Item items[5] = {};
    uint32_t count = 2;
    check(shapes->Take(&count, items));
    CHECK(count == 3 && items[1].value == 2 && narrow(items[1].name) == "item 2" && items[2].value == 0);
    Item_clear(items, 2);
    count = 5;
    check(shapes->Take(&count, items));
    CHECK(count == 3 && items[2].value == 3 && items[3].value == 0);
    Item_clear(items, 5);
    count = 0;
    CHECK(shapes->Take(&count, items) == E_INVALIDARG);
}

void objects_in_structures_are_called(IShapes *shapes)
{
    const obvia::com_ptr<IPeer> left = obvia::make<Peer>(2), right = obvia::make<Peer>(3);
    std::string word = "abcd";
    int32_t answer = 0;
    Pair pair = {left.get(), &word[0], right.get()};
    check(shapes->Meet(&pair, &answer));
    CHECK(answer == 812);
    pair.left = nullptr;
    check(shapes->Meet(&pair, &answer));
    CHECK(answer == 12);
    IPeer *peers[] = {nullptr, left.get(), right.get()};
    obvia::filled<Pair> met;
    check(shapes->Peers(3, peers, met.put()));
    CHECK(met->left == right.get() && std::string(met->word) == "last and mine");
    check(met->right->Twice(6, &answer));
    CHECK(answer == 42);
}

void callers_do_not_wait_for_oneway_methods(IShapes *shapes)
{
    int32_t before = 0, noted = 0;
    check(shapes->Noted(&before));
    Item last = {2, 0, nullptr, nullptr};
    const Item first = {1, 0, nullptr, &last};
    check(shapes->Note(&first));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (noted != before + 2) {
        CHECK(std::chrono::steady_clock::now() < end);
        check(shapes->Noted(&noted));
        std::this_thread::yield();
    }
}

} // namespace

void check_shapes(IShapes *shapes, bool elsewhere)
{
    lists_are_passed_and_returned(shapes);
    lists_are_replaced(shapes, elsewhere);
    trees_grow(shapes);
    graphs_keep_cycles_and_shared_nodes(shapes);
    arrays_have_the_length_stated_in_the_structure(shapes, elsewhere);
    unions_have_the_arm_of_the_discriminant(shapes);
    nested_structures_are_passed(shapes, elsewhere);
    arrays_of_structures_and_strings_are_passed(shapes, elsewhere);
    result_arrays_have_the_requested_room(shapes);
    objects_in_structures_are_called(shapes);
    callers_do_not_wait_for_oneway_methods(shapes);
}

void check_short_memory(IShapes *shapes)
{
    int64_t sum = 0;
    obvia::memory<obvia_wchar> names;
    std::u16string long_name(3000000, u'x'), short_name = u"short";
    Item last = {2, 0, &long_name[0], nullptr};
    Item first = {1, 0, &long_name[0], &last};
    for (int turn = 0; turn < 3; turn++) {
        // The request and the reply need copies that exceed 8 MiB, which one of the two processes
        // cannot allocate.
        CHECK(shapes->Sum(&first, &sum, names.put()) == E_OUTOFMEMORY && !names);
        last.name = &short_name[0];
        first.name = nullptr;
        check(shapes->Sum(&first, &sum, names.put()));
        CHECK(sum == 3 && narrow(names.get()) == "short; 0 marked");
        last.name = first.name = &long_name[0];
    }
}

// Makes a call, reads its results completely, and frees them.
static HRESULT call_once(IShapes *shapes, const std::string &method, uint32_t size)
{
    int64_t sum = 0;
    obvia::memory<obvia_wchar> names;
    obvia::owned<Item> list;
    obvia::owned<Node> ring;
    obvia::filled<Samples> samples;
    Entry entries[5] = {};
    uint32_t got = 0;
    HRESULT result = E_NOTIMPL;
    if (method == "Sum") {
        result = shapes->Sum(nullptr, &sum, names.put());
    } else if (method == "Range") {
        result = shapes->Range(1, static_cast<int32_t>(size), list.put());
        values_of(list);
    } else if (method == "Ring") {
        result = shapes->Ring(static_cast<int32_t>(size), ring.put());
    } else if (method == "Sampled") {
        result = shapes->Sampled(size, samples.put());
        for (uint32_t at = 0; samples->values && at < samples->count; at++) {
            sum += static_cast<int64_t>(samples->values[at]);
        }
    } else if (method == "Some" && size <= 5) {
        result = shapes->Some(size, entries, &got);
        Entry_clear(entries, got);
    }
    return result;
}

void call_liar(IShapes *shapes, int count, const char *method, uint32_t size)
{
    for (int at = 0; at < count; at++) {
        std::printf("%d\n", call_once(shapes, method, size));
    }
}
