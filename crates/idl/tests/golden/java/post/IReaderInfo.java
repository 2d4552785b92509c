// Made by obvia-idl 0.1.0 from post.idl. Change the IDL, not this.
package post;

import obvia.Guid;
import obvia.runtime.Channel;
import obvia.runtime.Flat;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Proxy;
import obvia.runtime.Reference;

/** {@link IReader} as the runtime knows it: its description, its proxy and its stub. */
public final class IReaderInfo {
    private static final String IDL =
            """
            [object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e2001), pointer_default(unique)]
            interface IReader : IUnknown {
                [oneway] HRESULT Arrived([in] long letter);
            }
            """;

    /** The description. */
    public static final InterfaceInfo<IReader> INFO = new InterfaceInfo<>(
        IReader.class,
        "IReader",
        Guid.of("8b1c5a10-2f6e-4c55-9a51-6a0d3f7e2001"),
        0,
        0x80c1bcea2e8f944cL,
        0x500621c9b9aa1852L,
        null,
        IReaderProxy::new,
        IReaderInfo::perform,
        IDL,
        PostIdl::interfaces);

    private IReaderInfo() {}

    /** Performs a call. */
    static void perform(IReader object, InCall call) {
        switch (call.opnum) {
            case 3 -> arrived(object, call);
            default -> throw call.noMethod();
        }
    }

    private static void arrived(IReader object, InCall call) {
        call.expect(8);
        int letter = call.memory.get(Flat.INT, call.at);
        object.arrived(letter);
    }

    /** Stands for an object of another process. */
    static final class IReaderProxy extends Proxy implements IReader {
        IReaderProxy(Reference reference) {
            super(reference);
        }

        @Override
        public void arrived(int letter) {
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, letter);
            call.memory.set(Flat.INT, call.at + 4, 0);
            oneway(call, 3, 8);
        }
    }
}
