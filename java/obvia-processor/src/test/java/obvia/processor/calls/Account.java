package obvia.processor.calls;

import java.rmi.RemoteException;
import obvia.Iid;

/** An extension of an interface that is written in Java; not public. */
@Iid("5bd1a9a5-9c4c-4c5a-8a7b-3f1f0f5f2f10")
interface Account extends Calc {
    @Override
    int add(int a, int b) throws RemoteException;

    Calc asCalc();

    @Override
    String toString();
}
