// gather.cl: batches of windows cut from one device-resident matrix.
//
//   out[n,u,k] = rows[ starts[step[1]*batch_size + n] + offset + u, k ]
//
// Used by   ops/gather.py        Checked against   reference/gather.py
// Windows are never copied on the host: an epoch uploads start indices only.

// grid: features, units, batch
__kernel void GatherWindows(
    __global const float *rows,     // [bars, features]
    __global const int *starts,     // [windows]
    __global const int *step,       // [4]
    __global float *out,            // [batch, units, features]
    const int features, const int units, const int batch_size, const int offset)
{
    const int k = get_global_id(0), u = get_global_id(1), n = get_global_id(2);
    const int start = starts[step[1] * batch_size + n] + offset;
    out[(n * units + u) * features + k] = rows[(start + u) * features + k];
}

// grid: features, units, batch
__kernel void GatherClasses(
    __global const int *rows,       // [bars, features]
    __global const int *starts,     // [windows]
    __global const int *step,       // [4]
    __global int *out,              // [batch, units, features]
    const int features, const int units, const int batch_size, const int offset)
{
    const int k = get_global_id(0), u = get_global_id(1), n = get_global_id(2);
    const int start = starts[step[1] * batch_size + n] + offset;
    out[(n * units + u) * features + k] = rows[(start + u) * features + k];
}
