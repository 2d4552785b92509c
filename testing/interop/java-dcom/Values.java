import java.util.Arrays;
import java.util.Date;
import org.jinterop.dcom.common.JIException;
import org.jinterop.dcom.core.IJIComObject;
import org.jinterop.dcom.core.IJIUnsigned;
import org.jinterop.dcom.core.JIArray;
import org.jinterop.dcom.core.JICurrency;
import org.jinterop.dcom.core.JIFlags;
import org.jinterop.dcom.core.JISession;
import org.jinterop.dcom.core.JIString;
import org.jinterop.dcom.core.JIUnsignedFactory;
import org.jinterop.dcom.core.JIVariant;
import org.jinterop.dcom.impls.JIObjectFactory;
import org.jinterop.dcom.impls.automation.IJIDispatch;
import org.jinterop.dcom.impls.automation.JIAutomationException;
import org.jinterop.dcom.impls.automation.JIExcepInfo;

/** Tests of values, arrays, errors and objects in both directions. */
final class Values {
    private static final int E_INVALIDARG = 0x8007_0057;
    private static final int E_NOINTERFACE = 0x8000_4002;
    private static final int REGDB_E_CLASSNOTREG = 0x8004_0154;
    private static final int DISP_E_UNKNOWNNAME = 0x8002_0006;
    private static final int DISP_E_TYPEMISMATCH = 0x8002_0005;
    private static final int DISP_E_BADPARAMCOUNT = 0x8002_000e;
    private static final int DISP_E_EXCEPTION = 0x8002_0009;
    private static final int RPC_ACCESS_DENIED = 5;

    private final Client client;
    private final Server server;
    private IJIComObject unknown;
    private IJIDispatch object;

    Values(Client client, Server server) {
        this.client = client;
        this.server = server;
    }

    void run() throws Exception {
        var session = client.session();
        Suite.check("activation by CLSID", () -> unknown = client.make(session));
        Suite.check("IUnknown, IDispatch and its own interface", this::interfaces);
        simple();
        arrays();
        calls();
        errors();
        objects();
        Suite.check("texts of 64 KiB and more", this::texts);
        Suite.check("what is no class, and who may not", this::refused);
        Suite.check("given back by the end of a session", this::givenBack);
        JISession.destroySession(session);
    }

    /**
     * The end of a session releases the references that come from activations. The library counts
     * only these references exactly; all other references end when the library's pings stop.
     */
    private void givenBack() throws Exception {
        var before = server.live();
        var session = client.session();
        client.make(session);
        Suite.same(before + 1, server.live());
        JISession.destroySession(session);
        server.becomes(before);
    }

    private void interfaces() throws Exception {
        object = Client.dispatch(unknown);
        Suite.same(true, unknown.queryInterface(Client.UNKNOWN) != null);
        Suite.same(true, unknown.queryInterface(Client.SCRIPT) != null);
        Suite.fails(E_NOINTERFACE, () -> unknown.queryInterface("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2bfe"));
        Suite.same(0, object.getTypeInfoCount());
        Suite.same(1, object.getIDsOfNames("Echo"));
        Suite.same(3, object.getIDsOfNames("SUBTRACT"));
    }

    /** Returns the result of a method with one argument. */
    private JIVariant result(String method, Object... arguments) throws JIException {
        return object.callMethodA(method, arguments)[0];
    }

    private Object echo(JIVariant value) throws JIException {
        return result("Echo", value).getObject();
    }

    private void simple() {
        Suite.check("VT_EMPTY and VT_NULL", () -> {
            Suite.same(JIVariant.VT_EMPTY, result("Echo", JIVariant.EMPTY()).getType());
            Suite.same(JIVariant.VT_NULL, result("Echo", JIVariant.NULL()).getType());
        });
        Suite.check("VT_I2, VT_I4, VT_UI1 and unsigned ones", () -> {
            Suite.same((short) -7, echo(new JIVariant((short) -7)));
            Suite.same(Integer.MIN_VALUE, echo(new JIVariant(Integer.MIN_VALUE)));
            var large = (IJIUnsigned) echo(new JIVariant(JIUnsignedFactory.getUnsigned(4_000_000_000L, JIFlags.FLAG_REPRESENTATION_UNSIGNED_INT)));
            Suite.same(4_000_000_000L, large.getValue().longValue());
            var small = (IJIUnsigned) echo(new JIVariant(JIUnsignedFactory.getUnsigned(60_000, JIFlags.FLAG_REPRESENTATION_UNSIGNED_SHORT)));
            Suite.same(60_000L, small.getValue().longValue());
            var octet = (IJIUnsigned) echo(new JIVariant(JIUnsignedFactory.getUnsigned((short) 200, JIFlags.FLAG_REPRESENTATION_UNSIGNED_BYTE)));
            Suite.same(200L, octet.getValue().longValue());
        });
        Suite.check("VT_I8", () -> Suite.same(1L << 40, echo(new JIVariant(1L << 40, false))));
        Suite.check("VT_R4 and VT_R8", () -> {
            Suite.same(1.5f, echo(new JIVariant(1.5f)));
            Suite.same(-0.1, echo(new JIVariant(-0.1)));
        });
        Suite.check("VT_BOOL", () -> {
            Suite.same(true, echo(new JIVariant(true)));
            Suite.same(false, echo(new JIVariant(false)));
        });
        Suite.check("VT_BSTR", () -> {
            Suite.same("Grüße, 世界", ((JIString) echo(new JIVariant("Grüße, 世界"))).getString());
            Suite.same("", ((JIString) echo(new JIVariant(""))).getString());
        });
        Suite.check("VT_DATE", () -> {
            var day = new Date(1_700_000_000_000L);
            Suite.same(day, echo(new JIVariant(day)));
        });
        Suite.check("VT_CY", () -> {
            var money = (JICurrency) echo(new JIVariant(new JICurrency(12, 3400)));
            // For 12.34 the library sends -12 with an arbitrary fraction. The library reads the
            // answer unchanged.
            Suite.same(-12, money.getUnits());
        });
        Suite.check("VT_ERROR", () -> Suite.same(JIVariant.VT_ERROR, result("Kind", JIVariant.OPTIONAL_PARAM()).getObjectAsInt()));
        Suite.check("types as they arrive", this::kinds);
        Suite.check("typed arguments of each simple type", this::typed);
    }

