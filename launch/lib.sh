# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What every script of this folder shares: packages, Python, build, mpirun. Sourced, never run.
# From here on the scripts work in the root of the checkout, wherever they were called.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$ROOT" || exit
LOGS=build/launch
VENV_PYTHON=.venv/bin/python
# The distribution's Python: one that a version manager puts first on PATH need not have the venv module.
SYSTEM_PYTHON=/usr/bin/python3

PACKAGES=(
    ca-certificates g++ cmake ninja-build pkg-config git
    openmpi-bin libopenmpi-dev libhdf5-dev libyaml-cpp-dev nlohmann-json3-dev libvalijson-dev
    libboost-program-options-dev libfmt-dev libxxhash-dev libhwloc-dev libgtest-dev libgmock-dev
    python3 python3-venv
)

distribution() { sed -n 's/^ID=//p' /etc/os-release 2>/dev/null; }

# A browser, for the tests of the page that `ringscope-analysis report` writes; without one they are skipped, so only
# who may install it gets it. Debian has it as a package, Ubuntu under that name only a stub that wants snaps.
add_browser() {
    [[ $(distribution) == debian ]] || return 0
    if is_root || have sudo; then PACKAGES+=(chromium chromium-driver); fi
}

# ---- words -----------------------------------------------------------------------------------------------------

# Ranks cannot know whether they have a terminal, so the colour is decided here and handed down as NO_COLOR.
decide_colour() {
    BOLD='' PLAIN=''
    if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
        BOLD=$'\e[1m' PLAIN=$'\e[0m'
    else
        export NO_COLOR=1
    fi
}

say() { printf '%s%s:%s %s\n' "$BOLD" "$1" "$PLAIN" "$2" >&2; }

# fail CODE MESSAGE ends the (sub)shell, so it also works where `set -e` does not. The exit codes are those of the
# program: 2 usage, 4 timeout, 8 internal.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$2" >&2
    exit "$1"
}

print_usage() { sed -n '/^# Usage:/,/^[^#]/{s/^# \{0,1\}//p}' "launch/$(basename "$0")"; }

# A long command's output goes to the terminal where there is one, else to a log that is shown if the command fails.
run_logged() {
    local name=$1 log=$LOGS/$1.log
    shift
    mkdir -p "$LOGS"
    if [[ -t 2 ]]; then
        "$@" </dev/null >&2 || fail 8 "$name failed: see above"
    elif ! "$@" </dev/null >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        fail 8 "$name failed: the end of $log stands above"
    fi
}

# Two scripts of this folder in one checkout wait for each other. The lock goes when the script ends, however it ends.
lock_checkout() {
    [[ ${RINGSCOPE_LOCKED:-} == "$ROOT" ]] && return
    exec 9<launch
    if ! flock --nonblock 9; then
        say lock "another script of launch/ works in this checkout; waiting for it"
        flock 9
    fi
    export RINGSCOPE_LOCKED=$ROOT
}

# ---- packages --------------------------------------------------------------------------------------------------

missing_packages() {
    local installed
    installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${PACKAGES[@]}" 2>/dev/null || true)
    for package in "${PACKAGES[@]}"; do
        grep -qxF "installed $package" <<<"$installed" || printf '%s\n' "$package"
    done
}

apt_get() {
    local as_root=()
    is_root || as_root=(sudo)
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --yes "$@"
}

have() { command -v "$1" >/dev/null; }

is_root() { ((EUID == 0)); }

demand_debian() {
    if have dpkg-query && have apt-get; then return; fi
    fail 2 "$(cat <<END
packages are installed here on Debian and Ubuntu only. Install these by your own means and run again with --no-packages:
  a C++20 compiler (g++ 12 or newer), CMake 3.25, Ninja, pkg-config, git, Open MPI 4.1 or 5, HDF5 (serial), yaml-cpp,
  nlohmann-json, valijson, Boost.Program_options, fmt, xxHash, hwloc (may be left out), GoogleTest with GoogleMock,
  Python 3.11 with venv
END
)"
}

demand_right_to_install() {
    if is_root || have sudo; then return; fi
    fail 2 "$(cat <<END
$# packages are missing, and this is neither root nor a user with sudo. Have an administrator run this line, then run again:
  apt-get update && apt-get install --yes --no-install-recommends $*
END
)"
}

