/* See tree.h. The kernel looks every name up relative to an open directory, with openat2() and
 * RESOLVE_BENEATH: `..`, absolute paths and symbolic links cannot lead out of the tree, even if
 * another process changes the tree during a look-up. */
#define _GNU_SOURCE
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The maximum number of file numbers of a client, of open files, and of clients. */
#define OBJECTS_MAX (1 << 16)
#define OPEN_MAX (1 << 12)
#define CLIENTS_MAX (1 << 12)
/* The maximum number of entries of a directory that one call returns. */
#define ENTRIES_MAX 4096
/* The number of hash lists for the paths of a client. */
#define LISTS (1 << 12)

/* The object of a file number: a path from the root, looked up anew on each use. */
typedef struct Object {
    char *path;
    int32_t parent;
    /* The next object in the same list; -1 at its end. */
    int32_t next;
} Object;

typedef struct Client {
    Object *objects;
    int32_t count, room;
    int32_t lists[LISTS];
} Client;

/* An open file. For a directory, the entries are those of the first listing. */
typedef struct Open {
    int file;
    int32_t client;
    struct dirent **entries;
    int count;
} Open;

struct Tree {
    int root;
    int is_writable;
    /* The tables, in which number 1 has index 0. */
    Client *clients[CLIENTS_MAX];
    Open *open[OPEN_MAX];
};

/* Opens a path below a directory, and refuses paths that leave it. Returns a descriptor, or a
   negative error number. */
static int beneath(int directory, const char *path, int flags, mode_t mode)
{
    struct open_how how;
    long opened;
    memset(&how, 0, sizeof how);
    how.flags = (unsigned)flags | O_CLOEXEC;
    how.mode = flags & O_CREAT ? mode & 0777 : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    do {
        opened = syscall(SYS_openat2, directory, path, &how, sizeof how);
        /* EAGAIN: another process renamed a directory during the look-up. */
    } while (opened < 0 && (errno == EAGAIN || errno == EINTR));
    return opened < 0 ? -errno : (int)opened;
}

/* Copies a name once, because the caller may change it, and checks that it is a nonempty single
   component. */
static int take_name(Name name, char (*own)[NAME_MAX + 1])
{
    if (name.length == 0 || name.length > NAME_MAX) {
        return EINVAL;
    }
    memcpy(*own, name.bytes, name.length);
    (*own)[name.length] = 0;
    return strlen(*own) != name.length || strchr(*own, '/') ? EINVAL : 0;
}

static int is_up(const char *name)
{
    return strcmp(name, "..") == 0;
}

/* ---- Clients and their numbers ---- */

static Client *client_of(Tree *tree, int32_t client)
{
    return client > 0 && client <= CLIENTS_MAX ? tree->clients[client - 1] : NULL;
}

static Object *object_of(Tree *tree, int32_t client, int32_t fobj)
{
    const Client *found = client_of(tree, client);
    return found && fobj >= 0 && fobj < found->count ? &found->objects[fobj] : NULL;
}

/* Returns the hash list of a path, by FNV-1a. */
static int32_t *list_for(Client *client, const char *path)
{
    uint32_t hash = 0x811c9dc5;
    for (; *path; path++) {
        hash = (hash ^ (uint8_t)*path) * 0x01000193;
    }
    return &client->lists[hash % LISTS];
}

/* Stores the number of a path in `fobj`, and takes ownership of the path. Returns ENOMEM for a null
   path. */
static int number(Client *client, char *path, int32_t parent, int32_t *fobj)
{
    int32_t *list, at;
    if (!path) {
        return ENOMEM;
    }
    list = list_for(client, path);
    for (at = *list; at >= 0; at = client->objects[at].next) {
        if (strcmp(client->objects[at].path, path) == 0) {
            free(path);
            *fobj = at;
            return 0;
        }
    }
    if (client->count == client->room) {
        const int32_t room = client->room ? client->room * 2 : 64;
        Object *more = room <= OBJECTS_MAX ? realloc(client->objects, (size_t)room * sizeof *more) : NULL;
        if (!more) {
            free(path);
            return room <= OBJECTS_MAX ? ENOMEM : ENFILE;
        }
        client->objects = more;
        client->room = room;
    }
    *fobj = client->count++;
    client->objects[*fobj] = (Object){path, parent, *list};
    *list = *fobj;
    return 0;
}

