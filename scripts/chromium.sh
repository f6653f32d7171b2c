#!/bin/sh
# Makes sure this machine has a Chromium for the browser tests; says nothing when it has.
# `chromium.sh --find` prints its path instead and installs nothing.
set -eu

find_chromium() {
    if [ -n "${TOOLBENCH_CHROMIUM:-}" ]; then
        set -- "$TOOLBENCH_CHROMIUM"
    else
        set -- chromium chromium-browser google-chrome
    fi
    for name; do
        found=$(command -v "$name") && [ -f "$found" ] && [ -x "$found" ] && echo "$found" && return
    done
    return 1
}

give_up() {
    echo "$1: install the package chromium, or set TOOLBENCH_CHROMIUM to the path of a Chromium or Chrome." >&2
    exit 1
}

install_with() { # "$@" is what makes a command run as root
    log=$(mktemp)
    echo "Installing Chromium for the browser tests (the Debian package chromium)" >&2
    # A list that cannot be refreshed may still be good enough to install from.
    if ! {
        "$@" apt-get -qq update
        "$@" env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium
    } >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        give_up "apt-get could not install Chromium (its words are above)"
    fi
    rm -f "$log"
}

if path=$(find_chromium); then
    [ "${1:-}" != --find ] || echo "$path"
    exit 0
fi

[ -z "${TOOLBENCH_CHROMIUM:-}" ] || give_up "TOOLBENCH_CHROMIUM is '$TOOLBENCH_CHROMIUM', which is no program"
[ "${1:-}" != --find ] || give_up "The browser tests need Chromium"
command -v apt-get >/dev/null || give_up "The browser tests need Chromium and apt-get is not here to install it"

if [ "$(id -u)" -eq 0 ]; then
    install_with
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    install_with sudo -n
else
    give_up "The browser tests need Chromium and only root may install it"
fi
find_chromium >/dev/null || give_up "The package chromium is installed and brought no program of that name"
