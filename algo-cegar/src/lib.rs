//! algo-cegar
