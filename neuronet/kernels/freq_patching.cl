// freq_patching.cl: patches of a spectrum, every channel's piece of a patch side by side.
//
//   z[b,l,n,p] = x[b, n, l*step + p]       dx[b,n,k] = sum over the patches l that hold bin k of dz[b,l,n,k - l*step]
//
// A bin is a pair re, im. Patches may overlap or leave holes; bins behind the last whole patch are not read.
//
// Used by   ops/freq_patching.py     Checked against   reference/freq_patching.py
// Source    Wu et al., arXiv:2410.12261 (CATCH), frequency patching.
// Overwrites z and dx (0 where no patch reaches).

// grid: patch, channels, rows*patches
__kernel void FreqPatching(
    __global const float *x,    // [rows, channels, bins, 2]
    __global float *z,          // [rows, patches, channels, patch, 2]
    const int channels, const int bins, const int patches, const int patch, const int step)
{
    const int p = get_global_id(0), n = get_global_id(1), row = get_global_id(2) / patches;
    const int l = get_global_id(2) % patches;
    vstore2(vload2((row * channels + n) * bins + l * step + p, x),
            ((row * patches + l) * channels + n) * patch + p, z);
}

// grid: bins, channels, rows
__kernel void FreqPatchingGradient(
    __global const float *dz,   // [rows, patches, channels, patch, 2]
    __global float *dx,         // [rows, channels, bins, 2]
    const int channels, const int bins, const int patches, const int patch, const int step)
{
    const int k = get_global_id(0), n = get_global_id(1), row = get_global_id(2);
    const int first = max(0, k - patch + step) / step, last = min(patches - 1, k / step);
    float2 sum = 0.0f;
    for (int l = first; l <= last; ++l)
        sum += vload2(((row * patches + l) * channels + n) * patch + k - l * step, dz);
    vstore2(sum, (row * channels + n) * bins + k, dx);
}
