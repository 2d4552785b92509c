// A server in C++ keeps a context for a client. One thread of the client uses the context while
// another thread destroys it.
#include "contexts.h"

#include <obvia.hpp>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "contexts.cc:%d: %s\n", line, what);
    std::exit(1);
}

namespace {

class Keeper final : public obvia::implements<Keeper, States> {
public:
    HRESULT Open(obvia_context *handle) override
    {
        auto state = std::make_unique<State>(State{42, &ended_});
        const HRESULT result = obvia_new_context(state.get(), end, handle);
        if (result >= 0) {
            state.release();
        }
        return result;
    }

    HRESULT Use(obvia_context handle, int32_t *returned) override
    {
        void *found = nullptr;
        const HRESULT result = obvia_context_state(&handle, end, &found);
        if (result < 0) {
            return result;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        is_used_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_closed_; });
        *returned = static_cast<State *>(found)->number;
        return S_OK;
    }

    HRESULT Close(obvia_context *handle) override
    {
        void *found = nullptr;
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return is_used_; });
        HRESULT result = obvia_context_state(handle, end, &found);
        if (result >= 0) {
            result = obvia_end_context(handle);
        }
        is_closed_ = true;
        changed_.notify_all();
        return result;
    }

    HRESULT Ended(int32_t *returned) override
    {
        *returned = ended_;
        return S_OK;
    }

private:
    struct State {
        int32_t number;
        std::atomic<int32_t> *ended;
    };

    static void end(void *state)
    {
        auto *ended = static_cast<State *>(state);
        (*ended->ended)++;
        delete ended;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_used_ = false, is_closed_ = false;
    // Static, because states may be run down after the server's object has ended.
    static inline std::atomic<int32_t> ended_{0};
};

void call()
{
    const auto states = obvia::bind<States>("ncacn_vi_shm:[states]");
    obvia_context handle;
    CHECK(states->Open(&handle) == S_OK);
    int32_t number = 0;
    HRESULT used = E_FAIL;
    std::thread user([&, handle] { used = states->Use(handle, &number); });
    CHECK(states->Close(&handle) == S_OK);
    user.join();
    CHECK(used == S_OK && number == 42);
    int32_t ended = 0;
    CHECK(states->Ended(&ended) == S_OK && ended == 1);
    // Opens handles until no further handle can be made. The method still owns the state for which
    // no handle was made, and frees it.
    HRESULT opened = S_OK;
    for (int at = 0; at <= 65536 && opened == S_OK; at++) {
        opened = states->Open(&handle);
    }
    CHECK(opened == E_OUTOFMEMORY);
    CHECK(states->Ended(&ended) == S_OK && ended == 1);
}

} // namespace

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    if (!std::strcmp(argv[1], "serve")) {
        const obvia::serving service = obvia::serve_interface<States>(obvia::make<Keeper>());
        obvia::listen("ncacn_vi_shm:[states]");
        std::puts("ready");
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    call();
    std::puts("ok");
    return 0;
}
