"""Reading the real data once: EXTRINSIC_DATA, else ../shared/data beside the repository, else skip."""

import functools
import gzip
import json
import os
import tarfile
from pathlib import Path

import pytest


def data_directory():
    """The folder of real data; the calling test is skipped when there is none."""
    named = os.environ.get("EXTRINSIC_DATA")
    path = Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"no real data: set EXTRINSIC_DATA ({path} is not a directory)")
    return path


def read_json(path):
    """A .json or .json.gz file."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            return json.load(stream)
    return json.loads(path.read_text(encoding="utf-8"))


@functools.cache
def read_state_sets(name):
    """A state-set file, by its path under multiwoz/."""
    return read_json(data_directory() / "multiwoz" / name)


@functools.cache
def read_dstc2_dev():
    """(logs, labels, ontology) of the dev calls, in the order of the list."""
    contents = {}
    with tarfile.open(data_directory() / "dstc2" / "dstc2_traindev.tar.gz") as archive:
        for member in archive:
            if member.isfile():
                contents[member.name] = archive.extractfile(member).read()
    calls = contents["scripts/config/dstc2_dev.flist"].decode().split()
    logs = [json.loads(contents[f"data/{call}/log.json"]) for call in calls]
    labels = [json.loads(contents[f"data/{call}/label.json"]) for call in calls]
    return logs, labels, json.loads(contents["scripts/config/ontology_dstc2.json"])


@functools.cache
def read_dstc1_train3():
    """(logs, labels) of the real bus calls, in the order of the list."""
    contents = {}
    with tarfile.open(data_directory() / "dstc1" / "dstc1_train3.tar.gz") as archive:
        for member in archive:
            if member.isfile():
                contents[member.name] = archive.extractfile(member).read()
    calls = contents["config/train3.sessions"].decode().split()
    logs = [json.loads(contents[f"{call}/dstc.log.json"]) for call in calls]
    return logs, [json.loads(contents[f"{call}/dstc.labels.json"]) for call in calls]
