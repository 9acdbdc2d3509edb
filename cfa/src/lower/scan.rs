// SPDX-License-Identifier: Apache-2.0
//! `scanf` and its relatives, C11 7.21.6.2, with a format that is a literal.
//!
//! Numbers and words that are read from a stream are inputs: each of them can be any, whatever was read before it, since blanks
//! may stand in front of it. A conversion that fails leaves the stream where any number or word can follow, too, as `--5` is
//! no number, but `-5` is one. Characters are inputs only as long as the program reads neither numbers nor words, behind which
//! not every character can follow. What `sscanf` finds in a text is not followed.

use crate::ast::{Ast, Expr, ExprRef, Range, Unary};
use crate::ids::{ExprId, NodeId, VarId};
use crate::ir::{CmpOp, IntTy, Op};
use crate::library;
use crate::types::{Type, int};

use super::call::nondet_type;
use super::format::{Size, literal_format};
use super::place::{Lvalue, Place};
use super::{Lower, Val};

/// Functions that read what a format says, and which argument it is.
const SCANNING: [(&str, usize); 3] = [("scanf", 0), ("fscanf", 1), ("sscanf", 1)];

/// Functions of the library that read characters from a stream.
const READING: [&str; 7] = ["getchar", "getc", "fgetc", "fgets", "getline", "read", "fread"];

/// What a conversion stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stored {
    /// A value of the type with this suffix of `__VERIFIER_nondet_`.
    Number(&'static str),
    /// A character that is no blank, or any one.
    Character { blank: bool },
    /// A text of at most so many characters, without blanks if it is a word.
    Text { most: Option<u32>, word: bool },
}

/// When everything that fits the type of a conversion can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Any {
    Always,
    /// If the program reads nothing that restricts the next character.
    Alone,
    /// What can be read is not known.
    Never,
}

/// What a format says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Format {
    /// What the conversions store that store something.
    conversions: Vec<(Stored, Any)>,
    /// Whether the input may fail to match before anything is stored.
    may_mismatch: bool,
    /// Whether not every character can follow what is read.
    restricts: bool,
    /// Whether it is not known which conversions can succeed, as behind the 5 in `%d5`, which belongs to the number.
    unclear: bool,
}

/// What a character directly behind a conversion may belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Behind {
    Nothing,
    Integer,
    Float,
    Text,
}

impl Behind {
    fn of(stored: Stored) -> Behind {
        match stored {
            Stored::Number("float" | "double") => Behind::Float,
            Stored::Number(_) => Behind::Integer,
            Stored::Character { .. } => Behind::Nothing,
            Stored::Text { .. } => Behind::Text,
        }
    }

    /// Whether the conversion may read the character.
    fn takes(self, character: char) -> bool {
        match self {
            Behind::Nothing => false,
            Behind::Integer => character.is_ascii_alphanumeric(),
            Behind::Float => character.is_ascii_alphanumeric() || character == '.',
            Behind::Text => true,
        }
    }
}

/// A call of a function that reads what a format says.
struct Scan {
    /// Whether it reads a text, and not a stream.
    from_text: bool,
    /// The first argument behind the format.
    first: usize,
    /// None if it is no literal, or a part of it is not modelled.
    format: Option<Format>,
}

impl Scan {
    /// None for other functions.
    fn of(ast: &Ast<'_>, name: &str, args: &[ExprRef]) -> Option<Scan> {
        let (known, at) = SCANNING.into_iter().find(|(known, _)| *known == library::plain_name(name))?;
        let text = args.get(at).and_then(|arg| literal_format(ast, *arg)).filter(|text| text.is_ascii());
        let format = text.and_then(|text| format(std::str::from_utf8(&text).ok()?));
        Some(Scan { from_text: known == "sscanf", first: at + 1, format })
    }

    /// The conversions with the positions of their arguments.
    fn targets(&self) -> impl Iterator<Item = (usize, (Stored, Any))> {
        (self.first..).zip(self.format.iter().flat_map(|format| format.conversions.iter().copied()))
    }
}

/// The variable in an argument `&variable` or `&variable.member`.
fn variable_in(ast: &Ast<'_>, arg: ExprRef) -> Option<ExprRef> {
    let Expr::Unary(Unary::AddrOf, variable) = ast.expr(arg) else { return None };
    let mut whole = *variable;
    while let Expr::Member { object, arrow: false, .. } = ast.expr(whole) {
        whole = *object;
    }
    matches!(ast.expr(whole), Expr::Ident(_)).then_some(*variable)
}

