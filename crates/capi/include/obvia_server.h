/* A server loop that the program owns: who takes the calls of a connection, in which order, on which thread.
 *
 * Without one, the runtime serves each connection by a thread of its own. With one, it accepts connections, greets, and hands
 * each over; the loop below is what the runtime would do:
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
 * obvia_dispatch() is inline, and everything between two hand-overs to the transport is the program's to change: it can look
 * at call->opnum and call->frame before it dispatches, count, time, refuse, or put a connection aside for another thread.
 */
#ifndef OBVIA_SERVER_H
#define OBVIA_SERVER_H

#include "obvia_stub.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One interface pointer that calls can be for. */
typedef struct obvia_place {
    uint64_t target;
    void *object;
    obvia_stub *const *stubs;
    /* What an opnum is masked with: the table of stubs is as long as a power of two. */
    size_t mask;
} obvia_place;

/* What may be used without another look at the table of objects: the target that was asked for last, and so many of the places.
 * Other threads set them to none. */
typedef struct obvia_known {
    uint64_t target;
    uint32_t valid;
} obvia_known;

/* A connection. Used by one thread at a time. */
typedef struct obvia_connection {
    const obvia_known *known;
    const obvia_place *places;
    /* The place of the target that was asked for last. */
    obvia_place last;
} obvia_connection;

/* Serves a connection that was accepted, on a thread of its own, and closes it, here or later on another thread. */
typedef void obvia_server_loop(obvia_connection *connection, void *context);

/* Has connections that are accepted from now on served by a loop; by the runtime's again with NULL. */
void obvia_set_server_loop(obvia_server_loop *loop, void *context);

/* What the first turn of a loop answers with: there is nothing to answer. */
#define OBVIA_NO_ANSWER ((obvia_answer)0)

/* Answers the call that was taken last, and waits for the next one, which is the caller's until then. NULL when the connection
 * has ended. This is the hand-over to the transport. */
OBVIA_HOT obvia_call *obvia_reply_and_wait(obvia_connection *connection, obvia_answer answer);

/* Performs the call that was taken last, whose target is not at hand: one of the runtime's own, or the first of a target. */
obvia_answer obvia_dispatch_slowly(obvia_connection *connection);

/* Ends a connection. */
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
