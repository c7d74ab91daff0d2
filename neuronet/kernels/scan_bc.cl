// scan_bc.cl: gradients of B and C of a selective scan, from the states around its chunks.
//
//   h[t] = decay[t] h[t-1] + delta[t] B[t] x[t]'         dC[t] = sum over heads of h[t] dy[t]
//   g[t] = C[t] dy[t]' + decay[t+1] g[t+1]               dB[t] = sum over heads of delta[t] g[t] x[t]
//
// h is scanned again from the state in front of each chunk, g from the gradient behind it. Heads are summed
// in ``groups``, which a last kernel adds.
//
// Used by   ops/scan_bc.py            Checked against   reference/scan_bc.py
// Source    Dao & Gu, arXiv:2405.21060
// Overwrites parts, and the columns of B and C in dxbc.

#define CHUNK 64

// --- any device ----------------------------------------------------------------------------

// dB | dC of the heads of one group.
// grid: state, (boundaries - 1)*groups, batch
__kernel void ScanBCGradients(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *decay,    // [batch, length, heads]
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global const float *dstates,  // [batch, boundaries, heads, state, head_dim]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *parts,          // [batch, length, groups, both]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim, const int groups)
{
    const int i = get_global_id(0), chunk = get_global_id(1) / groups, group = get_global_id(1) % groups;
    const int n = get_global_id(2), first = chunk * CHUNK, last = min(first + CHUNK, length) - 1;
    const int one = heads / groups, boundary = heads * state * head_dim;
    for (int t = first; t <= last; ++t)
        for (int k = 0; k < 2; ++k)
            parts[(((n * length + t) * groups + group) * 2 + k) * state + i] = 0.0f;
    for (int head = group * one; head < (group + 1) * one; ++head)
        for (int p = 0; p < head_dim; ++p) {
            const int at = (((n * boundaries + chunk) * heads + head) * state + i) * head_dim + p;
            float h = states[at], g = dstates[at + boundary];
            for (int t = first; t <= last; ++t) {
                const int row = n * length + t;
                __global const float *x = xbc + row * channels, *b = x + heads * head_dim + i;
                const float u = delta[row * heads + head] * x[head * head_dim + p];
                h = decay[row * heads + head] * h + u * b[0];
                parts[((row * groups + group) * 2 + 1) * state + i] += dy[(row * heads + head) * head_dim + p] * h;
            }
            for (int t = last; t >= first; --t) {
                const int row = n * length + t;
                __global const float *x = xbc + row * channels, *c = x + heads * head_dim + state + i;
                g += c[0] * dy[(row * heads + head) * head_dim + p];
                parts[(row * groups + group) * 2 * state + i] +=
                    delta[row * heads + head] * x[head * head_dim + p] * g;
                g *= decay[row * heads + head];
            }
        }
}

// grid: both/8, length, batch
__kernel void ScanSumGroups(
    __global const float *parts,    // [batch, length, groups, both]
    __global float *dxbc,           // [batch, length, channels]
    const int length, const int groups, const int both, const int channels)
{
    const int k = 8 * get_global_id(0), row = get_global_id(2) * length + get_global_id(1), count = both - k;
    float8 sum = 0.0f;
    parts += row * groups * both + k;
    for (int group = 0; group < groups; ++group)
        sum += load8(parts + group * both, count);
    store8(sum, dxbc + (row + 1) * channels - both + k, count);
}

// --- CPU: 8 states in the lanes, 8 x 8 values of h or g in registers -------------------------------

// group: 1, 1, 1
// grid: state/8, (boundaries - 1)*groups, batch
__kernel void ScanBCGradientsCPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *decay,    // [batch, length, heads]
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global const float *dstates,  // [batch, boundaries, heads, state, head_dim]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *parts,          // [batch, length, groups, both]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim, const int groups)
{
    const int i0 = 8 * get_global_id(0), chunk = get_global_id(1) / groups, group = get_global_id(1) % groups;
    const int n = get_global_id(2), row = n * length + chunk * CHUNK, count = state - i0;
    const int steps = min(CHUNK, length - chunk * CHUNK), one = heads / groups;
    float8 db[CHUNK], dc[CHUNK], b[CHUNK], c[CHUNK];
    xbc += row * channels;
    for (int t = 0; t < steps; ++t) {
        __global const float *from = xbc + t * channels + heads * head_dim + i0;
        b[t] = load8(from, count);
        c[t] = load8(from + state, count);
        db[t] = dc[t] = 0.0f;
    }
    for (int head = group * one; head < (group + 1) * one; ++head) {
        __global const float *step = delta + row * heads + head, *kept = decay + row * heads + head;
        const int boundary = heads * state * head_dim;
        const int from = (((n * boundaries + chunk) * heads + head) * state + i0) * head_dim;
        for (int p0 = 0; p0 < head_dim; p0 += 8) {
            const int columns = head_dim - p0;
            float8 s[8], x[CHUNK], v[CHUNK];
            for (int t = 0; t < steps; ++t) {
                x[t] = step[t * heads] * load8(xbc + t * channels + head * head_dim + p0, columns);
                v[t] = load8(dy + ((row + t) * heads + head) * head_dim + p0, columns);
            }
            #pragma unroll
            for (int p = 0; p < 8; ++p)
                s[p] = gather8(states + from + p0 + p, head_dim, p < columns ? count : 0);
            for (int t = 0; t < steps; ++t) {
                const float *xt = (const float *)&x[t], *vt = (const float *)&v[t];
                const float a = kept[t * heads];
                float8 even = 0.0f, odd = 0.0f;
                #pragma unroll
                for (int p = 0; p < 8; p += 2) {
                    s[p] = a * s[p] + xt[p] * b[t];
                    s[p + 1] = a * s[p + 1] + xt[p + 1] * b[t];
                    even += vt[p] * s[p];
                    odd += vt[p + 1] * s[p + 1];
                }
                dc[t] += even + odd;
            }
            #pragma unroll
            for (int p = 0; p < 8; ++p)
                s[p] = gather8(dstates + from + boundary + p0 + p, head_dim, p < columns ? count : 0);
            for (int t = steps - 1; t >= 0; --t) {
                const float *xt = (const float *)&x[t], *vt = (const float *)&v[t];
                const float a = t + 1 < steps ? kept[(t + 1) * heads] : 1.0f;
                float8 even = 0.0f, odd = 0.0f;
                #pragma unroll
                for (int p = 0; p < 8; p += 2) {
                    s[p] = a * s[p] + vt[p] * c[t];
                    s[p + 1] = a * s[p + 1] + vt[p + 1] * c[t];
                    even += xt[p] * s[p];
                    odd += xt[p + 1] * s[p + 1];
                }
                db[t] += even + odd;
            }
        }
    }
    parts += (row * groups + group) * 2 * state + i0;
    for (int t = 0; t < steps; ++t) {
        store8(db[t], parts + t * groups * 2 * state, count);
        store8(dc[t], parts + (t * groups * 2 + 1) * state, count);
    }
}

// --- GPU: products of matrices of 64 x 64 -----------------------------------------------------------
//
//   dC[t] = sum over s <= t of kept[s][t] B[s] + before[t] h dy[t]      h: the state in front of the chunk
//   dB[s] = sum over t >= s of kept[s][t] C[t] + behind[s] g x[s]       g: the gradient of that behind it
//
// with kept of dy[t]·x[s]: how much of step s the output of step t has, for the sake of its gradient.

#include "scan_product.clh"

// Row r of sum to to[first + ROW(r) * pitch], added where ``more``; ``aligned``: each row begins at a float4.
// Unsigned, because a compiler would otherwise keep eight addresses in registers all the time.
INLINE void put_sums(const float4 *sum, const int more, const int aligned, __global float *to,
                     const uint first, const uint pitch, const int rows, const int columns)
{
    const int left = columns - 4 * COLUMN4;
    #pragma unroll
    for (int r = 0; r < 8; ++r) {
        if (ROW(r) >= rows || left <= 0) continue;
        __global float *at = to + (first + ROW(r) * pitch + 4 * COLUMN4);
        if (aligned) {
            __global float4 *at4 = (__global float4 *)at;
            *at4 = more ? *at4 + sum[r] : sum[r];
        } else {
            at[0] = more ? at[0] + sum[r].x : sum[r].x;
            if (left > 1) at[1] = more ? at[1] + sum[r].y : sum[r].y;
            if (left > 2) at[2] = more ? at[2] + sum[r].z : sum[r].z;
            if (left > 3) at[3] = more ? at[3] + sum[r].w : sum[r].w;
        }
    }
}

// A work-group has a chunk of a group and 64 states.
// group: 128, 1, 1
// grid: state/64*128, (boundaries - 1)*groups, batch
__kernel void ScanBCGradientsGPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *decay,    // [batch, length, heads]
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global const float *dstates,  // [batch, boundaries, heads, state, head_dim]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *parts,          // [batch, length, groups, both]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim, const int groups)
{
    __local float4 kept[CHUNK * PITCH], tiles[2 * TILE];
    __local float step[CHUNK], keep[CHUNK], weight[2 * CHUNK];     // of what is behind, and in front
    const int i0 = CHUNK * get_group_id(0), columns = min(CHUNK, state - i0);
    const int piece = get_group_id(1), chunk = piece / groups, group = piece % groups, n = get_group_id(2);
    const int row = n * length + chunk * CHUNK, steps = min(CHUNK, length - chunk * CHUNK);
    const int one = heads / groups, inner = heads * head_dim, aligned = head_dim % 4 == 0 && state % 4 == 0;
    xbc += row * channels;
    for (int head = group * one; head < (group + 1) * one; ++head) {
        __global const float *x = xbc + head * head_dim, *v = dy + row * inner + head * head_dim;
        const int at = ((n * boundaries + chunk) * heads + head) * state * head_dim, end = at + state * inner;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LANE < CHUNK) {
            step[LANE] = LANE < steps ? delta[(row + LANE) * heads + head] : 0.0f;
            keep[LANE] = LANE < steps ? decay[(row + LANE) * heads + head] : 1.0f;
        }
        float4 dots[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
        add_product(x, channels, steps, v, inner, steps, head_dim, aligned, tiles, dots);
        #pragma unroll
        for (int r = 0; r < 8; ++r)
            kept[ROW(r) * PITCH + COLUMN4] = dots[r];
        barrier(CLK_LOCAL_MEM_FENCE);
        weigh(step, keep, kept, weight + CHUNK, weight);
        #pragma unroll 1
        for (int of_c = 0; of_c < 2; ++of_c) {
            __global const float *from = (of_c ? states + at : dstates + end) + i0 * head_dim;
            __global const float *with = xbc + inner + (of_c ? 0 : state) + i0;
            float4 sum[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
            add_product(of_c ? v : x, of_c ? inner : channels, steps, from, head_dim, columns, head_dim,
                        aligned, tiles, sum);
            #pragma unroll
            for (int r = 0; r < 8; ++r)
                sum[r] *= weight[of_c * CHUNK + ROW(r)];
            add_kept(kept, !of_c, with, channels, columns, steps, aligned, tiles, sum);
            put_sums(sum, head > group * one, aligned, parts,
                     ((row * groups + group) * 2 + of_c) * state + i0, groups * 2 * state, steps, columns);
        }
    }
}
