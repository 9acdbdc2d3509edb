// SPDX-License-Identifier: Apache-2.0
//! Sizes, alignments and the layout of structures and unions, by the rules of the System V ABI for i386 and x86-64
//! (section 3.1 of both supplements), including bit-fields. Attributes that change a layout make it unknown.

use crate::ir::{FloatTy, IntTy};
use crate::types::{MachineModel, Type};

/// A structure or union.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) union: bool,
    /// None while the type is incomplete.
    pub(crate) members: Option<Vec<Member>>,
    /// None while the type is incomplete, and if the layout is not known.
    pub(crate) layout: Option<Layout>,
}

/// A member; an anonymous structure or union and an unnamed bit-field have no name.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: Option<String>,
    pub(crate) ty: Type,
    /// The width of a bit-field.
    pub(crate) width: Option<u32>,
    /// Where it begins, in bits from the start of the record; 0 if the layout is not known.
    pub(crate) bit: u64,
    /// Whether an attribute asks for the least alignment.
    pub(crate) packed: bool,
    /// The least alignment in bytes that an attribute asks for.
    pub(crate) aligned: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) size: u64,
    pub(crate) align: u64,
}

/// A scalar part of a type: a member, an array element, or the bytes of a small union.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// In bytes from the start.
    pub(crate) offset: u64,
    pub(crate) ty: IntTy,
    pub(crate) float: Option<FloatTy>,
    /// How it is written behind the name of the object: `.next`, `[2]`.
    pub(crate) path: String,
}

/// The layout of a record, whose members get their positions; none if it is not known. `pack` limits the alignment of the
/// members, in bytes, unless they ask for a greater one, and `least` is that of the whole.
pub(crate) fn lay_out(
    members: &mut [Member],
    union: bool,
    (pack, least): (Option<u64>, Option<u64>),
    records: &[Record],
    machine: MachineModel,
) -> Option<Layout> {
    let (mut end, mut align, mut largest) = (0u64, least.unwrap_or(1) * 8, 0u64);
    for member in members {
        let (size, member_align) = match &member.ty {
            // A flexible array member has no size.
            Type::Array(element, None) => (0, size_align(element, records, machine)?.1),
            ty => size_align(ty, records, machine)?,
        };
        let pack = if member.packed { Some(1) } else { pack };
        let limited = pack.map_or(member_align, |pack| member_align.min(pack));
        let limited = limited.max(member.aligned.unwrap_or(1));
        if (limited != member_align || member.aligned.is_some()) && member.width.is_some() {
            // Packed bit-fields follow other rules.
            return None;
        }
        let (size, member_align) = (size.checked_mul(8)?, limited * 8);
        if union {
            end = 0;
        }
        match member.width {
            Some(0) => end = end.next_multiple_of(member_align),
            Some(width) => {
                let width = u64::from(width);
                // A bit-field lies within one unit of its type.
                let within = (end % member_align + width).next_multiple_of(member_align) <= size.max(member_align);
                if !within {
                    end = end.next_multiple_of(member_align);
                }
                member.bit = end;
                end += width;
                if member.name.is_some() {
                    align = align.max(member_align);
                }
            }
            None => {
                end = end.checked_next_multiple_of(member_align)?;
                member.bit = end;
                end = end.checked_add(size)?;
                align = align.max(member_align);
            }
        }
        largest = largest.max(end);
    }
    Some(Layout { size: largest.checked_next_multiple_of(align.max(8))? / 8, align: align.max(8) / 8 })
}

/// Size and alignment in bytes; none if not known or not constant.
pub(crate) fn size_align(ty: &Type, records: &[Record], machine: MachineModel) -> Option<(u64, u64)> {
    Some(match ty {
        // GNU C: the size of void and of functions is 1.
        Type::Void | Type::Function(_) | Type::Bool => (1, 1),
        Type::Int(ty) => {
            let size = u64::from(ty.bits / 8);
            // i386 aligns 64-bit members to 4 bytes.
            (size, if machine == MachineModel::Ilp32 { size.min(4) } else { size })
        }
        Type::Float(size, align) => (*size, *align),
        Type::Pointer(_) => (u64::from(machine.long_bits() / 8), u64::from(machine.long_bits() / 8)),
        Type::Array(element, length) => {
            let (size, align) = size_align(element, records, machine)?;
            (size.checked_mul((*length)?)?, align)
        }
        Type::Record(index) => {
            let layout = records[*index].layout?;
            (layout.size, layout.align)
        }
        // A machine has more in it.
        Type::Vla(..) | Type::VaList | Type::Unknown(_) => return None,
    })
}

