// gather.cl: batches of windows cut from one device-resident matrix.
//
//   out[n, at + u*features + k] = rows[ starts[step[1]*batch_size + n] + offset + u, k ],  u < units
//
// A window is one piece of memory, so a work-item copies a few neighbouring values whatever their rows.
// Used by   ops/gather.py        Checked against   reference/gather.py
// Windows are never copied on the host: an epoch uploads start indices only. A sample may be longer than its
// window: what another launch puts behind it, or before it, stays.

#define CHUNK 8
#define COPY_WINDOW                                                                              \
    const int first = get_global_id(0) * CHUNK, n = get_global_id(1), size = units * features;   \
    const int start = starts[step[1] * batch_size + n] + offset;                                 \
    rows += start * features;                                                                    \
    out += n * values + at;                                                                      \
    if (first + CHUNK <= size) vstore8(vload8(0, rows + first), 0, out + first);                 \
    else for (int i = first; i < size; ++i) out[i] = rows[i];

// grid: units*features/8, batch
__kernel void GatherWindows(
    __global const float *rows,     // [bars, features]
    __global const int *starts,     // [windows]
    __global const int *step,       // [4]
    __global float *out,            // [batch, values]
    const int features, const int values,
    const int units, const int batch_size, const int offset, const int at)
{
    COPY_WINDOW
}

// grid: units*features/8, batch
__kernel void GatherClasses(
    __global const int *rows,       // [bars, features]
    __global const int *starts,     // [windows]
    __global const int *step,       // [4]
    __global int *out,              // [batch, values]
    const int features, const int values,
    const int units, const int batch_size, const int offset, const int at)
{
    COPY_WINDOW
}
