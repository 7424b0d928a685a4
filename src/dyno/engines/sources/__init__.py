"""Where engines come from: each source turns an `EngineSpec` into files of a prefix, verified by hash."""
