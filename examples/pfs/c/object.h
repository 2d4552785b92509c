/* The object that serves a tree. */
#ifndef OBJECT_H
#define OBJECT_H

#include "tree.h"

/* Creates the object, or returns NULL without memory. The object owns the tree. Only one thread at
 * a time may call its methods, which the server loop ensures. */
IPfs *object_new(Tree *tree);

#endif
