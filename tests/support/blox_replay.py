"""A slow replay of the public Blox simulator, rule by rule, to hold the preset against.

Every round walks every job, as the original does. Nothing here is shared with the preset.
"""

import csv

ROUND_S = 300
STARVED_S = 3_600_000
SPEEDUP_BY_LOAD = {1: 5.0, 2: 3.0, 3: 1.4, 4: 1.2, 5: 1.1}  # of the policy that the original calls Optimus


class Job:
    def __init__(self, job_id, arrival, gpus, iterations, iteration_s):
        self.job_id, self.arrival, self.need = job_id, arrival, gpus
        self.iterations, self.iteration_s = iterations, iteration_s
        self.executed = self.attained = self.waited = self.preemptions = 0
        self.completion = self.responsiveness = None
        self.gpus = ()  # ids that it holds
        self.priority = 999
        self.order = None  # of acceptance

    @property
    def credited(self):
        return self.responsiveness is not None

    def key(self, policy):
        if policy == "Fifo":
            return self.arrival
        if policy in ("Las", "Tiresias"):
            return self.attained
        return self.iteration_s * self.iterations - self.attained


def replay(jobs, nodes, per_node, policy, *, fixed=False, accept=None, load=None, tracked, max_rounds=None):
    """Runs (id, arrival, GPUs, iterations, seconds of one) until the tracked ids are done or rounds are over.

    `tracked`: first and last id. `accept`: jobs are held while more than this part of the GPUs is asked for.
    `load`: jobs per hour, on which the policy Optimus depends. Returns the jobs as they ended.
    """
    jobs = [Job(*job) for job in jobs]
    first, last = tracked
    left = sum(first <= job.job_id <= last for job in jobs)
    queue, active = list(jobs), []
    speedup = SPEEDUP_BY_LOAD.get(load, 1.0) if policy == "Optimus" else 1.0
    for number in range(max_rounds or 10**9):
        now = number * ROUND_S
        for job in active:
            if job.gpus:
                credit(job, now, speedup)
        for job in [job for job in active if job.completion is not None]:
            active.remove(job)
            left -= first <= job.job_id <= last
        admit(queue, active, now, None if accept is None else accept * nodes * per_node)
        active.sort(key=lambda job: (job.priority, job.key(policy), job.order))
        preempted = place(active, nodes, per_node, fixed)
        for job in active:
            job.waited = 0 if job.gpus or job in preempted else job.waited + ROUND_S
            if job.waited >= STARVED_S:
                job.priority = 1
        if not left:
            break
    return jobs


def replay_case(case, folder):
    """Runs what a row of `summary.csv` describes."""
    names = ("job_id", "arrival_s", "num_gpus", "total_iterations", "iteration_time_s")
    with (folder / case["jobs_csv"]).open(newline="") as file:
        jobs = [tuple(float(row[name]) for name in names) for row in csv.DictReader(file)]
    return replay(
        [(int(job_id), arrival, int(gpus), *work) for job_id, arrival, gpus, *work in jobs],
        int(case["nodes"]),
        int(case["gpus_per_node"]),
        case["policy"],
        fixed=case["placement"] == "fixed",
        accept=float(case["accept"]) if case["accept"] else None,
        load=float(case["load"]) if case["load"] else None,
        tracked=(int(case["track_start"]), int(case["track_end"])),
        max_rounds=int(case["max_rounds"]) if case["max_rounds"] else None,
    )


def credit(job, now, speedup):
    """A whole round, whatever GPUs the job holds; it completes at the boundary."""
    job.executed += ROUND_S / job.iteration_s * speedup
    job.attained += ROUND_S
    if not job.credited:
        job.responsiveness = now - job.arrival
    if job.executed >= job.iterations:
        job.completion, job.gpus = now, ()


def admit(queue, active, now, limit):
    """In order of arrival; with a limit, while the GPUs asked for are at most that: one job too many."""
    while queue and queue[0].arrival <= now:
        if limit is not None and sum(job.need for job in active) > limit:
            return
        job = queue.pop(0)
        job.order = job.job_id
        active.append(job)


def place(line, nodes, per_node, fixed):
    """Strictly in order; victims come from the end of the line. Returns the jobs that were preempted."""
    preempted = []
    for position, job in enumerate(line):
        if job.gpus:
            continue
        found = free_gpus(line, nodes, per_node, job.need, fixed)
        victims = [later for later in line[position + 1 :] if later.gpus]
        while not found and victims:
            victim = victims.pop()
            victim.gpus = ()
            victim.preemptions += 1
            preempted.append(victim)
            found = free_gpus(line, nodes, per_node, job.need, fixed)
        if not found:
            break
        job.gpus = found
    return preempted


def free_gpus(line, nodes, per_node, need, fixed):
    """The lowest free ids, node by node; unless `fixed`, every node gives up to `need`: often too many."""
    held = {gpu for job in line for gpu in job.gpus}
    taken = []
    for node in range(nodes):
        free = [gpu for gpu in range(node * per_node, (node + 1) * per_node) if gpu not in held]
        taken += free[: need - len(taken) if fixed else need]
        if len(taken) == need:
            return tuple(taken)
    return ()