/* Stores the number of a name in a directory in `fobj`. */
static int number_in(Tree *tree, int32_t client, int32_t directory, const char *name, int32_t *fobj)
{
    const char *path = object_of(tree, client, directory)->path;
    const int is_root = strcmp(path, ".") == 0;
    char *joined;
    if (asprintf(&joined, "%s%s%s", is_root ? "" : path, is_root ? "" : "/", name) < 0) {
        joined = NULL;
    }
    return number(client_of(tree, client), joined, directory, fobj);
}

int tree_attach(Tree *tree, int32_t *client)
{
    int32_t at = 0, root;
    Client *made;
    int error;
    while (at < CLIENTS_MAX && tree->clients[at]) {
        at++;
    }
    if (at == CLIENTS_MAX) {
        return EUSERS;
    }
    made = calloc(1, sizeof *made);
    if (!made) {
        return ENOMEM;
    }
    memset(made->lists, -1, sizeof made->lists);
    error = number(made, strdup("."), 0, &root);
    if (error) {
        free(made);
        return error;
    }
    tree->clients[at] = made;
    *client = at + 1;
    return 0;
}

static void close_open(Open *open)
{
    while (open->count > 0) {
        free(open->entries[--open->count]);
    }
    free(open->entries);
    close(open->file);
    free(open);
}

int tree_detach(Tree *tree, int32_t client)
{
    Client *found = client_of(tree, client);
    int32_t at;
    if (!found) {
        return EBADF;
    }
    for (at = 0; at < OPEN_MAX; at++) {
        if (tree->open[at] && tree->open[at]->client == client) {
            close_open(tree->open[at]);
            tree->open[at] = NULL;
        }
    }
    for (at = 0; at < found->count; at++) {
        free(found->objects[at].path);
    }
    free(found->objects);
    free(found);
    tree->clients[client - 1] = NULL;
    return 0;
}

int tree_new(const char *root, int is_writable, Tree **tree)
{
    Tree *made = calloc(1, sizeof *made);
    if (!made) {
        return ENOMEM;
    }
    made->is_writable = is_writable;
    made->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (made->root < 0) {
        free(made);
        return errno;
    }
    *tree = made;
    return 0;
}

void tree_free(Tree *tree)
{
    int32_t client;
    for (client = 1; client <= CLIENTS_MAX; client++) {
        tree_detach(tree, client);
    }
    close(tree->root);
    free(tree);
}

/* ---- Names ---- */

/* Opens the directory of a number. Returns a descriptor, or a negative error number. */
static int open_directory(Tree *tree, int32_t client, int32_t directory)
{
    const Object *object = object_of(tree, client, directory);
    return object ? beneath(tree->root, object->path, O_PATH | O_DIRECTORY, 0) : -EBADF;
}

/* Opens a directory for a change, and copies the name of the changed entry. Returns a descriptor,
   or a negative error number. */
static int open_writable(Tree *tree, int32_t client, int32_t directory, Name name, char (*own)[NAME_MAX + 1])
{
    const int error = take_name(name, own);
    return error ? -error : is_up(*own) ? -EINVAL : !tree->is_writable ? -EROFS : open_directory(tree, client, directory);
}

/* Opens the directory that contains an object, and stores the object's name in `name`. Returns a
   descriptor, or a negative error number. */
static int open_holder(Tree *tree, int32_t client, int32_t fobj, const char **name)
{
    const Object *object = object_of(tree, client, fobj);
    const char *last = object ? strrchr(object->path, '/') : NULL;
    *name = object ? last ? last + 1 : object->path : NULL;
    return object ? open_directory(tree, client, object->parent) : -EBADF;
}

/* Returns 0, or the error number of the last system call if its result is negative. Closes
   `descriptor`. */
static int outcome(long result, int descriptor)
{
    const int error = result < 0 ? errno : 0;
    close(descriptor);
    return error;
}

