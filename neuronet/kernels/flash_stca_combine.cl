// flash_stca_combine.cl: puts together what the stretches of a history leave, in the order of the stretches.
//
//   most = max_s top[s]      w[s] = exp(top[s] - most)      out = sum_s w sums / sum_s w total
//   lse = most + log(sum_s w total)                         du = sum_s parts[s]
//
// Used by   ops/flash_stca_combine.py      Checked against   reference/flash_stca_combine.py
// Overwrites out, lse and du.

// --- any device -------------------------------------------------------------------------------

// grid: dimension, queries*heads, batch
__kernel void MHFlashSTCACombine(
    __global const float *top,      // [batch, splits, queries, heads]
    __global const float *total,    // [batch, splits, queries, heads]
    __global const float *sums,     // [batch, splits, queries, heads, dimension]
    __global float *out,            // [batch, queries, heads, dimension]
    __global float *lse,            // [batch, queries, heads]
    const int splits, const int queries, const int heads, const int dimension)
{
    const int j = get_global_id(0), row = get_global_id(1), n = get_global_id(2), rows = queries * heads;
    float most = -INFINITY, whole = 0.0f, sum = 0.0f;
    for (int s = n * splits; s < (n + 1) * splits; ++s)
        most = fmax(most, top[s * rows + row]);
    for (int s = n * splits; s < (n + 1) * splits; ++s) {
        const float w = top[s * rows + row] == -INFINITY ? 0.0f : exp(top[s * rows + row] - most);
        whole += w * total[s * rows + row];
        sum += w * sums[((size_t)s * rows + row) * dimension + j];
    }
    out[(n * rows + row) * dimension + j] = whole == 0.0f ? 0.0f : sum / whole;
    if (j == 0) lse[n * rows + row] = whole == 0.0f ? INFINITY : most + log(whole);
}

// grid: dimension, queries*heads, batch
__kernel void MHFlashSTCAReduce(
    __global const float *parts,    // [batch, splits, queries, heads, dimension]
    __global float *du,             // [batch, queries, heads, dimension]
    const int splits, const int queries, const int heads, const int dimension)
{
    const int j = get_global_id(0), row = get_global_id(1), n = get_global_id(2), rows = queries * heads;
    float sum = 0.0f;
    for (int s = n * splits; s < (n + 1) * splits; ++s)
        sum += parts[((size_t)s * rows + row) * dimension + j];
    du[(n * rows + row) * dimension + j] = sum;
}

// --- GPU: 16 work-items share a sum over the splits -------------------------------------------

// group: 16, 16, 1
// grid: dimension, 16*queries*heads, batch
__kernel void MHFlashSTCACombineGPU(
    __global const float *top,      // [batch, splits, queries, heads]
    __global const float *total,    // [batch, splits, queries, heads]
    __global const float *sums,     // [batch, splits, queries, heads, dimension]
    __global float *out,            // [batch, queries, heads, dimension]
    __global float *lse,            // [batch, queries, heads]
    const int splits, const int queries, const int heads, const int dimension)
{
    __local float tops[16], totals[16 * 16], parts[16 * 16];
    const int x = get_local_id(0), y = get_local_id(1), j = get_global_id(0), row = get_group_id(1);
    const int n = get_global_id(2), rows = queries * heads, stop = (n + 1) * splits;
    float most = -INFINITY, whole = 0.0f, sum = 0.0f;
    for (int s = n * splits + y; s < stop; s += 16) most = fmax(most, top[s * rows + row]);
    if (x == 0) tops[y] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; ++i) most = fmax(most, tops[i]);
    for (int s = n * splits + y; s < stop; s += 16) {
        const float w = top[s * rows + row] == -INFINITY ? 0.0f : exp(top[s * rows + row] - most);
        whole += w * total[s * rows + row];
        if (j < dimension) sum += w * sums[((size_t)s * rows + row) * dimension + j];
    }
    totals[16 * y + x] = whole;
    parts[16 * y + x] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (y > 0 || j >= dimension) return;
    for (int i = 1; i < 16; ++i) {
        whole += totals[16 * i + x];
        sum += parts[16 * i + x];
    }
    out[(n * rows + row) * dimension + j] = whole == 0.0f ? 0.0f : sum / whole;
    if (j == 0) lse[n * rows + row] = whole == 0.0f ? INFINITY : most + log(whole);
}

// group: 16, 16, 1
// grid: dimension, 16*queries*heads, batch
__kernel void MHFlashSTCAReduceGPU(
    __global const float *parts,    // [batch, splits, queries, heads, dimension]
    __global float *du,             // [batch, queries, heads, dimension]
    const int splits, const int queries, const int heads, const int dimension)
{
    __local float shares[16 * 16];
    const int x = get_local_id(0), y = get_local_id(1), j = get_global_id(0), row = get_group_id(1);
    const int n = get_global_id(2), rows = queries * heads;
    float sum = 0.0f;
    if (j < dimension)
        for (int s = n * splits + y; s < (n + 1) * splits; s += 16)
            sum += parts[((size_t)s * rows + row) * dimension + j];
    shares[16 * y + x] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (y > 0 || j >= dimension) return;
    for (int i = 1; i < 16; ++i) sum += shares[16 * i + x];
    du[(n * rows + row) * dimension + j] = sum;
}
