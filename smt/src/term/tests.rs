// SPDX-License-Identifier: Apache-2.0
//! Tests of the constructors against a naive evaluator, and dumps.