int tree_lookup(Tree *tree, int32_t client, int32_t directory, Name name, int32_t *fobj)
{
    const Object *object = object_of(tree, client, directory);
    char own[NAME_MAX + 1];
    struct stat found;
    int error = object ? take_name(name, &own) : EBADF, opened;
    if (error) {
        return error;
    }
    if (is_up(own) || strcmp(own, ".") == 0) {
        /* The parent is the directory through which the object was reached. */
        *fobj = is_up(own) ? object->parent : directory;
        return 0;
    }
    opened = open_directory(tree, client, directory);
    if (opened < 0) {
        return -opened;
    }
    /* The name has to exist. This look-up does not follow symbolic links. A link that leads out of
     * the tree is refused later, when it is followed. */
    error = outcome(fstatat(opened, own, &found, AT_SYMLINK_NOFOLLOW), opened);
    return error ? error : number_in(tree, client, directory, own, fobj);
}

int tree_stat(Tree *tree, int32_t client, int32_t fobj, struct stat *found)
{
    const char *name;
    const int opened = open_holder(tree, client, fobj, &name);
    return opened < 0 ? -opened : outcome(fstatat(opened, name, found, AT_SYMLINK_NOFOLLOW), opened);
}

int tree_readlink(Tree *tree, int32_t client, int32_t fobj, char **target)
{
    char text[PATH_MAX];
    const char *name;
    const int opened = open_holder(tree, client, fobj, &name);
    const ssize_t length = opened < 0 ? 0 : readlinkat(opened, name, text, sizeof text);
    const int error = opened < 0 ? -opened : outcome(length, opened);
    if (error) {
        return error;
    }
    *target = obvia_alloc((size_t)length + 1);
    if (!*target) {
        return ENOMEM;
    }
    memcpy(*target, text, (size_t)length);
    (*target)[length] = 0;
    return 0;
}

int tree_create(Tree *tree, int32_t client, int32_t directory, Name name, int is_directory, uint32_t mode, int32_t *fobj)
{
    char own[NAME_MAX + 1];
    const int opened = open_writable(tree, client, directory, name, &own);
    int error;
    if (opened < 0) {
        return -opened;
    }
    if (is_directory) {
        error = outcome(mkdirat(opened, own, mode & 0777), opened);
    } else {
        const int file = beneath(opened, own, O_WRONLY | O_CREAT | O_EXCL, mode);
        close(opened);
        error = file < 0 ? -file : 0;
        if (file >= 0) {
            close(file);
        }
    }
    return error ? error : number_in(tree, client, directory, own, fobj);
}

int tree_unlink(Tree *tree, int32_t client, int32_t directory, Name name)
{
    char own[NAME_MAX + 1];
    const int opened = open_writable(tree, client, directory, name, &own);
    long result;
    if (opened < 0) {
        return -opened;
    }
    result = unlinkat(opened, own, 0);
    if (result < 0 && errno == EISDIR) {
        result = unlinkat(opened, own, AT_REMOVEDIR);
    }
    return outcome(result, opened);
}

int tree_rename(Tree *tree, int32_t client, int32_t from, Name from_name, int32_t to, Name to_name)
{
    char from_own[NAME_MAX + 1], to_own[NAME_MAX + 1];
    const int from_opened = open_writable(tree, client, from, from_name, &from_own);
    const int to_opened = from_opened < 0 ? from_opened : open_writable(tree, client, to, to_name, &to_own);
    int error;
    if (to_opened < 0) {
        if (from_opened >= 0) {
            close(from_opened);
        }
        return -to_opened;
    }
    error = outcome(renameat(from_opened, from_own, to_opened, to_own), to_opened);
    close(from_opened);
    return error;
}

/* ---- Open files ---- */

static Open *open_of(Tree *tree, int32_t handle)
{
    return handle > 0 && handle <= OPEN_MAX ? tree->open[handle - 1] : NULL;
}

