/**
 * The objects of this process, and its connections to other processes.
 *
 * <p>The caller's side: {@code Links} (the processes whose objects this process uses), {@code Link}
 * (the connections to one of these processes, with its {@code HomeConnection}),
 * {@code WindowChannel}. The object's side: {@code Exports} (interface pointers),
 * {@code NamedExports}, {@code Clients} (the processes that use the exports), {@code Connection},
 * {@code WindowCall}. {@code Bind}, {@code RuntimeCalls}, {@code RuntimeClient} and
 * {@code RuntimeServer} are the protocol between runtimes. {@code ProcessRuntime} is the process as
 * a whole.
 */
package obvia.runtime.objects;
