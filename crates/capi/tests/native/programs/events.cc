// Events. `events serve` exports two sources, one of which has methods with values; `events hear`
// connects sinks to both.
#include "events_values.hpp"

#include <obvia_events.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "events.cc:%d: %s: %s\n", line, what, obvia_error_text(E_FAIL));
    std::exit(1);
}

namespace {

// Returns a connection point of a container, and its connections.
HRESULT point_of(IConnectionPointContainer *container, IConnectionPoint **found, uint32_t *count, CONNECTDATA **connections)
{
    HRESULT result = container->FindConnectionPoint(&obvia::iid_of<IHearer>(), found);
    if (result >= 0) {
        obvia::com_ptr<IEnumConnections> all;
        obvia::check((*found)->EnumConnections(all.put()));
        CONNECTDATA data[4];
        obvia::check(all->Next(4, data, count));
        result = CONNECTDATA_copy(data, *count, connections);
        CONNECTDATA_clear(data, *count);
    }
    return result;
}

class Speaker final : public obvia::implements<Speaker, ISpeaker, obvia::connection_points<IHearer>> {
public:
    HRESULT Say(int32_t value, uint32_t *heard) override
    {
        *heard = fire<IHearer>([&](const obvia::com_ptr<IHearer> &hearer) { return hearer->Said(value); });
        return S_OK;
    }
    HRESULT Whisper(int32_t value, uint32_t *lost) override
    {
        *lost = post<IHearer>([value](const obvia::com_ptr<IHearer> &hearer) { return hearer->Said(value); });
        return S_OK;
    }
    HRESULT Hearers(uint32_t *count) override
    {
        *count = point<IHearer>().sinks();
        return S_OK;
    }
    HRESULT Point(IConnectionPoint **found, uint32_t *count, CONNECTDATA **connections) override
    {
        return point_of(this, found, count, connections);
    }
};

class Valued : public obvia::implementation<ISpeaker, obvia::connection_points<IHearer>> {
public:
    uint32_t Say(int32_t value) override
    {
        return fire<IHearer>([&](const obvia::object<IHearer> &hearer) { hearer.Said(value); });
    }
    uint32_t Whisper(int32_t value) override
    {
        return post<IHearer>([value](const obvia::object<IHearer> &hearer) { hearer.Said(value); });
    }
    uint32_t Hearers() override { return point<IHearer>().sinks(); }
    ISpeaker_Point_results Point() override
    {
        ISpeaker_Point_results results;
        obvia::owned_array<CONNECTDATA> connections;
        const auto container = self().as<IConnectionPointContainer>();
        obvia::check(point_of(container.get(), results.point.put(), connections.count(), connections.put()));
        results.connections = obvia::array<CONNECTDATA>::copy({connections.data(), connections.size()});
        return results;
    }
};

// Records events. If the sink has its own connection, the event ends that connection.
class Hearer final : public obvia::implements<Hearer, IHearer> {
public:
    explicit Hearer(std::atomic<int32_t> &heard, obvia::connection *own = nullptr) : heard_(heard), own_(own) {}
    HRESULT Said(int32_t value) override
    {
        heard_ = value;
        return own_ ? own_->try_unadvise() : S_OK;
    }

private:
    std::atomic<int32_t> &heard_;
    obvia::connection *own_;
};

// Counts connections in the traditional way of COM programs.
uint32_t connections_of(IConnectionPoint *point)
{
    obvia::com_ptr<IEnumConnections> all;
    obvia::check(point->EnumConnections(all.put()));
    uint32_t count = 0, fetched = 0;
    CONNECTDATA data;
    while (all->Next(1, &data, &fetched) == S_OK) {
        CHECK(fetched == 1 && data.pUnk && data.dwCookie != 0);
        CONNECTDATA_clear(&data, 1);
        count++;
    }
    CHECK(fetched == 0);
    return count;
}

void points_are_told(const obvia::object<ISpeaker> &speaker, uint32_t connected)
{
    const auto container = speaker.as<IConnectionPointContainer>();
    obvia::com_ptr<IEnumConnectionPoints> all;
    obvia::check(container->EnumConnectionPoints(all.put()));
    obvia::com_ptr<IConnectionPoint> point;
    uint32_t fetched = 0;
    CHECK(all->Next(1, point.put(), &fetched) == S_OK && fetched == 1);
    GUID iid;
    obvia::check(point->GetConnectionInterface(&iid));
    CHECK(obvia_is_equal(&iid, &obvia::iid_of<IHearer>()));
    CHECK(connections_of(point.get()) == connected);
    obvia::com_ptr<IConnectionPoint> none;
    CHECK(all->Next(1, none.put(), &fetched) == S_FALSE && fetched == 0 && !none);
    obvia::com_ptr<IConnectionPointContainer> owner;
    obvia::check(point->GetConnectionPointContainer(owner.put()));
    CHECK(owner.as<ISpeaker>() == speaker);
    CHECK(container->FindConnectionPoint(&obvia::iid_of<ISpeaker>(), none.put()) == CONNECT_E_NOCONNECTION);
    CHECK(point->Advise(container.get(), &fetched) == CONNECT_E_CANNOTCONNECT);
    CHECK(point->Unadvise(0) == CONNECT_E_NOCONNECTION);
}

void becomes(const std::atomic<int32_t> &heard, int32_t wanted)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (heard != wanted) {
        CHECK(std::chrono::steady_clock::now() < end);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void hears(const obvia::object<ISpeaker> &speaker)
{
    std::atomic<int32_t> first{0}, second{0}, once{0};
    points_are_told(speaker, 0);
    obvia::connection kept = obvia::advise(speaker, obvia::make<Hearer>(first));
    {
        const obvia::connection other = obvia::advise(speaker, obvia::make<Hearer>(second));
        obvia::connection ends;
        ends = obvia::advise(speaker, obvia::make<Hearer>(once, &ends));
        CHECK(speaker.Hearers() == 3);
        points_are_told(speaker, 3);
        CHECK(speaker.Say(5) == 3);
        CHECK(first == 5 && second == 5 && once == 5);
        CHECK(speaker.Say(6) == 2 && once == 5);
    }
    CHECK(speaker.Say(7) == 1 && first == 7 && second == 6);
    CHECK(speaker.Whisper(8) == 0);
    becomes(first, 8);
    const auto [point, connections] = speaker.Point();
    CHECK(connections.size() == 1 && connections_of(point.get()) == 1);
    kept.unadvise();
    CHECK(speaker.Say(9) == 0 && speaker.Hearers() == 0 && first == 8);
}

} // namespace

int main(int count, char **words)
{
    if (count == 2 && std::string(words[1]) == "serve") {
        const obvia::served served[] = {
            obvia::serve<ISpeaker>("plain", obvia::make<Speaker>()),
            obvia::serve<ISpeaker>("valued", obvia::make<Valued>()),
        };
        std::puts("serving");
        std::fflush(stdout);
        while (std::getchar() != EOF) {
        }
        return 0;
    }
    for (const char *name : {"plain", "valued"}) {
        hears(obvia::connect<ISpeaker>(name));
    }
    // The same test in one process.
    hears(obvia::make<Speaker>());
    hears(obvia::make<Valued>());
    std::puts("ok");
}
