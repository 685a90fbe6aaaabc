//! What connectors and automata promise. One binary for all, so that the crate is linked once.

mod bisimulation;
mod cat;
mod check;
mod connectors;
mod constraints;
mod dense;
mod expand;
mod export;
mod families;
mod generate;
mod hide;
mod implicit;
mod inputs_fuzz;
mod json;
mod ltl;
mod possible;
mod reachable;
mod reductions;
mod run;
mod stepwise;
mod stream;
mod treo;
mod treo_atoms;
mod treo_refused;
mod treo_syntax;
mod values;
