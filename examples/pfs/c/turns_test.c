/* Tests the order of turns while all calls wait: short calls first, and a long call after
   IN_A_ROW_MAX short ones. */
#include "turns.h"

#include <stdio.h>
#include <string.h>

#define SHORT_CALLS (IN_A_ROW_MAX + 4)

static Turns turns = TURNS_NEW;
/* The lengths of the calls in the order of their turns. Only the call that has the turn writes
   here. */
static char order[SHORT_CALLS + 2];

static void *call(void *length)
{
    turns_take(&turns, *(const Length *)length);
    order[strlen(order)] = *(const Length *)length == SHORT ? 's' : 'L';
    turns_give(&turns);
    return NULL;
}

/* Starts a call on a thread, and waits until it queues for its turn. */
static int start(pthread_t *thread, const Length *length)
{
    unsigned before, waiting;
    pthread_mutex_lock(&turns.lock);
    before = turns.waiting[*length];
    pthread_mutex_unlock(&turns.lock);
    if (pthread_create(thread, NULL, call, (void *)length) != 0) {
        return 0;
    }
    do {
        pthread_mutex_lock(&turns.lock);
        waiting = turns.waiting[*length];
        pthread_mutex_unlock(&turns.lock);
    } while (waiting == before);
    return 1;
}

int main(void)
{
    static const Length a_short = SHORT, a_long = LONG;
    pthread_t threads[SHORT_CALLS + 1];
    char expected[SHORT_CALLS + 2];
    int at;
    turns_take(&turns, SHORT);
    for (at = 0; at <= SHORT_CALLS; at++) {
        if (!start(&threads[at], at == 0 ? &a_long : &a_short)) {
            fprintf(stderr, "a thread could not be made\n");
            return 1;
        }
    }
    turns_give(&turns);
    for (at = 0; at <= SHORT_CALLS; at++) {
        pthread_join(threads[at], NULL);
    }
    memset(expected, 's', sizeof expected);
    expected[IN_A_ROW_MAX] = 'L';
    expected[SHORT_CALLS + 1] = 0;
    if (strcmp(order, expected) != 0) {
        fprintf(stderr, "turns were %s, not %s\n", order, expected);
        return 1;
    }
    return 0;
}
