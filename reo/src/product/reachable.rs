//! The reachable product of any number of automata, state by state.
