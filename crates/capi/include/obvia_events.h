/* Events: objects that call others which asked for it, by COM's connection points, whose interfaces are in ocidl.h.
 *
 * An object that tells of events has a connection point for each interface that it calls, and IConnectionPointContainer, whose two methods are
 * obvia_enumerate_connection_points() and obvia_find_connection_point(). Whoever wants to be called passes an object that has the interface, a
 * sink, to obvia_advise().
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

/* ---- Objects that tell of events ---- */

/* The sinks for one interface's events, and the way to call them. Any thread may use it. */
typedef struct obvia_connection_point obvia_connection_point;

/* How much a connection point takes upon itself. */
typedef struct obvia_event_limits {
    uint32_t sinks; /* how many sinks there may be: 1024 where nobody says otherwise */
    uint32_t timeout_ms; /* how long a sink may take for one event: 5000 */
    uint32_t unanswered; /* how many events in a row a sink may fail to answer in time until its connection ends: 3 */
    uint32_t queued; /* how many posted events may wait for a sink; where there would be more, it loses the oldest: 256 */
} obvia_event_limits;

/* A connection point without sinks, for an interface. `limits` may be NULL. */
HRESULT obvia_new_connection_point(const obvia_interface *interface, const obvia_event_limits *limits, obvia_connection_point **point);

/* What has been handed out of it goes on. NULL is ignored. */
void obvia_free_connection_point(obvia_connection_point *point);

/* FindConnectionPoint() and EnumConnectionPoints() of an object that has these connection points. What they return keeps `container`. */
HRESULT obvia_find_connection_point(
    IConnectionPointContainer *container, obvia_connection_point *const *points, size_t count, const IID *iid, IConnectionPoint **found);
HRESULT obvia_enumerate_connection_points(
    IConnectionPointContainer *container, obvia_connection_point *const *points, size_t count, IEnumConnectionPoints **enumerator);

/* How many sinks are connected. */
uint32_t obvia_sinks(const obvia_connection_point *point);

/* Calls a sink's method. `sink` is a pointer to the connection point's interface, which is not counted. Returns what the method did. */
typedef HRESULT (*obvia_event)(void *context, void *sink);

/* Calls every sink that is connected now, one after the other, on this thread. Returns how many took it. Each call has a time limit of its
 * own. A sink whose process or object is gone is disconnected, and so is one that has not answered in time too often. Nothing is locked
 * meanwhile: sinks may connect and disconnect any, themselves too, by any thread. */
uint32_t obvia_fire(const obvia_connection_point *point, obvia_event event, void *context);

/* Has every sink called, and does not wait for it: each has a queue, and a thread that calls it while there is something in it, so `event`
 * is called by several threads at once. Posted events reach a sink in their order. Returns how many sinks lost an event by it. `release`, unless
 * it is NULL, is called once, by any thread, when `context` is used no more. */
uint32_t obvia_post(const obvia_connection_point *point, obvia_event event, void *context, void (*release)(void *context));

/* ---- Sinks ---- */

/* A sink's connection with a source. */
typedef struct obvia_sink_connection obvia_sink_connection;

/* Has a sink, which has the interface, called when an object tells of its events (AtlAdvise). */
HRESULT obvia_advise(IUnknown *source, const obvia_interface *interface, void *sink, obvia_sink_connection **connection);

/* Ends a connection, and says whether that came about. It is freed in any case. NULL is ignored. */
HRESULT obvia_unadvise(obvia_sink_connection *connection);

/* The same without an answer, and within five seconds. */
void obvia_free_connection(obvia_sink_connection *connection);

#ifdef __cplusplus
}
#endif

#endif