/// Whether the bytes of a record are looked at as a whole, because its parts overlap or are not whole bytes.
fn is_blob(record: &Record) -> bool {
    let members = record.members.as_deref().unwrap_or(&[]);
    record.union || members.iter().any(|member| member.width.is_some())
}

/// Whether a type has an array in it.
fn has_array(ty: &Type, records: &[Record]) -> bool {
    match ty {
        Type::Array(..) | Type::Vla(..) => true,
        Type::Record(index) => {
            records[*index].members.as_deref().unwrap_or(&[]).iter().any(|member| has_array(&member.ty, records))
        }
        _ => false,
    }
}

/// The parts of a type from front to back, which are all its bytes but padding; none if there are more than `limit` or
/// some part has no representation.
pub(crate) fn leaves(ty: &Type, records: &[Record], machine: MachineModel, limit: usize) -> Option<Vec<Leaf>> {
    let mut found = Vec::new();
    add_leaves(ty, 0, "", records, machine, limit, &mut found)?;
    Some(found)
}

/// The leaves of a record that can be held in one variable each: it has no arrays, and what overlaps is small.
pub(crate) fn split(ty: &Type, records: &[Record], machine: MachineModel) -> Option<Vec<Leaf>> {
    if !matches!(ty, Type::Record(_)) || has_array(ty, records) || !small_blobs(ty, records) {
        return None;
    }
    leaves(ty, records, machine, 64)
}

fn small_blobs(ty: &Type, records: &[Record]) -> bool {
    let Type::Record(index) = ty else { return true };
    let record = &records[*index];
    if is_blob(record) {
        return record.layout.is_some_and(|layout| matches!(layout.size, 1 | 2 | 4 | 8));
    }
    record.members.as_deref().unwrap_or(&[]).iter().all(|member| small_blobs(&member.ty, records))
}

fn add_leaves(
    ty: &Type,
    offset: u64,
    path: &str,
    records: &[Record],
    machine: MachineModel,
    limit: usize,
    found: &mut Vec<Leaf>,
) -> Option<()> {
    if let Some(storage) = ty.storage(machine) {
        found.push(Leaf { offset, ty: storage, float: ty.format(), path: path.to_owned() });
        return (found.len() <= limit).then_some(());
    }
    match ty {
        Type::Array(element, Some(length)) => {
            let size = size_align(element, records, machine)?.0;
            if *length > limit as u64 {
                return None;
            }
            for at in 0..*length {
                add_leaves(element, offset + at * size, &format!("{path}[{at}]"), records, machine, limit, found)?;
            }
        }
        Type::Record(index) => {
            let record = &records[*index];
            let layout = record.layout?;
            if is_blob(record) {
                let whole = matches!(layout.size, 1 | 2 | 4 | 8);
                let unit = if whole { layout.size } else { layout.align };
                if layout.size / unit.max(1) > limit as u64 {
                    return None;
                }
                for at in (0..layout.size).step_by(usize::try_from(unit).ok()?) {
                    let bits = u32::try_from(unit * 8).ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
                    let path = if whole { path.to_owned() } else { format!("{path}@{at}") };
                    found.push(Leaf { offset: offset + at, ty: IntTy { bits, signed: false }, float: None, path });
                }
                return (found.len() <= limit).then_some(());
            }
            for member in record.members.as_deref()? {
                if matches!(member.ty, Type::Array(_, None)) {
                    continue;
                }
                let path = match &member.name {
                    Some(name) => format!("{path}.{name}"),
                    None => path.to_owned(),
                };
                add_leaves(&member.ty, offset + member.bit / 8, &path, records, machine, limit, found)?;
            }
        }
        _ => return None,
    }
    Some(())
}
