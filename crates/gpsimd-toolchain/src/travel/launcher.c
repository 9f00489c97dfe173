/* SPDX-License-Identifier: Apache-2.0
   Starts the program of its own name in `host/real`, with the loader and the
   libraries of `host`.  It takes nothing from the machine but the kernel: no
   loader, no C library, no shell; and it tells assembler, linker and their
   like which core they work for, so that no caller has to.  Compilers are
   not told: newer ones would choose other instructions by it. */

typedef unsigned long word;

enum { WRITE = 1, OPEN = 2, ACCESS = 21, EXECVE = 59, EXIT = 60, READLINK = 89 };
enum { EXECFN = 31, EXECUTABLE = 1, DIRECTORY = 0200000, PATH = 4096 };

static long call(long number, const void *a, const void *b, const void *c)
{
    long result;
    register word fourth __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

static word length(const char *text)
{
    word n = 0;
    while (text[n])
        n++;
    return n;
}

/* Where the end of the result is. */
static char *append(char *to, const char *from)
{
    while ((*to = *from)) {
        to++;
        from++;
    }
    return to;
}

static int begins(const char *text, const char *start)
{
    while (*start)
        if (*text++ != *start++)
            return 0;
    return 1;
}

static int has_separator(const char *path)
{
    for (; *path; path++)
        if (*path == ':' || *path == ';')
            return 1;
    return 0;
}

/* gcc, g++, cc1, cc1plus. */
static int is_compiler(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    word n = length(name);
    return begins(name, "cc1") || (n >= 3 && (begins(name + n - 3, "gcc") || begins(name + n - 3, "g++")));
}

static void decimal(char *to, long number)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n)
        *to++ = digits[--n];
    *to = 0;
}

__attribute__((noreturn)) static void fail(const char *what, const char *path)
{
    const char *parts[] = { what, ": ", path, "\n" };
    for (int i = 0; i < 4; i++)
        call(WRITE, (void *)2, parts[i], (void *)length(parts[i]));
    call(EXIT, (void *)127, 0, 0);
    __builtin_unreachable();
}

static char self[PATH], root[PATH];
static char loader[2 * PATH], libraries[2 * PATH], program[2 * PATH], core[2 * PATH];

/* Where there is no /proc, as in the chroots of some compile servers: the path that the kernel was given. */
static long started_as(const word *auxiliary)
{
    for (; auxiliary[0] != 0; auxiliary += 2) {
        const char *path = (const char *)auxiliary[1];
        if (auxiliary[0] == EXECFN && path[0] == '/' && length(path) < PATH)
            return append(self, path) - self;
    }
    fail("a program of the toolchain finds itself by this file, which is not there", "/proc/self/exe");
}

__attribute__((used)) static void start(word *stack)
{
    word count = *stack;
    char **words = (char **)(stack + 1), **variables = words + count + 1, **end = variables;
    while (*end)
        end++;

    long n = call(READLINK, "/proc/self/exe", self, (void *)(PATH - 1));
    if (n > 0)
        self[n] = 0;
    else
        n = started_as((const word *)(end + 1));

    /* The nearest directory above that has a loader holds the programs. */
    append(root, self);
    for (long at = n - 1;; at--) {
        while (at > 0 && root[at] != '/')
            at--;
        if (at <= 0)
            fail("the toolchain is not complete: host/loader is in no directory above", self);
        root[at] = 0;
        append(append(loader, root), "/host/loader");
        if (call(ACCESS, loader, (void *)EXECUTABLE, 0) == 0)
            break;
    }
    append(append(libraries, root), "/host/lib");
    if (has_separator(root)) {
        /* The loader would take the name apart; a descriptor's name has none of these. */
        long fd = call(OPEN, libraries, (void *)DIRECTORY, 0);
        if (fd >= 0)
            decimal(append(libraries, "/proc/self/fd/"), fd);
    }
    append(append(append(program, root), "/host/real"), self + length(root));
    append(append(append(core, "XTENSA_GNU_CONFIG="), root), "/../lib/xtensa-q7.so");

    const char **argv = __builtin_alloca((count + (end - variables) + 12) * sizeof *argv), **out = argv;
    *out++ = loader;
    *out++ = "--inhibit-cache";
    *out++ = "--library-path";
    *out++ = libraries;
    *out++ = "--argv0";
    *out++ = self;
    *out++ = program;
    for (word i = 1; i < count; i++)
        *out++ = words[i];
    *out++ = 0;
    /* What would load the machine's libraries beside ours is left out. */
    const char **environment = out;
    for (char **variable = variables; variable < end; variable++)
        if (!begins(*variable, "LD_") && !begins(*variable, "XTENSA_GNU_CONFIG="))
            *out++ = *variable;
    if (!is_compiler(self))
        *out++ = core;
    *out = 0;
    call(EXECVE, loader, argv, environment);
    fail("cannot start", loader);
}

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n\thlt\n");
