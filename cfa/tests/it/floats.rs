// SPDX-License-Identifier: Apache-2.0
//! Floating point: conversions and operators as operations on bits, and the functions of `<math.h>`.

use cfa::exprs::closed_value;
use cfa::{HavocOrigin, MachineModel, Op};
use expect_test::expect;

use crate::{check_body, try_load};

#[test]
fn operators_and_conversions() {
    check_body(
        "float f = nondet_int(); double d = f; _Bool b = d; d = f * 0.5; f = f * 0.5f; f += 1; d--; x = d; y = -d < f; \
         z = f != f; if (!(d >= 1)) return 1; while (f) { f = x ? f : 1; } unsigned char c = f; return d && c;",
        expect![[r#"
            main(): n7 .. n24
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7: call nondet_int
              n7 -> n8: __tmp1 = nondet_int()
              n8 -> n9: f = tof32(__tmp1)
              n9 -> n10: d = tof64(f)
              n10 -> n11: b = (uint8_t)!eqf64(d, 0.0)
              n11 -> n12: d = mulf64(tof64(f), 0.5)
              n12 -> n13: f = mulf32(f, 0.5)
              n13 -> n14: f = addf32(f, 1.0)
              n14 -> n15: d = subf64(d, 1.0)
              n15 -> n16: x = (int)fromf64(d)
              n16 -> n17: y = ltf64(d ^ 9223372036854775808, tof64(f))
              n17 -> n18: z = !eqf32(f, f)
              n18 -> n19: [lef64(1.0, d)]
              n18 -> n23: [!lef64(1.0, d)]
              n19: loop
              n19 -> n21: [eqf32(f, 0.0)]
              n19 -> n20: [!eqf32(f, 0.0)]
              n20 -> n19: f = x ? f : 1065353216
              n21 -> n22: c = (uint8_t)fromf32(f)
              n22 -> n24: __ret = !eqf64(d, 0.0) && c
              n23 -> n24: __ret = 1
        "#]],
    );
}

/// What a constant expression evaluates to: the value of `return expr;`.
fn value(expr: &str) -> i128 {
    let text = format!(
        "double fabs(double), floor(double), round(double), rint(double), sqrt(double), fmin(double, double), \
         fmax(double, double), fdim(double, double), copysign(double, double); float roundf(float); \
         long lround(double); int main(void) {{ return {expr}; }}"
    );
    let program = try_load(&text, MachineModel::Lp64).unwrap_or_else(|error| panic!("{error}"));
    let ret = program.func(program.main).ret;
    let found = program.edges.iter().find_map(|edge| match &edge.op {
        Op::Assign { var, value } if Some(*var) == ret => closed_value(&program.exprs, *value),
        _ => None,
    });
    let value = found.unwrap_or_else(|| panic!("{expr} is not constant:\n{}", program.dump()));
    value.unwrap_or_else(|undefined| panic!("{expr}: {undefined}"))
}

#[test]
fn functions_of_the_library() {
    let table = [
        ("fabs(-2.5) == 2.5 && floor(-2.5) == -3 && round(-2.5) == -3 && rint(-2.5) == -2", 1),
        ("roundf(0.49999997f) == 0 && sqrt(2) * sqrt(2) != 2 && lround(-0.5) == -1", 1),
        ("fmin(0.0 / 0.0, 1) == 1 && fmax(1, 0.0 / 0.0) == 1 && fmax(1, 2) == 2 && fmin(1, -2) == -2", 1),
        ("fdim(3, 1) == 2 && fdim(1, 3) == 0 && fdim(0.0 / 0.0, 1) != fdim(0.0 / 0.0, 1)", 1),
        ("copysign(1, -0.0) == -1 && __builtin_signbit(-0.0) && !__builtin_signbit(0.0f)", 1),
        ("__builtin_isnan(__builtin_nan(\"\")) && !(__builtin_nan(\"\") == __builtin_nan(\"\"))", 1),
        ("__builtin_isinf_sign(-__builtin_inf()) + 2 * isinf(__builtin_huge_valf()) + 4 * isfinite(1e308 * 10)", 1),
        ("finite(1.5f) + 2 * __finite(-1e999) + 4 * finite(0.0 / 0.0) + 8 * __finitef(3e38f)", 9),
        ("__builtin_fpclassify(1, 2, 3, 4, 5, 1e-310) * 10 + fpclassify(1e-310)", 43),
        ("fpclassify(0.0 / 0.0) + 10 * fpclassify(-1e999) + 100 * fpclassify(-0.0) + 1000 * fpclassify(1.f)", 4210),
        ("isnormal(1e-39f) + 2 * isnormal(1e-39) + 4 * isunordered(1.0, 0.0 / 0.0) + 8 * isless(1, 2.0)", 14),
        ("(0.1f == 0.1) + 2 * (0.1f + 0.2f == 0.3f) + 4 * (0.1 + 0.2 == 0.3) + 8 * ((float)16777217 == 16777216)", 10),
    ];
    for (expr, expected) in table {
        assert_eq!(value(expr), expected, "{expr}");
    }
}

#[test]
fn results_that_are_not_modelled() {
    check_body(
        "extern double sin(double), fmin(double, double); extern int log(int); long double l = 1; double d = nondet_int(); \
         double e = sin(d); e = fmin(d, e); x = log(3); d = l;",
        expect![[r#"
            main(): n7 .. n20
              n4 -> n5: x = ?
              n5 -> n6: y = ?
              n6 -> n7: z = ?
              n7: call nondet_int
              n7 -> n8: __tmp1 = nondet_int()
              n8 -> n9: d = tof64(__tmp1)
              n9: call sin
              n9 -> n10: e = ? (result of 'sin')
              n10: call fmin
              n10 -> n11: [eqf64(d, e)]
              n10 -> n14: [!eqf64(d, e)]
              n11 -> n12: [d != e]
              n11 -> n14: [d == e]
              n12 -> n13: __tmp2 = ? (result of 'fmin of zeros of different signs')
              n13 -> n15: __tmp3 = __tmp2 ? d : e
              n14 -> n15: __tmp3 = ltf64(d, e) ? d : ltf64(e, d) ? e : eqf64(d, d) ? d : e
              n15 -> n16: e = __tmp3
              n16: call log
              n16 -> n17: x = log()
              n17 -> n18: unsupported: long double value
              n18 -> n19: d = __tmp4
              n19 -> n20: __ret = 0
        "#]],
    );
}

/// How many results may be open because they may not be numbers, in a program with the statements.
fn open_nans(statements: &str) -> usize {
    let text = format!(
        "typedef unsigned long long U; void *malloc(unsigned long), *memcpy(void *, const void *, unsigned long);
         int memcmp(const void *, const void *, unsigned long);
         double nondet_double(void), fabs(double), fmax(double, double), copysign(double, double); float sqrtf(float);
         union bits {{ double d; U u; }}; struct pair {{ double d; int i; }}; double global = 0.0 / 0.0;
         U word(double d) {{ union bits b; b.d = d; return b.u; }} double same(double d) {{ return d; }}
         int main(void) {{ int x = 0; double d = nondet_double(), e = nondet_double(), a[3]; float f = d; U u;
           struct pair p, q; union bits b; {statements}; return x; }}"
    );
    let program = crate::try_load(&text, MachineModel::Lp64).expect("it loads");
    program.edges.iter().filter(|edge| matches!(edge.op, Op::Havoc { origin: HavocOrigin::NanBits, .. })).count()
}

#[test]
fn bits_of_what_is_not_a_number_are_open_where_they_are_seen() {
    let unseen = [
        "d = d * e; x = d != d",
        "d = -fabs(d + e); x = __builtin_isnan(d) + __builtin_isinf(d) + __builtin_isfinite(-d)",
        "a[x] = d / e; d = a[1]; x = d < 1",
        "p.d = d - e; p.i = 3; q = p; x = q.i + (q.d > 0)",
        // What comes from outside has the bits that it has.
        "u = word(d); x = u >> 63; e = d + 1; x += same(e) > 0",
        // A number is never anything else.
        "d = x; u = word(d); x = u >> 63",
        // The first bits are seen, not those of what is computed from them.
        "u = word(d); e = d * d; x = (int)e",
        "e = global; x = fpclassify(sqrtf(e))",
    ];
    for statements in unseen {
        assert_eq!(open_nans(statements), 0, "{statements}");
    }
    let seen = [
        ("b.d = d * e; x = b.u >> 63", 1),
        ("d = d + e; e = d * 2; u = word(e); x = u != 0", 1),
        ("d = same(d + e); x = __builtin_signbit(d)", 1),
        ("d = copysign(1.0, d - e); x = d > 0", 1),
        ("f = sqrtf(f); x = *(int *)&f > 3", 2),
        ("f = d; double g = f; u = word(g); x = u & 1", 1),
        ("a[0] = d * e; x = *(unsigned char *)a", 1),
        ("a[0] = d * e; a[1] = d / e; x = memcmp(a, a + 1, 8)", 2),
        ("double *m = malloc(8); *m = d / e; memcpy(&u, m, 8); x = u >> 63", 1),
        ("u = word(x ? d + e : d); x = u > 5", 1),
        ("u = word(global); x = u > 5", 1),
        ("u = word(-(d * e)) + word(fabs(d / e)); x = u > 5", 2),
    ];
    for (statements, count) in seen {
        assert_eq!(open_nans(statements), count, "{statements}");
    }
}
