/* The object that serves a tree. */
#ifndef OBJECT_H
#define OBJECT_H

#include "tree.h"

/* Makes the object, which owns the tree from then on; NULL without memory. Only one thread at a
 * time may call its methods, which the server loop makes sure of. */
IPfs *object_new(Tree *tree);

#endif
