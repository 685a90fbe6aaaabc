//! Reading `.cat`, the automata text format of the Extensible Coordination Tools.
