// swizzle-waldump: prints the log of a database.
#include "storage/recovery/records/record_kinds.h"
#include "wal/waldump.h"

int main(int argc, char** argv) {
  return swizzle::wal::waldump_main(argc, argv, swizzle::kinds_for_people());
}
