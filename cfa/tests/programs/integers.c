// Promotions, conversions, wrap-around, division, shifts and bit operations of all widths.
unsigned checksum;

void mix(unsigned x) { checksum = checksum * 31u + (x ^ (x >> 7)); }

void mix64(unsigned long x) {
    mix((unsigned)x);
    mix((unsigned)(x >> 32));
}

int main(void) {
    signed char c = -128;
    unsigned char uc = 200;
    short s = -32768;
    unsigned short us = 65535;
    int i = -2147483647 - 1;
    unsigned u = 4294967295u;
    long l = -9223372036854775807L - 1;
    unsigned long ul = 18446744073709551615UL;
    for (int k = 0; k < 500; k++) {
        c = c + k;
        uc = uc * 3 + k;
        s = s - 7 * k;
        us = us ^ (k << 3);
        i = i / 3 + k * 12345;
        u = u * 1664525u + 1013904223u;
        l = l / 5 - (long)u * k;
        ul = ul * 6364136223846793005UL + 1442695040888963407UL;
        mix(c);
        mix(uc);
        mix(s);
        mix(us);
        mix(i);
        mix(u);
        mix64(l);
        mix64(ul);
        mix(c % 7);
        mix(-s % 13);
        mix(i % (k + 1));
        mix(u % (k + 1));
        mix64(l % (k + 3));
        mix64(ul % (k + 3));
        mix(c >> 2);
        mix(uc << 5);
        mix(i >> (k % 32));
        mix(u >> (k % 32));
        mix(u << (k % 32));
        mix64(l >> (k % 64));
        mix64(ul << (k % 64));
        mix(~c);
        mix(~us);
        mix(!i + !!u);
        mix(-uc);
        mix64(-ul);
        mix(c < uc);
        mix(i < (long)u);
        mix((unsigned)i < u);
        mix(l <= (long)ul);
        mix((signed char)u);
        mix((unsigned short)l);
        mix((_Bool)(u & 4));
        mix((int)(k > 100 && u / (k - 100 ? k - 100 : 1) > 5 || s < c));
        mix(k % 3 == 0 ? c : k % 3 == 1 ? s : (int)us);
        i += c -= 3, us |= s, ul ^= l;
        mix(i++ + --c);
    }
    return checksum % 251;
}
