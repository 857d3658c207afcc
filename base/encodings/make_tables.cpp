// Makes the tables of an encoding: those of the system's iconv, changed where PostgreSQL's differ.
#include <fmt/format.h>
#include <iconv.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

#include "base/encodings/character_exceptions.h"
#include "base/encodings/character_form.h"
#include "base/encodings/code_keys.h"
#include "base/encodings/encoding_table.h"
#include "base/runtime/runtime.h"

namespace swizzle {
namespace {

/// One or two code points; none if `first` is 0.
struct CodePoints {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

class Converter {
 public:
  explicit Converter(Encoding encoding)
      : handle_(iconv_open("UTF-32LE", std::string{iconv_name(encoding)}.c_str())) {}
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  ~Converter() {
    if (is_open()) iconv_close(handle_);
  }

  /// iconv_open() returns -1 as an address if it fails.
  [[nodiscard]] bool is_open() const noexcept {
    return std::bit_cast<std::intptr_t>(handle_) != -1;
  }

  CodePoints convert(std::uint32_t code, std::size_t length) noexcept {
    std::array<char, 4> bytes{};
    for (std::size_t i = 0; i < length; ++i)
      bytes[i] = static_cast<char>(code >> (8U * (length - 1 - i)) & 0xffU);
    std::array<std::uint32_t, 4> out{};
    char* from = bytes.data();
    std::size_t left = length;
    char* to = reinterpret_cast<char*>(out.data());
    std::size_t room = sizeof out;
    const bool failed = iconv(handle_, &from, &left, &to, &room) == kFailed || left != 0 ||
                        iconv(handle_, nullptr, nullptr, &to, &room) == kFailed;
    iconv(handle_, nullptr, nullptr, nullptr, nullptr);
    const std::size_t count = (sizeof out - room) / sizeof out[0];
    if (failed || count == 0 || count > 2) return {};
    return {out[0], count == 2 ? out[1] : 0};
  }

 private:
  static constexpr std::size_t kFailed = static_cast<std::size_t>(-1);

  iconv_t handle_;
};

/// PostgreSQL reads the first two planes of EUC_TW only.
constexpr std::uint32_t kLastOfSecondPlane = 0x8ea2fefe;

std::array<std::atomic<const EncodingTable*>, kEncodings> made_tables{};

}  // namespace

void EncodingTable::add(std::uint32_t code, std::size_t length, std::uint32_t first,
                        std::uint32_t second) {
  const std::uint32_t key = key_of(encoding_, code, length);
  if (second != 0) {
    // In other encodings these are two characters to iconv: the first byte is one by itself.
    const bool has_pairs =
        encoding_ == Encoding::euc_jis_2004 || encoding_ == Encoding::shift_jis_2004;
    if (!has_pairs) return;
    code_points_.set(key, kPair | static_cast<std::uint32_t>(pairs_.size()));
    pairs_.push_back({first, second, code});
    return;
  }
  code_points_.set(key, first);
  if (codes_.find(first) == 0) codes_.set(first, code);
}

void EncodingTable::apply_exceptions() {
  for_each_decoding_exception(encoding_, [this](const CharacterRun& run) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const std::uint32_t code = run.from + i;
      code_points_.set(key_of(encoding_, code, bytes_of_code(code)), run.to == 0 ? 0 : run.to + i);
    }
  });
  for_each_encoding_exception(encoding_, [this](const CharacterRun& run) {
    for (std::uint32_t i = 0; i < run.count; ++i)
      codes_.set(run.from + i, run.to == 0 ? 0 : run.to + i);
  });
}

Result<std::unique_ptr<EncodingTable>> EncodingTable::make(Encoding encoding) {
  Converter converter{encoding};
  if (!converter.is_open()) {
    return fail(Error{sqlstate::feature_not_supported,
                      fmt::format("encoding \"{}\" is not available", encoding_name(encoding))}
                    .with_detail(fmt::format("The system's iconv has no table \"{}\".",
                                             iconv_name(encoding))));
  }
  std::unique_ptr<EncodingTable> set{new EncodingTable{encoding}};
  const auto add = [&](std::uint32_t code, std::size_t length) {
    if (encoding == Encoding::euc_tw && code > kLastOfSecondPlane) return;
    const CodePoints points = converter.convert(code, length);
    if (points.first != 0) set->add(code, length, points.first, points.second);
  };
  for_each_code(encoding, add);
  if (encoding == Encoding::johab) {
    // PostgreSQL writes characters whose bytes it does not take back.
    for (std::uint32_t code = 0x8000; code <= 0xffff; ++code) add(code, 2);
  }
  if (encoding == Encoding::gb18030) {
    for (std::uint32_t number = 0; number < kFourByteCodes; ++number)
      add(four_byte_code(number), 4);
  }
  set->apply_exceptions();
  return set;
}

bool EncodingTable::is_convertible(Encoding encoding) noexcept {
  return encoding != Encoding::mule_internal;
}

Result<const EncodingTable*> EncodingTable::of(Encoding encoding) {
  if (encoding == Encoding::utf8 || encoding == Encoding::sql_ascii) return nullptr;
  std::atomic<const EncodingTable*>& place = made_tables[static_cast<std::size_t>(encoding)];
  // Acquire: the table's content, which another thread has published.
  if (const EncodingTable* made = place.load(std::memory_order_acquire)) return made;
  std::optional<Result<std::unique_ptr<EncodingTable>>> result;
  Runtime::current().run_aside([&] { result.emplace(make(encoding)); });
  if (!*result) return fail(std::move(*result).error());
  const EncodingTable* expected = nullptr;
  // Another session may have made the same table meanwhile: the first one stays.
  if (!place.compare_exchange_strong(expected, (*result)->get(), std::memory_order_acq_rel))
    return expected;
  return (*result)->release();
}

}  // namespace swizzle
