// gated_norm.cl: values times a gate, each unit divided by its root mean square.
//
//   u[r,k] = x[r,k] silu(z[r,k])      scale[r] = 1 / sqrt(mean over k of u^2 + eps)      y = w u scale
//
// Rows r are all units of all samples; z are the first ``window`` columns of wider rows.
//
// Used by   ops/gated_norm.py         Checked against   reference/gated_norm.py
// Source    Zhang & Sennrich, arXiv:1910.07467; in front of the out-projection as in Dao & Gu, arXiv:2405.21060.
//           NeuroNet's CNeuronMambaOCL concatenates a sigmoid gate instead (errata F20).
// Overwrites scale, y, dx, parts, and the columns of z in drows.

#define LANES 64    // work-items that share a row on a GPU

// --- any device ----------------------------------------------------------------------------

// grid: count
__kernel void GatedNorm(
    __global const float *x,        // [count, window]
    __global const float *rows,     // [count, width]
    __global const float *w,        // [window]
    __global float *scale,          // [count]
    __global float *y,              // [count, window]
    const int window, const int width, const float eps)
{
    const int r = get_global_id(0);
    x += r * window;
    rows += r * width;
    y += r * window;
    float squares = 0.0f;
    for (int k = 0; k < window; ++k) {
        const float u = x[k] * activate(rows[k], ACT_SILU);
        squares += u * u;
        y[k] = u;
    }
    const float s = 1.0f / sqrt(squares / window + eps);
    scale[r] = s;
    for (int k = 0; k < window; ++k)
        y[k] = w[k] * (y[k] * s);
}

// du = scale (w dy - u scale^2 mean(w dy u)), from there dx and dz; parts sum dy u scale over equal stretches.
// grid: chunks
__kernel void GatedNormGradient(
    __global const float *x,        // [count, window]
    __global const float *rows,     // [count, width]
    __global const float *w,        // [window]
    __global const float *scale,    // [count]
    __global const float *dy,       // [count, window]
    __global float *dx,             // [count, window]
    __global float *drows,          // [count, width]
    __global float *parts,          // [chunks, window]
    const int count, const int window, const int width, const int chunks)
{
    const int length = (count + chunks - 1) / chunks, first = get_global_id(0) * length;
    const int last = min(count, first + length);
    parts += get_global_id(0) * window;
    for (int k = 0; k < window; ++k)
        parts[k] = 0.0f;
    for (int r = first; r < last; ++r) {
        const float s = scale[r];
        float along = 0.0f;
        for (int k = 0; k < window; ++k) {
            const float u = x[r * window + k] * activate(rows[r * width + k], ACT_SILU);
            const float d = dy[r * window + k] * u;
            along += w[k] * d;
            parts[k] += d * s;
        }
        along *= s * s / window;
        for (int k = 0; k < window; ++k) {
            const float z = rows[r * width + k], xk = x[r * window + k], gate = activate(z, ACT_SILU);
            const float du = s * (w[k] * dy[r * window + k] - xk * gate * along);
            dx[r * window + k] = du * gate;
            drows[r * width + k] = du * xk * activation_gradient(z, ACT_SILU);
        }
    }
}

// --- CPU: 8 values of a row in the lanes --------------------------------------------------------------

// group: 1
// grid: count/16
__kernel void GatedNormCPU(
    __global const float *x,        // [count, window]
    __global const float *rows,     // [count, width]
    __global const float *w,        // [window]
    __global float *scale,          // [count]
    __global float *y,              // [count, window]
    const int count, const int window, const int width, const float eps)
{
    const int first = 16 * get_global_id(0), last = min(count, first + 16);
    for (int r = first; r < last; ++r) {
        float8 squares = 0.0f;
        for (int k = 0; k < window; k += 8) {
            const float8 z = load8(rows + r * width + k, window - k);
            const float8 u = load8(x + r * window + k, window - k) * (z * sigmoid8(z));
            squares += u * u;
            store8(u, y + r * window + k, window - k);
        }
        const float s = 1.0f / sqrt(sum8(squares) / window + eps);
        scale[r] = s;
        for (int k = 0; k < window; k += 8) {
            const float8 u = load8(y + r * window + k, window - k);
            store8(load8(w + k, window - k) * (u * s), y + r * window + k, window - k);
        }
    }
}

