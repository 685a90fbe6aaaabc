//! tickbound: the engines and the command line.
