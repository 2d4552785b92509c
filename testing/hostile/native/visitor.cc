// A client of hostile servers in C++, under sanitizers. For each line of standard input, the client
// makes the calls that `client.rs` makes, and reports the outcome.
//
//    NAME               calls the good server before and after the hostile server
//    NAME first         calls the good server only after the hostile server
//    NAME again OPNUM   calls one method many times
//    NAME map           passes arrays in shared memory, and calls no good server
//
// A report ends with `good`. Any failure other than a failed HRESULT ends the program.
#include "mapped.h"
#include "victim_values.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

namespace {

using std::to_string;

// The time limit of a call that a hostile server may leave unanswered.
constexpr uint32_t SHORT_MILLISECONDS = 2000;
// The time limit of a call that a hostile server answers.
constexpr uint32_t LONG_MILLISECONDS = 100000;
// The time in which one method is called repeatedly.
constexpr uint32_t REPEATED_MILLISECONDS = 600;
constexpr Mark MARK = {1, BLUE, 10};

[[noreturn]] void fail(const char *what, int line)
{
    std::fprintf(stderr, "visitor.cc:%d: %s\n", line, what);
    std::abort();
}

// An object of this process, which is passed to the server.
class Thing final : public obvia::implementation<IThing> {
public:
    explicit Thing(int32_t number) noexcept : number_(number) {}

    int32_t Number() override { return number_; }

private:
    int32_t number_;
};

obvia::object<IVictim> connect(const char *name)
{
    obvia::com_ptr<IVictim> found;
    obvia::check(obvia::try_connect(name, found));
    return found;
}

// Calls the good server, and checks the results.
void round(int32_t turn)
{
    const obvia::object<IVictim> good = connect("victim");
    CHECK(good.Add(turn, 2) == turn + 2);
    std::array<int32_t, 3> values = {turn, 2, 3};
    CHECK(good.Sum(values) == turn + 5);
    good.Reverse(values);
    CHECK(values[0] == 3 && values[2] == turn);
    CHECK(good.Shout("quiet") == "QUIET");
    CHECK(good.Weigh(std::array<Mark, 3>{MARK, MARK, MARK}) == 120);
    const obvia::object<IThing> thing = good.Make(turn);
    CHECK(thing.Number() == turn && good.Visit(thing) == turn);
    const obvia::object<IPair> pair = thing.as<IPair>();
    CHECK(pair.Second() == int64_t{turn} + 1);
    CHECK(good.Visit(obvia::object<IThing>(obvia::make<Thing>(turn + 5))) == turn + 5);
}

std::string to_string(const std::string &text) { return text; }
std::string to_string(const char *text) { return text; }

// Makes a call, which may have any outcome, and reports the outcome.
template <class Call> void tell(const char *what, const Call &call)
{
    try {
        std::printf("%s ok %s\n", what, to_string(call()).c_str());
    } catch (const obvia::error &failure) {
        std::printf("%s 0x%08" PRIx32 "\n", what, static_cast<uint32_t>(failure.code()));
    }
}

template <class Marks> size_t count(const Marks &marks)
{
    return static_cast<size_t>(std::count_if(marks.begin(), marks.end(), [](const Mark &mark) {
        CHECK(mark.set <= 1 && (mark.color == RED || mark.color == GREEN || mark.color == BLUE));
        return mark.set == 1;
    }));
}

size_t use(const obvia::object<IPair> &pair)
{
    pair.Swap(1, 2);
    const std::string title = pair.Title();
    pair.Second();
    return title.size();
}

int32_t use(const obvia::object<IThing> &thing)
{
    const int32_t number = thing.Number();
    const obvia::object<IPair> pair = thing.as<IPair>();
    use(pair);
    return number;
}

// Calls every method. Results may have any values, and are read completely.
void abuse(const obvia::object<IVictim> &hostile)
{
    tell("Add", [&] { return hostile.Add(1, 2); });
    tell("Sum", [&] { return hostile.Sum(std::array<int32_t, 3>{1, 2, 3}); });
    tell("Reverse", [&] {
        std::array<int32_t, 4> values = {1, 2, 3, 4};
        hostile.Reverse(values);
        std::string text;
        for (const int32_t value : values) {
            text += (text.empty() ? "[" : ", ") + to_string(value);
        }
        return text + "]";
    });
    tell("Fill", [&] {
        std::array<int32_t, 64> values = {};
        hostile.Fill(values);
        return values.size();
    });
    tell("Flip", [&] { return int{hostile.Flip(true)}; });
    tell("Mix", [&] { return static_cast<int>(hostile.Mix(RED)); });
    tell("Shout", [&] { return hostile.Shout("x").size(); });
    tell("Measure", [&] { return hostile.Measure(u"wide"); });
    tell("Weigh", [&] { return hostile.Weigh(std::array<Mark, 2>{MARK, MARK}); });
    tell("Maybe", [&] { return hostile.Maybe(&MARK); });
    tell("Visit", [&] { return hostile.Visit(obvia::object<IThing>(obvia::make<Thing>(9))); });
    tell("Make", [&] { return use(hostile.Make(3)); });
    tell("MakeAgain", [&] { return use(hostile.Make(4)); });
    tell("Marks", [&] {
        std::array<Mark, 8> marks;
        marks.fill(MARK);
        const uint32_t got = hostile.Marks(marks);
        return "(" + to_string(got) + ", " + to_string(count(marks)) + ")";
    });
    tell("All", [&] { return count(hostile.All()); });
    // When the hostile server no longer takes these oneway calls, the window fills up, and a call
    // waits until its deadline. The loop then ends.
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(SHORT_MILLISECONDS);
    for (int32_t code = 0; code < 20 && std::chrono::steady_clock::now() < end; code++) {
        static_cast<void>(hostile->Hint(code));
    }
    tell("Pair", [&] {
        const obvia::object<IPair> pair = hostile.as<IPair>();
        return use(pair);
    });
}

// Calls one method repeatedly for some time.
void repeat(const obvia::object<IVictim> &hostile, std::string_view opnum)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(REPEATED_MILLISECONDS);
    while (std::chrono::steady_clock::now() < end) {
        try {
            if (opnum == "9") {
                CHECK(hostile.Shout("text").size() < 64);
            } else {
                CHECK(count(hostile.All()) <= 8);
            }
        } catch (const obvia::error &) {
            // The call may fail.
        }
    }
}

