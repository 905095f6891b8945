#!/usr/bin/env bash
# Debian's EGL and OSMesa, by which MuJoCo draws 3D rooms without a display. Called by `make test`. Where they cannot
# be had, it says so and the tests that render are skipped, unless COGMAP_GRAPHICS=required.
set -euo pipefail

if ldconfig -p | grep -q -e 'libEGL\.so\.1' -e 'libOSMesa\.so'; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "installing EGL and OSMesa for the tests that render"
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends \
        libegl1 libgl1 libgl1-mesa-dri libosmesa6 >/dev/null; then
        exit 0
    fi
fi
echo "neither EGL nor OSMesa is here, and they cannot be installed: the tests that render are skipped"
[ "${COGMAP_GRAPHICS:-}" != required ]
