// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import obvia.Guid;
import obvia.runtime.Channel;
import obvia.runtime.Flat;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Proxy;
import obvia.runtime.Reference;

/** {@link IBase} as the runtime knows it: its description, its proxy and its stub. */
public final class IBaseInfo {
    private static final String IDL =
            """
            [object, uuid(d3a1b2c4-1111-4222-8333-944455566601), pointer_default(unique)]
            interface IBase : IUnknown {
                HRESULT first_thing([in] unsigned small call, [in, out] unsigned short *length, [out] char *letter);
                HRESULT Wait([in] hyper class);
            }
            """;

    /** The description. */
    public static final InterfaceInfo<IBase> INFO = new InterfaceInfo<>(
        IBase.class,
        "IBase",
        Guid.of("d3a1b2c4-1111-4222-8333-944455566601"),
        0,
        0xf11fd20dc251fdf7L,
        0x747cf878a54e2584L,
        null,
        IBaseProxy::new,
        IBaseInfo::perform,
        IDL,
        FormsIdl::interfaces);

    private IBaseInfo() {}

    /** Performs a call. */
    static void perform(IBase object, InCall call) {
        switch (call.opnum) {
            case 3 -> firstThing(object, call);
            case 4 -> wait_(object, call);
            default -> throw call.noMethod();
        }
    }

    private static void firstThing(IBase object, InCall call) {
        call.expect(8);
        byte call_ = call.memory.get(Flat.BYTE, call.at);
        short length_ = call.memory.get(Flat.SHORT, call.at + 2);
        IBase.FirstThingResult outcome = object.firstThing(call_, length_);
        call.reply(8);
        call.replyMemory.set(Flat.SHORT, call.replyAt, outcome.length());
        call.replyMemory.set(Flat.BYTE, call.replyAt + 2, outcome.letter());
        call.replyMemory.set(Flat.BYTE, call.replyAt + 3, (byte) 0);
        call.replyMemory.set(Flat.INT, call.replyAt + 4, 0);
    }

    private static void wait_(IBase object, InCall call) {
        call.expect(8);
        long class_ = call.memory.get(Flat.LONG, call.at);
        object.wait_(class_);
    }

    /** Stands for an object of another process. */
    static final class IBaseProxy extends Proxy implements IBase {
        IBaseProxy(Reference reference) {
            super(reference);
        }

        @Override
        public FirstThingResult firstThing(byte call_, short length_) {
            Channel call = begin(8);
            call.memory.set(Flat.BYTE, call.at, call_);
            call.memory.set(Flat.BYTE, call.at + 1, (byte) 0);
            call.memory.set(Flat.SHORT, call.at + 2, length_);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call(call, 3, 8);
            call.expect(8);
            short length_Result = call.replyMemory.get(Flat.SHORT, call.replyAt);
            byte letter = call.replyMemory.get(Flat.BYTE, call.replyAt + 2);
            call.end();
            return new FirstThingResult(length_Result, letter);
        }

        @Override
        public void wait_(long class_) {
            Channel call = begin(8);
            call.memory.set(Flat.LONG, call.at, class_);
            call(call, 4, 8);
            call.expect(0);
            call.end();
        }
    }
}
