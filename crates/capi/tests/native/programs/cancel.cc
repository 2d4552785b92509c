// Cancellation of other threads' calls, and descriptions of failures. `cancel serve WAY` exports an
// object and ends when its standard input is closed; `cancel call WAY` calls it, and prints "ok".
#include "sleeper.h"

#include <obvia.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

using std::chrono::milliseconds;
using std::chrono::steady_clock;

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "cancel.cc:%d: %s\n", line, what);
    std::exit(1);
}

namespace {

class Sleeper final : public obvia::implements<Sleeper, ISleeper> {
public:
    HRESULT Sleep(uint32_t duration) override
    {
        const auto end = steady_clock::now() + milliseconds(duration);
        sleeping++;
        while (steady_clock::now() < end && !obvia_is_cancelled()) {
            std::this_thread::sleep_for(milliseconds(1));
        }
        sleeping--;
        noticed += obvia_is_cancelled();
        return S_OK;
    }

    HRESULT Sleeping(int32_t *count) override
    {
        *count = sleeping;
        return S_OK;
    }

    HRESULT Noticed(int32_t *count) override
    {
        *count = noticed;
        return S_OK;
    }

    HRESULT Fail() override
    {
        return obvia::guard([] {
            try {
                throw obvia::error(E_INVALIDARG, "too long").with_source("sleeper").with_help("sleeper.chm", 7);
            } catch (obvia::error &failure) {
                // An error that is created from the HRESULT of an earlier error has the same
                // description.
                throw obvia::error(failure.leave());
            }
        });
    }

private:
    std::atomic<int32_t> sleeping{0}, noticed{0};
};

using Count = HRESULT (ISleeper::*)(int32_t *count);

// Calls `count` until its result is `wanted`.
void becomes(ISleeper *object, Count count, int32_t wanted)
{
    const auto latest = steady_clock::now() + std::chrono::minutes(1);
    int32_t found = -1;
    while (found != wanted) {
        CHECK(steady_clock::now() < latest);
        CHECK((object->*count)(&found) == S_OK);
    }
}

HRESULT call(ISleeper *object)
{
    int32_t count = 0;
    return object->Noticed(&count);
}

void a_call_that_hangs_is_cancelled(ISleeper *object)
{
    const obvia::canceller canceller;
    std::thread other([=] {
        {
            const obvia::cancellable scope(canceller);
            CHECK(object->Sleep(600000) == RPC_E_CALL_CANCELED);
            CHECK(std::strstr(obvia_error_text(RPC_E_CALL_CANCELED), "cancelled"));
            CHECK(call(object) == RPC_E_CALL_CANCELED);
        }
        CHECK(call(object) == S_OK);
    });
    becomes(object, &ISleeper::Sleeping, 1);
    canceller.cancel();
    canceller.cancel();
    other.join();
    becomes(object, &ISleeper::Noticed, 1);
    becomes(object, &ISleeper::Sleeping, 0);
}

void each_canceller_of_a_thread_ends_its_calls(ISleeper *object)
{
    const obvia::canceller outer, used, unused;
    {
        const obvia::cancellable outer_scope(outer);
        {
            const obvia::cancellable scope(used);
            CHECK(call(object) == S_OK);
            used.cancel();
            CHECK(call(object) == RPC_E_CALL_CANCELED);
        }
        CHECK(call(object) == S_OK);
        {
            const obvia::cancellable scope(unused);
            CHECK(call(object) == S_OK);
            outer.cancel();
            CHECK(call(object) == RPC_E_CALL_CANCELED);
        }
        CHECK(call(object) == RPC_E_CALL_CANCELED);
    }
    CHECK(call(object) == S_OK);
}

void an_outer_canceller_ends_the_calls_of_several_threads(ISleeper *object)
{
    const obvia::canceller outer;
    int32_t noticed = 0;
    CHECK(object->Noticed(&noticed) == S_OK);
    const auto sleep = [=] {
        const obvia::cancellable outer_scope(outer);
        {
            const obvia::canceller inner;
            const obvia::cancellable scope(inner);
            CHECK(object->Sleep(600000) == RPC_E_CALL_CANCELED);
        }
        CHECK(call(object) == RPC_E_CALL_CANCELED);
    };
    std::thread first(sleep), second(sleep);
    becomes(object, &ISleeper::Sleeping, 2);
    outer.cancel();
    first.join();
    second.join();
    becomes(object, &ISleeper::Noticed, noticed + 2);
    becomes(object, &ISleeper::Sleeping, 0);
}

void cancellers_are_removed_in_any_order(ISleeper *object)
{
    const obvia::canceller used, unused;
    std::optional<obvia::cancellable> outer, inner, innermost;
    outer.emplace(used);
    inner.emplace(used);
    innermost.emplace(unused);
    used.cancel();
    outer.reset();
    CHECK(call(object) == RPC_E_CALL_CANCELED);
    inner.reset();
    CHECK(call(object) == S_OK);
    innermost.reset();
    unused.cancel();
    CHECK(call(object) == S_OK);
}

void a_thread_that_has_ended_is_not_cancelled(ISleeper *object)
{
    obvia_canceller *canceller = obvia_new_canceller();
    std::thread first([=] {
        obvia_add_canceller(canceller);
        obvia_add_canceller(canceller);
        CHECK(call(object) == S_OK);
    });
    first.join();
    // The second thread may get the connection that the first thread has used.
    std::thread second([=] { CHECK(object->Sleep(200) == S_OK); });
    becomes(object, &ISleeper::Sleeping, 1);
    obvia_cancel(canceller);
    second.join();
    obvia_remove_canceller(canceller);
    CHECK(call(object) == S_OK);
    obvia_free_canceller(canceller);
    obvia_add_canceller(nullptr);
    obvia_remove_canceller(nullptr);
    obvia_free_canceller(nullptr);
}

void what_is_known_of_a_failure_arrives(ISleeper *object)
{
    const HRESULT result = object->Fail();
    CHECK(result == E_INVALIDARG);
    const obvia::error failure(result);
    CHECK(failure.what() == std::string("too long (E_INVALIDARG)"));
    CHECK(failure.source() == "sleeper" && failure.help_file() == "sleeper.chm" && failure.help_context() == 7);
    obvia_error_info info;
    obvia_get_error_info(result, &info);
    CHECK(info.description == std::string("too long") && info.source == failure.source());
    // The thread's last failure had another HRESULT, so there is no description.
    obvia_get_error_info(E_FAIL, &info);
    CHECK(!*info.description && !*info.source && !*info.help_file && !info.help_context);
    // A failure without details, or with a text that is not UTF-8, does not get the text of an
    // earlier failure.
    for (const bool has_text : {false, true}) {
        obvia_fail(E_FAIL, "an earlier failure");
        CHECK((has_text ? obvia_fail_unforeseen(E_FAIL, "\xff", 1) : obvia_fail_with(E_FAIL, nullptr)) == E_FAIL);
        obvia_get_error_info(E_FAIL, &info);
        CHECK(!*info.description);
    }
}

} // namespace

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    const bool polls = !std::strcmp(argv[2], "poll"), blocks = !std::strcmp(argv[2], "block");
    obvia_set_waiting(polls ? OBVIA_POLL : blocks ? OBVIA_BLOCK : OBVIA_ADAPTIVE);
    if (!std::strcmp(argv[1], "serve")) {
        const obvia::served entry = obvia::serve("sleeper", obvia::make<Sleeper>());
        std::puts("ready");
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    const obvia::com_ptr<ISleeper> object = obvia::connect<ISleeper>("sleeper");
    a_call_that_hangs_is_cancelled(object.get());
    each_canceller_of_a_thread_ends_its_calls(object.get());
    an_outer_canceller_ends_the_calls_of_several_threads(object.get());
    cancellers_are_removed_in_any_order(object.get());
    a_thread_that_has_ended_is_not_cancelled(object.get());
    what_is_known_of_a_failure_arrives(object.get());
    std::puts("ok");
    return 0;
}
