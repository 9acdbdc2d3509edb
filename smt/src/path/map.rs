// SPDX-License-Identifier: Apache-2.0
//! A persistent map from small integers: a radix tree of fan-out 16 whose nodes are shared between versions.
//!
//! Path formulas are cloned at every edge and compared at every join. Copying one path of the tree makes a clone with one
//! change cheap, and shared nodes let [`PMap::diff`] visit only what differs. Nodes that become empty stay; the maps of
//! one block live too short for that to matter.

use std::sync::Arc;

const BITS: u32 = 4;
const FAN: usize = 1 << BITS;

#[derive(Clone, Debug)]
enum Node<V> {
    Branch([Option<Arc<Node<V>>>; FAN]),
    Leaf([Option<V>; FAN]),
}

/// A persistent map with keys of type `u32`.
#[derive(Clone, Debug)]
pub(crate) struct PMap<V> {
    root: Option<Arc<Node<V>>>,
    /// Levels above the leaves; keys below 16^(height+1) fit.
    height: u32,
}

impl<V> Default for PMap<V> {
    fn default() -> Self {
        PMap { root: None, height: 0 }
    }
}

fn slot(key: u32, level: u32) -> usize {
    (key >> (BITS * level)) as usize & (FAN - 1)
}

fn levels_for(key: u32) -> u32 {
    (u32::BITS - key.leading_zeros()).div_ceil(BITS).saturating_sub(1)
}

impl<V: Copy + PartialEq> PMap<V> {
    pub(crate) fn get(&self, key: u32) -> Option<V> {
        if levels_for(key) > self.height {
            return None;
        }
        let mut node = self.root.as_ref()?;
        let mut level = self.height;
        loop {
            match &**node {
                Node::Leaf(values) => return values[slot(key, 0)],
                Node::Branch(children) => node = children[slot(key, level)].as_ref()?,
            }
            level -= 1;
        }
    }

    fn grow(&mut self, height: u32) {
        while self.height < height {
            if let Some(root) = self.root.take() {
                let mut children = [const { None }; FAN];
                children[0] = Some(root);
                self.root = Some(Arc::new(Node::Branch(children)));
            }
            self.height += 1;
        }
    }

    /// Sets the value of `key`; `None` removes it.
    pub(crate) fn set(&mut self, key: u32, value: Option<V>) {
        self.grow(levels_for(key));
        let mut level = self.height;
        let mut place = &mut self.root;
        loop {
            let fresh =
                || Arc::new(if level == 0 { Node::Leaf([None; FAN]) } else { Node::Branch([const { None }; FAN]) });
            match Arc::make_mut(place.get_or_insert_with(fresh)) {
                Node::Leaf(values) => {
                    values[slot(key, 0)] = value;
                    return;
                }
                Node::Branch(children) => place = &mut children[slot(key, level)],
            }
            level -= 1;
        }
    }

    /// The entries in the order of the keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = V> + '_ {
        let mut out = Vec::new();
        let mut stack: Vec<&Arc<Node<V>>> = self.root.iter().collect();
        while let Some(node) = stack.pop() {
            match &**node {
                Node::Leaf(values) => out.extend(values.iter().flatten().copied()),
                Node::Branch(children) => stack.extend(children.iter().rev().flatten()),
            }
        }
        out.into_iter()
    }

    /// Calls `visit(key, in self, in other)` for the keys on which the maps differ, in the order of the keys.
    pub(crate) fn diff(&self, other: &Self, mut visit: impl FnMut(u32, Option<V>, Option<V>)) {
        let (mut a, mut b) = (self.clone(), other.clone());
        let height = a.height.max(b.height);
        a.grow(height);
        b.grow(height);
        // (key prefix, level, nodes); a stack entry with equal nodes is never pushed.
        let mut stack = vec![(0u32, height, a.root, b.root)];
        while let Some((prefix, level, x, y)) = stack.pop() {
            if same(&x, &y) {
                continue;
            }
            for i in (0..FAN).rev() {
                let key = prefix | (i as u32) << (BITS * level);
                if level > 0 {
                    let (p, q) = (child(&x, i), child(&y, i));
                    if !same(&p, &q) {
                        stack.push((key, level - 1, p, q));
                    }
                }
            }
            if level == 0 {
                for i in 0..FAN {
                    let (p, q) = (leaf(&x, i), leaf(&y, i));
                    if p != q {
                        visit(prefix | i as u32, p, q);
                    }
                }
            }
        }
    }
}

fn same<V>(x: &Option<Arc<Node<V>>>, y: &Option<Arc<Node<V>>>) -> bool {
    match (x, y) {
        (None, None) => true,
        (Some(p), Some(q)) => Arc::ptr_eq(p, q),
        _ => false,
    }
}

fn child<V>(node: &Option<Arc<Node<V>>>, i: usize) -> Option<Arc<Node<V>>> {
    match node.as_deref() {
        Some(Node::Branch(children)) => children[i].clone(),
        Some(Node::Leaf(_)) | None => None,
    }
}

fn leaf<V: Copy>(node: &Option<Arc<Node<V>>>, i: usize) -> Option<V> {
    match node.as_deref() {
        Some(Node::Leaf(values)) => values[i],
        Some(Node::Branch(_)) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn path_map_agrees_with_btreemap() {
        let mut seed = 7u64;
        let mut next = move |bound: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % bound
        };
        type Version = (PMap<(u32, u64)>, BTreeMap<u32, u64>);
        let mut versions: Vec<Version> = vec![Default::default()];
        for _ in 0..2000 {
            let (mut map, mut model) = versions[next(versions.len() as u64) as usize].clone();
            let key = if next(2) == 0 { next(20) } else { next(100_000) } as u32;
            if next(4) == 0 {
                map.set(key, None);
                model.remove(&key);
            } else {
                let value = next(3);
                map.set(key, Some((key, value)));
                model.insert(key, value);
            }
            assert_eq!(map.get(key).map(|v| v.1), model.get(&key).copied());
            assert_eq!(map.get(77_777).map(|v| v.1), model.get(&77_777).copied());
            assert!(map.iter().eq(model.iter().map(|(&k, &v)| (k, v))));
            let (other, other_model) = &versions[next(versions.len() as u64) as usize];
            let mut found = Vec::new();
            map.diff(other, |k, x, y| found.push((k, x.map(|v| v.1), y.map(|v| v.1))));
            let keys: std::collections::BTreeSet<u32> = model.keys().chain(other_model.keys()).copied().collect();
            let expected: Vec<_> = keys
                .into_iter()
                .map(|k| (k, model.get(&k).copied(), other_model.get(&k).copied()))
                .filter(|(_, x, y)| x != y)
                .collect();
            assert_eq!(found, expected);
            if versions.len() < 40 {
                versions.push((map, model));
            } else {
                let i = next(40) as usize;
                versions[i] = (map, model);
            }
        }
    }
}
