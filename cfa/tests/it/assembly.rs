// SPDX-License-Identifier: Apache-2.0
//! Inline assembly that does nothing, and all other, which is not supported.

use cfa::Op;

fn unsupported(assembly: &str) -> usize {
    let program = crate::load(&format!("int main(void) {{ int x = 1, y = 2; {assembly}; L: return x + y; }}"));
    program.edges.iter().filter(|edge| matches!(edge.op, Op::Unsupported { .. })).count()
}

#[test]
fn what_does_nothing() {
    for text in [
        "__asm__ __volatile__(\"\" : : : \"memory\")",
        "asm(\"nop\")",
        "asm volatile(\"rep; nop\" ::: \"memory\")",
        "asm volatile(\" mfence\\n\\t\" \"pause\")",
    ] {
        assert_eq!(unsupported(text), 0, "{text}");
    }
    for text in [
        "asm(\"incl %0\" : \"+r\"(x))",
        "asm(\"\" : \"=r\"(x))",
        "asm(\"\" : : \"r\"(x++))",
        "asm(\"hlt\")",
        "asm(\"nop; ud2\")",
    ] {
        assert_eq!(unsupported(text), 1, "{text}");
    }
}

#[test]
fn macros_of_the_compiler() {
    for text in ["int x = __LINE__;", "f(&x, __ATOMIC_SEQ_CST);", "#define N 1", "long m = __LONG_MAX__;"] {
        assert!(cfa::needs_preprocessor(text), "{text}");
    }
    for text in ["# 1 \"a.c\"", "const char *f = __func__;", "#pragma pack(1)", "int __line__, LINE__;"] {
        assert!(!cfa::needs_preprocessor(text), "{text}");
    }
}
