/* Software floating point, 64-bit arithmetic, the mathematical library. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t bits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

int main(void) {
  uint32_t sum = 0, seed = 99;
  for (int i = 0; i < 400; i++) {
    uint32_t u = seed = seed * 1664525u + 1013904223u, v = seed = seed * 1664525u + 1013904223u;
    float a, b;
    memcpy(&a, &u, 4);
    memcpy(&b, &v, 4);
    sum = sum * 33 ^ bits(a + b) ^ bits(a * b) ^ bits(a / b) ^ (uint32_t)(a < b);
    int64_t wide = (int64_t)((uint64_t)u << 32 | v);
    sum += (uint32_t)(wide / (int32_t)(v | 1)) ^ (uint32_t)(wide >> (u & 63)) ^ (uint32_t)((uint64_t)wide % (u | 1));
    sum ^= bits((float)wide) + (uint32_t)(int64_t)(double)(int32_t)u;
  }
  printf("%08x\n", sum);
  for (int i = 1; i < 20; i++) {
    double x = i * 0.37;
    printf("%a %.12g %.9e %08x\n", sin(x), exp(x) + log(x), pow(x, 1.5), bits(sqrtf((float)x)));
  }
  return 0;
}
