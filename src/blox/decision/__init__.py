"""From an accounting log to a decision: what would change for whom, how sure that is, and what it depends on.

`study` says which runs it takes, `digest` what is kept of each, `evidence` what they say together; `page` and
`words` tell it.
"""
