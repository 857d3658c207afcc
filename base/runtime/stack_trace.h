#pragma once

#include <span>
#include <string>
#include <vector>

namespace swizzle {

/// The return addresses above the caller, innermost first.
std::vector<void*> stack_trace();

/// One line per address, with function, file and line where addr2line is there to find them; each
/// trace's lines follow one another. Slow: for reports of failures.
std::vector<std::string> describe_stack_traces(std::span<const std::vector<void*>> traces);

}  // namespace swizzle
