// SPDX-License-Identifier: Apache-2.0
//! The safety net: what the constructors build has the value of what was written.

use proptest::prelude::*;

use super::config;
use super::reference::{Decoder, Env, Expr, VARS, env_value, var_name};
use crate::term::{Sort, Substitution, Term, TermId, Terms, Value};

fn env() -> impl Strategy<Value = Env> {
    let special = prop_oneof![any::<u8>(), 0u8..4, Just(127), Just(128), Just(255)];
    (any::<[bool; VARS]>(), prop::array::uniform3(special), prop::array::uniform3(-7i8..8))
        .prop_map(|(bools, bits, ints)| Env { bools, bits, ints })
}

fn sort() -> impl Strategy<Value = Sort> {
    prop_oneof![4 => Just(Sort::Bool), 3 => (1u32..9).prop_map(Sort::Bv), 2 => Just(Sort::Int), 2 => array_sort()]
}

fn array_sort() -> impl Strategy<Value = Sort> {
    (prop_oneof![Just(1u32), Just(3), Just(8)], prop_oneof![Just(1u32), Just(3), Just(8)])
        .prop_map(|(index, element)| Sort::Array { index, element })
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..160)
}

fn envs() -> impl Strategy<Value = Vec<Env>> {
    prop::collection::vec(env(), 12)
}

fn value(terms: &Terms, t: TermId, env: &Env) -> Value {
    terms.eval(t, &mut |sym, _| env_value(terms, env, sym))
}

