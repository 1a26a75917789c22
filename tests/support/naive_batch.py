"""A second, independent simulator of rigid jobs on one pool of GPUs: it walks time second by second.

No profile, no events, no vectors: nothing that it could share with the policies that it checks.
"""


def naive(jobs, gpus, kind):
    """Start times of `jobs`, (submit, GPUs, seconds) in whole numbers, in order of submission.

    kind: fcfs, easy or conservative, all by the true durations.
    """
    starts, running, queue, promised = {}, [], [], {}
    now = 0
    while len(starts) < len(jobs):
        running = [(end, need) for end, need in running if end > now]
        queue += [job for job, (submit, _, _) in enumerate(jobs) if submit == now]
        if kind == "conservative":
            for job in queue:
                if job not in promised:
                    promised[job] = _hole(jobs, job, gpus, running, promised, starts, now)
            chosen = [job for job in queue if promised[job] == now]
        else:
            chosen = _in_order(jobs, queue, gpus, running, now, kind == "easy")
        for job in chosen:
            _, need, seconds = jobs[job]
            starts[job] = now
            running.append((now + seconds, need))
            queue.remove(job)
        now += 1
    return [starts[job] for job in range(len(jobs))]


def _in_order(jobs, queue, gpus, running, now, easy):
    running, chosen = list(running), []
    free = gpus - sum(need for _, need in running)
    line = list(queue)
    while line and jobs[line[0]][1] <= free:
        _, need, seconds = jobs[line[0]]
        free -= need
        running.append((now + seconds, need))
        chosen.append(line.pop(0))
    if easy and line:
        shadow, spare = now, free
        while spare < jobs[line[0]][1]:
            shadow += 1
            spare = gpus - sum(need for end, need in running if end > shadow)
        spare -= jobs[line[0]][1]
        for job in line[1:]:
            _, need, seconds = jobs[job]
            in_time = now + seconds <= shadow
            if need <= free and (in_time or need <= spare):
                chosen.append(job)
                free, spare = free - need, spare - (0 if in_time else need)
    return chosen


def _hole(jobs, job, gpus, running, promised, starts, now):
    planned = [(0, end, need) for end, need in running]
    planned += [(begin, begin + jobs[p][2], jobs[p][1]) for p, begin in promised.items() if p not in starts]
    begin, (_, need, seconds) = now, jobs[job]
    while any(
        sum(wide for first, last, wide in planned if first <= time < last) + need > gpus
        for time in range(begin, begin + seconds)
    ):
        begin += 1
    return begin
