// A little of everything a custom op links: constructors, tables, weak names, the C and C++ libraries.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

extern "C" void _init();
extern "C" void _fini();
extern "C" int not_there(int) __attribute__((weak));
extern char _bss_start[], _bss_end[];
extern unsigned _memmap_seg_sram0_0_max[];

namespace {
struct Counter {
    int value;
    explicit Counter(int start) : value(start) {}
};
Counter counter(41);
std::vector<int> numbers{3, 1, 2};
const char* const names[] = {"customop", "other"};
unsigned looks_like_an_address = 0x84012344;
unsigned* bank_end = _memmap_seg_sram0_0_max;
void* functions[] = {reinterpret_cast<void*>(not_there), nullptr};
char zeroed[5000];
}  // namespace

int pick(int which) {
    switch (which) {
    case 0: return 17;
    case 1: return counter.value;
    case 2: return static_cast<int>(numbers.size());
    case 3: return zeroed[which];
    case 4: return -5;
    case 5: return not_there ? not_there(1) : 9;
    default: return static_cast<int>(looks_like_an_address);
    }
}

// In a library these sit in another object than their caller: nothing may be known about them here.
#define ELSEWHERE __attribute__((noipa))
ELSEWHERE int get_func_cnt() { return 1; }
ELSEWHERE const char* get_func_name(int index) { return names[index & 1]; }
ELSEWHERE void* get_func_ptr(int) { return reinterpret_cast<void*>(&pick); }

extern "C" ELSEWHERE void switchBack() { zeroed[1]++; }

extern "C" void _start() {
    _init();
    std::sort(numbers.begin(), numbers.end());
    std::map<std::string, float> table;
    table["a"] = 1.5f * static_cast<float>(pick(static_cast<int>(numbers[0])));
    std::printf("%s %f %d\n", get_func_name(0), static_cast<double>(table["a"]), static_cast<int>(_bss_end - _bss_start));
    *bank_end = functions[get_func_cnt()] != get_func_ptr(0);
    switchBack();
    _fini();
}
