//! cpa-core
