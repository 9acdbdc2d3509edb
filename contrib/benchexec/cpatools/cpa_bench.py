# SPDX-License-Identifier: Apache-2.0
"""cpa-bench in BenchExec, to measure what the harness itself costs."""

from pathlib import Path

import benchexec.result as result
import benchexec.tools.template


class Tool(benchexec.tools.template.BaseTool2):
    """The task is given to `cpa-bench run`; a wrong verdict is an error of the run."""

    def name(self):
        return "cpa-bench"

    def executable(self, tool_locator):
        return tool_locator.find_executable("cpa-bench", subdir="bin")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="cpa-bench")

    def cmdline(self, executable, options, task, rlimits):
        arguments = []
        if task.property_file:
            arguments += ["--property", Path(task.property_file).stem]
        return [executable, "run", *arguments, *task.input_files_or_identifier, *options]

    def determine_result(self, run):
        if run.exit_code.value == 0:
            return result.RESULT_DONE
        if run.exit_code.value == 2:
            return f"{result.RESULT_ERROR} (wrong verdict)"
        return result.RESULT_ERROR
