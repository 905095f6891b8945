#!/usr/bin/env bash
# Installs Debian's chromium and its driver, for the tests in a real browser. `make test` calls it. Where they cannot be
# installed, it prints a line and those tests are skipped, unless COGMAP_BROWSER=required.
set -euo pipefail

if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "installing chromium and its driver for the tests in a browser"
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends \
        chromium chromium-driver fonts-liberation >/dev/null; then
        exit 0
    fi
fi
echo "chromium and its driver are missing and cannot be installed: the tests in a browser are skipped"
[ "${COGMAP_BROWSER:-}" != required ]
