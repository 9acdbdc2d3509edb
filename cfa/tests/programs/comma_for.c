// Comma operators and declarations in loop headers.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
int main(void) {
  int i, j;
  for (i = 0, j = 10; i < j; i++, j -= 2) mix(i * 100 + j);
  for (int a = 1, b = 2, *p = &a; a < 50; *p += b, b++) mix(a);
  for (;;) { if (i-- == 0) break; mix(i); }
  i = (mix(4), 5), j = i++, mix(j);
  mix((i, j, i + j));
  int k[] = { (1, 2), (i, 4) };
  mix(k[0] + k[1]);
  for (i = 3; i--;) mix(i);
  for (struct { int a; char b; } s = { 3, 'x' }; s.a--; s.b++) mix(s.b);
  if (i = 0, j = 7, i || j) mix(i + j);
  while (i++, i < 5) mix(i);
  return (i, 0);
}
