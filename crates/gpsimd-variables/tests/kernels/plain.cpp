// Every kind of variable, each with a value that the test knows. `stop()` is a breakpoint.
#include <stdint.h>

#define stop() __asm__ volatile("break 0, 0" ::: "memory")

namespace shop {

enum class Colour : uint8_t { Red, Green = 4, Blue };
enum Flags : unsigned { kSmall = 1, kRound = 2, kSoft = 4 };

struct Point {
  int x;
  int y;
  static int made;
};
int Point::made = 7;

struct Named : Point {
  const char* name;
  bool isNew : 1;
  unsigned level : 5;
  int change : 4;
};

union Word {
  unsigned whole;
  unsigned char bytes[4];
};

struct Holder {
  struct { int inner; };
  union { int either; short less; };
  Point* corner;
  Point points[2];
};

template <typename T>
struct Box {
  T held;
  T twice() const { T more = held + held; stop(); return more; }
};

const int kLimit = 42;
int counter = 3;
static int table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
typedef int (*Callback)(int);

int doubled(int value) { return value * 2; }

}  // namespace shop

using namespace shop;

volatile int sink;

extern "C" __attribute__((noinline)) int plain(int n, const Point& where, int64_t wide) {
  bool yes = true;
  char letter = 'a';
  signed char small = -5;
  uint8_t byte = 200;
  int16_t half = -300;
  float real = 1.5f;
  double exact = -0.1;
  uint64_t huge = 1ull << 40;
  Colour colour = Colour::Green;
  Flags flags = Flags(kSmall | kSoft);
  const char* text = "hello";
  char name[8] = "abc";
  float numbers[4] = {1, 2.5f, -3, 4};
  int (*grid)[2] = table;
  Point point = {3, -4};
  Point* to = &point;
  Point* none = nullptr;
  void* any = &point;
  Callback call = doubled;
  Named named;
  named.x = 8;
  named.y = 9;
  named.name = text;
  named.isNew = true;
  named.level = 19;
  named.change = -3;
  Word word;
  word.whole = 0x01020304;
  Holder holder;
  holder.inner = 11;
  holder.either = 12;
  holder.corner = &point;
  holder.points[0] = {1, 2};
  holder.points[1] = {5, 6};
  int& alias = point.x;
  static int calls = 5;
  auto closure = [n, &point](int more) { int sum = n + point.x + more; stop(); return sum; };
  int shadowed = 1;
  {
    int shadowed = 2;
    int deeper = 22;
    stop();
    sink = shadowed + deeper;
  }
  sink = closure(4);
  Box<int> box = {21};
  sink = box.twice();
  sink = yes + letter + small + byte + half + int(real) + int(exact) + int(huge) + int(colour) + int(flags) + *text +
         name[0] + int(numbers[0]) + grid[0][0] + to->x + (none == nullptr) + (any != nullptr) + call(1) + named.x +
         word.bytes[0] + holder.inner + alias + calls + shadowed + n + where.x + int(wide) + counter + Point::made;
  return sink;
}

static inline __attribute__((always_inline)) int squared(int base) {
  int result = base * base;
  stop();
  return result;
}

extern "C" __attribute__((noinline)) int inlined(int start) {
  int local = start + 1;
  int area = squared(local);
  return area + local;
}

// What -Os keeps in registers, splits, or drops.
extern "C" __attribute__((noinline)) int optimised(int kept, int dropped) {
  Point split = {kept + 1, kept + 2};
  int constant = 77;
  sink = dropped;
  stop();
  sink = split.x + constant;
  stop();
  return split.y + sink;
}

extern "C" int entry() {
  Point where = {10, 20};
  return plain(6, where, -7) + inlined(4) + optimised(30, 31);
}
