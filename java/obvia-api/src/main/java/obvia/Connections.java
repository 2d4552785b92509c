package obvia;

/**
 * How many connections this process has, by what they cost.
 *
 * @param hot others' connections that have a thread
 * @param virtual those of them whose thread is a virtual one
 * @param warm others' connections that nothing has come on for a while: one thread looks at all of them
 * @param calling this process's own to others, for calls
 * @param cooled own ones that were ended since the process began because they held memory and nobody called
 * @param closed own ones that were ended since then because nobody called for long
 */
public record Connections(int hot, int virtual, int warm, int calling, long cooled, long closed) {}
