"""`blox top`: the essentials of a cluster in a terminal, of a running one or of a finished run at a time."""
