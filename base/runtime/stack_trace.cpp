#include "base/runtime/stack_trace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

namespace swizzle {
namespace {

std::string path_of_this_program() {
  std::array<char, 4096> path{};
  const auto length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length > 0 ? std::string{path.data(), static_cast<std::size_t>(length)} : std::string{};
}

std::uintptr_t load_address_of_this_program() noexcept {
  Dl_info info{};
  // Any function of this program will do.
  return dladdr(reinterpret_cast<const void*>(&stack_trace), &info) != 0
             ? reinterpret_cast<std::uintptr_t>(info.dli_fbase)
             : 0;
}

// Returns addr2line's answers for the addresses, one each, or nothing at all.
std::vector<std::string> ask_addr2line(std::span<const std::vector<void*>> traces,
                                       std::size_t addresses) {
  const std::string program = path_of_this_program();
  if (program.empty() || program.find('\'') != std::string::npos) return {};
  const std::uintptr_t base = load_address_of_this_program();
  std::string command = fmt::format("addr2line -Cfpe '{}'", program);
  for (const auto& trace : traces) {
    for (const void* address : trace) {
      // A return address is one past its call.
      fmt::format_to(std::back_inserter(command), " {:#x}",
                     reinterpret_cast<std::uintptr_t>(address) - base - 1);
    }
  }
  command += " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "r"), &pclose};
  std::vector<std::string> lines;
  std::array<char, 4096> line{};
  while (pipe != nullptr && std::fgets(line.data(), static_cast<int>(line.size()), pipe.get())) {
    std::string_view text{line.data()};
    if (text.ends_with('\n')) text.remove_suffix(1);
    lines.emplace_back(text);
  }
  if (lines.size() != addresses) lines.clear();
  return lines;
}

}  // namespace

std::vector<void*> stack_trace() {
  constexpr int kDeepest = 48;
  std::vector<void*> frames(kDeepest);
  const int found = backtrace(frames.data(), kDeepest);
  frames.resize(static_cast<std::size_t>(found));
  if (!frames.empty()) frames.erase(frames.begin());
  return frames;
}

std::vector<std::string> describe_stack_traces(std::span<const std::vector<void*>> traces) {
  std::size_t addresses = 0;
  for (const auto& trace : traces) addresses += trace.size();
  auto lines = ask_addr2line(traces, addresses);
  if (!lines.empty()) return lines;
  for (const auto& trace : traces) {
    for (const void* address : trace) lines.push_back(fmt::format("{}", fmt::ptr(address)));
  }
  return lines;
}

}  // namespace swizzle
