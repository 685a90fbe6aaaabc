//! The product kept as its factors: rows on demand, counts in closed form.
