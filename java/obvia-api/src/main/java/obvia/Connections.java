package obvia;

/**
 * The numbers of this process's connections, by state.
 *
 * @param hot the accepted connections that have a thread
 * @param virtual the hot connections whose thread is virtual
 * @param warm the accepted connections that have been idle for a while; one thread polls all of
 *     them
 * @param calling the connections that this process has opened for its own calls
 * @param cooled the connections for this process's own calls that were closed since its start
 *     because they held memory while idle
 * @param closed the connections for this process's own calls that were closed since its start
 *     because they were idle for long
 */
public record Connections(int hot, int virtual, int warm, int calling, long cooled, long closed) {}
