"""A slow replay of the public Tiresias simulator's queues, rule by rule, to hold the preset against.

Every event walks every job, as the original does. Times are whole seconds. Nothing here is shared with the
preset.
"""

NEVER = 1 << 60


class Job:
    def __init__(self, row, submit, gpus, duration):
        self.row, self.submit, self.gpus, self.duration = row, submit, gpus, duration
        self.start = self.end = None
        self.level = self.executed = self.total = self.waited = self.preemptions = self.promotions = 0
        self.running = False
        self.checked = submit


def replay(jobs, gpus, limits, *, by_gpu, promote=0.0):
    """Runs (submit, GPUs, duration) on so many GPUs; returns the jobs as they ended."""
    jobs = [Job(row, *job) for row, job in enumerate(jobs)]
    arrivals = {}
    for job in jobs:
        arrivals.setdefault(job.submit, {"starts": []})["starts"].append(job)
    arrivals = sorted(arrivals.items())
    queues = [[] for _ in range(len(limits) + 1)]
    present, ending, jump = [], (NEVER, []), NEVER
    while arrivals or ending[1]:
        now, event = ending[0], {"ends": ending[1]}
        if arrivals and arrivals[0][0] <= now:
            if arrivals[0][0] == now:
                arrivals[0][1]["ends"] = ending[1]  # and there they stay, whatever comes before
            now, event = arrivals[0]
        if now > jump:
            now, event = jump, {}
        for job in event.get("ends", []):
            job.end = now
            present.remove(job)
            queues[job.level].remove(job)
        if "starts" in event:
            present += event["starts"]
            queues[0] += event["starts"]
            arrivals.pop(0)
        for job in present:
            tick(job, now, queues, limits, by_gpu, promote)
        serve(queues, gpus, now)
        ends = [(now + job.duration - job.total, job) for job in present if job.running]
        first = min((at for at, _ in ends), default=NEVER)
        ending = (first, [job for at, job in ends if at == first])
        jump = min((wake(job, now, limits, by_gpu, promote) for job in present), default=NEVER)
    return jobs


def tick(job, now, queues, limits, by_gpu, promote):
    elapsed, job.checked = now - job.checked, now
    if job.running:
        job.total += elapsed
        job.executed += elapsed
        service = job.executed * (job.gpus if by_gpu else 1)
        if job.level < len(limits) and service >= limits[job.level]:
            move(job, queues, job.level + 1)
        return
    if job.executed > 0:
        job.waited += elapsed
    if promote and job.level and job.executed > 0 and job.waited >= int(job.executed * promote):
        move(job, queues, 0)
        job.executed = job.waited = 0
        job.promotions += 1


def move(job, queues, level):
    queues[job.level].remove(job)
    queues[level].append(job)
    job.level = level


def serve(queues, free, now):
    for queue in queues:
        for job in queue:
            fits = job.gpus <= free
            if fits:
                free -= job.gpus
                job.start = now if job.start is None else job.start
            job.preemptions += job.running and not fits
            job.running = fits
        queue.sort(key=lambda job: not job.running)


def wake(job, now, limits, by_gpu, promote):
    if job.running and job.level < len(limits):
        return now + (limits[job.level] - job.executed) // (job.gpus if by_gpu else 1)
    if not job.running and promote and job.level and job.executed > 0:
        left = int(job.executed * promote - job.waited)
        return now + left if left > 0 else NEVER
    return NEVER
