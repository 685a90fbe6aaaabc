//! Where values lie in the launches of a problem whose sizes are known.

use super::{Monomial, Poly, PolyTerms, WideInterval};
use crate::request::LaunchBound;

impl PolyTerms {
    /// Where a value lies in a launch within these bounds, one for each dimension. Numbers made of
    /// ids in another way than by sums and products are taken to be those of a launch of 2^16
    /// items.
    pub fn in_launch(&self, poly: &Poly, bounds: &[LaunchBound]) -> WideInterval {
        let mut rest = poly.clone();
        let mut sum = WideInterval::point(0);
        for (d, bound) in bounds.iter().enumerate() {
            let Some(group) = self.find_name(&format!("$group_{d}")) else { continue };
            let local = self.local_sizes.get(&d).cloned();
            let local = local.or_else(|| self.find_name(&format!("$local_{d}")));
            let first = local.and_then(|local| group.mul(&local));
            // The first item of a group: the product is below the items of the launch, which its
            // factors by themselves are not.
            if let Some((monomial, coefficient)) = first.as_ref().and_then(Poly::as_term) {
                let (factor, left) = rest.split((monomial, coefficient));
                let items = WideInterval::new(0, (bound.items - 1).max(0));
                sum = sum.add(self.likely_in(&factor, bounds).mul(items));
                rest = left;
            }
        }
        sum.add(self.likely_in(&rest, bounds))
    }

    fn likely_in(&self, poly: &Poly, bounds: &[LaunchBound]) -> WideInterval {
        let term = |sum: WideInterval, (monomial, coefficient): &(Monomial, i64)| {
            let factors = monomial.iter().map(|atom| {
                let of = |(d, bound): (usize, &LaunchBound)| {
                    let is = |name: &str| self.find_name(&format!("${name}_{d}"))?.as_atom();
                    let names = [("group", bound.groups - 1), ("lid", bound.local - 1)];
                    let found = names.into_iter().find(|(name, _)| is(name) == Some(*atom));
                    found.map(|(_, greatest)| WideInterval::new(0, greatest.max(0)))
                };
                let known = bounds.iter().enumerate().find_map(of);
                known.unwrap_or_else(|| self.likely(&Poly::atom(*atom)))
            });
            sum.add(factors.fold(WideInterval::point(*coefficient), WideInterval::mul))
        };
        poly.terms().iter().fold(WideInterval::point(0), term)
    }
}
