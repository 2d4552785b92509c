package obvia;

/** A rule that decides which callers may call an object or create objects of a class. */
@FunctionalInterface
public interface Access {
    /**
     * Whether the caller has access. The thread that performs a call evaluates the rule. Therefore
     * the rule must be thread-safe, must use only data in memory, and must make no calls itself. A
     * positive answer may be cached until a rule is changed. A rule that throws an exception denies
     * access.
     *
     * @param caller the caller of the method, or the process that asks for an object
     * @return true if access is granted
     */
    boolean permits(Caller caller);
}