/// The arguments of a call that only say into which variables numbers and characters go: these need not be in memory. Their
/// positions, with the variables.
fn variables_read(ast: &Ast<'_>, scan: &Scan, args: &[ExprRef]) -> Vec<(usize, ExprRef)> {
    let targets = scan.targets().filter(|(_, (stored, _))| !matches!(stored, Stored::Text { .. }));
    targets.filter_map(|(at, _)| Some((at, variable_in(ast, *args.get(at)?)?))).collect()
}

/// The arguments of a call of a function without a body that take no address, although they look so.
pub(super) fn places_read<'a>(ast: &'a Ast<'a>, name: &str, args: &'a [ExprRef]) -> Vec<ExprRef> {
    let Some(scan) = Scan::of(ast, name, args) else { return Vec::new() };
    variables_read(ast, &scan, args).into_iter().map(|(at, _)| args[at]).collect()
}

/// Whether a program reads something from a stream behind which not every character can follow.
pub(super) fn restricts_characters(asts: &[Ast<'_>]) -> bool {
    let mut scans =
        asts.iter().flat_map(|ast| ast.calls_by_name().filter_map(|(name, args)| Scan::of(ast, name, args)));
    scans.any(|scan| !scan.from_text && scan.format.is_none_or(|format| format.restricts))
}

/// What a format says; none if a part of it is not modelled.
fn format(text: &str) -> Option<Format> {
    let mut found = Format::default();
    let mut rest = text;
    // Whether blanks are skipped in front of what follows, and what it is directly behind.
    let (mut blank, mut behind_conversion) = (false, Behind::Nothing);
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        if first != '%' || rest.starts_with('%') {
            blank = first.is_ascii_whitespace() || first == '\x0b';
            found.may_mismatch |= !blank && found.conversions.is_empty();
            found.unclear |= !blank && behind_conversion.takes(first);
            behind_conversion = Behind::Nothing;
            rest = if first == '%' { &rest[1..] } else { rest };
            continue;
        }
        let (suppressed, behind) = rest.strip_prefix('*').map_or((false, rest), |behind| (true, behind));
        let digits = behind.find(|c: char| !c.is_ascii_digit())?;
        let width: Option<u32> = if digits == 0 { None } else { Some(behind[..digits].parse().ok()?) };
        let behind = &behind[digits..];
        let letters = behind.find(|c: char| !"hljztqL".contains(c))?;
        let (length, behind) = behind.split_at(letters);
        let kind = behind.chars().next()?;
        rest = &behind[kind.len_utf8()..];
        if kind == '[' {
            let set = rest.strip_prefix('^').unwrap_or(rest);
            let set = set.strip_prefix(']').unwrap_or(set);
            rest = &set[set.find(']')? + 1..];
        }
        let stored = stored(kind, length, width, blank)?;
        blank = false;
        behind_conversion = Behind::of(stored);
        found.restricts |= !matches!(stored, Stored::Character { .. });
        found.unclear |= matches!(stored, Stored::Text { word: false, .. });
        let is_text = matches!(stored, Stored::Character { .. } | Stored::Text { word: true, .. });
        found.may_mismatch |= !is_text && found.conversions.is_empty();
        let any = match stored {
            Stored::Number(_) if width.is_none() => Any::Always,
            Stored::Character { blank: false } | Stored::Text { word: true, .. } => Any::Always,
            Stored::Character { blank: true } => Any::Alone,
            Stored::Number(_) | Stored::Text { word: false, .. } => Any::Never,
        };
        if !suppressed {
            found.conversions.push((stored, any));
        }
    }
    found.restricts |= blank;
    Some(found)
}

