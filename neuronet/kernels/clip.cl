// clip.cl: clipping of a gradient by its global norm, in two launches and a fixed order.
//
//   g = g * min(1, limit / ||g||)
//
// Used by   ops/clip.py          Checked against   reference/clip.py

// grid: parts
__kernel void SquareSums(
    __global const float *g,    // [n]
    __global float *sums,       // [parts]
    const int n, const int parts)
{
    const int p = get_global_id(0), size = (n + parts - 1) / parts;
    const int end = min(n, (p + 1) * size);
    float sum = 0.0f;
    for (int i = p * size; i < end; ++i) sum += g[i] * g[i];
    sums[p] = sum;
}

// grid: n
__kernel void ClipGradient(
    __global float *g,          // [n]
    __global const float *sums, // [parts]
    const int parts, const float limit)
{
    const int i = get_global_id(0);
    float sum = 0.0f;
    for (int p = 0; p < parts; ++p) sum += sums[p];
    const float norm = sqrt(sum);
    if (norm > limit) g[i] *= limit / norm;
}
