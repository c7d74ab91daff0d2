// spectrum_loss.cl: how far two spectra are apart, as the mean modulus of their differences.
//
//   value[b] = weight mean over channels n and bins k of |y - target|
//   dy       = weight (y - target) / sqrt(|y - target|^2 + 1e-12) / (rows channels bins)
//
// dy is the gradient of the mean value of the rows. A bin is a pair re, im.
//
// Used by   ops/spectrum_loss.py     Checked against   reference/spectrum_loss.py
// Source    Wu et al., arXiv:2410.12261 (CATCH), its loss in the frequency domain.
// Overwrites value; overwrites dy, or adds to it.

#define LANES 64
#define TINY 1e-12f

// group: 64, 1
// grid: 64, rows
__kernel void SpectrumLoss(
    __global const float *y,        // [rows, channels, bins, 2]
    __global const float *target,   // [rows, channels, bins, 2]
    __global float *value,          // [rows]
    __global float *dy,             // [rows, channels, bins, 2]
    const int rows, const int channels, const int bins, const int add, const float weight)
{
    __local float sums[LANES];
    const int id = get_local_id(0), row = get_group_id(1), count = channels * bins;
    const float slope = weight / ((float)rows * count);
    float sum = 0.0f;
    y += 2 * row * count;
    target += 2 * row * count;
    dy += 2 * row * count;
    for (int i = id; i < count; i += LANES) {
        const float2 e = vload2(i, y) - vload2(i, target);
        const float square = e.x * e.x + e.y * e.y;
        const float2 g = e * (slope / sqrt(square + TINY));
        sum += sqrt(square);
        vstore2(add ? vload2(i, dy) + g : g, i, dy);
    }
    sums[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = LANES / 2; half_size > 0; half_size /= 2) {
        if (id < half_size) sums[id] += sums[id + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0) value[row] = weight * sums[0] / count;
}
