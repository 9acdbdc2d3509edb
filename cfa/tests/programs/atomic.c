// Atomic access without threads, barriers, and the compiler's functions about bits of signed numbers.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
static int count = 5;
static volatile int lock;
static struct { char flag; short s; long long wide; unsigned char byte; } o = { 1, -2, 1LL << 40, 250 };
static int *pointer, target;
int main(void) {
  int expected = 3, wanted = 11, loaded, k = 0;
  long long big = -1;
  mix(__sync_fetch_and_add(&count, 7)); mix(count); mix(__sync_sub_and_fetch(&count, 20)); mix(count);
  mix(__sync_val_compare_and_swap(&count, -8, 9)); mix(__sync_bool_compare_and_swap(&count, 8, 1)); mix(count);
  mix(__sync_bool_compare_and_swap(&count, 9, 6)); mix(count); mix(__sync_lock_test_and_set(&lock, 1)); mix(lock);
  __sync_lock_release(&lock); __sync_synchronize(); mix(lock);
  mix(__sync_fetch_and_or(&count, 9)); mix(__sync_and_and_fetch(&count, 12)); mix(__sync_fetch_and_nand(&count, 4)); mix(count);
  mix(__sync_xor_and_fetch(&o.s, 0x7fff)); mix(__sync_fetch_and_sub(&o.wide, big) >> 20); mix(o.wide >> 3);
  mix(__sync_add_and_fetch(&o.byte, 10)); mix(o.byte);
  mix(__atomic_load_n(&count, 5)); __atomic_store_n(&count, 3, 0); mix(count); __atomic_load(&count, &loaded, 5); mix(loaded);
  mix(__atomic_compare_exchange_n(&count, &expected, 7, 0, 5, 0)); mix(count); mix(expected);
  mix(__atomic_compare_exchange_n(&count, &expected, 8, 1, 5, 5)); mix(count); mix(expected);
  mix(__atomic_compare_exchange(&count, &expected, &wanted, 0, 5, 5)); mix(count);
  mix(__atomic_exchange_n(&count, 4, 5)); __atomic_exchange(&count, &wanted, &loaded, 5); mix(count); mix(loaded);
  mix(__atomic_fetch_add(&o.s, 3, 5)); mix(__atomic_sub_fetch(&o.s, 1, 5)); mix(__atomic_nand_fetch(&o.s, 6, 5)); mix(o.s);
  mix(__atomic_test_and_set(&o.flag, 5)); __atomic_clear(&o.flag, 5); mix(o.flag); mix(__atomic_test_and_set(&o.flag, 5)); mix(o.flag);
  __atomic_store(&k, &count, 5); mix(k); __atomic_thread_fence(5); __atomic_signal_fence(5);
  mix(__sync_bool_compare_and_swap(&pointer, (int *)0, &target)); *__atomic_load_n(&pointer, 2) = 8; mix(target);
  asm volatile("" ::: "memory"); __asm__ __volatile__("nop"); asm("pause\n\t" "rep; nop"); asm volatile("mfence" : : : "memory");
  mix(__builtin_clrsb(-1)); mix(__builtin_clrsb(0)); mix(__builtin_clrsb(300)); mix(__builtin_clrsb(-2147483647 - 1));
  mix(__builtin_clrsbll(-5)); mix(__builtin_clrsbl(1L << 20));
  return 0;
}