/// What a conversion stores, `blank` if blanks in front of it are skipped.
fn stored(kind: char, length: &str, width: Option<u32>, blank: bool) -> Option<Stored> {
    let number = |suffixes: [&'static str; 5]| Some(Stored::Number(suffixes[Size::of(length.as_bytes())? as usize]));
    match (kind, length) {
        ('d' | 'i', _) => number(["char", "short", "int", "long", "longlong"]),
        ('u' | 'o' | 'x' | 'X', _) => number(["uchar", "ushort", "uint", "ulong", "ulonglong"]),
        ('e' | 'f' | 'g' | 'a' | 'E' | 'F' | 'G' | 'A', "") => Some(Stored::Number("float")),
        ('e' | 'f' | 'g' | 'a' | 'E' | 'F' | 'G' | 'A', "l") => Some(Stored::Number("double")),
        ('c', "") if width.is_none_or(|width| width == 1) => Some(Stored::Character { blank: !blank }),
        ('s', "") if width != Some(0) => Some(Stored::Text { most: width, word: true }),
        ('[', "") if width != Some(0) => Some(Stored::Text { most: width, word: false }),
        _ => None,
    }
}

impl<'a> Lower<'a> {
    /// A call of a function that reads what a format says; none for other functions and formats.
    pub(super) fn scanning(&mut self, name: &str, args: &'a [ExprRef], range: Range) -> Option<Val> {
        let scan = Scan::of(self.ast(), name, args)?;
        let format = scan.format.as_ref()?;
        let variables = variables_read(self.ast(), &scan, args);
        let is_evaluated = |at: usize| at + 1 != scan.first && variables.iter().all(|(other, _)| *other != at);
        let values = self.arguments_but(args, range, |at| !is_evaluated(at));
        self.call_site(name, range);
        let begin = self.graph.edges.len();
        if args.len() < scan.first + format.conversions.len() {
            return Some(self.refused(format!("call of '{name}' with too few arguments"), range));
        }
        let is_followed = !scan.from_text && !format.unclear;
        let count = self.temporary(IntTy::INT);
        let after = self.fresh();
        for (number, (at, (stored, any))) in (0..).zip(scan.targets()) {
            let (succeeds, fails) = self.success(name, is_followed, range);
            self.cur = fails;
            if number == 0 {
                self.nothing_read(count, format.may_mismatch.then_some((name, is_followed)), range);
            } else {
                self.counted(count, number, range);
            }
            self.edge(self.cur, after, Op::Skip, range);
            self.cur = succeeds;
            let is_input = is_followed
                && match any {
                    Any::Always => true,
                    Any::Alone => !self.characters_restricted,
                    Any::Never => false,
                };
            let target = match variables.iter().find(|(other, _)| *other == at) {
                Some((_, variable)) => Some(self.lvalue(*variable)),
                None => match &values[at] {
                    Val::Int(addr, Type::Pointer(of)) => Some(Lvalue::new(Place::Memory(*addr), (**of).clone())),
                    _ => None,
                },
            };
            if target.and_then(|target| self.store_scanned(name, stored, is_input, &target, range)).is_none() {
                self.unsupported(format!("call of '{name}' with an argument that does not fit its format"), range);
            }
        }
        match format.conversions.len() {
            0 => self.nothing_read(count, Some((name, is_followed)), range),
            all => self.counted(count, all as i128, range),
        }
        self.flow_to(after, range);
        self.scans.push(begin..self.graph.edges.len());
        Some(Val::Int(self.exprs.var(count, IntTy::INT), Type::INT))
    }

    /// Whether something succeeds, as an input or as what is not followed: where it goes on if so, and if not.
    fn success(&mut self, name: &str, is_input: bool, range: Range) -> (NodeId, NodeId) {
        let value = self.scanned(name, if is_input { "bool" } else { "char" }, is_input, range);
        let condition = self.condition(value, range);
        let (yes, no) = (self.fresh(), self.fresh());
        self.assume(condition, yes, no, range);
        (yes, no)
    }

    /// How many conversions have succeeded.
    fn counted(&mut self, count: VarId, number: i128, range: Range) {
        let value = self.exprs.constant(IntTy::INT, number);
        self.emit(Op::Assign { var: count, value }, range);
    }

    /// No conversion has succeeded: the result is `EOF`, or 0 if the input did not match, which may be said to be possible.
    fn nothing_read(&mut self, count: VarId, mismatch: Option<(&str, bool)>, range: Range) {
        let after = self.fresh();
        if let Some((name, is_input)) = mismatch {
            let (yes, no) = self.success(name, is_input, range);
            self.cur = yes;
            self.counted(count, 0, range);
            self.edge(self.cur, after, Op::Skip, range);
            self.cur = no;
        }
        self.counted(count, -1, range);
        self.flow_to(after, range);
    }

    /// A value that a function reads.
    fn scanned(&mut self, name: &str, suffix: &str, is_input: bool, range: Range) -> Val {
        if is_input {
            return self.nondet(&format!("__VERIFIER_nondet_{suffix}"), suffix, None, range);
        }
        let ty = nondet_type(suffix, self.machine).expect("a type of numbers");
        self.unmodelled(name, &ty, range)
    }

    /// Stores what a conversion has read; none if the place is for something of another size or kind.
    fn store_scanned(&mut self, name: &str, stored: Stored, is_input: bool, to: &Lvalue, range: Range) -> Option<()> {
        let suffix = match stored {
            Stored::Number(suffix) => suffix,
            Stored::Character { .. } | Stored::Text { .. } => "char",
        };
        let (ty, size) = (nondet_type(suffix, self.machine)?, to.ty.storage(self.machine)?.bits);
        let same_size = ty.storage(self.machine)?.bits == size;
        if !same_size || ty.format() != to.ty.format() || to.ty == Type::Bool || to.bits.is_some() {
            return None;
        }
        if let Stored::Text { most, .. } = stored {
            let Place::Memory(addr) = to.place else { return None };
            let size = self.machine.size_type();
            let most = self.constant(most.map_or(size.max(), i128::from), Type::Int(size));
            let func = self.library_function(if is_input { "__scan_word" } else { "__scan_text" })?;
            let text = Val::Int(addr, Type::Pointer(int(8, true).into()));
            self.call_values(func, vec![text, most], range);
            return Some(());
        }
        let value = self.scanned(name, suffix, is_input, range);
        if stored == (Stored::Character { blank: false }) {
            let (character, _) = self.integer(value.clone(), range);
            let visible = self.is_visible(character);
            self.only_if(visible, range);
        }
        let value = self.convert_int(value, &to.ty, range);
        self.write(to, value, range);
        Some(())
    }

    /// Whether a character is no blank.
    fn is_visible(&mut self, character: ExprId) -> ExprId {
        let ty = self.exprs.ty(character);
        let [space, first, last] = [' ', '\t', '\r'].map(|c| self.exprs.constant(ty, i128::from(u32::from(c))));
        let (before, behind) =
            (self.exprs.cmp(CmpOp::Lt, character, first), self.exprs.cmp(CmpOp::Lt, last, character));
        let (outside, other) = (self.exprs.or(before, behind), self.exprs.cmp(CmpOp::Ne, character, space));
        self.exprs.and(outside, other)
    }

    /// Whether a function of the library reads characters where not every one can follow.
    pub(super) fn reads_restricted(&self) -> bool {
        self.file >= self.library && self.characters_restricted && READING.contains(&&*self.cx.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Stored, Any)> {
        format(text).unwrap_or_else(|| panic!("{text}")).conversions
    }

    #[test]
    fn conversions_store_what_the_standard_says() {
        let number = |suffix| (Stored::Number(suffix), Any::Always);
        assert_eq!(read("%d,%hu %lld%%%lf"), [number("int"), number("ushort"), number("longlong"), number("double")]);
        assert_eq!(read("%*d %3d"), [(Stored::Number("int"), Any::Never)]);
        assert_eq!(read("%c"), [(Stored::Character { blank: true }, Any::Alone)]);
        assert_eq!(read("%d %c"), [number("int"), (Stored::Character { blank: false }, Any::Always)]);
        assert_eq!(read("%9s"), [(Stored::Text { most: Some(9), word: true }, Any::Always)]);
        assert_eq!(read("%[^]%d]x%d"), [(Stored::Text { most: None, word: false }, Any::Never), number("int")]);
        assert_eq!(read("%zu%hhx%f"), [number("ulong"), number("uchar"), number("float")]);
        for text in ["%n", "%p", "%Lf", "%2$d", "%ms", "%5c", "%", "%[a", "%l", "%0s"] {
            assert_eq!(format(text), None, "{text}");
        }
    }

    #[test]
    fn literals_that_belong_to_numbers() {
        for (text, unclear) in [
            ("%d,%d", false),
            ("%d.%d", false),
            ("%d-%d", false),
            ("%d 5%d", false),
            ("5%d", false),
            ("%c5", false),
            ("%d5%d", true),
            ("%*ix%d", true),
            ("%f.%d", true),
            ("%s,%d", true),
            ("%s%%", true),
            ("%s ,%d", false),
            ("%[a-z]%d", true),
        ] {
            assert_eq!(format(text).map(|found| found.unclear), Some(unclear), "{text:?}");
        }
    }

    #[test]
    fn what_can_be_read_next() {
        let of = |text: &str| format(text).map(|found| (found.may_mismatch, found.restricts));
        for (text, expected) in [
            ("%d", (true, true)),
            ("%c", (false, false)),
            (" %c", (false, false)),
            ("%c\n", (false, true)),
            ("x%c", (true, false)),
            ("%s", (false, true)),
            ("%c%d", (false, true)),
            ("%*d%c", (true, true)),
            ("", (false, false)),
        ] {
            assert_eq!(of(text), Some(expected), "{text:?}");
        }
    }
}
