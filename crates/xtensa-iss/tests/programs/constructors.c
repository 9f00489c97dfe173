/* Runs constructors, last to first, then main, and leaves with its result. The heap is as large as libraries' tests want. */
#include <stdlib.h>
int main(void);
char heap[16 << 20] __attribute__((aligned(16)));
extern void (*constructors[])(void), (*constructors_end[])(void);
void begin(void) {
  for (void (**next)(void) = constructors_end; next != constructors;)
    (*--next)();
  exit(main());
}
