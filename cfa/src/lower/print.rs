// SPDX-License-Identifier: Apache-2.0
//! `sprintf` and `snprintf`, C11 7.21.6.5 and 7.21.6.6, with a format that is a literal: what it says is written piece by piece.
//! What is not followed, such as a floating-point number, is any text.

use crate::ast::{ExprRef, Range};
use crate::ids::{ExprId, FuncId};
use crate::ir::{BinOp, CmpOp, IntTy};
use crate::library;
use crate::types::{Type, int};

use super::format::{Size, literal_format};
use super::{Lower, Val};

/// A piece of what a format writes.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Character(u8),
    /// An argument.
    Argument(Argument),
}

/// How an argument is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Argument {
    kind: Kind,
    /// The least number of characters.
    width: u64,
    fill: Fill,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// The letters in front of the conversion say its size.
    Number {
        size: Size,
        signed: bool,
        hexadecimal: bool,
    },
    Character,
    /// A text of at most so many characters.
    Text {
        most: Option<u64>,
    },
    /// Something that is not followed.
    Any,
}

/// What the width is filled with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fill {
    Blanks,
    Zeros,
    BlanksBehind,
}

/// The pieces that a format writes; none if it stores something, or takes widths from arguments.
fn pieces(format: &[u8]) -> Option<Vec<Piece>> {
    let mut found = Vec::new();
    let mut rest = format;
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' || rest.first() == Some(&b'%') {
            found.push(Piece::Character(*first));
            rest = if *first == b'%' { &rest[1..] } else { rest };
            continue;
        }
        let mut take = |known: &[u8]| -> &[u8] {
            let length = rest.iter().position(|c| !known.contains(c)).unwrap_or(rest.len());
            let (taken, behind) = rest.split_at(length);
            rest = behind;
            taken
        };
        let number = |digits: &[u8]| -> Option<u64> {
            if digits.is_empty() { Some(0) } else { std::str::from_utf8(digits).ok()?.parse().ok() }
        };
        let flags = take(b"-0+ #");
        let width = number(take(b"0123456789"))?;
        let precision = if take(b".").is_empty() { None } else { Some(number(take(b"0123456789"))?) };
        let length = take(b"hljztqL");
        let (conversion, behind) = rest.split_first()?;
        rest = behind;
        let plain = flags.iter().all(|flag| b"-0".contains(flag));
        let kind = match (conversion, Size::of(length)) {
            (b'd' | b'i', Some(size)) if plain && precision.is_none() => {
                Kind::Number { size, signed: true, hexadecimal: false }
            }
            (b'u' | b'x', Some(size)) if plain && precision.is_none() => {
                Kind::Number { size, signed: false, hexadecimal: *conversion == b'x' }
            }
            (b'c', _) if length.is_empty() => Kind::Character,
            (b's', _) if length.is_empty() => Kind::Text { most: precision },
            (b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'p', _) => Kind::Any,
            (b'e' | b'f' | b'g' | b'a' | b'E' | b'F' | b'G' | b'A', _) => Kind::Any,
            _ => return None,
        };
        let fill = match (flags.contains(&b'-'), flags.contains(&b'0'), kind) {
            (true, ..) => Fill::BlanksBehind,
            (false, true, Kind::Number { .. }) => Fill::Zeros,
            _ => Fill::Blanks,
        };
        found.push(Piece::Argument(Argument { kind, width, fill }));
    }
    Some(found)
}

