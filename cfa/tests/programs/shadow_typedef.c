// Names of types that are declared as something else in inner scopes.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
typedef int T; typedef struct S { int T; } S; typedef unsigned char byte;
int f(int T) { return T + (T) - 1; }
int g(void) { T a = 3; int T = 4; T = T * a; return T; }
struct T { T T; };
enum { E1 }; T h(T a) { { char T = a; a = sizeof(T) + T; } return (T)a + (T)-1; }
int k(byte byte) { return byte; }
int main(void) { S S; S.T = 5; struct T t = { 7 }; mix(f(3)); mix(g()); mix(h(300)); mix(S.T); mix(t.T); mix(k(300)); T: mix(1); for (int T = 0; T < 2; T++) mix(T); { T T = 6; mix(T); mix(sizeof T); } { unsigned T; T = 3; mix(T / 2); }  return 0; }
