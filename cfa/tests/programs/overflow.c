// Results and answers of the compiler's functions for checked arithmetic, for all pairs of some numbers.
unsigned checksum;

static void mix(unsigned long x) { checksum = checksum * 31 + (unsigned)(x ^ x >> 32); }

static const long numbers[] = {
    0, 1, -1, 2, -2, 3, 127, -128, 255, 32767, -32768, 65535, 65537, 2147483647L, -2147483647L - 1, 4294967295L,
    4294967296L, 3037000500L, -3037000500L, 9223372036854775807L, -9223372036854775807L - 1, 4611686018427387904L
};

enum { COUNT = sizeof numbers / sizeof numbers[0] };

static void check0(int a, int b) {
    int r;
    mix(__builtin_add_overflow(a, b, &r));
    mix(r);
    mix(__builtin_sub_overflow(a, b, &r));
    mix(r);
    mix(__builtin_mul_overflow(a, b, &r));
    mix(r);
}

static void check1(unsigned a, unsigned b) {
    unsigned r;
    mix(__builtin_add_overflow(a, b, &r));
    mix(r);
    mix(__builtin_sub_overflow(a, b, &r));
    mix(r);
    mix(__builtin_mul_overflow(a, b, &r));
    mix(r);
}

static void check2(int a, unsigned b) {
    int r;
    mix(__builtin_add_overflow(a, b, &r));
    mix(r);
    mix(__builtin_sub_overflow(a, b, &r));
    mix(r);
    mix(__builtin_mul_overflow(a, b, &r));
    mix(r);
}

static void check3(int a, unsigned b) {
    unsigned long r;
    mix(__builtin_add_overflow(a, b, &r));
    mix(r);
    mix(__builtin_sub_overflow(a, b, &r));
    mix(r);
    mix(__builtin_mul_overflow(a, b, &r));
    mix(r);
}

static void check4(unsigned a, unsigned b) {
    long r;
    mix(__builtin_add_overflow(a, b, &r));
    mix(r);
    mix(__builtin_sub_overflow(a, b, &r));
    mix(r);
    mix(__builtin_mul_overflow(a, b, &r));
    mix(r);
}

static void check5(signed char a, short b) {
    unsigned char r;
    mix(__builtin_add_overflow(a, b, &r));
    mix(r);
    mix(__builtin_sub_overflow(a, b, &r));
    mix(r);
    mix(__builtin_mul_overflow(a, b, &r));
    mix(r);
}

static void check6(long a, long b) {
    long r;
    mix(__builtin_add_overflow(a, b, &r));
    mix(r);
    mix(__builtin_sub_overflow(a, b, &r));
    mix(r);
    mix(__builtin_mul_overflow(a, b, &r));
    mix(r);
}

static void check7(unsigned long a, unsigned long b) {
    unsigned long r;
    mix(__builtin_add_overflow(a, b, &r));
    mix(r);
    mix(__builtin_sub_overflow(a, b, &r));
    mix(r);
    mix(__builtin_mul_overflow(a, b, &r));
    mix(r);
}

static void check8(unsigned a, long b) {
    long r;
    mix(__builtin_add_overflow(a, b, &r));
    mix(r);
    mix(__builtin_sub_overflow(a, b, &r));
    mix(r);
    mix(__builtin_mul_overflow(a, b, &r));
    mix(r);
}

int main(void) {
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < COUNT; k++) {
            check0(numbers[i], numbers[k]);
            check1(numbers[i], numbers[k]);
            check2(numbers[i], numbers[k]);
            check3(numbers[i], numbers[k]);
            check4(numbers[i], numbers[k]);
            check5(numbers[i], numbers[k]);
            check6(numbers[i], numbers[k]);
            check7(numbers[i], numbers[k]);
            check8(numbers[i], numbers[k]);
            long r;
            mix(__builtin_saddl_overflow(numbers[i], numbers[k], &r));
            unsigned s;
            mix(__builtin_umul_overflow(numbers[i], numbers[k], &s));
            mix(s + r);
        }
    }
    int same = 2147483647;
    mix(__builtin_add_overflow(same, 1, &same));
    mix(same);
    return 0;
}
