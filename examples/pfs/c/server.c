/* Serves a directory tree, with a server loop of its own: pfs-server [--write] DIRECTORY [NAME]. */
#include "object.h"
#include "turns.h"

#include <obvia_server.h>

#include <stdio.h>
#include <string.h>

/* The opnum of a method: its index in the vtable. */
#define OPNUM(method) (offsetof(IPfsVtbl, method) / sizeof(void (*)(void)))

/* Calls that move data or list directories are long. All other calls, including those of the
   runtime itself, are short. */
static Length length_of(const obvia_call *call)
{
    switch (call->opnum) {
    case OPNUM(pfs_read):
    case OPNUM(pfs_write):
    case OPNUM(pfs_get_direntries):
        return LONG;
    default:
        return SHORT;
    }
}

/* Serves a connection on a thread of its own. The calls of all connections take turns, so the file
   system needs no locks. A turn includes the stub, which may wait up to a second for a client that
   does not take a larger area for its results. If a server's clients do not trust each other, the
   server should take the turns in its methods instead. */
static void serve(obvia_connection *connection, void *context)
{
    Turns *turns = context;
    unsigned long calls[2] = {0, 0};
    obvia_call *call = obvia_reply_and_wait(connection, OBVIA_NO_ANSWER);
    while (call) {
        const Length length = length_of(call);
        obvia_answer answer;
        turns_take(turns, length);
        answer = obvia_dispatch(connection, call);
        turns_give(turns);
        calls[length]++;
        call = obvia_reply_and_wait(connection, answer);
    }
    obvia_close(connection);
    /* The runtime's own connections may end without a call. */
    if (calls[SHORT] + calls[LONG] > 0) {
        fprintf(stderr, "pfs-server: a client has ended: %lu short calls, %lu long ones\n", calls[SHORT], calls[LONG]);
    }
}

/* Exports the tree under a name. */
static HRESULT serve_tree(Tree *tree, const char *name)
{
    static Turns turns = TURNS_NEW;
    IPfs *object = object_new(tree);
    obvia_export_entry *entry;
    HRESULT result;
    if (!object) {
        tree_free(tree);
        return E_OUTOFMEMORY;
    }
    obvia_set_server_loop(serve, &turns);
    result = obvia_export(name, &IPfs_INFO, object, &entry);
    IPfs_Release(object);
    return result;
}

int main(int argc, char **argv)
{
    const int is_writable = argc > 1 && strcmp(argv[1], "--write") == 0;
    const char *directory, *name;
    Tree *tree;
    HRESULT result;
    int error;
    if (argc - is_writable < 2 || argc - is_writable > 3 || argv[1 + is_writable][0] == '-') {
        fprintf(stderr, "usage: pfs-server [--write] DIRECTORY [NAME]\n");
        return 2;
    }
    directory = argv[1 + is_writable];
    name = argc - is_writable == 3 ? argv[2 + is_writable] : "pfs";
    error = tree_new(directory, is_writable, &tree);
    if (error) {
        fprintf(stderr, "pfs-server: %s: %s\n", directory, strerror(error));
        return 1;
    }
    result = serve_tree(tree, name);
    if (FAILED(result)) {
        fprintf(stderr, "pfs-server: %s\n", obvia_error_text(result));
        return 1;
    }
    printf("serving %s as %s\n", directory, name);
    fflush(stdout);
    obvia_wait();
    return 0;
}
