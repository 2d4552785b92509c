// Objects that are called over virtual interfaces. `specialised serve` exports such an object from
// a process that listens only on TCP, and prints the binding; `specialised call BINDING` calls it,
// and prints the protocol sequences of the calls.
#include "specialised_values.hpp"

#include <obvia.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "specialised.cc:%d: %s\n", line, what);
    std::exit(1);
}

namespace {

// An object whose methods take and return values.
class Valued : public obvia::implementation<ITally>, public obvia::over_vi {
public:
    int32_t Add(int32_t count) override { return total_ += count; }
    obvia::object<ITally> Other() override { return self(); }

private:
    std::atomic<int32_t> total_{0};
};

class Tally final : public obvia::implements<Tally, ITally>, public obvia::over_vi {
public:
    HRESULT Add(int32_t count, int32_t *total) override
    {
        *total = total_ += count;
        return S_OK;
    }
    HRESULT Other(ITally **other) override
    {
        *other = obvia::make<Valued>().detach();
        return S_OK;
    }

private:
    std::atomic<int32_t> total_{0};
};

// Tests that all interfaces of the object, including those of its marshaler, lead to the same
// identity.
void the_marshaler_is_a_part_of_the_object(const obvia::com_ptr<ITally> &tally)
{
    IUnknown *marshal = nullptr;
    CHECK(tally->QueryInterface(IID_IMarshal, reinterpret_cast<void **>(&marshal)) == S_OK);
    IUnknown *identity = nullptr;
    CHECK(marshal->QueryInterface(IID_IUnknown, reinterpret_cast<void **>(&identity)) == S_OK);
    CHECK(identity == tally.as<IUnknown>().get());
    identity->Release();
    marshal->Release();
    CHECK(obvia::binding_of(tally).empty());
}

void what_makes_no_sense_is_refused()
{
    IUnknown *part = nullptr;
    const obvia::com_ptr<ITally> tally = obvia::make<Tally>();
    CHECK(obvia_vi_marshaler(nullptr, nullptr, &part) == E_POINTER && !part);
    CHECK(obvia_vi_marshaler(tally.get(), nullptr, nullptr) == E_POINTER);
    CHECK(obvia_vi_marshaler(tally.get(), "ncacn_ip_tcp:h", &part) == E_INVALIDARG && !part);
    CHECK(obvia_binding_of(tally.get(), nullptr) == E_POINTER);
    char *binding = nullptr;
    CHECK(obvia_binding_of(nullptr, &binding) == E_POINTER);
}

std::string protocol(const obvia::com_ptr<ITally> &tally)
{
    const std::string binding = obvia::binding_of(tally);
    return binding.substr(0, binding.find(':'));
}

} // namespace

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    if (!std::strcmp(argv[1], "serve")) {
        const obvia::served entry = obvia::serve("tally", obvia::make<Tally>());
        std::puts(obvia::listen("ncacn_ip_tcp:127.0.0.1").c_str());
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    CHECK(argc == 3);
    what_makes_no_sense_is_refused();
    the_marshaler_is_a_part_of_the_object(obvia::make<Tally>());
    the_marshaler_is_a_part_of_the_object(obvia::make<Valued>());
    const auto tally = obvia::connect<ITally>(argv[2]);
    int32_t total = 0;
    CHECK(tally->Add(2, &total) == S_OK && total > 0);
    obvia::com_ptr<ITally> other;
    CHECK(tally->Other(other.put()) == S_OK && other->Add(1, &total) == S_OK && total == 1);
    std::printf("%s %s\n", protocol(tally).c_str(), protocol(other).c_str());
    return 0;
}
