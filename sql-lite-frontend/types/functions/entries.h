#pragma once

#include <span>

#include "sql-lite-frontend/types/function_registry.h"

/// The implementations, one table per file of this folder.
namespace swizzle::sql {

std::span<const ScalarEntry> comparison_functions();
std::span<const ScalarEntry> integer_functions();
std::span<const ScalarEntry> float_functions();
std::span<const ScalarEntry> numeric_functions();
std::span<const ScalarEntry> random_functions();
std::span<const ScalarEntry> cast_functions();
std::span<const ScalarEntry> text_functions();
std::span<const ScalarEntry> text_format_functions();
std::span<const ScalarEntry> conversion_functions();
std::span<const ScalarEntry> order_functions();
std::span<const ScalarEntry> encoding_functions();
std::span<const ScalarEntry> like_functions();
std::span<const ScalarEntry> regex_functions();
std::span<const ScalarEntry> normal_form_functions();
std::span<const ScalarEntry> unicode_escape_functions();
std::span<const ScalarEntry> datetime_functions();
std::span<const ScalarEntry> datetime_field_functions();
std::span<const ScalarEntry> datetime_truncation_functions();
std::span<const ScalarEntry> datetime_arithmetic_functions();
std::span<const ScalarEntry> formatting_functions();
std::span<const ScalarEntry> formatted_input_functions();
std::span<const ScalarEntry> array_functions();
std::span<const ScalarEntry> array_order_functions();
std::span<const ScalarEntry> general_functions();
std::span<const ScalarEntry> input_check_functions();
std::span<const ScalarEntry> uuid_functions();
std::span<const ScalarEntry> name_functions();
std::span<const ScalarEntry> byte_size_functions();
std::span<const ScalarEntry> value_size_functions();
std::span<const ScalarEntry> extreme_functions();
std::span<const ScalarEntry> network_functions();
std::span<const ScalarEntry> enum_functions();
std::span<const ScalarEntry> hash_functions();
std::span<const ScalarEntry> json_functions();
std::span<const ScalarEntry> json_access_functions();
std::span<const ScalarEntry> json_change_functions();
std::span<const ScalarEntry> json_whole_functions();
std::span<const ScalarEntry> json_from_arrays_functions();
std::span<const ScalarEntry> json_populate_functions();
std::span<const SetEntry> set_functions();
std::span<const SetEntry> json_set_functions();
std::span<const SetEntry> json_each_functions();
std::span<const SetEntry> json_record_functions();
std::span<const SetEntry> keyword_functions();
std::span<const SetEntry> zone_functions();
std::span<const AggregateEntry> counting_aggregates();
std::span<const AggregateEntry> statistics_aggregates();
std::span<const AggregateEntry> collecting_aggregates();
std::span<const AggregateEntry> json_aggregates();
std::span<const AggregateEntry> ordered_aggregates();

}  // namespace swizzle::sql
