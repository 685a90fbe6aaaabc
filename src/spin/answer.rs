//! The result of a search with SPIN, in words and as JSON.
