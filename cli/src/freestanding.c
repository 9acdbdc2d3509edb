// SPDX-License-Identifier: Apache-2.0
// What a 32-bit program needs to run on a machine that can compile and run it but has no 32-bit C library: its start, its
// end, memory, and the arithmetic that compilers leave to a library. Used by --confirm only if linking fails without it.
// All definitions are weak, so those of the program or of its counterexample come first.

typedef unsigned int size_t;
typedef unsigned long long u64;
typedef long long s64;

#define WEAK __attribute__((weak))

static int syscall1(int number, int argument) {
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(argument) : "memory");
  return result;
}

WEAK void _exit(int code) {
  for (;;) syscall1(1, code);
}
WEAK void exit(int code) { _exit(code); }
WEAK void _Exit(int code) { _exit(code); }
WEAK void abort(void) { _exit(134); }
WEAK void __assert_fail() { abort(); }
WEAK void __stack_chk_fail(void) { abort(); }

extern int main();
__attribute__((used)) static void begin(int *stack) {
  int count = stack[0];
  char **arguments = (char **)(stack + 1);
  _exit(main(count, arguments, arguments + count + 1));
}
__asm__(".globl _start\n_start:\n  mov %esp, %eax\n  and $-16, %esp\n  sub $12, %esp\n  push %eax\n  call begin\n");

WEAK void *memset(void *to, int value, size_t count) {
  for (size_t i = 0; i < count; i++) ((volatile unsigned char *)to)[i] = value;
  return to;
}
WEAK void *memmove(void *to, const void *from, size_t count) {
  volatile unsigned char *a = to;
  const unsigned char *b = from;
  if (a < b) for (size_t i = 0; i < count; i++) a[i] = b[i];
  else for (size_t i = count; i > 0; i--) a[i - 1] = b[i - 1];
  return to;
}
WEAK void *memcpy(void *to, const void *from, size_t count) { return memmove(to, from, count); }

// New memory is zero and is never given twice. The size of a block stands before it.
static char *chunk, *chunk_end;
WEAK void *malloc(size_t size) {
  size_t room = (size + 31) & ~15u;
  if (room < size) abort();
  if (chunk == 0) {
    chunk = (char *)((syscall1(45, 0) + 15) & ~15);
    chunk_end = chunk;
  }
  if (chunk_end - chunk < room) {
    size_t more = room > (1u << 20) ? room : 1u << 20;
    char *end = (char *)syscall1(45, (int)(chunk + more));
    if (end < chunk + room) abort();
    chunk_end = end;
  }
  char *block = chunk + 16;
  ((size_t *)block)[-1] = size;
  chunk += room;
  return block;
}
WEAK void free(void *block) { }
WEAK void *calloc(size_t count, size_t size) { return malloc(count * size); }
WEAK void *realloc(void *old, size_t size) {
  void *block = malloc(size);
  if (old != 0) memmove(block, old, ((size_t *)old)[-1] < size ? ((size_t *)old)[-1] : size);
  return block;
}

// Output goes nowhere.
WEAK int printf() { return 0; }
WEAK int fprintf() { return 0; }
WEAK int puts() { return 0; }
WEAK int putchar(int c) { return c; }
WEAK int fflush() { return 0; }
WEAK void perror() { }
WEAK void *stdin, *stdout, *stderr;

static u64 divide(u64 a, u64 b, u64 *rest) {
  u64 quotient = 0, r = 0;
  for (int i = 63; i >= 0; i--) {
    int carry = r >> 63;
    r = r << 1 | (a >> i & 1);
    if (carry || r >= b) {
      r -= b;
      quotient |= 1ull << i;
    }
  }
  if (rest) *rest = r;
  return quotient;
}
static u64 magnitude(s64 a) { return a < 0 ? -(u64)a : (u64)a; }
WEAK u64 __udivdi3(u64 a, u64 b) { return divide(a, b, 0); }
WEAK u64 __umoddi3(u64 a, u64 b) {
  u64 rest;
  divide(a, b, &rest);
  return rest;
}
WEAK s64 __divdi3(s64 a, s64 b) {
  u64 quotient = divide(magnitude(a), magnitude(b), 0);
  return (a < 0) != (b < 0) ? -quotient : quotient;
}
WEAK s64 __moddi3(s64 a, s64 b) {
  u64 rest;
  divide(magnitude(a), magnitude(b), &rest);
  return a < 0 ? -rest : rest;
}
WEAK u64 __udivmoddi4(u64 a, u64 b, u64 *rest) { return divide(a, b, rest); }
WEAK s64 __divmoddi4(s64 a, s64 b, s64 *rest) {
  *rest = __moddi3(a, b);
  return __divdi3(a, b);
}
WEAK u64 __fixunsdfdi(double value) {
  return value < 9223372036854775808.0 ? (u64)(s64)value : (u64)(s64)(value - 9223372036854775808.0) + (1ull << 63);
}
WEAK u64 __fixunssfdi(float value) { return __fixunsdfdi(value); }
