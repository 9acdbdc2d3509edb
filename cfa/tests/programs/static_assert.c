// Static assertions inside and outside of structures.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
_Static_assert(sizeof(int) == 4, "int"); struct s { int a; _Static_assert(sizeof(int) == 4, "x"); char b; };
int main(void) { _Static_assert(1, ""); struct s s = { 1, 2 }; _Static_assert(sizeof(s) >= 4, "q" "r"); mix(s.b); mix(sizeof s); { ; ; _Static_assert(1 + 1 == 2, "z"); } return 0; }
