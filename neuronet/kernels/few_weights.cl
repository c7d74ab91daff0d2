// few_weights.cl: gradients of few weights that are sums over many rows, such as those of a linear layer that
// every unit of a batch goes through.
//
//   dw[f,k] += sum_r dz[r,f] x[r,k]        db[f] += sum_r dz[r,f]
//
// A work-group has 4 filters x 4 taps; its 256 lanes each sum every 256th row and are then added in a fixed
// order, so that even 32 x 32 weights keep a GPU busy. Behind the last taps stands a column for the biases.
//
// Used by   ops/few_weights.py        Checked against   reference/few_weights.py

#define LANES 256

// The sum of weight ``lane % 16`` of the tile, filter by filter.
static float tile_sum(__global const float *x, __global const float *dz, const int k, const int f,
                      const int rows, const int window, const int window_out, __local float *part)
{
    const int lane = get_local_id(0);
    float4 sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int r = lane; r < rows; r += LANES) {
        float xs[4], ds[4];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            xs[j] = k + j < window ? x[r * window + k + j] : 1.0f;
            ds[j] = f + j < window_out ? dz[r * window_out + f + j] : 0.0f;
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j)
            sum[j] += ds[j] * vload4(0, xs);
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j)
        vstore4(sum[j], j, part + lane * 16);
    barrier(CLK_LOCAL_MEM_FENCE);
    float g = 0.0f;
    for (int i = 0; i < 16; ++i)
        g += part[(lane / 16 * 16 + i) * 16 + lane % 16];
    barrier(CLK_LOCAL_MEM_FENCE);
    part[lane] = g;
    barrier(CLK_LOCAL_MEM_FENCE);
    g = 0.0f;
    for (int i = 0; i < 16; ++i)
        g += part[i * 16 + lane % 16];
    return g;
}

// group: 256, 1
// grid: window/4*256 + 256, window_out/4
__kernel void FewWeightsGradient(
    __global const float *x,        // [rows, window]
    __global const float *dz,       // [rows, window_out]
    __global float *dw,             // [window_out, window]
    __global float *db,             // [window_out]
    const int rows, const int window, const int window_out)
{
    __local float part[LANES * 16];
    const int lane = get_local_id(0), first = 4 * get_group_id(0), f = 4 * get_group_id(1) + lane / 4;
    const int k = first + lane % 4;
    const float g = tile_sum(x, dz, first, 4 * get_group_id(1), rows, window, window_out, part);
    if (lane > 15 || f >= window_out) return;
    if (k < window) dw[f * window + k] += g;
    else if (first >= window && k == first) db[f] += g;
}

// group: 256, 1
// grid: window/4*256 + 256, window_out/4
__kernel void UpdateFewWeightsAdam(
    __global const float *x,        // [rows, window]
    __global const float *dz,       // [rows, window_out]
    __global float *w,              // [window_out, window]
    __global float *b,              // [window_out]
    __global float *w_m,            // [window_out, window]
    __global float *w_v,            // [window_out, window]
    __global float *b_m,            // [window_out]
    __global float *b_v,            // [window_out]
    __global const float *hyper,    // [9]
    const int rows, const int window, const int window_out)
{
    __local float part[LANES * 16];
    const int lane = get_local_id(0), first = 4 * get_group_id(0), f = 4 * get_group_id(1) + lane / 4;
    const int k = first + lane % 4, at = f * window + k;
    const float g = tile_sum(x, dz, first, 4 * get_group_id(1), rows, window, window_out, part);
    if (lane > 15 || f >= window_out) return;
    if (k < window) adam(w + at, w_m + at, w_v + at, g, hyper);
    else if (first >= window && k == first) adam(b + f, b_m + f, b_v + f, g, hyper);
}
