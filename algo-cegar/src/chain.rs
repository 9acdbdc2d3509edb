// SPDX-License-Identifier: Apache-2.0
//! Several refiners one after the other: the first one that does not pass on answers.

use cpa_core::{Arg, ArgId, Cx, Refinement, Refiner, Stop};

/// A chain of refiners.
#[derive(Default)]
pub struct Chain {
    refiners: Vec<Box<dyn Refiner>>,
    answered: Option<usize>,
}

impl Chain {
    /// A chain that passes everything on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a refiner that is asked when all those before it passed on.
    pub fn then(mut self, refiner: Box<dyn Refiner>) -> Self {
        self.refiners.push(refiner);
        self
    }
}

impl Refiner for Chain {
    /// The name of the refiner that answered last.
    fn name(&self) -> &'static str {
        self.answered.map_or("chain", |index| self.refiners[index].name())
    }

    fn refine(&mut self, cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        self.answered = None;
        for (index, refiner) in self.refiners.iter_mut().enumerate() {
            match refiner.refine(cx, arg, target)? {
                Refinement::NotMine => {}
                answer @ (Refinement::Feasible(_) | Refinement::Spurious { .. } | Refinement::Strengthened { .. }) => {
                    self.answered = Some(index);
                    return Ok(answer);
                }
            }
        }
        Ok(Refinement::NotMine)
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.refiners.iter().map(|refiner| refiner.name())).finish()
    }
}
