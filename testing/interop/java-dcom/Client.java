import org.jinterop.dcom.common.JIException;
import org.jinterop.dcom.core.IJIComObject;
import org.jinterop.dcom.core.JIClsid;
import org.jinterop.dcom.core.JIComServer;
import org.jinterop.dcom.core.JISession;
import org.jinterop.dcom.impls.JIObjectFactory;
import org.jinterop.dcom.impls.automation.IJIDispatch;

/** The client that creates objects, at one authentication level. */
record Client(String host, String user, String password, String level) {
    /** The class of the objects, and their own interface. */
    static final String CLASS = "5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b04";

    static final String SCRIPT = "5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b20";
    static final String UNKNOWN = "00000000-0000-0000-c000-000000000046";
    private static final int SOCKET_TIMEOUT = 60_000;

    JISession session() {
        return session(password);
    }

    JISession session(String password) {
        var session = JISession.createSession("DOMAIN", user, password);
        session.useNTLMv2(true);
        session.useSessionSecurity(level.equals("privacy") || level.equals("integrity"));
        session.setGlobalSocketTimeout(SOCKET_TIMEOUT);
        return session;
    }

    /** Creates an object, and returns its IUnknown. */
    IJIComObject make(JISession session) throws Exception {
        return make(session, CLASS);
    }

    IJIComObject make(JISession session, String clsid) throws Exception {
        var server = new JIComServer(JIClsid.valueOf(clsid), host, session);
        if (level.equals("integrity")) {
            // The option applies to the later connection to the object. The library still encrypts
            // the connection for reference counts.
            server.getProperties().setProperty("rpc.ntlm.seal", "false");
        }
        return server.createInstance();
    }

    static IJIDispatch dispatch(IJIComObject object) throws JIException {
        return (IJIDispatch) JIObjectFactory.narrowObject(object.queryInterface(IJIDispatch.IID));
    }
}
