// Jumps into loops and blocks, past declarations, in switches.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
int main(void) {
  int i = 0, n = 0;
  goto middle;
  for (i = 0; i < 5; i++) {
    mix(i);
  middle:
    n += 10;
    if (n > 30) goto out;
  }
out:
  mix(n); mix(i);
  if (n) goto inner;
  {
    int k = 5;
    mix(k);
  inner:
    k = 3;
    mix(k);
  }
  switch (n & 3) { int z; case 0: z = 4; mix(z); case 1: z = 9; mix(z); break; { case 2: z = 7; mix(z); } default: mix(99); }
  while (0) { again: mix(n--); if (n > 35) goto again; }
  do { if (n == 2) continue; mix(n); } while (n++ < 3);
  return 0;
}
