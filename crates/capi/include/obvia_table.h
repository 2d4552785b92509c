/* The tables of generated stubs for methods with pointers in their parameters. By these tables the
 * library writes, verifies and frees the parameters. Not for other code: the tables change with the
 * compiler.
 *
 * A table is a sequence of words. Each item is followed by its components. A list is preceded by
 * its length (n), an optional item by OBVIA_NONE or OBVIA_SOME. Sizes and offsets are in bytes.
 * Offsets are the same in memory and in frames.
 *
 *     types:   n types
 *     type:    its size, a shape; a tail or none
 *     tail:    its offset, the size of an element, a shape, a number; another number (elements in
 *              use) or none
 *     shape:   n runs of bytes that are values: offset and length; n parts: offset and part, as
 *              listed below
 *     method:  opnum, whether it is oneway, the request's block, the reply's block, n outer numbers,
 *              n parameters
 *     block:   its size, a shape
 *     outer:   the index of the parameter, and the type of its integer, or the half of its GUID
 *     parameter: OBVIA_PLACE if callers pass a pointer to the value in the block, OBVIA_SLOT if
 *              they pass the value; its size in the block; its offset in the request or none; its
 *              offset in the reply or none
 */
#ifndef OBVIA_TABLE_H
#define OBVIA_TABLE_H

#include "obvia_stub.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether an optional item is present. */
enum { OBVIA_NONE, OBVIA_SOME };

/* The kinds of parts of a shape, and the components that follow each kind. */
enum {
    OBVIA_BOOLEAN, /* nothing */
    OBVIA_ENUMERATION, /* n values, in ascending order */
    OBVIA_RANGE,   /* an integer's type, the least and the greatest value */
    OBVIA_POINTER, /* a class, a type by its number, an extent */
    OBVIA_OBJECT,  /* the source of an IID */
    OBVIA_INNER,   /* the number of elements, their distance in bytes, a shape */
    OBVIA_UNION,   /* a number: the discriminant; n arms, each n discriminants and a shape; a shape for all others or none */
    OBVIA_UTF8,    /* nothing: the preceding part, at the same offset, points to a UTF-8 string */
    OBVIA_ENDED    /* nothing: the preceding part, at the same offset, points to an array that holds a string */
};

/* The classes of pointers. */
enum { OBVIA_REF, OBVIA_UNIQUE, OBVIA_FULL };

/* The type numbers of 8-bit and 16-bit characters. */
enum { OBVIA_CHAR = 2, OBVIA_WIDE = 3 };

/* The kinds of a pointer's target, and the components that follow each kind. The kind determines
 * the number of elements. */
enum {
    OBVIA_ONE,     /* nothing */
    OBVIA_COUNTED, /* a number: the conformance; another (elements in use) or none */
    OBVIA_TEXT     /* nothing */
};

/* The source of the IID of an object's interface. */
enum {
    OBVIA_IID,        /* the halves of the IID */
    OBVIA_IID_MEMBER, /* the offset of the IID */
    OBVIA_IID_OUTER   /* the first of two outer numbers */
};

/* The kinds of numbers, and the components that follow each kind. */
enum {
    OBVIA_CONST,  /* the number */
    OBVIA_MEMBER, /* the offset of an integer, and its type */
    OBVIA_OUTER,  /* an outer number, by its index */
    OBVIA_UNARY,  /* an operator, a number */
    OBVIA_BINARY, /* an operator, two numbers */
    OBVIA_CHOOSE  /* three numbers, as for ?: */
};

/* The types of integers. The last two types are the halves of a GUID; only outer numbers can have
 * them. */
enum {
    OBVIA_I8, OBVIA_U8, OBVIA_I16, OBVIA_U16, OBVIA_I32, OBVIA_U32, OBVIA_I64, OBVIA_U64, OBVIA_UPPER, OBVIA_LOWER
};

/* The operators of one operand, and those of two. */
enum { OBVIA_MINUS, OBVIA_COMPLEMENT, OBVIA_NOT };
enum {
    OBVIA_ADD, OBVIA_SUBTRACT, OBVIA_MULTIPLY, OBVIA_DIVIDE, OBVIA_REMAINDER, OBVIA_SHIFT_LEFT, OBVIA_SHIFT_RIGHT,
    OBVIA_AND, OBVIA_OR, OBVIA_BIT_AND, OBVIA_BIT_OR, OBVIA_BIT_XOR,
    OBVIA_EQUAL, OBVIA_UNEQUAL, OBVIA_LESS, OBVIA_LESS_OR_EQUAL, OBVIA_GREATER, OBVIA_GREATER_OR_EQUAL
};

/* The kinds of a method's parameters. */
enum { OBVIA_SLOT, OBVIA_PLACE };

/* The types of an interface's objects, numbered from 16 on. */
typedef struct obvia_types {
    const int64_t *words;
    size_t count;
    /* The library's form of the words, made at the first use. */
    void *made;
} obvia_types;

/* A method. */
typedef struct obvia_method {
    obvia_types *types;
    const int64_t *words;
    size_t count;
    /* The library's form of the words, made at the first use. */
    void *made;
} obvia_method;

#define OBVIA_TABLE(words) (words), sizeof(words) / sizeof *(words), NULL

/* Calls a method of an object in another process. `arguments` has an entry for each parameter, in
 * the order of the IDL: for an OBVIA_PLACE the pointer that the caller passes, for an OBVIA_SLOT
 * the address of the parameter. */
HRESULT obvia_call_by_table(void *proxy, obvia_method *method, const void *const *arguments);

/* Calls a method of an object of this process, with the arguments of obvia_call_by_table(). */
typedef HRESULT obvia_invoke(void *object, void **arguments);

/* Serves a call: verifies the request, calls the method, and answers. */
obvia_answer obvia_serve_by_table(void *object, obvia_call *call, obvia_method *method, obvia_invoke *invoke);

/* Frees elements with all data that they lead to. */
void obvia_free_elements(obvia_types *types, uint32_t type, void *first, size_t count);
/* Frees the data that elements lead to, and zeroes the elements themselves, which have `bytes`
 * bytes in all. */
void obvia_clear_elements(obvia_types *types, uint32_t type, void *first, size_t count, size_t bytes);
/* Copies elements with all data that they lead to. */
HRESULT obvia_copy_elements(obvia_types *types, uint32_t type, const void *first, size_t count, void **copy);

#ifdef __cplusplus
}
#endif

#endif
