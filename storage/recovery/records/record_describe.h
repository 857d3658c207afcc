#pragma once

#include <string>

#include "wal/record.h"

namespace swizzle::describe {

/// Functions that describe the payloads of log records for people. They are for the kind table
/// (record_kinds.h). A payload that cannot be read is described as "malformed".
std::string row(const wal::Record& record);
std::string rows(const wal::Record& record);
std::string update(const wal::Record& record);
std::string slots(const wal::Record& record);
std::string split(const wal::Record& record);
std::string adoption(const wal::Record& record);
std::string deadoption(const wal::Record& record);
/// Describes one page image or several.
std::string images(const wal::Record& record);
std::string pages(const wal::Record& record);
/// Describes a commit or the end of a rollback.
std::string time(const wal::Record& record);
std::string prepared(const wal::Record& record);
std::string restore_point(const wal::Record& record);
std::string kept(const wal::Record& record);
std::string noted(const wal::Record& record);
std::string taken_back(const wal::Record& record);

}  // namespace swizzle::describe
