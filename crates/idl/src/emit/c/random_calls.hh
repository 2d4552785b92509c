#include <obvia.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

// A generator of the values of one call, SplitMix64: its state grows by a constant, and each number
// is the state with its bits mixed. The initial state is mixed from the seed, the method's opnum
// and the call's number. A preceding number decides whether an integer is the least permitted
// value, the greatest one, 0, -1, or any other.
class obvia_test_values {
public:
    obvia_test_values(uint64_t seed, uint64_t opnum, uint64_t call) : state_(mix(mix(mix(seed) + opnum) + call)) {}

    uint64_t next()
    {
        state_ += 0x9e3779b97f4a7c15;
        return mix(state_);
    }
    uint64_t below(uint64_t count) { return next() % count; }
    bool boolean() { return next() % 2 == 1; }
    bool one_in(uint64_t count) { return below(count) == 0; }

    int64_t integer(int64_t least, int64_t greatest)
    {
        switch (below(8)) {
        case 0:
            return least;
        case 1:
            return greatest;
        case 2:
            return least <= 0 && greatest >= 0 ? 0 : least;
        case 3:
            return least <= -1 && greatest >= -1 ? -1 : greatest;
        default:
            const uint64_t span = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
            const uint64_t above = span == UINT64_MAX ? next() : below(span + 1);
            return static_cast<int64_t>(static_cast<uint64_t>(least) + above);
        }
    }

    int32_t one_of(std::initializer_list<int32_t> values) { return values.begin()[below(values.size())]; }

    // Returns a number that equals itself bit by bit: infinity in place of NaN, and 0 in place of
    // -0.
    double real64()
    {
        uint64_t bits = static_cast<uint64_t>(integer(INT64_MIN, INT64_MAX));
        if ((bits >> 52) % 0x800 == 0x7ff) {
            bits = bits >> 52 << 52;
        }
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value == 0 ? 0 : value;
    }
    float real32()
    {
        uint32_t bits = static_cast<uint32_t>(integer(INT32_MIN, INT32_MAX));
        if ((bits >> 23) % 0x100 == 0xff) {
            bits = bits >> 23 << 23;
        }
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value == 0 ? 0 : value;
    }

    GUID guid()
    {
        GUID value = {};
        value.Data1 = static_cast<uint32_t>(next());
        value.Data2 = static_cast<uint16_t>(next());
        value.Data3 = static_cast<uint16_t>(next());
        for (uint8_t &byte : value.Data4) {
            byte = static_cast<uint8_t>(next());
        }
        return value;
    }

    // Returns a number of elements or characters: the least, the greatest, the number that just
    // fits into a slot, one more than that, a random one, or a small random one.
    uint64_t length(uint64_t least, uint64_t fit, uint64_t most)
    {
        const uint64_t span = most - least;
        switch (below(8)) {
        case 0:
            return least;
        case 1:
            return most;
        case 2:
            return fit < least ? least : fit < most ? fit : most;
        case 3:
            return fit + 1 < least ? least : fit + 1 < most ? fit + 1 : most;
        case 4:
            return least + below(span + 1);
        default:
            return least + below((span < 32 ? span : 32) + 1);
        }
    }

    // Returns a string of random characters, none of which is 0.
    template <class Text> Text text(uint64_t greatest, uint64_t fit)
    {
        Text value(length(0, fit, 4096), 0);
        for (auto &character : value) {
            character = static_cast<typename Text::value_type>(1 + below(greatest));
        }
        return value;
    }

    // Returns a string of random characters in UTF-8, whose number of bytes is drawn.
    std::string utf8(uint64_t fit)
    {
        static const char *const characters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\xa6\x80"};
        const uint64_t bytes = length(0, fit, 4096);
        std::string value;
        while (value.size() < bytes) {
            const std::string character = characters[below(4)];
            value += value.size() + character.size() <= bytes ? character : "z";
        }
        return value;
    }

private:
    static uint64_t mix(uint64_t value)
    {
        value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
        value = (value ^ value >> 27) * 0x94d049bb133111eb;
        return value ^ value >> 31;
    }

    uint64_t state_;
};

// The seed of all values.
static uint64_t obvia_test_seed;

// The current call, for messages.
struct obvia_test_place {
    const char *method;
    uint64_t call;
};

[[noreturn, maybe_unused]] static inline void obvia_test_fails(const obvia_test_place &place, const char *what)
{
    std::fprintf(stderr, "%s, call %llu, seed %llu: %s\n", place.method, static_cast<unsigned long long>(place.call),
        static_cast<unsigned long long>(obvia_test_seed), what);
    std::exit(1);
}

[[maybe_unused]] static inline void obvia_test_expect(bool is_so, const obvia_test_place &place, const char *what)
{
    if (!is_so) {
        obvia_test_fails(place, what);
    }
}

// Resizes a vector. Reserves one element more, so that the address of an empty array is not null.
template <class T> void obvia_test_room(std::vector<T> &values, uint64_t count)
{
    values.reserve(count + 1);
    values.resize(count);
}

// Casts the constness of an array of arrays away: methods that only read such an array take it as
// changeable, because C does not convert it to an array of const arrays.
template <class T, size_t N> T (&obvia_test_changeable(const T (&values)[N]))[N]
{
    return const_cast<T(&)[N]>(values);
}

// Copies values to memory that a method returns and its caller frees.
template <class To, class From> void obvia_test_copy(To **copy, const From *values, uint64_t count)
{
    *copy = static_cast<To *>(obvia_alloc(count * sizeof(To)));
    if (!*copy && count != 0) {
        std::fputs("there is no memory\n", stderr);
        std::exit(1);
    }
    std::copy(values, values + count, *copy);
}

template <class T> bool obvia_test_same(const T &a, const T &b)
{
    return a == b;
}
template <class T, size_t N> bool obvia_test_same(const T (&a)[N], const T (&b)[N])
{
    for (size_t at = 0; at < N; at++) {
        if (!obvia_test_same(a[at], b[at])) {
            return false;
        }
    }
    return true;
}
template <class A, class B> bool obvia_test_same_elements(const A &a, const B &b, uint64_t count)
{
    for (uint64_t at = 0; at < count; at++) {
        if (!obvia_test_same(a[at], b[at])) {
            return false;
        }
    }
    return true;
}
// Compares a string of characters or of numbers, up to the final zero of `b`.
template <class Unit, class Character>
bool obvia_test_same_text(const Unit *a, const std::optional<std::basic_string<Character>> &b)
{
    if (!a || !b) {
        return !a && !b;
    }
    for (size_t at = 0; at <= b->size(); at++) {
        if (a[at] != static_cast<Unit>((*b)[at])) {
            return false;
        }
    }
    return true;
}
