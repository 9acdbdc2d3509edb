// SPDX-License-Identifier: Apache-2.0
//! What attributes say about the size and layout of types: `packed`, `aligned(n)`, `mode(m)`.

/// What `__attribute__((..))` says about the layout of a type, a member or an object.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct LayoutAttribute {
    pub(crate) packed: bool,
    /// The least alignment in bytes.
    pub(crate) aligned: Option<u64>,
    /// The machine mode of an integer.
    pub(crate) mode: Option<Mode>,
    /// Whether it says something that is not followed.
    pub(crate) other: bool,
}

/// The width of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Bits(u32),
    /// As wide as a pointer.
    Word,
}

/// Attributes that change types in ways that are not followed.
const OTHERS: [&str; 4] = ["vector_size", "transparent_union", "scalar_storage_order", "warn_if_not_aligned"];

/// What `aligned` says without a number on i386 and x86-64.
const GREATEST: u64 = 16;

impl LayoutAttribute {
    /// Reads what stands in the parentheses of `__attribute__`, with them; none if it says nothing about layout.
    pub(crate) fn read(text: &str) -> Option<LayoutAttribute> {
        let mut found = LayoutAttribute::default();
        let inside = text.trim().strip_prefix('(')?.strip_suffix(')')?.trim().strip_prefix('(')?.strip_suffix(')')?;
        for part in parts(inside) {
            let (name, args) = match part.split_once('(') {
                Some((name, args)) => (name.trim(), args.trim_end().strip_suffix(')')),
                None => (part.trim(), None),
            };
            match (name.trim_matches('_'), args) {
                ("packed", _) => found.packed = true,
                ("aligned", args) => match args.map_or(Some(GREATEST), constant).filter(|n| n.is_power_of_two()) {
                    Some(align) => {
                        found.other |= found.aligned.is_some_and(|known| known != align);
                        found.aligned = Some(align);
                    }
                    None => found.other = true,
                },
                ("mode", args) => match args.map(|args| args.trim().trim_matches('_')) {
                    Some("QI" | "byte") => found.mode = Some(Mode::Bits(8)),
                    Some("HI") => found.mode = Some(Mode::Bits(16)),
                    Some("SI") => found.mode = Some(Mode::Bits(32)),
                    Some("DI") => found.mode = Some(Mode::Bits(64)),
                    Some("word" | "pointer") => found.mode = Some(Mode::Word),
                    _ => found.other = true,
                },
                (name, _) => found.other |= OTHERS.contains(&name),
            }
        }
        (found != LayoutAttribute::default()).then_some(found)
    }

    /// What two attributes say together.
    pub(crate) fn and(self, other: LayoutAttribute) -> LayoutAttribute {
        // Compilers take the last one.
        let contradict = (self.mode.is_some() && other.mode.is_some())
            || (self.aligned.is_some() && other.aligned.is_some() && self.aligned != other.aligned);
        LayoutAttribute {
            packed: self.packed || other.packed,
            aligned: self.aligned.max(other.aligned),
            mode: self.mode.or(other.mode),
            other: self.other || other.other || contradict,
        }
    }
}

/// The attributes of a list, which commas separate.
fn parts(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut open, mut quoted) = (Vec::new(), 0, 0u32, false);
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            b',' if open == 0 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found
}

/// The value of a constant expression of numbers, parentheses, `*`, `+`, `-` and `<<`; none for everything else.
fn constant(text: &str) -> Option<u64> {
    let mut at = 0;
    let value = sum(text.as_bytes(), &mut at, 0)?;
    blanks(text.as_bytes(), &mut at);
    (at == text.len()).then_some(value)
}

fn blanks(text: &[u8], at: &mut usize) {
    *at += text[*at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
}

/// A chain of operators that bind at least as closely as a level: 0 is `<<`, 1 are `+` and `-`, 2 is `*`.
fn sum(text: &[u8], at: &mut usize, level: u32) -> Option<u64> {
    if level == 3 {
        return operand(text, at);
    }
    let mut value = sum(text, at, level + 1)?;
    loop {
        blanks(text, at);
        let (op, length) = match (text.get(*at), text.get(*at + 1), level) {
            (Some(b'<'), Some(b'<'), 0) => (b'<', 2),
            (Some(op @ (b'+' | b'-')), _, 1) | (Some(op @ b'*'), _, 2) => (*op, 1),
            _ => return Some(value),
        };
        *at += length;
        let right = sum(text, at, level + 1)?;
        value = match op {
            b'<' if right < 31 && value < 1 << 31 => value.checked_shl(u32::try_from(right).ok()?)?,
            b'<' => return None,
            b'+' => value.checked_add(right)?,
            b'-' => value.checked_sub(right)?,
            _ => value.checked_mul(right)?,
        };
        // Larger numbers would be computed in some type.
        if value >= 1 << 31 {
            return None;
        }
    }
}

fn operand(text: &[u8], at: &mut usize) -> Option<u64> {
    blanks(text, at);
    if text.get(*at) == Some(&b'(') {
        *at += 1;
        let value = sum(text, at, 0)?;
        blanks(text, at);
        return (text.get(*at) == Some(&b')')).then(|| {
            *at += 1;
            value
        });
    }
    let end = *at + text[*at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let number = std::str::from_utf8(&text[*at..end]).ok()?;
    *at = end;
    match crate::literals::number(number, crate::types::MachineModel::Ilp32)? {
        crate::literals::Number::Int(value, ty) if ty.bits == 32 && ty.signed => u64::try_from(value).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read() {
        let none = LayoutAttribute::default();
        let read = |text: &str| LayoutAttribute::read(text);
        assert_eq!(read("((packed))"), Some(LayoutAttribute { packed: true, ..none }));
        assert_eq!(
            read("(( __packed__ , __aligned__( 4 ), unused))"),
            Some(LayoutAttribute { packed: true, aligned: Some(4), ..none })
        );
        assert_eq!(read("((aligned))"), Some(LayoutAttribute { aligned: Some(16), ..none }));
        assert_eq!(read("((__aligned__((1 << (6)))))"), Some(LayoutAttribute { aligned: Some(64), ..none }));
        assert_eq!(read("((aligned(2 * 8 + 16)))"), Some(LayoutAttribute { aligned: Some(32), ..none }));
        for text in ["((aligned(3)))", "((aligned(sizeof(long))))", "((mode(TI)))", "((vector_size(16)))"] {
            assert_eq!(read(text), Some(LayoutAttribute { other: true, ..none }), "{text}");
        }
        assert_eq!(read("((__mode__(__DI__)))"), Some(LayoutAttribute { mode: Some(Mode::Bits(64)), ..none }));
        assert_eq!(read("((section(\"packed, aligned(8)\"), unused))"), None);
        assert_eq!(read("((format(printf, 1, 2), nonnull(1)))"), None);
    }
}
