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

// C leaves open which negative or positive number a comparison returns.
static int __ordering(_Bool less) {
  int result = __VERIFIER_nondet_int();
  return less ? (result < 0 ? result : -1) : (result > 0 ? result : 1);
}
