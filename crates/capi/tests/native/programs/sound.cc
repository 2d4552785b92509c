// Type-correct objects and callers in C++, and the guarantees for them. `sound` makes all checks
// that need only one process; `sound serve` exports an object that `sound call` calls.
#include "sound_values.hpp"

#include <obvia_stub.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "sound.cc:%d: %s\n", line, what);
    std::exit(1);
}

namespace {

void go(Way way)
{
    switch (way) {
    case THROWS:
        throw std::runtime_error("it fails");
    case THROWS_SUCCESS:
        throw obvia::error(S_FALSE, "it fails, and says that it does not");
    case THROWS_NUMBER:
        throw 1;
    case THROWS_SILENTLY:
        obvia::set_exception_texts(false);
        throw std::runtime_error("it fails, and nobody is to know why");
    default:
        break;
    }
}

// An object whose first interface, IFirst, is not the interface that the tests of Find() and Take()
// request.
class Two final : public obvia::implementation<IFirst, ISecond> {
public:
    int32_t First() override { return 1; }
    void Nothing() override {}
    int32_t Second() override { return 2; }
};

class Sound : public obvia::implementation<ISound> {
public:
    obvia::owned<Link> List(Way way) override
    {
        go(way);
        return obvia::owned<Link>::copy({1, nullptr});
    }
    std::string Text(Way way) override
    {
        go(way);
        return "text";
    }
    ISound_Several_results Several(Way way) override
    {
        go(way);
        return {{}, self()};
    }
    void Changes(Way way, obvia::owned<Link> &list) override
    {
        list = obvia::owned<Link>::copy({2, nullptr});
        go(way);
    }
    obvia::object<IUnknown> Find(const GUID &) override { return obvia::make<Two>(); }
    int32_t Take(const GUID &, const obvia::object<IUnknown> &given) override { return given.as<ISecond>()->Second(&number_) < 0 ? 0 : number_; }
    obvia::object<ISound> Next() override { return obvia::make<Sound>(); }

private:
    int32_t number_ = 0;
};

// An object whose method Take() expects that its argument points to the interface of the IID, as
// COM specifies.
class Plain final : public obvia::implements<Plain, ISound> {
public:
    explicit Plain(bool *is_gone = nullptr) : is_gone_(is_gone) {}
    ~Plain()
    {
        if (is_gone_) {
            *is_gone_ = true;
        }
    }
    HRESULT List(Way, Link **) override { return E_NOTIMPL; }
    HRESULT Text(Way, char **) override { return E_NOTIMPL; }
    HRESULT Several(Way, uint32_t *, Link **, ISound **) override { return E_NOTIMPL; }
    HRESULT Changes(Way, Link **) override { return E_NOTIMPL; }
    HRESULT Find(const GUID *, IUnknown **) override { return E_NOTIMPL; }
    HRESULT Take(const GUID *iid, IUnknown *given, int32_t *number) override
    {
        return obvia_is_equal(iid, &IID_ISecond) ? reinterpret_cast<ISecond *>(given)->Second(number) : E_NOINTERFACE;
    }
    HRESULT Next(ISound **next) override
    {
        *next = obvia::make<Plain>().detach();
        return is_gone_ && *is_gone_ ? E_UNEXPECTED : S_OK;
    }

private:
    bool *is_gone_;
};

// An object that counts the objects of its class.
class Counted final : public obvia::implements<Counted, IFirst> {
public:
    Counted() { number++; }
    ~Counted() { number--; }
    HRESULT First(int32_t *) override { return S_OK; }

