// flash_stca_combine.cl: puts together what the stretches of a history leave, in the order of the stretches.
//
//   most = max_s top[s]      w[s] = exp(top[s] - most)      out = sum_s w sums / sum_s w total
//   lse = most + log(sum_s w total)                         du = sum_s parts[s]
//
// The GPU's form of MHFlashSTCAGradient is here too: flash_stca_gradient.cl has no room for it.
//
// Used by   ops/flash_stca_combine.py      Checked against   reference/flash_stca_combine.py
// Overwrites out, lse and du; see flash_stca_gradient.cl for its GPU form.

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

// --- GPU: MHFlashSTCAGradient, 8 rows of u after the other; a work-group has a stretch ----
// Scores: a work-item has 2 keys and 4 rows. Sums: 4 numbers of x and every slices-th 4 keys, for all rows.

// The rows that any question of a sample sees, from .x up to .y; both 0 if there is none
static int2 seen(__global const int *limits, const int queries, const int length)
{
    int2 all = (int2)(length, 0);
    for (int q = 0; q < queries; ++q) {
        const int first = max(limits[2 * q], 0), last = min(limits[2 * q + 1], length);
        if (first < last) all = (int2)(min(all.x, first), max(all.y, last));
    }
    return all.x < all.y ? all : (int2)(0, 0);
}

// Stretch s of those
static int2 stretch(const int2 all, const int splits, const int s)
{
    const int each = (all.y - all.x + splits - 1) / splits, begin = min(all.x + s * each, all.y);
    return (int2)(begin, min(begin + each, all.y));
}

// Age of the newest row that a question sees; 0 if it sees none
static float newest(__global const float *ages, const int first, const int last)
{
    return first < last ? fmin(ages[first], ages[last - 1]) : 0.0f;
}

#define GROUP 128
#define KEYS 64         // rows of x at a time, fewer where they are long
#define ROWS 8
#define TILE 1088       // float4 of x at a time
#define CHUNK 256       // float4 of u and of dout at a time

// Numbers 4 lane to 4 lane + 3 of a row of d; zeros behind its end
static float4 load4(__global const float *row, const int lane, const int d)
{
    if (d % 4 == 0) return ((__global const float4 *)row)[lane];
    float4 v = 0.0f;
    const int j = 4 * lane;
    v.s0 = row[j];
    if (j + 1 < d) v.s1 = row[j + 1];
    if (j + 2 < d) v.s2 = row[j + 2];
    if (j + 3 < d) v.s3 = row[j + 3];
    return v;
}

static float dot4(const float4 a, const float4 b)
{
    return a.s0 * b.s0 + a.s1 * b.s1 + a.s2 * b.s2 + a.s3 * b.s3;
}

// row = beta row + v there; what stood there is not read where beta is 0
static void add4(__global float *row, const int lane, const int d, const float4 v, const float beta)
{
    if (d % 4 == 0) {
        __global float4 *to = (__global float4 *)row + lane;
        *to = beta == 0.0f ? v : v + beta * *to;
        return;
    }
    const float number[4] = {v.s0, v.s1, v.s2, v.s3};
    for (int j = 0; j < min(4, d - 4 * lane); ++j) {
        __global float *to = row + 4 * lane + j;
        *to = beta == 0.0f ? number[j] : number[j] + beta * *to;
    }
}

