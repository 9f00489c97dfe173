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
extern float __divsf3(float, float), __truncdfsf2(double);
extern unsigned __fixunssfsi(float), __fixunsdfsi(double);
extern double __adddf3(double, double), __subdf3(double, double), __muldf3(double, double), __divdf3(double, double);
extern int __eqdf2(double, double), __gtdf2(double, double), __ledf2(double, double), __gedf2(double, double);
extern int __ltdf2(double, double), __unorddf2(double, double), __fixdfsi(double);
extern double __floatsidf(int), __floatunsidf(unsigned), __extendsfdf2(float);
extern int __divsi3(int, int), __modsi3(int, int);
extern unsigned __udivsi3(unsigned, unsigned), __umodsi3(unsigned, unsigned);

static uint32_t bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static void print_double(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  printf(" %08lx%08lx", (unsigned long)(u >> 32), (unsigned long)u);
}

static volatile uint64_t doubles[] = {0,
                                      1,
                                      0x000fffffffffffff,
                                      0x0010000000000000,
                                      0x3ff0000000000000,
                                      0x3ff0000000000001,
                                      0x4340000000000001,
                                      0x41efffffffe00000,
                                      0x47efffffe0000000,
                                      0x7fefffffffffffff,
                                      0x7ff0000000000000,
                                      0x7ff8000000000001};

static void doubles_and_divisions(void) {
  for (unsigned i = 0; i < 2 * sizeof doubles / sizeof *doubles; i++)
    for (unsigned j = 0; j < 2 * sizeof doubles / sizeof *doubles; j++) {
      union { uint64_t u; double f; } a = {doubles[i / 2] | (uint64_t)(i & 1) << 63}, b = {doubles[j / 2] | (uint64_t)(j & 1) << 63};
      print_double(a.f), print_double(b.f), print_double(__adddf3(a.f, b.f)), print_double(__subdf3(a.f, b.f));
      print_double(__muldf3(a.f, b.f)), print_double(__divdf3(a.f, b.f));
      printf(" %d%d%d%d%d%d %d %u %08lx\n", __eqdf2(a.f, b.f), __gtdf2(a.f, b.f), __ledf2(a.f, b.f), __gedf2(a.f, b.f),
             __ltdf2(a.f, b.f), __unorddf2(a.f, b.f), __fixdfsi(a.f), __fixunsdfsi(a.f), (unsigned long)bits(__truncdfsf2(a.f)));
      unsigned p = (unsigned)a.u | i, q = (unsigned)(b.u >> 20) | j | 1;
      print_double(__floatsidf((int)p)), print_double(__floatunsidf(q));
      printf(" %d %d %u %u\n", __divsi3((int)p, (int)q), __modsi3((int)p, (int)q), __udivsi3(p, q), __umodsi3(p, q));
    }
}

/* Calls one routine with many operands, and keeps what it returns in their place. */
void drive(uint64_t (*routine)(uint32_t, uint32_t, uint32_t, uint32_t), uint32_t (*operands)[4], unsigned count, int wide) {
  for (; count > 0; count--, operands++) {
    uint64_t result = routine((*operands)[0], (*operands)[1], (*operands)[2], (*operands)[3]);
    (*operands)[0] = (uint32_t)result;
    if (wide) (*operands)[1] = (uint32_t)(result >> 32);
  }
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
      printf("%08lx %u", (unsigned long)bits(__divsf3(a.f, b.f)), __fixunssfsi(a.f));
      print_double(__extendsfdf2(a.f));
      printf("\n");
    }
  doubles_and_divisions();
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
