#pragma once

#include <span>
#include <string>
#include <vector>

namespace swizzle {

/// Returns the return addresses above the caller, innermost first.
std::vector<void*> stack_trace();

/// Returns a line per address, trace by trace, with function, file and line if addr2line is
/// installed. Slow: for reports of failures.
std::vector<std::string> describe_stack_traces(std::span<const std::vector<void*>> traces);

}  // namespace swizzle
