"""The central scheduler: the manager and the policies of the simulator over what worker managers report."""
