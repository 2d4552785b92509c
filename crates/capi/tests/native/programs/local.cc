// Objects whose interface has [local] methods: `local serve` exports one until its input ends,
// `local call` calls it from another process, and `local` calls one in its own process.
#include "local.h"

#include <obvia.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

namespace {

[[noreturn]] void fail(const char *what, int line)
{
    std::fprintf(stderr, "local.cc:%d: %s\n", line, what);
    std::_Exit(1);
}

class Numbers final : public obvia::implements<Numbers, INamedNumbers> {
public:
    HRESULT Skip(uint32_t count) override
    {
        next_ += static_cast<int32_t>(count);
        return S_OK;
    }

    HRESULT Next(uint32_t count, int32_t *numbers, uint32_t *fetched) override
    {
        for (*fetched = 0; *fetched < count; ++*fetched) {
            numbers[*fetched] = next_++;
        }
        return S_OK;
    }

    HRESULT Peek(const void *key, void **found) override
    {
        *found = const_cast<void *>(key);
        return S_FALSE;
    }

    HRESULT Reset(int32_t to, int32_t *from) override
    {
        *from = next_;
        next_ = to;
        return S_OK;
    }

    HRESULT Name(char **name) override
    {
        *name = static_cast<char *>(obvia_alloc(sizeof "numbers"));
        if (!*name) {
            return E_OUTOFMEMORY;
        }
        std::memcpy(*name, "numbers", sizeof "numbers");
        return S_OK;
    }

private:
    int32_t next_ = 0;
};

void call(INamedNumbers *numbers, bool is_remote)
{
    int32_t got[3] = {-1, -1, -1}, from = 0;
    uint32_t fetched = 9;
    int key = 0;
    void *found = &fetched;
    CHECK(numbers->Skip(4) == S_OK);
    const HRESULT next = numbers->Next(3, got, &fetched);
    if (is_remote) {
        CHECK(next == E_NOTIMPL && std::strstr(obvia_error_text(next), "`INamedNumbers.Next` is [local]"));
        CHECK(fetched == 9 && got[0] == -1);
        CHECK(numbers->Peek(&key, &found) == E_NOTIMPL && found == &fetched);
    } else {
        CHECK(next == S_OK && fetched == 3 && got[0] == 4 && got[2] == 6);
        CHECK(numbers->Peek(&key, &found) == S_FALSE && found == &key);
    }
    CHECK(numbers->Reset(1, &from) == S_OK && from == (is_remote ? 4 : 7));
    char *name = nullptr;
    CHECK(numbers->Name(&name) == S_OK && std::string(name) == "numbers");
    obvia_free(name);
}

} // namespace

int main(int argc, char **argv)
{
    const std::string what = argc < 2 ? "" : argv[1];
    if (what == "serve") {
        const obvia::served entry = obvia::serve("local", obvia::make<Numbers>());
        std::puts("ready");
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    if (what == "call") {
        call(obvia::connect<INamedNumbers>("local").get(), true);
    } else {
        call(obvia::make<Numbers>().get(), false);
    }
    std::puts("ok");
    return 0;
}
