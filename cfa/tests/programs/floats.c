// Arithmetic, comparisons and conversions of float and double.
unsigned checksum;

void mix(unsigned x) { checksum = checksum * 31u + x; }

int sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

int main(void) {
    double d = 1.0, sum = 0.0;
    float f = 0.1f;
    for (int i = 1; i < 200; i++) {
        d = d / 3.0 + i * 0.7;
        f = f * 1.5f - i;
        if (f < -1e6f) f = f / 1e5f;
        sum += d - f;
        mix((int)d);
        mix((int)f);
        mix((unsigned)(long)(sum * 1000.0));
        mix(d < f);
        mix(d == (float)d);
        mix((double)(float)d == d);
        mix(sign(sum));
        mix((int)((float)i / 7 * 100));
        mix((long)(i * 1e10) % 1000003);
        mix((unsigned char)(int)(d / 2));
        float g = (float)(i * 16777217L);
        mix((unsigned)(long)g);
        mix((unsigned)(unsigned long)((double)(18446744073709551615UL / i) / 3));
    }
    double zero = 0.0, inf = 1.0 / zero, nan = zero * inf;
    mix(nan == nan);
    mix(nan != nan);
    mix(inf > 1e308);
    mix(-inf < -1e308);
    mix(!(nan < 1.0));
    mix(1.0 / -zero < 0);
    return checksum % 251;
}
