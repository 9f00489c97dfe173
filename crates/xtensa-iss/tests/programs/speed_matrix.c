/* Matrix product, clamp, checksum: single precision without hardware for it. */
#include <stdio.h>
#define N 96
static float a[N][N], b[N][N], c[N][N];
int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = (float)((i * 7 + j * 3) % 19) * 0.25f - 2.0f;
      b[i][j] = (float)((i * 5 + j * 11) % 23) * 0.125f - 1.0f;
    }
  float sum = 0;
  for (int round = 0; round < 4; round++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        float dot = 0;
        for (int k = 0; k < N; k++) dot += a[i][k] * b[k][j];
        c[i][j] = dot < -8.0f ? -8.0f : dot > 8.0f ? 8.0f : dot;
        sum += c[i][j];
      }
  printf("%d\n", (int)sum);
  return 0;
}
