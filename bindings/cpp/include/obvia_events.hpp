// obvia for C++17: events, by COM's connection points.
//
// A source of events has a base connection_points, and calls the connected sinks:
//
//     class Ticker final : public obvia::implements<Ticker, ITicker, obvia::connection_points<IPriceEvents>> {
//         void changed(double price)
//         {
//             fire<IPriceEvents>([&](const obvia::com_ptr<IPriceEvents> &sink) { return sink->Changed(price); });
//         }
//     };
//
// With values, the base is `obvia::implementation<ITicker,
// obvia::connection_points<IPriceEvents>>`, and the event takes `const obvia::object<IPriceEvents>
// &sink` and calls `sink.Changed(price)`.
//
// A client connects a sink, an object that has the interface, for the lifetime of the connection:
//
//     obvia::connection connection = obvia::advise(ticker, obvia::make<Printer>());
#ifndef OBVIA_EVENTS_HPP
#define OBVIA_EVENTS_HPP

#include "obvia_events.h"
#include "obvia_values.hpp"

#include <tuple>

namespace obvia {

// The sinks of one interface's events. Copies are the same connection point, and any thread may use
// them.
template <class I> class connection_point {
public:
    connection_point() : connection_point(nullptr) {}
    explicit connection_point(const obvia_event_limits &limits) : connection_point(&limits) {}

    // Returns the number of connected sinks.
    uint32_t sinks() const noexcept { return obvia_sinks(get()); }

    // Calls every sink that is currently connected, on this thread: see obvia_fire(). The event
    // gets a pointer to the sink, and returns the method's HRESULT, or returns nothing and throws.
    // Returns the number of successful calls.
    template <class Event> uint32_t fire(Event &&event) const
    {
        using Called = std::remove_reference_t<Event>;
        return obvia_fire(get(), tell<Called>, const_cast<void *>(static_cast<const void *>(std::addressof(event))));
    }

    // Queues a call of every sink, and does not wait for the calls: see obvia_post(). Each sink is
    // called by a thread of its own, so several threads can call the event concurrently. Returns
    // the number of sinks whose queue has dropped an event.
    template <class Event> uint32_t post(Event event) const
    {
        const auto release = [](void *context) { delete static_cast<const Event *>(context); };
        return obvia_post(get(), tell<const Event>, new Event(std::move(event)), release);
    }

    obvia_connection_point *get() const noexcept { return point_.get(); }

private:
    explicit connection_point(const obvia_event_limits *limits)
    {
        obvia_connection_point *made = nullptr;
        check(obvia_new_connection_point(info_of<I>(), limits, &made));
        point_.reset(made, obvia_free_connection_point);
    }

    template <class Event> static HRESULT tell(void *context, void *sink) noexcept
    {
        return guard([&] { return (*static_cast<Event *>(context))(com_ptr<I>(static_cast<I *>(sink))); });
    }

    std::shared_ptr<obvia_connection_point> point_;
};

// The connection points of an object, one for each interface.
template <class... Events> class event_points {
public:
    template <class I> const connection_point<I> &point() const noexcept { return std::get<connection_point<I>>(points_); }
    template <class I, class Event> uint32_t fire(Event &&event) const { return point<I>().fire(std::forward<Event>(event)); }
    template <class I, class Event> uint32_t post(Event &&event) const { return point<I>().post(std::forward<Event>(event)); }

    // Implements the methods of the object's IConnectionPointContainer.
    HRESULT find(IConnectionPointContainer *container, const GUID *iid, IConnectionPoint **found) const noexcept
    {
        obvia_connection_point *const all[] = {point<Events>().get()...};
        return obvia_find_connection_point(container, all, sizeof...(Events), iid, found);
    }
    HRESULT enumerate(IConnectionPointContainer *container, IEnumConnectionPoints **enumerator) const noexcept
    {
        obvia_connection_point *const all[] = {point<Events>().get()...};
        return obvia_enumerate_connection_points(container, all, sizeof...(Events), enumerator);
    }

protected:
    event_points() = default;
    ~event_points() = default;

private:
    std::tuple<connection_point<Events>...> points_;
};

// An additional base of a source of events, for the interfaces `Events` of its sinks. The base is
// an argument of obvia::implements or obvia::implementation.
template <class... Events> class connection_points : public IConnectionPointContainer, public event_points<Events...> {
public:
    using obvia_raw = IConnectionPointContainer;

    HRESULT EnumConnectionPoints(IEnumConnectionPoints **enumerator) override { return this->enumerate(this, enumerator); }
    HRESULT FindConnectionPoint(const GUID *iid, IConnectionPoint **found) override { return this->find(this, iid, found); }

protected:
    connection_points() = default;
    ~connection_points() = default;
};

// The part of an adapter that implements IConnectionPointContainer. The adapted object holds the
// connection points.
template <class Made> struct connection_points_adapter : IConnectionPointContainer {
    using obvia_raw = IConnectionPointContainer;

    HRESULT EnumConnectionPoints(IEnumConnectionPoints **enumerator) override
    {
        return static_cast<Made *>(this)->value().enumerate(this, enumerator);
    }
    HRESULT FindConnectionPoint(const GUID *iid, IConnectionPoint **found) override
    {
        return static_cast<Made *>(this)->value().find(this, iid, found);
    }
};

} // namespace obvia

template <class... Events> struct obvia_values_of<obvia::connection_points<Events...>> {
    template <class Object> using calls = obvia::no_calls<Object>;
    using methods = obvia::event_points<Events...>;
    template <class Made, class> using adapter = obvia::connection_points_adapter<Made>;
};

namespace obvia {

// A sink's connection to a source; the destructor ends it.
class connection {
public:
    connection() noexcept = default;
    explicit connection(obvia_sink_connection *made) noexcept : connection_(made) {}

    void reset() noexcept { connection_.reset(); }
    explicit operator bool() const noexcept { return connection_ != nullptr; }

    // Ends the connection, and returns whether the source has confirmed it.
    HRESULT try_unadvise() noexcept { return obvia_unadvise(connection_.release()); }
    void unadvise() { check(try_unadvise()); }

private:
    struct end {
        void operator()(obvia_sink_connection *made) const noexcept { obvia_free_connection(made); }
    };
    std::unique_ptr<obvia_sink_connection, end> connection_;
};

// Connects a sink to an object, for the events of the sink's interface.
template <class Source, class I>
HRESULT try_advise(const com_ptr<Source> &source, const com_ptr<I> &sink, connection &made) noexcept
{
    obvia_sink_connection *connected = nullptr;
    const HRESULT result = obvia_advise(source.get(), info_of<I>(), sink.get(), &connected);
    made = connection(connected);
    return result;
}
template <class Source, class I> [[nodiscard]] connection advise(const com_ptr<Source> &source, const com_ptr<I> &sink)
{
    connection made;
    check(try_advise(source, sink, made));
    return made;
}

} // namespace obvia

#endif