// group: 128, 1
// grid: 128*splits, batch
__kernel void MHFlashSTCAGradientGPU(
    __global const float *u,        // [batch, queries, heads, dimension]
    __global const float *x,        // [batch, length, dimension]
    __global const int *limits,     // [marks, queries, 2]
    __global const float *ages,     // [dated, days]
    __global const float *slope,    // [slopes]
    __global const float *out,      // [batch, queries, heads, dimension]
    __global const float *lse,      // [batch, queries, heads]
    __global const float *dout,     // [batch, queries, heads, dimension]
    __global float *dx,             // [batch, length, dimension]
    __global float *parts,          // [batch, splits, queries, heads, dimension]
    __global float *slopes,         // [batch, splits, queries, heads]
    const int queries, const int heads, const int dimension, const int length, const int splits,
    const int marks, const int days, const float scale, const int recency, const float beta)
{
    __local float4 tile[TILE], asked[CHUNK], back[CHUNK], weight[ROWS * KEYS / 4], slant[ROWS * KEYS / 4];
    __local float share[GROUP], level[ROWS], whole[ROWS], steep[ROWS], now[ROWS];
    __local int first[ROWS], last[ROWS];
    __local float *p = (__local float *)weight, *g = (__local float *)slant;        // [row, key]
    const int id = get_local_id(0), part = get_group_id(0), n = get_global_id(1), d = dimension;
    const int rows = queries * heads, at = (n * splits + part) * rows;
    const int lanes = (d + 3) / 4, pitch = lanes | 1;   // an odd pitch: neighbours in different banks
    const int chunk = min(ROWS, CHUNK / lanes), keys = min(KEYS, TILE / pitch & ~3), pairs = keys / 2;
    const int lane = id % lanes, slice = id / lanes, slices = GROUP / lanes;
    const int t0 = id % pairs, t1 = t0 + pairs, r1 = id / pairs * 4;
    limits += marks > 1 ? 2 * n * queries : 0;
    const int2 all = seen(limits, queries, length), own = stretch(all, splits, part);
    x += (size_t)n * length * d;
    dx += (size_t)n * length * d;
    ages += (size_t)n * days;
    for (int t = part; t < length; t += splits)
        if (t < all.x || t >= all.y)
            for (int j = id; j < d; j += GROUP)
                dx[(size_t)t * d + j] = beta == 0.0f ? 0.0f : beta * dx[(size_t)t * d + j];
    for (int r0 = 0; r0 < rows; r0 += chunk) {
        const int count = min(chunk, rows - r0), row = n * rows + r0;
        float sum_along = 0.0f;
        if (id / 16 < count)
            for (int j = id % 16; j < d; j += 16)
                sum_along += out[(row + id / 16) * d + j] * dout[(row + id / 16) * d + j];
        share[id] = sum_along;
        for (int i = id; i < chunk * lanes; i += GROUP) {
            const int from = (row + i / lanes) * d;
            asked[i] = i < count * lanes ? load4(u + from, i % lanes, d) : (float4)0.0f;
            back[i] = i < count * lanes ? load4(dout + from, i % lanes, d) : (float4)0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < ROWS) {
            const int own_row = r0 + min(id, count - 1), q = own_row / heads;
            const int from = max(limits[2 * q], 0), until = min(limits[2 * q + 1], length);
            first[id] = id < count ? from : 0;
            last[id] = id < count ? until : 0;
            level[id] = lse[n * rows + own_row];
            steep[id] = recency ? slope[own_row % heads] : 0.0f;
            now[id] = recency ? newest(ages, from, until) : 0.0f;
            float sum = 0.0f;
            for (int i = 0; i < 16; ++i) sum += share[16 * id + i];
            whole[id] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        float4 sum[ROWS];
        float dslope[4] = {0.0f};
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) sum[r] = 0.0f;
        for (int b = own.x; b < own.y; b += keys) {
            const int stop = min(keys, own.y - b);
            if (slice < slices)
                for (int t = slice; t < keys; t += slices)
                    tile[t * pitch + lane] =
                        t < stop ? load4(x + (size_t)(b + t) * d, lane, d) : (float4)0.0f;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (id < keys) {
                float s[2][4] = {{0.0f}}, dp[2][4] = {{0.0f}};
                for (int i = 0; i < lanes; ++i) {
                    const float4 a = tile[t0 * pitch + i], c = tile[t1 * pitch + i];
                    #pragma unroll
                    for (int r = 0; r < 4; ++r)
                        if (r1 + r < chunk) {
                            const float4 v = asked[(r1 + r) * lanes + i], w = back[(r1 + r) * lanes + i];
                            s[0][r] += dot4(v, a);
                            s[1][r] += dot4(v, c);
                            dp[0][r] += dot4(w, a);
                            dp[1][r] += dot4(w, c);
                        }
                }
                for (int k = 0; k < 2; ++k)
                    for (int r = 0; r < 4; ++r) {
                        const int t = t0 + k * pairs, i = r1 + r;
                        const bool sees = t < stop && b + t >= first[i] && b + t < last[i];
                        const float age = recency && sees ? ages[b + t] - now[i] : 0.0f;
                        const float e = sees ? exp(scale * s[k][r] - steep[i] * age - level[i]) : 0.0f;
                        const float ds = e * (dp[k][r] - whole[i]);
                        dslope[r] -= ds * age;
                        p[i * KEYS + t] = e;
                        g[i * KEYS + t] = scale * ds;
                    }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (slice < slices)
                for (int t = 4 * slice; t < keys; t += 4 * slices) {
                    float4 key[4], to[4];
                    #pragma unroll
                    for (int k = 0; k < 4; ++k) {
                        key[k] = tile[(t + k) * pitch + lane];
                        to[k] = 0.0f;
                    }
                    #pragma unroll
                    for (int r = 0; r < ROWS; ++r)
                        if (r < chunk) {
                            const float4 e = weight[(r * KEYS + t) / 4], f = slant[(r * KEYS + t) / 4];
                            const float4 v = asked[r * lanes + lane], w = back[r * lanes + lane];
                            to[0] += e.s0 * w + f.s0 * v;
                            to[1] += e.s1 * w + f.s1 * v;
                            to[2] += e.s2 * w + f.s2 * v;
                            to[3] += e.s3 * w + f.s3 * v;
                            sum[r] += f.s0 * key[0] + f.s1 * key[1] + f.s2 * key[2] + f.s3 * key[3];
                        }
                    #pragma unroll
                    for (int k = 0; k < 4; ++k)
                        if (t + k < stop)
                            add4(dx + (size_t)(b + t + k) * d, lane, d, to[k], r0 ? 1.0f : beta);
                }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (slice < slices)
            for (int r = 0; r < count; ++r) tile[(slice * chunk + r) * lanes + lane] = sum[r];
        if (id < keys)
            for (int r = 0; r < 4; ++r) p[(r1 + r) * KEYS + t0] = dslope[r];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < count) {
            float all_keys = 0.0f;
            for (int t = 0; t < pairs; ++t) all_keys += p[id * KEYS + t];
            slopes[at + r0 + id] = all_keys;
        }
        for (int i = id; i < count * lanes; i += GROUP) {
            float4 all_slices = tile[i];
            for (int k = 1; k < slices; ++k) all_slices += tile[k * chunk * lanes + i];
            add4(parts + (size_t)(at + r0 + i / lanes) * d, i % lanes, d, all_slices, 0.0f);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
