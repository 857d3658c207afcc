#include "sql-lite-frontend/parse/syntax_tree.h"

#include <pg_query.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>

#include "sql-lite-frontend/types/check_stack.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's --wrap makes these names.
extern "C" {

// What pg_query_parse_protobuf() is made of; the library's header shows only the whole.
struct MemoryContextData;
struct RawParse {
  void* tree;
  char* stderr_buffer;
  PgQueryError* error;
};
MemoryContextData* pg_query_enter_memory_context();
void pg_query_exit_memory_context(MemoryContextData* context);
RawParse pg_query_raw_parse(const char* text);
PgQueryProtobuf pg_query_nodes_to_protobuf(const void* tree);
void pg_query_free_error(PgQueryError* error);

void* __real_palloc(std::size_t size);
void* __wrap_palloc(std::size_t size);
}

namespace swizzle::sql {
namespace {

std::uintptr_t present_frame() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

/// The library builds messages from the tree, where it allocates, and then packs them, where it
/// does not and takes up to four and a half times the stack for each level.
constexpr std::size_t kPackingFactor = 6;

/// How far down the library has gone, and where it goes when that is too far.
class Descent {
 public:
  explicit Descent(std::uintptr_t start) noexcept
      : start_(start), lowest_frame_(start), allowed_frame_(start) {}

  /// Asked at every level.
  void go_down_to(std::uintptr_t frame) noexcept {
    if (frame < allowed_frame_ && !allow(frame)) std::longjmp(escape, 1);
    lowest_frame_ = std::min(lowest_frame_, frame);
  }
  [[nodiscard]] std::size_t used() const noexcept { return start_ - lowest_frame_; }

  std::jmp_buf escape;

 private:
  /// Makes sure of the stack that packing will take, for half as deep again.
  bool allow(std::uintptr_t frame) noexcept {
    const std::size_t used = start_ - frame;
    const std::size_t next = used + used / 2 + kFirstStep;
    if (!stack_has(next * kPackingFactor - used)) return false;
    allowed_frame_ = start_ - next;
    return true;
  }

  static constexpr std::size_t kFirstStep = std::size_t{16} << 10;
  std::uintptr_t start_;
  std::uintptr_t lowest_frame_;
  std::uintptr_t allowed_frame_;
};
constinit thread_local Descent* descent = nullptr;

/// False if the stack is too small for it. Everything between here and the escape is C, without
/// anything to clean up: what was allocated goes with the memory context.
bool pack(const void* tree, PgQueryProtobuf& packed, std::size_t& used) {
  Descent own{present_frame()};
  if (setjmp(own.escape) != 0) {
    descent = nullptr;
    return false;
  }
  descent = &own;
  packed = pg_query_nodes_to_protobuf(tree);
  descent = nullptr;
  used = own.used();
  return true;
}

}  // namespace
}  // namespace swizzle::sql

void* __wrap_palloc(std::size_t size) {
  using swizzle::sql::descent;
  if (descent != nullptr) descent->go_down_to(swizzle::sql::present_frame());
  return __real_palloc(size);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace swizzle::sql {

SyntaxTree::SyntaxTree(const std::string& text) {
  check_stack();
  MemoryContextData* const context = pg_query_enter_memory_context();
  const RawParse parsed = pg_query_raw_parse(text.c_str());
  bool fits = true;
  if (parsed.error != nullptr) {
    error_ = SyntaxError{parsed.error->message, parsed.error->cursorpos};
    pg_query_free_error(parsed.error);
  } else {
    PgQueryProtobuf packed{};
    fits = pack(parsed.tree, packed, stack_used_);
    data_ = reinterpret_cast<std::byte*>(packed.data);
    size_ = packed.len;
  }
  std::free(parsed.stderr_buffer);  // NOLINT(cppcoreguidelines-no-malloc): as the library made it
  pg_query_exit_memory_context(context);
  if (!fits) throw_stack_too_deep();
}

void SyntaxTree::check_stack_to_read_back() const {
  // 1.9 KB for a level that took 80 bytes, and more for what then walks over it.
  constexpr std::size_t kReadingFactor = 28;
  constexpr std::size_t kAtLeast = std::size_t{64} << 10;
  if (!stack_has(stack_used_ * kReadingFactor + kAtLeast)) throw_stack_too_deep();
}

SyntaxTree::~SyntaxTree() {
  std::free(data_);  // NOLINT(cppcoreguidelines-no-malloc): as the library made it
}

}  // namespace swizzle::sql
