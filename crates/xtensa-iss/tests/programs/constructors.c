/* Runs constructors, last to first, then main, and leaves with its result. */
#include <stdlib.h>
int main(void);
extern void (*constructors[])(void), (*constructors_end[])(void);
void begin(void) {
  for (void (**next)(void) = constructors_end; next != constructors;)
    (*--next)();
  exit(main());
}
