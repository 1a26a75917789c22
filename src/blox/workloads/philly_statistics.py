"""Statistics of Microsoft's Philly cluster, carried over from its public trace: how many GPUs jobs ask
for, how long jobs of each size run, and how unevenly the virtual clusters submit.

Source: the Philly traces, (c) Microsoft, CC BY 4.0 (M. Jeon et al., "Analysis of Large-Scale Multi-Tenant
GPU Clusters for DNN Training Workloads", USENIX ATC 2019), in the form of one line per job: 82,247 jobs
of 2017. Shares are counts; durations are the trace's own quantiles, rounded to three significant digits.
These are figures only; the distribution made of them is `JobMix` in `distributions.py`.
"""

from __future__ import annotations

# GPUs asked for -> jobs in the trace
JOBS_BY_GPUS: dict[int, int] = {
    1: 76_627,
    2: 1_818,
    4: 1_870,
    8: 1_643,
    12: 7,
    16: 199,
    24: 7,
    32: 67,
    64: 6,
    128: 3,
}

# shares of jobs at which the duration quantiles below are taken; dense in the upper tail, which holds
# most of the GPU-time
SHARES: tuple[float, ...] = (
    0, 0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8,
    0.85, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 1,
)  # fmt: skip

# sizes that share a table (the rare ones are pooled) -> seconds that jobs of those sizes run, at SHARES
DURATIONS_S: dict[tuple[int, ...], tuple[float, ...]] = {
    (1,): (
        1, 30, 52, 62, 69, 76, 122, 215, 385, 600, 855, 1_120, 1_450, 1_730, 2_050, 2_460, 2_720, 3_750,
        5_340, 8_510, 19_100, 44_200, 68_300, 135_000, 267_000, 502_000, 866_000, 1_450_000, 3_260_000,
    ),
    (2,): (
        2, 5, 9, 11, 13, 15, 16, 17, 18, 19, 20, 21, 23, 25, 28, 33, 76, 149, 22_300, 72_700, 197_000,
        268_000, 344_000, 523_000, 808_000, 1_400_000, 1_470_000, 1_620_000, 2_580_000,
    ),
    (4,): (
        3, 35.7, 75, 138, 179, 405, 773, 1_700, 4_460, 7_470, 13_100, 17_400, 26_300, 36_300, 56_800,
        78_700, 89_400, 106_000, 151_000, 184_000, 274_000, 449_000, 533_000, 907_000, 1_210_000,
        1_860_000, 2_450_000, 2_650_000, 2_750_000,
    ),
    (8,): (
        1, 33.4, 125, 216, 464, 785, 1_880, 4_010, 7_270, 12_400, 16_700, 23_700, 36_600, 65_000,
        106_000, 141_000, 173_000, 203_000, 242_000, 352_000, 526_000, 668_000, 795_000, 1_060_000,
        2_000_000, 2_230_000, 2_660_000, 3_010_000, 4_630_000,
    ),
    (12, 16, 24): (
        2, 20.1, 40.6, 68.2, 126, 281, 362, 580, 1_630, 6_060, 13_500, 31_200, 57_200, 70_400, 95_800,
        129_000, 162_000, 184_000, 235_000, 334_000, 505_000, 583_000, 649_000, 1_120_000, 1_360_000,
        1_570_000, 1_640_000, 1_670_000, 1_710_000,
    ),
    (32, 64, 128): (
        1, 1.75, 4, 392, 820, 880, 1_130, 1_260, 1_460, 2_510, 3_170, 5_320, 14_800, 43_000, 46_900,
        47_900, 51_600, 53_900, 55_900, 59_100, 73_100, 97_700, 113_000, 123_000, 126_000, 128_000,
        128_000, 129_000, 129_000,
    ),
}  # fmt: skip

# jobs of each virtual cluster, most first; the four with fewer than ten jobs are left out
JOBS_BY_TENANT: tuple[int, ...] = (
    41_226, 16_091, 9_953, 7_423, 1_934, 1_511, 1_435, 1_137, 723, 422, 374,
)  # fmt: skip
