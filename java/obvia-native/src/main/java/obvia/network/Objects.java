package obvia.network;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import obvia.Access;
import obvia.Caller;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;
import obvia.runtime.call.ErrorInfo;
import obvia.runtime.call.Fault;
import obvia.runtime.call.LimitedLog;

/**
 * The objects of this process that the library holds, by number, and the library's upcalls.
 *
 * <p>An exception or error that leaves an upcall ends the virtual machine. The upcalls therefore
 * catch all of them. Addresses are numbers here, because the virtual machine would allocate a
 * {@link MemorySegment} for an address before the upcall could catch the failure.
 */
final class Objects {
    private static final LimitedLog LOG = new LimitedLog();
    private static final Map<Object, Long> NUMBERS = new IdentityHashMap<>();
    private static final Map<Long, Object> OBJECTS = new ConcurrentHashMap<>();
    private static final Map<Long, Supplier<?>> MAKERS = new ConcurrentHashMap<>();
    private static final AtomicLong LAST_MAKER = new AtomicLong();
    private static final Map<Long, Access> RULES = new ConcurrentHashMap<>();
    private static final AtomicLong LAST_RULE = new AtomicLong();
    /** The rules of single objects, under the lock of {@link #NUMBERS}. */
    private static final Map<Object, OwnRule> OWN_RULES = new IdentityHashMap<>();
    private static long last;
    /**
     * The count of attempted replacements. The library admits a call by the rule of the object's
     * number, before {@link #perform} finds the object. If the object is replaced in between, the
     * call reaches an object by whose rule it was not checked. So each thread's first call after an
     * attempt is checked once more, by the rule of the object that {@link #find} returns.
     */
    private static volatile int replacements;
    /** Whether a release failed, so that {@link #OBJECTS} may have objects without handles. */
    private static boolean hasMissedRelease;

    private Objects() {}

    /** An object's own rule. */
    private static final class OwnRule {
        final Access rule;
        /** The object's number with which the library has the rule; 0 for none. */
        long told;

        OwnRule(Access rule, long told) {
            this.rule = rule;
            this.told = told;
        }
    }

    /** Creates a handle of an object of this process. */
    static long wrap(Object object) {
        // Without the lock, a concurrent release could remove the object before it has a handle.
        synchronized (NUMBERS) {
            long number = NUMBERS.computeIfAbsent(object, _ -> ++last);
            OBJECTS.put(number, object);
            long handle = Functions.wrap(number);
            boolean isRuled = false;
            try {
                tell(OWN_RULES.get(object), number);
                isRuled = true;
                return handle;
            } finally {
                if (!isRuled) {
                    Functions.release(handle);
                }
            }
        }
    }

    /** Passes an object's own rule, if any, on to the library, unless the library has it. */
    private static void tell(OwnRule own, long number) {
        if (own != null && own.told != number) {
            tellRule(number, own.rule);
            own.told = number;
        }
    }

    private static void tellRule(long number, Access rule) {
        long handle = Functions.wrap(number);
        try {
            Functions.setAccess(handle, addRule(rule));
        } finally {
            Functions.release(handle);
        }
    }

    /**
     * Sets an object's own rule, or removes it if {@code rule} is {@code null}. A rule in the
     * library is a reference to the object, so the library gets the rule with the object's first
     * handle.
     */
    static void setAccess(Object object, Access rule) {
        synchronized (NUMBERS) {
            Long number = NUMBERS.get(object);
            if (number != null) {
                tellRule(number, rule);
            }
            if (rule == null) {
                OWN_RULES.remove(object);
            } else {
                OWN_RULES.put(object, new OwnRule(rule, number == null ? 0 : number));
            }
        }
    }

    /** See {@link obvia.runtime.Network#replace}. */
    static void replace(Object former, Object object) {
        synchronized (NUMBERS) {
            Long number = NUMBERS.get(former);
            OwnRule inherited = OWN_RULES.get(former);
            OwnRule own = OWN_RULES.get(object);
            if (former == object) {
                return;
            }
            if (number == null) {
                if (own == null && inherited != null) {
                    setAccess(object, inherited.rule);
                }
                return;
            }
            // A rule of the new object is never taken away to find out whether other references
            // exist, because the default rule would apply in between.
            if (NUMBERS.containsKey(object)) {
                throw RpcException.of(Hresult.E_INVALIDARG, "the new object already has references of its own, so it cannot take over those of the former one");
            }
            // The count changes before the rules do. Calls that the library admits from now on until
            // the end of the replacement wait for the lock.
            replacements++;
            if (own == null && inherited != null) {
                OWN_RULES.put(object, new OwnRule(inherited.rule, inherited.told));
            }
            tell(OWN_RULES.get(object), number);
            if (inherited != null) {
                // The former object gets another number when it is next passed to the library.
                inherited.told = 0;
            }
            NUMBERS.remove(former);
            NUMBERS.put(object, number);
            OBJECTS.put(number, object);
        }
    }

    /**
     * Returns the object that a call is for.
     *
     * @throws Fault.Refused if the call may have been admitted by another rule than the object's
     *     own, which excludes the caller
     */
    private static Object find(long number, NativeCall call) {
        Object object = get(number);
        // The count is read after the object, because a replacement changes the count before the
        // object.
        if (call.replacements == replacements) {
            return object;
        }
        OwnRule own;
        synchronized (NUMBERS) {
            call.replacements = replacements;
            object = get(number);
            own = OWN_RULES.get(object);
        }
        Caller caller = own == null ? null : Functions.caller();
        if (caller != null && !permits(own.rule, caller)) {
            String who = caller.host() == null ? "process " + caller.process() : "host " + caller.host();
            LOG.warn("refused method " + call.opnum + " of an object of " + object.getClass().getName() + " to " + who, null);
            throw new Fault.Refused(Fault.ACCESS_DENIED);
        }
        return object;
    }

