/* Sorts numbers, again and again. */
#include <stdio.h>
#define N 4096
static unsigned x[N];
static void sort(unsigned *p, int n) {
  while (n > 1) {
    unsigned pivot = p[n / 2];
    int i = 0, j = n - 1;
    while (i <= j) {
      while (p[i] < pivot) i++;
      while (p[j] > pivot) j--;
      if (i <= j) {
        unsigned t = p[i];
        p[i++] = p[j];
        p[j--] = t;
      }
    }
    sort(p, j + 1);
    p += i;
    n -= i;
  }
}
int main(void) {
  unsigned state = 1, sum = 0;
  for (int round = 0; round < 60; round++) {
    for (int i = 0; i < N; i++) x[i] = state = state * 1664525 + 1013904223;
    sort(x, N);
    sum = sum * 31 + x[N / 3];
  }
  printf("%u\n", sum);
  return 0;
}
