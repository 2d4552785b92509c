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
    HRESULT result = container->FindConnectionPoint(&obvia::iid_of<IEventSink>(), found);
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

class EventSource final : public obvia::implements<EventSource, IEventSource, obvia::connection_points<IEventSink>> {
public:
    HRESULT Fire(int32_t value, uint32_t *received) override
    {
        *received = fire<IEventSink>([&](const obvia::com_ptr<IEventSink> &sink) { return sink->OnEvent(value); });
        return S_OK;
    }
    HRESULT Post(int32_t value, uint32_t *dropped) override
    {
        *dropped = post<IEventSink>([value](const obvia::com_ptr<IEventSink> &sink) { return sink->OnEvent(value); });
        return S_OK;
    }
    HRESULT Sinks(uint32_t *count) override
    {
        *count = point<IEventSink>().sinks();
        return S_OK;
    }
    HRESULT Point(IConnectionPoint **found, uint32_t *count, CONNECTDATA **connections) override
    {
        return point_of(this, found, count, connections);
    }
};

class EventSourceWithValues : public obvia::implementation<IEventSource, obvia::connection_points<IEventSink>> {
public:
    uint32_t Fire(int32_t value) override
    {
        return fire<IEventSink>([&](const obvia::object<IEventSink> &sink) { sink.OnEvent(value); });
    }
    uint32_t Post(int32_t value) override
    {
        return post<IEventSink>([value](const obvia::object<IEventSink> &sink) { sink.OnEvent(value); });
    }
    uint32_t Sinks() override { return point<IEventSink>().sinks(); }
    IEventSource_Point_results Point() override
    {
        IEventSource_Point_results results;
        obvia::owned_array<CONNECTDATA> connections;
        const auto container = self().as<IConnectionPointContainer>();
        obvia::check(point_of(container.get(), results.point.put(), connections.count(), connections.put()));
        results.connections = obvia::array<CONNECTDATA>::copy({connections.data(), connections.size()});
        return results;
    }
};

// A sink that records events. If the sink has its own connection, an event ends that connection.
class EventSink final : public obvia::implements<EventSink, IEventSink> {
public:
    explicit EventSink(std::atomic<int32_t> &received, obvia::connection *own = nullptr) : received_(received), own_(own) {}
    HRESULT OnEvent(int32_t value) override
    {
        received_ = value;
        return own_ ? own_->try_unadvise() : S_OK;
    }

private:
    std::atomic<int32_t> &received_;
    obvia::connection *own_;
};

// Counts connections by COM's enumerator.
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

void check_points(const obvia::object<IEventSource> &source, uint32_t connected)
{
    const auto container = source.as<IConnectionPointContainer>();
    obvia::com_ptr<IEnumConnectionPoints> all;
    obvia::check(container->EnumConnectionPoints(all.put()));
    obvia::com_ptr<IConnectionPoint> point;
    uint32_t fetched = 0;
    CHECK(all->Next(1, point.put(), &fetched) == S_OK && fetched == 1);
    GUID iid;
    obvia::check(point->GetConnectionInterface(&iid));
    CHECK(obvia_is_equal(&iid, &obvia::iid_of<IEventSink>()));
    CHECK(connections_of(point.get()) == connected);
    obvia::com_ptr<IConnectionPoint> none;
    CHECK(all->Next(1, none.put(), &fetched) == S_FALSE && fetched == 0 && !none);
    obvia::com_ptr<IConnectionPointContainer> owner;
    obvia::check(point->GetConnectionPointContainer(owner.put()));
    CHECK(owner.as<IEventSource>() == source);
    CHECK(container->FindConnectionPoint(&obvia::iid_of<IEventSource>(), none.put()) == CONNECT_E_NOCONNECTION);
    CHECK(point->Advise(container.get(), &fetched) == CONNECT_E_CANNOTCONNECT);
    CHECK(point->Unadvise(0) == CONNECT_E_NOCONNECTION);
}

void becomes(const std::atomic<int32_t> &received, int32_t wanted)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (received != wanted) {
        CHECK(std::chrono::steady_clock::now() < end);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void check_events(const obvia::object<IEventSource> &source)
{
    std::atomic<int32_t> first{0}, second{0}, once{0};
    check_points(source, 0);
    obvia::connection kept = obvia::advise(source, obvia::make<EventSink>(first));
    {
        const obvia::connection other = obvia::advise(source, obvia::make<EventSink>(second));
        obvia::connection ends;
        ends = obvia::advise(source, obvia::make<EventSink>(once, &ends));
        CHECK(source.Sinks() == 3);
        check_points(source, 3);
        CHECK(source.Fire(5) == 3);
        CHECK(first == 5 && second == 5 && once == 5);
        CHECK(source.Fire(6) == 2 && once == 5);
    }
    CHECK(source.Fire(7) == 1 && first == 7 && second == 6);
    CHECK(source.Post(8) == 0);
    becomes(first, 8);
    const auto [point, connections] = source.Point();
    CHECK(connections.size() == 1 && connections_of(point.get()) == 1);
    kept.unadvise();
    CHECK(source.Fire(9) == 0 && source.Sinks() == 0 && first == 8);
}

} // namespace

int main(int count, char **words)
{
    if (count == 2 && std::string(words[1]) == "serve") {
        const obvia::served served[] = {
            obvia::serve<IEventSource>("plain", obvia::make<EventSource>()),
            obvia::serve<IEventSource>("valued", obvia::make<EventSourceWithValues>()),
        };
        std::puts("serving");
        std::fflush(stdout);
        while (std::getchar() != EOF) {
        }
        return 0;
    }
    for (const char *name : {"plain", "valued"}) {
        check_events(obvia::connect<IEventSource>(name));
    }
    // The same test with a source of this process.
    check_events(obvia::make<EventSource>());
    check_events(obvia::make<EventSourceWithValues>());
    std::puts("ok");
}
