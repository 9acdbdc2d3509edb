// SPDX-License-Identifier: Apache-2.0
//! Random paths: every answer is checked against an independent one.
