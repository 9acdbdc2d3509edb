// SPDX-License-Identifier: Apache-2.0
//! C types and the conversions of C11 6.3.1 on the two machine models.
//!
//! Scalars have values in the automaton, where a pointer is an unsigned integer of its width and a floating-point number
//! the unsigned integer of its bits. The layout of the other types is in `layout`.

use std::rc::Rc;

use crate::ids::ExprId;
use crate::ir::{FloatTy, IntTy};

/// The sizes of the basic types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MachineModel {
    /// 32-bit `int`, `long` and pointers, as on i386 Linux.
    Ilp32,
    /// 32-bit `int`, 64-bit `long` and pointers, as on x86-64 Linux.
    Lp64,
}

impl MachineModel {
    /// Width of `long` and of pointers in bits.
    pub fn long_bits(self) -> u32 {
        match self {
            MachineModel::Ilp32 => 32,
            MachineModel::Lp64 => 64,
        }
    }

    /// The type of `sizeof`.
    pub fn size_type(self) -> IntTy {
        IntTy { bits: self.long_bits(), signed: false }
    }
}

/// A C type after removal of typedefs and qualifiers; enumerations are integers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Type {
    Void,
    Bool,
    Int(IntTy),
    /// A floating-point type with its size and alignment.
    Float(u64, u64),
    Pointer(Rc<Type>),
    /// An array; without a length if the length is not given.
    Array(Rc<Type>, Option<u64>),
    /// An array of variable length; the expression has the type of `sizeof` and reads a variable that is written only
    /// where the type is declared.
    Vla(Rc<Type>, ExprId),
    /// Position in the table of structures and unions.
    Record(usize),
    Function(Rc<FunctionType>),
    /// `va_list`: the address of the next variable argument in the array of its call.
    VaList,
    /// A type that is not modelled, such as `__int128`.
    Unknown(&'static str),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FunctionType {
    pub(crate) ret: Type,
    pub(crate) params: Vec<Type>,
    /// Whether the parameters are not given: `f()`.
    pub(crate) unspecified: bool,
    pub(crate) variadic: bool,
}

pub(crate) const fn int(bits: u32, signed: bool) -> Type {
    Type::Int(IntTy { bits, signed })
}

impl Type {
    pub(crate) const INT: Type = Type::Int(IntTy::INT);

    /// The type of the variable that holds such a value.
    pub(crate) fn storage(&self, machine: MachineModel) -> Option<IntTy> {
        match self {
            Type::Bool => Some(IntTy { bits: 8, signed: false }),
            Type::Int(ty) => Some(*ty),
            Type::Float(..) => self.format().map(FloatTy::bits),
            // gcc compares pointers as unsigned integers.
            Type::Pointer(_) | Type::VaList => Some(machine.size_type()),
            _ => None,
        }
    }

    /// The type after the conversion of arrays and functions to pointers, C11 6.3.2.1.
    pub(crate) fn decayed(&self) -> Type {
        match self {
            Type::Array(element, _) | Type::Vla(element, _) => Type::Pointer(element.clone()),
            Type::Function(_) => Type::Pointer(self.clone().into()),
            other => other.clone(),
        }
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self, Type::Float(..))
    }

    /// The format of `float` and `double`; the 80 bits of `long double` are not modelled.
    pub(crate) fn format(&self) -> Option<FloatTy> {
        match self {
            Type::Float(4, _) => Some(FloatTy::F32),
            Type::Float(8, _) => Some(FloatTy::F64),
            _ => None,
        }
    }

    /// The type of a format.
    pub(crate) fn of_format(format: FloatTy, machine: MachineModel) -> Type {
        match (format, machine) {
            (FloatTy::F32, _) => Type::Float(4, 4),
            (FloatTy::F64, MachineModel::Ilp32) => Type::Float(8, 4),
            (FloatTy::F64, MachineModel::Lp64) => Type::Float(8, 8),
        }
    }

    /// Whether the type has sizes that are not constant.
    pub(crate) fn is_variably_modified(&self) -> bool {
        match self {
            Type::Vla(..) => true,
            Type::Array(inner, _) | Type::Pointer(inner) => inner.is_variably_modified(),
            _ => false,
        }
    }

    pub(crate) fn is_pointer_like(&self) -> bool {
        matches!(self, Type::Pointer(_) | Type::Array(..) | Type::Vla(..) | Type::Function(_))
    }

    /// What a value of the type is called in a message.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Type::Void => "void value",
            Type::Bool | Type::Int(_) => "integer value",
            Type::Float(4 | 8, _) => "floating-point value",
            Type::Float(..) => "long double value",
            Type::Pointer(_) => "pointer",
            Type::Array(..) | Type::Vla(..) => "array",
            Type::Record(_) => "structure or union",
            Type::Function(_) => "function pointer",
            Type::VaList => "variable argument list",
            Type::Unknown(what) => what,
        }
    }
}

