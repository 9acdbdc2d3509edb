// Numbers in texts.
long strtol(const char *, char **, int);
long long strtoll(const char *, char **, int);
unsigned long strtoul(const char *, char **, int);
unsigned long long strtoull(const char *, char **, int);
int atoi(const char *);
long atol(const char *);
long long atoll(const char *);
unsigned checksum;
static void add(unsigned long long x) {
  checksum = checksum * 31 + (unsigned)x;
  checksum = checksum * 31 + (unsigned)(x >> 32);
}
static int offset(const char *text, const char *end) {
  int count = 0;
  while (text + count != end) count++;
  return count;
}
static const char *texts[] = {
  "", "0", "7", " \t42x", "-17", "+5", "--5", "+-3", "- 4", "0x1F", "0X", "0xg", "-0x10", "017", "08", "zz", "Zz9", "1e3",
  "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "-4294967295", "99999999999",
  "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
  "18446744073709551616", "-18446744073709551615", "-18446744073709551616", "99999999999999999999999", "ffffffffffffffff1",
};
int main(void) {
  static const int bases[] = {0, 2, 8, 10, 16, 36};
  for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    for (unsigned j = 0; j < sizeof bases / sizeof bases[0]; j++) {
      char *end;
      add(strtol(texts[i], &end, bases[j])), add(offset(texts[i], end));
      add(strtoll(texts[i], &end, bases[j])), add(offset(texts[i], end));
      add(strtoul(texts[i], &end, bases[j])), add(offset(texts[i], end));
      add(strtoull(texts[i], &end, bases[j])), add(offset(texts[i], end));
    }
  }
  add(atoi(" -12a")), add(atol("123456789")), add(atoll("-1234567890123")), add(strtol("77", 0, 8));
  return 0;
}
