#!/usr/bin/env bash
# The Oclgrind pass: tests/ops on a simulator that sees every access to memory. It fails on an access outside
# a buffer, a data race, a read of memory that nothing has written, or a wrong OpenCL call.
#
#   PYTHON=.venv/bin/python tests/oclgrind.sh [pytest arguments instead of tests/ops]
#
# Needs Debian's package oclgrind.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}

library=$(find /usr/lib /usr/local/lib -name liboclgrind-rt-icd.so -print -quit)
[ -n "$library" ] || { echo "no liboclgrind-rt-icd.so: apt install oclgrind" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/vendors"
echo "$library" > "$work/vendors/oclgrind.icd"

export OCL_ICD_VENDORS=$work/vendors NEURONET_TEST_DEVICE=oclgrind PYOPENCL_NO_CACHE=1
export OCLGRIND_LOCAL_MEM_SIZE=65536     # kernels for tensor cores take 48 KB, as GPUs have
export OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=1 OCLGRIND_CHECK_API=1
# The optimiser makes instructions that the check for uninitialised reads does not know ("freeze").
export OCLGRIND_BUILD_OPTIONS=-cl-opt-disable

# run NAME PYTEST-ARGUMENTS...: fails when a test fails, or is skipped, or Oclgrind reports something
run() {
    local name=$1
    shift
    OCLGRIND_LOG=$work/$name.log "$python" -m pytest -q -p no:cacheprovider --timeout 900 "$@" \
        > "$work/$name.out" 2>&1 || return 1
    if grep -q "no OpenCL device" "$work/$name.out"; then
        echo "the tests were skipped: Oclgrind was not found as a device" >> "$work/$name.out"
        return 1
    fi
    ! reported "$name"
}

reported() { [ -n "$(cat "$work/$1".log* 2>/dev/null)" ]; }  # one log for each worker of pytest

show() {
    tail -n 60 "$work/$1.out"
    ! reported "$1" || { echo "Oclgrind reports:"; cat "$work/$1".log* | sed -n 1,60p; }
}

# First the proof that a fault is seen: each bad kernel must be reported.
for fault in outside race uninitialised; do
    if run "$fault" tests/oclgrind_faults.py -k "$fault"; then
        echo "Oclgrind pass: a kernel with the fault '$fault' went unseen" >&2
        exit 1
    fi
    if ! reported "$fault"; then
        echo "Oclgrind pass: the fault '$fault' ended without a report" >&2
        show "$fault" >&2
        exit 1
    fi
done

# These take from minutes to hours at all their sizes: name them, with -k for a few sizes, to run them.
slow=(matmul_tensor multi_windows_conv multi_windows_weights fourier complex_conv channel_mask channel_correlation
    mask_attention_complex mask_attention_gradients mask_attention_small flash_stca flash_stca_gradient)
if [ $# -eq 0 ]; then
    echo "Oclgrind pass: left out as too slow: ${slow[*]}, and tests named many_rows or Tensor"
    set -- tests/ops -k "not many_rows and not Tensor"
    for name in "${slow[@]}"; do set -- "$@" --ignore "tests/ops/test_$name.py"; done
fi
run ops -n 2 "$@" || { show ops >&2; echo "Oclgrind pass: FAILED" >&2; exit 1; }
tail -n 1 "$work/ops.out"
echo "Oclgrind pass: clean, and three bad kernels were reported"
