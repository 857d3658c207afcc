"""Several servers of ours under engines that shard: what the scripts that show it have in common."""
