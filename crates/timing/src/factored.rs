//! A cost as a sum of products, with what they share in front.
//!
//! In this form a cost is `offset + scale * (f1 + f2 + ...)`. The scale (how many waves of groups,
//! how many items of an element) is over few parameters; each `f` is a product over few others. So
//! the others can be eliminated one by one from the sum, and the scale is multiplied in at the end,
//! over its own parameters alone. Distributing it over the sum would make each `f` depend on its
//! parameters too.

use itertools::Itertools;
use tickbound_model::Problem;

use super::chain::ChainValues;
use super::term::{Term, TermFault, product};

/// Most products that a cost is written out as.
const MAX_PRODUCTS: usize = 20_000;

/// A cost as `offset + scale * sum`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactoredSum {
    /// Products over parameters of the scale.
    pub offset: Vec<FactorProduct>,
    /// What the products of the sum share; without factors it is 1.
    pub scale: FactorProduct,
    /// The other products.
    pub sum: Vec<FactorProduct>,
}

/// Factors in the order in which they are evaluated: what follows a 0 need not have a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FactorProduct(pub Vec<Term>);

impl FactorProduct {
    /// The value for a configuration.
    pub fn value(&self, env: &[i64]) -> Result<i64, TermFault> {
        product(self.0.iter().map(|factor| factor.value(env)))
    }

    /// The parameters it depends on.
    pub fn parameters(&self, problem: &Problem) -> Vec<usize> {
        self.0.iter().flat_map(|f| f.parameters(problem)).sorted_unstable().dedup().collect()
    }
}

/// The values of a product in one configuration after the other.
#[derive(Debug)]
pub(crate) struct ProductValues<'f>(Vec<(&'f Term, Option<ChainValues<'f>>)>);

impl<'f> ProductValues<'f> {
    pub fn new(product: &'f FactorProduct) -> ProductValues<'f> {
        let chain = |factor: &'f Term| match factor {
            Term::Chain(chain) => Some(ChainValues::new(chain)),
            _ => None,
        };
        ProductValues(product.0.iter().map(|factor| (factor, chain(factor))).collect())
    }

    /// The value for a configuration.
    pub fn value(&mut self, env: &[i64]) -> Result<i64, TermFault> {
        product(self.0.iter_mut().map(|(factor, chain)| match chain {
            Some(chain) => chain.value(env),
            None => factor.value(env),
        }))
    }
}

impl FactoredSum {
    /// The normal forms of a term, the one with the most in the scale first and the one with
    /// nothing in it last; none if they would be too large.
    pub fn all(term: &Term, problem: &Problem) -> Vec<FactoredSum> {
        let Some(products) = products(term) else { return Vec::new() };
        let longest = products.iter().max_by_key(|p| p.0.len()).map_or(0, |p| p.0.len());
        let common =
            products.iter().max_by_key(|p| shared(&products, p)).cloned().unwrap_or_default();
        let mut forms: Vec<FactoredSum> = Vec::new();
        // A scale is computed anew for each row. What is long is tabulated once instead.
        let short = common.0.iter().take_while(|factor| !matches!(factor, Term::Chain(_))).count();
        for length in (0..=longest.min(short)).rev() {
            forms.extend(FactoredSum::with_scale(&products, &common.0[..length], problem));
        }
        forms
    }

    /// The parameters of its scale and its offset, in increasing order.
    pub fn kept(&self, problem: &Problem) -> Vec<usize> {
        let offset = self.offset.iter().flat_map(|p| p.parameters(problem));
        self.scale.parameters(problem).into_iter().chain(offset).sorted_unstable().dedup().collect()
    }

    /// Most combinations of values of its tables, where parameter p has `sizes[p]` values.
    pub fn rows(&self, problem: &Problem, sizes: &[usize]) -> u128 {
        let of = |parameters: &[usize]| {
            parameters.iter().fold(1u128, |all, p| all.saturating_mul(sizes[*p] as u128))
        };
        let sum = self.sum.iter().map(|p| of(&p.parameters(problem)));
        sum.fold(of(&self.kept(problem)), u128::saturating_add)
    }

    /// The form with this scale, if what does not share it is over parameters of the scale.
    fn with_scale(
        products: &[FactorProduct],
        scale: &[Term],
        problem: &Problem,
    ) -> Option<FactoredSum> {
        let scale = FactorProduct(scale.to_vec());
        let own = scale.parameters(problem);
        let (mut offset, mut sum) = (Vec::new(), Vec::new());
        for product in products {
            match product.0.strip_prefix(scale.0.as_slice()) {
                Some(rest) => sum.push(FactorProduct(rest.to_vec())),
                None if product.parameters(problem).iter().all(|p| own.contains(p)) => {
                    offset.push(product.clone());
                }
                None => return None,
            }
        }
        Some(FactoredSum { offset, scale, sum })
    }
}

/// How many others begin with the same factor.
fn shared(all: &[FactorProduct], one: &FactorProduct) -> usize {
    all.iter().filter(|p| !p.0.is_empty() && p.0.first() == one.0.first()).count()
}

/// The term as a sum of products; `None` if there are too many.
fn products(term: &Term) -> Option<Vec<FactorProduct>> {
    match term {
        Term::Number(0) => Some(Vec::new()),
        Term::Sum(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(products(part)?);
                if all.len() > MAX_PRODUCTS {
                    return None;
                }
            }
            Some(all)
        }
        Term::Product(factors) => {
            let mut all = vec![FactorProduct::default()];
            for factor in factors {
                let more = products(factor)?;
                if all.len() * more.len().max(1) > MAX_PRODUCTS {
                    return None;
                }
                let with = |a: &FactorProduct| {
                    more.iter()
                        .map(|b| FactorProduct([a.0.clone(), b.0.clone()].concat()))
                        .collect::<Vec<_>>()
                };
                all = all.iter().flat_map(with).collect();
            }
            Some(all)
        }
        other => Some(vec![FactorProduct(vec![other.clone()])]),
    }
}
