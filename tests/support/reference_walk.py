"""The walk down a schedule exactly as its contract words it, slowly: what placement is compared with."""

from blox.state.cluster import ClusterState


def walk(schedule, cluster_state: ClusterState, job_state, choose, of_row=False):
    """Row -> GPUs per node of every job that runs after the walk.

    `choose(free per node, need)` gives the GPUs per node that a job takes, or None; with `of_row`,
    `choose(row)` gives the function that does so for a job. A running job whose
    grant is unchanged keeps its GPUs; another takes free ones; if there are not enough and the schedule
    may preempt, jobs are released from the end of the order, only ones after it, and restored if it still
    does not fit; then the walk goes on, or ends if strict. A released job that is reached stays where it
    was if that is free.
    """
    jobs = schedule.jobs[schedule.order].tolist()
    grants = job_state.columns.gpus[schedule.jobs] if schedule.gpus is None else schedule.gpus
    need = dict(zip(schedule.jobs.tolist(), grants.tolist()))
    home = {}
    for row, gpus in cluster_state.allocation.as_dict().items():
        if need.get(row) == len(gpus):
            home[row] = per_node(cluster_state, gpus)
    free = (cluster_state.node_gpus * cluster_state.node_up).tolist()
    holding = {}

    def put(row, shares):
        holding[row] = shares
        for node, count in shares.items():
            free[node] -= count
            assert free[node] >= 0

    def take_off(row):
        for node, count in holding[row].items():
            free[node] += count
        return holding.pop(row)

    for row, shares in home.items():
        put(row, shares)
    for place, row in enumerate(jobs):
        if row in holding:
            continue
        old = home.get(row)
        if old is not None and all(free[node] >= count for node, count in old.items()):
            put(row, old)
            continue
        choose_for_it = choose(row) if of_row else choose
        shares = choose_for_it(free, need[row])
        if shares is None and schedule.preempt:
            released = []
            for victim in reversed(jobs[place + 1 :]):
                if shares is None and victim in holding:
                    released.append((victim, take_off(victim)))
                    shares = choose_for_it(free, need[row])
            if shares is None:
                for victim, held in released:
                    put(victim, held)
        if shares is not None:
            put(row, shares)
        elif schedule.strict:
            break
    return holding


def per_node(cluster_state, gpus):
    found = {}
    for gpu in gpus:
        node = int(cluster_state.gpu_node[gpu])
        found[node] = found.get(node, 0) + 1
    return found


def first_free(free, need):
    """Nodes in ascending order."""
    shares = {}
    for node, count in enumerate(free):
        if count and need:
            shares[node] = min(count, need)
            need -= shares[node]
    return None if need else shares
