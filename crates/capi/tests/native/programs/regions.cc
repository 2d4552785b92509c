// Arrays by reference and lent arrays. `regions serve` exports an object and ends when its standard
// input is closed; `regions call` calls it, and prints "ok".
#include "regions.h"

#include <obvia.hpp>
#include <obvia_stub.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sys/mman.h>
#include <thread>
#include <vector>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "regions.cc:%d: %s\n", line, what);
    std::exit(1);
}

namespace {

thread_local sigjmp_buf back;

extern "C" void jump_back(int) { siglongjmp(back, 1); }

// Whether a byte is protected against writes and against a change of its protection.
bool is_protected(uint8_t *byte)
{
    struct sigaction action = {}, before = {};
    action.sa_handler = jump_back;
    sigaction(SIGSEGV, &action, &before);
    bool was_stopped = true;
    if (sigsetjmp(back, 1) == 0) {
        *const_cast<volatile uint8_t *>(byte) = 1;
        was_stopped = false;
    }
    sigaction(SIGSEGV, &before, nullptr);
    void *page = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(byte) & ~static_cast<uintptr_t>(4095));
    return was_stopped && mprotect(page, 4096, PROT_READ | PROT_WRITE) == -1 && errno == EACCES;
}

class Regions final : public obvia::implements<Regions, IRegions> {
public:
    HRESULT Sum(uint32_t count, const int32_t *values, int64_t *sum, uint64_t *place) override
    {
        *sum = 0;
        for (uint32_t at = 0; at < count; at++) {
            *sum += values[at];
        }
        *place = reinterpret_cast<uintptr_t>(values);
        return S_OK;
    }

    HRESULT Double(uint32_t count, int32_t *values) override
    {
        for (uint32_t at = 0; at < count; at++) {
            values[at] *= 2;
        }
        return count == 13 ? E_FAIL : S_OK;
    }

    HRESULT Fill(int32_t first, uint32_t count, uint32_t room, uint32_t *used, int32_t *values) override
    {
        for (uint32_t at = 0; at < std::min(count, room); at++) {
            values[at] = first + static_cast<int32_t>(at);
        }
        *used = count;
        return S_OK;
    }

    HRESULT Copy(uint32_t count, const uint8_t *from, uint8_t *to) override
    {
        std::memcpy(to, from, count);
        return S_OK;
    }

    HRESULT Look(int64_t count, const uint8_t *bytes, uint8_t *first, uint8_t *last, uint8_t *prevented) override
    {
        *first = bytes[0];
        *last = bytes[count - 1];
        *prevented = is_protected(const_cast<uint8_t *>(bytes));
        return S_OK;
    }

    HRESULT Mark(int64_t count, uint8_t *bytes) override
    {
        bytes[0] = 1;
        bytes[count - 1] = 2;
        return S_OK;
    }

    HRESULT Lend(int32_t first, uint32_t count, uint32_t *used, int32_t **values) override
    {
        *used = count;
        if (count > 100 || !*values) {
            own_.resize(count);
            *values = own_.data();
        }
        for (uint32_t at = 0; at < count; at++) {
            (*values)[at] = first + static_cast<int32_t>(at);
        }
        return first == -1 ? E_ACCESSDENIED : S_OK;
    }

    HRESULT LendBadly(int32_t how, int64_t *used, int16_t **values) override
    {
        *used = how;
        if (how == 7) {
            *values = nullptr;
        }
        return S_OK;
    }

    HRESULT LendMuch(uint32_t count, uint32_t *used, uint8_t **bytes) override
    {
        *used = count;
        if (count > 1000000) {
            much_.assign(count, 9);
            *bytes = much_.data();
        } else {
            std::memset(*bytes, 9, count);
        }
        return S_OK;
    }

    HRESULT LendHalf(uint32_t *count, int32_t **values) override
    {
        *count /= 2;
        if (*count > 4 || !*values) {
            own_.resize(*count);
            *values = own_.data();
        }
        std::iota(*values, *values + *count, 0);
        return S_OK;
    }

