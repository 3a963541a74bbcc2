"""A machine with an NVIDIA driver and four cards; only the driver is invented."""

import shutil
import subprocess
from pathlib import Path

import pytest

CUDA = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int cards[64], number;
/* Four cards; as CUDA, it shows those that CUDA_VISIBLE_DEVICES names by index or UUID, up to the first unknown. */
static int start(const char *from) {
    char *all = strdup(from);
    for (char *one = strtok(all, ","); one; one = strtok(NULL, ",")) {
        int card = strchr(one, '/') ? atoi(strchr(one, '/') + 1)  /* MIG-GPU-<uuid>/<instance>/0, as they once were */
            : strchr(one, '-') && one[0] != '-' ? atoi(one + strlen(one) - 2) : atoi(one);
        if (card < 0 || card > 3) break;
        cards[number++] = card;
    }
    return number ? 0 : 100;
}
int cuInit(unsigned flags) {
    if (getenv("BROKEN")) return 803;
    return start(getenv("CUDA_VISIBLE_DEVICES") ? getenv("CUDA_VISIBLE_DEVICES") : getenv("CARDS"));
}
int cuDeviceGetCount(int *count) { *count = number; return 0; }
int cuDeviceGet(int *device, int index) { *device = cards[index]; return 0; }
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) { memset(uuid, 0, 16); uuid[15] = device; return 0; }
int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, size, getenv("SLICED") ? "NVIDIA A100 MIG 1g.5gb" : "NVIDIA A100");
    return 0;
}
"""


def name(card: int) -> str:
    """Its UUID."""
    return f"GPU-00000000-0000-0000-0000-0000000000{card:02d}"


def driver(folder: Path) -> dict[str, str]:
    """The environment of such a machine, whose driver is compiled into `folder`."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (folder / "cuda.c").write_text(CUDA)
    built = [compiler, "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), str(folder / "cuda.c")]
    subprocess.run(built, check=True)
    return {"LD_LIBRARY_PATH": str(folder), "CARDS": "0,1,2,3"}