    private void kinds() throws JIException {
        JIVariant[] values = {new JIVariant((short) 1), new JIVariant(1), new JIVariant(1f), new JIVariant(1.0), new JIVariant("1"),
            new JIVariant(true), new JIVariant(new Date()), new JIVariant(1L, false), JIVariant.EMPTY(), JIVariant.NULL()};
        int[] kinds = {2, 3, 4, 5, 8, 11, 7, 20, 0, 1};
        for (var at = 0; at < values.length; at++) {
            Suite.same(kinds[at], result("Kind", values[at]).getObjectAsInt());
        }
    }

    private void typed() throws JIException {
        var octet = JIUnsignedFactory.getUnsigned((short) 200, JIFlags.FLAG_REPRESENTATION_UNSIGNED_BYTE);
        var day = new JIVariant(2.0);
        Object[] arguments = {new JIVariant((short) -2), new JIVariant(-3), new JIVariant(1L << 40, false), new JIVariant(octet), new JIVariant(1.5f),
            new JIVariant(2.5), new JIVariant(true), day};
        Suite.same("-2 -3 1099511627776 200 1.5 2.5 -1 2", result("Simple", arguments).getObjectAsString2());
    }

    private void arrays() {
        Suite.check("SAFEARRAY of VT_I4", () -> {
            var made = result("Numbers", new JIVariant(new JIArray(new Integer[] {1, -2, 300}, true))).getObjectAsArray();
            Suite.same(new Object[] {2, -1, 301}, made.getArrayInstance());
        });
        Suite.check("SAFEARRAY of VT_R8", () -> {
            var made = result("Halves", new JIVariant(new JIArray(new Double[] {1.0, 3.0}, true))).getObjectAsArray();
            Suite.same(new Object[] {0.5, 1.5}, made.getArrayInstance());
        });
        Suite.check("SAFEARRAY of VT_BSTR", () -> {
            var texts = new JIString[] {new JIString("one"), new JIString(""), new JIString("zwölf")};
            var made = (JIString[]) result("Texts", new JIVariant(new JIArray(texts, true))).getObjectAsArray().getArrayInstance();
            Suite.same(new Object[] {"eno", "", "flöwz"}, Arrays.stream(made).map(JIString::getString).toArray());
        });
        Suite.check("SAFEARRAY of VT_VARIANT", () -> {
            var values = new JIVariant[] {new JIVariant(1), new JIVariant("two"), new JIVariant(true)};
            var made = (JIVariant[]) result("Values", new JIVariant(new JIArray(values, true))).getObjectAsArray().getArrayInstance();
            Suite.same(3, made.length);
            Suite.same(true, made[0].getObjectAsBoolean());
            Suite.same("two", made[1].getObjectAsString2());
            Suite.same(1, made[2].getObjectAsInt());
        });
        Suite.check("empty SAFEARRAY", () -> {
            var made = result("Numbers", new JIVariant(new JIArray(new Integer[0], true))).getObjectAsArray();
            Suite.same(0, made.getArrayInstance() == null ? 0 : ((Object[]) made.getArrayInstance()).length);
        });
        Suite.check("SAFEARRAYs in a VARIANT, one of two dimensions", () -> {
            var row = (Object[]) result("Echo", new JIVariant(new JIArray(new Short[] {1, 2}, true))).getObjectAsArray().getArrayInstance();
            Suite.same(new Object[] {(short) 1, (short) 2}, row);
            var table = new JIArray(new Integer[][] {{1, 2, 3}, {4, 5, 6}}, true);
            var made = result("Echo", new JIVariant(table)).getObjectAsArray();
            Suite.same(2, made.getDimensions());
            Suite.same(new Object[][] {{1, 2, 3}, {4, 5, 6}}, made.getArrayInstance());
        });
    }