    HRESULT Halve(uint32_t *count, uint32_t room, int32_t *values) override
    {
        *count = std::min(*count / 2, room);
        std::iota(values, values + *count, 0);
        return S_OK;
    }

    HRESULT Trim(uint32_t *count, uint32_t room, int32_t *values) override
    {
        if (*count % 2 != 0) {
            *count = room + 1;
            return S_OK;
        }
        return Halve(count, room, values);
    }

    HRESULT Tell(uint32_t *count, uint32_t room, int32_t *values, char **text) override
    {
        *text = static_cast<char *>(obvia_alloc(5));
        std::memcpy(*text, "text", 5);
        return Trim(count, room, values);
    }

private:
    std::vector<int32_t> own_;
    std::vector<uint8_t> much_;
};

using object = obvia::com_ptr<IRegions>;

int64_t sum(const object &regions, obvia::span<int32_t> values, uint64_t *place)
{
    int64_t sum = 0;
    obvia::check(regions->Sum(static_cast<uint32_t>(values.size()), values.data(), &sum, place));
    return sum;
}

void arrays_are_read_where_they_are(const object &regions)
{
    uint64_t here = 0, there = 0, copied = 0;
    std::vector<int32_t> own(1000, 3);
    CHECK(sum(regions, own, &copied) == 3000);
    for (const obvia_access access : {OBVIA_READ, OBVIA_WRITE}) {
        const obvia::shared_memory memory(4000, access);
        const obvia::span<int32_t> values = memory.elements<int32_t>();
        CHECK(sum(regions, values, &here) == 0);
        std::fill(values.begin(), values.end(), 5);
        CHECK(sum(regions, values, &there) == 5000 && there == here && there != copied);
        CHECK(sum(regions, memory.elements<int32_t>(8, 10), &there) == 50 && there == here + 8);
        CHECK(sum(regions, memory.elements<int32_t>(3996, 1), &there) == 5 && there == here + 3996);
        CHECK(sum(regions, own, &there) == 3000 && there != here);
        CHECK(sum(regions, obvia::span<int32_t>(), &there) == 0);
    }
}

void arrays_are_written_where_they_are(const object &regions)
{
    const obvia::shared_memory writable(4000, OBVIA_WRITE), readable(4000);
    std::vector<int32_t> own(100);
    for (const obvia::span<int32_t> values : {writable.elements<int32_t>(), readable.elements<int32_t>(), obvia::span<int32_t>(own)}) {
        std::fill(values.begin(), values.end(), 21);
        CHECK(regions->Double(static_cast<uint32_t>(values.size()), values.data()) == S_OK);
        CHECK(std::all_of(values.begin(), values.end(), [](int32_t value) { return value == 42; }));
        uint32_t used = 0;
        CHECK(regions->Fill(7, 30, 40, &used, values.data()) == S_OK && used == 30);
        CHECK(values[0] == 7 && values[29] == 36 && values[40] == 42);
        CHECK(regions->Fill(7, 0, 0, &used, values.data()) == S_OK && used == 0);
        // The method returns a count of written elements that exceeds the array's length.
        CHECK(FAILED(regions->Fill(7, 50, 40, &used, values.data())));
        CHECK(regions->Double(13, values.data()) == E_FAIL);
    }
    // The method reads one array and writes another. First the arrays are in two regions, then both
    // are in one region, then one of them is in private memory.
    const auto from = readable.elements<uint8_t>(), to = writable.elements<uint8_t>();
    from[17] = 99;
    CHECK(regions->Copy(4000, from.data(), to.data()) == S_OK && std::memcmp(from.data(), to.data(), 4000) == 0);
    to[0] = 1;
    CHECK(regions->Copy(2000, to.data(), to.data() + 2000) == S_OK && to[2000] == 1 && to[2017] == 99);
    std::vector<uint8_t> bytes(4000);
    CHECK(regions->Copy(4000, to.data(), bytes.data()) == S_OK && bytes[2017] == 99);
    CHECK(regions->Copy(4000, bytes.data(), to.data()) == S_OK && to[2017] == 99);
}

