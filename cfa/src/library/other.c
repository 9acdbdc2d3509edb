// SPDX-License-Identifier: Apache-2.0
// Functions of <ctype.h> in the locale "C", of <stdlib.h>, of <math.h>, of <stdio.h>, and of the compiler. Each definition
// stands between blank lines; the front end takes those that a program calls without defining them.

int isdigit(int c) { return c >= '0' && c <= '9'; }

int isupper(int c) { return c >= 'A' && c <= 'Z'; }

int islower(int c) { return c >= 'a' && c <= 'z'; }

int isalpha(int c) { return isupper(c) || islower(c); }

int isalnum(int c) { return isalpha(c) || isdigit(c); }

int isxdigit(int c) { return isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

int isblank(int c) { return c == ' ' || c == '\t'; }

int isspace(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int iscntrl(int c) { return (c >= 0 && c < ' ') || c == 127; }

int isprint(int c) { return c >= ' ' && c < 127; }

int isgraph(int c) { return c > ' ' && c < 127; }

int ispunct(int c) { return isgraph(c) && !isalnum(c); }

int isascii(int c) { return c >= 0 && c < 128; }

int tolower(int c) { return isupper(c) ? c + 32 : c; }

int toupper(int c) { return islower(c) ? c - 32 : c; }

int abs(int x) { return x < 0 ? -x : x; }

long labs(long x) { return x < 0 ? -x : x; }

long long llabs(long long x) { return x < 0 ? -x : x; }

int rand(void) { return __VERIFIER_nondet_int() & 0x7fffffff; }

long random(void) { return __VERIFIER_nondet_int() & 0x7fffffff; }

uint16_t __builtin_bswap16(uint16_t x) { return x << 8 | x >> 8; }

uint32_t __builtin_bswap32(uint32_t x) {
  return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

uint64_t __builtin_bswap64(uint64_t x) {
  return (uint64_t)__builtin_bswap32(x) << 32 | __builtin_bswap32(x >> 32);
}

int __builtin_popcountll(unsigned long long x) {
  x = x - (x >> 1 & 0x5555555555555555);
  x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
  x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return x * 0x0101010101010101 >> 56;
}

int __builtin_popcountl(unsigned long x) { return __builtin_popcountll(x); }

int __builtin_popcount(unsigned x) { return __builtin_popcountll(x); }

int __builtin_parityll(unsigned long long x) { return __builtin_popcountll(x) & 1; }

int __builtin_parityl(unsigned long x) { return __builtin_popcountll(x) & 1; }

int __builtin_parity(unsigned x) { return __builtin_popcountll(x) & 1; }

int __builtin_ffsll(long long x) { return x ? __builtin_popcountll((x & -x) - 1) + 1 : 0; }

int __builtin_ffsl(long x) { return __builtin_ffsll(x); }

int __builtin_ffs(int x) { return __builtin_ffsll(x); }

int ffs(int x) { return __builtin_ffsll(x); }

int __builtin_ctzll(unsigned long long x) { return __bits(x, x ? __builtin_popcountll((x & -x) - 1) : 64, 64); }

int __builtin_ctzl(unsigned long x) { return __builtin_ctzll(x); }

int __builtin_ctz(unsigned x) { return __builtin_ctzll(x); }

int __builtin_clzll(unsigned long long x) {
  unsigned long long y = x;
  y |= y >> 1;
  y |= y >> 2;
  y |= y >> 4;
  y |= y >> 8;
  y |= y >> 16;
  y |= y >> 32;
  return __bits(x, 64 - __builtin_popcountll(y), 64);
}

int __builtin_clzl(unsigned long x) { return __builtin_clzll(x) - (64 - 8 * (int)sizeof(long)); }

int __builtin_clz(unsigned x) { return __builtin_clzll(x) - 32; }

int __builtin_clrsbll(long long x) { return x == 0 || x == -1 ? 63 : __builtin_clzll(x < 0 ? ~x : x) - 1; }

int __builtin_clrsbl(long x) { return __builtin_clrsbll(x) - (64 - 8 * (int)sizeof(long)); }

int __builtin_clrsb(int x) { return __builtin_clrsbll(x) - 32; }

// The number of zeros before or behind the ones of 0 is undefined; the shift makes an execution that asks for it so.
static int __bits(unsigned long long x, int count, int width) { return x ? count : 1 << (width + count); }

// Subtracts the greatest multiples by powers of two that fit, all of which is exact.
double fmod(double x, double y) {
  if (!(__builtin_isfinite(x)) || __builtin_isnan(y) || y == 0) return (x * y) / (x * y);
  double rest = __builtin_fabs(x), modulus = __builtin_fabs(y);
  if (__builtin_isinf(y)) return x;
  while (rest >= modulus) {
    double multiple = modulus;
    while (multiple + multiple <= rest) multiple = multiple + multiple;
    rest = rest - multiple;
  }
  return __builtin_copysign(rest, x);
}

float fmodf(float x, float y) { return fmod(x, y); }

double modf(double x, double *integral) {
  *integral = __builtin_trunc(x);
  return __builtin_copysign(__builtin_isinf(x) ? 0 : x - *integral, x);
}

float modff(float x, float *integral) {
  *integral = __builtin_truncf(x);
  return __builtin_copysignf(__builtin_isinf(x) ? 0 : x - *integral, x);
}

int getchar(void) {
  int c = __VERIFIER_nondet_uchar();
  return __VERIFIER_nondet_bool() ? c : -1;
}

int getc(void *stream) { return getchar(); }

int fgetc(void *stream) { return getchar(); }

char *fgets(char *line, int size, void *stream) {
  if (size <= 0 || __VERIFIER_nondet_bool()) return 0;
  int i = 0;
  for (; i < size - 1 && __VERIFIER_nondet_bool(); i++) {
    if (i > 0 && line[i - 1] == '\n') break;
    line[i] = __VERIFIER_nondet_char();
  }
  line[i] = 0;
  return line;
}

ssize_t getline(char **line, size_t *room, void *stream) {
  size_t length = __VERIFIER_nondet_size_t();
  if (length == 0 || length > ~(size_t)0 / 2) return -1;
  if (*line == 0 || *room <= length) {
    free(*line);
    *line = malloc(length + 1);
    *room = length + 1;
  }
  for (size_t i = 0; i < length; i++) {
    char c = __VERIFIER_nondet_char();
    __VERIFIER_assume(c != '\n' || i + 1 == length);
    (*line)[i] = c;
  }
  (*line)[length] = 0;
  return length;
}

// What `%s` reads: characters that are no blanks, at least one.
void __scan_word(char *text, size_t most) {
  size_t i = 0;
  do {
    char c = __VERIFIER_nondet_char();
    __VERIFIER_assume(!isspace((unsigned char)c));
    text[i++] = c;
  } while (i < most && __VERIFIER_nondet_bool());
  text[i] = 0;
}

// A text with at least one character that is not followed.
void __scan_text(char *text, size_t most) {
  size_t i = 0;
  do text[i++] = __unmodelled_char();
  while (i < most && __unmodelled_int());
  text[i] = 0;
}

ssize_t read(int file, void *buffer, size_t count) {
  size_t done = __VERIFIER_nondet_size_t();
  if (done > count) return -1;
  for (size_t i = 0; i < done; i++) ((char *)buffer)[i] = __VERIFIER_nondet_char();
  return done;
}

size_t fread(void *buffer, size_t size, size_t count, void *stream) {
  size_t done = __VERIFIER_nondet_size_t();
  if (done > count) done = count;
  for (size_t i = 0; i < done * size; i++) ((char *)buffer)[i] = __VERIFIER_nondet_char();
  return done;
}

// What formats write, piece by piece: behind `at` characters, as far as there is room.
size_t __print_character(char *text, size_t size, size_t at, char c) {
  if (at + 1 < size) text[at] = c;
  return at + 1;
}

// Fills what is missing from a width.
size_t __print_blanks(char *text, size_t size, size_t at, size_t width, size_t length) {
  for (; length < width; length++) at = __print_character(text, size, at, ' ');
  return at;
}

size_t __print_text(char *text, size_t size, size_t at, const char *from, size_t most, size_t width) {
  if (width > 0) at = __print_blanks(text, size, at, width, strnlen(from, most));
  for (size_t i = 0; i < most && from[i]; i++) at = __print_character(text, size, at, from[i]);
  return at;
}

size_t __print_decimal_BYTES(char *text, size_t size, size_t at, uintBITS_t amount, _Bool negative, size_t width, char fill) {
  char digits[20];
  size_t count = 0;
  do {
    digits[count++] = '0' + amount % 10;
    amount /= 10;
  } while (amount > 0);
  if (fill == ' ') at = __print_blanks(text, size, at, width, count + negative);
  if (negative) at = __print_character(text, size, at, '-');
  if (fill == '0')
    for (size_t i = count + negative; i < width; i++) at = __print_character(text, size, at, '0');
  while (count > 0) at = __print_character(text, size, at, digits[--count]);
  return at;
}

size_t __print_hexadecimal_BYTES(char *text, size_t size, size_t at, uintBITS_t amount, _Bool negative, size_t width, char fill) {
  size_t count = 1;
  while (count < 2 * sizeof(amount) && amount >> 4 * count > 0) count++;
  for (size_t i = count; i < width; i++) at = __print_character(text, size, at, fill);
  while (count > 0) {
    int digit = amount >> 4 * --count & 15;
    at = __print_character(text, size, at, digit < 10 ? '0' + digit : 'a' + digit - 10);
  }
  return at;
}

// What is not followed.
size_t __print_any(char *text, size_t size, size_t at) {
  while (__unmodelled_int()) at = __print_character(text, size, at, __unmodelled_char());
  return at;
}

size_t __print_end(char *text, size_t size, size_t at) {
  if (size > 0) text[at < size ? at : size - 1] = 0;
  return at;
}

// A format that is no literal is not followed: a proof covers any text, a counterexample that passes here is refused.
int sprintf(char *text, const char *format, ...) {
  int i = 0;
  for (; __unmodelled_int(); i++) text[i] = __unmodelled_char();
  text[i] = 0;
  return i;
}

int snprintf(char *text, size_t size, const char *format, ...) {
  if (size) {
    size_t i = 0;
    for (; i < size - 1 && __unmodelled_int(); i++) text[i] = __unmodelled_char();
    text[i] = 0;
  }
  return __unmodelled_int();
}

// Wide characters have 32 bits.
int swprintf(int *text, size_t size, const int *format, ...) {
  if (size) {
    size_t i = 0;
    for (; i < size - 1 && __unmodelled_int(); i++) text[i] = __unmodelled_int();
    text[i] = 0;
  }
  return __unmodelled_int();
}

// That of Windows, where wide characters have 16 bits.
int swprintf(unsigned short *text, const unsigned short *format, ...) {
  int i = 0;
  for (; __unmodelled_int(); i++) text[i] = __unmodelled_int();
  text[i] = 0;
  return i;
}
