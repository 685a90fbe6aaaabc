//! Automata as text for people and other tools.