install_packages() {
    local missing
    demand_debian
    mapfile -t missing < <(missing_packages)
    if ((${#missing[@]} == 0)); then
        say packages "all ${#PACKAGES[@]} are there"
        return
    fi
    demand_right_to_install "${missing[@]}"
    say packages "installing ${missing[*]}"
    run_logged apt-update apt_get update
    run_logged apt-install apt_get install --no-install-recommends "${missing[@]}"
}

# ---- Python ----------------------------------------------------------------------------------------------------

python_stamp() {
    { "$SYSTEM_PYTHON" -VV; printf '%s\n' "$ROOT"; cat analysis/pyproject.toml; } | sha256sum
}

# The environment is made anew when the interpreter, its place or the list of dependencies changed, else left alone.
prepare_python() {
    local stamp file=.venv/ringscope-stamp
    stamp=$(python_stamp)
    if [[ -f $file && $(<"$file") == "$stamp" ]]; then
        say python ".venv is up to date"
        return
    fi
    say python "making .venv with the analysis package"
    run_logged venv "$SYSTEM_PYTHON" -m venv --clear .venv
    run_logged pip env PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore \
        "$VENV_PYTHON" -m pip install --quiet --editable "./analysis[notebook,test]"
    printf '%s\n' "$stamp" >"$file"
}

# ---- build -----------------------------------------------------------------------------------------------------

# nvidia-smi can hang for minutes on a machine with a broken driver.
gpu_count() {
    { timeout 20 nvidia-smi -L 2>/dev/null || true; } | grep -c '^GPU ' || true
}

# CMake looks for nvcc on PATH only; the toolkit's own place is tried as well.
find_nvcc() {
    command -v nvcc || { [[ -x /usr/local/cuda/bin/nvcc ]] && echo /usr/local/cuda/bin/nvcc; } || true
}

choose_preset() {
    if (($(gpu_count) > 0)) && [[ -n $(find_nvcc) ]]; then echo cuda; else echo release; fi
}

# The GPUs at hand, as CMake names architectures: 90, or 80;90; empty without a GPU, and the preset's own list holds.
gpu_architectures() {
    { timeout 20 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true; } |
        sed -n 's/^\([0-9]\+\)\.\([0-9]\)$/\1\2/p' | sort -un | paste -sd ';'
}

is_configured() {
    local home
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "build/$1/CMakeCache.txt" 2>/dev/null || true)
    [[ -f build/$1/build.ninja && $home == "$ROOT" ]]
}

configure() {
    local preset=$1 architectures extra=()
    is_configured "$preset" && return
    if [[ $preset == cuda ]]; then
        architectures=$(gpu_architectures)
        extra+=("-DCMAKE_CUDA_COMPILER=$(find_nvcc)")
        [[ -z $architectures ]] || extra+=("-DCMAKE_CUDA_ARCHITECTURES=$architectures")
    fi
    # --fresh: the cache of a checkout that was moved, or of a configuration that failed, is of no use.
    run_logged "configure-$preset" cmake --fresh --preset "$preset" "${extra[@]}"
}

# build PRESET TARGET...: Ninja does nothing where nothing changed.
build() {
    local preset=$1 jobs
    shift
    jobs=$(nproc)
    say build "preset $preset, $jobs jobs"
    configure "$preset"
    run_logged "build-$preset" cmake --build --preset "$preset" --parallel "$jobs" --target "$@"
}

# Open MPI's own leaks are suppressed; the slow unwinder is needed to see whose they are.
export_asan_options() {
    export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
    export LSAN_OPTIONS="suppressions='$ROOT/launch/lsan.supp':print_suppressions=0:fast_unwind_on_malloc=0"
}

# ---- mpirun ----------------------------------------------------------------------------------------------------

mpirun_major() {
    local version
    version=$(mpirun --version 2>/dev/null | sed -n 's/^mpirun (Open MPI) \([0-9]\+\)\..*/\1/p')
    [[ -n $version ]] || fail 2 "the mpirun on PATH is not Open MPI's: put Open MPI 4.1 or 5 first on PATH"
    echo "$version"
}

# Open MPI counts cores, not hardware threads, as its slots; nproc knows what this process may use.
slot_count() {
    local cores threads
    cores=$(lscpu --parse=Core,Socket 2>/dev/null | grep -v '^#' | sort -u | wc -l)
    threads=$(nproc)
    if ((cores > 0 && cores < threads)); then echo "$cores"; else echo "$threads"; fi
}

# mpirun_options MAJOR RANKS SLOTS: the words of this Open MPI, one a line.
# Not among them: odls_base_sigkill_timeout. It would give ranks longer than a second to close their files after Ctrl-C,
# but Open MPI 4.1 then also waits twice that time whenever a rank ends with an error (measured: 30 cost 60 s).
mpirun_options() {
    local major=$1 ranks=$2 slots=$3
    printf '%s\n' -np "$ranks" --bind-to none
    ((ranks > slots)) || return 0
    if ((major >= 5)); then printf '%s\n' --map-by :OVERSUBSCRIBE; else printf '%s\n' --oversubscribe; fi
    # A rank that spins inside MPI would keep the core from the rank that it waits for.
    printf '%s\n' --mca mpi_yield_when_idle 1
}

# capture_machine FOLDER: what lstopo and nvidia-smi say of this host, in FOLDER/HOST, as launch/batch keeps it.
capture_machine() { "$SYSTEM_PYTHON" launch/batching/machine.py "$1"; }

allow_root() {
    is_root || return 0
    [[ -z ${OMPI_ALLOW_RUN_AS_ROOT:-} || -z ${OMPI_ALLOW_RUN_AS_ROOT_CONFIRM:-} ]] || return 0
    say mpirun "this is root: OMPI_ALLOW_RUN_AS_ROOT and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM are set for this run"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

# run_ranks RANKS SECONDS COMMAND...: returns the command's exit code, 4 when it took too long.
run_ranks() {
    local ranks=$1 seconds=$2 slots major options code=0
    shift 2
    slots=$(slot_count)
    major=$(mpirun_major) || return
    mapfile -t options < <(mpirun_options "$major" "$ranks" "$slots")
    allow_root
    ((ranks <= slots)) || say mpirun "$ranks ranks share $slots cores (oversubscribed): times are no measurement"
    # --foreground: Ctrl-C must reach mpirun. The lock is closed, so that no rank left behind could hold it.
    timeout --foreground --kill-after=40 "$seconds" mpirun "${options[@]}" "$@" 9<&- </dev/null || code=$?
    ((code != 124)) || { say mpirun "stopped after $seconds s"; code=4; }
    return "$code"
}
