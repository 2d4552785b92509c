// Checks of IDeep, whose methods take, change and return structures and arrays with pointers. The
// same checks run with an object of this process, and with objects of other processes.
#include "check.h"
#include "deep.hpp"

namespace {

using obvia::check;

int32_t twice(IPeer *peer, int32_t value)
{
    int32_t answer = 0;
    check(peer->Twice(value, &answer));
    return answer;
}

void objects_are_replaced(IDeep *deep)
{
    const obvia::com_ptr<IPeer> two = obvia::make<Peer>(2);
    obvia::com_ptr<IPeer> left = two, right;
    IPeer *places[2] = {left.detach(), right.detach()};
    check(deep->Swap(&places[0], &places[1]));
    left = obvia::com_ptr<IPeer>::attach(places[0]);
    right = obvia::com_ptr<IPeer>::attach(places[1]);
    CHECK(right == two && twice(left.get(), 3) == 33);
    // An object that is passed back to its own process arrives as the object itself.
    IPeer *again[2] = {left.detach(), right.detach()};
    check(deep->Swap(&again[0], &again[1]));
    left = obvia::com_ptr<IPeer>::attach(again[0]);
    right = obvia::com_ptr<IPeer>::attach(again[1]);
    CHECK(left == two && twice(right.get(), 3) == 33);
    IPeer *all[] = {left.detach(), right.detach(), nullptr, obvia::make<Peer>(5).detach()};
    check(deep->Objects(4, all));
    CHECK(!all[0] && !all[1] && twice(all[2], 3) == 33 && all[3] == two.get());
    all[2]->Release();
    all[3]->Release();
    check(deep->Objects(0, nullptr));
}

void strings_are_replaced(IDeep *deep)
{
    obvia::memory<obvia_wchar> name;
    check(deep->Rename(name.in_out(), u"ab"));
    CHECK(std::u16string(name.get()) == u"?ab");
    check(deep->Rename(name.in_out(), u"c"));
    CHECK(std::u16string(name.get()) == u"?abc");
    check(deep->Rename(name.in_out(), u""));
    CHECK(!name);
}

Item item(int32_t value, const char16_t *name)
{
    return {value, 0, name ? obvia::copy_text<obvia_wchar>(name) : nullptr, nullptr};
}

void arrays_are_changed_in_place(IDeep *deep, bool elsewhere)
{
    Item items[] = {item(3, u"three"), item(1, u"one"), item(2, nullptr)};
    check(deep->Sort(3, items));
    CHECK(items[0].value == 1 && narrow(items[0].name) == "one" && !items[1].name && narrow(items[2].name) == "three");
    check(deep->Sort(0, nullptr));
    uint32_t count = 3;
    check(deep->Trim(&count, items, 1));
    CHECK(count == 2 && items[1].value == 2 && narrow(items[0].name) == "one");
    if (elsewhere) {
        // The array's length was fixed before the call, so a method cannot fill more elements by
        // reporting a greater length.
        check(deep->Trim(&count, items, -1));
        CHECK(count == 3 && narrow(items[0].name) == "one" && items[2].value == 0);
    }
    Item_clear(items, 2);
    int32_t used = 1;
    Item some[3] = {item(9, u"nine")};
    check(deep->Part(3, &used, some));
    CHECK(used == 2 && narrow(some[0].name) == "nine" && narrow(some[1].name) == "more" && !some[2].name);
    check(deep->Part(3, &used, some));
    check(deep->Part(3, &used, some));
    CHECK(used == 3 && some[2].value == 2);
    used = 4;
    CHECK(!elsewhere || deep->Part(3, &used, some) == E_INVALIDARG);
    Item_clear(some, 3);
}

void structures_contain_objects_and_strings(IDeep *deep, bool elsewhere)
{
    const obvia::com_ptr<IPeer> two = obvia::make<Peer>(2);
    std::string a = "a", b = "b";
    char *texts[] = {&a[0], &b[0]};
    IPeer *peers[] = {nullptr, two.get()};
    const Names names = {2, texts, peers};
    obvia::com_ptr<IUnknown> found;
    obvia::filled<Names> rest;
    check(deep->Find(&IID_IPeer, &names, found.put(), rest.put()));
    CHECK(found.get() == two.get() && rest->count == 2 && rest->names[1] == b && !rest->peers[0] && rest->peers[1] == two.get());
    if (elsewhere) {
        // A failure leaves results null.
        CHECK(deep->Find(&IID_IDeep, &names, found.put(), rest.put()) == E_NOINTERFACE && !found && !rest->names);
        const Names negative = {-1, nullptr, peers};
        CHECK(deep->Find(&IID_IPeer, &negative, found.put(), rest.put()) == E_INVALIDARG);
        // A failed request releases the references that it has taken.
        const obvia::com_ptr<IPeer> five = obvia::make<Peer>(5);
        const obvia::com_ptr<IDeep> other = obvia::make<Deep>();
        IPeer *mixed[] = {five.get(), reinterpret_cast<IPeer *>(other.get())};
        const Names wrong = {2, nullptr, mixed};
        CHECK(deep->Find(&IID_IPeer, &wrong, found.put(), rest.put()) == E_NOINTERFACE);
        five->AddRef();
        CHECK(five->Release() == 1);
    }
    const Names none = {0, nullptr, nullptr};
    check(deep->Find(&IID_IPeer, &none, found.put(), rest.put()));
    CHECK(!found && !rest->names);
    const Bunch bunch = {{two.get(), nullptr}, {nullptr, &a[0]}};
    obvia::filled<Bunch> turned;
    check(deep->Turn(&bunch, turned.put()));
    CHECK(!turned->peers[0] && turned->peers[1] == two.get() && turned->tags[0] == a && !turned->tags[1]);
}

void structures_with_trailing_arrays_are_passed(IDeep *deep)
{
    std::string title = "title";
    std::u16string name = u"second";
    std::vector<char> memory(offsetof(Record, items) + 3 * sizeof(Item));
    Record *record = reinterpret_cast<Record *>(memory.data());
    record->title = &title[0];
    record->count = 3;
    Item *items = reinterpret_cast<Item *>(memory.data() + offsetof(Record, items));
    items[0] = {1, 0, nullptr, nullptr};
    items[1] = {2, 1, &name[0], &items[0]};
    items[2] = {3, 0, nullptr, nullptr};
    items[1].next = nullptr;
    obvia::owned<Record> stored;
    check(deep->Store(record, stored.put()));
    const Item *came = reinterpret_cast<const Item *>(reinterpret_cast<const char *>(stored.get()) + offsetof(Record, items));
    CHECK(stored->title == title && stored->count == 3 && came[1].name == name && came[2].value == 3);
    record->count = 0;
    record->title = nullptr;
    check(deep->Store(record, stored.put()));
    CHECK(!stored->title && stored->count == 0);
}

void unions_are_returned(IDeep *deep)
{
    std::u16string text = u"text";
    Any value = {}, picked = {};
    int32_t other = 0;
    obvia::filled<Choice> choice;
    value.text = &text[0];
    check(deep->Pick(3, &value, &other, &picked, choice.in_out()));
    CHECK(other == 4 && picked.list->value == 5 && picked.list->name == text);
    CHECK(choice->which == GREEN && choice->body.tree.key == 77 && choice->body.tree.right->key == 78);
    Item_free(picked.list, 1);
    value.number = 5;
    check(deep->Pick(1, &value, &other, &picked, choice.in_out()));
    CHECK(other == 2 && picked.real == 2.5 && choice->which == RED && choice->body.number == 1);
}

void optional_values_can_be_null(IDeep *deep, bool elsewhere)
{
    const int32_t values[9] = {1, 2, 3, 0, 0, 0, 0, 0, 0};
    int64_t sum = 0;
    check(deep->Partly(3, values, &sum));
    CHECK(sum == 9);
    CHECK(!elsewhere || deep->Partly(10, values, &sum) == E_INVALIDARG);
    int32_t answer = 0;
    check(deep->Maybe(values, &answer));
    CHECK(answer == 2);
    check(deep->Maybe(nullptr, &answer));
    CHECK(answer == -1);
    obvia::memory<char> both;
    int32_t numbers[4] = {};
    check(deep->Both(7, both.put(), numbers));
    CHECK(std::string(both.get()) == "both" && numbers[0] == 7 && numbers[3] == 10);
    CHECK(!elsewhere || (deep->Both(101, both.put(), numbers) == E_INVALIDARG && numbers[0] == 7));
}

void failed_methods_leave_arguments_unchanged(IDeep *deep)
{
    obvia::owned<Item> list;
    Item given = {8, 0, nullptr, nullptr};
    check(Item_copy(&given, 1, list.put()));
    obvia::filled<Samples> samples;
    obvia::memory<obvia_wchar> text;
    *text.put() = obvia::copy_text<obvia_wchar>(u"mine");
    CHECK(deep->Fail(list.in_out(), samples.put(), text.in_out(), E_ACCESSDENIED) == E_ACCESSDENIED);
    CHECK(list->value == 8 && narrow(text.get()) == "mine" && !samples->values);
    // The method's results violate its declaration.
    CHECK(deep->Fail(list.in_out(), samples.put(), text.in_out(), S_OK) < 0);
    CHECK(list->value == 8 && narrow(text.get()) == "mine" && !samples->values);
}

} // namespace

void check_deep(IDeep *deep, bool elsewhere)
{
    objects_are_replaced(deep);
    strings_are_replaced(deep);
    arrays_are_changed_in_place(deep, elsewhere);
    structures_contain_objects_and_strings(deep, elsewhere);
    structures_with_trailing_arrays_are_passed(deep);
    unions_are_returned(deep);
    optional_values_can_be_null(deep, elsewhere);
    if (elsewhere) {
        failed_methods_leave_arguments_unchanged(deep);
    }
}
