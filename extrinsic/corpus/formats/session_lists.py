"""Lists of sessions: which sessions a dataset consists of, and where their files are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from extrinsic.corpus.formats.trees import Directory, Tree, open_tree
from extrinsic.errors import InputError, Problems, did_you_mean

LIST_FOLDERS = ("config", "scripts/config")
SESSION_FOLDERS = ("", "data/")


@dataclass(frozen=True)
class Dataset:
    """A named list of sessions in a tree; `lists` is the tree with the list, `folder` its folder there."""

    name: str
    tree: Tree
    lists: Tree
    folder: str
    directories: tuple[str, ...]

    def session_folder(self, file: str) -> str | None:
        """The folder of the sessions: the root or `data`, where the first of them is found."""
        for directory in self.directories:
            for folder in SESSION_FOLDERS:
                if f"{folder}{directory}/{file}" in self.tree:
                    return folder
        return None


def find_dataset(path: str | Path, dataset: str | None, extension: str) -> Dataset:
    """Read the list `<dataset>.<extension>` of a corpus; without a name, the only one there is."""
    tree = open_tree(path)
    lists, list_files = tree, _lists(tree, extension)
    if not list_files and isinstance(tree, Directory):
        # The challenges' own scripts are pointed at the data folder beside the one with the lists.
        lists = Directory(tree.path.resolve().parent)
        list_files = _lists(lists, extension)
    if not list_files:
        raise InputError(
            "no list of sessions found",
            path=str(path),
            expected=" or ".join(f"{folder}/{dataset or '<dataset>'}.{extension}" for folder in LIST_FOLDERS),
        )
    if dataset is None:
        if len(list_files) > 1:
            names = ", ".join(sorted(list_files))
            raise InputError("there are several datasets; choose one", path=str(path), found=names)
        dataset = next(iter(list_files))
    if dataset not in list_files:
        raise InputError(
            f"there is no dataset {dataset!r}; {did_you_mean(dataset, list_files)}", path=str(path)
        )
    name = list_files[dataset]
    return Dataset(dataset, tree, lists, str(PurePosixPath(name).parent), _read_list(lists, name))


def _lists(tree: Tree, extension: str) -> dict[str, str]:
    list_files: dict[str, str] = {}
    for folder in LIST_FOLDERS:
        for name in tree.names(folder):
            if name.endswith(f".{extension}"):
                dataset = PurePosixPath(name).name.removesuffix(f".{extension}")
                if list_files.setdefault(dataset, name) != name:
                    raise InputError(
                        f"the dataset {dataset!r} has two lists of sessions",
                        path=tree.place(name),
                        found=f"{list_files[dataset]} and {name}",
                    )
    return list_files


def _read_list(tree: Tree, name: str) -> tuple[str, ...]:
    path = tree.place(name)
    try:
        lines = tree.read(name).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError("this is not text", path=path, expected="one session path a line") from None
    problems = Problems(path)
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        directory = line.strip().rstrip("/")
        if not directory:
            continue
        if directory in line_of:
            problems.add(f"line {number} repeats line {line_of[directory]}", session=directory)
        if PurePosixPath(directory).is_absolute() or ".." in PurePosixPath(directory).parts:
            problems.add(f"line {number} points out of the corpus", found=directory)
        line_of.setdefault(directory, number)
    if not line_of:
        problems.add("the list of sessions is empty")
    problems.raise_errors()
    return tuple(line_of)
