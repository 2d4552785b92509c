/* Who may use the file system: one call at a time, short ones before long ones. */
#ifndef TURNS_H
#define TURNS_H

#include <pthread.h>

/* How long a call takes. */
typedef enum Length {
    SHORT,
    LONG
} Length;

/* Short calls that may go one after another while a long one waits. */
#define IN_A_ROW_MAX 16

typedef struct Turns {
    pthread_mutex_t lock;
    pthread_cond_t given;
    int is_taken;
    unsigned in_a_row;
    unsigned waiting[2];
} Turns;

#define TURNS_NEW {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, {0, 0}}

/* Waits until it is the turn of a call of this length. */
void turns_take(Turns *turns, Length length);
/* Lets the next one have its turn. */
void turns_give(Turns *turns);

#endif
