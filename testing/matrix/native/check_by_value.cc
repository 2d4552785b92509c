// Checks of methods by value: arguments and results of callers, and arguments and exceptions of
// objects.
#include "by_value.hpp"
#include "check.h"
#include "texts.hpp"

#include <stdexcept>

namespace {

// Returns the error that `work` throws.
template <class Work> obvia::error failure_of(Work &&work)
{
    try {
        work();
    } catch (const obvia::error &failure) {
        return failure;
    }
    return obvia::error(S_OK);
}

// An object whose methods fail in every way, some after changes of their results.
class Failing final : public obvia::implementation<IPeer, IDeep> {
public:
    int32_t Twice(int32_t value) override
    {
        switch (value) {
        case 0:
            throw obvia::error(E_ACCESSDENIED, "not you");
        case 1:
            throw std::runtime_error("out of luck");
        case 2:
            throw std::bad_alloc();
        case 3:
            throw value;
        default:
            // The object can get each of its interfaces from itself.
            return self() == obvia::object<IPeer>(self()) && self().as<IDeep>() ? value * 2 : 0;
        }
    }

    void Swap(obvia::object<IPeer> &left, obvia::object<IPeer> &right) override
    {
        left = nullptr;
        right = nullptr;
        throw obvia::error(E_ABORT, "gone");
    }
    void Rename(obvia::memory<obvia_wchar> &name, std::u16string_view suffix) override
    {
        *name.put() = obvia::copy_text(suffix);
        throw obvia::error(E_ABORT, "renamed");
    }
    void Sort(obvia::span<obvia::filled<Item>>) override {}
    void Trim(uint32_t &count, obvia::span<obvia::filled<Item>>, int32_t) override { count = 0; }
    void Part(int32_t &, obvia::span<obvia::filled<Item>>) override {}
    void Objects(obvia::span<obvia::object<IPeer>>) override {}
    IDeep_Find_results Find(const GUID &, const Names &) override { return {self(), {}}; }
    obvia::owned<Record> Store(const Record &) override { return {}; }
    obvia::filled<Bunch> Turn(const Bunch &) override { return {}; }
    HRESULT Pick(int32_t, const Any *, int32_t *, Any *, Choice *) override { return E_NOTIMPL; }
    int64_t Partly(int32_t, obvia::span<const int32_t>) override { return 0; }
    int32_t Maybe(const int32_t *) override { return 0; }
    std::string Both(int32_t, obvia::span<int32_t> numbers) override { return std::string(numbers.size(), 'x'); }
    obvia::filled<Samples> Fail(obvia::owned<Item> &, obvia::memory<obvia_wchar> &, HRESULT) override { return {}; }
};

void cpp_exceptions_and_hresults_convert_into_each_other()
{
    const obvia::com_ptr<IPeer> made = obvia::make<Failing>();
    const obvia::object<IPeer> peer = made;
    int32_t answer = 7;
    CHECK(made->Twice(0, &answer) == E_ACCESSDENIED && made->Twice(1, &answer) == E_FAIL);
    CHECK(made->Twice(2, &answer) == E_OUTOFMEMORY && made->Twice(3, &answer) == E_UNEXPECTED && answer == 7);
    const obvia::error failure = failure_of([&] { peer.Twice(0); });
    CHECK(failure.code() == E_ACCESSDENIED && std::string(failure.what()).find("not you") != std::string::npos);
    CHECK(std::string(failure_of([&] { peer.Twice(1); }).what()).find("out of luck") != std::string::npos);
    CHECK(peer.Twice(21) == 42);
}

void interfaces_of_one_object_have_one_identity()
{
    const obvia::object<IPeer> peer = obvia::make<Failing>();
    const obvia::object<IDeep> deep = peer.as<IDeep>();
    CHECK(deep.as<IUnknown>() == peer.as<IUnknown>() && deep.as<IPeer>() == peer && !peer.as_or_null<IShapes>());
    obvia::object<IPeer> left = peer, right;
    CHECK(failure_of([&] { deep.Swap(left, right); }).code() == E_ABORT && !left && !right);
    obvia::memory<obvia_wchar> name;
    CHECK(failure_of([&] { deep.Rename(name, u"new"); }).code() == E_ABORT && narrow(name.get()) == "new");
    int32_t numbers[4];
    CHECK(deep.Both(1, numbers) == "xxxx");
}

void values_are_passed_and_returned(const obvia::object<IValues> &values)
{
    const auto [a2, b2, c2, d2, e2, f2, g2] = values.Others(true, 'x', u'y', 0.5f, -2, 3, IID_IPeer);
    CHECK(!a2 && b2 == static_cast<char>(~'x') && c2 == static_cast<char16_t>(~u'y') && d2 == -0.5f && e2 == 2 && f2 == ~3);
    CHECK(g2.Data1 == ~IID_IPeer.Data1);
    const int32_t matrix[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    CHECK((values.Matrix(matrix)[1] == std::array<int32_t, 3>{2, 4, 6}));
    int16_t room[20] = {};
    CHECK(values.Fill(5, room) == 10 && room[9] == 14 && room[10] == 0);
    CHECK(values.Ranged(3) == 9);
    std::array<obvia_wchar, 4> wide;
    std::array<char, 3> narrow;
    uint32_t length = 3;
    values.Caption(wide, length, narrow, 'a');
    CHECK(length == 2 && std::u16string_view(reinterpret_cast<const char16_t *>(wide.data())) == u"aaa" && std::string(narrow.data()) == "aa");
    int32_t one = 5;
    CHECK(values.Negate(&one, nullptr) == 1 && one == -5);
    int16_t halves[] = {-6, 7};
    bool given = false;
    values.Halve(halves, given);
    CHECK(given && halves[0] == -3 && halves[1] == 3);
    values.Halve({}, given);
    CHECK(!given);
    // An interface converts to its base, and copies are references.
    const obvia::object<IBaseValues> base = values;
    int8_t a = 1;
    int16_t b = 1;
    int32_t c = 1;
    int64_t d = 1;
    base.Integers(a, b, c, d);
    CHECK(a == -2 && b == -2 && c == -2 && d == -2);
    obvia::object<IUnknown> back = values.Same(IID_IPeer, obvia::object<IPeer>(obvia::make<Failing>()));
    CHECK(back.as<IPeer>());
    const obvia::error failure = failure_of([&] { values.Same(IID_IPeer, nullptr); });
    CHECK(failure.code() == E_POINTER && failure_of([&] { values.Fail(E_ABORT); }).code() == E_ABORT);
}

void strings_and_arrays_know_their_length(const obvia::object<IValues> &values, const obvia::object<IDeep> &deep)
{
    const std::string long_text(1000, 'n');
    auto [both, none] = values.Texts(std::string_view(long_text).substr(0, 500), u"wide", u"maybe");
    CHECK(both == long_text.substr(500) + "|wide|maybe" && none.empty());
    CHECK(values.Texts("", u"", std::nullopt).both == "||-");
    const std::string_view zero("a\0b", 3);
    CHECK(failure_of([&] { values.Texts(zero, u"", std::nullopt); }).code() == E_INVALIDARG);
    CHECK(values.Greet("\xc3\x89va", "Dr").greeting == "Dr \xc3\x89va");
    CHECK(failure_of([&] { values.Greet(zero, std::nullopt); }).code() == E_INVALIDARG);
    const obvia::array<double> made = values.Made(5);
    CHECK(made.size() == 5 && made[4] == 2 && values.Made(0).empty());
    const std::vector<Mode> modes = {SLOW, FAST, FAST};
    std::vector<Mode> turned(3);
    values.Modes(modes, turned);
    CHECK(turned.front() == FAST && turned.back() == SLOW);
    turned.pop_back();
    CHECK(failure_of([&] { values.Modes(modes, turned); }).code() == E_INVALIDARG);
    std::vector<Line> lines(70000);
    CHECK(failure_of([&] { values.Lines(lines); }).code() == E_INVALIDARG);
    const std::vector<uint8_t> cells(7, 1);
    CHECK(values.Expression(2, 3, cells) == 6);
    CHECK(failure_of([&] { values.Expression(2, 2, cells); }).code() == E_INVALIDARG);
    CHECK(failure_of([&] { values.Expression(INT32_MAX, INT32_MAX, cells); }).code() == E_INVALIDARG);
    int32_t numbers[4] = {}, few[3] = {};
    CHECK(deep.Both(7, numbers) == "both" && numbers[3] == 10);
    CHECK(failure_of([&] { deep.Both(7, few); }).code() == E_INVALIDARG);
}

void owned_values_free_themselves(const obvia::object<IShapes> &shapes)
{
    std::string name = "name";
    Entry entry = {&name[0], 1, {}};
    entry.value.number = 5;
    const std::size_t before = shapes.List().size();
    shapes.Put({&entry, 1});
    obvia::array<Entry> entries = shapes.List();
    CHECK(entries.size() == before + 1 && entries[before].name == name && entries[before].value.number == 5);
    obvia::array<Entry> copy = obvia::array<Entry>::copy(entries);
    entries = std::move(copy);
    CHECK(copy.empty() && entries.size() == before + 1);
    std::vector<obvia::filled<Entry>> some(3);
    const uint32_t got = shapes.Some(3, some);
    CHECK(got >= 1 && got <= 3 && some[0]->name);
    obvia::owned<Item> list = shapes.Range(1, 3);
    shapes.Reverse(list);
    CHECK(list->value == 3 && shapes.Sum(list.get()).sum == 6);
    obvia::filled<Item> item = obvia::filled<Item>::copy(*list);
    shapes.Bump(item, 4);
    CHECK(item->value == 7 && item->next->value == 2 && narrow(item->name) == "item 3+4");
}

void objects_are_values(const obvia::object<IShapes> &shapes, const obvia::object<IDeep> &deep)
{
    const obvia::object<IPeer> mine = obvia::make<Failing>();
    const std::vector<obvia::object<IPeer>> peers = {nullptr, mine};
    const obvia::filled<Pair> pair = shapes.Peers(peers);
    CHECK(pair->left == mine.get() && obvia::object<IPeer>(pair->right).Twice(6) == 42);
    obvia::object<IPeer> left = mine, right;
    deep.Swap(left, right);
    CHECK(right == mine && left.Twice(3) == 33);
    std::vector<obvia::object<IPeer>> all = {left, nullptr, mine};
    deep.Objects(all);
    CHECK(!all[0] && !all[1] && all[2] == left);
}

} // namespace

void check_by_value(IShapes *shapes, IValues *values, IDeep *deep)
{
    cpp_exceptions_and_hresults_convert_into_each_other();
    interfaces_of_one_object_have_one_identity();
    const obvia::object<IValues> all_values(values);
    const obvia::object<IShapes> all_shapes(shapes);
    values_are_passed_and_returned(all_values);
    owned_values_free_themselves(all_shapes);
    // The raw methods of these objects forward by value, so the checks use both forms of methods by
    // value.
    check_values(obvia::make<by_value::Values>(all_values).get(), false);
    check_shapes(obvia::make<by_value::Shapes>(all_shapes).get(), false);
    if (deep) {
        const obvia::object<IDeep> all_deep(deep);
        strings_and_arrays_know_their_length(all_values, all_deep);
        objects_are_values(all_shapes, all_deep);
        check_deep(obvia::make<by_value::Deep>(all_deep).get(), false);
    }
}
