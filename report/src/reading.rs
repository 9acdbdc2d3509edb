// SPDX-License-Identifier: Apache-2.0
//! Functions of the standard library that read: in the executable counterexample they give the program what it read there, from
//! the same functions that give its other inputs and in the same order.

use std::fmt::Write;

use cfa::{Program, VERSIONS, plain_name};

use crate::harness::{called, giving_inputs, has_body, type_name};

/// What the library's definitions use.
const HEAD: &str = "
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ssize_t;
void *malloc(size_t);
void free(void *);
void __VERIFIER_assume(int);
";

/// Reads the format of `scanf` and stores inputs as long as others say that conversions succeed.
const SCAN: (&str, &str) = (
    "
static int __cpa_scan(const char *at, __builtin_va_list list) {
  int done = 0, may_mismatch = 0;
  for (; *at; at++) {
    if (*at != '%' || *++at == '%') {
      if (*at != ' ' && (*at < 9 || *at > 13) && done == 0) may_mismatch = 1;
      continue;
    }
    int stores = *at != '*';
    if (!stores) at++;
    unsigned long width = 0;
    for (; *at >= '0' && *at <= '9'; at++) width = 10 * width + (*at - '0');
    int size = 0;
    for (; *at == 'h'; at++) size--;
    for (; *at == 'l' || *at == 'z' || *at == 't'; at++) size++;
    for (; *at == 'j' || *at == 'q'; at++) size = 2;
    int kind = *at;
    if (kind == '[') {
      if (at[1] == '^') at++;
      do at++; while (at[1] != ']');
      at++;
    }
    if (kind != 'c' && kind != 's' && done == 0) may_mismatch = 1;
    if (!stores) continue;
    if (!__VERIFIER_nondet_bool()) {
      if (done > 0) return done;
      return may_mismatch && __VERIFIER_nondet_bool() ? 0 : -1;
    }
    done++;
    void *to = __builtin_va_arg(list, void *);
",
    "  }
  if (done > 0) return done;
  return __VERIFIER_nondet_bool() ? 0 : -1;
}
",
);

/// What conversions of `scanf` store: the suffix of the function that gives the input, the conversions, and the size as steps
/// from that without letters in front.
const STORED: [(&str, &str, i32); 13] = [
    ("char", "di", -2),
    ("short", "di", -1),
    ("int", "di", 0),
    ("long", "di", 1),
    ("longlong", "di", 2),
    ("uchar", "uoxX", -2),
    ("ushort", "uoxX", -1),
    ("uint", "uoxX", 0),
    ("ulong", "uoxX", 1),
    ("ulonglong", "uoxX", 2),
    ("float", "efgaEFGA", 0),
    ("double", "efgaEFGA", 1),
    ("char", "c", 0),
];

/// The functions that read.
pub(crate) fn functions(program: &Program, text: &mut String) {
    let own = cfa::reading_functions(program);
    if !own.is_empty() {
        let _ = write!(text, "{HEAD}\n{own}");
    }
    let called = called(program);
    // Headers may give the functions other names by labels that only the compiler sees.
    let scanning = |plain: &&str| called.iter().any(|name| plain_name(name) == *plain && !has_body(program, name));
    let scanning: Vec<&str> = ["scanf", "fscanf"].into_iter().filter(scanning).collect();
    let inputs = giving_inputs(program);
    // Without inputs no format was understood.
    if scanning.is_empty() || !inputs.contains_key("__VERIFIER_nondet_bool") {
        return;
    }
    text.push_str(SCAN.0);
    for (suffix, kinds, size) in STORED {
        let function = format!("__VERIFIER_nondet_{suffix}");
        if let Some(var) = inputs.get(&*function) {
            let ty = type_name(program.var(*var));
            let _ = writeln!(
                text,
                "    if (size == {size} && __builtin_strchr(\"{kinds}\", kind)) *({ty} *)to = {function}();"
            );
        }
    }
    if own.contains("__scan_word") {
        text.push_str("    if (kind == 's') __scan_word(to, width ? width : ~0ul);\n");
    }
    text.push_str(SCAN.1);
    let names = VERSIONS.into_iter().chain([""]);
    for (plain, prefix) in scanning.iter().flat_map(|plain| names.clone().map(move |prefix| (plain, prefix))) {
        let stream = if *plain == "fscanf" { "void *stream, " } else { "" };
        let _ = writeln!(
            text,
            "
int {prefix}{plain}({stream}const char *format, ...) {{
  __builtin_va_list list;
  __builtin_va_start(list, format);
  int count = __cpa_scan(format, list);
  __builtin_va_end(list);
  return count;
}}"
        );
    }
}
