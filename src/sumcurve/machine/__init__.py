"""What a process uses of its machine: devices, sums, workers, compiled code, locks."""
