// Case labels inside of loops and branches, Duff's device.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
static void copy(char *to, const char *from, int count) {
  int n = (count + 7) / 8;
  switch (count % 8) {
  case 0: do { *to++ = *from++;
  case 7: *to++ = *from++;
  case 6: *to++ = *from++;
  case 5: *to++ = *from++;
  case 4: *to++ = *from++;
  case 3: *to++ = *from++;
  case 2: *to++ = *from++;
  case 1: *to++ = *from++;
    } while (--n > 0);
  }
}
int main(void) {
  char a[40] = "the quick brown fox jumps over the lazy", b[40] = { 0 };
  copy(b, a, 37);
  for (int i = 0; i < 40; i++) mix(b[i]);
  for (int k = 0; k < 6; k++) switch (k) { if (0) { case 3: mix(3); } else { case 4: mix(4); } default: mix(5); case 5: mix(6); }
  for (int k = 0; k < 4; k++) ;
  for (int k = 0; k < 4; k++) switch (k) { l1: case 2: mix(22); if (checksum % 2) { checksum++; goto l1; } }
  return 0;
}
