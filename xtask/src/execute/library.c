// SPDX-License-Identifier: Apache-2.0
// What programs under comparison are linked with: how they end, and for 32-bit machines the part of the C library that
// programs without inputs use. Compiled with -DHOSTED for machines with a C library of their own.

typedef __SIZE_TYPE__ size_t;

#ifdef HOSTED

void _exit(int) __attribute__((noreturn));
#define leave _exit

#else

static void __attribute__((noreturn)) leave(int code) {
    for (;;) __asm__ volatile("int $0x80" : : "a"(1), "b"(code) : "memory");
}

int main();

__attribute__((force_align_arg_pointer, used)) static void begin(void) { leave(main() & 63); }

void __attribute__((naked, noreturn)) _start(void) { __asm__ volatile("xor %ebp, %ebp\n call begin"); }

void abort(void) { leave(98); }
void exit(int code) { leave(code & 63); }
void _exit(int code) { leave(code & 63); }

static char heap[200000000] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t size) {
    size_t *header = (size_t *)(heap + used);
    size_t end = used + 16 + ((size + 31) & ~15u);
    if (size > sizeof heap || end > sizeof heap) leave(97);
    used = end;
    header[0] = size;
    return (char *)header + 16;
}

void *memcpy(void *to, const void *from, size_t n) {
    char *t = to;
    const char *f = from;
    while (n--) *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    char *t = to;
    const char *f = from;
    if (t <= f) return memcpy(to, from, n);
    while (n--) t[n] = f[n];
    return to;
}

void *memset(void *to, int byte, size_t n) {
    char *t = to;
    while (n--) *t++ = byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (; n--; x++, y++)
        if (*x != *y) return *x < *y ? -1 : 1;
    return 0;
}

void *calloc(size_t n, size_t size) { return memset(malloc(n * size), 0, n * size); }
void free(void *object) { (void)object; }

void *realloc(void *old, size_t size) {
    void *object = malloc(size);
    size_t before = old ? ((size_t *)old)[-4] : 0;
    return memcpy(object, old, before < size ? before : size);
}

size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

int strcmp(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

char *strcpy(char *to, const char *from) {
    memcpy(to, from, strlen(from) + 1);
    return to;
}

int printf(const char *format, ...) { return 0; }
int puts(const char *s) { return 0; }
int putchar(int c) { return c; }

// 64-bit division, which the compiler calls.
unsigned long long __udivmoddi4(unsigned long long a, unsigned long long b, unsigned long long *rest) {
    unsigned long long quotient = 0, left = 0;
    for (int i = 63; i >= 0; i--) {
        int carry = left >> 63;
        left = left << 1 | (a >> i & 1);
        if (carry || left >= b) {
            left -= b;
            quotient |= 1ull << i;
        }
    }
    if (rest) *rest = left;
    return quotient;
}

unsigned long long __udivdi3(unsigned long long a, unsigned long long b) { return __udivmoddi4(a, b, 0); }

unsigned long long __umoddi3(unsigned long long a, unsigned long long b) {
    unsigned long long rest;
    __udivmoddi4(a, b, &rest);
    return rest;
}

static unsigned long long magnitude(long long x) { return x < 0 ? -(unsigned long long)x : x; }

long long __divdi3(long long a, long long b) {
    unsigned long long q = __udivmoddi4(magnitude(a), magnitude(b), 0);
    return (a < 0) != (b < 0) ? -q : q;
}

long long __moddi3(long long a, long long b) {
    unsigned long long rest = __umoddi3(magnitude(a), magnitude(b));
    return a < 0 ? -rest : rest;
}

#endif

void error_reached(void) { leave(99); }
void __attribute__((weak)) reach_error(void) { error_reached(); }
#ifndef HOSTED
void __assert_fail(const char *text, const char *file, unsigned line, const char *function) { leave(98); }
#endif
