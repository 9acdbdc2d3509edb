# SPDX-License-Identifier: Apache-2.0
"""Tool-info modules of BenchExec for the programs of cpa-tools.

With this folder's parent in PYTHONPATH, tool="cpatools.cpa_verify" in a benchmark definition names one.
"""
