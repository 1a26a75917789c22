"""Fair share as Slurm has it: a tree of accounts with shares, usage that decays, and two ways to weigh both.

`accounts` is the tree, `usage` what each user of an account has had; `factors` weighs them. The policies that
go by it are `multifactor` and `fairtree`.
"""
