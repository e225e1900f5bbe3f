"""Which intrinsic metric of a dialog state tracker predicts how good a policy built on it will be?"""

__version__ = "0.1.0"
