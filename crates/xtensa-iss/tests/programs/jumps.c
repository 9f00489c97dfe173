/* setjmp and longjmp out of deep frames; walking the frames in memory after a spill. */
#include <setjmp.h>
#include <stdio.h>

extern void xthal_window_spill(void);

static jmp_buf back;

static int __attribute__((noinline)) dive(int depth, int a, int b) {
  if (depth == 0) longjmp(back, a + b);
  int below = dive(depth - 1, b, a + depth);
  return below + a;
}

/* Return addresses from here outwards, read from the save areas below each stack pointer. */
static unsigned __attribute__((noinline)) walk(void) {
  unsigned a0, sp, frames = 0;
  xthal_window_spill();
  __asm__ volatile("mov %0, a0\n mov %1, a1" : "=a"(a0), "=a"(sp));
  while (a0 != 0 && frames < 200) {
    unsigned *area = (unsigned *)(sp - 16);
    a0 = area[0];
    if (area[1] <= sp) break;
    sp = area[1];
    frames++;
  }
  return frames;
}

static unsigned __attribute__((noinline)) deep(int depth, unsigned salt) {
  if (depth == 0) return walk();
  unsigned below = deep(depth - 1, salt * 3 + 1);
  return below + (salt == 0xffffffff);
}

int main(void) {
  for (volatile int depth = 1; depth < 70; depth += 4) {
    volatile int kept = depth * 5;
    int got = setjmp(back);
    if (got == 0) got = dive(depth, 3, depth);
    printf("%d %d %d\n", depth, kept, got);
  }
  for (int depth = 0; depth < 60; depth += 7) printf("%u\n", deep(depth, 1));
  return 0;
}
