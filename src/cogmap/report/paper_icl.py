"""The paper's in-context table: what its models reached in new rooms, by the number of rooms they were trained on."""

from __future__ import annotations

ROOMS = (200, 500, 1000, 2000, 5000, 10_000)
METHODS = ("Vanilla LSTM", "Vanilla transformer", "TDB(S=3, M=4)", "TDB(S=1, enc, M=4)")

# By metric and method, one value for each of ROOMS. The paper heads the shares with a % sign and prints fractions.
PAPER: dict[str, dict[str, tuple[float, ...]]] = {
    "test_accu": {
        "Vanilla LSTM": (0.508, 0.741, 0.899, 0.919, 0.848, 0.924),
        "Vanilla transformer": (0.426, 0.595, 0.864, 0.977, 0.985, 0.985),
        "TDB(S=3, M=4)": (0.38, 0.461, 0.568, 0.868, 0.974, 0.977),
        "TDB(S=1, enc, M=4)": (0.379, 0.481, 0.58, 0.8, 0.784, 0.912),
    },
    "imp_fallback": {
        "Vanilla LSTM": (0.005, 0.148, 0.382, 0.447, 0.312, 0.305),
        "Vanilla transformer": (0.002, 0.007, 0.189, 0.725, 0.809, 0.771),
        "TDB(S=3, M=4)": (0.038, 0.05, 0.115, 0.690, 0.964, 0.970),
        "TDB(S=1, enc, M=4)": (0.032, 0.064, 0.124, 0.495, 0.605, 0.782),
    },
    "ratio_sp": {
        "Vanilla LSTM": (51.79, 29.73, 25.52, 27.01, 24.79, 24.27),
        "Vanilla transformer": (34.79, 45.26, 26.14, 25.98, 24.53, 25.13),
        "TDB(S=3, M=4)": (1.46, 1.17, 1.18, 1.07, 1.01, 1.01),
        "TDB(S=1, enc, M=4)": (1.33, 1.27, 1.20, 1.11, 1.06, 1.01),
    },
    "norm_ged": {
        "TDB(S=3, M=4)": (0.707, 0.658, 0.579, 0.164, 0.019, 0.017),
        "TDB(S=1, enc, M=4)": (0.723, 0.660, 0.602, 0.29, 0.294, 0.118),
    },
}

# In-context accuracy in rooms that break the rule R never, once, twice and always.
RULE = {"A": 0.9805, "B": 0.5697, "C": 0.5025, "D": 0.4620}
