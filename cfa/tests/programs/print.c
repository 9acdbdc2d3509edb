// Texts that formats describe.
typedef unsigned long size_t;
int sprintf(char *, const char *, ...);
int snprintf(char *, size_t, const char *, ...);
unsigned checksum;
static char text[128];
static void add(int length) {
  checksum = checksum * 31 + length;
  for (char *c = text; *c; c++) checksum = checksum * 31 + *c;
}
int main(void) {
  int numbers[] = {0, 7, -7, 10, 99, 12345, 2147483647, -2147483647 - 1};
  for (int i = 0; i < 8; i++) {
    int n = numbers[i];
    add(sprintf(text, "%d", n)), add(sprintf(text, "<%5d|%-6d|%04d>", n, n, n)), add(sprintf(text, "%u %x", n, n));
    add(sprintf(text, "%hd %hhd %hhu %hx", n, n, n, n)), add(snprintf(text, 4, "%d", n)), add(snprintf(text, 1, "%x", n));
  }
  long wide[] = {0, -1, 123456789, -2147483647 - 1};
  for (int i = 0; i < 4; i++) {
    add(sprintf(text, "%ld %lu %lx %8lx|%-12ld|", wide[i], wide[i], wide[i], wide[i], wide[i]));
    add(sprintf(text, "%lld %llu %016llx", 1000000000ll * wide[i], 3ull * wide[i], 5ll * wide[i]));
  }
  add(sprintf(text, "%s-%5s-%-5s-%.2s-%3.1s%%", "abc", "x", "yz", "long", "word"));
  add(sprintf(text, "%c%3c%-3c.%c", 'a', 'b', 'c', 300 - 200));
  char small[8] = "12345", *none = 0;
  add(snprintf(none, 0, "%s and %d", small, 42)), add(snprintf(small, sizeof small, "%s", "too long a text"));
  for (char *c = small; *c; c++) checksum = checksum * 31 + *c;
  add(sprintf(text, "")), add(sprintf(text, "100%%\n"));
  short s = -3;
  unsigned char u = 200;
  add(sprintf(text, "%d %d %u", s, u, u));
  return 0;
}
