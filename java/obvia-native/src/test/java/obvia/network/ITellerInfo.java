package obvia.network;

import java.util.List;
import obvia.Guid;
import obvia.runtime.Channel;
import obvia.runtime.Flat;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Proxy;
import obvia.runtime.Reference;

/** Proxy and stub of {@link ITeller}. */
public final class ITellerInfo {
    private static final String IDL =
            """
            [object, uuid(6f2b8d14-7c3e-4a59-b1d0-2e8f6a94c370), pointer_default(unique)]
            interface ITeller : IUnknown {
                HRESULT tell([out, retval] long *number);
            }
            """;

    public static final InterfaceInfo<ITeller> INFO = new InterfaceInfo<>(
            ITeller.class,
            "ITeller",
            Guid.of("6f2b8d14-7c3e-4a59-b1d0-2e8f6a94c370"),
            0,
            0x57070282e44703dcL,
            0x7d9b07d284c0b88fL,
            null,
            TellerProxy::new,
            ITellerInfo::perform,
            IDL,
            () -> List.of(ITellerInfo.INFO));

    private ITellerInfo() {}

    private static void perform(ITeller object, InCall call) throws Throwable {
        if (call.opnum != 3) {
            throw call.noMethod();
        }
        int number = object.tell();
        call.reply(8);
        call.replyMemory.set(Flat.LONG, call.replyAt, number);
    }

    private static final class TellerProxy extends Proxy implements ITeller {
        TellerProxy(Reference reference) {
            super(reference);
        }

        @Override
        public int tell() {
            Channel call = begin(0);
            call(call, 3, 0);
            call.expect(8);
            int number = (int) call.replyMemory.get(Flat.LONG, call.replyAt);
            call.end();
            return number;
        }
    }
}
