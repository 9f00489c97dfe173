/* Library code: sorting through a callback, formatting, parsing, string search, heap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

int main(void) {
  static int numbers[500];
  unsigned seed = 1;
  for (int i = 0; i < 500; i++) numbers[i] = (int)(seed = seed * 1103515245u + 12345u) >> 7;
  qsort(numbers, 500, sizeof *numbers, by_value);
  for (int i = 0; i < 500; i += 17) printf("%d %x %8o|\n", numbers[i], (unsigned)numbers[i], (unsigned)numbers[i]);
  char *texts[40];
  for (int i = 0; i < 40; i++) {
    texts[i] = malloc((size_t)(i * 5 % 23 + 24));
    sprintf(texts[i], "%c%05d:%-6s|%lld", 'a' + i % 26, i * 977, "xyz" + i % 3, (long long)i * i * i * -123456789ll);
  }
  for (int i = 0; i < 40; i += 2) free(texts[i]);
  for (int i = 1; i < 40; i += 2) printf("%s %d\n", texts[i], (int)(strchr(texts[i], ':') - texts[i]));
  printf("%ld %lu %d\n", strtol("-0x7fffabcd", 0, 0), strtoul("4294967295", 0, 10), memcmp("abc", "abd", 3));
  return 0;
}
