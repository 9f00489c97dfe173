/* Runs main and leaves with its result. */
#include <stdlib.h>
int main(void);
void begin(void) { exit(main()); }
