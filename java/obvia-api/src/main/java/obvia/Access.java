package obvia;

/** A rule that says who may call an object, or have objects of a class made. */
@FunctionalInterface
public interface Access {
    /**
     * Whether a caller may. It is asked on the way of a call, by any thread: it answers from what it knows, and makes no calls itself. That somebody may call is
     * remembered until a rule is changed. One that throws permits nothing.
     *
     * @param caller who calls, or would like to
     * @return true where it may
     */
    boolean permits(Caller caller);
}
