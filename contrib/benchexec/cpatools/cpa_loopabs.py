# SPDX-License-Identifier: Apache-2.0
"""cpa-loopabs in BenchExec: a run that ends in order is done."""

import benchexec.result as result
import benchexec.tools.template


class Tool(benchexec.tools.template.BaseTool2):
    """It gives no verdict; what it found stands in columns, such as a count of loops."""

    def name(self):
        return "cpa-loopabs"

    def executable(self, tool_locator):
        return tool_locator.find_executable("cpa-loopabs", subdir="bin")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="cpa-loopabs")

    def determine_result(self, run):
        if run.exit_code.value == 0:
            return result.RESULT_DONE
        for line in run.output:
            if line.startswith(("Error:", "error:")):
                return f"{result.RESULT_ERROR} ({line[6:].strip()[:60]})"
        return result.RESULT_ERROR
