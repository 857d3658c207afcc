#include "storage/recovery/backup/backup_command.h"

int main(int argc, char** argv) {
  return swizzle::backup_main(argc, argv);
}
