// clip.cl: clipping of a gradient by its global norm, in two launches and a fixed order.
//
//   g = g * min(1, limit / ||g||)
//
// Used by   ops/clip.py          Checked against   reference/clip.py

// grid: parts
__kernel BY8 void SquareSums(
    __global const float *g,    // [n]
    __global float *sums,       // [parts]
    const int n, const int parts)
{
    const int p = get_global_id(0), size = (n + parts - 1) / parts, end = min(n, (p + 1) * size);
    float8 sum = 0.0f;
    for (int i = p * size; i < end; i += 8) {
        const float8 some = load8(g + i, end - i);
        sum += some * some;
    }
    sums[p] = sum8(sum);
}

#define GROUP 64

// group: 64
// grid: 64*parts
__kernel void SquareSumsGPU(
    __global const float *g,    // [n]
    __global float *sums,       // [parts]
    const int n, const int parts)
{
    __local float lanes[GROUP];
    const int id = get_local_id(0), p = get_group_id(0);
    const int size = (n + parts - 1) / parts, end = min(n, (p + 1) * size);
    float sum = 0.0f;
    for (int i = p * size + id; i < end; i += GROUP) sum += g[i] * g[i];
    lanes[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int rest = GROUP / 2; rest > 0; rest /= 2) {
        if (id < rest) lanes[id] += lanes[id + rest];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0) sums[p] = lanes[0];
}

// grid: n/8
__kernel BY8 void ClipGradient(
    __global float *g,          // [n]
    __global const float *sums, // [parts]
    const int n, const int parts, const float limit)
{
    const int i = 8 * get_global_id(0);
    float8 sum = 0.0f;
    for (int p = 0; p < parts; p += 8) sum += load8(sums + p, parts - p);
    const float norm = sqrt(sum8(sum));
    if (norm > limit) store8(load8(g + i, n - i) * (limit / norm), g + i, n - i);
}
