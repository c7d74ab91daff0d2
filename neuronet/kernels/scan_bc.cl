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

// --- GPU: a chunk as products of matrices -------------------------------------------------------------
//
//   dC[t] = sum over s <= t of (dy[t]·x[s]) decay[s+1] ... decay[t] delta[s] B[s]  +  decay[0] ... decay[t] h dy[t]
//   dB[s] = delta[s] (sum over t >= s of (x[s]·dy[t]) decay[s+1] ... decay[t] C[t]  +  decay[s+1] ... g x[s])
//
// with the state h in front of the chunk and the gradient g of that behind it: twice what scan_chunk.clh does.

#define ITEMS 128
#include "tile.clh"
#include "scan_chunk.clh"

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
    __local float4 weight[MATRIX], tiles[2 * TILE];
    __local float kept[CHUNK], scale[CHUNK], rest[CHUNK];
    const int id = get_local_id(0), i0 = CHUNK * get_group_id(0), columns = min(CHUNK, state - i0);
    const int chunk = get_group_id(1) / groups, group = get_group_id(1) % groups, n = get_group_id(2);
    const int row = n * length + chunk * CHUNK, steps = min(CHUNK, length - chunk * CHUNK);
    const int one = heads / groups, inner = heads * head_dim, aligned = (head_dim | state) % 4 == 0;
    for (int k = 0; k < 2 * one; ++k) {
        const int head = group * one + k / 2, of_b = k % 2;     // dB goes against the time, from the last step on
        const int first = of_b ? row + steps - 1 : row, on = of_b ? -1 : 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < CHUNK) {
            const int at = of_b ? first - id + 1 : first + id, known = id < steps && !(of_b && id == 0);
            kept[id] = known ? decay[at * heads + head] : 1.0f;
            scale[id] = of_b ? 1.0f : id < steps ? delta[at * heads + head] : 0.0f;
        }
        __global const float *x = xbc + first * channels + head * head_dim;
        __global const float *v = dy + first * inner + head * head_dim;
        __global const float *z = xbc + first * channels + inner + (of_b ? state : 0) + i0;
        __global const float *h = of_b ? dstates + heads * state * head_dim : states;
        h += (((n * boundaries + chunk) * heads + head) * state + i0) * head_dim;
        const int of_x = on * channels, of_v = on * inner;
        float4 sum[8];
        scan_chunk(of_b ? x : v, of_b ? of_x : of_v, of_b ? v : x, of_b ? of_v : of_x, z, of_x, h, head_dim, 1, steps,
                   head_dim, columns, aligned, 0.0f, kept, scale, rest, weight, tiles, sum);
        if (of_b)
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                const int t = row_of(ly_of(id), i);
                if (t < steps) sum[i] *= delta[(first - t) * heads + head];
            }
        __global float *to = parts + ((first * groups + group) * 2 + 1 - of_b) * state + i0;
        store_rows(sum, k > 1, to, on * groups * 2 * state, steps, columns, aligned);
    }
}
