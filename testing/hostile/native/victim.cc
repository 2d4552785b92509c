// The server that hostile peers attack, in C++, with the objects of `src/objects.rs`. The program
// ends when its standard input does.
//
//    program server   the runtime serves its connections
//    program loop     the program serves them itself
//
// An invalid argument ends the program, and every method reads its arguments completely.
#include "victim.h"

#include <obvia.hpp>
#include <obvia_server.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

namespace {

[[noreturn]] void fail(const char *what, int line)
{
    std::fprintf(stderr, "victim.cc:%d: %s\n", line, what);
    std::abort();
}

// Allocates a string result.
HRESULT give(const std::string &text, char **place)
{
    *place = static_cast<char *>(obvia_alloc(text.size() + 1));
    if (!*place) {
        return E_OUTOFMEMORY;
    }
    std::memcpy(*place, text.c_str(), text.size() + 1);
    return S_OK;
}

// Sums values, modulo 2^64.
template <class T> int64_t sum(const T *first, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t at = 0; at < count; at++) {
        sum += static_cast<uint64_t>(first[at]);
    }
    return static_cast<int64_t>(sum);
}

int64_t weight(const Mark *marks, uint32_t count)
{
    uint64_t sum = 0;
    for (const Mark &mark : obvia::span<const Mark>(marks, count)) {
        CHECK(mark.set <= 1);
        CHECK(mark.color == RED || mark.color == GREEN || mark.color == BLUE);
        sum += mark.set ? static_cast<uint64_t>(mark.weight) * static_cast<uint64_t>(mark.color) : 0;
    }
    return static_cast<int64_t>(sum);
}

class Thing final : public obvia::implements<Thing, IThing, IPair> {
public:
    explicit Thing(int32_t number) noexcept : number_(number) {}

    HRESULT Number(int32_t *number) override
    {
        *number = number_;
        return S_OK;
    }

    HRESULT First(int64_t *value) override
    {
        *value = number_;
        return S_OK;
    }

    HRESULT Second(int64_t *value) override
    {
        *value = int64_t{number_} + 1;
        return S_OK;
    }

    HRESULT Swap(int64_t first, int64_t second, int64_t *new_first, int64_t *new_second) override
    {
        *new_first = second;
        *new_second = first;
        return S_OK;
    }

    HRESULT Title(char **title) override
    {
        return obvia::guard([&] { return give("thing " + std::to_string(number_), title); });
    }

private:
    int32_t number_;
};

class Victim final : public obvia::implements<Victim, IVictim> {
public:
    HRESULT Add(int32_t a, int32_t b, int32_t *sum) override
    {
        *sum = static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
        return S_OK;
    }

    HRESULT Sum(uint32_t count, const int32_t *values, int64_t *total) override
    {
        *total = sum(values, count);
        return S_OK;
    }

    HRESULT Reverse(uint32_t count, int32_t *values) override
    {
        std::reverse(values, values + count);
        return S_OK;
    }

    HRESULT Fill(uint32_t count, int32_t *values) override
    {
        std::fill_n(values, count, 7);
        return S_OK;
    }

    HRESULT Flip(uint8_t value, uint8_t *flipped) override
    {
        CHECK(value <= 1);
        *flipped = !value;
        return S_OK;
    }

    HRESULT Mix(Color color, Color *mixed) override
    {
        CHECK(color == RED || color == GREEN || color == BLUE);
        *mixed = color;
        return S_OK;
    }

    HRESULT Shout(const char *text, char **loud) override
    {
        return obvia::guard([&] {
            std::string made = text;
            for (char &letter : made) {
                letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
            }
            return give(made, loud);
        });
    }

    HRESULT Measure(const obvia_wchar *text, uint32_t *length) override
    {
        *length = static_cast<uint32_t>(std::char_traits<obvia_wchar>::length(text));
        return S_OK;
    }

    HRESULT Digit(int32_t digit, int32_t *same) override
    {
        CHECK(digit >= 0 && digit <= 9);
        *same = digit;
        return S_OK;
    }

