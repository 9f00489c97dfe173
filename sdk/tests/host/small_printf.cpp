// SPDX-License-Identifier: Apache-2.0
//
// The SDK's printf against the host's: every kind of conversion, and doubles of every magnitude. Exit code 0 when all agree.
// The sources are included under other names, because the host's C library has these already.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define printf small_printf
#define vprintf small_vprintf
#define snprintf small_snprintf
#define sprintf small_sprintf
#define vsprintf small_vsprintf
#define vsnprintf small_vsnprintf
#define puts small_puts
#define putchar small_putchar
#include "../../src/c10/stdio_integers.cpp"
#include "../../src/c10/stdio_floats.cpp"
#undef printf
#undef vprintf
#undef snprintf
#undef sprintf
#undef vsprintf
#undef vsnprintf
#undef puts
#undef putchar

static std::string sent;
extern "C" void neuron_emit(int, const char* text, size_t n) { sent.append(text, n); }

static int wrong;

template <typename... A>
static void same(const char* format, A... arguments) {
    char want[2048], got[2048];
    const int n = std::snprintf(want, sizeof want, format, arguments...);
    const int m = small_snprintf(got, sizeof got, format, arguments...);
    if (n == m && std::strcmp(want, got) == 0) return;
    if (wrong++ < 20) std::printf("%s: \"%s\" (%d), the host's \"%s\" (%d)\n", format, got, m, want, n);
}

int main() {
    for (const char* flags : {"", "-", "+", " ", "0", "#", "-+", "+0", "#0", "- "})
        for (const char* size : {"", "1", "7", "20", ".0", ".3", "8.5", "20.12"}) {
            const auto format = [&](const char* letter) { return std::string("[%") + flags + size + letter + "]"; };
            for (int v : {0, 1, -1, 9, 42, -12345, 2147483647, -2147483647 - 1})
                for (const char* letter : {"d", "i", "u", "x", "X", "o", "hd", "hhd", "hu", "hhx", "c"}) {
                    if (*letter == 'c' && (std::strchr(size, '.') || v <= 0 || v > 127)) continue;
                    same(format(letter).c_str(), v);
                }
            for (long long v : {0ll, 1ll, -1ll, 1234567890123ll, 9223372036854775807ll, -9223372036854775807ll - 1, 4294967296ll})
                for (const char* letter : {"lld", "llu", "llx", "llo", "llX"}) same(format(letter).c_str(), v);
            for (const char* s : {"", "a", "some text"}) same(format("s").c_str(), s);
            if (!std::strpbrk(flags, "+ 0#")) same(format("p").c_str(), static_cast<void*>(&wrong));  // others mean nothing for %p
            for (double v : {0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 0.1, 9.5, 9.99999, 99.99995, 123456.0, 1234567.0, 1e-4, 9.9999e-5, 1e-5, 3.14159265358979,
                             1e15, 1e22, 1e23, 1.7976931348623157e308, 2.2250738585072014e-308, 4.9406564584124654e-324, 0.000123456789,
                             HUGE_VAL, -HUGE_VAL})
                for (const char* letter : {"f", "F", "e", "E", "g", "G"}) {
                    if (std::isinf(v) && std::strchr(flags, '0')) continue;
                    same(format(letter).c_str(), v);
                }
        }
    unsigned long long state = 88172645463325252ull;
    for (int k = 0; k < 20000; ++k) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        double any;
        std::memcpy(&any, &state, sizeof any);
        float single;
        const unsigned int low = static_cast<unsigned int>(state);
        std::memcpy(&single, &low, sizeof single);
        if (!std::isnan(any)) same("%.17g %e %f", any, any, std::fabs(any) < 1e60 ? any : 0.0);
        if (!std::isnan(single)) same("%g %.9g %.3f %.0f %10.2e", single, single, single, single, single);
        same("%.1f %.2f %.0f", k / 8.0, k / 16.0, k / 2.0);
    }
    same("%-*d|%*.*f|%%|%5s", 6, 42, 9, 2, 2.675, "ab");
    char small[4];
    if (small_snprintf(small, sizeof small, "%d", 123456) != 6 || std::strcmp(small, "123") != 0) ++wrong;
    small_printf("one %d\ntwo %.1f", 1, 2.0);
    iprintf(" and %s\nrest", "three");
    if (sent != "one 1\ntwo 2.0 and three\n") ++wrong, std::printf("sent %s\n", sent.c_str());
    neuron_flush_line();
    if (sent != "one 1\ntwo 2.0 and three\nrest") ++wrong, std::printf("sent %s\n", sent.c_str());
    if (wrong) std::printf("%d differ\n", wrong);
    return wrong != 0;
}
