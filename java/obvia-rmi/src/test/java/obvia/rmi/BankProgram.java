package obvia.rmi;

import java.rmi.Remote;
import obvia.rmi.bank.BankServer;

/** A server in a virtual machine of its own: by RMI where it gets a port, by obvia where it gets a name. */
final class BankProgram {
    private BankProgram() {}

    /** What keeps RMI's objects: its tables hold them weakly. */
    private static Remote bank;

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("rmi")) {
            bank = new BankServer(object -> java.rmi.server.UnicastRemoteObject.exportObject(object, 0));
            var registry = java.rmi.registry.LocateRegistry.createRegistry(Integer.parseInt(arguments[1]));
            registry.rebind("bank", java.rmi.server.UnicastRemoteObject.exportObject(bank, 0));
        } else {
            bank = new BankServer(object -> UnicastRemoteObject.exportObject(object, 0));
            Naming.rebind("//localhost/" + arguments[1], bank);
        }
        System.out.println("ready");
    }
}
