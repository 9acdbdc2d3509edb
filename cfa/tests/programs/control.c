// Loops, switch with fall-through, goto, short circuit with effects, recursion, static variables.
unsigned checksum;

void mix(unsigned x) { checksum = checksum * 31u + x; }

int calls;

int touch(int x) {
    static int seen = 5;
    calls++;
    seen = seen * 3 + x;
    return seen & 1;
}

int ack(int m, int n) {
    int left = m - 1;
    if (m == 0) return n + 1;
    if (n == 0) return ack(left, 1);
    int inner = ack(m, n - 1);
    return ack(left, inner);
}

int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int odd(int n) { return n == 0 ? 0 : even(n - 1); }

int collatz(unsigned long n) {
    int steps = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        if (++steps > 1000) break;
    }
    return steps;
}

int pick(int x) {
    int r = 0;
    switch (x % 9) {
    case 0: r += 1;
    case 1: r += 10; break;
    case 2: { int y = x; r = y; } break;
    default: r = -1;
    case 5: r *= 2; break;
    case 6: return 77;
    case 7: if (x > 20) { case 8: r = 8; } else r = 7;
    }
    return r;
}

int main(void) {
    int i = 0;
again:
    mix(pick(i));
    if (touch(i) && touch(i + 1) || touch(i + 2)) mix(1);
    if (++i < 60) goto again;
    for (int k = 1; k < 300; k++) {
        if (k % 7 == 3) continue;
        mix(collatz(k));
    }
    int k = 10;
    do mix(k); while (k-- > 3);
    mix(ack(2, 6));
    mix(even(31) * 2 + odd(31));
    mix(calls);
    for (int a = 0; a < 5; a++)
        for (int b = a; b < 5; b++) {
            int fresh = a * b;
            if (fresh > 8) goto out;
            mix(fresh);
        }
out:
    return checksum % 251;
}
