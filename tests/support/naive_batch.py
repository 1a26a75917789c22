"""A second, independent simulator of rigid jobs on one pool of GPUs: it walks time second by second.

No profile, no events, no vectors: nothing that it could share with the policies that it checks.
"""

from itertools import count


def naive(jobs, gpus, kind):
    """Start times of `jobs`, (submit, GPUs, seconds) in whole numbers, in order of submission.

    kind: fcfs, easy or conservative, all by the true durations.
    """
    starts, planned, queue = {}, [], []  # planned: (begin, end, GPUs) of jobs that run or have their place
    for now in count():
        planned = [span for span in planned if span[1] > now]
        queue += [job for job, (submit, _, _) in enumerate(jobs) if submit == now]
        reserved = []  # EASY: the place of the first job that does not fit
        for job in list(queue):
            _, need, seconds = jobs[job]
            fits_now = _fits(need, seconds, gpus, planned + reserved, now)
            if not fits_now and kind == "fcfs":
                break
            if not fits_now and reserved:
                continue
            begin = now
            while not _fits(need, seconds, gpus, planned, begin):
                begin += 1
            span = (begin, begin + seconds, need)
            if fits_now or kind == "conservative":
                starts[job] = begin
                planned.append(span)
                queue.remove(job)
            else:
                reserved.append(span)
        if len(starts) == len(jobs):
            return [starts[job] for job in range(len(jobs))]


def _fits(need, seconds, gpus, planned, begin):
    """Whether so many GPUs are free in every second from `begin` on."""
    return all(
        sum(wide for first, last, wide in planned if first <= time < last) + need <= gpus
        for time in range(begin, begin + seconds)
    )
