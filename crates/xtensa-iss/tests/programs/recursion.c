/* Windows over and under the register file's size, stack frames that grow, calls through pointers. */
#include <alloca.h>
#include <stdio.h>
#include <string.h>

static unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

typedef unsigned (*step)(unsigned depth, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e);
static unsigned left(unsigned, unsigned, unsigned, unsigned, unsigned, unsigned);
static unsigned right(unsigned, unsigned, unsigned, unsigned, unsigned, unsigned);
static volatile step steps[2] = {left, right};

static unsigned left(unsigned depth, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e) {
  if (depth == 0) return a ^ b ^ c ^ d ^ e;
  char *room = alloca(depth % 7 * 8 + 8);
  memset(room, (int)a, depth % 7 * 8 + 8);
  unsigned below = steps[depth & 1](depth - 1, b, c, d, e, a + depth);
  return below * 31 + (unsigned char)room[depth % 8] + a - b + c - d + e;
}

static unsigned right(unsigned depth, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e) {
  if (depth == 0) return a + b + c + d + e;
  unsigned first = steps[(depth >> 1) & 1](depth - 1, e, d, c, b, a);
  unsigned second = depth < 12 ? left(depth / 2, first, a, b, c, d) : first;
  return (first << 3 | first >> 29) ^ second ^ depth;
}

int main(void) {
  printf("%u %u\n", ackermann(2, 20), ackermann(3, 5));
  for (unsigned depth = 0; depth < 90; depth += 3) printf("%08x\n", left(depth, 1, 2, 3, 4, depth));
  return 7;
}