/// The shape that the documentation of [`Term`] promises.
fn check_shape(terms: &Terms, t: TermId) {
    let constant = |x: TermId| terms.as_value(x).is_some();
    for s in terms.post_order(&[t], |_| false) {
        match terms.get(s) {
            Term::And(xs) | Term::Or(xs) => {
                assert!(xs.len() >= 2 && xs.windows(2).all(|w| w[0] < w[1]), "{}", terms.display(s));
                assert!(!xs.iter().any(|&x| constant(x)), "{}", terms.display(s));
            }
            Term::Not(a) => assert!(!matches!(terms.get(*a), Term::Not(_) | Term::True | Term::False)),
            Term::Eq(a, b) => assert!(a != b && !constant(*a), "{}", terms.display(s)),
            Term::BvCmp(_, a, b) | Term::IntLe(a, b) => assert!(a != b && !constant(*a), "{}", terms.display(s)),
            Term::Ite(c, a, b) => {
                assert!(a != b && !matches!(terms.get(*c), Term::Not(_) | Term::True | Term::False));
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(config(6000))]

    #[test]
    fn constructors_are_exact(bytes in bytes(), sort in sort(), envs in envs()) {
        let expr = Decoder::new(&bytes, true).expr(sort, 6);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        prop_assert_eq!(terms.sort(t), sort);
        check_shape(&terms, t);
        for env in &envs {
            prop_assert_eq!(value(&terms, t, env), expr.eval(env), "{} under {:?}", terms.display(t), env);
        }
    }

    #[test]
    fn constructors_are_exact_at_the_widths_of_c(
        bytes in bytes(),
        width in prop_oneof![Just(8u32), Just(16), Just(32), Just(64)],
        is_bool in any::<bool>(),
        envs in envs(),
    ) {
        let sort = if is_bool { Sort::Bool } else { Sort::Bv(width) };
        let expr = Decoder::wide(&bytes, true).expr(sort, 6);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        check_shape(&terms, t);
        for env in &envs {
            prop_assert_eq!(value(&terms, t, env), expr.eval(env), "{} under {:?}", terms.display(t), env);
        }
    }

    #[test]
    fn floating_point_constructors_are_exact(
        bytes in bytes(),
        sort in prop_oneof![Just(Sort::Bool), Just(Sort::Bv(32)), Just(Sort::Bv(64)), Just(Sort::Bv(16))],
        envs in envs(),
    ) {
        let expr = Decoder::floats(&bytes).expr(sort, 6);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        check_shape(&terms, t);
        for env in &envs {
            prop_assert_eq!(value(&terms, t, env), expr.eval(env), "{} under {:?}", terms.display(t), env);
        }
    }

    #[test]
    fn conditions_of_state_machines_are_exact(bytes in bytes(), bools in any::<[bool; VARS]>()) {
        let expr = Decoder::control(&bytes).expr(Sort::Bool, 5);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        check_shape(&terms, t);
        for values in 0..6 * 6 * 6 * 6 {
            let [a, b, c, d] = [values % 6, values / 6 % 6, values / 36 % 6, values / 216];
            let env = Env { bools, bits: [a as u8, b as u8, 0], ints: [c as i8, d as i8, 0] };
            prop_assert_eq!(value(&terms, t, &env), expr.eval(&env), "{} under {:?}", terms.display(t), env);
        }
    }

    #[test]
    fn equal_constructions_give_equal_ids(bytes in bytes(), sort in sort()) {
        let expr = Decoder::new(&bytes, true).expr(sort, 6);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        // A second time in the same store, where everything is memoised.
        prop_assert_eq!(expr.build(&mut terms), t);
    }

    #[test]
    fn a_formula_and_its_negation_are_complements(bytes in bytes()) {
        let expr = Decoder::new(&bytes, true).expr(Sort::Bool, 5);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        let n = terms.not(t);
        prop_assert_eq!(terms.and(t, n), TermId::FALSE, "{} / {}", terms.display(t), terms.display(n));
        prop_assert_eq!(terms.or(t, n), TermId::TRUE, "{} / {}", terms.display(t), terms.display(n));
    }

    #[test]
    fn an_atom_and_its_negation_share_the_atom(bytes in bytes()) {
        let expr = Decoder::new(&bytes, true).expr(Sort::Bool, 5);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        for atom in terms.atoms(t) {
            let n = terms.not(atom);
            prop_assert_eq!(terms.atoms(n), terms.atoms(atom));
            prop_assert_eq!(terms.not(n), atom);
        }
    }

    #[test]
    fn substitution_is_simultaneous(bytes in bytes(), more in bytes(), sort in sort(), envs in envs()) {
        let expr = Decoder::new(&bytes, true).expr(sort, 5);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        let mut decoder = Decoder::new(&more, true);
        let mut replacements: Vec<(String, std::rc::Rc<Expr>)> = Vec::new();
        for sort in (1..9).map(Sort::Bv).chain([Sort::Bool, Sort::Int]) {
            for i in 0..2 {
                replacements.push((var_name(sort, i), decoder.expr(sort, 2)));
            }
        }
        let built: Vec<TermId> = replacements.iter().map(|(_, e)| e.build(&mut terms)).collect();
        let mut f = |terms: &mut Terms, sym, _| {
            let i = replacements.iter().position(|(name, _)| name == terms.symbol_name(sym))?;
            Some(built[i])
        };
        let mut substitution = Substitution::new();
        let s = substitution.apply(&mut terms, t, &mut f);
        prop_assert_eq!(substitution.apply(&mut terms, t, &mut f), s);
        prop_assert_eq!(terms.substitute(t, &mut f), s);
        for env in &envs {
            let inner = |sym| match replacements.iter().find(|(name, _)| name == terms.symbol_name(sym)) {
                Some((_, e)) => e.eval(env),
                None => env_value(&terms, env, sym),
            };
            let expected = terms.eval(t, &mut |sym, _| inner(sym));
            prop_assert_eq!(value(&terms, s, env), expected, "{}", terms.display(s));
        }
    }

    #[test]
    fn lifting_keeps_the_value(bytes in bytes(), envs in envs()) {
        let expr = Decoder::new(&bytes, true).expr(Sort::Bool, 5);
        let mut terms = Terms::new();
        let t = expr.build(&mut terms);
        let lifted = terms.lift_ites(t, 4);
        for env in &envs {
            prop_assert_eq!(value(&terms, lifted, env), expr.eval(env), "{}", terms.display(lifted));
        }
    }
}
