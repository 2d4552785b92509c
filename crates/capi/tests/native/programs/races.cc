// Threads that call over connections of their own, and threads that serve them, built to detect
// races:
//
//     program serve HOW   exports an object until the standard input ends. With HOW "runtime", the
//                         runtime serves the connections; with "loop", the program's own loop
//                         serves them. "careless" is like "runtime", but the object's callers race.
//     program call        calls the object from several threads, and prints "ok"
//
// libobvia is not instrumented. So the sanitizer does not see that libobvia orders the creation of
// an object before the object's use by other threads. All objects are therefore created before
// libobvia has a thread, and kept until the end.
#include "races.h"

#include <obvia.hpp>
#include <obvia_server.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

namespace {

constexpr int32_t THREADS = 4, TURNS = 300;

// The number of calls of Add() that all threads together make before they meet for the second time.
constexpr int32_t FIRST_ADDS = 6 * THREADS;

[[noreturn]] void fail(const char *what, int line)
{
    std::fprintf(stderr, "races.cc:%d: %s\n", line, what);
    std::_Exit(1);
}

class Member final : public obvia::implements<Member, IMember> {
public:
    explicit Member(int32_t number) noexcept : number_(number) {}

    HRESULT Get(int32_t *number) override
    {
        *number = number_;
        return S_OK;
    }

private:
    int32_t number_;
};

using members = std::vector<obvia::com_ptr<IMember>>;

members make_members()
{
    members made;
    for (int32_t number = 0; number <= TURNS; number++) {
        made.push_back(obvia::make<Member>(number));
    }
    return made;
}

class Races final : public obvia::implements<Races, IRaces> {
public:
    explicit Races(bool is_careful) noexcept : is_careful_(is_careful) {}

    HRESULT Add(int32_t by, int64_t *sum) override
    {
        std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
        // The counter is relaxed, so that it does not order the threads' accesses to `sum_`, as the
        // mutex does.
        if (is_careful_ || adds_.fetch_add(1, std::memory_order_relaxed) < FIRST_ADDS) {
            lock.lock();
        }
        sum_ += by;
        *sum = sum_;
        return S_OK;
    }

    HRESULT Repeat(const char *text, char **same) override
    {
        const std::size_t bytes = std::strlen(text) + 1;
        *same = static_cast<char *>(obvia_alloc(bytes));
        if (!*same) {
            return E_OUTOFMEMORY;
        }
        std::memcpy(*same, text, bytes);
        return S_OK;
    }

    HRESULT Double(uint32_t count, int32_t *values) override
    {
        for (int32_t &value : obvia::span<int32_t>(values, count)) {
            value *= 2;
        }
        return S_OK;
    }

    HRESULT Sum(uint32_t count, const int32_t *values, int64_t *sum) override
    {
        *sum = 0;
        for (const int32_t value : obvia::span<const int32_t>(values, count)) {
            *sum += value;
        }
        return S_OK;
    }

    HRESULT Length(const Item *list, int32_t *length) override
    {
        for (*length = 0; list; list = list->next) {
            ++*length;
        }
        return S_OK;
    }

    HRESULT Make(int32_t number, IMember **member) override
    {
        return members_.at(static_cast<std::size_t>(number)).copy_to(member);
    }

    HRESULT Ask(IMember *member, int32_t *number) override
    {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!first_) {
                first_ = obvia::com_ptr<IMember>(member);
            }
        }
        return member->Get(number);
    }

    HRESULT Tell(int32_t number) override
    {
        told_ += number;
        return S_OK;
    }

private:
    const bool is_careful_;
    const members members_ = make_members();
    std::mutex mutex_;
    // An object of the client, so that this process keeps its connections to the client.
    obvia::com_ptr<IMember> first_;
    int64_t sum_ = 0;
    std::atomic<int32_t> adds_{0};
    std::atomic<int64_t> told_{0};
};

// Orders the accesses to the memory of a closed connection before the accesses to the memory of
// later connections. A later connection may get the same addresses. The sanitizer does not see that
// libobvia has unmapped the memory before, and would report a race.
void follow_closed_connections()
{
    static std::mutex closing;
    const std::lock_guard<std::mutex> lock(closing);
}

extern "C" void serve(obvia_connection *connection, void *)
{
    follow_closed_connections();
    obvia_call *call = obvia_reply_and_wait(connection, OBVIA_NO_ANSWER);
    while (call) {
        call = obvia_reply_and_wait(connection, obvia_dispatch(connection, call));
    }
    follow_closed_connections();
    obvia_close(connection);
}

using object = obvia::com_ptr<IRaces>;

