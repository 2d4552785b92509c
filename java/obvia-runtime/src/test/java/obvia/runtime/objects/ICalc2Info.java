package obvia.runtime.objects;

import java.util.List;
import obvia.Guid;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Reference;

/** Proxy and stub of {@link ICalc2}. */
public final class ICalc2Info {
    public static final InterfaceInfo<ICalc2> INFO = new InterfaceInfo<>(
            ICalc2.class,
            "ICalc2",
            Guid.of("2d1b86f3-4b5c-4e6d-8f70-8192a3b4c5d6"),
            0,
            0x2233445566778899L,
            0xaabbccddeeff0011L,
            ICalcInfo.INFO,
            Calc2Proxy::new,
            ICalcInfo::perform,
            "",
            () -> List.of(ICalc2Info.INFO));

    private ICalc2Info() {}

    private static final class Calc2Proxy extends ICalcInfo.CalcProxy implements ICalc2 {
        Calc2Proxy(Reference reference) {
            super(reference);
        }

        @Override
        public int multiply(int a, int b) {
            return (int) call(7, a, b);
        }
    }
}
