/* Turns for the use of the file system: one call at a time, short calls before long ones. */
#ifndef TURNS_H
#define TURNS_H

#include <pthread.h>

/* The duration of a call. */
typedef enum Length {
    SHORT,
    LONG
} Length;

/* The maximum number of short calls in a row while a long call waits. */
#define IN_A_ROW_MAX 16

typedef struct Turns {
    pthread_mutex_t lock;
    pthread_cond_t given;
    int is_taken;
    unsigned in_a_row;
    unsigned waiting[2];
} Turns;

#define TURNS_NEW {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, {0, 0}}

/* Waits for the turn of a call with this length. */
void turns_take(Turns *turns, Length length);
/* Ends the turn. */
void turns_give(Turns *turns);

#endif
