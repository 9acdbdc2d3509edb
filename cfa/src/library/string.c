// SPDX-License-Identifier: Apache-2.0
// Functions of <string.h>, <strings.h> and <stdlib.h> on bytes and strings. Each definition stands between blank lines; the
// front end takes those that a program calls without defining them.

void *memset(void *dst, int value, size_t count) {
  unsigned char *to = dst;
  for (size_t i = 0; i < count; i++) to[i] = value;
  return dst;
}

void *memcpy(void *dst, const void *src, size_t count) {
  unsigned char *to = dst;
  const unsigned char *from = src;
  for (size_t i = 0; i < count; i++) to[i] = from[i];
  return dst;
}

void *mempcpy(void *dst, const void *src, size_t count) {
  return (char *)memcpy(dst, src, count) + count;
}

void *memmove(void *dst, const void *src, size_t count) {
  unsigned char *to = dst;
  const unsigned char *from = src;
  if (to < from) {
    for (size_t i = 0; i < count; i++) to[i] = from[i];
  } else {
    for (size_t i = count; i > 0; i--) to[i - 1] = from[i - 1];
  }
  return dst;
}

int memcmp(const void *left, const void *right, size_t count) {
  const unsigned char *a = left;
  const unsigned char *b = right;
  for (size_t i = 0; i < count; i++) {
    if (a[i] != b[i]) return __ordering(a[i] < b[i]);
  }
  return 0;
}

int bcmp(const void *left, const void *right, size_t count) {
  return memcmp(left, right, count);
}

void *memchr(const void *bytes, int wanted, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++) {
    if (at[i] == (unsigned char)wanted) return (void *)(at + i);
  }
  return 0;
}

void bzero(void *dst, size_t count) {
  memset(dst, 0, count);
}

void bcopy(const void *src, void *dst, size_t count) {
  memmove(dst, src, count);
}

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

size_t strnlen(const char *text, size_t limit) {
  size_t length = 0;
  while (length < limit && text[length]) length++;
  return length;
}

int strcmp(const char *left, const char *right) {
  size_t i = 0;
  while (left[i] && left[i] == right[i]) i++;
  if (left[i] == right[i]) return 0;
  return __ordering((unsigned char)left[i] < (unsigned char)right[i]);
}

int strncmp(const char *left, const char *right, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (left[i] != right[i]) return __ordering((unsigned char)left[i] < (unsigned char)right[i]);
    if (!left[i]) break;
  }
  return 0;
}

int strcasecmp(const char *left, const char *right) {
  size_t i = 0;
  while (left[i] && tolower((unsigned char)left[i]) == tolower((unsigned char)right[i])) i++;
  int a = tolower((unsigned char)left[i]);
  int b = tolower((unsigned char)right[i]);
  return a == b ? 0 : __ordering(a < b);
}

char *strcpy(char *dst, const char *src) {
  size_t i = 0;
  while ((dst[i] = src[i])) i++;
  return dst;
}

char *stpcpy(char *dst, const char *src) {
  while ((*dst = *src)) {
    dst++;
    src++;
  }
  return dst;
}

char *strncpy(char *dst, const char *src, size_t count) {
  size_t i = 0;
  for (; i < count && src[i]; i++) dst[i] = src[i];
  for (; i < count; i++) dst[i] = 0;
  return dst;
}

char *strcat(char *dst, const char *src) {
  strcpy(dst + strlen(dst), src);
  return dst;
}

char *strncat(char *dst, const char *src, size_t count) {
  char *end = dst + strlen(dst);
  size_t i = 0;
  for (; i < count && src[i]; i++) end[i] = src[i];
  end[i] = 0;
  return dst;
}

char *strchr(const char *text, int wanted) {
  for (;; text++) {
    if (*text == (char)wanted) return (char *)text;
    if (!*text) return 0;
  }
}

char *strrchr(const char *text, int wanted) {
  char *found = 0;
  for (;; text++) {
    if (*text == (char)wanted) found = (char *)text;
    if (!*text) return found;
  }
}

char *index(const char *text, int wanted) {
  return strchr(text, wanted);
}

char *rindex(const char *text, int wanted) {
  return strrchr(text, wanted);
}

size_t strspn(const char *text, const char *set) {
  size_t i = 0;
  while (text[i] && strchr(set, text[i])) i++;
  return i;
}

size_t strcspn(const char *text, const char *set) {
  size_t i = 0;
  while (text[i] && !strchr(set, text[i])) i++;
  return i;
}

char *strpbrk(const char *text, const char *set) {
  text += strcspn(text, set);
  return *text ? (char *)text : 0;
}

char *strstr(const char *text, const char *part) {
  size_t length = strlen(part);
  for (;; text++) {
    if (!strncmp(text, part, length)) return (char *)text;
    if (!*text) return 0;
  }
}

char *strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy ? memcpy(copy, text, size) : 0;
}

int atoi(const char *text) {
  while (isspace((unsigned char)*text)) text++;
  int negative = *text == '-';
  if (*text == '-' || *text == '+') text++;
  int value = 0;
  for (; isdigit((unsigned char)*text); text++) value = 10 * value - (*text - '0');
  return negative ? value : -value;
}

long atol(const char *text) { return strtol(text, 0, 10); }

long long atoll(const char *text) { return strtoll(text, 0, 10); }

long strtol(const char *text, char **end, int base) {
  unsigned long most = ~0ul >> 1;
  return __number(text, end, base, most, most + 1ull);
}

long long strtoll(const char *text, char **end, int base) {
  unsigned long long most = ~0ull >> 1;
  return __number(text, end, base, most, most + 1);
}

unsigned long strtoul(const char *text, char **end, int base) { return __number(text, end, base, ~0ul, ~0ul); }

unsigned long long strtoull(const char *text, char **end, int base) { return __number(text, end, base, ~0ull, ~0ull); }

// The number at the beginning of a text; `most` and `least` are the greatest amounts with and without a sign in front. Where
// they are the same, the type has no negative numbers: what is too large is the greatest number, with a sign, too.
static unsigned long long __number(const char *text, char **end, int base, unsigned long long most, unsigned long long least) {
  const char *at = text;
  while (isspace((unsigned char)*at)) at++;
  _Bool negative = *at == '-';
  if (*at == '-' || *at == '+') at++;
  if (*at == '0' && (at[1] == 'x' || at[1] == 'X') && (base == 0 || base == 16) && __digit(at[2]) < 16) {
    at += 2;
    base = 16;
  }
  if (base == 0) base = *at == '0' ? 8 : 10;
  if (base < 2 || base > 36) return 0;
  unsigned long long limit = negative ? least : most, value = 0;
  _Bool found = 0, large = 0;
  for (; __digit(*at) < base; at++) {
    unsigned digit = __digit(*at);
    found = 1;
    if (value > limit / base || (value == limit / base && digit > limit % base)) large = 1;
    else value = value * base + digit;
  }
  if (end) *end = (char *)(found ? at : text);
  if (large) return negative && most != least ? -limit : limit;
  return negative ? -value : value;
}

static int __digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 36;
}

// How a number is read is not followed.
double strtod(const char *text, char **end) {
  const char *at = text;
  while (*at && __unmodelled_int()) at++;
  if (end) *end = (char *)at;
  return __unmodelled_double();
}

float strtof(const char *text, char **end) { return strtod(text, end); }

double atof(const char *text) { return __unmodelled_double(); }

// C leaves open which negative or positive number a comparison returns.
static int __ordering(_Bool less) {
  int result = __VERIFIER_nondet_int();
  return less ? (result < 0 ? result : -1) : (result > 0 ? result : 1);
}
