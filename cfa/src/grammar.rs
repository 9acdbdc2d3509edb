// SPDX-License-Identifier: Apache-2.0
//! Names of the grammar's nodes and fields as numbers, looked up once per text and not once per node.

use rustc_hash::FxHashMap;
use tree_sitter::Language;

pub(crate) struct Grammar {
    pub(crate) language: Language,
    kinds: Vec<Box<str>>,
    fields: FxHashMap<&'static str, u8>,
}

/// All fields that are asked for.
const FIELDS: [&str; 29] = [
    "alternative",
    "argument",
    "arguments",
    "body",
    "condition",
    "consequence",
    "declarator",
    "designator",
    "end",
    "field",
    "function",
    "index",
    "initializer",
    "label",
    "left",
    "member",
    "name",
    "operator",
    "parameters",
    "right",
    "size",
    "start",
    "type",
    "underlying_type",
    "update",
    "value",
    "assembly_code",
    "output_operands",
    "input_operands",
];

impl Grammar {
    pub(crate) fn new() -> Self {
        let language: Language = tree_sitter_c::LANGUAGE.into();
        let kinds = (0..language.node_kind_count())
            .map(|id| u16::try_from(id).ok().and_then(|id| language.node_kind_for_id(id)).unwrap_or("").into())
            .collect();
        let id = |name: &'static str| {
            (
                name,
                language
                    .field_id_for_name(name)
                    .map_or(0, |id| u8::try_from(id.get()).expect("the grammar has few fields")),
            )
        };
        let fields = FIELDS.into_iter().map(id).collect();
        Self { language, kinds, fields }
    }

    /// What the grammar calls a kind of nodes.
    pub(crate) fn kind(&self, id: u16) -> &str {
        // The kinds of errors lie outside of the table.
        self.kinds.get(usize::from(id)).map_or("ERROR", |kind| kind)
    }

    /// The names of all kinds of nodes, by their numbers.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(|kind| &**kind)
    }

    /// The number of a field, which is one of the list.
    pub(crate) fn field(&self, name: &str) -> u8 {
        self.fields[name]
    }
}