    private static boolean permits(Access rule, Caller caller) {
        try {
            return rule.permits(caller);
        } catch (RuntimeException e) {
            // A rule that fails denies access.
            return false;
        }
    }

    /** Returns the object of a number. */
    static Object get(long number) {
        Object object = OBJECTS.get(number);
        if (object == null) {
            throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "the object does not exist, or no longer exists");
        }
        return object;
    }

    /** Adds a factory of objects. Returns its new number. */
    static long addMaker(Supplier<?> make) {
        long number = LAST_MAKER.incrementAndGet();
        MAKERS.put(number, make);
        return number;
    }

    static void removeMaker(long number) {
        MAKERS.remove(number);
    }

    /** Adds a rule. Returns its new number; 0 for {@code null}. */
    static long addRule(Access rule) {
        if (rule == null) {
            return 0;
        }
        long number = LAST_RULE.incrementAndGet();
        RULES.put(number, rule);
        return number;
    }

    /**
     * Removes an object to which the library has no handle left. If the memory is exhausted, a
     * later release removes the object. Like the methods below, this method is an upcall of the
     * library.
     */
    static void released(long number) {
        synchronized (NUMBERS) {
            try {
                removeUnheld(number);
                if (hasMissedRelease) {
                    OBJECTS.keySet().forEach(Objects::removeUnheld);
                    hasMissedRelease = false;
                }
            } catch (Throwable e) {
                hasMissedRelease = true;
            }
        }
    }

    private static void removeUnheld(long number) {
        if (!Functions.isHeld(number)) {
            NUMBERS.remove(OBJECTS.remove(number));
        }
    }

    /** Whether an object has an interface. */
    static int isImplemented(long number, long iid) {
        try {
            Object object = OBJECTS.get(number);
            return Interfaces.find(Functions.guid(iid), object).type().isInstance(object) ? 1 : 0;
        } catch (Throwable e) {
            // The interface is unknown in this process, or memory is exhausted.
            return 0;
        }
    }

    /** Creates an object of a class and stores its handle. */
    static int make(long number, long place) {
        try {
            Supplier<?> make = MAKERS.get(number);
            if (make == null) {
                return Hresult.REGDB_E_CLASSNOTREG;
            }
            Functions.foreign(place, 8).set(JAVA_LONG, 0, wrap(make.get()));
            return Hresult.S_OK;
        } catch (Throwable e) {
            long answer = answer(e);
            // Activation has no stub data, so a fault status has no meaning here.
            return answer >>> 32 == 0 ? (int) answer : Hresult.RPC_E_SERVERFAULT;
        }
    }

    /** Whether a rule permits a caller: 1 or 0. */
    static int permits(long number, int process, int level, long words, long length) {
        try {
            return RULES.get(number).permits(Functions.caller(process, level, Functions.foreign(words, length))) ? 1 : 0;
        } catch (Throwable e) {
            // A rule that fails denies access.
            return 0;
        }
    }

    /** Removes a rule against which no call is checked any more. */
    static void dropRule(long number) {
        try {
            RULES.remove(number);
        } catch (Throwable e) {
            // Memory is exhausted: the rule stays in the table, and nothing uses it.
        }
    }

    /**
     * Performs a call. Small results, and the description of a failure, stay valid until this
     * thread's next call. The library owns large results.
     */
    static long perform(long number, long iid, int opnum, long request, long length, long said, long reply) {
        try {
            NativeCall call = NativeCall.enter(opnum, Functions.foreign(request, length));
            try {
                Object object = find(number, call);
                InterfaceInfo<?> info = Interfaces.find(Functions.guid(iid), object);
                Limit.hearing(said, () -> {
                    perform(object, info, call);
                    return null;
                });
                give(call, reply);
                return Integer.toUnsignedLong(call.result());
            } catch (Throwable e) {
                long answer = answer(e);
                if (answer >>> 32 == 0) {
                    tell(call, e, reply);
                }
                return answer;
            } finally {
                call.leave();
            }
        } catch (Throwable e) {
            return answer(e);
        }
    }

    private static void give(NativeCall call, long reply) {
        MemorySegment place = Functions.foreign(reply, 24);
        MemorySegment results = call.results();
        place.set(ADDRESS, 0, results);
        place.set(JAVA_LONG, 8, results.byteSize());
        place.set(JAVA_LONG, 16, call.giveRoom());
    }

    private static void tell(NativeCall call, Throwable why, long reply) {
        try {
            call.tell(ErrorInfo.frameOf(why, Functions.isOwnUser()));
            give(call, reply);
        } catch (Throwable e) {
            // Memory is exhausted: the failure gets no description.
        }
    }

    private static <T> void perform(Object object, InterfaceInfo<T> info, InCall call) throws Throwable {
        if (!info.type().isInstance(object)) {
            // The object has replaced another object that had the interface.
            throw RpcException.of(Hresult.E_NOINTERFACE);
        }
        info.stub().perform(info.type().cast(object), call);
    }

    private static long answer(Throwable why) {
        try {
            return InCall.answer(why);
        } catch (Throwable e) {
            // The logger failed, or memory is exhausted.
            return Integer.toUnsignedLong(Hresult.RPC_E_SERVERFAULT);
        }
    }
}