impl<'a> Lower<'a> {
    /// A call of a function of the library that writes what a format says; none for other functions and formats.
    pub(super) fn printing(&mut self, func: FuncId, args: &'a [ExprRef], range: Range) -> Option<Val> {
        let name = self.funcs[func.index()].name.clone();
        let at = match library::plain_name(&name) {
            "sprintf" => 1,
            "snprintf" => 2,
            _ => return None,
        };
        let params = self.signatures[func.index()].params.clone();
        if self.library_function(&name) != Some(func) || self.file >= self.library || params.len() != at + 1 {
            return None;
        }
        let pieces = pieces(&literal_format(self.ast(), *args.get(at)?)?)?;
        let arguments = pieces.iter().filter(|piece| matches!(piece, Piece::Argument(_))).count();
        if args.len() < at + 1 + arguments {
            return None;
        }
        let mut values = self.arguments_but(args, range, |other| other == at);
        self.call_site(&name, range);
        let arguments = values.split_off(at + 1);
        let size_type = Type::Int(self.machine.size_type());
        let to = self.convert_int(values[0].clone(), &params[0], range);
        let size = match values.get(1).filter(|_| at == 2) {
            Some(size) => self.convert_int(size.clone(), &size_type, range),
            None => self.exprs.constant(self.machine.size_type(), self.machine.size_type().max()),
        };
        let target = Target { to: Val::Int(to, params[0].clone()), size: Val::Int(size, size_type.clone()) };
        let mut end = self.constant(0, size_type);
        let mut arguments = arguments.into_iter();
        for piece in pieces {
            end = match piece {
                Piece::Character(c) => {
                    let character = self.constant(i128::from(c as i8), int(8, true));
                    self.print("__print_character", &target, end, vec![character], range)
                }
                Piece::Argument(argument) => {
                    let value = arguments.next().expect("they were counted");
                    self.print_argument(&target, end, argument, value, range)
                }
            };
        }
        self.print("__print_end", &target, end.clone(), Vec::new(), range);
        self.errno_may_change(&name, range);
        Some(self.convert(end, &Type::INT, range))
    }

    /// Calls a function of the library that writes something behind what has been written; gives the new end.
    fn print(&mut self, function: &str, target: &Target, end: Val, more: Vec<Val>, range: Range) -> Val {
        let Some(func) = self.library_function(function) else {
            return self.refused(format!("call of '{function}'"), range);
        };
        let mut values = vec![target.to.clone(), target.size.clone(), end];
        values.extend(more);
        self.call_values(func, values, range)
    }

    /// Writes an argument; gives the new end.
    fn print_argument(&mut self, target: &Target, start: Val, how: Argument, value: Val, range: Range) -> Val {
        let size_type = Type::Int(self.machine.size_type());
        let Argument { kind, width, fill } = how;
        let width = self.constant(i128::from(if fill == Fill::BlanksBehind { 0 } else { width }), size_type.clone());
        let end = match self.printable(kind, &value, range) {
            None => self.print("__print_any", target, start.clone(), Vec::new(), range),
            Some(Printable::Number { amount, negative, name }) => {
                let fill = self.constant(i128::from(if fill == Fill::Zeros { b'0' } else { b' ' }), int(8, true));
                self.print(name, target, start.clone(), vec![amount, negative, width, fill], range)
            }
            Some(Printable::Character(character)) => {
                let one = self.constant(1, size_type.clone());
                let end = self.print("__print_blanks", target, start.clone(), vec![width, one], range);
                self.print("__print_character", target, end, vec![character], range)
            }
            Some(Printable::Text(text, most)) => {
                let most = self.constant(most, size_type.clone());
                self.print("__print_text", target, start.clone(), vec![text, most, width], range)
            }
        };
        if fill != Fill::BlanksBehind {
            return end;
        }
        let width = self.constant(i128::from(how.width), size_type);
        let (from, _) = self.integer(start, range);
        let (to, ty) = self.integer(end.clone(), range);
        let length = self.exprs.binary(BinOp::Sub, to, from);
        self.print("__print_blanks", target, end, vec![width, Val::Int(length, ty)], range)
    }

