#pragma once

#include "wal/record_kinds.h"

namespace swizzle::wal {

/// The program swizzle-waldump, for any log: prints one line per record, found through checksums
/// alone. `kinds` describes the records of the program that links it. Returns the exit code: 0 when
/// the log was readable to its end, 1 when it was not, 2 for wrong arguments.
int waldump_main(int argc, const char* const* argv, const RecordKinds& kinds);

}  // namespace swizzle::wal
