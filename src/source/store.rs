//! A location → an `ObjectStore` and the path in it.