    static int number;
};

int Counted::number = 0;

class Arrays final : public obvia::implements<Arrays, IArrays> {
public:
    HRESULT Sum(int32_t n, const int32_t *, const int32_t *more, int64_t *sum) override
    {
        *sum = more ? std::accumulate(more, more + n, int64_t{0}) : -1;
        return S_OK;
    }
    HRESULT Number(uint64_t n, Link *links) override
    {
        for (uint64_t at = 0; at < n >> 60; at++) {
            links[at] = {static_cast<int32_t>(at), nullptr};
        }
        return S_OK;
    }
    HRESULT Make(int32_t n, IFirst **objects, Link *links) override
    {
        for (int32_t at = 0; at < n; at++) {
            objects[at] = obvia::make<Counted>().detach();
            links[at] = {at, obvia::owned<Link>::copy({1, nullptr}).detach()};
        }
        return S_OK;
    }
    HRESULT Replace(IFirst *object, int32_t n, IFirst **objects) override
    {
        for (int32_t at = 0; at < n; at++) {
            objects[at] = obvia::com_ptr<IFirst>(object).detach();
        }
        return S_OK;
    }
    HRESULT Measure(const Open *open, uint32_t *count) override
    {
        // The copy includes one element of the array, for which the structure has room in C.
        const Open copy = *open;
        *count = copy.count;
        return S_OK;
    }
    HRESULT Has(int32_t, const int32_t *, ISound **objects, uint8_t *has) override
    {
        *has = objects != nullptr;
        return S_OK;
    }
};

template <class T> T *nonsense()
{
    return reinterpret_cast<T *>(1);
}

// Callers that know only COM do not initialise the variables that they pass as out parameters.
void results_of_methods_that_throw_are_null(const obvia::com_ptr<ISound> &sound)
{
    for (const Way way : {THROWS, THROWS_SUCCESS, THROWS_NUMBER}) {
        Link *list = nonsense<Link>();
        CHECK(sound->List(way, &list) < 0 && !list);
        char *text = nonsense<char>();
        CHECK(sound->Text(way, &text) < 0 && !text);
        uint32_t count = 1;
        ISound *other = nonsense<ISound>();
        CHECK(sound->Several(way, &count, &list, &other) < 0 && !list && !other);
    }
}

void methods_of_this_process_that_throw_return_nothing()
{
    const obvia::com_ptr<ISound> sound = obvia::make<Sound>();
    results_of_methods_that_throw_are_null(sound);
    // The method has stored a value before it failed, and the caller owns this value.
    Link *list = nullptr;
    CHECK(sound->Changes(THROWS, &list) < 0 && list->number == 2);
    Link_free(list, 1);
}

// Callers get the text of an exception other than obvia::error only if the program allows it.
void texts_of_exceptions_are_told_where_the_program_says_so(const obvia::com_ptr<ISound> &sound)
{
    Link *list = nullptr;
    CHECK(sound->List(THROWS, &list) == E_FAIL);
    CHECK(std::string(obvia_error_text(E_FAIL)) == "it fails (E_FAIL)");
    CHECK(sound->List(THROWS_SILENTLY, &list) == E_FAIL);
    CHECK(std::string(obvia_error_text(E_FAIL)) == "E_FAIL");
    CHECK(sound->List(THROWS_SUCCESS, &list) == E_UNEXPECTED);
    CHECK(std::string(obvia_error_text(E_UNEXPECTED)) == "it fails, and says that it does not (E_UNEXPECTED)");
}

// A pointer that is returned beside an IID has the interface of that IID, even if the method
// returns a pointer to another interface.
void pointers_beside_an_iid_are_of_its_interface(const obvia::com_ptr<ISound> &sound)
{
    ISecond *second = nullptr;
    CHECK(sound->Find(&IID_ISecond, reinterpret_cast<IUnknown **>(&second)) == S_OK);
    int32_t number = 0;
    CHECK(second->Second(&number) == S_OK && number == 2);
    second->Release();
    second = nonsense<ISecond>();
    CHECK(sound->Find(&IID_ISound, reinterpret_cast<IUnknown **>(&second)) == E_NOINTERFACE && !second);
}

void objects_are_asked_for_the_interface_of_an_iid()
{
    pointers_beside_an_iid_are_of_its_interface(obvia::make<Sound>());
    const obvia::object<ISound> plain = obvia::com_ptr<ISound>(obvia::make<Plain>());
    const obvia::object<IUnknown> two = obvia::object<IFirst>(obvia::make<Two>());
    CHECK(plain.Take(IID_ISecond, two) == 2);
    try {
        plain.Take(IID_ISound, two);
        CHECK(false);
    } catch (const obvia::error &error) {
        CHECK(error.code() == E_NOINTERFACE);
    }
}

// An empty array arrives as a missing array, whatever its address is.
void empty_arrays_are_missing(const obvia::object<IArrays> &arrays)
{
    std::vector<int32_t> given(1000), more;
    more.reserve(1);
    CHECK(arrays.Sum(given, more) == -1);
    more.assign(1000, 2);
    CHECK(arrays.Sum(given, more) == 2000);
    CHECK(arrays.Sum(given, obvia::span<const int32_t>(more.data(), 0)) == -1);
    // In methods with values, the elements of this array have another type than in C.
    std::vector<obvia::object<ISound>> objects;
    objects.reserve(1);
    CHECK(!arrays.Has(given, objects));
    objects.resize(given.size());
    CHECK(arrays.Has(given, objects));
    CHECK(!arrays.Has(given, obvia::span<const obvia::object<ISound>>(objects.data(), 0)));
}

void arrays_of_this_process_may_be_missing()
{
    empty_arrays_are_missing(obvia::com_ptr<IArrays>(obvia::make<Arrays>()));
}

// Calls a method that fills arrays with objects and lists. The previous objects and lists in the
// arrays are freed.
void filled_arrays_free_what_they_held()
{
    const obvia::object<IArrays> arrays = obvia::com_ptr<IArrays>(obvia::make<Arrays>());
    std::vector<obvia::object<IFirst>> objects(3);
    std::vector<obvia::filled<Link>> links(3);
    for (int turn = 0; turn < 3; turn++) {
        arrays.Make(3, objects, links);
        CHECK(Counted::number == 3 && objects[2] && links[2]->number == 2 && links[2]->next->number == 1);
    }
    // An argument may be one of the objects that are replaced.
    arrays.Replace(objects[0], 3, objects);
    CHECK(Counted::number == 1 && objects[0] && objects[0].get() == objects[2].get());
    objects.clear();
    CHECK(Counted::number == 0);
}

// If the array of a structure is empty, the structure's memory still has the size of its type in C.
// Programs can therefore copy the structure by assignment.
void structures_with_empty_arrays_have_the_size_of_their_type(const obvia::com_ptr<IArrays> &arrays)
{
    uint32_t count = 1;
    const auto open = std::make_unique<Open>();
    CHECK(arrays->Measure(open.get(), &count) == S_OK && count == 0);
    open->count = 1;
    CHECK(arrays->Measure(open.get(), &count) == S_OK && count == 1);
}

// A number beyond the range of signed integers is not accepted as a size, neither by a proxy nor in
// a request that a hostile client has written.
void numbers_that_exceed_the_integers_are_refused(const obvia::com_ptr<IArrays> &arrays)
{
    Link links[15] = {};
    CHECK(arrays->Number(uint64_t{7} << 60, links) == S_OK && links[6].number == 6);
    const uint64_t n = uint64_t{15} << 60;
    CHECK(arrays->Number(n, links) == E_INVALIDARG);
    const obvia_calls *calls = nullptr;
    const obvia_proxy *proxy = reinterpret_cast<const obvia_proxy *>(arrays.get());
    obvia::check(obvia_prepare(proxy, &calls));
    std::memcpy(calls->slot, &n, sizeof n);
    const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST(4, sizeof n), proxy->target);
    CHECK(obvia_length(reply) == 0 && FAILED(obvia_refusal(reply)));
}

