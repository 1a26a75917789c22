"""The linear relaxation of Synergy's OPT: a bound that no choice of whole points exceeds."""

from blox.placement.synergy.program import add_program, solver_of


def linear_bound(jobs, floors, cpu, memory_gb):
    """The optimum where jobs may be split among their points, each at least as fast as its floor in all."""
    highspy, solver = solver_of(10.0)
    add_program(highspy, solver, jobs, cpu, memory_gb)
    column = 0
    for choice, floor in zip(jobs, floors):
        columns = list(range(column, column + len(choice.points)))
        speeds = [point[2] for point in choice.points]
        solver.addRow(floor, highspy.kHighsInf, len(columns), columns, speeds)
        column += len(columns)
    solver.run()
    return solver.getInfo().objective_function_value
