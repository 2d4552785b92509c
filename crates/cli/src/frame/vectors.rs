//! Values and the bytes that they are: `testing/vectors`.