void attack(const std::string &name, const std::string &opnum)
{
    const uint32_t before = obvia_set_timeout(SHORT_MILLISECONDS);
    try {
        const obvia::object<IVictim> hostile = connect(name.c_str());
        if (opnum.empty()) {
            abuse(hostile);
        } else {
            repeat(hostile, opnum);
        }
    } catch (const obvia::error &failure) {
        std::printf("connect 0x%08" PRIx32 "\n", static_cast<uint32_t>(failure.code()));
    }
    obvia_set_timeout(before);
}

// Passes memory by reference. The arrays of each call lie in two regions. `is_silent` says whether
// the server leaves calls unanswered.
void map(const std::string &name, bool is_silent)
{
    const auto hostile = obvia::connect<IMapped>(name);
    const obvia::timeout limit{std::chrono::milliseconds(is_silent ? SHORT_MILLISECONDS : LONG_MILLISECONDS)};
    const auto checked = [](HRESULT result) {
        obvia::check(result);
        return "()";
    };
    for (int turn = 0; turn < 2; turn++) {
        const obvia::shared_memory from(64), to(64, OBVIA_WRITE);
        const uint8_t *const given = from.elements<uint8_t>().data();
        uint8_t *const changed = to.elements<uint8_t>().data();
        tell("Blend", [&] { return checked(hostile->Blend(8, given, changed)); });
        tell("Mix", [&] { return checked(hostile->Mix(8, given, changed)); });
    }
    std::puts("good");
    std::fflush(stdout);
}

void visit(const std::string &line)
{
    std::istringstream words(line);
    std::string name, how, opnum;
    words >> name >> how >> opnum;
    if (how == "map") {
        return map(name, opnum == "silent");
    }
    if (how != "first") {
        round(1);
    }
    attack(name, opnum);
    round(2);
    // A new thread uses a new connection.
    std::thread([] { round(3); }).join();
    std::puts("good");
    std::fflush(stdout);
}

} // namespace

int main()
try {
    for (std::string line; std::getline(std::cin, line);) {
        visit(line);
    }
    return 0;
} catch (const std::exception &failure) {
    std::fprintf(stderr, "visitor.cc: %s\n", failure.what());
    return 1;
}