    HRESULT Weigh(uint32_t count, const Mark *marks, int64_t *sum) override
    {
        *sum = weight(marks, count);
        return S_OK;
    }

    HRESULT Maybe(const Mark *mark, int64_t *sum) override
    {
        *sum = mark ? weight(mark, 1) : -1;
        return S_OK;
    }

    HRESULT Visit(IThing *thing, int32_t *number) override
    {
        return thing ? thing->Number(number) : obvia_fail(E_POINTER, "there is nothing to visit");
    }

    HRESULT Make(int32_t number, IThing **thing) override
    {
        return obvia::guard([&] { *thing = obvia::make<Thing>(number).detach(); });
    }

    HRESULT Grid(int32_t width, int32_t height, const int16_t *cells, int64_t *total) override
    {
        *total = sum(cells, static_cast<uint64_t>(int64_t{width} * height));
        return S_OK;
    }

    HRESULT Marks(uint32_t room, Mark *marks, uint32_t *got) override
    {
        *got = std::min<uint32_t>(room, 3);
        std::fill_n(marks, *got, Mark{1, GREEN, 5});
        return S_OK;
    }

    HRESULT All(uint32_t *count, Mark **marks) override
    {
        const std::array<Mark, 4> all = {{{1, BLUE, 2}, {1, BLUE, 2}, {1, BLUE, 2}, {1, BLUE, 2}}};
        *marks = static_cast<Mark *>(obvia_alloc(sizeof all));
        if (!*marks) {
            return E_OUTOFMEMORY;
        }
        std::memcpy(*marks, all.data(), sizeof all);
        *count = all.size();
        return S_OK;
    }

    HRESULT Hint(int32_t) override { return S_OK; }

    HRESULT Total(uint32_t count, const int32_t *values, int64_t *total) override
    {
        *total = sum(values, count);
        return S_OK;
    }

    HRESULT Double(uint32_t count, int32_t *values) override
    {
        for (int32_t &value : obvia::span<int32_t>(values, count)) {
            value = static_cast<int32_t>(2 * static_cast<uint32_t>(value));
        }
        return S_OK;
    }

    HRESULT Squares(uint32_t room, uint32_t *got, int64_t *values) override
    {
        *got = std::min<uint32_t>(room, 100);
        for (uint32_t at = 0; at < *got; at++) {
            values[at] = int64_t{at} * at;
        }
        return S_OK;
    }

    HRESULT Copy(uint32_t count, const int16_t *from, int16_t *to) override
    {
        std::copy_n(from, count, to);
        return S_OK;
    }

    HRESULT Look(int64_t count, const uint8_t *bytes, uint32_t *different) override
    {
        return obvia::guard([&] {
            // The set must not see a value change, but a peer may change the bytes at any time. The
            // method therefore reads a copy.
            const std::vector<uint8_t> read(bytes, bytes + count);
            const std::set<uint8_t> found(read.begin(), read.end());
            *different = static_cast<uint32_t>(found.size());
        });
    }

    HRESULT Stain(int64_t count, uint8_t *bytes) override
    {
        std::fill_n(bytes, count, uint8_t{0xee});
        return S_OK;
    }
};

extern "C" void serve(obvia_connection *connection, void *)
{
    obvia_call *call = obvia_reply_and_wait(connection, OBVIA_NO_ANSWER);
    while (call) {
        call = obvia_reply_and_wait(connection, obvia_dispatch(connection, call));
    }
    obvia_close(connection);
}

} // namespace

int main(int count, char **words)
try {
    if (count == 2 && std::strcmp(words[1], "loop") == 0) {
        obvia_set_server_loop(serve, nullptr);
    }
    const obvia::served victim = obvia::serve("victim", obvia::make<Victim>());
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return 0;
} catch (const std::exception &failure) {
    std::fprintf(stderr, "victim.cc: %s\n", failure.what());
    return 1;
}
