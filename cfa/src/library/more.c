// SPDX-License-Identifier: Apache-2.0
// Functions of <stdlib.h> that sort, search and end, of <string.h> that cut texts into pieces, of <errno.h>, and what macros of
// <ctype.h> look up. Each definition stands between blank lines; the front end takes those that a program uses.

// The flags of a character in the locale "C", as glibc gives them to isalpha and its relatives.
unsigned short __ctype_b_of(int c) {
  int known = 1 << (c < -128 || c > 255 ? 32 : 0);
  if (c >= 'a' && c <= 'z') return c <= 'f' ? 54792 : 50696;
  if (c >= 'A' && c <= 'Z') return c <= 'F' ? 54536 : 50440;
  if (c >= '0' && c <= '9') return 55304;
  if (c == ' ') return 24577;
  if (c == '\t') return 8195;
  if (c > '\t' && c <= '\r') return 8194;
  if (c > ' ' && c < 127) return 49156;
  return c == 127 || (c >= 0 && c < ' ') ? 2 : 0;
}

int __ctype_tolower_of(int c) {
  int known = 1 << (c < -128 || c > 255 ? 32 : 0);
  if (c >= 'A' && c <= 'Z') return c + 32;
  return c < -1 ? c + 256 : c;
}

int __ctype_toupper_of(int c) {
  int known = 1 << (c < -128 || c > 255 ? 32 : 0);
  if (c >= 'a' && c <= 'z') return c - 32;
  return c < -1 ? c + 256 : c;
}

int *__errno_location(void) {
  static int value;
  return &value;
}

// What functions of the library leave in errno.
void __errno_any(void) { *__errno_location() = __unmodelled_int(); }

// Functions to be called at the end, the last one first.
static void __at_exit(int run, void (*handler)(void)) {
  static void (*handlers[32])(void);
  static int count;
  if (run) {
    while (count > 0) {
      count--;
      handlers[count]();
    }
  } else if (count == 32) {
    __more_than_32_functions_at_exit();
  } else {
    handlers[count] = handler;
    count++;
  }
}

int atexit(void (*handler)(void)) {
  __at_exit(0, handler);
  return 0;
}

void __run_exit_handlers(void) { __at_exit(1, 0); }

// C leaves open in which order elements come that compare equal, and which elements are compared. Of elements that are equal
// byte for byte nobody sees the order.
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  char *first = base;
  for (size_t i = 1; i < count; i++) {
    for (size_t j = i; j > 0; j--) {
      char *left = first + (j - 1) * size;
      char *right = left + size;
      int order = compare(left, right);
      if (order < 0) break;
      if (order == 0 && (!memcmp(left, right, size) || !__unmodelled_bool())) break;
      for (size_t k = 0; k < size; k++) {
        char byte = left[k];
        left[k] = right[k];
        right[k] = byte;
      }
    }
  }
}

// The same for elements with the size of an integer: BYTES is 1, 2, 4 and 8, and BITS eight times that.
void __qsort_BYTES(void *base, size_t count, int (*compare)(const void *, const void *)) {
  uintBITS_t *a = base;
  for (size_t i = 1; i < count; i++) {
    for (size_t j = i; j > 0; j--) {
      int order = compare(a + j - 1, a + j);
      if (order < 0) break;
      if (order == 0 && (a[j - 1] == a[j] || !__unmodelled_bool())) break;
      uintBITS_t element = a[j];
      a[j] = a[j - 1];
      a[j - 1] = element;
    }
  }
}

// Of several elements that are equal to the key, any one is found.
void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  const char *first = base;
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = compare(key, first + middle * size);
    if (order < 0) {
      high = middle;
    } else if (order > 0) {
      low = middle + 1;
    } else {
      while (middle > low && compare(key, first + (middle - 1) * size) == 0 && __unmodelled_bool()) middle--;
      while (middle + 1 < high && compare(key, first + (middle + 1) * size) == 0 && __unmodelled_bool()) middle++;
      return (void *)(first + middle * size);
    }
  }
  return 0;
}

char *strtok_r(char *text, const char *separators, char **rest) {
  if (!text) text = *rest;
  text += strspn(text, separators);
  if (!*text) {
    *rest = text;
    return 0;
  }
  char *end = text + strcspn(text, separators);
  *rest = end;
  if (*end) {
    *end = 0;
    *rest = end + 1;
  }
  return text;
}

char *__strtok_r(char *text, const char *separators, char **rest) { return strtok_r(text, separators, rest); }

char *strtok(char *text, const char *separators) {
  static char *rest;
  return strtok_r(text, separators, &rest);
}

char *strsep(char **text, const char *separators) {
  char *start = *text;
  if (!start) return 0;
  char *end = start + strcspn(start, separators);
  if (*end) {
    *end = 0;
    *text = end + 1;
  } else {
    *text = 0;
  }
  return start;
}

char *strndup(const char *text, size_t limit) {
  size_t length = strnlen(text, limit);
  char *copy = malloc(length + 1);
  if (!copy) return 0;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

int strncasecmp(const char *left, const char *right, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int a = tolower((unsigned char)left[i]);
    int b = tolower((unsigned char)right[i]);
    if (a != b) return __ordering(a < b);
    if (!a) break;
  }
  return 0;
}

char *strchrnul(const char *text, int wanted) {
  while (*text && *text != (char)wanted) text++;
  return (char *)text;
}

void *rawmemchr(const void *bytes, int wanted) {
  const unsigned char *at = bytes;
  while (*at != (unsigned char)wanted) at++;
  return (void *)at;
}

void *memrchr(const void *bytes, int wanted, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = count; i > 0; i--) {
    if (at[i - 1] == (unsigned char)wanted) return (void *)(at + i - 1);
  }
  return 0;
}

void *memccpy(void *dst, const void *src, int last, size_t count) {
  unsigned char *to = dst;
  const unsigned char *from = src;
  for (size_t i = 0; i < count; i++) {
    to[i] = from[i];
    if (from[i] == (unsigned char)last) return to + i + 1;
  }
  return 0;
}

void *memmem(const void *bytes, size_t count, const void *part, size_t length) {
  const char *at = bytes;
  for (size_t i = 0; i + length <= count; i++) {
    if (!memcmp(at + i, part, length)) return (void *)(at + i);
  }
  return 0;
}

char *stpncpy(char *dst, const char *src, size_t count) {
  size_t i = 0;
  for (; i < count && src[i]; i++) dst[i] = src[i];
  char *end = dst + i;
  for (; i < count; i++) dst[i] = 0;
  return end;
}

size_t strlcpy(char *dst, const char *src, size_t size) {
  size_t length = strlen(src);
  if (size) {
    size_t count = length < size ? length : size - 1;
    memcpy(dst, src, count);
    dst[count] = 0;
  }
  return length;
}

size_t strlcat(char *dst, const char *src, size_t size) {
  size_t before = strnlen(dst, size);
  if (before == size) return size + strlen(src);
  return before + strlcpy(dst + before, src, size - before);
}

void swab(const void *src, void *dst, ssize_t count) {
  const char *from = src;
  char *to = dst;
  for (ssize_t i = 0; i + 1 < count; i += 2) {
    char byte = from[i];
    to[i] = from[i + 1];
    to[i + 1] = byte;
  }
}