    /// What is written for a value; none if that is not followed.
    fn printable(&mut self, kind: Kind, value: &Val, range: Range) -> Option<Printable> {
        let Val::Int(expr, ty) = value else { return None };
        let storage = ty.storage(self.machine).filter(|_| ty.format().is_none())?;
        let promoted = if storage.bits < 32 { IntTy::INT } else { storage };
        match kind {
            Kind::Any => None,
            Kind::Text { most } => {
                let is_text =
                    matches!(ty, Type::Pointer(of) if of.storage(self.machine).is_some_and(|of| of.bits == 8));
                let most = most.map_or(self.machine.size_type().max(), i128::from);
                is_text.then(|| Printable::Text(value.clone(), most))
            }
            Kind::Character if promoted.bits == 32 => {
                Some(Printable::Character(self.convert(value.clone(), &int(8, true), range)))
            }
            Kind::Number { size, signed, hexadecimal } => {
                let bits = size.bits(self.machine);
                if promoted.bits != bits.max(32) || matches!(ty, Type::Pointer(_)) {
                    return None;
                }
                let number = self.exprs.cast(*expr, IntTy { bits, signed });
                let wide = IntTy { bits: bits.max(32), signed: false };
                let number = self.exprs.cast(number, IntTy { signed, ..wide });
                let number = self.saved(number, range);
                let (amount, negative) =
                    if signed { self.amount(number) } else { (number, self.exprs.truth_const(false)) };
                let amount = self.exprs.cast(amount, wide);
                let name = match (hexadecimal, wide.bits) {
                    (false, 32) => "__print_decimal_4",
                    (false, _) => "__print_decimal_8",
                    (true, 32) => "__print_hexadecimal_4",
                    (true, _) => "__print_hexadecimal_8",
                };
                let negative = self.exprs.cast(negative, IntTy { bits: 8, signed: false });
                let amount = Val::Int(amount, Type::Int(wide));
                Some(Printable::Number { amount, negative: Val::Int(negative, Type::Bool), name })
            }
            Kind::Character => None,
        }
    }

    /// The amount of a signed number as bits of an unsigned one, and whether it is negative.
    fn amount(&mut self, number: ExprId) -> (ExprId, ExprId) {
        let ty = self.exprs.ty(number);
        let zero = self.exprs.constant(ty, 0);
        let negative = self.exprs.cmp(CmpOp::Lt, number, zero);
        let opposite = self.exprs.binary(BinOp::Sub, zero, number);
        (self.exprs.ite(negative, opposite, number), negative)
    }
}

/// Where a text is written, and for how many characters there is room.
struct Target {
    to: Val,
    size: Val,
}

/// A value that is written.
enum Printable {
    /// The function of the library that writes the amount.
    Number {
        amount: Val,
        negative: Val,
        name: &'static str,
    },
    Character(Val),
    /// At most so many characters of a text.
    Text(Val, i128),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_pieces() {
        let of = |format: &str| pieces(format.as_bytes());
        let argument = |kind, width, fill| Piece::Argument(Argument { kind, width, fill });
        let int = Kind::Number { size: Size::Int, signed: true, hexadecimal: false };
        let unsigned_long = Kind::Number { size: Size::Long, signed: false, hexadecimal: true };
        assert_eq!(of("a%%").unwrap(), [Piece::Character(b'a'), Piece::Character(b'%')]);
        assert_eq!(
            of("%d%05d%-7d").unwrap(),
            [argument(int, 0, Fill::Blanks), argument(int, 5, Fill::Zeros), argument(int, 7, Fill::BlanksBehind),]
        );
        assert_eq!(of("%lx").unwrap(), [argument(unsigned_long, 0, Fill::Blanks)]);
        assert_eq!(
            of("%.3s%c").unwrap(),
            [argument(Kind::Text { most: Some(3) }, 0, Fill::Blanks), argument(Kind::Character, 0, Fill::Blanks),]
        );
        for format in ["%f", "%+d", "%.3d", "%#x", "%p", "%Lf", "%X", "%o", "%ls"] {
            assert_eq!(of(format).unwrap().len(), 1, "{format}");
            assert!(matches!(of(format).unwrap()[0], Piece::Argument(Argument { kind: Kind::Any, .. })), "{format}");
        }
        for format in ["%n", "%*d", "%", "%k", "%2$d", "%m"] {
            assert_eq!(of(format), None, "{format}");
        }
    }
}