/// The integer promotions, C11 6.3.1.1.
pub(crate) fn promote(ty: IntTy) -> IntTy {
    if ty.bits < 32 { IntTy::INT } else { ty }
}

/// The common type of the usual arithmetic conversions, C11 6.3.1.8. Types of equal width and signedness, such as
/// `long` and `long long` on LP64, behave alike, so ranks are widths.
pub(crate) fn common(left: IntTy, right: IntTy) -> IntTy {
    let (left, right) = (promote(left), promote(right));
    if left.bits == right.bits {
        IntTy { bits: left.bits, signed: left.signed && right.signed }
    } else if left.bits > right.bits {
        left
    } else {
        right
    }
}

/// The type of an integer made of keywords such as `unsigned long`; `words` may come in any order.
pub(crate) fn keyword_type(words: &[&str], machine: MachineModel) -> Option<Type> {
    let count = |word: &str| words.iter().filter(|w| **w == word).count();
    let has = |word: &str| count(word) > 0;
    let signed = !has("unsigned");
    if has("void") {
        return Some(Type::Void);
    }
    if has("_Bool") {
        return Some(Type::Bool);
    }
    if has("float") {
        return Some(Type::of_format(FloatTy::F32, machine));
    }
    if has("double") {
        return Some(match (has("long"), machine) {
            (false, _) => Type::of_format(FloatTy::F64, machine),
            (true, MachineModel::Ilp32) => Type::Float(12, 4),
            (true, MachineModel::Lp64) => Type::Float(16, 16),
        });
    }
    if words.iter().any(|w| !matches!(*w, "char" | "int" | "short" | "long" | "signed" | "unsigned")) {
        return None;
    }
    let bits = match (has("char"), has("short"), count("long")) {
        (true, false, 0) => 8,
        (false, true, 0) => 16,
        (false, false, 0) => 32,
        (false, false, 1) => machine.long_bits(),
        (false, false, 2) => 64,
        _ => return None,
    };
    Some(int(bits, signed))
}

/// Types that the grammar or the compiler knows by name; a typedef of the file comes first.
pub(crate) fn named_type(name: &str, machine: MachineModel) -> Option<Type> {
    let long = machine.long_bits();
    Some(match name {
        "bool" => Type::Bool,
        "size_t" | "uintptr_t" => int(long, false),
        "ssize_t" | "ptrdiff_t" | "intptr_t" => int(long, true),
        "int8_t" => int(8, true),
        "int16_t" => int(16, true),
        "int32_t" => int(32, true),
        "int64_t" => int(64, true),
        "uint8_t" | "char8_t" => int(8, false),
        "uint16_t" | "char16_t" => int(16, false),
        "uint32_t" | "char32_t" => int(32, false),
        "uint64_t" => int(64, false),
        "__int128" | "__int128_t" | "__uint128_t" => Type::Unknown("128-bit integer"),
        "_Float32" => Type::of_format(FloatTy::F32, machine),
        "_Float64" | "_Float32x" => Type::of_format(FloatTy::F64, machine),
        "__builtin_va_list" => Type::VaList,
        _ if name.starts_with("_Float") || name.starts_with("__float") => {
            Type::Unknown("extended floating-point value")
        }
        "typeof" | "__typeof" | "__typeof__" => Type::Unknown("value of a typeof type"),
        _ => return None,
    })
}
