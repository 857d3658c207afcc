#pragma once

#include <array>
#include <string_view>

namespace swizzle {

/// PostgreSQL's five-character error code.
class SqlState {
 public:
  explicit consteval SqlState(const char (&code)[6])
      : code_{code[0], code[1], code[2], code[3], code[4]} {}

  [[nodiscard]] constexpr std::string_view code() const noexcept {
    return {code_.data(), code_.size()};
  }
  friend constexpr bool operator==(const SqlState&, const SqlState&) = default;

 private:
  std::array<char, 5> code_;
};

/// The codes of errors below SQL. The frontend has its own beside its types.
namespace sqlstate {
inline constexpr SqlState feature_not_supported{"0A000"};
inline constexpr SqlState invalid_parameter_value{"22023"};
inline constexpr SqlState unique_violation{"23505"};
inline constexpr SqlState read_only_transaction{"25006"};
inline constexpr SqlState serialization_failure{"40001"};
inline constexpr SqlState deadlock_detected{"40P01"};
inline constexpr SqlState insufficient_privilege{"42501"};
inline constexpr SqlState undefined_object{"42704"};
inline constexpr SqlState out_of_memory{"53200"};
inline constexpr SqlState disk_full{"53100"};
inline constexpr SqlState program_limit_exceeded{"54000"};
inline constexpr SqlState object_not_in_prerequisite_state{"55000"};
inline constexpr SqlState object_in_use{"55006"};
inline constexpr SqlState lock_not_available{"55P03"};
inline constexpr SqlState query_canceled{"57014"};
inline constexpr SqlState admin_shutdown{"57P01"};
inline constexpr SqlState io_error{"58030"};
inline constexpr SqlState undefined_file{"58P01"};
inline constexpr SqlState duplicate_file{"58P02"};
inline constexpr SqlState snapshot_too_old{"72000"};
inline constexpr SqlState config_file_error{"F0000"};
inline constexpr SqlState internal_error{"XX000"};
inline constexpr SqlState data_corrupted{"XX001"};
inline constexpr SqlState index_corrupted{"XX002"};
}  // namespace sqlstate

}  // namespace swizzle
