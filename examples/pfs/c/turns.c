/* See turns.h. */
#include "turns.h"

static int may_go(const Turns *turns, Length length)
{
    const int is_long_due = turns->waiting[LONG] && (!turns->waiting[SHORT] || turns->in_a_row >= IN_A_ROW_MAX);
    return !turns->is_taken && (length == LONG) == is_long_due;
}

void turns_take(Turns *turns, Length length)
{
    pthread_mutex_lock(&turns->lock);
    turns->waiting[length]++;
    while (!may_go(turns, length)) {
        pthread_cond_wait(&turns->given, &turns->lock);
    }
    turns->waiting[length]--;
    turns->in_a_row = length == SHORT && turns->waiting[LONG] ? turns->in_a_row + 1 : 0;
    turns->is_taken = 1;
    pthread_mutex_unlock(&turns->lock);
}

void turns_give(Turns *turns)
{
    pthread_mutex_lock(&turns->lock);
    turns->is_taken = 0;
    pthread_cond_broadcast(&turns->given);
    pthread_mutex_unlock(&turns->lock);
}