int tree_open(Tree *tree, int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle)
{
    const Object *object = object_of(tree, client, fobj);
    int wanted = O_NONBLOCK | O_NOCTTY, opened;
    int32_t at = 0;
    Open *made;
    if (!object) {
        return EBADF;
    }
    if (flags & (PFS_WRITE | PFS_CREATE | PFS_TRUNCATE) && !tree->is_writable) {
        return EROFS;
    }
    wanted |= !(flags & PFS_WRITE) ? O_RDONLY : flags & PFS_READ ? O_RDWR : O_WRONLY;
    wanted |= flags & PFS_CREATE ? O_CREAT : 0;
    wanted |= flags & PFS_TRUNCATE ? O_TRUNC : 0;
    while (at < OPEN_MAX && tree->open[at]) {
        at++;
    }
    made = at < OPEN_MAX ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        return at < OPEN_MAX ? ENOMEM : EMFILE;
    }
    opened = beneath(tree->root, object->path, wanted, (mode_t)mode);
    if (opened < 0) {
        free(made);
        return -opened;
    }
    made->file = opened;
    made->client = client;
    tree->open[at] = made;
    *handle = at + 1;
    return 0;
}

int tree_close(Tree *tree, int32_t handle)
{
    Open *open = open_of(tree, handle);
    if (!open) {
        return EBADF;
    }
    close_open(open);
    tree->open[handle - 1] = NULL;
    return 0;
}

/* Reads at an offset, and stores the number of bytes read in `got`. The number is less than
   requested only at the file's end, or before an error. */
int tree_read(Tree *tree, int32_t handle, int64_t pos, uint32_t len, uint8_t *data, uint32_t *got)
{
    const Open *open = open_of(tree, handle);
    if (!open) {
        return EBADF;
    }
    for (*got = 0; *got < len;) {
        const ssize_t part = pread(open->file, data + *got, len - *got, pos + *got);
        if (part == 0) {
            break;
        }
        if (part > 0) {
            *got += (uint32_t)part;
        } else if (errno != EINTR) {
            return *got ? 0 : errno;
        }
    }
    return 0;
}

/* Writes all bytes at an offset. */
int tree_write(Tree *tree, int32_t handle, int64_t pos, uint32_t len, const uint8_t *data)
{
    const Open *open = open_of(tree, handle);
    uint32_t done = 0;
    if (!open) {
        return EBADF;
    }
    while (done < len) {
        const ssize_t part = pwrite(open->file, data + done, len - done, pos + done);
        if (part == 0) {
            return EIO;
        }
        if (part > 0) {
            done += (uint32_t)part;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

PFS_KIND tree_kind(mode_t mode)
{
    return S_ISREG(mode) ? PFS_FILE : S_ISDIR(mode) ? PFS_DIRECTORY : S_ISLNK(mode) ? PFS_LINK : PFS_OTHER;
}

static int is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int by_name(const struct dirent **one, const struct dirent **other)
{
    return strcmp((*one)->d_name, (*other)->d_name);
}

/* Lists entries of a directory, without `.` and `..`. */
int tree_entries(Tree *tree, int32_t handle, int64_t from, uint32_t room, PFS_ENTRY *entries, uint32_t *got)
{
    Open *open = open_of(tree, handle);
    if (!open) {
        return EBADF;
    }
    if (!open->entries) {
        const int count = scandirat(open->file, ".", &open->entries, is_entry, by_name);
        if (count < 0) {
            return errno;
        }
        open->count = count;
    }
    for (*got = 0; *got < room && *got < ENTRIES_MAX && from + *got < open->count; ++*got) {
        const struct dirent *found = open->entries[from + *got];
        PFS_ENTRY *entry = &entries[*got];
        struct stat stat;
        mode_t mode = DTTOIF(found->d_type);
        if (found->d_type == DT_UNKNOWN && fstatat(open->file, found->d_name, &stat, AT_SYMLINK_NOFOLLOW) == 0) {
            mode = stat.st_mode;
        }
        memset(entry, 0, sizeof *entry);
        entry->kind = tree_kind(mode);
        entry->length = (uint32_t)strlen(found->d_name);
        memcpy(entry->name, found->d_name, entry->length);
    }
    return 0;
}