void mapped_arrays_are_never_copied(const object &regions)
{
    uint8_t first = 0, last = 0;
    uint8_t is_protected = 0;
    const obvia::shared_memory readable(10000), writable(10000, OBVIA_WRITE);
    readable.elements<uint8_t>()[9999] = 8;
    CHECK(regions->Look(10000, readable.elements<uint8_t>().data(), &first, &last, &is_protected) == S_OK);
    CHECK(first == 0 && last == 8 && is_protected);
    CHECK(regions->Mark(10000, writable.elements<uint8_t>().data()) == S_OK);
    CHECK(writable.elements<uint8_t>()[0] == 1 && writable.elements<uint8_t>()[9999] == 2);
    CHECK(regions->Mark(10000, readable.elements<uint8_t>().data()) == E_INVALIDARG);
    std::vector<uint8_t> own(10000);
    CHECK(regions->Look(10000, own.data(), &first, &last, &is_protected) == E_INVALIDARG);
    CHECK(std::strstr(obvia_error_text(E_INVALIDARG), "obvia_share"));
}

// Calls methods that change the number of the array's elements by the count that they return. If
// this count exceeds the array, the server fails the call with RPC_X_BAD_STUB_DATA.
// RPC_E_INVALID_DATA would mean that only the client had noticed the error.
void counts_may_change(const object &regions)
{
    constexpr HRESULT BAD_STUB_DATA = static_cast<HRESULT>(0x800706f7);
    const obvia::shared_memory memory(4000, OBVIA_WRITE);
    std::vector<int32_t> own(100);
    for (const obvia::span<int32_t> values : {memory.elements<int32_t>(), obvia::span<int32_t>(own)}) {
        for (const uint32_t given : {0u, 2u, 40u, 160u}) {
            std::fill(values.begin(), values.end(), -1);
            uint32_t count = given;
            CHECK(regions->Trim(&count, 90, values.data()) == S_OK && count == given / 2);
            for (uint32_t at = 0; at < count; at++) {
                CHECK(values[at] == static_cast<int32_t>(at));
            }
            CHECK(values[count] == -1);
            obvia::memory<char> text;
            count = given;
            CHECK(regions->Tell(&count, 90, values.data(), text.put()) == S_OK && count == given / 2);
            CHECK(std::strcmp(text.get(), "text") == 0);
        }
        uint32_t count = 1;
        CHECK(regions->Trim(&count, 90, values.data()) == BAD_STUB_DATA && count == 1);
        obvia::memory<char> text;
        const HRESULT result = regions->Tell(&count, 90, values.data(), text.put());
        CHECK(values.data() == own.data() ? FAILED(result) : result == BAD_STUB_DATA);
        CHECK(count == 1 && !text.get());
    }
}

// Returns the time in nanoseconds that it takes to allocate shared memory, pass it in a call, and
// free it.
int64_t time_of_map(const object &regions, std::size_t bytes)
{
    uint8_t first = 0, last = 0;
    uint8_t is_protected = 0;
    const auto begin = std::chrono::steady_clock::now();
    {
        const obvia::shared_memory memory(bytes);
        memory.elements<uint8_t>()[bytes - 1] = 6;
        CHECK(regions->Look(static_cast<int64_t>(bytes), memory.elements<uint8_t>().data(), &first, &last, &is_protected) == S_OK);
        CHECK(last == 6);
    }
    return (std::chrono::steady_clock::now() - begin).count();
}

void length_does_not_matter(const object &regions)
{
    int64_t small = INT64_MAX, large = INT64_MAX;
    for (int turn = 0; turn < 200; turn++) {
        small = std::min(small, time_of_map(regions, std::size_t{1} << 20));
        large = std::min(large, time_of_map(regions, std::size_t{1} << 30));
    }
    std::fprintf(stderr, "1 MiB: %lld ns, 1 GiB: %lld ns\n", static_cast<long long>(small), static_cast<long long>(large));
    CHECK(2 * large <= 3 * small);
}

