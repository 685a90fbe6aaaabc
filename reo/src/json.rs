//! Connectors and automata as JSON, read and written.
