// scan_gradient.cl: gradients of a selective scan's inputs and steps, from the states around its chunks.
//
//   g[t] = C[t] dy[t]' + decay[t+1] g[t+1]               dx[t] = delta[t] g[t]' B[t] + d dy[t]
//   q[t] = q[t+1] + dy[t] (y[t] - d x[t]) - delta[t] x[t] g[t]' B[t]         = decay[t] <g[t], h[t-1]>
//   ddelta[t] = a q[t] + x[t] g[t]' B[t]                 da = sum of delta q
//
// So neither h nor its product with g is needed inside a chunk: q is a running sum from <g, h> at its end.
//
// Used by   ops/scan_gradient.py      Checked against   reference/scan_gradient.py
// Source    Dao & Gu, arXiv:2405.21060
// Overwrites the parts, of dxbc the columns of x, and of drows the last heads columns with ddelta.

#define CHUNK 64

// --- any device ----------------------------------------------------------------------------

// g' B into the columns of x in dxbc, from where ScanStepGradients makes dx.
// grid: head_dim, (boundaries - 1)*heads, batch
__kernel void ScanInputGradients(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *decay,    // [batch, length, heads]
    __global const float *dstates,  // [batch, boundaries, heads, state, head_dim]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *dxbc,           // [batch, length, channels]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim)
{
    const int p = get_global_id(0), chunk = get_global_id(1) / heads, head = get_global_id(1) % heads;
    const int n = get_global_id(2), first = chunk * CHUNK, last = min(first + CHUNK, length) - 1;
    xbc += n * length * channels + heads * head_dim;
    dxbc += n * length * channels + head * head_dim + p;
    for (int t = first; t <= last; ++t)
        dxbc[t * channels] = 0.0f;
    for (int i = 0; i < state; ++i) {
        float g = dstates[(((n * boundaries + chunk + 1) * heads + head) * state + i) * head_dim + p];
        for (int t = last; t >= first; --t) {
            const int at = (n * length + t) * heads + head;
            __global const float *b = xbc + t * channels + i, *c = b + state;
            g += c[0] * dy[at * head_dim + p];
            dxbc[t * channels] += b[0] * g;
            g *= decay[at];
        }
    }
}

// grid: (boundaries - 1)*heads, batch
__kernel void ScanStepGradients(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *a_log,    // [heads]
    __global const float *d,        // [heads]
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global const float *dstates,  // [batch, boundaries, heads, state, head_dim]
    __global const float *y,        // [batch, length, heads, head_dim]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *dxbc,           // [batch, length, channels]
    __global float *drows,          // [batch, length, width]
    __global float *a_parts,        // [batch, chunks, heads]
    __global float *d_parts,        // [batch, chunks, heads]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim, const int width, const int chunks)
{
    const int chunk = get_global_id(0) / heads, head = get_global_id(0) % heads, n = get_global_id(1);
    const int first = chunk * CHUNK, last = min(first + CHUNK, length) - 1, size = state * head_dim;
    const float a = -exp(a_log[head]);
    states += ((n * boundaries + chunk + 1) * heads + head) * size;
    dstates += ((n * boundaries + chunk + 1) * heads + head) * size;
    float q = 0.0f, da = 0.0f, dd = 0.0f;
    for (int k = 0; k < size; ++k)
        q += states[k] * dstates[k];
    for (int t = last; t >= first; --t) {
        const int row = n * length + t, at = (row * heads + head) * head_dim;
        const int at_x = row * channels + head * head_dim;
        const float step = delta[row * heads + head];
        float xgb = 0.0f, dyy = 0.0f, dyx = 0.0f;
        for (int p = 0; p < head_dim; ++p) {
            const float x = xbc[at_x + p], gb = dxbc[at_x + p];
            xgb += x * gb;
            dyy += dy[at + p] * y[at + p];
            dyx += dy[at + p] * x;
            dxbc[at_x + p] = step * gb + d[head] * dy[at + p];
        }
        q += dyy - d[head] * dyx - step * xgb;
        da += step * q;
        dd += dyx;
        drows[(row + 1) * width - heads + head] = a * q + xgb;
    }
    a_parts[(n * chunks + chunk) * heads + head] = a * da;      // of a_log
    d_parts[(n * chunks + chunk) * heads + head] = dd;
}

// --- CPU: 8 channels in the lanes, 8 x 8 values in registers ----------------------------------------

// group: 1, 1, 1
// grid: head_dim/8, (boundaries - 1)*heads, batch
__kernel void ScanInputGradientsCPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *decay,    // [batch, length, heads]
    __global const float *dstates,  // [batch, boundaries, heads, state, head_dim]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *dxbc,           // [batch, length, channels]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim)
{
    const int p = 8 * get_global_id(0), chunk = get_global_id(1) / heads, head = get_global_id(1) % heads;
    const int n = get_global_id(2), row = n * length + chunk * CHUNK;
    const int steps = min(CHUNK, length - chunk * CHUNK), columns = head_dim - p;
    float8 v[CHUNK], sum[CHUNK];
    float a[CHUNK + 1];                              // a[t] is the decay from t - 1 to t
    for (int t = 0; t < steps; ++t) {
        const int at = (row + t) * heads + head;
        a[t] = decay[at];
        v[t] = load8(dy + at * head_dim + p, columns);
        sum[t] = 0.0f;
    }
    a[steps] = 1.0f;
    xbc += row * channels + heads * head_dim;
    dstates += ((n * boundaries + chunk + 1) * heads + head) * state * head_dim + p;
    for (int i0 = 0; i0 < state; i0 += 8) {
        const int count = min(8, state - i0);
        float8 g[8], b[CHUNK], c[CHUNK];
        for (int t = 0; t < steps; ++t) {
            b[t] = load8(xbc + t * channels + i0, count);
            c[t] = load8(xbc + t * channels + state + i0, count);
        }
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            g[i] = load8(dstates + (i0 + i) * head_dim, i < count ? columns : 0);
        for (int t = steps - 1; t >= 0; --t) {
            const float *bt = (const float *)&b[t], *ct = (const float *)&c[t];
            float8 even = 0.0f, odd = 0.0f;
            #pragma unroll
            for (int i = 0; i < 8; i += 2) {
                g[i] = a[t + 1] * g[i] + ct[i] * v[t];
                g[i + 1] = a[t + 1] * g[i + 1] + ct[i + 1] * v[t];
                even += bt[i] * g[i];
                odd += bt[i + 1] * g[i + 1];
            }
            sum[t] += even + odd;
        }
    }
    dxbc += row * channels + head * head_dim + p;
    for (int t = 0; t < steps; ++t)
        store8(sum[t], dxbc + t * channels, columns);
}

// group: 1, 1
// grid: (boundaries - 1)*heads, batch
__kernel void ScanStepGradientsCPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *a_log,    // [heads]
    __global const float *d,        // [heads]
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global const float *dstates,  // [batch, boundaries, heads, state, head_dim]
    __global const float *y,        // [batch, length, heads, head_dim]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *dxbc,           // [batch, length, channels]
    __global float *drows,          // [batch, length, width]
    __global float *a_parts,        // [batch, chunks, heads]
    __global float *d_parts,        // [batch, chunks, heads]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim, const int width, const int chunks)
{
    const int chunk = get_global_id(0) / heads, head = get_global_id(0) % heads, n = get_global_id(1);
    const int first = chunk * CHUNK, last = min(first + CHUNK, length) - 1, size = state * head_dim;
    const float a = -exp(a_log[head]);
    states += ((n * boundaries + chunk + 1) * heads + head) * size;
    dstates += ((n * boundaries + chunk + 1) * heads + head) * size;
    float8 ends = 0.0f;
    for (int k = 0; k < size; k += 8)
        ends += load8(states + k, size - k) * load8(dstates + k, size - k);
    float q = sum8(ends), da = 0.0f, dd = 0.0f;
    for (int t = last; t >= first; --t) {
        const int row = n * length + t, at = (row * heads + head) * head_dim;
        const int at_x = row * channels + head * head_dim;
        const float step = delta[row * heads + head];
        float8 xgb = 0.0f, dyy = 0.0f, dyx = 0.0f;
        for (int p = 0; p < head_dim; p += 8) {
            const int count = head_dim - p;
            const float8 x = load8(xbc + at_x + p, count), gb = load8(dxbc + at_x + p, count);
            const float8 dyp = load8(dy + at + p, count);
            xgb += x * gb;
            dyy += dyp * load8(y + at + p, count);
            dyx += dyp * x;
            store8(step * gb + d[head] * dyp, dxbc + at_x + p, count);
        }
        const float from_x = sum8(xgb), of_d = sum8(dyx);
        q += sum8(dyy) - d[head] * of_d - step * from_x;
        da += step * q;
        dd += of_d;
        drows[(row + 1) * width - heads + head] = a * q + from_x;
    }
    a_parts[(n * chunks + chunk) * heads + head] = a * da;
    d_parts[(n * chunks + chunk) * heads + head] = dd;
}

// --- GPU: a chunk as products of matrices -------------------------------------------------------------

#define ITEMS 128
#include "tile.clh"
#include "scan_chunk.clh"

// Against the time: row 0 is the last step.
// group: 128, 1, 1
// grid: head_dim/64*128, (boundaries - 1)*heads, batch
__kernel void ScanInputGradientsGPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *decay,    // [batch, length, heads]
    __global const float *dstates,  // [batch, boundaries, heads, state, head_dim]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *dxbc,           // [batch, length, channels]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim)
{
    __local float4 weight[MATRIX], tiles[2 * TILE];
    __local float kept[CHUNK], scale[CHUNK], rest[CHUNK];
    const int id = get_local_id(0), p0 = CHUNK * get_group_id(0), columns = min(CHUNK, head_dim - p0);
    const int chunk = get_global_id(1) / heads, head = get_global_id(1) % heads, n = get_global_id(2);
    const int steps = min(CHUNK, length - chunk * CHUNK), last = n * length + chunk * CHUNK + steps - 1;
    if (id < CHUNK) {
        kept[id] = 0 < id && id < steps ? decay[(last - id + 1) * heads + head] : 1.0f;
        scale[id] = 1.0f;
    }
    dstates += ((n * boundaries + chunk + 1) * heads + head) * state * head_dim + p0;
    __global const float *b = xbc + last * channels + heads * head_dim;
    const int aligned = (head_dim | state) % 4 == 0;
    float4 sum[8];
    scan_chunk(b, -channels, b + state, -channels, dy + (last * heads + head) * head_dim + p0, -heads * head_dim,
               dstates, head_dim, 0, steps, state, columns, aligned, 0.0f, kept, scale, rest, weight, tiles, sum);
    store_rows(sum, 0, dxbc + last * channels + head * head_dim + p0, -channels, steps, columns, aligned);
}

#define GROUP 256
#define SHARE 16                    // work-items that add up a step together

// 16 steps at once, until a work-item has one step of the chunk.
// group: 256, 1
// grid: (boundaries - 1)*heads*256, batch
__kernel void ScanStepGradientsGPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *a_log,    // [heads]
    __global const float *d,        // [heads]
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global const float *dstates,  // [batch, boundaries, heads, state, head_dim]
    __global const float *y,        // [batch, length, heads, head_dim]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *dxbc,           // [batch, length, channels]
    __global float *drows,          // [batch, length, width]
    __global float *a_parts,        // [batch, chunks, heads]
    __global float *d_parts,        // [batch, chunks, heads]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim, const int width, const int chunks)
{
    __local float of_x[CHUNK * (SHARE + 1)], of_y[CHUNK * (SHARE + 1)], of_d[CHUNK * (SHARE + 1)];
    __local float ends[GROUP], part[CHUNK], change[CHUNK], d_part[CHUNK];
    const int chunk = get_group_id(0) / heads, head = get_group_id(0) % heads, n = get_global_id(1);
    const int id = get_local_id(0), steps = min(CHUNK, length - chunk * CHUNK), size = state * head_dim;
    const int first = n * length + chunk * CHUNK, end = ((n * boundaries + chunk + 1) * heads + head) * size;
    const float a = -exp(a_log[head]);
    float sum = 0.0f;
    for (int k = id; k < size; k += GROUP)
        sum += states[end + k] * dstates[end + k];
    ends[id] = sum;
    for (int t = id / SHARE; t < steps; t += GROUP / SHARE) {
        const int row = first + t, at = (row * heads + head) * head_dim, at_x = row * channels + head * head_dim;
        const float step = delta[row * heads + head];
        float xgb = 0.0f, dyy = 0.0f, dyx = 0.0f;
        for (int p = id % SHARE; p < head_dim; p += SHARE) {
            const float x = xbc[at_x + p], gb = dxbc[at_x + p], v = dy[at + p];
            xgb += x * gb;
            dyy += v * y[at + p];
            dyx += v * x;
            dxbc[at_x + p] = step * gb + d[head] * v;
        }
        const int to = t * (SHARE + 1) + id % SHARE;
        of_x[to] = xgb;
        of_y[to] = dyy;
        of_d[to] = dyx;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float xgb = 0.0f, step = 0.0f;
    if (id < CHUNK) {
        float dyy = 0.0f, dyx = 0.0f;
        if (id < steps) {
            step = delta[(first + id) * heads + head];
            for (int k = 0; k < SHARE; ++k) {
                xgb += of_x[id * (SHARE + 1) + k];
                dyy += of_y[id * (SHARE + 1) + k];
                dyx += of_d[id * (SHARE + 1) + k];
            }
        }
        part[id] = (ends[id] + ends[id + CHUNK]) + (ends[id + 2 * CHUNK] + ends[id + 3 * CHUNK]);
        change[id] = dyy - d[head] * dyx - step * xgb;
        d_part[id] = dyx;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float q = 0.0f;
    if (id < steps) {
        for (int k = 0; k < CHUNK; ++k)
            q += part[k];
        for (int k = CHUNK - 1; k >= id; --k)
            q += change[k];
        drows[(first + id + 1) * width - heads + head] = a * q + xgb;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < CHUNK) part[id] = step * q;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        float da = 0.0f, dd = 0.0f;
        for (int k = 0; k < CHUNK; ++k) {
            da += part[k];
            dd += d_part[k];
        }
        a_parts[(n * chunks + chunk) * heads + head] = a * da;
        d_parts[(n * chunks + chunk) * heads + head] = dd;
    }
}
