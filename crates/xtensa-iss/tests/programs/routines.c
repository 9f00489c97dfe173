/* Brings the compiler's and the C library's functions that may be computed natively into one image, calls each a few
   times, and prints what comes out. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern float __addsf3(float, float), __subsf3(float, float), __mulsf3(float, float);
extern int __eqsf2(float, float), __gtsf2(float, float), __lesf2(float, float), __gesf2(float, float);
extern int __ltsf2(float, float), __unordsf2(float, float), __fixsfsi(float);
extern float __floatsisf(int), __floatunsisf(unsigned);
extern uint64_t __umulsidi3(unsigned, unsigned);

static uint32_t bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static volatile uint32_t words[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000, 0xbf800001,
                                    0x4b7fffff, 0xcb800001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00001, 0x7f800001};

int main(void) {
  for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
    for (unsigned j = 0; j < sizeof words / sizeof *words; j++) {
      union { uint32_t u; float f; } a = {words[i]}, b = {words[j]};
      uint64_t product = __umulsidi3(a.u, b.u);
      printf("%08lx %08lx: %08lx %08lx %08lx %d%d%d%d%d%d %d %08lx %08lx %08lx%08lx\n", (unsigned long)a.u,
             (unsigned long)b.u, (unsigned long)bits(__addsf3(a.f, b.f)), (unsigned long)bits(__subsf3(a.f, b.f)),
             (unsigned long)bits(__mulsf3(a.f, b.f)), __eqsf2(a.f, b.f), __gtsf2(a.f, b.f), __lesf2(a.f, b.f),
             __gesf2(a.f, b.f), __ltsf2(a.f, b.f), __unordsf2(a.f, b.f), __fixsfsi(a.f),
             (unsigned long)bits(__floatsisf((int)a.u)), (unsigned long)bits(__floatunsisf(a.u)),
             (unsigned long)(product >> 32), (unsigned long)product);
    }
  static char from[64], to[64];
  for (volatile unsigned n = 0; n < 40; n += 7)
    for (volatile unsigned shift = 0; shift < 9; shift += 4) {
      memset(from, 'a' + (int)n % 26, sizeof from - 1);
      memset(from + shift, 'A' + (int)n % 26, n);
      memset(to, 0, sizeof to);
      memcpy(to + shift, from, n);
      memmove(to + 3, to + shift, n);
      memmove(to + shift + 2, to, n);
      printf("%u %s %s\n", (unsigned)strlen(to), from, to);
    }
  return 0;
}
