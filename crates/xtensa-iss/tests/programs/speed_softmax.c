/* Softmax of rows, with the exponential of the C library. */
#include <math.h>
#include <stdio.h>
#define N 256
static float x[N];
int main(void) {
  float check = 0;
  for (int round = 0; round < 40; round++) {
    float most = -1e9f, sum = 0;
    for (int i = 0; i < N; i++) {
      x[i] = (float)((i * 37 + round * 11) % 101) * 0.1f;
      most = x[i] > most ? x[i] : most;
    }
    for (int i = 0; i < N; i++) sum += x[i] = expf(x[i] - most);
    for (int i = 0; i < N; i++) x[i] /= sum;
    check += x[round];
  }
  printf("%d\n", (int)(check * 1e6f));
  return 0;
}
