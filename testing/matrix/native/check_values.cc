// Checks how values are passed. The same checks run with an object of this process, where the calls
// are plain C++ calls, and with objects of other processes.
#include "check.h"
#include "shapes.hpp"
#include "values.hpp"

#include <cmath>

namespace {

using obvia::check;

void integers_are_passed_up_to_their_limits(IValues *values)
{
    int8_t a = INT8_MIN;
    int16_t b = INT16_MAX;
    int32_t c = INT32_MIN;
    int64_t d = INT64_MAX;
    check(values->Integers(&a, &b, &c, &d));
    CHECK(a == INT8_MAX && b == INT16_MIN && c == INT32_MAX && d == INT64_MIN);
    uint8_t e = 1;
    uint16_t f = 2;
    uint32_t g = UINT32_MAX;
    uint64_t h = UINT64_C(1) << 63;
    check(values->Unsigned(&e, &f, &g, &h));
    CHECK(e == 254 && f == 65533 && g == 0 && h == INT64_MAX);
}

void values_of_other_base_types_are_passed_exactly(IValues *values)
{
    uint8_t a = 0;
    char b = 0;
    obvia_wchar c = 0;
    float d = 0;
    double e = 0;
    HRESULT f = 0;
    GUID g = {};
    check(values->Others(1, 'x', 0xd83d, 0.5f, INFINITY, 7, IID_IPeer, &a, &b, &c, &d, &e, &f, &g));
    CHECK(a == 0 && b == static_cast<char>(~'x') && c == 0x27c2 && d == -0.5f && std::isinf(e) && e < 0 && f == -8);
    CHECK(g.Data1 == ~IID_IPeer.Data1 && g.Data4[7] == static_cast<uint8_t>(~IID_IPeer.Data4[7]));
}

Line line(int64_t id)
{
    const Point fast = {0.5, -7, FAST, id % 2 == 0, {1, 2, 3}}, slow = {-0.5, -7, SLOW, id % 2 == 0, {1, 2, 3}};
    return {{fast, slow}, IID_IPeer, id, 0.25f, -1, 0x20ac};
}

void structures_are_passed_by_value_reference_and_optionally(IValues *values)
{
    const Line other = line(20), third = line(300);
    Line sum;
    check(values->Structure(line(1), &other, &third, &sum));
    CHECK(sum.id == 321 && sum.ends[1].x == -0.5 && sum.ends[0].raw[2] == 3 && sum.width == 0.25f);
    CHECK(obvia_is_equal(&sum.key, &IID_IPeer) && sum.s == -1 && sum.w == 0x20ac);
    check(values->Structure(line(1), &other, nullptr, &sum));
    CHECK(sum.id == 21 && sum.width == 0);
}

void arrays_have_the_stated_lengths(IValues *values, bool elsewhere)
{
    for (const uint32_t count : {0u, 1u, 5u, 5000u}) {
        const Mode all[] = {SLOW, NORMAL, FAST};
        std::vector<Mode> modes, turned(count);
        for (uint32_t at = 0; at < count; at++) {
            modes.push_back(all[at % 3]);
        }
        check(values->Modes(count, modes.data(), turned.data()));
        std::reverse(turned.begin(), turned.end());
        CHECK(turned == modes);
    }
    std::vector<Line> lines;
    for (int64_t id = 0; id < 100; id++) {
        lines.push_back(line(id));
    }
    check(values->Lines(100, lines.data()));
    CHECK(lines[0].id == 99 && lines[99].id == 0 && lines[99].ends[0].mode == SLOW);
    int32_t matrix[3][2] = {{1, 2}, {3, 4}, {5, 6}}, turned[2][3] = {};
    check(values->Matrix(matrix, turned));
    CHECK(turned[0][0] == 1 && turned[0][2] == 5 && turned[1][0] == 2 && turned[1][2] == 6);
    for (const uint32_t room : {0u, 3u, 10u, 200u}) {
        std::vector<int16_t> filled(room);
        uint32_t used = 0;
        check(values->Fill(room, 5, &used, filled.data()));
        CHECK(used == std::min(room, 10u));
        for (uint32_t at = 0; at < used; at++) {
            CHECK(filled[at] == static_cast<int16_t>(5 + at));
        }
    }
    int64_t count = 0, sum = 0;
    obvia::memory<double> made;
    check(values->Made(5, &count, made.put()));
    CHECK(count == 5 && made[0] == 0 && made[4] == 2);
    check(values->Made(0, &count, made.put()));
    CHECK(count == 0);
    const uint8_t cells[7] = {1, 1, 1, 1, 1, 1, 1};
    check(values->Expression(2, 3, cells, &sum));
    CHECK(sum == 6);
    CHECK(!elsewhere || values->Expression(INT32_MAX, INT32_MAX, cells, &sum) < 0);
}

void passed_strings_end_with_a_zero(IValues *values)
{
    obvia::memory<char> both;
    obvia::memory<obvia_wchar> none;
    check(values->Texts("ab", u"cd", u"ef", both.put(), none.put()));
    CHECK(std::string(both.get()) == "ab|cd|ef" && none[0] == 0);
    check(values->Texts("", u"", nullptr, both.put(), none.put()));
    CHECK(std::string(both.get()) == "||-");
}

// Whether a server has refused the result of its method, or this client has refused it.
bool is_refused_result(HRESULT result)
{
    return result == E_INVALIDARG || result == RPC_E_INVALID_DATA;
}

void strings_with_utf8_are_checked(IValues *values, bool elsewhere)
{
    obvia::memory<char> text;
    int32_t length = 0;
    check(values->Greet("\xc3\x89va", "Dr \xe2\x82\xac", text.put(), &length));
    CHECK(std::string(text.get()) == "Dr \xe2\x82\xac \xc3\x89va" && length == 4);
    check(values->Greet("", nullptr, text.put(), &length));
    CHECK(std::string(text.get()).empty() && length == 0);
    check(values->Sign("\xf0\x9f\xa6\x80", nullptr, text.put()));
    CHECK(std::string(text.get()) == "\xf0\x9f\xa6\x80");
    // In one process, the plain call skips the runtime's check.
    if (elsewhere) {
        CHECK(values->Greet("a\x80", nullptr, text.put(), &length) == E_INVALIDARG && !text);
        CHECK(values->Greet("", "\xc0\x80", text.put(), &length) == E_INVALIDARG);
        CHECK(values->Sign("\xed\xa0\x80", nullptr, text.put()) == E_INVALIDARG);
        CHECK(is_refused_result(values->Greet("wrong", nullptr, text.put(), &length)) && !text);
        CHECK(is_refused_result(values->Sign("wrong", nullptr, text.put())) && !text);
    }
    check(values->Greet("a", nullptr, text.put(), &length));
    CHECK(std::string(text.get()) == "a");
}

void ranges_are_checked_for_arguments_and_results(IValues *values, bool elsewhere)
{
    int32_t square = 0;
    check(values->Ranged(-4, &square));
    CHECK(square == 16);
    // In one process, the plain call skips the runtime's check.
    CHECK(!elsewhere || values->Ranged(6, &square) < 0);
    CHECK(!elsewhere || values->Ranged(5, &square) == RPC_E_INVALID_DATA);
    check(values->Ranged(3, &square));
    CHECK(square == 9);
}

void strings_are_written_to_arrays_of_the_caller(IValues *values, bool elsewhere)
{
    for (const uint32_t room : {1u, 2u, 100u, 5000u}) {
        std::vector<obvia_wchar> wide(room, 'y');
        std::vector<char> narrow(room + 1, 'y');
        uint32_t length = room + 1, none = 0;
        check(values->Caption(room, wide.data(), &length, narrow.data(), 'a'));
        CHECK(length == room && std::string(narrow.data()) == std::string(room, 'a') && wide[room - 1] == 0);
        CHECK(std::count(wide.begin(), wide.end(), 'a') == room - 1);
        if (elsewhere) {
            // In one process, the plain call skips the runtime's check.
            CHECK(values->Caption(room, wide.data(), &none, nullptr, 'x') == E_INVALIDARG);
            length = room + 1;
            CHECK(values->Caption(0, nullptr, &length, narrow.data(), 'x') == E_INVALIDARG);
            // The string of a method that writes none is empty.
            length = room + 1;
            check(values->Caption(room, wide.data(), &length, narrow.data(), '-'));
            CHECK(wide[0] == 0 && narrow[0] == 0 && length == room + 1);
        }
    }
    uint32_t none = 0;
    check(values->Caption(0, nullptr, &none, nullptr, 'x'));
}

void values_that_may_be_null_are_changed_in_place(IValues *values)
{
    int32_t one = 5, given = -1;
    Point point = line(1).ends[0];
    check(values->Negate(&one, &point, &given));
    CHECK(given == 2 && one == -5 && point.x == -0.5 && point.y == 7 && point.mode == FAST && point.raw[2] == 3);
    check(values->Negate(nullptr, &point, &given));
    CHECK(given == 1 && point.x == 0.5);
    check(values->Negate(&one, nullptr, &given));
    CHECK(given == 1 && one == 5);
    check(values->Negate(nullptr, nullptr, &given));
    CHECK(given == 0);
    for (const uint32_t count : {1u, 3u, 5000u}) {
        std::vector<int16_t> halves(count, -7);
        uint8_t is_given = 0;
        check(values->Halve(count, halves.data(), &is_given));
        CHECK(is_given && halves == std::vector<int16_t>(count, -3));
        check(values->Halve(count, nullptr, &is_given));
        CHECK(!is_given);
    }
}

void objects_have_the_interface_named_by_their_iid(IValues *values)
{
    const obvia::com_ptr<IPeer> peer = obvia::make<Peer>(5);
    obvia::com_ptr<IUnknown> back;
    check(values->Same(&IID_IPeer, peer.get(), back.put()));
    obvia::com_ptr<IPeer> home;
    check(back->QueryInterface(IID_IPeer, home.put_void()));
    CHECK(home == peer);
    CHECK(values->Same(&IID_IPeer, nullptr, back.put()) == E_POINTER && !back);
}

} // namespace

void check_values(IValues *values, bool elsewhere)
{
    integers_are_passed_up_to_their_limits(values);
    values_of_other_base_types_are_passed_exactly(values);
    structures_are_passed_by_value_reference_and_optionally(values);
    arrays_have_the_stated_lengths(values, elsewhere);
    passed_strings_end_with_a_zero(values);
    strings_with_utf8_are_checked(values, elsewhere);
    ranges_are_checked_for_arguments_and_results(values, elsewhere);
    strings_are_written_to_arrays_of_the_caller(values, elsewhere);
    values_that_may_be_null_are_changed_in_place(values);
    objects_have_the_interface_named_by_their_iid(values);
    CHECK(values->Fail(static_cast<HRESULT>(0x81234567)) == static_cast<HRESULT>(0x81234567));
}
