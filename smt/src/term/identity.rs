// SPDX-License-Identifier: Apache-2.0
//! Which store a term belongs to.

use std::sync::Arc;

/// Tells stores apart. A copy of a store is another store, as ids made after the copying differ.
#[derive(Debug, Default)]
pub(crate) struct StoreId(Arc<()>);

impl Clone for StoreId {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl StoreId {
    /// Another handle on the same identity.
    pub(crate) fn handle(&self) -> StoreId {
        StoreId(Arc::clone(&self.0))
    }

    pub(crate) fn same(&self, other: &StoreId) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
