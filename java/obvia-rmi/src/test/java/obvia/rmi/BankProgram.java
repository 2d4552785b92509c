package obvia.rmi;

import java.net.ServerSocket;
import java.rmi.Remote;
import obvia.Obvia;
import obvia.rmi.bank.BankServer;

/**
 * A server in a virtual machine of its own: by RMI at a port, or by obvia under a name, optionally
 * also over a network. The server prints its port or its binding, and ends with its parent process.
 */
final class BankProgram {
    private BankProgram() {}

    /**
     * The strong reference to the exported object, to which RMI's tables have only a weak
     * reference.
     */
    private static Remote bank;

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("rmi")) {
            bank = new BankServer(object -> java.rmi.server.UnicastRemoteObject.exportObject(object, 0));
            var socket = new ServerSocket(0);
            var registry = java.rmi.registry.LocateRegistry.createRegistry(socket.getLocalPort(), null, _ -> socket);
            registry.rebind("bank", java.rmi.server.UnicastRemoteObject.exportObject(bank, 0));
            System.out.println("ready " + socket.getLocalPort());
        } else {
            bank = new BankServer(object -> UnicastRemoteObject.exportObject(object, 0));
            Naming.rebind("//localhost/" + arguments[1], bank);
            System.out.println(arguments.length > 2 ? "ready " + Obvia.listen(arguments[2]) : "ready");
        }
        System.in.readAllBytes();
        Runtime.getRuntime().halt(0);
    }
}
