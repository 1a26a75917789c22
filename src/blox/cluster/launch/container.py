"""Launch in a container, by docker or podman."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from blox.cluster.launch import Home, Prepared
from blox.cluster.protocol.messages import JobSpec
from blox.errors import BloxError
from blox.registry import register

ENGINES = ("docker", "podman")
_OF_THE_NODE = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")  # not of the image


@register.launch("container")
@dataclass(frozen=True)
class Container:
    """The first word of the command is an image; docker or podman runs the rest in it.

    The container sees the job's directory and its rank's, under the same paths, and the node's network.
    `engine`: docker or podman; the first that is there. `gpus`: hands the rank its GPU (docker's --gpus).
    """

    engine: str = ""
    gpus: bool = False

    def __post_init__(self) -> None:
        if self.engine not in ("", *ENGINES):
            raise BloxError(f"engine is {self.engine!r}", where="launch container", fix="docker or podman")

    def prepare(self, spec: JobSpec, home: Home) -> Prepared:
        engine = self._found()
        seen = home.environment
        name = f"blox-{seen['BLOX_JOB']}-{seen['BLOX_EPOCH']}-{seen['RANK']}-{home.job.parent.parent.name}"
        command = [engine, "run", "--rm", "--init", "--name", name, "--network", "host"]
        for directory in (home.job, home.own):
            command += ["--volume", f"{directory}:{directory}"]
        for variable in sorted(set(seen) - set(_OF_THE_NODE)):
            command += ["--env", variable]  # its value is that of the engine's own environment
        if self.gpus:
            command += ["--gpus", f"device={seen['CUDA_VISIBLE_DEVICES']}"]
        return Prepared([*command, *spec.command], home.job, cleanup=(engine, "rm", "--force", name))

    def _found(self) -> str:
        for name in (self.engine,) if self.engine else ENGINES:
            if found := shutil.which(name):
                return found
        what = f"{self.engine} is not here" if self.engine else "neither docker nor podman is here"
        fix = "install one on every node, or submit a command line"
        raise BloxError(what, where="launch container", fix=fix)
