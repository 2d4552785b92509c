// Objects with methods that a permissive compiler treats as [local]: `permissive serve` exports one
// until its input ends, and prints a binding. `permissive call` calls it from another process, by name
// or over the binding that is its next argument. `permissive` calls one in its own process.
#include "permissive_values.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

namespace {

[[noreturn]] void fail(const char *what, int line)
{
    std::fprintf(stderr, "permissive.cc:%d: %s: %s\n", line, what, obvia_error_text(E_FAIL));
    std::_Exit(1);
}

class Shape final : public obvia::implements<Shape, IShape> {
public:
    HRESULT Area(int32_t width, int32_t height, int32_t *area) override
    {
        *area = width * height;
        return S_OK;
    }

    HRESULT Draw(const Window *window, const obvia_wchar *title) override { return window && *title == u't' ? S_OK : S_FALSE; }

    HRESULT Name(obvia_bstr name) override { return *name == u'n' ? S_OK : S_FALSE; }

    HRESULT Sum(const Open *open, int32_t *sum) override
    {
        *sum = open->items[0];
        return S_OK;
    }

    HRESULT Words(uint32_t count, const double *values, obvia_wchar **text) override
    {
        *text = static_cast<obvia_wchar *>(obvia_alloc(2 * sizeof(obvia_wchar)));
        if (!*text) {
            return E_OUTOFMEMORY;
        }
        (*text)[0] = static_cast<obvia_wchar>(values[count - 1]);
        (*text)[1] = 0;
        return S_OK;
    }
};

class Counter final : public obvia::implements<Counter, ICounter> {
public:
    HRESULT GetTypeInfoCount(uint32_t *count) override
    {
        *count = 0;
        return S_OK;
    }
    HRESULT GetTypeInfo(uint32_t, uint32_t, IUnknown **) override { return E_NOTIMPL; }
    HRESULT GetIDsOfNames(const GUID *, obvia_wchar **, uint32_t, uint32_t, int32_t *) override { return E_NOTIMPL; }
    HRESULT Invoke(int32_t, const GUID *, uint32_t, uint16_t, obvia_dispparams *, obvia_variant *, obvia_excepinfo *, uint32_t *) override
    {
        return E_NOTIMPL;
    }
    HRESULT Add(int32_t number, int32_t *sum) override
    {
        *sum = sum_ += number;
        return S_OK;
    }
    HRESULT Show(obvia_variant value) override { return value.value.lVal == 5 ? S_OK : S_FALSE; }

private:
    int32_t sum_ = 0;
};

// Returns the binding of an exported object: its name, or the name at the binding of a process.
std::string at(const std::string &process, const std::string &name)
{
    return process.empty() ? name : process.substr(0, process.size() - 1) + ",name=" + name + "]";
}

// `sum_is_passed`: whether the peer passes the method with the open array. A peer in Rust does not.
void call(IShape *shape, bool is_remote, bool sum_is_passed)
{
    int32_t area = 0, sum = 0;
    CHECK(shape->Area(6, 7, &area) == S_OK && area == 42);
    int some = 0;
    const HRESULT drawn = shape->Draw(reinterpret_cast<const Window *>(&some), u"title");
    CHECK(drawn == (is_remote ? E_NOTIMPL : S_OK));
    CHECK(!is_remote || std::strstr(obvia_error_text(drawn), "`IShape.Draw`"));
    obvia_wchar name[] = u"name";
    CHECK(shape->Name(name) == (is_remote ? E_NOTIMPL : S_OK));
    const Open open = {1, {9}};
    CHECK(sum_is_passed ? shape->Sum(&open, &sum) == S_OK && sum == 9 : FAILED(shape->Sum(&open, &sum)));
    // The numbers of the types in this method's frames follow those of the methods before it.
    const double values[] = {1, 65};
    obvia_wchar *text = nullptr;
    CHECK(shape->Words(2, values, &text) == S_OK && text[0] == u'A');
    obvia_free(text);
}

void count(ICounter *counter, bool is_remote)
{
    int32_t sum = 0;
    CHECK(counter->Add(3, &sum) == S_OK && counter->Add(4, &sum) == S_OK && sum == 7);
    obvia_variant value = {};
    value.value.lVal = 5;
    CHECK(counter->Show(value) == (is_remote ? E_NOTIMPL : S_OK));
    uint32_t types = 1;
    CHECK(counter->GetTypeInfoCount(&types) == (is_remote ? E_NOTIMPL : S_OK));
}

} // namespace

int main(int argc, char **argv)
{
    const std::string what = argc < 2 ? "" : argv[1], process = argc < 3 ? "" : argv[2];
    if (what == "serve") {
        const obvia::served shape = obvia::serve("shape", obvia::make<Shape>());
        const obvia::served counter = obvia::serve("counter", obvia::make<Counter>());
        std::puts(obvia::listen("ncacn_ip_tcp:127.0.0.1[0]").c_str());
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    if (what == "call") {
        call(obvia::connect<IShape>(at(process, "shape")).get(), true, true);
        count(obvia::connect<ICounter>(at(process, "counter")).get(), true);
    } else if (what == "call-rust") {
        call(obvia::connect<IShape>(at(process, "shape")).get(), true, false);
        count(obvia::connect<ICounter>(at(process, "counter")).get(), true);
    } else {
        call(obvia::make<Shape>().get(), false, true);
        count(obvia::make<Counter>().get(), false);
    }
    std::puts("ok");
    return 0;
}
