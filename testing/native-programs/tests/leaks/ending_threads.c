// A program that ends while some of its threads end. These threads have looked for a missing
// symbol.
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static void *look(void *nothing) {
    dlsym(NULL, "no_such_symbol");
    return nothing;
}

int main(void) {
    for (int number = 0; number < 40; number++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, look, NULL) != 0 || pthread_detach(thread) != 0) {
            return 2;
        }
    }
    return 0;
}