void memory_comes_and_goes(const object &regions)
{
    uint64_t place = 0;
    for (int32_t turn = 0; turn < 300; turn++) {
        const obvia::shared_memory memory(4096);
        memory.elements<int32_t>()[1] = turn;
        CHECK(sum(regions, memory.elements<int32_t>(), &place) == turn);
    }
    // The private memory and the next shared memory most likely have the same address as the shared
    // memory that was freed before them.
    for (int32_t turn = 0; turn < 10; turn++) {
        {
            const obvia::shared_memory memory(1 << 20);
            memory.elements<int32_t>()[1] = turn;
            CHECK(sum(regions, memory.elements<int32_t>(), &place) == turn);
        }
        std::vector<int32_t> own(1 << 18, 1);
        CHECK(sum(regions, own, &place) == 1 << 18);
    }
    // 200 exceeds the maximum number of regions of a connection.
    std::vector<obvia::shared_memory> many;
    for (int32_t at = 0; at < 200; at++) {
        many.emplace_back(4096, OBVIA_WRITE);
        many.back().elements<int32_t>()[1] = at;
    }
    for (int32_t turn = 0; turn < 3; turn++) {
        for (int32_t at = 0; at < 200; at++) {
            CHECK(sum(regions, many[static_cast<std::size_t>(at)].elements<int32_t>(), &place) == at);
        }
    }
    // Each call passes two regions. Most of these pairs collide: both regions have the same
    // preferred place in the connection's table of regions.
    for (std::size_t at = 0; at < 200; at++) {
        const auto from = many[at].elements<uint8_t>(), to = many[(at + 64) % 200].elements<uint8_t>();
        CHECK(regions->Copy(4096, from.data(), to.data()) == S_OK && std::memcmp(from.data(), to.data(), 4096) == 0);
    }
    obvia_unshare(nullptr);
    obvia_unshare(&place);
}

