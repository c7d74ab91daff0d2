// scan_states.cl: the states of a selective scan in front of every chunk of 64 steps, and their gradients.
//
//   h[t] = decay[t] h[t-1] + delta[t] B[t] x[t]'            g[t] = C[t] dy[t]' + decay[t+1] g[t+1]
//
// for each head, h and g [state, head_dim]; B and C serve all heads. A row of xbc is x (heads * head_dim) |
// B (state) | C (state). All chunks start from 0 at once; carrying then adds what crosses their boundaries.
// Entry k of states is h in front of chunk k, and entry k of dstates its gradient.
//
// Used by   ops/scan_states.py        Checked against   reference/scan_states.py
// Source    Dao & Gu, arXiv:2405.21060. NeuroNet's CNeuronSSMOCL has no scan (errata F19).
// Overwrites all outputs; the carrying kernels complete what the chunk kernels began.

#define CHUNK 64
#define TINY 1e-30f     // a decay below it is 0: subnormal numbers make a CPU 4 times slower

// --- any device ----------------------------------------------------------------------------

// What the steps of a chunk leave in the state at its end, and the decay of the whole chunk.
// grid: head_dim, state, chunks*heads*batch
__kernel void ScanChunkStates(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *decay,    // [batch, length, heads]
    __global float *states,         // [batch, boundaries, heads, state, head_dim]
    __global float *span,           // [batch, chunks, heads]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim, const int chunks)
{
    const int p = get_global_id(0), i = get_global_id(1), head = get_global_id(2) % heads;
    const int chunk = get_global_id(2) / heads % chunks, n = get_global_id(2) / (heads * chunks);
    const int first = chunk * CHUNK, last = min(first + CHUNK, length) - 1;
    float sum = 0.0f, weight = 1.0f;                // of step t in the state at the end
    for (int t = last; t >= first; --t) {
        const int row = n * length + t;
        __global const float *x = xbc + row * channels, *b = x + heads * head_dim;
        sum += weight * delta[row * heads + head] * x[head * head_dim + p] * b[i];
        weight *= decay[row * heads + head];
        if (weight < TINY) weight = 0.0f;
    }
    states[(((n * boundaries + chunk + 1) * heads + head) * state + i) * head_dim + p] = sum;
    if (p == 0 && i == 0) span[(n * chunks + chunk) * heads + head] = weight;
}

// grid: cells/8, heads, batch
__kernel void ScanCarry(
    __global const float *initial,  // [batch, heads, cells]
    __global const float *span,     // [batch, chunks, heads]
    __global float *states,         // [batch, boundaries, heads, cells]
    const int heads, const int cells, const int chunks, const int boundaries)
{
    const int i = 8 * get_global_id(0), head = get_global_id(1), n = get_global_id(2), count = cells - i;
    float8 h = load8(initial + (n * heads + head) * cells + i, count);
    states += (n * boundaries * heads + head) * cells + i;
    store8(h, states, count);
    for (int chunk = 0; chunk < chunks; ++chunk) {
        states += heads * cells;
        h = load8(states, count) + span[(n * chunks + chunk) * heads + head] * h;
        store8(h, states, count);
    }
}

// The state behind the last step.
// grid: head_dim, heads*state, batch
__kernel void ScanFinal(
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global float *final,          // [batch, heads, state, head_dim]
    const int boundaries, const int heads, const int state, const int head_dim)
{
    const int size = heads * state * head_dim, at = get_global_id(1) * head_dim + get_global_id(0);
    const int n = get_global_id(2);
    final[n * size + at] = states[((n + 1) * boundaries - 1) * size + at];
}

// What the steps of a chunk give to the gradient of the state in front of it; the last entry is 0.
// grid: head_dim, state, boundaries*heads*batch
__kernel void ScanChunkGradients(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *decay,    // [batch, length, heads]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *dstates,        // [batch, boundaries, heads, state, head_dim]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim)
{
    const int p = get_global_id(0), i = get_global_id(1), head = get_global_id(2) % heads;
    const int chunk = get_global_id(2) / heads % boundaries, n = get_global_id(2) / (heads * boundaries);
    const int first = chunk * CHUNK, last = min(first + CHUNK, length) - 1;
    float sum = 0.0f, weight = 1.0f;
    for (int t = first; t <= last; ++t) {
        const int row = n * length + t;
        weight *= decay[row * heads + head];
        if (weight < TINY) break;
        const float c = xbc[row * channels + heads * head_dim + state + i];
        sum += weight * dy[(row * heads + head) * head_dim + p] * c;
    }
    dstates[(((n * boundaries + chunk) * heads + head) * state + i) * head_dim + p] = sum;
}

// grid: cells/8, heads, batch
__kernel void ScanCarryBack(
    __global const float *span,     // [batch, chunks, heads]
    __global float *dstates,        // [batch, boundaries, heads, cells]
    const int heads, const int cells, const int chunks, const int boundaries)
{
    const int i = 8 * get_global_id(0), head = get_global_id(1), n = get_global_id(2), count = cells - i;
    float8 g = 0.0f;
    dstates += ((n * boundaries + chunks) * heads + head) * cells + i;
    for (int chunk = chunks - 1; chunk >= 0; --chunk) {
        dstates -= heads * cells;
        g = load8(dstates, count) + span[(n * chunks + chunk) * heads + head] * g;
        store8(g, dstates, count);
    }
}

// --- CPU: 8 channels in the lanes, 8 x 8 values in registers ----------------------------------------

// group: 1, 1, 1
// grid: head_dim/8, chunks*heads, batch
__kernel void ScanChunkStatesCPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *decay,    // [batch, length, heads]
    __global float *states,         // [batch, boundaries, heads, state, head_dim]
    __global float *span,           // [batch, chunks, heads]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim, const int chunks)
{
    const int p = 8 * get_global_id(0), chunk = get_global_id(1) / heads, head = get_global_id(1) % heads;
    const int n = get_global_id(2), first = chunk * CHUNK, steps = min(CHUNK, length - first);
    const int columns = head_dim - p;
    float8 u[CHUNK];
    float weight = 1.0f;
    xbc += (n * length + first) * channels;
    for (int t = steps - 1; t >= 0; --t) {
        const int at = (n * length + first + t) * heads + head;
        u[t] = weight * delta[at] * load8(xbc + t * channels + head * head_dim + p, columns);
        weight *= decay[at];
        if (weight < TINY) weight = 0.0f;
    }
    if (p == 0) span[(n * chunks + chunk) * heads + head] = weight;
    states += ((n * boundaries + chunk + 1) * heads + head) * state * head_dim + p;
    for (int i0 = 0; i0 < state; i0 += 8) {
        const int count = min(8, state - i0);
        float8 sum[8], b[CHUNK];
        for (int t = 0; t < steps; ++t)
            b[t] = load8(xbc + t * channels + heads * head_dim + i0, count);
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            sum[i] = 0.0f;
        for (int t = 0; t < steps; ++t) {
            const float *bt = (const float *)&b[t];
            #pragma unroll
            for (int i = 0; i < 8; ++i)
                sum[i] += bt[i] * u[t];
        }
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            if (i < count) store8(sum[i], states + (i0 + i) * head_dim, columns);
    }
}

// group: 1, 1, 1
// grid: head_dim/8, boundaries*heads, batch
__kernel void ScanChunkGradientsCPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *decay,    // [batch, length, heads]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *dstates,        // [batch, boundaries, heads, state, head_dim]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim)
{
    const int p = 8 * get_global_id(0), chunk = get_global_id(1) / heads, head = get_global_id(1) % heads;
    const int n = get_global_id(2), row = n * length + chunk * CHUNK;
    const int steps = min(CHUNK, length - chunk * CHUNK), columns = head_dim - p;
    float8 u[CHUNK];
    float weight = 1.0f;
    for (int t = 0; t < steps; ++t) {
        const int at = (row + t) * heads + head;
        weight *= decay[at];
        if (weight < TINY) weight = 0.0f;
        u[t] = weight * load8(dy + at * head_dim + p, columns);
    }
    xbc += row * channels + heads * head_dim + state;
    dstates += ((n * boundaries + chunk) * heads + head) * state * head_dim + p;
    for (int i0 = 0; i0 < state; i0 += 8) {
        const int count = min(8, state - i0);
        float8 sum[8], c[CHUNK];
        for (int t = 0; t < steps; ++t)
            c[t] = load8(xbc + t * channels + i0, count);
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            sum[i] = 0.0f;
        for (int t = 0; t < steps; ++t) {
            const float *ct = (const float *)&c[t];
            #pragma unroll
            for (int i = 0; i < 8; ++i)
                sum[i] += ct[i] * u[t];
        }
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            if (i < count) store8(sum[i], dstates + (i0 + i) * head_dim, columns);
    }
}

// --- GPU: 16 states of a channel, each work-item's, in registers; B or C in local memory ----------------

#define LANES 64
#define BLOCK 16

// tile[t][i] = column i of `count` at row t of `steps`, 0 behind; by all work-items of a group
static void load_tile(__local float *tile, const __global float *from, const int stride, const int steps,
                      const int count)
{
    for (int k = get_local_id(0); k < CHUNK * BLOCK; k += LANES) {
        const int t = k / BLOCK, i = k % BLOCK;
        tile[k] = t < steps && i < count ? from[t * stride + i] : 0.0f;
    }
}

// group: 64, 1, 1
// grid: head_dim, state/16, chunks*heads*batch
__kernel void ScanChunkStatesGPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *decay,    // [batch, length, heads]
    __global float *states,         // [batch, boundaries, heads, state, head_dim]
    __global float *span,           // [batch, chunks, heads]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim, const int chunks)
{
    __local float b[CHUNK * BLOCK];
    const int p = get_global_id(0), i0 = BLOCK * get_global_id(1), head = get_global_id(2) % heads;
    const int chunk = get_global_id(2) / heads % chunks, n = get_global_id(2) / (heads * chunks);
    const int row = n * length + chunk * CHUNK, steps = min(CHUNK, length - chunk * CHUNK);
    const int count = min(BLOCK, state - i0);
    load_tile(b, xbc + row * channels + heads * head_dim + i0, channels, steps, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (p >= head_dim) return;
    xbc += row * channels + head * head_dim + p;
    float sum[BLOCK], weight = 1.0f;
    #pragma unroll
    for (int i = 0; i < BLOCK; ++i)
        sum[i] = 0.0f;
    for (int t = steps - 1; t >= 0; --t) {
        const int at = (row + t) * heads + head;
        const float u = weight * delta[at] * xbc[t * channels];
        weight *= decay[at];
        if (weight < TINY) weight = 0.0f;
        #pragma unroll
        for (int i = 0; i < BLOCK; ++i)
            sum[i] += u * b[t * BLOCK + i];
    }
    states += (((n * boundaries + chunk + 1) * heads + head) * state + i0) * head_dim + p;
    #pragma unroll
    for (int i = 0; i < BLOCK; ++i)
        if (i < count) states[i * head_dim] = sum[i];
    if (p == 0 && i0 == 0) span[(n * chunks + chunk) * heads + head] = weight;
}

// group: 64, 1, 1
// grid: head_dim, state/16, boundaries*heads*batch
__kernel void ScanChunkGradientsGPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *decay,    // [batch, length, heads]
    __global const float *dy,       // [batch, length, heads, head_dim]
    __global float *dstates,        // [batch, boundaries, heads, state, head_dim]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim)
{
    __local float c[CHUNK * BLOCK];
    const int p = get_global_id(0), i0 = BLOCK * get_global_id(1), head = get_global_id(2) % heads;
    const int chunk = get_global_id(2) / heads % boundaries, n = get_global_id(2) / (heads * boundaries);
    const int row = n * length + chunk * CHUNK, steps = min(CHUNK, length - chunk * CHUNK);
    const int count = min(BLOCK, state - i0);
    load_tile(c, xbc + row * channels + heads * head_dim + state + i0, channels, steps, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (p >= head_dim) return;
    float sum[BLOCK], weight = 1.0f;
    #pragma unroll
    for (int i = 0; i < BLOCK; ++i)
        sum[i] = 0.0f;
    for (int t = 0; t < steps; ++t) {
        const int at = (row + t) * heads + head;
        weight *= decay[at];
        if (weight < TINY) break;
        const float u = weight * dy[at * head_dim + p];
        #pragma unroll
        for (int i = 0; i < BLOCK; ++i)
            sum[i] += u * c[t * BLOCK + i];
    }
    dstates += (((n * boundaries + chunk) * heads + head) * state + i0) * head_dim + p;
    #pragma unroll
    for (int i = 0; i < BLOCK; ++i)
        if (i < count) dstates[i * head_dim] = sum[i];
}
