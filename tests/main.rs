//! The one integration binary: every test binary links all of DataFusion.

mod encode;