// group: 1
// grid: chunks
__kernel void GatedNormGradientCPU(
    __global const float *x,        // [count, window]
    __global const float *rows,     // [count, width]
    __global const float *w,        // [window]
    __global const float *scale,    // [count]
    __global const float *dy,       // [count, window]
    __global float *dx,             // [count, window]
    __global float *drows,          // [count, width]
    __global float *parts,          // [chunks, window]
    const int count, const int window, const int width, const int chunks)
{
    const int length = (count + chunks - 1) / chunks, first = get_global_id(0) * length;
    const int last = min(count, first + length);
    parts += get_global_id(0) * window;
    for (int k = 0; k < window; ++k)
        parts[k] = 0.0f;
    for (int r = first; r < last; ++r) {
        const float s = scale[r];
        float8 sums = 0.0f;
        for (int k = 0; k < window; k += 8) {
            const int left = window - k;
            const float8 z = load8(rows + r * width + k, left), e = sigmoid8(z);
            const float8 d = load8(dy + r * window + k, left) * (load8(x + r * window + k, left) * (z * e));
            sums += load8(w + k, left) * d;
            store8(load8(parts + k, left) + d * s, parts + k, left);
            store8(e, dx + r * window + k, left);      // for the second pass
        }
        const float along = sum8(sums) * s * s / window;
        for (int k = 0; k < window; k += 8) {
            const int left = window - k;
            const float8 z = load8(rows + r * width + k, left), xk = load8(x + r * window + k, left);
            const float8 e = load8(dx + r * window + k, left), gate = z * e;
            const float8 d = load8(w + k, left) * load8(dy + r * window + k, left);
            const float8 du = s * (d - xk * gate * along);
            store8(du * gate, dx + r * window + k, left);
            store8(du * xk * (e * (1.0f + z * (1.0f - e))), drows + r * width + k, left);
        }
    }
}

// --- GPU: a work-group has a row ------------------------------------------------------------------------

static float group_sum(const float mine, __local float *scratch)
{
    const int lane = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[lane] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int stride = LANES / 2; stride > 0; stride /= 2) {
        if (lane < stride) scratch[lane] += scratch[lane + stride];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return scratch[0];
}

// group: 64
// grid: count*64
__kernel void GatedNormGPU(
    __global const float *x,        // [count, window]
    __global const float *rows,     // [count, width]
    __global const float *w,        // [window]
    __global float *scale,          // [count]
    __global float *y,              // [count, window]
    const int window, const int width, const float eps)
{
    __local float scratch[LANES];
    const int r = get_group_id(0), lane = get_local_id(0);
    float squares = 0.0f;
    for (int k = lane; k < window; k += LANES) {
        const float u = x[r * window + k] * activate(rows[r * width + k], ACT_SILU);
        squares += u * u;
        y[r * window + k] = u;
    }
    const float s = 1.0f / sqrt(group_sum(squares, scratch) / window + eps);
    if (lane == 0) scale[r] = s;
    for (int k = lane; k < window; k += LANES)
        y[r * window + k] = w[k] * (y[r * window + k] * s);
}

// group: 64
// grid: chunks*64
__kernel void GatedNormGradientGPU(
    __global const float *x,        // [count, window]
    __global const float *rows,     // [count, width]
    __global const float *w,        // [window]
    __global const float *scale,    // [count]
    __global const float *dy,       // [count, window]
    __global float *dx,             // [count, window]
    __global float *drows,          // [count, width]
    __global float *parts,          // [chunks, window]
    const int count, const int window, const int width, const int chunks)
{
    __local float scratch[LANES];
    const int length = (count + chunks - 1) / chunks, first = get_group_id(0) * length;
    const int last = min(count, first + length), lane = get_local_id(0);
    parts += get_group_id(0) * window;
    for (int k = lane; k < window; k += LANES)
        parts[k] = 0.0f;
    for (int r = first; r < last; ++r) {
        const float s = scale[r];
        float sum = 0.0f;
        for (int k = lane; k < window; k += LANES) {
            const float u = x[r * window + k] * activate(rows[r * width + k], ACT_SILU);
            const float d = dy[r * window + k] * u;
            sum += w[k] * d;
            parts[k] += d * s;
        }
        const float along = group_sum(sum, scratch) * s * s / window;
        for (int k = lane; k < window; k += LANES) {
            const float z = rows[r * width + k], xk = x[r * window + k], gate = activate(z, ACT_SILU);
            const float du = s * (w[k] * dy[r * window + k] - xk * gate * along);
            dx[r * window + k] = du * gate;
            drows[r * width + k] = du * xk * activation_gradient(z, ACT_SILU);
        }
    }
}
