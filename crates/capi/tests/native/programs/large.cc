// Structures that are larger than the stack of the threads that pass them. `large serve` exports an
// object that `large call` calls.
#include "large.h"

#include <obvia.hpp>
#include <obvia_stub.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "large.cc:%d: %s\n", line, what);
    std::_Exit(1);
}

namespace {

constexpr std::size_t SIZE = 4 << 20;

class Large final : public obvia::implements<Large, ILarge> {
public:
    HRESULT Put(const Frame *frame, uint8_t *first, uint8_t *last, char **text) override
    {
        *first = frame->pixels[0];
        *last = frame->pixels[SIZE - 1];
        *text = static_cast<char *>(obvia_alloc(3));
        std::memcpy(*text, "ok", 3);
        return S_OK;
    }
    HRESULT Invert(Flags *flags) override
    {
        flags->are[0] ^= 1;
        flags->are[SIZE - 1] ^= 1;
        return S_OK;
    }
    HRESULT Fill(uint8_t with, Padded *filled, Padded *other) override
    {
        CHECK(filled->bytes[SIZE] == 0);
        std::memset(filled->bytes, with, sizeof filled->bytes);
        filled->count = 1;
        other->bytes[SIZE]++;
        return S_OK;
    }
    HRESULT Not(const uint8_t *flags, uint8_t *inverted) override
    {
        for (std::size_t at = 0; at < SIZE; at++) {
            inverted[at] = !flags[at];
        }
        return S_OK;
    }
};

// Sends a request with an invalid flag, which a proxy would not send.
void invalid_values_are_refused(const obvia::com_ptr<ILarge> &large)
{
    const obvia_calls *calls = nullptr;
    const obvia_proxy *proxy = reinterpret_cast<const obvia_proxy *>(large.get());
    obvia::check(obvia_prepare(proxy, &calls));
    void *const frame = obvia_request(calls, SIZE, SIZE);
    CHECK(frame);
    std::memset(frame, 2, SIZE);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(4, SIZE), proxy->target);
    CHECK(obvia_length(reply) == 0 && obvia_refusal(reply) < 0);
}

void call()
{
    const obvia::com_ptr<ILarge> large = obvia::connect<ILarge>("large");
    const auto frame = std::make_unique<Frame>();
    uint8_t first = 0, last = 0;
    obvia::memory<char> text;
    frame->pixels[0] = 1;
    frame->pixels[SIZE - 1] = 2;
    obvia::check(large->Put(frame.get(), &first, &last, text.put()));
    CHECK(first == 1 && last == 2 && std::strcmp(text.get(), "ok") == 0);
    const auto flags = std::make_unique<Flags>(), inverted = std::make_unique<Flags>();
    flags->are[SIZE - 1] = 1;
    obvia::check(large->Invert(flags.get()));
    CHECK(flags->are[0] == 1 && flags->are[1] == 0 && flags->are[SIZE - 1] == 0);
    obvia::check(large->Not(flags->are, inverted->are));
    CHECK(inverted->are[0] == 0 && inverted->are[1] == 1 && inverted->are[SIZE - 1] == 1);
    const auto filled = std::make_unique<Padded>(), other = std::make_unique<Padded>();
    other->bytes[SIZE] = 6;
    obvia::check(large->Fill(5, filled.get(), other.get()));
    CHECK(filled->count == 1 && filled->bytes[0] == 5 && filled->bytes[SIZE] == 5 && other->bytes[SIZE] == 7);
    invalid_values_are_refused(large);
}

} // namespace

int main(int argc, char **argv)
try {
    CHECK(argc == 2);
    if (*argv[1] == 's') {
        const obvia::served entry = obvia::serve("large", obvia::make<Large>());
        std::puts("ready");
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    call();
    std::puts("ok");
    return 0;
} catch (const std::exception &failure) {
    std::fprintf(stderr, "large.cc: %s\n", failure.what());
    return 1;
}
