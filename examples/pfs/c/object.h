/* The object that serves a tree. */
#ifndef OBJECT_H
#define OBJECT_H

#include "tree.h"

/* Makes the object, which owns the tree from then on; NULL where there is no memory. Its methods are called by one thread at a
 * time: the server's loop sees to that. */
IPfs *object_new(Tree *tree);

#endif