void call()
{
    const obvia::com_ptr<IArrays> arrays = obvia::connect<IArrays>("arrays");
    empty_arrays_are_missing(arrays);
    numbers_that_exceed_the_integers_are_refused(arrays);
    structures_with_empty_arrays_have_the_size_of_their_type(arrays);
    const obvia::com_ptr<ISound> sound = obvia::connect<ISound>("sound");
    results_of_methods_that_throw_are_null(sound);
    for (const Way way : {THROWS, THROWS_SUCCESS, THROWS_NUMBER}) {
        // The server's method has freed and replaced its own copy; the caller's argument is
        // unchanged.
        obvia::owned<Link> list = obvia::owned<Link>::copy({1, nullptr});
        CHECK(sound->Changes(way, list.in_out()) < 0 && list->number == 1);
    }
    pointers_beside_an_iid_are_of_its_interface(sound);
    texts_of_exceptions_are_told_where_the_program_says_so(sound);
}

class Farewell final : public obvia::implementation<ISound> {
public:
    explicit Farewell(int &ends) : ends_(ends) {}
    ~Farewell()
    {
        // A destructor may create references to the object, for example to report the object's end.
        const obvia::object<ISound> own = self();
        CHECK(own.as<IUnknown>());
        ends_++;
    }
    obvia::owned<Link> List(Way) override { return {}; }
    std::string Text(Way) override { return {}; }
    ISound_Several_results Several(Way) override { return {}; }
    void Changes(Way, obvia::owned<Link> &) override {}
    obvia::object<IUnknown> Find(const GUID &) override { return {}; }
    int32_t Take(const GUID &, const obvia::object<IUnknown> &) override { return 0; }
    obvia::object<ISound> Next() override { return {}; }

private:
    int &ends_;
};

