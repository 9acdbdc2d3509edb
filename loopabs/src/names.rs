// SPDX-License-Identifier: Apache-2.0
//! How C code in place of a loop can name what the loop modifies.
//!
//! Everything in mod(B) must be nameable, or no strategy applies; variables that live only within the loop need no
//! name, because each iteration makes them anew.

use cfa::{FileFunction, IntTy, LoopSite, Part, Program, ScalarType, Scope, VarId, Visible, VisibleStorage};

use crate::effects::{Effects, Finder};
use crate::summary::Helper;

/// The scalars that are modified, as C can write them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Modified {
    pub(crate) parts: Vec<NamedPart>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedPart {
    pub(crate) text: String,
    pub(crate) ty: ScalarType,
    /// The variable of the automaton, if the part is all of one.
    pub(crate) var: Option<VarId>,
}

/// The variable with its name at a loop, if a name there means it.
pub(crate) fn visible<'p>(
    program: &'p Program,
    site: &'p LoopSite,
    is: impl Fn(&VisibleStorage) -> bool,
) -> Option<&'p Visible> {
    let local = site.locals.iter().find(|visible| is(&visible.storage));
    local.or_else(|| {
        let of_file = program.loop_sites.variables.iter().find(|variable| {
            variable.file == site.span.file && variable.declared < site.span.start && is(&variable.variable.storage)
        });
        of_file.map(|found| &found.variable).filter(|found| !hides(site, &found.name))
    })
}

/// Whether a name of the function hides that of the file.
fn hides(site: &LoopSite, name: &str) -> bool {
    site.hidden.contains(name) || site.locals.iter().any(|visible| visible.name == name)
}

/// The visible integer variable that is exactly this variable of the automaton.
pub(crate) fn integer<'p>(program: &'p Program, site: &'p LoopSite, var: VarId) -> Option<(&'p str, IntTy)> {
    let found = visible(program, site, |storage| *storage == VisibleStorage::Vars(vec![var]))?;
    match found.parts.as_deref() {
        Some([Part { text, ty: ScalarType::Int(ty) }]) if *text == found.name && program.var(var).ty == *ty => {
            Some((text, *ty))
        }
        _ => None,
    }
}

/// Names for all that is modified, or what cannot be named.
pub(crate) fn modified(
    program: &Program,
    site: &LoopSite,
    effects: &Effects,
    finder: &mut Finder<'_>,
) -> Result<Modified, String> {
    let mut found: Vec<&Visible> = Vec::new();
    for var in &effects.vars {
        match visible(program, site, |storage| matches!(storage, VisibleStorage::Vars(vars) if vars.contains(var))) {
            Some(visible) => found.push(visible),
            None => {
                let var = program.var(*var);
                // What is local and has no name here is declared within the loop.
                if var.scope == Scope::Global {
                    return Err(format!("it modifies '{}', which has no name there", var.name));
                }
            }
        }
    }
    for region in &effects.regions {
        let region = program.region(*region);
        if region.others {
            return Err("it writes to memory that is not only that of variables".to_owned());
        }
        for addr in &region.objects {
            let object =
                program.objects.iter().find(|object| object.addr == *addr).expect("regions consist of objects");
            if object.size == 0 || object.constant {
                continue;
            }
            if let Some(visible) = visible(program, site, |storage| *storage == VisibleStorage::Object(*addr)) {
                found.push(visible);
                continue;
            }
            let dead = match object.scope {
                Scope::Global => false,
                Scope::Local(func) if func == site.func => {
                    let name = object.name.rsplit("::").next().unwrap_or("");
                    let name = name.split('#').next().unwrap_or("");
                    !hides(site, name) && declares(program, site, name)
                }
                Scope::Local(func) => effects.callees.contains(&func) && !finder.reach(func).contains(&site.func),
            };
            if !dead {
                return Err(format!("it may write to '{}', which has no name there", object.name));
            }
        }
    }
    let mut modified = Modified::default();
    for visible in found {
        if modified.parts.iter().any(|part| part.text.split(['.', '[']).next() == Some(&visible.name)) {
            continue;
        }
        let Some(parts) = &visible.parts else {
            return Err(format!(
                "it modifies '{}', which has too many parts, or some that cannot be assigned",
                visible.name
            ));
        };
        let single = match (&visible.storage, parts.as_slice()) {
            (VisibleStorage::Vars(vars), [_]) if vars.len() == 1 => Some(vars[0]),
            _ => None,
        };
        for part in parts {
            if part.ty == ScalarType::Pointer {
                return Err(format!("it modifies the pointer '{}', and C has no name for any pointer", part.text));
            }
            modified.parts.push(NamedPart { text: part.text.clone(), ty: part.ty, var: single });
        }
    }
    modified.parts.sort_by(|a, b| a.text.cmp(&b.text));
    Ok(modified)
}