void threads_share_memory(const object &regions)
{
    const obvia::shared_memory memory(1 << 16, OBVIA_WRITE);
    std::vector<std::thread> threads;
    for (int32_t number = 0; number < 4; number++) {
        threads.emplace_back([&, number] {
            const auto part = memory.elements<int32_t>(static_cast<std::size_t>(number) * 4096, 1024);
            std::fill(part.begin(), part.end(), 1);
            for (int32_t turn = 0; turn < 20; turn++) {
                CHECK(regions->Double(1024, part.data()) == S_OK && part[0] == 2 << turn && part[1023] == 2 << turn);
            }
            for (int32_t turn = 0; turn < 50; turn++) {
                const obvia::shared_memory own(4096);
                uint64_t place = 0;
                own.elements<int32_t>()[0] = turn;
                CHECK(sum(regions, own.elements<int32_t>(), &place) == turn);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

void methods_lend(const object &regions)
{
    for (const uint32_t count : {0u, 1u, 2u, 13u, 99u, 100u, 101u, 5000u, 200000u}) {
        uint32_t used = 0;
        int32_t *values = nullptr;
        CHECK(regions->Lend(8, count, &used, &values) == S_OK && used == count);
        for (uint32_t at = 0; at < count; at++) {
            CHECK(values[at] == 8 + static_cast<int32_t>(at));
        }
    }
    for (int32_t turn = 0; turn < 10000; turn++) {
        uint32_t used = 0;
        int32_t *values = nullptr;
        CHECK(regions->Lend(turn, 90, &used, &values) == S_OK && used == 90 && values[0] == turn && values[89] == turn + 89);
    }
    uint32_t used = 0;
    int32_t *values = nullptr;
    CHECK(regions->Lend(-1, 5, &used, &values) == E_ACCESSDENIED);
    for (const uint32_t given : {0u, 1u, 2u, 8u, 9u, 11u, 5000u}) {
        uint32_t half = given;
        CHECK(regions->LendHalf(&half, &values) == S_OK && half == given / 2);
        std::vector<int32_t> own(half), halved(given);
        std::iota(own.begin(), own.end(), 0);
        CHECK(std::equal(own.begin(), own.end(), values));
        half = given;
        CHECK(regions->Halve(&half, given, halved.data()) == S_OK && half == given / 2);
        CHECK(std::equal(own.begin(), own.end(), halved.begin()));
    }
    int64_t count = 0;
    int16_t *shorts = nullptr;
    for (const int32_t how : {-1, 4, 7}) {
        CHECK(FAILED(regions->LendBadly(how, &count, &shorts)));
    }
    CHECK(regions->LendBadly(3, &count, &shorts) == S_OK && count == 3);
    for (const uint32_t length : {5000000u, 10u, 900000u, 20000000u, 1u}) {
        uint8_t *bytes = nullptr;
        CHECK(regions->LendMuch(length, &used, &bytes) == S_OK && used == length);
        CHECK(bytes[0] == 9 && bytes[length - 1] == 9);
    }
}

// Tests that a failure of the proxy itself does not have the text of an earlier failure.
void failures_of_proxies_have_no_earlier_text(const object &regions)
{
    uint32_t count = 0;
    int32_t value = 0;
    obvia_fail(E_OUTOFMEMORY, "an earlier failure");
    CHECK(regions->Halve(&count, UINT32_MAX, &value) == E_OUTOFMEMORY);
    CHECK(!std::strstr(obvia_error_text(E_OUTOFMEMORY), "earlier"));
}

// Sends requests for Sum as a hostile client would write them, with the array by reference. Calls
// of Sum by reference have an opnum of their own, after the opnum of the last method.
void hostile_references_are_refused(const object &regions)
{
    const uint16_t opnum = 16;
    const obvia_calls *calls = nullptr;
    const obvia_proxy *proxy = reinterpret_cast<const obvia_proxy *>(regions.get());
    const obvia::shared_memory memory(4096);
    uint64_t place = 0;
    CHECK(sum(regions, memory.elements<int32_t>(), &place) == 0);
    const auto call = [&](uint32_t count, uint64_t reference) {
        obvia::check(obvia_prepare(proxy, &calls));
        struct { uint32_t count, zero; uint64_t reference; } request = {count, 0, reference};
        std::memcpy(calls->slot, &request, sizeof request);
        return obvia_exchange(calls, OBVIA_REQUEST(opnum, sizeof request), proxy->target);
    };
    // The test finds the number of the memory's region on this connection by trial.
    uint64_t tag = 0;
    for (uint64_t number = 1; number <= 64 && tag == 0; number++) {
        const obvia_reply reply = call(1024, number << 48);
        tag = obvia_length(reply) == 16 ? number << 48 : 0;
    }
    CHECK(tag != 0);
    for (const uint64_t reference : {tag + 4, tag + 2, tag + 4096, tag + 4097, tag - 1, tag - 4, tag + (uint64_t{1} << 47), uint64_t{0},
                                     uint64_t{16}, uint64_t{24}, UINT64_MAX, UINT64_MAX << 48, (tag ^ (uint64_t{64} << 48))}) {
        const obvia_reply reply = call(1024, reference);
        CHECK(obvia_length(reply) == 0 && FAILED(obvia_refusal(reply)));
    }
    for (const uint32_t count : {1025u, 0x40000000u, 0x40000400u, UINT32_MAX}) {
        const obvia_reply reply = call(count, tag);
        CHECK(obvia_length(reply) == 0 && FAILED(obvia_refusal(reply)));
    }
    CHECK(obvia_length(call(1024, tag)) == 16 && obvia_length(call(0, tag + 4096)) == 16);
    CHECK(sum(regions, memory.elements<int32_t>(), &place) == 0);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 2 && !std::strcmp(argv[1], "serve")) {
        const obvia::served entry = obvia::serve("regions", obvia::make<Regions>());
        std::puts("ready");
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    const object regions = obvia::connect<IRegions>("regions");
    arrays_are_read_where_they_are(regions);
    arrays_are_written_where_they_are(regions);
    mapped_arrays_are_never_copied(regions);
    counts_may_change(regions);
    failures_of_proxies_have_no_earlier_text(regions);
    length_does_not_matter(regions);
    memory_comes_and_goes(regions);
    threads_share_memory(regions);
    methods_lend(regions);
    hostile_references_are_refused(regions);
    std::puts("ok");
    return 0;
}
