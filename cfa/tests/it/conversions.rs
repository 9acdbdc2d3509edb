// SPDX-License-Identifier: Apache-2.0
//! Values of constant expressions. The expected values are those that gcc 12 computes with -m32 and -m64.

use cfa::{MachineModel, Op};

use crate::try_load;

const TABLE: &[(&str, i128, i128)] = &[
    ("-1 < 1u", 0, 0),
    ("-1 < 1l", 1, 1),
    ("-1 < 1ul", 0, 0),
    ("-1l < 1u", 0, 1),
    ("-1ll < 1ul", 1, 0),
    ("(unsigned char)255 + 1", 256, 256),
    ("(char)200", -56, -56),
    ("(signed char)128 < 0", 1, 1),
    ("(unsigned short)65535 + 1", 65536, 65536),
    ("(short)40000", -25536, -25536),
    ("-2147483648", -2147483648, -2147483648),
    ("-2147483647 - 1", -2147483648, -2147483648),
    ("2147483648 > 0", 1, 1),
    ("-1u / 2", 2147483647, 2147483647),
    ("-1 / 2u", 2147483647, 2147483647),
    ("-7 / 2", -3, -3),
    ("-7 % 3", -1, -1),
    ("7 % -3", 1, 1),
    ("-7u % 3", 0, 0),
    ("~0u >> 1", 2147483647, 2147483647),
    ("-8 >> 1", -4, -4),
    ("(unsigned char)~0", 255, 255),
    ("~(unsigned char)0", -1, -1),
    ("!5", 0, 0),
    ("!!5", 1, 1),
    ("(_Bool)256", 1, 1),
    ("(_Bool)0x100000000", 1, 1),
    ("(_Bool)-1", 1, 1),
    ("sizeof(int)", 4, 4),
    ("sizeof(long)", 4, 8),
    ("sizeof(char*)", 4, 8),
    ("sizeof(long long) + -1", 7, 7),
    ("sizeof(short) - 3", 4294967295, -1),
    ("sizeof('a')", 4, 4),
    ("sizeof((char)1 + (char)1)", 4, 4),
    ("sizeof(1 ? 1 : 1l)", 4, 8),
    ("sizeof(1u + 1l)", 4, 8),
    ("sizeof(struct { char c; int i; short s; })", 12, 12),
    ("sizeof(struct { char c; long long i; })", 12, 16),
    ("sizeof(struct { char c; double i; })", 12, 16),
    ("sizeof(union { char c[7]; int i; })", 8, 8),
    ("sizeof(int[3][5])", 60, 60),
    ("sizeof(double)", 8, 8),
    ("sizeof(long double)", 12, 16),
    ("sizeof(\"abc\")", 4, 4),
    ("1 ? -1 : 1u", 4294967295, 4294967295),
    ("0x80000000 + 0x80000000", 0, 0),
    ("0xffffffff + 1", 0, 0),
    ("4294967295 + 1", 4294967296, 4294967296),
    ("1 << 31", -2147483648, -2147483648),
    ("1u << 31", 2147483648, 2147483648),
    ("1ll << 40", 1099511627776, 1099511627776),
    ("(unsigned char)1 << 8", 256, 256),
    ("'\\xff' == -1", 1, 1),
    ("'a' - 'A'", 32, 32),
    ("3 > 2 > 1", 0, 0),
    ("5 & 3 == 3", 1, 1),
    ("1 | 2 ^ 3 & 4", 3, 3),
    ("(long)-1 == (unsigned)-1", 1, 0),
    ("(unsigned long)-1 == (unsigned)-1", 1, 0),
    ("(long long)(unsigned)-1", 4294967295, 4294967295),
    ("(int)4294967295u", -1, -1),
    ("(int)3000000000", -1294967296, -1294967296),
    ("(signed char)(unsigned char)200", -56, -56),
    ("(unsigned)(signed char)-1", 4294967295, 4294967295),
    ("(unsigned long long)(short)-1 >> 48", 65535, 65535),
    ("2147483647 + 1u", 2147483648, 2147483648),
    ("65535 * 65537", -1, -1),
    ("(unsigned short)65535 * (unsigned short)2", 131070, 131070),
    ("-(unsigned char)1", -1, -1),
    ("-(unsigned)1 > 0", 1, 1),
    ("sizeof(int) > -1", 0, 0),
    ("010 + 0x10 + 10", 34, 34),
    ("1000000 * 1000000ll", 1000000000000, 1000000000000),
    ("1000000u * 1000000u", 3567587328, 3567587328),
];

fn value(expr: &str, machine: MachineModel) -> Option<i128> {
    let program = try_load(&format!("long long g = ({expr}); int main(void) {{ }}"), machine).expect("it loads");
    let edge = program.edge(program.node(program.entry).leaving[0]);
    match edge.op {
        Op::Assign { value, .. } => program.exprs.as_const(value),
        _ => None,
    }
}

#[test]
fn constants_have_the_values_of_gcc() {
    for (expr, ilp32, lp64) in TABLE {
        assert_eq!(value(expr, MachineModel::Ilp32), Some(*ilp32), "{expr} on ILP32");
        assert_eq!(value(expr, MachineModel::Lp64), Some(*lp64), "{expr} on LP64");
    }
}

#[test]
fn undefined_operations_are_not_folded() {
    for expr in ["1 / 0", "1 % 0", "1 << 32", "1 << -1", "1u >> 32", "(-2147483647 - 1) / -1"] {
        assert_eq!(value(expr, MachineModel::Ilp32), None, "{expr}");
    }
}

#[test]
fn enumerations_have_the_types_of_gcc() {
    let both = |text: &str, expr: &str| {
        let program = format!("{text}; long long g = ({expr}); int main(void) {{ }}");
        let program = try_load(&program, MachineModel::Lp64).expect("it loads");
        match program.edge(program.node(program.entry).leaving[0]).op {
            Op::Assign { value, .. } => program.exprs.as_const(value),
            _ => None,
        }
    };
    assert_eq!(both("enum E { A, B = 5, C }", "C"), Some(6));
    assert_eq!(both("enum E { A, B = 5, C }", "(enum E)-1 > 0"), Some(1));
    assert_eq!(both("enum E { A = -1 }", "(enum E)-1 < 0"), Some(1));
    assert_eq!(both("enum E { A }", "A - 1 < 0"), Some(1));
    assert_eq!(both("enum E { A = 0xffffffff, B = 1 }", "A"), Some(0xffff_ffff));
    assert_eq!(both("enum E { A = 0xffffffff, B = 1 }", "sizeof(enum E)"), Some(4));
    assert_eq!(both("enum E { A = 1ll << 40, B = -1 }", "sizeof(enum E) + sizeof(B)"), Some(12));
    assert_eq!(both("typedef enum { false, true } bool", "sizeof(bool) + true"), Some(5));
}

#[test]
fn typedefs_of_the_file_come_first() {
    let program =
        "typedef signed char size_t; typedef long int8_t; long long g = sizeof(size_t) * 100 + sizeof(int8_t);
        int main(void) { }";
    let program = try_load(program, MachineModel::Lp64).expect("it loads");
    let Op::Assign { value, .. } = program.edge(program.node(program.entry).leaving[0]).op else { panic!("no value") };
    assert_eq!(program.exprs.as_const(value), Some(108));
}