/// Whether a name is declared within a loop. What the lowering makes is declared nowhere.
fn declares(program: &Program, site: &LoopSite, name: &str) -> bool {
    let (file, text) = (site.span.file, site.span.start..site.span.end);
    let here = |found: &cfa::names::Declaration| found.visible.file == file && text.contains(&found.visible.start);
    program.declarations.iter().any(|found| &*found.name == name && here(found))
}

/// Whether a name stands in a text.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    !name.is_empty()
        && text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$').any(|word| word == name)
}

/// An assignment of an arbitrary value.
pub(crate) fn havoc(part: &NamedPart) -> (String, Helper) {
    let helper = match part.ty {
        ScalarType::Bool => Helper::Int,
        ScalarType::Int(ty) => any_int(ty),
        ScalarType::Float => Helper::Float,
        ScalarType::Double => Helper::Double,
        ScalarType::Pointer => unreachable!("pointers are refused by `modified`"),
    };
    let truth = if part.ty == ScalarType::Bool { " != 0" } else { "" };
    (format!("{} = {}(){truth};", part.text, helper.name()), helper)
}

fn any_int(ty: IntTy) -> Helper {
    match (ty.bits, ty.signed) {
        (8, true) => Helper::Char,
        (8, false) => Helper::UChar,
        (16, true) => Helper::Short,
        (16, false) => Helper::UShort,
        (32, true) => Helper::Int,
        (32, false) => Helper::UInt,
        (_, true) => Helper::LongLong,
        (_, false) => Helper::ULongLong,
    }
}

fn returned(helper: Helper) -> Option<ScalarType> {
    let int = |bits, signed| Some(ScalarType::Int(IntTy { bits, signed }));
    match helper {
        Helper::Abort => None,
        Helper::Char => int(8, true),
        Helper::UChar => int(8, false),
        Helper::Short => int(16, true),
        Helper::UShort => int(16, false),
        Helper::Int => int(32, true),
        Helper::UInt => int(32, false),
        Helper::LongLong => int(64, true),
        Helper::ULongLong => int(64, false),
        Helper::Float => Some(ScalarType::Float),
        Helper::Double => Some(ScalarType::Double),
    }
}

/// Whether a helper must be declared at the beginning of the file; fails if its name means something else.
pub(crate) fn must_declare(program: &Program, site: &LoopSite, helper: Helper) -> Result<bool, String> {
    let name = helper.name();
    let defined = program.funcs.iter().any(|func| &*func.name == name && func.body.is_some());
    if defined || hides(site, name) {
        return Err(format!("the program defines '{name}' itself"));
    }
    let named = |function: &&FileFunction| function.file == site.span.file && function.name == name;
    match program.loop_sites.functions.iter().find(named) {
        None => {
            let taken = |variable: &cfa::FileVariable| variable.variable.name == name;
            if program.loop_sites.variables.iter().any(taken) {
                return Err(format!("'{name}' is a variable"));
            }
            Ok(true)
        }
        Some(function) if function.plain && function.returns == Some(returned(helper)) => {
            Ok(function.declared >= site.span.start)
        }
        Some(_) => Err(format!("the program declares '{name}' with another type")),
    }
}
