/* Copies blocks of 2 KiB with memcpy. */
#include <stdio.h>
#include <string.h>
static char from[4096], to[4096];
int main(void) {
  unsigned sum = 0;
  for (unsigned round = 0; round < 20000; round++) {
    from[round % sizeof from] = (char)round;
    memcpy(to + round % 64, from + round % 128, 2048);
    sum += (unsigned char)to[round % 2048];
  }
  printf("%u\n", sum);
  return 0;
}
