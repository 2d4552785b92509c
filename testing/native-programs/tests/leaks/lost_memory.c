// A program that loses memory.
#include <stdlib.h>

int main(void) {
    void *volatile lost = malloc(24);
    lost = NULL;
    return lost != NULL;
}
