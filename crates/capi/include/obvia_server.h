/* A server loop that the program provides. The loop determines on which thread and in which order a
 * connection's calls are performed.
 *
 * Without such a loop, the runtime serves each connection on a thread of its own; an idle
 * connection over shared memory has no thread. With a loop, the runtime accepts connections,
 * performs the greeting, and hands each connection over. The following loop serves connections as
 * the runtime does, each by one thread:
 *
 *     static void serve(obvia_connection *connection, void *context)
 *     {
 *         obvia_call *call = obvia_reply_and_wait(connection, OBVIA_NO_ANSWER);
 *         while (call) {
 *             call = obvia_reply_and_wait(connection, obvia_dispatch(connection, call));
 *         }
 *         obvia_close(connection);
 *     }
 *     ...
 *     obvia_set_server_loop(serve, NULL);
 *
 * obvia_dispatch() is inline, so the program determines all steps between two hand-overs to the
 * transport. For example, the loop can examine call->opnum and call->frame before the dispatch, and
 * count, measure or refuse the call. The loop can also pass a connection on to another thread,
 * which must call obvia_enter() before it dispatches a call.
 */
#ifndef OBVIA_SERVER_H
#define OBVIA_SERVER_H

#include "obvia_stub.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A cached target of calls: an interface pointer and its stubs. */
typedef struct obvia_place {
    uint64_t target;
    void *object;
    obvia_stub *const *stubs;
    /* The length of the table of stubs, a power of two, minus 1. The mask keeps opnums within the
     * table. */
    size_t mask;
} obvia_place;

/* The places that may be used without another lookup. `target` is the target of the last lookup,
 * whose place may be used. `valid` is the number of usable places at the front of
 * `obvia_connection.places`. Other threads reset both fields when places become invalid. */
typedef struct obvia_known {
    uint64_t target;
    uint32_t valid;
} obvia_known;

/* A connection. One thread at a time uses it. A thread that dispatches a call which another thread
 * has received must first call obvia_enter(). */
typedef struct obvia_connection {
    const obvia_known *known;
    const obvia_place *places;
    /* The place of the target of the last lookup. */
    obvia_place last;
} obvia_connection;

/* Serves an accepted connection, on a thread of its own. The connection must be closed, by this
 * function or later by another thread. */
typedef void obvia_server_loop(obvia_connection *connection, void *context);

/* Sets the loop that serves connections accepted from now on; NULL restores the runtime's loop. */
void obvia_set_server_loop(obvia_server_loop *loop, void *context);

/* The argument of the first obvia_reply_and_wait() on a connection, when there is no call to
 * answer. */
#define OBVIA_NO_ANSWER ((obvia_answer)0)

/* Answers the call that was received last, and waits for the next call. The returned call may be
 * used until it is answered. Returns NULL if the connection has ended. This is the hand-over to the
 * transport. */
OBVIA_HOT obvia_call *obvia_reply_and_wait(obvia_connection *connection, obvia_answer answer);

/* Enters a connection: makes its client the caller of this thread, until the thread enters another
 * connection. obvia_reply_and_wait() enters its connection for the thread that receives the call. A
 * thread to which a received call is passed on must call this function before obvia_dispatch():
 * otherwise methods run for the client of the thread's last call. The process ends if a thread
 * dispatches the first call of a target without having entered the connection. NULL leaves the
 * thread without a caller. */
void obvia_enter(const obvia_connection *connection);

/* Performs the call that was received last, if its target is not cached. The call is one of the
 * runtime's own calls, or the first call of its target. */
obvia_answer obvia_dispatch_slowly(obvia_connection *connection);

/* Ends a connection. If its client is the caller of this thread, the thread is left without a
 * caller. NULL is ignored. */
void obvia_close(obvia_connection *connection);

/* Finds the object and the stub of a call, and performs it. */
static inline obvia_answer obvia_dispatch(obvia_connection *connection, obvia_call *call)
{
    const uint64_t target = call->target;
    const uint32_t index = (uint32_t)target;
    if (OBVIA_LIKELY(target == __atomic_load_n(&connection->known->target, __ATOMIC_ACQUIRE))) {
        const obvia_place *place = &connection->last;
        return place->stubs[call->opnum & place->mask](place->object, call);
    }
    if (index < __atomic_load_n(&connection->known->valid, __ATOMIC_ACQUIRE)) {
        const obvia_place *place = &connection->places[index];
        if (OBVIA_LIKELY(place->target == target)) {
            return place->stubs[call->opnum & place->mask](place->object, call);
        }
    }
    return obvia_dispatch_slowly(connection);
}

#ifdef __cplusplus
}
#endif

#endif