class Ended final : public obvia::implements<Ended, IFirst> {
public:
    explicit Ended(int &ends) : ends_(ends) {}
    ~Ended()
    {
        const obvia::com_ptr<IFirst> own(this);
        CHECK(own.as<IUnknown>());
        ends_++;
    }
    HRESULT First(int32_t *) override { return S_OK; }

private:
    int &ends_;
};

void destructors_may_count_their_object()
{
    int ends = 0;
    obvia::make<Farewell>(ends).reset();
    obvia::make<Ended>(ends).reset();
    CHECK(ends == 2);
}

// Tests that the called object lives until the call is over, even if the call's result replaces the
// last pointer to the object.
void an_object_may_be_replaced_by_what_it_returns()
{
    bool is_gone = false;
    obvia::com_ptr<ISound> node = obvia::make<Plain>(&is_gone);
    CHECK(node->Next(node.put()) == S_OK);
    CHECK(is_gone && node && node->Next(node.put()) == S_OK);
    obvia::object<ISound> valued = obvia::make<Sound>();
    valued = valued.Next();
    CHECK(valued.Text(WELL) == "text");
}

void what_was_moved_from_is_empty()
{
    obvia::shared_memory memory(4096);
    const obvia::shared_memory taken = std::move(memory);
    CHECK(taken.size() == 4096 && memory.size() == 0 && memory.elements<char>().empty());
    CHECK(memory.elements<char>(1000, 1).empty());
    memory = obvia::shared_memory(8192);
    memory = std::move(memory);
    CHECK(memory.elements<char>().size() == (memory.data() ? 8192u : 0u));
    obvia::canceller canceller;
    const obvia::canceller other = std::move(canceller);
    canceller.cancel();
    const obvia::cancellable nothing(canceller);
}

void counts_that_are_too_small_are_refused()
{
    const uint8_t bytes[300] = {};
    try {
        obvia::owned_array<uint8_t, uint8_t>::copy(bytes);
        CHECK(false);
    } catch (const obvia::error &error) {
        CHECK(error.code() == E_INVALIDARG);
    }
    // A faulty object may return a negative length.
    const auto less = obvia::owned_array<uint8_t, int32_t>::attach(static_cast<uint8_t *>(obvia_alloc(1)), -1);
    CHECK(less.empty() && less.begin() == less.end());
}

void times_beyond_what_counts_them_are_the_longest()
{
    {
        const obvia::timeout longest(std::chrono::hours(24 * 60));
        CHECK(obvia_set_timeout(OBVIA_DEFAULT_TIMEOUT) == OBVIA_DEFAULT_TIMEOUT - 1);
    }
    const obvia::timeout none(std::chrono::milliseconds(-1));
    CHECK(obvia_set_timeout(0) == 0);
}

void (*const checks[])() = {
    methods_of_this_process_that_throw_return_nothing,
    objects_are_asked_for_the_interface_of_an_iid,
    destructors_may_count_their_object,
    an_object_may_be_replaced_by_what_it_returns,
    what_was_moved_from_is_empty,
    counts_that_are_too_small_are_refused,
    arrays_of_this_process_may_be_missing,
    filled_arrays_free_what_they_held,
    times_beyond_what_counts_them_are_the_longest,
};

} // namespace

int main(int argc, char **argv)
{
    const std::string what = argc < 2 ? "" : argv[1];
    if (what == "serve") {
        const obvia::served entry = obvia::serve("sound", obvia::make<Sound>());
        const obvia::served arrays = obvia::serve("arrays", obvia::make<Arrays>());
        std::puts("ready");
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    if (what == "call") {
        call();
    } else {
        for (const auto check : checks) {
            check();
        }
    }
    std::puts("ok");
    return 0;
}
