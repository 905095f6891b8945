#!/usr/bin/env bash
# Installs Debian's EGL and OSMesa, with which MuJoCo renders 3D rooms without a display. `make test` calls it. Where they
# cannot be installed, it prints a line and the tests that render are skipped, unless COGMAP_GRAPHICS=required.
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
echo "EGL and OSMesa are missing and cannot be installed: the tests that render are skipped"
[ "${COGMAP_GRAPHICS:-}" != required ]
