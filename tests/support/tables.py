"""What tests read of a table of jobs."""


def values(table, name):
    return table.column(name).tolist()
