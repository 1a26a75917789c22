"""Where jobs come from: generators (endless, seeded) and readers of trace formats, one small file each."""
