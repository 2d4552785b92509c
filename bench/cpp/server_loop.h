// The server loop of these programs: the loop in obvia_server.h, compiled into the program itself.
#pragma once

#include <obvia_server.h>

extern "C" inline void serve_connection(obvia_connection *connection, void *)
{
    obvia_call *call = obvia_reply_and_wait(connection, OBVIA_NO_ANSWER);
    while (call) {
        call = obvia_reply_and_wait(connection, obvia_dispatch(connection, call));
    }
    obvia_close(connection);
}
