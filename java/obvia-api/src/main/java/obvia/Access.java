package obvia;

/** A rule that decides which callers may call an object or create objects of a class. */
@FunctionalInterface
public interface Access {
    /**
     * Whether the caller has access. Any thread asks in the course of a call: the rule answers from
     * memory and makes no calls itself. A positive answer is cached until a rule is changed. A rule
     * that throws an exception denies access.
     *
     * @param caller the caller of the method, or the process that asks for an object
     * @return true if access is granted
     */
    boolean permits(Caller caller);
}
