/* A directory tree. Its files are reached by numbers, and no name leads out of the tree. Only one
 * thread at a time may use a tree. Functions return 0 or an error number. */
#ifndef TREE_H
#define TREE_H

#include "pfs.h"

#include <stddef.h>
#include <sys/stat.h>

typedef struct Tree Tree;

/* A name in the caller's memory, which the caller may change at any time. */
typedef struct Name {
    const uint8_t *bytes;
    uint32_t length;
} Name;

/* Opens the tree below a directory. */
int tree_new(const char *root, int is_writable, Tree **tree);
void tree_free(Tree *tree);

int tree_attach(Tree *tree, int32_t *client);
int tree_detach(Tree *tree, int32_t client);
int tree_lookup(Tree *tree, int32_t client, int32_t directory, Name name, int32_t *fobj);
int tree_open(Tree *tree, int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle);
int tree_close(Tree *tree, int32_t handle);
int tree_read(Tree *tree, int32_t handle, int64_t pos, uint32_t len, uint8_t *data, uint32_t *got);
int tree_write(Tree *tree, int32_t handle, int64_t pos, uint32_t len, const uint8_t *data);
int tree_entries(Tree *tree, int32_t handle, int64_t from, uint32_t room, PFS_ENTRY *entries, uint32_t *got);
int tree_stat(Tree *tree, int32_t client, int32_t fobj, struct stat *found);
int tree_readlink(Tree *tree, int32_t client, int32_t fobj, char **target);
int tree_create(Tree *tree, int32_t client, int32_t directory, Name name, int is_directory, uint32_t mode, int32_t *fobj);
int tree_unlink(Tree *tree, int32_t client, int32_t directory, Name name);
int tree_rename(Tree *tree, int32_t client, int32_t from, Name from_name, int32_t to, Name to_name);

/* Returns the kind of a file by its mode. */
PFS_KIND tree_kind(mode_t mode);

#endif
