/* See object.h. */
#include "object.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct Pfs {
    IPfs methods;
    atomic_uint references;
    Tree *tree;
} Pfs;

static Tree *tree_of(IPfs *self)
{
    return ((Pfs *)self)->tree;
}

/* Converts an error number to an HRESULT of a facility of its own. */
static HRESULT result(int error)
{
    return error ? (HRESULT)(0xa0a50000u | (unsigned)error) : S_OK;
}

static Name name_of(uint32_t length, const uint8_t *bytes)
{
    const Name name = {bytes, length};
    return name;
}

static uint32_t add_ref(IPfs *self)
{
    return atomic_fetch_add(&((Pfs *)self)->references, 1) + 1;
}

static uint32_t release(IPfs *self)
{
    const uint32_t left = atomic_fetch_sub(&((Pfs *)self)->references, 1) - 1;
    if (left == 0) {
        tree_free(tree_of(self));
        free(self);
    }
    return left;
}

static HRESULT query_interface(IPfs *self, const IID *iid, void **object)
{
    if (obvia_is_equal(iid, &IID_IUnknown) || obvia_is_equal(iid, &IID_IAgileObject) || obvia_is_equal(iid, &IID_IPfs)) {
        add_ref(self);
        *object = self;
        return S_OK;
    }
    *object = NULL;
    return E_NOINTERFACE;
}

static HRESULT attach(IPfs *self, int32_t *client)
{
    return result(tree_attach(tree_of(self), client));
}

static HRESULT detach(IPfs *self, int32_t client)
{
    return result(tree_detach(tree_of(self), client));
}

static HRESULT lookup(IPfs *self, int32_t client, int32_t directory, uint32_t length, const uint8_t *name, int32_t *fobj)
{
    return result(tree_lookup(tree_of(self), client, directory, name_of(length, name), fobj));
}

static HRESULT open_file(IPfs *self, int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle)
{
    return result(tree_open(tree_of(self), client, fobj, flags, mode, handle));
}

static HRESULT close_file(IPfs *self, int32_t handle)
{
    return result(tree_close(tree_of(self), handle));
}

static HRESULT read_file(IPfs *self, int32_t handle, int64_t *pos, uint32_t len, uint8_t *data, uint32_t *data_size)
{
    const int is_wrong = *pos < 0 || len > PFS_TRANSFER_MAX;
    const int error = is_wrong ? EINVAL : tree_read(tree_of(self), handle, *pos, len, data, data_size);
    if (!error) {
        *pos += *data_size;
    }
    return result(error);
}

static HRESULT write_file(IPfs *self, int32_t handle, int64_t *pos, uint32_t data_size, const uint8_t *data)
{
    const int error = *pos < 0 ? EINVAL : tree_write(tree_of(self), handle, *pos, data_size, data);
    if (!error) {
        *pos += data_size;
    }
    return result(error);
}

static HRESULT get_direntries(IPfs *self, int32_t handle, int64_t *pos, uint32_t count, PFS_ENTRY *data, uint32_t *data_size)
{
    const int error = *pos < 0 ? EINVAL : tree_entries(tree_of(self), handle, *pos, count, data, data_size);
    if (!error) {
        *pos += *data_size;
    }
    return result(error);
}

static HRESULT stat_file(IPfs *self, int32_t client, int32_t fobj, PFS_STAT *stat)
{
    struct stat found;
    const int error = tree_stat(tree_of(self), client, fobj, &found);
    if (!error) {
        stat->kind = tree_kind(found.st_mode);
        stat->mode = found.st_mode & 07777;
        stat->size = (uint64_t)found.st_size;
        stat->modified = found.st_mtime;
    }
    return result(error);
}

static HRESULT read_link(IPfs *self, int32_t client, int32_t fobj, char **target)
{
    return result(tree_readlink(tree_of(self), client, fobj, target));
}

static HRESULT create(IPfs *self, int32_t client, int32_t directory, uint32_t length, const uint8_t *name, PFS_KIND kind,
                      uint32_t mode, int32_t *fobj)
{
    const int is_directory = kind == PFS_DIRECTORY;
    if (!is_directory && kind != PFS_FILE) {
        return result(EINVAL);
    }
    return result(tree_create(tree_of(self), client, directory, name_of(length, name), is_directory, mode, fobj));
}

static HRESULT unlink_file(IPfs *self, int32_t client, int32_t directory, uint32_t length, const uint8_t *name)
{
    return result(tree_unlink(tree_of(self), client, directory, name_of(length, name)));
}

static HRESULT rename_file(IPfs *self, int32_t client, int32_t from, uint32_t from_length, const uint8_t *from_name, int32_t to,
                           uint32_t to_length, const uint8_t *to_name)
{
    const Name old = name_of(from_length, from_name);
    return result(tree_rename(tree_of(self), client, from, old, to, name_of(to_length, to_name)));
}

static const IPfsVtbl METHODS = {
    query_interface, add_ref,    release,        attach,    detach,    lookup, open_file,   close_file,
    read_file,       write_file, get_direntries, stat_file, read_link, create, unlink_file, rename_file,
};

IPfs *object_new(Tree *tree)
{
    Pfs *made = malloc(sizeof *made);
    if (!made) {
        return NULL;
    }
    made->methods.lpVtbl = &METHODS;
    atomic_init(&made->references, 1);
    made->tree = tree;
    return &made->methods;
}
