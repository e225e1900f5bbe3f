"""The studies of configs/ are packaged as extrinsic/configs; everything else is in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["extrinsic*"]), "extrinsic.configs"],
    package_dir={"extrinsic.configs": "configs"},
)
