/* Events: objects call the sinks that clients have registered. The registration is by COM's
 * connection points, whose interfaces are in ocidl.h.
 *
 * A source of events has a connection point for each interface that it calls. The source also has
 * IConnectionPointContainer, whose two methods it implements by obvia_enumerate_connection_points()
 * and obvia_find_connection_point(). A client passes a sink, which is an object that has the
 * interface, to obvia_advise().
 */
#ifndef OBVIA_EVENTS_H
#define OBVIA_EVENTS_H

#include "ocidl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONNECT_E_NOCONNECTION ((HRESULT)0x80040200)
#define CONNECT_E_ADVISELIMIT ((HRESULT)0x80040201)
#define CONNECT_E_CANNOTCONNECT ((HRESULT)0x80040202)

/* ---- Sources of events ---- */

/* A connection point: the sinks of one interface's events. Any thread may use a connection
 * point. */
typedef struct obvia_connection_point obvia_connection_point;

/* The limits of a connection point. */
typedef struct obvia_event_limits {
    uint32_t sinks; /* the maximum number of sinks: 1024 by default */
    uint32_t timeout_ms; /* the time limit of a sink for one event: 5000 */
    uint32_t unanswered; /* the number of consecutive timeouts that disconnect a sink: 3 */
    uint32_t queued; /* the maximum length of a sink's queue, which drops the oldest event: 256 */
} obvia_event_limits;

/* Creates a connection point without sinks for an interface. `limits` may be NULL. */
HRESULT obvia_new_connection_point(const obvia_interface *interface, const obvia_event_limits *limits, obvia_connection_point **point);

/* Frees a connection point; its interface pointers that were handed out stay usable. NULL is
 * ignored. */
void obvia_free_connection_point(obvia_connection_point *point);

/* Implement FindConnectionPoint() and EnumConnectionPoints() of the object `container`, which has
 * these connection points. The results keep `container` alive. */
HRESULT obvia_find_connection_point(
    IConnectionPointContainer *container, obvia_connection_point *const *points, size_t count, const IID *iid, IConnectionPoint **found);
HRESULT obvia_enumerate_connection_points(
    IConnectionPointContainer *container, obvia_connection_point *const *points, size_t count, IEnumConnectionPoints **enumerator);

/* Returns the number of connected sinks. */
uint32_t obvia_sinks(const obvia_connection_point *point);

/* Calls a method of a sink. `sink` is an interface pointer to the sink, of the connection point's
 * interface; the function does not own a reference to it. Returns the method's HRESULT. */
typedef HRESULT (*obvia_event)(void *context, void *sink);

/* Calls every sink that is currently connected, one after the other, on this thread. Returns the
 * number of successful calls. Each call has a time limit of its own. A sink is disconnected if its
 * process or object is gone, or if it has timed out too often. No lock is held during the calls:
 * any thread, and the sinks themselves, may connect and disconnect sinks. */
uint32_t obvia_fire(const obvia_connection_point *point, obvia_event event, void *context);

/* Queues a call of every sink, and does not wait for the calls. Each sink has a queue of its own,
 * and a thread of its own while the queue is not empty. So several threads can call `event`
 * concurrently. Posted events reach a sink in order. Returns the number of sinks whose queue has
 * dropped an event. `release`, unless it is NULL, is called once, by any thread, after the last use
 * of `context`. */
uint32_t obvia_post(const obvia_connection_point *point, obvia_event event, void *context, void (*release)(void *context));

/* ---- Sinks ---- */

/* A sink's connection to a source. */
typedef struct obvia_sink_connection obvia_sink_connection;

/* Connects a sink, an object that implements `interface`, to the events of `source` (AtlAdvise). */
HRESULT obvia_advise(IUnknown *source, const obvia_interface *interface, void *sink, obvia_sink_connection **connection);

/* Ends a connection. Fails if the source does not confirm the end. The connection is freed in any
 * case. NULL is ignored. */
HRESULT obvia_unadvise(obvia_sink_connection *connection);

/* Ends a connection within five seconds, and reports no failure. */
void obvia_free_connection(obvia_sink_connection *connection);

#ifdef __cplusplus
}
#endif

#endif
