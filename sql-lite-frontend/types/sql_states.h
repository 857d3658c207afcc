#pragma once

#include "base/sqlstate.h"

/// The codes that arise in SQL, beside those of base/sqlstate.h.
namespace swizzle::sqlstate {
inline constexpr SqlState protocol_violation{"08P01"};
inline constexpr SqlState string_data_right_truncation{"22001"};
inline constexpr SqlState numeric_value_out_of_range{"22003"};
inline constexpr SqlState null_value_not_allowed{"22004"};
inline constexpr SqlState invalid_datetime_format{"22007"};
inline constexpr SqlState datetime_field_overflow{"22008"};
inline constexpr SqlState invalid_time_zone_displacement{"22009"};
inline constexpr SqlState interval_field_overflow{"22015"};
inline constexpr SqlState invalid_escape_character{"22019"};
inline constexpr SqlState invalid_argument_for_logarithm{"2201E"};
inline constexpr SqlState invalid_argument_for_power{"2201F"};
inline constexpr SqlState invalid_argument_for_width_bucket{"2201G"};
inline constexpr SqlState invalid_regular_expression{"2201B"};
inline constexpr SqlState invalid_row_count_in_limit{"2201W"};
inline constexpr SqlState invalid_row_count_in_offset{"2201X"};
inline constexpr SqlState invalid_escape_sequence{"22025"};
inline constexpr SqlState substring_error{"22011"};
inline constexpr SqlState division_by_zero{"22012"};
inline constexpr SqlState character_not_in_repertoire{"22021"};
inline constexpr SqlState untranslatable_character{"22P05"};
inline constexpr SqlState array_subscript_error{"2202E"};
inline constexpr SqlState invalid_text_representation{"22P02"};
inline constexpr SqlState invalid_binary_representation{"22P03"};
inline constexpr SqlState bad_copy_file_format{"22P04"};
inline constexpr SqlState not_null_violation{"23502"};
inline constexpr SqlState foreign_key_violation{"23503"};
inline constexpr SqlState check_violation{"23514"};
inline constexpr SqlState syntax_error{"42601"};
inline constexpr SqlState invalid_name{"42602"};
inline constexpr SqlState undefined_column{"42703"};
inline constexpr SqlState undefined_object{"42704"};
inline constexpr SqlState ambiguous_function{"42725"};
inline constexpr SqlState cannot_coerce{"42846"};
inline constexpr SqlState grouping_error{"42803"};
inline constexpr SqlState datatype_mismatch{"42804"};
inline constexpr SqlState wrong_object_type{"42809"};
inline constexpr SqlState undefined_function{"42883"};
inline constexpr SqlState undefined_table{"42P01"};
inline constexpr SqlState undefined_parameter{"42P02"};
inline constexpr SqlState invalid_schema_name{"3F000"};
inline constexpr SqlState indeterminate_collation{"42P22"};
inline constexpr SqlState indeterminate_datatype{"42P18"};
inline constexpr SqlState statement_too_complex{"54001"};
inline constexpr SqlState too_many_arguments{"54023"};
}  // namespace swizzle::sqlstate
