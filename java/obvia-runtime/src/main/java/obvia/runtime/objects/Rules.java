package obvia.runtime.objects;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import obvia.Access;
import obvia.Caller;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.Network;
import obvia.runtime.call.LimitedLog;

/** The rules for calls of this process's objects and for their creation. */
final class Rules {
    private static final LimitedLog LOG = new LimitedLog();

    // The key null has the rule of all objects, or classes, that have no rule of their own.
    private final Map<Object, Access> objects = new IdentityHashMap<>();
    private final Map<Guid, Access> classes = new HashMap<>();

    /** See {@link obvia.ObviaRuntime#setAccess}. */
    synchronized void setAccess(Object object, Access rule) {
        if (rule == null) {
            objects.remove(object);
        } else {
            objects.put(object, rule);
        }
    }

    /** See {@link obvia.ObviaRuntime#setClassAccess}. */
    synchronized void setClassAccess(Guid id, Access rule) {
        classes.put(id, rule);
    }

    /**
     * Applies an object's rule to its replacement, unless the replacement has a rule of its own.
     */
    synchronized void inherit(Object former, Object object) {
        Access rule = objects.get(former);
        if (rule != null) {
            objects.putIfAbsent(object, rule);
        }
    }

    /** Passes all rules on to a network. */
    synchronized void tell(Network network) {
        objects.forEach(network::setAccess);
        classes.forEach(network::setClassAccess);
    }

    private synchronized Access of(Object object) {
        Access own = objects.get(object);
        return own == null ? objects.get(null) : own;
    }

    private synchronized Access ofClass(Guid id) {
        Access own = classes.get(id);
        Access all = own == null ? classes.get(null) : own;
        return all == null ? objects.get(null) : all;
    }

    /** Whether a process may call an object. */
    boolean permitsCall(Object object, Caller caller) {
        return permits(of(object), caller);
    }

    private static boolean permits(Access rule, Caller caller) {
        try {
            return rule == null || rule.permits(caller);
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** Throws E_ACCESSDENIED if the caller may not call the object. */
    void admit(Object object, String what, Caller caller) {
        admit(of(object), what, caller);
    }

    /** Throws E_ACCESSDENIED if the caller may not create objects of the class. */
    void admitToClass(Guid id, Caller caller) {
        admit(ofClass(id), "objects of the class {" + id + "}", caller);
    }

    private static void admit(Access rule, String what, Caller caller) {
        if (!permits(rule, caller)) {
            logRefusal(what, caller);
            throw RpcException.of(Hresult.E_ACCESSDENIED, "the caller may not use " + what);
        }
    }

    /** Logs that a process was refused. */
    static void logRefusal(String what, Caller caller) {
        LOG.warn("refused " + what + " to process " + caller.process(), null);
    }
}