    private void calls() {
        Suite.check("VARIANTs by reference", () -> {
            Object[] arguments = {new JIVariant(41, true), new JIVariant("so", true), new JIVariant(new JIVariant(2.5)), JIVariant.EMPTY_BYREF()};
            var results = object.callMethodA("Change", arguments);
            // The changed arguments follow the result in the order of DISPPARAMS, the last first.
            Suite.same(2.5, results[1].getObjectAsVariant().getObjectAsDouble());
            Suite.same("changed", results[2].getObjectAsVariant().getObjectAsString2());
            Suite.same("so!", results[3].getObjectAsString2());
            Suite.same(42, results[4].getObjectAsInt());
        });
        Suite.check("arguments by place, by name, and left out", () -> {
            Suite.same(7, result("Subtract", 10, 3).getObjectAsInt());
            Suite.same(9, result("Subtract", 10).getObjectAsInt());
            Suite.same(9, result("Subtract", 10, JIVariant.OPTIONAL_PARAM()).getObjectAsInt());
            var named = object.callMethodA("Subtract", new Object[] {3, 10}, new String[] {"what", "from"});
            Suite.same(7, named[0].getObjectAsInt());
        });
        Suite.check("properties", () -> {
            object.put("Title", new JIVariant("a title"));
            Suite.same("a title", object.get("Title").getObjectAsString2());
            object.put("Item", new Object[] {"key", 5});
            Suite.same(5, object.get("Item", new Object[] {"key"})[0].getObjectAsInt());
            Suite.same(5, object.get(0, new Object[] {"key"})[0].getObjectAsInt());
        });
    }

    private void errors() {
        Suite.check("EXCEPINFO of a method that fails", () -> {
            var error = Suite.fails(DISP_E_EXCEPTION, () -> object.callMethodA("Fail", new Object[] {0x8004_1234, "it was asked to"}));
            var info = ((JIAutomationException) error).getExcepInfo();
            Suite.same("it was asked to", words(info));
            Suite.same(0x8004_1234, info.getErrorCode());
        });
        Suite.check("EXCEPINFO of a property", () -> {
            var error = Suite.fails(DISP_E_EXCEPTION, () -> object.get("Item", new Object[] {"nothing"}));
            var info = ((JIAutomationException) error).getExcepInfo();
            Suite.same("there is no nothing", words(info));
            Suite.same(E_INVALIDARG, info.getErrorCode());
        });
        Suite.check("HRESULTs of calls that are wrong", () -> {
            Suite.fails(DISP_E_UNKNOWNNAME, () -> object.getIDsOfNames("Nothing"));
            Suite.fails(DISP_E_TYPEMISMATCH, () -> object.callMethodA("Subtract", new Object[] {"no number", 1}));
            Suite.fails(DISP_E_BADPARAMCOUNT, () -> object.callMethodA("Subtract", new Object[] {1, 2, 3}));
        });
        Suite.check("calls after those that failed", () -> Suite.same(1, result("Subtract", 2).getObjectAsInt()));
    }

    /**
     * Returns the description, without the bracket that the library appends for a missing help
     * file.
     */
    private static String words(JIExcepInfo info) {
        return info.getExcepDesc().replaceFirst(" \\[ $", "");
    }

    private void objects() {
        Suite.check("objects returned, called, and passed back", () -> {
            var other = (IJIDispatch) JIObjectFactory.narrowObject(result("Make", "another").getObjectAsComObject().queryInterface(IJIDispatch.IID));
            Suite.same("another", other.get("Title").getObjectAsString2());
            Suite.same("another", result("TitleOf", new JIVariant(other)).getObjectAsString2());
            object.putRef("Friend", new JIVariant(other));
            var friend = Client.dispatch(object.get("Friend").getObjectAsComObject());
            Suite.same("another", friend.get("Title").getObjectAsString2());
            Suite.same(2, server.live());
        });
        Suite.check("an object that is given itself", () -> {
            object.putRef("Friend", new JIVariant(object, false));
            Suite.same(2, object.get("Live").getObjectAsInt());
        });
    }

    private void texts() throws JIException {
        for (var length : new int[] {1, 4095, 32 * 1024, 64 * 1024, 300_000}) {
            Suite.same("x".repeat(length), result("Text", length).getObjectAsString2());
            var text = "ä".repeat(length);
            Suite.same(text, result("Echo", new JIVariant(text)).getObjectAsString2());
        }
    }

    private void refused() throws Exception {
        Suite.fails(REGDB_E_CLASSNOTREG, () -> client.make(client.session(), "5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2bff"));
        Suite.fails(RPC_ACCESS_DENIED, () -> client.make(client.session("another secret")));
    }
}
