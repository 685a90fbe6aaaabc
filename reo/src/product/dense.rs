//! The dense product of the thesis: every cell of the Kronecker product.