// The time without calls: longer than the silence after which the runtime parks a connection.
constexpr std::chrono::milliseconds PAUSE{400};

void one_turn(const object &races, const members &own, const obvia::span<int32_t> shared, int32_t turn)
{
    int64_t sum = 0;
    obvia::check(races->Add(1, &sum));
    CHECK(sum > turn);
    obvia::memory<char> text;
    obvia::check(races->Repeat("the same", text.put()));
    CHECK(std::strcmp(text.get(), "the same") == 0);
    std::vector<int32_t> values(turn % 2 ? 1000 : 10, turn);
    obvia::check(races->Double(static_cast<uint32_t>(values.size()), values.data()));
    CHECK(values.front() == 2 * turn && values.back() == 2 * turn);
    obvia::check(races->Sum(static_cast<uint32_t>(shared.size()), shared.data(), &sum));
    CHECK(sum == static_cast<int64_t>(shared.size()));
    char name[] = "name";
    Item last = {2, name, nullptr};
    const Item first = {1, name, &last};
    int32_t number = 0;
    obvia::check(races->Length(&first, &number));
    CHECK(number == 2);
    obvia::com_ptr<IMember> member;
    obvia::check(races->Make(turn, member.put()));
    obvia::check(member->Get(&number));
    CHECK(number == turn);
    // First passes an object of the server, and then an object of this process, which the server
    // calls back.
    obvia::check(races->Ask(member.get(), &number));
    CHECK(number == turn);
    obvia::check(races->Ask(own[static_cast<std::size_t>(turn) + 1].get(), &number));
    CHECK(number == turn + 1);
    obvia::check(races->Tell(1));
}

// Makes the connections in both directions, by calls whose arguments need no memory except the
// connections' own.
void reach(const object &races, const members &own)
{
    int64_t sum = 0;
    obvia::check(races->Add(1, &sum));
    int32_t number = -1;
    obvia::check(races->Ask(own.front().get(), &number));
    CHECK(number == 0);
}

// Waits until all threads have called this function.
void meet(std::atomic<int32_t> &missing)
{
    for (missing--; missing > 0;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// Calls the server from several threads, which share a proxy and memory.
//
// The sanitizer does not notice when a connection gets memory that another connection used before,
// and would report a race. So all connections exist before the first of them replaces its memory by
// a larger one. The connections replace their memory one after another: `growing` orders the
// threads of this process, and the mutex in Add() orders the server's threads. The end of a thread
// closes its connections, so no thread ends before all threads are done. A server closes its
// connections to a process of which it has no object, so the server keeps an object of this
// process.
void call()
{
    const members own_members = make_members();
    const object races = obvia::connect<IRaces>("races");
    const obvia::shared_memory memory(4096);
    for (int32_t &value : memory.elements<int32_t>()) {
        value = 1;
    }
    std::atomic<int32_t> unconnected{THREADS}, small{THREADS}, busy{THREADS};
    std::mutex growing;
    std::vector<std::thread> threads;
    for (int32_t number = 0; number < THREADS; number++) {
        threads.emplace_back([&] {
            const object own = obvia::connect<IRaces>("races");
            const obvia::shared_memory other(4096);
            for (int32_t &value : other.elements<int32_t>()) {
                value = 1;
            }
            reach(races, own_members);
            reach(own, own_members);
            meet(unconnected);
            {
                const std::lock_guard<std::mutex> lock(growing);
                one_turn(races, own_members, memory.elements<int32_t>(), 1);
                one_turn(own, own_members, other.elements<int32_t>(), 1);
                reach(races, own_members);
                reach(own, own_members);
            }
            meet(small);
            // Idle connections are parked, and served by other threads afterwards.
            std::this_thread::sleep_for(PAUSE);
            for (int32_t turn = 0; turn < TURNS; turn++) {
                one_turn(turn % 2 ? races : own, own_members, (turn % 3 ? memory : other).elements<int32_t>(), turn);
            }
            meet(busy);
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

} // namespace

int main(int count, char **words)
try {
    if (count == 3 && std::strcmp(words[1], "serve") == 0) {
        if (std::strcmp(words[2], "loop") == 0) {
            obvia_set_server_loop(serve, nullptr);
        }
        const bool is_careful = std::strcmp(words[2], "careless") != 0;
        const obvia::served entry = obvia::serve("races", obvia::make<Races>(is_careful));
        std::puts("ready");
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    call();
    std::puts("ok");
    return 0;
} catch (const std::exception &failure) {
    std::fprintf(stderr, "races.cc: %s\n", failure.what());
    return 1;
}
