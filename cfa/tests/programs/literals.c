// Character constants and string literals: prefixes, universal character names, splices, sizes, and arrays of wide characters.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
static const char text[] = "ab" "cd" "\0ef", four[4] = "wxyz", eight[8] = "hi";
static const int wide[] = L"caf\xe9" L"!";
static unsigned short utf16[4] = u"a\u20ac", *pair = (unsigned short *)u"\U0001F600";
static const int braces[] = { L"xy" };
static const unsigned utf32[] = U"\U0001F600z";
static struct { int tag; int name[3]; } s = { 1, L"pq" };
extern const int later[4];
const int later[] = L"abc";
int main(void) {
  const int *p = L"wide"; int n = 0;
  while (*p) n += *p++;
  mix(n); mix(sizeof text); mix(text[4]); mix(text[7]); mix(four[3]); mix(eight[7]);
  mix(sizeof "\x1" "2"); mix("\x1" "2"[1]); mix("\0012"[1]); mix(*"abc"); mix(1["abc"]); mix(sizeof "line\
two"); mix(sizeof(L"ab" "c")); mix(sizeof u"ab"); mix(sizeof U"ab"); mix(sizeof u8"\u00e4b"); mix(sizeof(u8"x" "y"));
  mix(sizeof wide); mix(wide[3]); mix(wide[4]); mix(utf16[1]); mix(utf16[2] + utf16[3]); mix(pair[0]); mix(pair[1]);
  mix(sizeof braces); mix(braces[1]); mix(sizeof utf32); mix(utf32[0]); mix(utf32[1]); mix(s.name[1]); mix(later[2]);
  mix(L'a'); mix(sizeof L'a'); mix(u'\u00e4'); mix(sizeof u'x'); mix(U'\U0001F600'); mix('\u00e4'); mix(L'\u20ac' == u'\u20ac');
  mix(sizeof __func__); mix(__func__[1]); mix("a" /* comment " */ "b"[1]);
  mix(u"xy"[0] - U"xy"[1]); mix(sizeof(L"x") == sizeof(int[2]));
  return 0;
}
