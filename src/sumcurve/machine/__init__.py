"""Resources of a process: devices, memory, workers, locks."""
