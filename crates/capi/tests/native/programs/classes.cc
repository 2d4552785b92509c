// Classes. `classes serve [BINDING]` registers classes, prints its binding, and ends when it is
// idle; `classes make [SERVER]` creates objects of these classes.
#include "specialised_values.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "classes.cc:%d: %s\n", line, what);
    std::exit(1);
}

namespace {

constexpr CLSID class_id(uint8_t last) { return {0x0d4f4c52, 0x0a34, 0x4ac4, {0x8d, 0x6c, 0x2c, 0x9f, 0x3a, 0x1f, 0x7a, last}}; }
constexpr CLSID TALLY = class_id(0x70), BROKEN = class_id(0x71), OWN = class_id(0x72), UNKNOWN = class_id(0x73);

class Tally : public obvia::implementation<ITally> {
public:
    explicit Tally(int32_t first = 0) : total_(first) {}
    int32_t Add(int32_t count) override { return total_ += count; }
    obvia::object<ITally> Other() override { return obvia::make<Tally>(total_ + 1000); }

private:
    std::atomic<int32_t> total_;
};

void serve(const char *binding)
{
    std::atomic<int32_t> made{0};
    const auto tally = obvia::register_class(TALLY, [&] { return obvia::make<Tally>(100 * ++made); }, obvia::make<Tally>(7).as<IUnknown>());
    const auto broken = obvia::register_class(BROKEN, []() -> obvia::com_ptr<ITally> { throw obvia::error(E_ACCESSDENIED, "not today"); });
    obvia::class_registration again;
    const auto other = [] { return obvia::com_ptr<ITally>(obvia::make<Tally>()); };
    CHECK(obvia::try_register_class(TALLY, other, again) == E_INVALIDARG && !again);
    std::puts(binding ? obvia::listen(binding).c_str() : "serving");
    std::fflush(stdout);
    {
        // Without the lock, this process would count as idle until the first client makes a
        // request.
        const obvia::server_lock lock;
        CHECK(std::getchar() == '\n');
    }
    obvia::serve_until_idle(std::chrono::milliseconds(200));
    std::printf("%d made\n", made.load());
}

HRESULT refusal(const CLSID &class_id, const char *server)
{
    obvia::com_ptr<ITally> none;
    const HRESULT result = obvia::try_create_instance(class_id, none, server);
    CHECK(!none);
    return result;
}

void make(const char *server)
{
    const obvia::object<ITally> first = obvia::create_instance<ITally>(TALLY, server);
    const obvia::object<ITally> second = obvia::create_instance<ITally>(TALLY, server);
    CHECK(first.Add(1) == 101 && second.Add(2) == 202 && first.Add(1) == 102);
    CHECK(first.Other().Add(0) == 1102);
    CHECK(!obvia::binding_of(first).empty());
    const obvia::object<ITally> class_object = obvia::get_class_object<ITally>(TALLY, server);
    CHECK(class_object.Add(0) == 7);
    CHECK(refusal(BROKEN, server) == E_ACCESSDENIED);
    CHECK(refusal(UNKNOWN, server) == REGDB_E_CLASSNOTREG);
    if (!server) {
        CHECK(obvia::object<ITally>(obvia::create_instance_in<ITally>(TALLY, OBVIA_LOCAL_SERVER)).Add(0) == 300);
        obvia::com_ptr<ITally> none;
        const HRESULT elsewhere = obvia_create_instance_in(&TALLY, OBVIA_INPROC_SERVER, &ITally_INFO, none.put_void());
        CHECK(elsewhere == REGDB_E_CLASSNOTREG);
        CLSID found;
        CHECK(obvia_class_named("Nobody.1", &found) == CO_E_CLASSSTRING);
    }
}

// Creates an object of a class that this process has registered. The end of the registration frees
// the class's factory.
void make_here()
{
    const auto made = std::make_shared<int32_t>(0);
    const std::weak_ptr<int32_t> kept = made;
    {
        const auto own = obvia::register_class(OWN, [made] { return obvia::make<Tally>(++*made); });
        const obvia::object<ITally> tally = obvia::create_instance<ITally>(OWN);
        CHECK(tally.Add(0) == 1 && obvia::binding_of(tally).empty());
        CHECK(kept.use_count() == 2);
    }
    CHECK(kept.use_count() == 1);
    CHECK(refusal(OWN, nullptr) == REGDB_E_CLASSNOTREG);
}

} // namespace

int main(int count, char **words)
{
    const std::string what = count > 1 ? words[1] : "";
    const char *where = count > 2 ? words[2] : nullptr;
    if (what == "serve") {
        serve(where);
        return 0;
    }
    make(where);
    make_here();
    std::puts("ok");
}
