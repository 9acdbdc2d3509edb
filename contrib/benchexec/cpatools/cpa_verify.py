# SPDX-License-Identifier: Apache-2.0
"""cpa-verify in BenchExec."""

import re

import benchexec.result as result
import benchexec.tools.template
from benchexec.tools.sv_benchmarks_util import ILP32, LP64, get_data_model_from_task

VERDICT = re.compile(r"^Verification result: (TRUE|FALSE|UNKNOWN)\b")
VIOLATED = re.compile(r"^Verification result: FALSE\. Property violation \(([^:)]*)")


class Tool(benchexec.tools.template.BaseTool2):
    """Reads the verdict line, which is the last one, and the reason of an UNKNOWN."""

    def name(self):
        return "cpa-verify"

    def executable(self, tool_locator):
        return tool_locator.find_executable("cpa-verify", subdir="bin")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="cpa-verify")

    def cmdline(self, executable, options, task, rlimits):
        arguments = []
        if rlimits.cputime:
            arguments += ["--timelimit", f"{rlimits.cputime}s"]
        if rlimits.memory:
            arguments += ["--memlimit", f"{rlimits.memory}B"]
        if task.property_file:
            arguments += ["--spec", task.property_file]
        model = get_data_model_from_task(task, {ILP32: "--32", LP64: "--64"})
        if model and model not in options:
            arguments.append(model)
        return [executable, *arguments, *options, *task.input_files_or_identifier]

    def determine_result(self, run):
        status = None
        reason = None
        for line in run.output:
            found = VERDICT.match(line)
            if found:
                verdict = found.group(1)
                violated = VIOLATED.match(line)
                if verdict == "TRUE":
                    status = result.RESULT_TRUE_PROP
                elif verdict == "FALSE" and violated:
                    status = f"false({violated.group(1).strip()})"
                elif verdict == "FALSE":
                    status = result.RESULT_FALSE_PROP
                else:
                    status = result.RESULT_UNKNOWN
            elif line.startswith("Reason:"):
                reason = line.removeprefix("Reason:").strip()
            elif line.startswith("Error: internal error") or " panicked at " in line:
                reason = "panic"
            elif line.startswith("Error:"):
                reason = line.removeprefix("Error:").strip()
        if status is None:
            # BenchExec itself tells timeouts and lack of memory.
            return f"{result.RESULT_ERROR} ({reason[:60]})" if reason else result.RESULT_ERROR
        if status == result.RESULT_UNKNOWN and reason:
            return f"{result.RESULT_UNKNOWN} ({reason[:60]})"
        return status

    def get_value_from_output(self, output, identifier):
        for line in output:
            if line.startswith(identifier):
                rest = line.removeprefix(identifier)
                if rest.startswith(":"):
                    return rest[1:].split("(")[0].strip()
        return None
