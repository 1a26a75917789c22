"""The paper's Figure 2, nearly word for word: a whole scheduler, its loop written out.

It differs from the listing in its imports, in the constructors, in the line with `Plan`, from which
launches and preemptions are derived, and in the last verb of the loop, which jumps in simulation and
sleeps on a cluster. `blox run --placement consolidated` gives the same results.

    python examples/figure2.py
"""

from blox import (
    BloxManager,
    ClusterState,
    Experiment,
    JobState,
    Plan,
    admission_control,
    placement,
    schedulers,
)


def main(args):
    admission_policy = admission_control.AcceptAll()
    scheduling_policy = schedulers.Fifo()
    placement_policy = placement.Consolidated()

    blox_mgr = BloxManager(args.backend())
    cluster_state = ClusterState(args.cluster)
    job_state = JobState()

    while not blox_mgr.terminate:
        # update set of active machines
        blox_mgr.update_cluster(cluster_state)
        # update metrics of all jobs run in the
        # previous round (including failed jobs)
        blox_mgr.update_metrics(cluster_state, job_state)
        blox_mgr.prune_completed_jobs(cluster_state, job_state)

        # retrieve new jobs from wait queue
        new_jobs = blox_mgr.pop_wait_queue()
        # acceptance policy
        accepted_jobs = admission_policy.accept(new_jobs, cluster_state, job_state)
        # update runnable jobs with accepted jobs
        job_state.add_new_jobs(accepted_jobs)

        # get new job schedule
        new_job_schedule = scheduling_policy.schedule(job_state, cluster_state)
        # where to launch
        wanted = placement_policy.place(new_job_schedule, cluster_state, job_state)
        plan = Plan.diff(cluster_state.allocation, wanted)
        # launch jobs
        blox_mgr.exec_jobs(plan, cluster_state, job_state)
        # wait until next round
        blox_mgr.next_round(cluster_state, job_state)

    return args.result(blox_mgr, job_state)


if __name__ == "__main__":
    result = main(Experiment(placement="consolidated").prepare())
    for name, value in result.summary.items():
        print(f"{name:24} {value}")
