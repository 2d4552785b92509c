// Objects whose interface has [local] methods: `local serve` exports one until its input ends,
// `local call` calls it from another process, and `local` calls one in its own process.
#include "local_values.hpp"

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

    HRESULT All(const Pair *, Color color, const Node *, const int32_t *, const char16_t *, INumbers *,
                Color *back) override
    {
        *back = color;
        return S_OK;
    }

    HRESULT Bytes(uint32_t, const uint8_t *, uint32_t *lent, int64_t **) override
    {
        *lent = 0;
        return S_OK;
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

// The same object with methods that take and return values. The [local] methods have the same form
// as in C.
class Values final : public obvia::implementation<INamedNumbers> {
public:
    void Skip(uint32_t count) override { numbers_->Skip(count); }
    HRESULT Next(uint32_t count, int32_t *numbers, uint32_t *fetched) override
    {
        return numbers_->Next(count, numbers, fetched);
    }
    HRESULT Peek(const void *key, void **found) override { return numbers_->Peek(key, found); }
    HRESULT All(const Pair *pair, Color color, const Node *list, const int32_t *three, const char16_t *text,
                INumbers *other, Color *back) override
    {
        return numbers_->All(pair, color, list, three, text, other, back);
    }
    HRESULT Bytes(uint32_t count, const uint8_t *bytes, uint32_t *lent, int64_t **numbers) override
    {
        return numbers_->Bytes(count, bytes, lent, numbers);
    }
    int32_t Reset(int32_t to) override
    {
        int32_t from = 0;
        obvia::check(numbers_->Reset(to, &from));
        return from;
    }
    std::string Name() override { return "numbers"; }

private:
    const obvia::com_ptr<INamedNumbers> numbers_ = obvia::make<Numbers>();
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
    Color color = RED;
    uint32_t lent = 5;
    int64_t *none = nullptr;
    const int32_t three[3] = {};
    const HRESULT all = numbers->All(nullptr, GREEN, nullptr, three, u"", nullptr, &color);
    CHECK(is_remote ? all == E_NOTIMPL && color == RED : all == S_OK && color == GREEN);
    const HRESULT bytes = numbers->Bytes(0, nullptr, &lent, &none);
    CHECK(is_remote ? bytes == E_NOTIMPL && lent == 5 : bytes == S_OK && lent == 0);
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
        call(obvia::com_ptr<INamedNumbers>(obvia::make<Values>()).get(), false);
    }
    std::puts("ok");
    return 0;
}
